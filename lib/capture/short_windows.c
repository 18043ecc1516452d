/* Windows that are shorter than requested, or lie elsewhere, and why. */
#include "lib/capture/outcome_parts.h"

#include "lib/base/saturate.h"

#include <string.h>

static int is(const char *said, const char *word) {
    return said && !strcmp(said, word);
}

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

/* ---- the program's own profile ---- */

/* A start step whose window lies beside the program's own profile: behind it where the program goes on long enough,
 * else before it. NULL: there is no room. */
static const char *step_beside(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    int64_t steps = outcome->record->plan->steps;
    int64_t behind = process->own_end, before = process->own_begin < 0 ? -1 : process->own_begin - steps;
    if (behind >= 0 && process->number >= ids_sat_add(behind, steps + 1))
        return ids_outcome_text(outcome, "again, with --start-step %lld", (long long)behind + 1);
    return before >= 0 && steps ? ids_outcome_text(outcome, "again, with --start-step %lld", (long long)before) : NULL;
}

void ids_outcome_own_profile(struct ids_outcome_work *outcome, const struct ids_seen_process *process, int64_t number) {
    const char *remedy = step_beside(outcome, process), *since = "";
    if (process->own_begin >= 0) since = ids_outcome_text(outcome, " from step %lld on", (long long)process->own_begin);
    ids_outcome_set(outcome, "own_profile",
                    ids_outcome_text(outcome,
                                     "window %lld was not opened: the program profiled itself with jax.profiler%s",
                                     (long long)number, since),
                    remedy ? remedy : "the program's own profile is where it wrote it; idsprof report reads that");
}

/* Windows that a busy profiler delayed. */
static int say_put_off(struct ids_outcome_work *outcome, const struct ids_seen_process *process,
                       const struct ids_seen_window *window) {
    for (size_t i = 0; i < process->skipped_count; i++) {
        const struct ids_seen_text *skip = &process->skipped[i];
        if (skip->window != window->number || skip->step < 0 || skip->step >= window->first_step) continue;
        int is_own = skip->value && !strncmp(skip->value, IDS_OWN_PROFILE, strlen(IDS_OWN_PROFILE));
        ids_outcome_set(outcome, "put_off",
                        ids_outcome_text(outcome, "window %lld was opened at step %lld and not at %lld: until then %s",
                                         (long long)window->number, (long long)window->first_step,
                                         (long long)skip->step,
                                         is_own ? "the program profiled itself" : "another session had the profiler"),
                        NULL);
        return 1;
    }
    return 0;
}

/* ---- windows that are short ---- */

/* "after 2 of the 5 steps of window 1" */
static const char *after_steps(struct ids_outcome_work *outcome, const struct ids_seen_window *window) {
    return ids_outcome_text(outcome, "after %lld of the %lld steps of window %lld", (long long)window->steps,
                            (long long)outcome->record->plan->steps, (long long)window->number);
}

/* Steps that are calls end where the next one begins. */
static int has_no_end(const struct ids_seen_process *process, const struct ids_seen_window *window) {
    return window->steps > 0 && window->last_step >= 0 && process->steps_source &&
           strcmp(process->steps_source, "annotation") != 0 && ids_seen_fact(process, "step function");
}

static void say_cut(struct ids_outcome_work *outcome, const struct ids_seen_process *process,
                    const struct ids_seen_window *window) {
    const struct ids_plan *plan = outcome->record->plan;
    int64_t length_ns = window->end_ns - window->begin_ns;
    if (window->reason) return; /* the slow step is in it */
    if (is(window->opened_by, "step") && window->steps > 0 && window->steps < plan->steps) {
        ids_outcome_set(outcome, "cut_short",
                        ids_outcome_text(outcome, "the program ended %s", after_steps(outcome, window)), NULL);
    } else if (is(window->opened_by, "step") && has_no_end(process, window)) {
        ids_outcome_set(outcome, "cut_short",
                        ids_outcome_text(outcome, "the end of step %lld of window %lld: the program ended in it",
                                         (long long)window->last_step, (long long)window->number),
                        NULL);
    } else if (!is(window->opened_by, "step") && plan->duration_ns && window->end_ns >= 0 &&
               length_ns < plan->duration_ns && (!plan->steps || window->steps < plan->steps)) {
        ids_outcome_set(outcome, "cut_short",
                        ids_outcome_text(outcome, "the program ended after %.2g s of the %g s of window %lld",
                                         seconds(length_ns), seconds(plan->duration_ns), (long long)window->number),
                        NULL);
    }
}

