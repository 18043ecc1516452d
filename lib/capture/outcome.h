/* outcome.h - what a capture recorded, what it missed, why, and what to do: for the last lines and the sidecar. */
#ifndef IDS_LIB_CAPTURE_OUTCOME_H
#define IDS_LIB_CAPTURE_OUTCOME_H

#include "lib/base/arena.h"
#include "lib/capture/capture_record.h"

enum { IDS_REASONS_SHOWN = 10 };

struct ids_outcome {
    int64_t runs;                    /* windows (folders below plugins/profile), counted once for all ranks */
    int64_t files;                   /* of all processes */
    int64_t processes;               /* that loaded a collector */
    int64_t bytes, events, drops;    /* of all files; -1: a collector does not know */
    const char *no_stacks;           /* why no stacks were sampled; NULL */
    int64_t samples, threads;        /* of stacks; the most threads in a window; -1: no sampling */
    int64_t sampling_ns, sampled_ns; /* CPU time of sampling, and duration of the windows */
    int64_t start_ns, stop_ns;       /* the longest start; the longest stop with writing; -1: none */
    int64_t stood_ns;                /* the longest stop that blocked the program; -1: none blocked it */
    int64_t waited_ns;  /* the longest wait after which the program went on before the stop ended; -1: none */
    int64_t lost, open; /* windows that left no file; of these, open at a sudden end of the program */
    const char *steps;  /* "steps 50-54, 150-154 (annotation 'train')"; NULL: windows by time or region */
    int64_t kept;       /* windows with a reason to be kept */
    const char *reasons[IDS_REASONS_SHOWN]; /* "window 2: step 8,113 took 41.2 ms, 4.1 × the median"; the first ones */
    int64_t tried, judged_cost_ns;          /* windows that were judged (-1: none), and their cost */
    const char *cost;                       /* cost of counting steps as measured by the collector; NULL: not known */
    const char *reason;          /* a stable id such as never_reached; NULL: everything requested was recorded */
    const char *missed, *remedy; /* the reason and what to do, without full stops; remedy may be NULL */
};

/* Texts are in `arena`. The record's `outcome` is ignored. */
void ids_outcome_find(const struct ids_capture_record *record, struct ids_arena *arena,
                      struct ids_outcome *ret_outcome);

#endif
