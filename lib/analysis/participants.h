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

/* What a host of several is called wherever one is meant: "rank 10" where its name says which rank it is and no other
 * host says the same, else as the table of hosts has it, "host vm-w-10" or "host10". Its place among the hosts is no
 * rank: names are not in the order of ranks, and hosts may lack. In the arena; NULL when memory ran out. */
const char *ids_host_called(const struct ids_trace *trace, uint32_t host, struct ids_arena *arena);

/* Who a device is among those that run together: its host, "rank 1", in a run of several hosts with one device each,
 * "rank 1 GPU:0" of several, else its label. In the arena; NULL when memory ran out. */
const char *ids_rank_name(const struct ids_trace *trace, const struct ids_device *device, struct ids_arena *arena);

#endif
