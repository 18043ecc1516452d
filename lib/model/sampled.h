/* sampled.h - brings sampled stacks (idsprof capture --stacks) to the threads that they are of.
 *
 * A thread has events of its own, which say exactly when something began and ended, and samples, which say every few
 * milliseconds what function ran. Where an event says what the thread did, the samples add the function of the program;
 * where none does, they say it alone. A sampled track without a thread of its own number becomes a thread. */
#ifndef IDS_LIB_MODEL_SAMPLED_H
#define IDS_LIB_MODEL_SAMPLED_H

#include "lib/model/trace.h"

/* 0, or -1 when memory ran out. */
int ids_sampled_join(struct ids_trace *trace);
/* Brings the functions of the program that samples saw to what jax.monitoring told of the same thread's compilations,
 * whose launches are known by now: on tracks [first_track, end_track), those of a host. 0, or -1 when memory ran
 * out. */
int ids_sampled_join_told(struct ids_trace *trace, size_t first_track, size_t end_track);

/* Two samples that follow one another and saw different stacks: the middle between them, how far both are from it, and
 * what the stacks are doing (enum ids_account). */
struct ids_sampled_pair {
    int64_t middle_ps, reach_ps;
    uint8_t before, after;
};
/* When the thread turned from one to the other: where its events show that it began or ended something, else in the
 * middle. */
int64_t ids_sampled_turn(const struct ids_trace *trace, const struct ids_timeline *recorded,
                         const struct ids_sampled_pair *pair);

#endif
