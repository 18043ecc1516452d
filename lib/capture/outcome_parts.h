/* outcome_parts.h - internal parts of outcome.h: the reasons that have files of their own. */
#ifndef IDS_LIB_CAPTURE_OUTCOME_PARTS_H
#define IDS_LIB_CAPTURE_OUTCOME_PARTS_H

#include "lib/capture/outcome.h"

/* The Python hook's words for a profiler that the program itself uses (idsprof_session.py). */
#define IDS_OWN_PROFILE "the program profiles itself"

enum { IDS_REASON_BYTES = 1024 };

struct ids_outcome_work {
    const struct ids_capture_record *record;
    struct ids_arena *arena;
    struct ids_outcome *out;
};

/* A text owned by the outcome; "" if memory ran out. */
const char *ids_outcome_text(struct ids_outcome_work *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ids_outcome_set(struct ids_outcome_work *outcome, const char *reason, const char *missed, const char *remedy);
/* " with exit code 3", " by signal 9 (Killed)"; NULL: the program succeeded, or still runs. */
const char *ids_outcome_failure(struct ids_outcome_work *outcome);
/* Who ended without saying so, and how, as far as it is known: only of the launched program we have the exit code. */
const char *ids_outcome_untold(struct ids_outcome_work *outcome, const struct ids_seen_process *process);
#define DISK_REMEDY "make room, or choose another folder with -o DIR"
/* Whether these words of the system say that the disk is full. */
int ids_outcome_says_full(const char *why);
/* What helps where the system refused to write, by its own words; NULL: nothing that is known. */
const char *ids_outcome_remedy_of(const char *why);
/* A process could not write what happened: 1, that is the reason. */
int ids_outcome_unwritten(struct ids_outcome_work *outcome);
const char *ids_outcome_failure_remedy(const struct ids_outcome_work *outcome);
/* "--delay 10s --duration 2s", or less of either where the program ran for less than 40 s. */
const char *ids_outcome_by_time(struct ids_outcome_work *outcome);
/* A missing collector is the first thing to repair, because nobody knows what it would have recorded. 1 if that is the
 * reason. */
int ids_outcome_without_collector(struct ids_outcome_work *outcome);

/* never_loaded.c: no process loaded a collector. */
void ids_outcome_never_loaded(struct ids_outcome_work *outcome);
/* replaced_path.c: the command or its script sets PYTHONPATH anew; 1 if that is the reason. */
int ids_outcome_replaced_path(struct ids_outcome_work *outcome);
/* short_windows.c: a window that is shorter than requested, or lies elsewhere. */
void ids_outcome_short_windows(struct ids_outcome_work *outcome);
/* Same file: window `number` of the process was not opened because the program profiled itself. */
void ids_outcome_own_profile(struct ids_outcome_work *outcome, const struct ids_seen_process *process, int64_t number);

/* without_stacks.c: windows without a sample of the stacks that were to be sampled, or with too few. */
void ids_outcome_without_stacks(struct ids_outcome_work *outcome);

/* judged.c: why windows were kept; and the slow steps that no window holds: 1 if that is the reason. */
void ids_outcome_reasons(struct ids_outcome_work *outcome, const struct ids_seen_process *process);
int ids_outcome_judged(struct ids_outcome_work *outcome);

/* unmet.c: other requests: a device, functions, a number of windows. */
void ids_outcome_unmet(struct ids_outcome_work *outcome);
/* The same file: a process without steps that works op by op, as its hook says, or of whose functions none is the one
 * that was chosen; 1 when that is so. */
int ids_outcome_op_by_op(struct ids_outcome_work *outcome, const struct ids_seen_process *process);
/* The same file: "--step-executable '^tanh$'", with a --start-step where it needs one: whose calls could be steps,
 * where those that were are too few for a window; what comes once in a turn of the loop before what was called most.
 * NULL: of no function that the process says. */
const char *ids_outcome_by_calls(struct ids_outcome_work *outcome, const struct ids_seen_process *process);
/* The same file: 1 when a function of --wrap was never found. */
int ids_outcome_without_wrapped(struct ids_outcome_work *outcome);

#endif
