/* step_sources.h - where steps come from: lines of the device, annotations of the host, a loop's regions, executions.
 *
 * steps.c asks one after the other. Each adds the steps that it finds to analysis->steps, by device and in the order of
 * finding. All return 0, or a code with *err set.
 */
#ifndef IDS_LIB_ANALYSIS_STEP_SOURCES_H
#define IDS_LIB_ANALYSIS_STEP_SOURCES_H

#include "lib/analysis/context.h"

enum { IDS_STEP_HOPS = 32 }; /* from thread to thread; a chain of links that long is a circle */

/* "Steps" lines (step_lines.c). */
int ids_steps_of_lines(struct ids_analysis *analysis, struct ids_error *err);

/* The annotation's name that most step marks have, IDS_NONE where there are none (step_marks.c). A program may annotate
 * evaluation steps too, and more of them. */
int ids_steps_main_name(const struct ids_trace *trace, uint32_t *ret_name, struct ids_error *err);
int ids_steps_of_marks(struct ids_analysis *analysis, uint32_t name, struct ids_error *err);
/* Ends the last one of each host where the step began that ended idsprof's window. -1 when memory ran out. */
int ids_steps_end_last(struct ids_analysis *analysis);
/* ids_step.made + 1 of the step that a host event belongs to, 0 for none; *ret_far when that was a long way, 2 through
 * links. */
uint64_t ids_step_made_around(const struct ids_analysis *analysis, const struct ids_event *event, int *ret_far);

/* Puts steps that are calls of a jitted function in order of time. -1 when memory ran out (step_calls.c). */
int ids_steps_find_calls(struct ids_analysis *analysis);
/* The same as ids_step_made_around by the time of the call that a host event lies in. */
uint64_t ids_step_made_of_call(const struct ids_analysis *analysis, const struct ids_event *event);

/* Adds the step in whose middle idsprof's window opened, where it is the slowest (step_running.c). */
int ids_steps_add_running(struct ids_analysis *analysis, struct ids_error *err);

/* Sets the name of an annotation without a number that recurs once per iteration (step_loop.c). */
int ids_steps_find_loop(struct ids_analysis *analysis, struct ids_error *err);
/* The same of a region that idsprof's window was opened for, unless steps are found that make up most of it. */
void ids_steps_find_block(struct ids_analysis *analysis);

/* Gives the work of devices to annotated steps (step_launches.c). */
int ids_steps_by_launch(struct ids_analysis *analysis, struct ids_error *err);
/* ids_step.made + 1 of a device's event, 0 for none. */
uint64_t ids_step_made_of(const struct ids_analysis *analysis, const struct ids_event *event);
/* Leaves no steps where annotations do not tell them apart. */
void ids_steps_drop_blurred(const struct ids_trace *trace, struct ids_steps *steps);

/* What a device still does of the time before its first step (step_backlog.c). */
struct ids_step_backlog {
    int64_t ahead_ps;      /* end of what began before any work of a step; INT64_MIN: nothing did */
    int64_t queued_ps;     /* the same of the stream that the first step does most on, before its work there */
    uint64_t launchless;   /* events without a launch, on each stream before the work of steps */
    int64_t launchless_ps; /* their time */
};
/* made[]: by the device's activity, ids_step.made + 1; own: first and last work of its steps, in order. -1 when memory
 * ran out. */
int ids_step_backlog(const struct ids_events *activity, const uint32_t *made, const struct ids_device_steps *own,
                     struct ids_step_backlog *ret_backlog);

/* Executions of the program that recurs (step_periods.c). */
int ids_steps_of_periods(struct ids_analysis *analysis, struct ids_error *err);

/* Notes when the step `made` was annotated on that host. -1 when memory ran out. */
int ids_step_mark_on_host(struct ids_steps *steps, uint64_t made, uint32_t host, int64_t from_ps, int64_t to_ps);

static inline uint64_t ids_step_mark_key(uint64_t made, uint32_t host) {
    return ids_key_of(made, host);
}
static inline void ids_step_stretch(struct ids_step *step, int64_t from_ps, int64_t to_ps) {
    if (from_ps < step->work_ps) step->work_ps = from_ps;
    if (to_ps > step->last_ps) step->last_ps = to_ps;
}

#endif
