/* Requests that were not met: a device, a function of --wrap, a number of windows. */
#include "lib/capture/outcome_parts.h"

#include "lib/base/saturate.h"

#include <stdlib.h>
#include <string.h>

/* jax fell back to the CPU in every process that reported its backend. */
static int without_device(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    const char *device = outcome->record->device;
    int on_cpu = 0;
    for (size_t i = 0; device && i < seen->count; i++) {
        const char *platform = ids_seen_fact(&seen->processes[i], "platform");
        if (platform && strcmp(platform, "cpu") != 0) return 0;
        on_cpu |= platform != NULL;
    }
    if (!on_cpu) return 0;
    ids_outcome_set(outcome, "no_device", ids_outcome_text(outcome, "jax found no %s, and ran on the CPU", device),
                    "idsprof doctor says what is in its way");
    return 1;
}

/* Whether a process ran on what the option of jax's profiler is for: "gpu_...", "tpu_...". -1: nobody knows. */
static int has_platform(const struct ids_seen *seen, const char *option) {
    int is_known = 0;
    for (size_t i = 0; i < seen->count; i++) {
        const char *platform = ids_seen_fact(&seen->processes[i], "platform");
        if (!platform) continue;
        is_known = 1;
        if (strcmp(platform, "cpu") != 0 && (!strcmp(platform, "tpu") == !strncmp(option, "tpu_", 4))) return 1;
    }
    return is_known ? 0 : -1;
}

/* jax hands options of devices on to those that are there, and says nothing where there are none. */
static int without_use(struct ids_outcome_work *outcome) {
    const char *option = outcome->record->plan->profile_options;
    for (const char *end; *option; option = *end ? end + 1 : end) {
        end = option + strcspn(option, "\n");
        int is_gpu = !strncmp(option, "gpu_", 4), is_of_device = is_gpu || !strncmp(option, "tpu_", 4);
        if (!is_of_device || has_platform(outcome->record->seen, option)) continue;
        ids_outcome_set(outcome, "no_use",
                        ids_outcome_text(outcome, "--profile-option %.*s had no effect: no %s ran the program",
                                         (int)(end - option), option, is_gpu ? "GPU" : "TPU"),
                        "leave it out here");
        return 1;
    }
    return 0;
}

/* A function that no process of the launch found. */
int ids_outcome_without_wrapped(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    const char *missing = NULL;
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        const char *said = ids_seen_fact(process, "wrap");
        if (!process->is_closed || !ids_seen_fact(process, "jax")) continue;
        if (!said) return 0;
        missing = said;
    }
    if (!missing) return 0;
    ids_outcome_set(outcome, "no_wrap", ids_outcome_text(outcome, "--wrap: %s", missing),
                    strstr(missing, "never found")
                        ? "name the module as the program imports it, and the function as it is called there"
                        : "name a function of the program that calls it, or a method of its class");
    return 1;
}

/* "--step-executable '^tanh$' --start-step 54": so many calls of it there were; NULL: too few for a window. */
static const char *by_calls_of(struct ids_outcome_work *outcome, const char *name, int length, const char *said) {
    const struct ids_plan *plan = outcome->record->plan;
    int64_t calls = said ? strtoll(said, NULL, 10) : 0, start = calls - 1 - plan->steps;
    const char *from = "";
    if (said && start < 0) return NULL;
    if (said && start < plan->start_step) from = ids_outcome_text(outcome, " --start-step %lld", (long long)start);
    return ids_outcome_text(outcome, "--step-executable '^%.*s$'%s", length, name, from);
}

/* Of what is called once in a turn of the loop: a step is a turn then. */
static const char *by_turns(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    const char *name = ids_seen_fact(process, "op turn"), *said = ids_seen_fact(process, "op turns");
    return name && said ? by_calls_of(outcome, name, (int)strlen(name), said) : NULL;
}

const char *ids_outcome_by_calls(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    const char *names = ids_seen_fact(process, "op by op"), *turns = by_turns(outcome, process);
    if (turns || !names) return turns;
    return by_calls_of(outcome, names, (int)strcspn(names, ","), ids_seen_fact(process, "op calls"));
}

/* The functions that the hook names are what the program called most. */
static int matches_none(struct ids_outcome_work *outcome, const struct ids_seen_process *process, const char *chosen,
                        const char *ran) {
    const char *other = ids_outcome_by_calls(outcome, process);
    ids_outcome_set(outcome, "no_steps",
                    ids_outcome_text(outcome, "--step-executable '%s' matched no function that the program ran%s%s%s",
                                     chosen, ran ? " (" : "", ran ? ran : "", ran ? ")" : ""),
                    other ? ids_outcome_text(outcome, "again, with the name of one of these: %s", other)
                          : "again, without it, or with a pattern of the step function's name");
    return 1;
}

int ids_outcome_op_by_op(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    const char *ops = ids_seen_fact(process, "op by op"), *chosen = outcome->record->plan->step_executable;
    if (*chosen) return matches_none(outcome, process, chosen, ops);
    if (!ops) return 0;
    const char *by_calls = ids_outcome_by_calls(outcome, process), *by_time = ids_outcome_by_time(outcome);
    ids_outcome_set(
        outcome, "no_steps", ids_outcome_text(outcome, "the program ended without a step: it runs op by op (%s)", ops),
        by_calls ? ids_outcome_text(outcome, "%s counts %s; %s goes by time", by_calls,
                                    by_turns(outcome, process) ? "turns of the loop, with an op that comes once in each"
                                                               : "the calls of one of these ops as steps",
                                    by_time)
                 : ids_outcome_text(outcome, "%s goes by time", by_time));
    return 1;
}

static int is_full(const struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    int64_t most = outcome->record->plan->max_size;
    for (size_t i = 0; most && i < seen->count; i++) {
        int64_t bytes = 0;
        for (size_t w = 0; w < seen->processes[i].window_count; w++) {
            int64_t more = seen->processes[i].windows[w].bytes;
            if (more > 0) bytes = ids_sat_add(bytes, more);
        }
        if (bytes >= most) return 1;
    }
    return 0;
}

/* Fewer windows than --max: worth a line, because the program may have ended early. */
static int with_fewer(struct ids_outcome_work *outcome) {
    const struct ids_plan *plan = outcome->record->plan;
    int64_t runs = outcome->out->runs, missing = plan->max - runs;
    if (!plan->every || plan->start_step < 0) return 0;
    if (is_full(outcome) && (plan->max <= 0 || missing > 0)) {
        const char *of =
            plan->max > 0 ? ids_outcome_text(outcome, "%lld of %lld windows", (long long)missing, (long long)plan->max)
                          : "further windows";
        ids_outcome_set(outcome, "max_size",
                        ids_outcome_text(outcome, "%s: --max-size was reached with window %lld", of, (long long)runs),
                        "a larger --max-size");
        return 1;
    }
    if (plan->max <= 0 || missing <= 0) return 0;
    int64_t next = ids_sat_add(plan->start_step, ids_sat_mul(runs, plan->every));
    ids_outcome_set(outcome, "fewer",
                    ids_outcome_text(outcome, "%lld of %lld windows: the program ended before step %lld",
                                     (long long)missing, (long long)plan->max, (long long)next),
                    NULL);
    return 1;
}

void ids_outcome_unmet(struct ids_outcome_work *outcome) {
    if (without_device(outcome) || with_fewer(outcome) || without_use(outcome)) return;
    ids_outcome_without_wrapped(outcome);
}
