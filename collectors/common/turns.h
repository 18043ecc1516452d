/* turns.h - when the steps of a program are those of another program, or of another function, than until now.
 *
 * What initialises is executed some times, and then never again; the loop's own program gets further. It takes over for
 * good when all of its own steps came without one of the other's between them. Two that run in turn, of which now the
 * one and now the other is further, are the same loop. Pure. */
#ifndef IDS_COLLECTORS_COMMON_TURNS_H
#define IDS_COLLECTORS_COMMON_TURNS_H

#include <stdint.h>

enum { IDS_TURN_STEPS = 3 };

struct ids_turn {
    int64_t seen;   /* the steps of who is in front, when its last step came */
    int64_t length; /* its steps since then */
};

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
