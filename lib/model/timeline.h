/* timeline.h - when a thread turned from one doing to another. */
#ifndef IDS_LIB_MODEL_TIMELINE_H
#define IDS_LIB_MODEL_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

/* Number of doing nothing that is known of, which is how every thread begins. */
enum { IDS_NO_DOING };

/* When a thread turned from one doing to another, in time order. */
struct ids_timeline {
    int64_t *from_ps;
    uint32_t *doing; /* indices of ids_trace.doings */
    size_t count, room;
};

/* From now on the thread does that. Times do not fall; of changes at one moment the last counts. 0, or -1 when
 * memory ran out. */
int ids_timeline_turn(struct ids_timeline *timeline, int64_t when_ps, uint32_t doing);

/* Returns the room that growing left over. */
void ids_timeline_give_back(struct ids_timeline *timeline);
void ids_timeline_done(struct ids_timeline *timeline);

/* Where in the timeline the moment lies: the index of the last turn at or before it; SIZE_MAX before the first one. */
size_t ids_timeline_find(const struct ids_timeline *timeline, int64_t when_ps);

#endif
