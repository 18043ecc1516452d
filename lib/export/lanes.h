/* lanes.h - slices of one track that overlap without one lying in the other, on lanes beside each other: viewers nest
 * what is on one lane, and drop what does not. */
#ifndef IDS_LIB_EXPORT_LANES_H
#define IDS_LIB_EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

struct ids_lane {
    int64_t *ends; /* of the slices that are open, the innermost last */
    size_t depth, room;
};

struct ids_lanes {
    struct ids_lane *at;
    size_t count, room;
};

/* Slices of a track beyond that many at a time get a lane each: looking through all would take the square of their
 * number. */
enum { IDS_LANES_MAX = 256 };

/* Called for each slice that has ended, the inner one before the outer one. */
typedef int ids_lane_ended(void *context, size_t lane, int64_t end);

/* The lane for a slice [start, end), end >= start; slices come by start, longer ones first. `ended` may be NULL; what
 * it returns other than 0 ends the search. Returns 0, or -1 when memory ran out. A lane of IDS_LANES_MAX or more holds
 * this slice alone and keeps nothing of it. */
int ids_lanes_place(struct ids_lanes *lanes, int64_t start, int64_t end, ids_lane_ended *ended, void *context,
                    size_t *ret_lane);
/* Ends all that is open. */
int ids_lanes_end(struct ids_lanes *lanes, ids_lane_ended *ended, void *context);
/* The lane with a slice that is open at `when`, the first; 0 when there is none, and then *ret_lane stays. */
int ids_lanes_at(const struct ids_lanes *lanes, int64_t when, size_t *ret_lane);
void ids_lanes_done(struct ids_lanes *lanes);

#endif
