/* host_copies.h - copies through host memory that a TPU books as ops: from memory space S(5) and to it.
 *
 * A chip with an "Async XLA Ops" line has each copy there with its time. On other chips the ops tell the same: a copy
 * runs from its copy-start to the end of its copy-done (async-start and async-done alike; on chips with both these are
 * the times of the line), and a slice that is read from host memory, or written there, as long as its op. Such a copy
 * is added to the device's asynchronous ones, on the track of the op that started it; never where that op is on an
 * async line.
 */
#ifndef IDS_LIB_MODEL_HOST_COPIES_H
#define IDS_LIB_MODEL_HOST_COPIES_H

#include "lib/model/trace.h"

/* Which way an op moves an array between host and device memory by its HLO text, and how many bytes (-1 unknown);
 * IDS_NO_DIRECTION for one that does not. */
enum ids_direction ids_host_copy_of_text(struct ids_text text, int64_t *ret_bytes);

/* Adds the copies that no async line has. The device's lists are in time order, and so again afterwards. */
int ids_host_copies_add(struct ids_trace *trace, struct ids_error *err);

/* Whether the event, one of a device's asynchronous copies, was added here: its times are those of two ops. */
static inline int ids_is_host_copy(const struct ids_trace *trace, const struct ids_event *event) {
    return event->kind == IDS_KIND_COPY && trace->tracks[event->track].role == IDS_TRACK_OPS;
}

#endif
