/* turns.h - when the steps of a program are those of another program, or of another function, than until now.
 *
 * What initialises is executed some times, and then never again; the loop's own program gets further. It takes over for
 * good when all of its own steps came without one of the other's between them. Two that run in turn, of which now the
 * one and now the other is further, are the same loop.
 *
 * What initialises may be called more often than the loop ever is. It is over when the loop has run without it for
 * longer than it was called, first calls, which compile, apart. Pure. */
#ifndef IDS_COLLECTORS_COMMON_TURNS_H
#define IDS_COLLECTORS_COMMON_TURNS_H

#include <stdint.h>

enum { IDS_TURN_STEPS = 3 };
enum { IDS_GAP_TIMES = 8, IDS_GAP_MOST = 1000, IDS_GAP_MEASURED = 64 }; /* windows hold turns of no more calls */

struct ids_turn {
    int64_t seen;    /* the steps of who is in front, when its last step came */
    int64_t length;  /* its steps since then */
    int64_t from_ns; /* the caller's: when that were IDS_TURN_STEPS */
};

/* From when to when who is in front was called. */
struct ids_span {
    int64_t from_ns, to_ns; /* from its second call on */
    int64_t calls;
};
enum { IDS_OVER_NS = 1000000000, IDS_OVER_TIMES = 10 };

static inline void ids_span_call(struct ids_span *span, int64_t now_ns) {
    if (++span->calls <= 2) span->from_ns = now_ns;
    span->to_ns = now_ns;
}

/* Another one is called for so long now, and it is not. What only evaluates comes back in each epoch, and has to be
 * called for far longer. */
static inline int ids_span_is_over(const struct ids_span *span, int64_t without_ns, int only_evaluates) {
    if (only_evaluates) without_ns /= IDS_OVER_TIMES;
    return without_ns > IDS_OVER_NS && without_ns > span->to_ns - span->from_ns;
}

/* How many calls of who is in front came between those of a function. */
struct ids_gap {
    int64_t seen; /* of who is in front, at its last call */
    int64_t calls, times;
};

static inline void ids_gap_call(struct ids_gap *gap, int64_t front) {
    int64_t calls = front - gap->seen;
    gap->times = calls == gap->calls ? gap->times + 1 : 0;
    gap->calls = calls;
    gap->seen = front;
}

/* As many each time, and it still comes. */
static inline int ids_gap_is_turn(const struct ids_gap *gap, int64_t front) {
    return gap->times >= IDS_GAP_TIMES && gap->calls > 1 && gap->calls <= IDS_GAP_MOST &&
           front - gap->seen <= gap->calls;
}

/* How many calls of all there were from one call of a name to the next, where that is always as many: a turn. */
struct ids_rhythm {
    struct ids_gap gap;
    int64_t calls, covered; /* in a turn; in such turns */
};

static inline void ids_rhythm_call(struct ids_rhythm *rhythm, int64_t all) {
    struct ids_gap *gap = &rhythm->gap;
    ids_gap_call(gap, all);
    if (gap->times < IDS_GAP_TIMES) return;
    if (gap->calls == rhythm->calls) {
        rhythm->covered += gap->calls;
    } else if (gap->times * gap->calls > rhythm->covered) {
        rhythm->calls = gap->calls;
        rhythm->covered = gap->times * gap->calls;
    }
}

/* Most of all calls came in such turns. */
static inline int ids_rhythm_is_of(const struct ids_rhythm *rhythm, int64_t all) {
    return rhythm->calls > 1 && rhythm->covered > all / 2;
}

/* Another one's step; `front` counts the steps of who is in front. */
static inline void ids_turn_step(struct ids_turn *turn, int64_t front) {
    turn->length = turn->seen == front ? turn->length + 1 : 1;
    turn->seen = front;
}

/* It is about to get further than who is in front, which got to `furthest`, counted from 0. */
static inline int ids_turn_takes_over(const struct ids_turn *turn, int64_t furthest) {
    return turn->length >= IDS_TURN_STEPS && turn->length > furthest;
}

#endif
