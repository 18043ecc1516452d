/* collective.h - how much a collective moves, counted as nccl-tests does, so that figures can be compared with its
 * tables.
 *
 * Source: NVIDIA's nccl-tests, doc/PERFORMANCE.md and the functions *GetBw of src/ (all_reduce.cu, all_gather.cu, ...).
 * The message is the larger of what one rank gives and what it gets: the buffer that is reduced or broadcast, the
 * gathered result, what reduce-scatter, scatter and all-to-all start from. With n ranks and t the time it took,
 *
 *     algorithm bandwidth = message / t          bus bandwidth = algorithm bandwidth * factor
 *
 *     factor   all-reduce 2 (n - 1) / n
 *              all-gather, reduce-scatter, all-to-all, gather, scatter  (n - 1) / n
 *              broadcast, reduce, send/recv, permute  1
 *
 * Bus bandwidth is what a link of the ring carries, so it is the one to compare with the hardware's, whatever n is.
 */
#ifndef IDS_LIB_MODEL_COLLECTIVE_H
#define IDS_LIB_MODEL_COLLECTIVE_H

#include "lib/model/trace.h"

/* The factor; negative where the class, or the number of ranks that it needs, is not known. */
double ids_collective_bus_factor(enum ids_collective collective, int64_t group_size);
/* Of an event that is a collective: how many ranks take part. 0 unknown. */
int64_t ids_collective_group_size(const struct ids_trace *trace, const struct ids_event *event);

/* Sets an op's groups (where its text has them), group_size and message_bytes; for ops that are collectives only. 0, or
 * -1 when memory ran out. */
int ids_collective_measure(struct ids_trace *trace, struct ids_op *op);

#endif
