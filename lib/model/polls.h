/* polls.h - a thread that sleeps again and again until something is there waits for whoever makes that.
 *
 * One long sleep and many short ones at the same line look alike in stacks. But samples say when the thread woke in
 * between and came back to the line, having done nothing else that is known. */
#ifndef IDS_LIB_MODEL_POLLS_H
#define IDS_LIB_MODEL_POLLS_H

#include "lib/model/trace.h"

/* Makes such sleeps of threads that launch waits for another thread (IDS_WAITS_FOR_LOCK). Who ends them, if anybody
 * does, is found as of other waits (lib/analysis/wakers.h). Timelines have what samples saw by now. 0, or -1 when
 * memory ran out. */
int ids_polls_find(struct ids_trace *trace);

#endif
