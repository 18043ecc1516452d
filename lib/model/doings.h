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

/* What an event lies in. */
struct ids_doing_place {
    uint32_t around; /* doing */
    uint32_t called; /* the name of the event that it lies in directly, IDS_NONE for none: a built-in function that the
                      * program calls and that waits, as numpy's asarray, gives the waiting its name */
    int is_errand;   /* it is long and launches nothing, and what it lies in does launch */
    int is_program;  /* a region that, with others of its name, is nearly all that the thread does, and launches; or a
                      * function that is, where there is such a region */
};
/* The number of what is done while `event` is open; it is kept as a record or only counted, then NULL. -1 when memory
 * ran out. */
int64_t ids_doing_inside(struct ids_trace *trace, const struct ids_doing_place *place, uint32_t name,
                         const struct ids_event *event);

/* The program sleeps there. */
int ids_doing_sleeps(const struct ids_trace *trace, uint32_t doing);
/* What a thread does that recorded events show as one doing and sampled stacks as another: the event says what, and
 * since when, the stack says for which function of the program. -1 when memory ran out. */
int64_t ids_doing_beside(struct ids_trace *trace, uint32_t recorded, uint32_t sampled);
/* The number of a doing, which gets one if it has none. -1 when memory ran out. */
int64_t ids_doing_number(struct ids_trace *trace, const struct ids_doing *doing);
/* What events show, called by the function of the program that another doing has, if it has one. */
int64_t ids_doing_called_by(struct ids_trace *trace, uint32_t recorded, uint32_t caller);
/* The same where no sample saw this call, and the function is that in which others of the same were seen. */
int64_t ids_doing_guessed(struct ids_trace *trace, uint32_t recorded, uint32_t caller);
/* The function of the program alone, and not what it called. */
int64_t ids_doing_without_call(struct ids_trace *trace, uint32_t doing);
/* What a stack shows, whatever call C runs it in. */
int64_t ids_doing_wherever(struct ids_trace *trace, uint32_t sampled);
/* What events show, in a function that a compiled program called back, which a stack shows. */
int64_t ids_doing_called_back(struct ids_trace *trace, uint32_t recorded, uint32_t sampled);

#endif
