/* nesting.h - the rule for when an event lies inside another one of its timeline, and its self time.
 *
 * Events come in order of their start, the longer ones first. A child lies wholly inside its parent; an event that only
 * overlaps the open one is its sibling on another lane. A moment at the end of an event lies inside it.
 */
#ifndef IDS_LIB_MODEL_NESTING_H
#define IDS_LIB_MODEL_NESTING_H

#include <stdint.h>

enum ids_nesting {
    IDS_NESTING_AFTER,  /* the open event is over */
    IDS_NESTING_ACROSS, /* it begins inside the open event and ends behind it */
    IDS_NESTING_INSIDE,
};

/* How an event relates to the innermost open event, which ends at `open_end_ps`. */
static inline enum ids_nesting ids_nesting_of(int64_t start_ps, int64_t end_ps, int64_t open_end_ps) {
    if (start_ps > open_end_ps || (start_ps == open_end_ps && end_ps != open_end_ps)) return IDS_NESTING_AFTER;
    return end_ps <= open_end_ps ? IDS_NESTING_INSIDE : IDS_NESTING_ACROSS;
}

/* Whether an event that begins in an open one lies mostly behind it. A region of a collective that does is a span until
 * somebody waits for it, and what its thread does meanwhile lies in no part of it. */
static inline int ids_outlives(int64_t start_ps, int64_t end_ps, int64_t open_end_ps) {
    return start_ps < open_end_ps && end_ps > open_end_ps && end_ps - open_end_ps > open_end_ps - start_ps;
}

/* What children leave of an event's time. Children that overlap each other on lanes may have more than all of it. */
static inline int64_t ids_self_time(int64_t duration_ps, int64_t children_ps) {
    int64_t self_ps;
    return __builtin_sub_overflow(duration_ps, children_ps, &self_ps) || self_ps < 0 ? 0 : self_ps;
}

#endif
