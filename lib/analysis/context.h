/* context.h - what analyzers share: the window, steps, the ledger, each device's time by what it did, idle gaps.
 *
 * Made once by ids_analyze, in the order below, before the first analyzer runs; read-only after that.
 */
#ifndef IDS_LIB_ANALYSIS_CONTEXT_H
#define IDS_LIB_ANALYSIS_CONTEXT_H

#include "lib/analysis/analyzer.h"
#include "lib/analysis/intervals.h"
#include "lib/analysis/ledger.h"
#include "lib/analysis/op_costs.h"
#include "lib/analysis/params.h"
#include "lib/analysis/participants.h"
#include "lib/analysis/period.h"
#include "lib/base/keymap.h"
#include "lib/model/findings.h"

/* The run's window in equal parts, for a view of it over time. */
enum { IDS_PARTS = 20 };

/* A device's time inside its window, by what it did. */
struct ids_busy {
    const struct ids_device *device;
    uint32_t index;            /* of trace->devices */
    int64_t start_ps, end_ps;  /* the window that its gaps and shares are of */
    int64_t count_end_ps;      /* events that begin before this count; see ids_busy_cursor */
    int64_t first_ps, last_ps; /* its own first and last activity */
    /* How long it did just these things together, bits of enum ids_device_state below IDS_IS_IN_WINDOW: see
     * ids_time_in. */
    int64_t in_state_ps[IDS_IS_IN_WINDOW];
    /* By part of the run's window: working, compute, collectives, copies. Classes may overlap. */
    struct ids_part {
        int64_t working_ps, compute_ps, collective_ps, copy_ps;
    } parts[IDS_PARTS];
    struct ids_gap *gaps; /* in time order; none once analyzers have summed them up */
    size_t gap_count, gap_room;
};

/* A maximal interval of a device's window without activity. */
struct ids_gap {
    int64_t start_ps, end_ps;
    const struct ids_event *previous, *next; /* NULL at the window's edges */
    uint32_t entry;                          /* index of ledger.entries: the one that most of it belongs to */
};

enum ids_step_source { IDS_STEPS_NONE, IDS_STEPS_MARKER, IDS_STEPS_ANNOTATION, IDS_STEPS_PERIOD };

struct ids_step {
    int64_t number;
    int64_t start_ps, end_ps;           /* from its begin on the first device to its end on the last one */
    int64_t work_ps, last_ps;           /* begin of its first device event, end of its last one */
    int64_t sum_ps;                     /* its times on its devices together */
    int64_t slowest_ps;                 /* its longest time on one device */
    uint32_t devices;                   /* that it has work on */
    uint32_t slowest;                   /* index of trace->devices */
    int64_t host_start_ps, host_end_ps; /* of its annotation; equal when there is none */
    uint32_t made;                      /* the order in which it was found */
    uint8_t calls;                      /* work was launched inside its annotation */
    uint8_t opens;                      /* it was about to begin when idsprof's own window opened */
};

/* A step on one device. They do not overlap: one begins when the last work of the one before has ended there, or,
 * where that is later, when its annotation begins on the host. The last one ends with its last work, or with its
 * annotation. */
struct ids_device_step {
    uint32_t step; /* index of ids_steps.at; IDS_NONE: it does not lie wholly in the window */
    int64_t from_ps, to_ps;
};
struct ids_device_steps {
    struct ids_device_step *at; /* in time order */
    size_t count, room;
};

struct ids_steps {
    enum ids_step_source source;
    struct ids_step *at; /* in time order */
    size_t count, room;
    uint32_t name;  /* of the annotation: text */
    int unnumbered; /* it bears no numbers, but recurs */
    /* Where they are the region that idsprof's window was opened for, because what marks steps in it is less than half
     * of it: what that is, how often it is there and how long. 0: nothing marks steps there. */
    uint32_t inner_name;
    uint64_t inner_count;
    int64_t inner_ps, block_ps; /* block_ps: of the region */
    size_t without_work;        /* annotations that launched nothing on a device */
    /* The first step, where idsprof's window opened with it: its devices had nothing left to do, and recording
     * began. It is not in `at`. */
    int has_left_out;
    int64_t left_out; /* its number */
    /* A step in whose middle idsprof's window opened, and of which what was recorded is already longer than each other
     * step. It has no annotation in the file. */
    int has_running;
    int64_t running;       /* its number */
    uint32_t made_running; /* as ids_step.made */
    size_t marked,
        blurred; /* where annotations do not tell steps apart: how many there are, and how many have no time of their
                  * own */
    uint64_t called,
        linked; /* launches that lie in an annotation; that links lead to one, or of a CPU's ops without a run_id */
    uint64_t assigned, unassigned; /* device events */
    /* From the first step on, device events without a launch. Where they are more, and take longer, than those of
     * steps, most launches are missing, and a step's time would be that of a few kernels. */
    uint64_t launchless;
    int64_t launchless_ps, assigned_ps;
    int is_launchless;
    struct ids_device_steps *of_device; /* by trace->devices; NULL without steps */
    struct ids_keymap marks;            /* step and host -> index of `mark` */
    struct ids_step_mark {
        int64_t start_ps, end_ps; /* of the step's annotations on one host */
    } * mark;
    size_t mark_count, mark_room;
    struct ids_step_call {
        int64_t from_ps, to_ps;
        uint32_t host, made; /* made: as ids_step.made */
    } * call;                /* where steps are calls that idsprof counted: by host and time (step_calls.c) */
    size_t call_count;
    struct ids_keymap of_host_event; /* of annotations, and of launches far below one: address -> ids_step.made + 1 */
    uint32_t *
        *of_activity; /* the same by device and place in its activity; NULL of a device, or of all, that have none */
    uint32_t *place;  /* by ids_step.made: index in `at` + 1, 0 for a step that launched nothing */
    struct ids_period period; /* what steps were made of that nothing marks, or why there are none */
};

