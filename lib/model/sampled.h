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

/* Where a turn of a sampled timeline that was set to the middle between two samples may lie better: where the events
 * show that the thread began or ended something, at most `reach_ps` away. */
int64_t ids_sampled_turn(const struct ids_trace *trace, const struct ids_timeline *recorded, int64_t middle_ps,
                         int64_t reach_ps);

#endif
