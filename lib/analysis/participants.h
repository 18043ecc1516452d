/* participants.h - which devices take part in a run, and what each is called. */
#ifndef IDS_LIB_ANALYSIS_PARTICIPANTS_H
#define IDS_LIB_ANALYSIS_PARTICIPANTS_H

#include "lib/model/trace.h"

/* Whether a device takes part in windows, means and steps: it did something, and it is no CPU device beside an
 * accelerator (a few ops that JAX runs on the CPU backend must not halve a GPU's utilization). */
int ids_device_counts(const struct ids_trace *trace, const struct ids_device *device);

/* How many ranks of a job were read of those that it has, where the files say; 0 read: they do not. */
struct ids_ranks {
    int64_t read, all;
};
struct ids_ranks ids_ranks_of(const struct ids_trace *trace);

/* Who a device is among those that run together: "rank 1" of a run of several hosts with one device each, "rank 1
 * GPU:0" of several, else its label. In the arena; NULL when memory ran out. */
const char *ids_rank_name(const struct ids_trace *trace, const struct ids_device *device, struct ids_arena *arena);

#endif
