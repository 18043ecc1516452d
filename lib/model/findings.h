/* findings.h - what the analysis found of single events: each device's work with its class and step, the host's
 * host_activities that figures are made of, idle gaps, steps, and the ledger's intervals. Made by lib/analysis, written
 * as rows by lib/store.
 *
 * Events are those of the trace, which must outlive the findings. Times are picoseconds since the run's origin. */
#ifndef IDS_LIB_MODEL_FINDINGS_H
#define IDS_LIB_MODEL_FINDINGS_H

#include "lib/model/found_intervals.h"
#include "lib/model/trace.h"

enum { IDS_NO_CAUSE = UINT8_MAX }; /* a gap's account is enum ids_account (account.h) */

/* A device of the trace, in its order. */
struct ids_found_device {
    int active;               /* it takes part in the figures */
    int64_t start_ps, end_ps; /* the window; equal where it is not active */
    int64_t idle_ps;          /* the gap behind its last work in the window; 0 none */
    uint8_t cause;            /* of that: the account of its longest part; IDS_NO_CAUSE where there is none */
    size_t first_work;        /* index in `work` of its first activity */
};

/* What a device can do of one kind at most, that figures go by. */
struct ids_found_peak {
    uint32_t device;
    const char *multiplies;  /* static: vector, bf16 */
    double flops, bandwidth; /* operations and bytes a second; 0 unknown */
};

/* What a device did, and the gap that ended with it. */
struct ids_found_work {
    const struct ids_event *event;
    int64_t idle_ps; /* how long the device had done nothing; 0 there was no gap */
    uint32_t around; /* index + 1 in `work`: the innermost work around it on its track; 0 none */
    uint32_t step;   /* index + 1 in `steps`; 0 none */
    uint32_t launch; /* index + 1 in `launches`; 0: what launched it is not known */
    uint8_t beside;  /* beside the device's ops: a transfer or a collective, but no activity of the device */
    uint8_t cause;   /* of the gap: the account of its longest part; IDS_NO_CAUSE where there is none */
};

struct ids_found_culprit {
    struct ids_text culprit, where; /* length 0 unknown; in memory of the findings */
    uint8_t account;
    uint64_t intervals; /* that it has, about */
};

/* What a host thread did: compiling, waiting, staging, feeding, marking steps. Stalls inside ops are not here: their
 * names tell. */
struct ids_found_host_activity {
    const struct ids_event *event;
    struct ids_text function; /* of a compilation: the jitted function that was called; length 0 unknown */
    uint32_t step;            /* index + 1 in `steps`; 0 none */
    uint8_t part;             /* of a compilation: another one encloses or caused it, or tells of the same */
};

struct ids_found_step {
    int64_t number, start_ps, end_ps;
    int64_t host_start_ps, host_end_ps; /* of its annotation; equal when there is none */
};

/* A step on one device. */
struct ids_found_device_step {
    uint32_t device, step; /* index of the trace's devices, and of `steps` */
    int64_t start_ps, end_ps;
};

struct ids_findings {
    const char *step_source; /* "marker", "annotation", "period"; NULL: no steps */
    int has_left_out;
    int64_t left_out;                  /* where there is one: the number of the step with which the recording began */
    struct ids_found_device *devices;  /* one for each device of the trace */
    struct ids_found_step *steps;      /* in time order */
    struct ids_found_work *work;       /* by device; in time order, what is beside behind the rest */
    const struct ids_event **launches; /* in the order of work, each once for all that follows on it */
    struct ids_found_host_activity *host_activities; /* by track, in time order */
    struct ids_found_intervals *intervals;           /* of each active device, in time order */
    uint32_t **culprit_numbers; /* what the culprits of some of these became; see struct ids_found_intervals */
    struct ids_found_culprit *culprits;
    struct ids_found_device_step *device_steps; /* by device, in time order */
    struct ids_arena texts;
    struct ids_found_peak *peaks; /* by device */
    size_t peak_count;
    size_t device_count, step_count, work_count, work_room, launch_count, launch_room, host_activity_count,
        host_activity_room;
    size_t culprit_count, device_step_count, device_step_room;
    size_t interval_lists, culprit_numbers_count, culprit_numbers_room;
};

void ids_findings_done(struct ids_findings *findings);

#endif
