/* relay.h - a sink that passes its input to another sink on another thread, in bounded batches. So a file is read and
 * written at the same time.
 *
 * The other sink, the target, is called only on that thread, in the order of the relay's calls, between ids_relay_new
 * and the end of ids_relay_wait. It may look up texts of `strings` (intern.h) but must not add any. It numbers planes,
 * tracks and names from 0 in the order of the calls; the relay does the same and so need not wait for it. It gets no
 * programs. A later call of the relay returns an error of the thread, ids_relay_wait at the latest.
 */
#ifndef IDS_LIB_MODEL_RELAY_H
#define IDS_LIB_MODEL_RELAY_H

#include "lib/model/sink.h"

struct ids_relay;

int ids_relay_new(struct ids_sink *target, struct ids_relay **ret_relay, struct ids_error *err);
struct ids_sink *ids_relay_sink(struct ids_relay *relay);
/* Ends the input and does not wait. The thread calls `last` when the target has everything. */
void ids_relay_end(struct ids_relay *relay, int (*last)(void *context, struct ids_error *err), void *context);
/* Waits until the thread has finished. Call it once, after ids_relay_end. */
int ids_relay_wait(struct ids_relay *relay, struct ids_error *err);
/* Without a call of ids_relay_wait before, input that the target did not get yet is dropped, and `last` is not
 * called. */
void ids_relay_free(struct ids_relay *relay);

#endif
