/* participants.h - which devices take part in a run, and what each is called. */
#ifndef IDS_LIB_ANALYSIS_PARTICIPANTS_H
#define IDS_LIB_ANALYSIS_PARTICIPANTS_H

#include "lib/model/trace.h"
#include "lib/report/report.h"

/* Whether a device takes part in windows, means and steps: it did something, and it is no CPU device beside an
 * accelerator (a few ops that JAX runs on the CPU backend must not halve a GPU's utilization). */
int ids_device_counts(const struct ids_trace *trace, const struct ids_device *device);

/* How many ranks of a job were read of those that it has, where the files say; 0 read: they do not. */
struct ids_ranks {
    int64_t read, all;
};
struct ids_ranks ids_ranks_of(const struct ids_trace *trace);

/* Why somebody who takes part in collectives is known to lack. Then a collective may wait for that one all the time. */
enum ids_lacking {
    IDS_LACKS_NOBODY, /* that is known of */
    IDS_LACKS_RANKS,  /* ids_ranks_of: fewer were read */
    IDS_LACKS_DATA,   /* a file is cut or cannot be read */
    IDS_LACKS_CLOCK,  /* hosts with collectives stay apart by their clocks */
    IDS_LACKS_MEMBERS /* groups name more devices than were recorded */
};

/* The property of a report that says why, where somebody lacks and collectives ran. */
#define IDS_PEERS_NOT_READ "peers_not_read"

/* What a file of several has lost is said with the host whose it is; what names its file does so already. Of the report
 * or the trace. */
const char *ids_diag_in_words(const struct ids_trace *trace, const struct ids_trace_diag *diag,
                              struct ids_report *report);

/* What a host of several is called wherever one is meant: "rank 10" where its name says which rank it is and no other
 * host says the same, else as the table of hosts has it, "host vm-w-10" or "host10". Its place among the hosts is no
 * rank: names are not in the order of ranks, and hosts may lack. In the arena; NULL when memory ran out. */
const char *ids_host_called(const struct ids_trace *trace, uint32_t host, struct ids_arena *arena);

/* Who a device is among those that run together: its host, "rank 1", in a run of several hosts with one device each,
 * "rank 1 GPU:0" of several, else its label. In the arena; NULL when memory ran out. */
const char *ids_rank_name(const struct ids_trace *trace, const struct ids_device *device, struct ids_arena *arena);

#endif
