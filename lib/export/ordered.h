/* ordered.h - a sink that sorts each track's events for the next sink: by start, longer first, otherwise as they came.
 *
 * Readers give events in the order of the file: one track after the other or mixed, sorted or not. An event of an open
 * track takes 40 bytes, and its args are spilled; track_end passes the track on. Everything else passes at once, so ids
 * are those of the next sink.
 */
#ifndef IDS_LIB_EXPORT_ORDERED_H
#define IDS_LIB_EXPORT_ORDERED_H

#include "lib/model/sink.h"

struct ids_ordered;

int ids_ordered_new(struct ids_sink *next, struct ids_ordered **ret_ordered, struct ids_error *err);
struct ids_sink *ids_ordered_sink(struct ids_ordered *ordered);
/* Ends tracks that the reader left open. */
int ids_ordered_finish(struct ids_ordered *ordered, struct ids_error *err);
void ids_ordered_free(struct ids_ordered *ordered);

#endif
