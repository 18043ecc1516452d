/* clock_tie.h - the offset between the clocks of two hosts, from the collectives that both ran.
 *
 * A collective ends on all devices at nearly the same moment, while it may begin whenever a device comes to it. So the
 * right offset is the one at which most ends of the same collective coincide, and coincide closely. The counts need not
 * be equal: after a late window or lost collectives, some ends just have no partner. Where steps are known, only
 * collectives of the same step are looked at first, because in a strictly periodic program other offsets fit as well.
 *
 * Only differences of times are used, so the result does not depend on how far apart the clocks are.
 */
#ifndef IDS_LIB_MODEL_CLOCK_TIE_H
#define IDS_LIB_MODEL_CLOCK_TIE_H

#include "lib/model/collective_runs.h"

struct ids_clock_tie {
    int found;
    int64_t offset_ps;   /* to add to the times of `moved` */
    int64_t residual_ps; /* the largest distance of two ends afterwards */
    int64_t shortest_ps; /* the shortest collective that was matched */
    double drift;        /* how much faster the clock of `moved` runs; 0 where that cannot be told */
    uint64_t matched;
};

/* `effort`: how many offsets to try at most where the counts differ. */
int ids_clock_tie_find(const struct ids_collective_runs *fixed, const struct ids_collective_runs *moved,
                       unsigned effort, struct ids_clock_tie *ret_tie, struct ids_error *err);

#endif