struct ids_findings_taking;
struct ids_analysis {
    const struct ids_trace *trace;
    struct ids_params params;
    int64_t first_ps;         /* the run's first device activity: what times in tables, --from and --to count from */
    int64_t start_ps, end_ps; /* the run's window; equal when no device did anything */
    struct ids_busy *busy;    /* of the active devices only */
    size_t busy_count;
    size_t chosen_count;      /* the first of them, that are looked at; until the ledger is made the others are there
                               * too, for they say who waited for whom */
    struct ids_spans *stalls; /* by track: waits inside CPU ops */
    uint8_t *compile_sources; /* by host: the source of its compilations (compilations.c) */
    struct ids_steps steps;
    struct ids_ledger ledger;
    struct ids_op_costs costs;
    struct ids_op_counting *op_counting; /* while they are counted; NULL: no op has any figure */
    void **gathered;                     /* by ids_analyzers: its sums (gathering.c) */
    void *sums;                          /* those of the analyzer that runs */
    struct ids_findings_taking *taking;  /* NULL: nobody asked for single events */
};

/* When a part of the run's window begins; IDS_PARTS: when the window ends. */
static inline int64_t ids_part_start(const struct ids_analysis *analysis, int part) {
    return analysis->start_ps + (int64_t)((__int128)(analysis->end_ps - analysis->start_ps) * part / IDS_PARTS);
}

/* The time in which the device did any of `states`. */
int64_t ids_time_in(const struct ids_busy *busy, unsigned states);
/* The time in which it did any of `states`, and any of `also`. */
int64_t ids_time_in_both(const struct ids_busy *busy, unsigned states, unsigned also);

/* How many times a device had a step; without steps the devices, which have one window each. */
int64_t ids_device_steps(const struct ids_analysis *analysis);

/* The calls of the host that gave devices work: executions of programs, where there are any, else launches, else calls
 * of jitted functions; of the thread with most of them, for each level of the runtime may record a call on a thread of
 * its own. */
uint64_t ids_calls_for_devices(const struct ids_trace *trace);
/* Why there is no data when no device is active, in words for a person. */
const char *ids_no_activity_reason(const struct ids_analysis *analysis);

/* Says of every metric that has not been set over all devices that there is no data, and why. */
void ids_metrics_missing(struct ids_report *report, const struct ids_metric_def *metrics, int count, const char *why);

/* A step's time: the mean over the devices that it has work on. */
static inline int64_t ids_step_time(const struct ids_step *step) {
    return step->devices ? step->sum_ps / (int64_t)step->devices : 0;
}

/* choice.c: whether the user looks at this device, and at the step at this place of analysis->steps before it is
 * trimmed. */
int ids_device_is_chosen(const struct ids_params *params, const struct ids_device *device);
int ids_step_is_chosen(const struct ids_analysis *analysis, size_t at);
/* Whether any step is chosen, where steps were asked for: 0, or IDS_USAGE. */
int ids_choice_check(const struct ids_analysis *analysis, struct ids_error *err);
/* The first step began as idsprof's window opened: it is unlike the others, and left out. */
int ids_first_step_opens(const struct ids_steps *steps);

/* busy.c, steps.c, ledger_making.c: the making of the parts. */
int ids_busy_make(struct ids_analysis *analysis, struct ids_error *err);
/* Leaves only the steps that lie wholly in the window. */
int ids_steps_trim(struct ids_analysis *analysis, struct ids_error *err);
int ids_steps_make(struct ids_analysis *analysis, struct ids_error *err);
void ids_steps_done(struct ids_analysis *analysis);
/* Whether the annotation that steps were made of is the region that idsprof's window was opened for. */
int ids_steps_are_block(const struct ids_analysis *analysis);
/* Devices [from, to) of analysis->busy are in the ledger, with their times and gaps. */
typedef int ids_swept_fn(struct ids_analysis *analysis, uint32_t from, uint32_t to, struct ids_error *err);
/* Makes the book, and with it the times and gaps of analysis->busy (stretches.c). Each interval goes to the visitor
 * too, and the devices that are swept, in their order, to `swept`, unless they are NULL. */
