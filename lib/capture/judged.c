/* Windows that were judged (--when, --keep-slowest): why some were kept, and what was not recorded. */
#include "lib/capture/outcome_parts.h"

#include "lib/base/counted.h"
#include "lib/base/saturate.h"

#include <stdio.h>

enum {
    COST_MUCH = 100000,     /* of max_cost: from here on more of it helps little */
    LAUNCH_NS = 100 * 1000, /* a loop whose usual step is shorter does not wait for its devices */
};

void ids_outcome_reasons(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    struct ids_outcome *out = outcome->out;
    for (size_t w = 0; w < process->window_count; w++) {
        const struct ids_seen_window *window = &process->windows[w];
        if (window->fate != IDS_SEEN_WRITTEN || !window->reason) continue;
        if (out->kept < IDS_REASONS_SHOWN)
            out->reasons[out->kept] =
                process->rank < 0
                    ? ids_outcome_text(outcome, "window %lld: %s", (long long)window->number, window->reason)
                    : ids_outcome_text(outcome, "rank %lld, window %lld: %s", (long long)process->rank,
                                       (long long)window->number, window->reason);
        out->kept++;
    }
    if (process->tried < 0) return;
    out->tried = ids_sat_add(out->tried < 0 ? 0 : out->tried, process->tried);
    out->judged_cost_ns = ids_sat_add(out->judged_cost_ns, process->judged_cost_ns);
}

static const char *rule(struct ids_outcome_work *outcome) {
    const struct ids_plan *plan = outcome->record->plan;
    if (plan->when_ratio) return ids_outcome_text(outcome, "%g × the median", (double)plan->when_ratio / 1000);
    return ids_outcome_text(outcome, "%g ms", (double)plan->when_ns / 1e6);
}

static const char *time_text(struct ids_outcome_work *outcome, int64_t ns) {
    return ids_outcome_text(outcome, ns < 1000000 ? "%.3g us" : "%.4g ms", (double)ns / (ns < 1000000 ? 1e3 : 1e6));
}

/* Of a loop that runs ahead of its devices a step is what it takes to launch one, and now and then to wait for many:
 * the median says little of it. So it does where steps vary for another reason. */
static const char *say_launches(struct ids_outcome_work *outcome, int64_t median_ns, int64_t slow, int64_t steps) {
    enum { MANY = 10 };
    if (!outcome->record->plan->when_ratio || median_ns <= 0) return NULL;
    if (median_ns < LAUNCH_NS)
        return ids_outcome_text(outcome,
                                "the usual step took %s, so the loop launches and does not wait: wait for each step, "
                                "or --when 'step > 500ms'",
                                time_text(outcome, median_ns));
    if (slow < steps / MANY) return NULL;
    return ids_outcome_text(outcome,
                            "this rule calls %.0f %% of all steps slow, as in a loop that launches and does not wait: "
                            "wait for each step, or --when 'step > 500ms', or --keep-slowest 3",
                            100.0 * (double)slow / (double)steps);
}

/* The slowest of those in no window: many that are noise are not what matters. */
static const char *say_slowest(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    const struct ids_seen_process *slowest = NULL;
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        if (process->missed_ns > 0 && (!slowest || process->missed_ns > slowest->missed_ns)) slowest = process;
    }
    if (!slowest) return "";
    return ids_outcome_text(outcome, "; the slowest of them, step %lld, took %s", (long long)slowest->missed_step,
                            time_text(outcome, slowest->missed_ns));
}

static void say_missed(struct ids_outcome_work *outcome, int64_t slow, int64_t missed, int64_t median_ns,
                       int64_t steps) {
    const struct ids_plan *plan = outcome->record->plan;
    int is_full = plan->max > 0 && outcome->out->kept >= plan->max;
    const char *many = plan->max_cost < COST_MUCH ? "a larger --max-cost lets more windows open" : NULL;
    const char *launches = say_launches(outcome, median_ns, slow, steps);
    ids_outcome_set(
        outcome, "slow_missed",
        ids_outcome_text(outcome, "%lld of %s in no window%s%s", (long long)missed,
                         slow == 1 ? "1 slow step was"
                                   : ids_outcome_text(outcome, "%s were", IDS_COUNTED(slow, "slow step")),
                         is_full ? ids_outcome_text(outcome, ": --max %lld was reached", (long long)plan->max) : "",
                         say_slowest(outcome)),
        launches  ? launches
        : is_full ? "--keep-slowest 1 keeps the slowest; or a rule that fewer steps meet, or a larger --max"
                  : many);
}

