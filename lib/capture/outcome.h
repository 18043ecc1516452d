/* outcome.h - what a capture caught, what it missed, why, and what to do: for the lines at the end and for the
 * sidecar. */
#ifndef IDS_LIB_CAPTURE_OUTCOME_H
#define IDS_LIB_CAPTURE_OUTCOME_H

#include "lib/base/arena.h"
#include "lib/capture/capture_record.h"

struct ids_outcome {
    int64_t runs;                    /* folders below plugins/profile: windows, counted once for all ranks */
    int64_t files;                   /* of all processes */
    int64_t processes;               /* that said hello */
    int64_t bytes, events, drops;    /* of all files; -1 where a collector does not know */
    int64_t samples, threads;        /* of stacks, the most threads of a window; -1: none were sampled */
    int64_t sampling_ns, sampled_ns; /* the core's time that took, and of how long the windows were */
    int64_t start_ns, stop_ns;       /* the longest start; the longest stop with writing; -1: there was none */
    int64_t stood_ns;                /* the longest stop for which the program stood still; -1: it went on beside all */
    int64_t waited_ns;           /* the program waited so long for a stop and then went on; -1: it did so for none */
    int64_t lost, open;          /* windows that were open and of which nothing is there; of these, by a sudden end */
    const char *steps;           /* "steps 50-54, 150-154 (annotation 'train')"; NULL: windows of time or regions */
    const char *cost;            /* what counting steps costs, as the collector measured it; NULL: nothing was said */
    const char *reason;          /* a stable id, such as never_reached; NULL: all that was asked for is there */
    const char *missed, *remedy; /* the reason and what to do, as sentences without an end; remedy may be NULL */
};

/* Texts are in `arena`. The record's `outcome` is not looked at. */
void ids_outcome_find(const struct ids_capture_record *record, struct ids_arena *arena,
                      struct ids_outcome *ret_outcome);

#endif
