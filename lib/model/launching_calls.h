/* launching_calls.h - which calls of libraries launch work as they go.
 *
 * An op-by-op program calls a framework, which runs its own Python and C++ between the calls of the device's runtime.
 * Samples see the framework's call, and events the runtime's. A call whose samples lie among calls of the runtime
 * launches: all that it does is the price of its launches, and none of it an errand of the program's.
 *
 * A library may launch from a thread of its own, in which no function of the program is: autograd's, while the program
 * waits in backward(). Such a thread works for the call that waits meanwhile. */
#ifndef IDS_LIB_MODEL_LAUNCHING_CALLS_H
#define IDS_LIB_MODEL_LAUNCHING_CALLS_H

#include "lib/model/trace.h"

/* The thread that a sampled track is of; IDS_NONE: nothing else was recorded of it. */
uint32_t ids_sampled_thread(const struct ids_trace *trace, const struct ids_track *sampled);

/* Marks what samples saw in such calls (ids_doing.launches) and the threads that work for them (ids_track.works_for),
 * before samples and events are brought together. 0, or -1 when memory ran out. */
int ids_launching_calls_find(struct ids_trace *trace);
/* Brings the calls that were waiting meanwhile to what threads of libraries did, once they were brought together. 0, or
 * -1 when memory ran out. */
int ids_launching_calls_join(struct ids_trace *trace);

#endif
