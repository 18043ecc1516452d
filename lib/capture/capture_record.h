/* capture_record.h - everything that is known of one capture. */
#ifndef IDS_LIB_CAPTURE_CAPTURE_RECORD_H
#define IDS_LIB_CAPTURE_CAPTURE_RECORD_H

#include "collectors/common/plan.h"
#include "lib/capture/child.h"
#include "lib/capture/seen.h"

#include <time.h>

struct ids_outcome;

/* Everything that is known of one capture. Borrowed. */
struct ids_capture_record {
    const char *folder; /* the session's, absolute */
    const char *home;   /* of the collectors; NULL: not looked at */
    const char *rival;  /* NULL, or the tool that CUDA_INJECTION64_PATH names instead of ours */
    const char *device; /* NULL, or what was asked for: "GPU", "TPU" */
    int64_t lingers;    /* a process of the session that goes on after the program's end; 0: none */
    const char *run;    /* the run's name below plugins/profile */
    char *const *command;
    const struct ids_plan *plan;
    time_t started, ended;           /* ended 0: it runs */
    int64_t devices;                 /* of a sweep, 0: no sweep */
    const struct ids_child_end *end; /* NULL: it runs */
    const struct ids_seen *seen;     /* NULL: not known */
    const struct ids_outcome *outcome;
};

#endif
