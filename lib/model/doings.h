/* doings.h - what a host thread did at each moment: its innermost activity that has an account, and who called it.
 *
 * Most events of a host thread do not become records (lib/model/trace.h), but a device may wait for any of them. So the
 * end of a thread's track leaves a timeline: what the thread did from which moment on, 12 bytes per change. A change is
 * a new account, a new innermost event that has an account, or a new function of the program around it. Library frames
 * below a function of the program change nothing.
 */
#ifndef IDS_LIB_MODEL_DOINGS_H
#define IDS_LIB_MODEL_DOINGS_H

#include "lib/base/keymap.h"
#include "lib/model/account.h"
#include "lib/model/trace.h"

/* Number of doing nothing that is known of, which is how every thread begins. */
enum { IDS_NO_DOING };

/* The number of what is done while `event` is open inside the doing `around`; `event` is kept as a record or only
 * counted, then NULL. `called`: the name of the event that it lies in directly, IDS_NONE for none: a built-in function
 * that the program calls and that waits, as numpy's asarray, gives the waiting its name. -1 when memory ran out. */
int64_t ids_doing_inside(struct ids_trace *trace, uint32_t around, uint32_t name, const struct ids_event *event,
                         uint32_t called);

/* From now on the thread does that. Times do not fall; of changes at one moment the last counts. 0, or -1 when
 * memory ran out. */
int ids_timeline_turn(struct ids_timeline *timeline, int64_t when_ps, uint32_t doing);

void ids_timeline_done(struct ids_timeline *timeline);

/* Where in the timeline the moment lies: the index of the last turn at or before it; SIZE_MAX before the first one. */
size_t ids_timeline_find(const struct ids_timeline *timeline, int64_t when_ps);

#endif
