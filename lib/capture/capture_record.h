/* capture_record.h - all facts about one capture. */
#ifndef IDS_LIB_CAPTURE_CAPTURE_RECORD_H
#define IDS_LIB_CAPTURE_CAPTURE_RECORD_H

#include "collectors/common/plan.h"
#include "lib/capture/child.h"
#include "lib/capture/seen.h"

#include <time.h>

struct ids_outcome;

/* All pointers are borrowed. */
struct ids_capture_record {
    const char *folder; /* the session's, absolute */
    const char *home;   /* folder of the collectors; NULL: not checked */
    const char *rival;  /* the tool that CUDA_INJECTION64_PATH names instead of ours; NULL: none */
    const char *device; /* the requested device, "GPU" or "TPU"; NULL: none */
    int64_t lingers;    /* pid of a process that outlives the program; 0: none */
    const char *run;    /* the run's name below plugins/profile */
    char *const *command;
    const struct ids_plan *plan;
    time_t started, ended;           /* ended 0: still running */
    int64_t devices;                 /* of a sweep, 0: no sweep */
    const struct ids_child_end *end; /* NULL: still running */
    const struct ids_seen *seen;     /* NULL: not known */
    const struct ids_outcome *outcome;
};

#endif