/* The step that kept windows have and that took least; 0: there is none. */
static int64_t least_kept_ns(const struct ids_seen_process *process) {
    int64_t least_ns = 0;
    for (size_t w = 0; w < process->window_count; w++) {
        const struct ids_seen_window *window = &process->windows[w];
        if (window->fate == IDS_SEEN_WRITTEN && window->slow_ns > 0 && (!least_ns || window->slow_ns < least_ns))
            least_ns = window->slow_ns;
    }
    return least_ns;
}

/* A rhythm that may cost so little opens few windows. */
static const char *too_few(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    int64_t asked = outcome->record->plan->keep_slowest;
    if (process->kept < 0 || process->kept >= asked) return "";
    return ids_outcome_text(outcome, "; %lld of %s kept", (long long)process->kept, IDS_COUNTED(asked, "window"));
}

/* Without a rule no step is slow, but a slower one than a kept one may have been in no window. A little slower is
 * chance. */
static int say_slower(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    const struct ids_plan *plan = outcome->record->plan;
    int64_t least_ns = least_kept_ns(process);
    if (plan->when_ratio || plan->when_ns || !least_ns || process->missed_ns <= least_ns + least_ns / 4) return 0;
    const char *seen = process->missed_seen_ns > 0
                           ? ids_outcome_text(outcome, "a window that saw %s of it and is not kept",
                                              time_text(outcome, process->missed_seen_ns))
                           : "no window";
    ids_outcome_set(outcome, "slow_missed",
                    ids_outcome_text(outcome, "step %lld took %s, longer than one that was kept (%s), in %s%s",
                                     (long long)process->missed_step, time_text(outcome, process->missed_ns),
                                     time_text(outcome, least_ns), seen, too_few(outcome, process)),
                    process->missed_seen_ns > 0  ? "a larger --keep-slowest keeps such windows too"
                    : plan->max_cost < COST_MUCH ? "a larger --max-cost lets more windows open"
                                                 : NULL);
    return 1;
}

/* A process says at its end which slow steps were in no window. */
static int say_unknown(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    if (!ids_plan_judges(outcome->record->plan) || !outcome->out->files || outcome->record->lingers) return 0;
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        if (process->is_closed || process->tried >= 0 || !process->steps_source) continue;
        const char *failure = ids_outcome_failure(outcome);
        if (ids_outcome_unwritten(outcome)) return 1;
        ids_outcome_set(outcome, "not_said",
                        ids_outcome_text(outcome,
                                         "not known: %s%s before it could say which slow steps were in no window",
                                         failure ? "the program ended" : ids_outcome_untold(outcome, process),
                                         failure ? failure : ""),
                        "the report's history has the slow steps, and which are recorded");
        return 1;
    }
    return 0;
}

int ids_outcome_judged(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    int64_t steps = -1, slow = 0, missed = 0, median_ns = 0;
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        if (process->tried < 0 || process->judged_steps <= 0) continue;
        steps = ids_sat_add(steps < 0 ? 0 : steps, process->judged_steps);
        slow = ids_sat_add(slow, process->slow);
        missed = ids_sat_add(missed, process->slow_missed);
        if (process->judged_median_ns > median_ns) median_ns = process->judged_median_ns;
        if (say_slower(outcome, process)) return 1;
    }
    if (steps < 0) return say_unknown(outcome);
    if (missed > 0) {
        say_missed(outcome, slow, missed, median_ns, steps);
    } else if (!outcome->out->kept && steps <= outcome->record->plan->start_step) {
        ids_outcome_set(outcome, "never_judged",
                        ids_outcome_text(outcome, "the program ended after %s, and the first %lld are not judged",
                                         IDS_COUNTED(steps, "step"), (long long)outcome->record->plan->start_step),
                        NULL);
    } else if (!outcome->out->kept) {
        ids_outcome_set(
            outcome, "nothing_slow",
            ids_outcome_text(outcome, "none of %s took longer than %s", IDS_COUNTED(steps, "step"), rule(outcome)),
            "--keep-slowest 3 keeps some windows in any case");
    } else {
        return say_unknown(outcome);
    }
    return 1;
}
