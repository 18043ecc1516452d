/* timeline.h - when a thread turned from one doing to another. */
#ifndef IDS_LIB_MODEL_TIMELINE_H
#define IDS_LIB_MODEL_TIMELINE_H

#include "lib/base/far.h"

#include <stddef.h>
#include <stdint.h>

/* Number of doing nothing that is known of, which is how every thread begins. */
enum { IDS_NO_DOING };

/* When a thread turned from one doing to another, in time order. */
struct ids_timeline {
    int64_t *from_ps;
    uint32_t *doing; /* indices of ids_trace.doings */
    size_t count, room;
    struct ids_far *far; /* where the arrays lie, as of ids_events (trace.h); then no turn is added */
};

/* From now on the thread does that. Times do not fall; of changes at one moment the last counts. 0, or -1 when
 * memory ran out. */
int ids_timeline_turn(struct ids_timeline *timeline, int64_t when_ps, uint32_t doing);

/* *ret_cut, which is empty, becomes the timeline with a turn more at each of the moments, which rise: to what it is
 * doing then, so that there begins another time of the same. 0, or -1 when memory ran out. */
int ids_timeline_cut(const struct ids_timeline *timeline, const int64_t *when_ps, size_t count,
                     struct ids_timeline *ret_cut);

/* To be said before all of it is read. */
static inline void ids_timeline_read(const struct ids_timeline *timeline) {
    if (timeline->far)
        ids_far_turn(timeline->far, timeline->count * (sizeof *timeline->from_ps + sizeof *timeline->doing));
}

/* Returns the room that growing left over. */
void ids_timeline_give_back(struct ids_timeline *timeline);
void ids_timeline_done(struct ids_timeline *timeline);

/* Where in the timeline the moment lies: the index of the last turn at or before it; SIZE_MAX before the first one. */
size_t ids_timeline_find(const struct ids_timeline *timeline, int64_t when_ps);

#endif
