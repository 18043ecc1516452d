/* deeds.h - what a host thread did at each moment: its innermost activity that has an account, and who called it.
 *
 * Most events of a host thread do not become records (lib/model/trace.h), but a device may wait for any of them. So a thread leaves a
 * strand of deeds when its track ends: from when on it did what, 12 bytes a change. A change is one of the account, the innermost event
 * that has it, or the program's own function around it; library frames below a function of the program change nothing.
 */
#ifndef IDS_LIB_MODEL_DEEDS_H
#define IDS_LIB_MODEL_DEEDS_H

#include "lib/base/keymap.h"
#include "lib/model/account.h"
#include "lib/model/trace.h"

/* Nothing is around that has an account, at the begin of every thread. */
static const struct ids_deed IDS_NO_DEED = {IDS_NONE, IDS_NONE, IDS_NONE, IDS_NO_ACCOUNT, 0};

/* What is done while `event` is open inside `around`; `event` is kept as a record or only counted, then NULL. */
int ids_deed_inside(struct ids_trace *trace, struct ids_deed around, uint32_t name, const struct ids_event *event,
                    struct ids_deed *ret_deed);

/* From now on the thread does that. Times do not fall; of changes at one moment the last counts. 0, or -1 when memory ran out. */
int ids_strand_turn(struct ids_trace *trace, struct ids_track *track, int64_t when_ps, const struct ids_deed *deed);

void ids_strand_done(struct ids_strand *strand);

/* Where in the strand the moment lies: the index of the last turn at or before it; SIZE_MAX before the first one. */
size_t ids_strand_find(const struct ids_strand *strand, int64_t when_ps);

#endif
