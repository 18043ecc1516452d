/* relay.h - a sink that hands what it gets to another one on a thread of its own, in bounded batches, so that a file is
 * read while what was read of it is written.
 *
 * The other sink, the target, is called on that thread only, with what the relay was given in that order, from
 * ids_relay_new to the end of ids_relay_wait. Of `strings` it may ask for texts that it is given (intern.h), and add
 * none. It numbers planes, tracks and names from 0, as they come; so does the relay, which does not wait for it. It
 * wants no programs. What goes wrong on the thread is said by a later call of the relay, by ids_relay_wait at the
 * latest.
 */
#ifndef IDS_LIB_MODEL_RELAY_H
#define IDS_LIB_MODEL_RELAY_H

#include "lib/model/sink.h"

struct ids_relay;

int ids_relay_new(struct ids_sink *target, struct ids_relay **ret_relay, struct ids_error *err);
struct ids_sink *ids_relay_sink(struct ids_relay *relay);
/* Nothing more comes. Does not wait: on the thread, `last` is called when the target has everything. */
void ids_relay_end(struct ids_relay *relay, int (*last)(void *context, struct ids_error *err), void *context);
/* Waits for the thread to be done. To be called once, after ids_relay_end. */
int ids_relay_wait(struct ids_relay *relay, struct ids_error *err);
/* Without ids_relay_wait before: what the target was not given yet, and `last`, are left out. */
void ids_relay_free(struct ids_relay *relay);

#endif
