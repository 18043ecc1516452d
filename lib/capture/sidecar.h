/* sidecar.h - idsprof-run.json, the record of a capture: the command, the request, the messages of each process, and
 * the result.
 *
 * It is written when the program starts (state "running") and again when it has ended (state "ended"), each time whole
 * or not at all. idsprof-collectors(7) names its fields. Only its user may read it, and secrets in command lines are
 * masked (secrets.h).
 */
#ifndef IDS_LIB_CAPTURE_SIDECAR_H
#define IDS_LIB_CAPTURE_SIDECAR_H

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
    const char *run;    /* the run's name below plugins/profile */
    char *const *command;
    const struct ids_plan *plan;
    time_t started, ended;           /* ended 0: it runs */
    int64_t devices;                 /* of a sweep, 0: no sweep */
    const struct ids_child_end *end; /* NULL: it runs */
    const struct ids_seen *seen;     /* NULL: not known */
    const struct ids_outcome *outcome;
};

int ids_sidecar_write(const struct ids_capture_record *record, struct ids_error *err);
/* That of a sweep: its parts, one folder for each number of devices. */
int ids_sidecar_write_sweep(const char *folder, char *const *command, time_t started, const int64_t *devices,
                            char *const *parts, size_t count, int ended, struct ids_error *err);
/* Whether the folder holds a sidecar that says the capture has ended. */
int ids_sidecar_is_ended(const char *folder);

#endif
