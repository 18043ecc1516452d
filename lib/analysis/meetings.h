/* meetings.h - the same execution of a collective on all devices that take part: when each came, and when it ended.
 *
 * The others waited for the device that came last. Executions are matched by the collective's key (ids_collective_key)
 * and by time: at some moment all participants are inside it, because none leaves before the last has come. So lost
 * events and late windows do no harm. Only devices on one clock meet (lib/model/clocks.h). Between hosts a moment is
 * only as exact as ids_clock_doubt_ps; `doubt_ps` has this value for each meeting.
 *
 *   struct ids_meetings meetings;
 *   int code = ids_meetings_of(trace, &meetings, err);
 *   for (size_t m = 0; !code && m < meetings.count; m++) {
 *       const struct ids_meeting *meeting = &meetings.at[m];
 *       use(meeting->last_device, meeting->last_ps);       // came last; the others waited until then
 *   }
 *   const struct ids_meeting *of = ids_meeting_of_event(&meetings, event);  // NULL: a single device was recorded
 */
#ifndef IDS_LIB_ANALYSIS_MEETINGS_H
#define IDS_LIB_ANALYSIS_MEETINGS_H

#include "lib/base/keymap.h"
#include "lib/model/trace.h"

struct ids_meeting {
    uint32_t count;        /* of the devices that take part; 2 or more */
    uint32_t of_last_host; /* of these: on the host of the one that came last, and that one itself */
    uint32_t last_device;  /* which one came last: whose event begins last, the one that ends first of equal ones */
    int64_t last_ps;       /* when that event begins */
    int64_t all_ps;        /* when it came, but at most when the first left */
    int64_t doubt_ps;      /* who was last is sure only where the others came earlier than this; -1 unknown */
};

struct ids_meetings {
    struct ids_meeting *at; /* by collective, then in time order */
    size_t count, room;
    int is_apart;               /* devices on several clocks have collectives: they may take part in the same ones */
    int lacks_members;          /* the groups of a collective name more devices than were recorded */
    struct ids_keymap of_event; /* address -> index of `at` + 1 */
};

int ids_meetings_of(const struct ids_trace *trace, struct ids_meetings *ret_meetings, struct ids_error *err);
void ids_meetings_done(struct ids_meetings *meetings);

static inline int ids_is_between_hosts(const struct ids_meeting *meeting) {
    return meeting->of_last_host < meeting->count;
}

static inline const struct ids_meeting *ids_meeting_of_event(const struct ids_meetings *meetings,
                                                             const struct ids_event *event) {
    uint64_t index;
    return ids_keymap_get(&meetings->of_event, (uint64_t)(uintptr_t)event, &index) ? &meetings->at[index - 1] : NULL;
}

#endif
