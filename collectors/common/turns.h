/* turns.h - when the steps of a program are those of another program, or of another function, than until now.
 *
 * What initialises is executed some times, and then never again; the loop's own program gets further. It takes over for
 * good when all of its own steps came without one of the other's between them. Two that run in turn, of which now the
 * one and now the other is further, are the same loop. Pure. */
#ifndef IDS_COLLECTORS_COMMON_TURNS_H
#define IDS_COLLECTORS_COMMON_TURNS_H

#include <stdint.h>

enum { IDS_TURN_STEPS = 3 };
enum { IDS_GAP_TIMES = 8, IDS_GAP_MOST = 64 };

struct ids_turn {
    int64_t seen;   /* the steps of who is in front, when its last step came */
    int64_t length; /* its steps since then */
};

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
