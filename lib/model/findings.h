/* findings.h - what the analysis found of single events: each device's work with its class and step, the host's deeds that figures
 * are made of, idle gaps with their causes, steps. Made by lib/analysis, written as rows by lib/store.
 *
 * Events are those of the trace, which must outlive the findings. Times are picoseconds since the run's origin. */
#ifndef IDS_LIB_MODEL_FINDINGS_H
#define IDS_LIB_MODEL_FINDINGS_H

#include "lib/model/trace.h"

enum { IDS_NO_CAUSE = UINT8_MAX };

/* A device of the trace, in its order. */
struct ids_found_device {
    int active;               /* it takes part in the figures */
    int64_t start_ps, end_ps; /* the window; equal where it is not active */
    int64_t idle_ps;          /* the gap behind its last work in the window; 0 none */
    uint8_t cause;            /* of that: index of cause_names; IDS_NO_CAUSE where there is none */
};

/* What a device did, and the gap that ended with it. */
struct ids_found_work {
    const struct ids_event *event;
    int64_t idle_ps; /* how long the device had done nothing; 0 there was no gap */
    uint32_t around; /* index + 1 in `work`: the innermost work around it on its track; 0 none */
    uint32_t step;   /* index + 1 in `steps`; 0 none */
    uint8_t beside;  /* beside the device's ops: a transfer or a collective, but no activity of the device */
    uint8_t cause;   /* of the gap: index of cause_names; IDS_NO_CAUSE where there is none */
};

/* A gap that the host was late to end. */
struct ids_found_late {
    const struct ids_event *launch, *evidence; /* as of struct ids_gap; NULL none */
    uint32_t work;                             /* index of `work` */
};

/* What a host thread did: compiling, waiting, staging, feeding, marking steps. Stalls inside ops are not here: their names tell. */
struct ids_found_deed {
    const struct ids_event *event;
    struct ids_text function; /* of a compilation: the jitted function that was called; length 0 unknown */
    uint32_t step;            /* index + 1 in `steps`; 0 none */
    uint8_t part;             /* of a compilation: another one encloses or caused it, or tells of the same */
};

struct ids_found_step {
    int64_t number, start_ps, end_ps;
    int64_t host_start_ps, host_end_ps; /* of its annotation; equal when there is none */
};

struct ids_findings {
    const char *step_source; /* "marker", "annotation"; NULL: no steps */
    const char *const *cause_names;
    size_t cause_count;
    struct ids_found_device *devices; /* one for each device of the trace */
    struct ids_found_step *steps;     /* in time order */
    struct ids_found_work *work;      /* by device; in time order, what is beside behind the rest */
    struct ids_found_late *late;      /* in the order of work */
    struct ids_found_deed *deeds;     /* by track, in time order */
    size_t device_count, step_count, work_count, work_room, late_count, late_room, deed_count, deed_room;
};

void ids_findings_done(struct ids_findings *findings);

#endif