static void say_grown(struct ids_outcome_work *outcome, const struct ids_seen_window *window) {
    int64_t bytes = ids_window_bytes(outcome->record->plan);
    int is_small = bytes < 1 << 20;
    ids_outcome_set(
        outcome, "window_bytes",
        ids_outcome_text(outcome, "window %lld was ended after %.2g s: the program's memory had grown by %lld %s in it",
                         (long long)window->number, seconds(window->end_ns - window->begin_ns),
                         (long long)(bytes >> (is_small ? 10 : 20)), is_small ? "kB" : "MB"),
        "a shorter --duration or fewer --steps; --max-window-bytes 0 lifts the limit");
}

/* The options that leave nothing to record; NULL where something is. On the CPU the devices' tracer has nothing. */
static const char *options_without_events(const struct ids_plan *plan, const struct ids_seen_process *process) {
    const char *platform = ids_seen_fact(process, "platform");
    if (plan->host_level || plan->python_level) return NULL;
    if (!plan->device_level) return "--host-tracer 0 and --device-tracer 0 record nothing";
    return is(platform, "cpu") ? "--host-tracer 0 records nothing on the CPU" : NULL;
}

static void say_empty(struct ids_outcome_work *outcome, const struct ids_seen_process *process,
                      const struct ids_seen_window *window) {
    const char *options = options_without_events(outcome->record->plan, process);
    if (options) {
        ids_outcome_set(outcome, "empty_window",
                        ids_outcome_text(outcome, "window %lld is empty: %s", (long long)window->number, options),
                        "again, without --host-tracer 0");
        return;
    }
    ids_outcome_set(outcome, "empty_window",
                    ids_outcome_text(outcome, "window %lld is empty: nothing that is recorded ran while it was open",
                                     (long long)window->number),
                    window->samples > 0                ? "its report says what the program did meanwhile"
                    : is(window->opened_by, "trigger") ? "idsprof trigger again, while the program computes"
                                                       : "again, with a longer --duration or another --delay");
}

static int say_short(struct ids_outcome_work *outcome, const struct ids_seen_process *process,
                     const struct ids_seen_window *window) {
    if (window->fate != IDS_SEEN_WRITTEN) return 0;
    if (is(window->closed_by, "program")) {
        ids_outcome_set(outcome, "gave_way",
                        ids_outcome_text(outcome, "window %lld ended where the program began a profile of its own",
                                         (long long)window->number),
                        step_beside(outcome, process));
    } else if (is(window->closed_by, "size")) {
        say_grown(outcome, window);
    } else if (is(window->closed_by, "exec")) {
        ids_outcome_set(outcome, "exec",
                        ids_outcome_text(outcome, "the program became another one (exec) %s",
                                         outcome->record->plan->steps && window->steps > 0
                                             ? after_steps(outcome, window)
                                             : ids_outcome_text(outcome, "in window %lld", (long long)window->number)),
                        NULL);
    } else if (!window->events) {
        say_empty(outcome, process, window);
    } else if (is(window->closed_by, "exit")) {
        say_cut(outcome, process, window);
    }
    return outcome->out->reason || say_put_off(outcome, process, window);
}

void ids_outcome_short_windows(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        for (size_t w = 0; w < process->window_count; w++) {
            if (say_short(outcome, process, &process->windows[w])) return;
        }
    }
}