int ids_ledger_make(struct ids_analysis *analysis, const struct ids_ledger_visitor *visitor, ids_swept_fn *swept,
                    struct ids_error *err);
/* What analyzers need of single events is summed up (gathering.c): of each host before the ledger is made, of each
 * device when it is swept. */
int ids_gather_hosts(struct ids_analysis *analysis, struct ids_error *err);
int ids_gather_devices(struct ids_analysis *analysis, uint32_t from, uint32_t to, struct ids_error *err);
/* Runs all analyzers, which read their sums. */
int ids_run_analyzers(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err);
void ids_gathered_done(struct ids_analysis *analysis);
/* What the ops computed and moved: analysis->costs (op_costs_making.c). Gathering counts each device in turn. */
int ids_op_costs_begin(struct ids_analysis *analysis, struct ids_error *err);
int ids_op_costs_count(struct ids_op_counting *counting, size_t b, struct ids_error *err);
void ids_op_costs_end(struct ids_analysis *analysis);

/* The step that a host event lies in, directly or through what caused it; NULL when none. */
const struct ids_step *ids_step_of_host_event(const struct ids_analysis *analysis, const struct ids_event *event);

/* The step that a device's event belongs to; NULL when none. */
const struct ids_step *ids_step_of_device_event(const struct ids_analysis *analysis, const struct ids_event *event);

/* The events of a list that count in the device's window: they begin inside. */
static inline struct ids_cursor ids_busy_cursor(const struct ids_busy *busy, const struct ids_events *events) {
    return ids_cursor_between(events, busy->start_ps, busy->count_end_ps);
}
/* The event's end, cut at the window's. */
static inline int64_t ids_end_in_window(const struct ids_busy *busy, const struct ids_event *event) {
    return event->end_ps < busy->end_ps ? event->end_ps : busy->end_ps;
}
/* The event's time without what runs inside it, and in the window. */
static inline int64_t ids_own_in_window(const struct ids_busy *busy, const struct ids_event *event) {
    int64_t duration_ps = ids_end_in_window(busy, event) - event->start_ps;
    return event->self_ps < duration_ps ? event->self_ps : duration_ps;
}

/* A kernel: a GPU's kernel that is no copy or set, an op that is no async marker, no transfer and no wait. */
int ids_is_kernel(const struct ids_trace *trace, const struct ids_event *event);

int ids_compilations_make(struct ids_analysis *analysis, struct ids_error *err);
/* Whether jax.monitoring reported this compilation, or a part of one, to idsprof's Python hook ("jax.compile(f)");
 * and its f, length 0 if there is none. */
int ids_is_told(const struct ids_trace *trace, const struct ids_event *event);
struct ids_text ids_told_function(const struct ids_trace *trace, const struct ids_event *event);
/* Why a function was compiled again, as idsprof's Python hook saw it in its arguments: "shape: x f32[8] -> f32[9]".
 * Length 0: it was the first time, or nobody saw it. `event` is a compilation. */
struct ids_text ids_recompile_reason(const struct ids_trace *trace, const struct ids_event *event);
/* The same of the function's longest compilation that has a reason. */
struct ids_text ids_recompile_reason_of(const struct ids_trace *trace, const char *function);
/* Whether another event reports the same compilation and counts instead. On a host where jax.monitoring reported
 * compilations, only these count; the PJRT interposer's view of one counts only if the runtime recorded none itself. */
int ids_is_retold(const struct ids_analysis *analysis, const struct ids_event *event);
/* Whether another compilation encloses or caused this one. */
int ids_is_part_of_compilation(const struct ids_trace *trace, const struct ids_event *event);
/* The jitted function whose call led to the compilation: as jax.monitoring reported it, else from the
 * PjitFunction(f) around it, else from the event itself ("XlaCompile:#module=jit_f#"). Length 0 unknown. */
struct ids_text ids_compiled_function(const struct ids_trace *trace, const struct ids_event *event);

/* Findings about single events, which the caller ends. Begin them before the ledger is made, because the ledger
 * passes its intervals to the visitor; end them last. With `make` 0, and after a failure, there are none. A taking
 * of NULL is allowed. */
int ids_findings_begin(const struct ids_analysis *analysis, struct ids_findings *findings,
                       struct ids_findings_taking **ret_taking, struct ids_ledger_visitor *ret_visitor,
                       struct ids_error *err);
/* The gaps of a device, by its index in analysis->busy: of one device after the other, when each is swept. Afterwards
 * they may go. 0, or -1 when memory ran out. */
int ids_findings_take_gaps(struct ids_findings_taking *taking, uint32_t b);
int ids_findings_end(struct ids_findings_taking *taking, int make, struct ids_error *err);

/* Sums over the active devices: Σ part ÷ Σ window. */
int64_t ids_windows_total(const struct ids_analysis *analysis);

#endif
