#include "lib/analysis/program_runs.h"

#include "lib/analysis/participants.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

enum { LEVELS = 64 }; /* from a launch out to the call of its program */

/* "jit_f(12)" and "jit_f(13)" are one function, compiled for two shapes. */
static uint32_t program_of(struct ids_program_runs *found, uint32_t name) {
    struct ids_text text = ids_strings_text(&found->trace->strings, name);
    size_t length = text.length;
    if (length && text.at[length - 1] == ')') {
        size_t open = length - 1;
        while (open && text.at[open - 1] >= '0' && text.at[open - 1] <= '9') open--;
        if (open > 1 && text.at[open - 1] == '(') length = open - 1;
    }
    return ids_intern(&found->programs, text.at, length);
}

/* --- executions ------------------------------------------------------------------------------------------------- */

/* The call of a program that a launch is part of; NULL when that was not recorded. */
static const struct ids_event *call_around(const struct ids_trace *trace, const struct ids_event *launch) {
    const struct ids_event *call = NULL;
    for (int level = 0; launch && level < LEVELS; level++, launch = ids_event_outside(trace, launch)) {
        if (launch->kind == IDS_KIND_EXECUTE || launch->kind == IDS_KIND_DISPATCH) call = launch;
    }
    return call;
}

/* What an op has in common with the others of its execution; 0 unknown. */
static uint64_t execution_of(const struct ids_trace *trace, const struct ids_event *op) {
    if (op->run_id) return op->run_id;
    return (uint64_t)(uintptr_t)call_around(trace, op->launch);
}

static int add_run(struct ids_device_runs *runs, uint32_t program, const struct ids_event *event) {
    struct ids_program_run *run = IDS_PUSH(runs->at, runs->count, runs->room);
    if (!run) return -1;
    *run = (struct ids_program_run){.start_ps = event->start_ps, .end_ps = event->end_ps, .program = program};
    return 0;
}

static void add_work(struct ids_device_runs *runs, struct ids_program_run *run, int64_t work_ps) {
    ids_sum(&run->work_ps, work_ps);
    ids_sum(&runs->work_ps, work_ps);
}

/* A TPU says when its programs ran. An execution ends with its last op where the run does: the window ends there. */
static int gather_modules(struct ids_program_runs *found, const struct ids_device *device,
                          struct ids_device_runs *runs) {
    int64_t last_ps = INT64_MIN;
    ids_events_turn(&device->activity);
    for (size_t i = 0; i < device->activity.count; i++) {
        if (device->activity.at[i].end_ps > last_ps) last_ps = device->activity.at[i].end_ps;
    }
    for (size_t i = 0; i < device->modules.count; i++) {
        const struct ids_event *event = &device->modules.at[i];
        uint32_t program = program_of(found, found->trace->names[event->name].text);
        if (event->start_ps >= last_ps) continue;
        if (program == IDS_NO_TEXT || add_run(runs, program, event)) return -1;
        struct ids_program_run *run = &runs->at[runs->count - 1];
        if (run->end_ps > last_ps) run->end_ps = last_ps;
        add_work(runs, run, run->end_ps - run->start_ps);
    }
    return 0;
}

static int gather_ops(struct ids_program_runs *found, const struct ids_events *activity, struct ids_device_runs *runs,
                      int *ret_unknown) {
    const struct ids_trace *trace = found->trace;
    struct ids_keymap places = {0}; /* (execution, program) -> index of runs */
    uint32_t last_module = IDS_NONE, program = 0;
    uint64_t last = 0, place = 0; /* ops of an execution follow each other */
    int failed = 0;
    for (size_t i = 0; i < activity->count && !failed; i++) {
        const struct ids_event *event = &activity->at[i];
        if (event->op == IDS_NONE || trace->ops[event->op].module == IDS_NONE) continue;
        if (trace->ops[event->op].module != last_module) {
            last_module = trace->ops[event->op].module;
            program = program_of(found, trace->modules[last_module].name);
        }
        uint64_t execution = execution_of(trace, event), key = ids_key_of(execution, program);
        *ret_unknown |= !execution;
        if (!execution) continue;
        if (key != last && !ids_keymap_get(&places, key, &place)) {
            place = runs->count;
            failed = program == IDS_NO_TEXT || add_run(runs, program, event) || ids_keymap_add(&places, key, place) < 0;
        }
        if (failed) break;
        last = key;
        struct ids_program_run *run = &runs->at[place];
        if (event->end_ps > run->end_ps) run->end_ps = event->end_ps;
        add_work(runs, run, event->self_ps);
    }
    ids_keymap_done(&places);
    return failed;
}

/* How often an op ran of which nothing says the execution, and when last. */
struct use {
    uint64_t count;
    int64_t last_ps;
};

/* A program whose executions only its ops tell of: each ends with the op that is last of those that run once in
 * each. */
struct told {
    uint64_t least;              /* how often the rarest of its ops ran */
    uint32_t ops;                /* that ran */
    uint32_t once;               /* of these, that ran as often as the rarest, or once more at the window's edge */
    uint32_t last;               /* op */
    struct ids_program_run open; /* what ran since the last execution ended */
    uint8_t has_begun;
};

static int is_untold(const struct ids_trace *trace, const struct ids_event *event) {
    return event->op != IDS_NONE && trace->ops[event->op].module != IDS_NONE && !execution_of(trace, event);
}

static void find_last_ops(const struct ids_trace *trace, const struct use *uses, struct told *told) {
    for (size_t o = 0; o < trace->op_count; o++) {
        struct told *program = uses[o].count ? &told[trace->ops[o].module] : NULL;
        if (!program) continue;
        if (!program->ops++ || uses[o].count < program->least) program->least = uses[o].count;
    }
    for (size_t o = 0; o < trace->op_count; o++) {
        struct told *program = uses[o].count ? &told[trace->ops[o].module] : NULL;
        if (!program || uses[o].count > program->least + 1) continue;
        if (!program->once++ || uses[o].last_ps > uses[program->last].last_ps) program->last = (uint32_t)o;
    }
}

static int gather_told(struct ids_program_runs *found, const struct ids_events *activity, const struct use *uses,
                       struct told *told, struct ids_device_runs *runs) {
    const struct ids_trace *trace = found->trace;
    find_last_ops(trace, uses, told);
    for (size_t i = 0; i < activity->count; i++) {
        const struct ids_event *event = &activity->at[i];
        if (!is_untold(trace, event)) continue;
        struct told *program = &told[trace->ops[event->op].module];
        struct ids_program_run *open = &program->open;
        if (program->once * 2 < program->ops) continue;
        if (!program->has_begun) *open = (struct ids_program_run){.start_ps = event->start_ps, .end_ps = event->end_ps};
        program->has_begun = 1;
        if (event->end_ps > open->end_ps) open->end_ps = event->end_ps;
        ids_sum(&open->work_ps, event->self_ps);
        if (event->op != program->last) continue;
        uint32_t name = program_of(found, trace->modules[trace->ops[event->op].module].name);
        if (name == IDS_NO_TEXT || add_run(runs, name, event)) return -1;
        int64_t work_ps = open->work_ps;
        runs->at[runs->count - 1].start_ps = open->start_ps;
        runs->at[runs->count - 1].end_ps = open->end_ps;
        add_work(runs, &runs->at[runs->count - 1], work_ps);
        program->has_begun = 0;
    }
    return 0;
}

/* ROCm's launching thread has no event around its launches that says which execution they are of. */
static int gather_untold(struct ids_program_runs *found, const struct ids_events *activity,
                         struct ids_device_runs *runs) {
    const struct ids_trace *trace = found->trace;
    struct use *uses = calloc(trace->op_count + 1, sizeof *uses);
    struct told *told = calloc(trace->module_count + 1, sizeof *told);
    int failed = !uses || !told;
    for (size_t i = 0; i < activity->count && !failed; i++) {
        const struct ids_event *event = &activity->at[i];
        if (!is_untold(trace, event)) continue;
        uses[event->op].count++;
        uses[event->op].last_ps = event->start_ps;
    }
    failed = failed || gather_told(found, activity, uses, told, runs);
    free(uses);
    free(told);
    return failed;
}

static int by_program(const void *a, const void *b) {
    const struct ids_program_run *left = a, *right = b;
    if (left->program != right->program) return left->program < right->program ? -1 : 1;
    return (left->end_ps > right->end_ps) - (left->end_ps < right->end_ps);
}

int ids_program_runs_find(const struct ids_trace *trace, struct ids_program_runs *found) {
    *found = (struct ids_program_runs){.trace = trace};
    found->of_device = calloc(trace->device_count + 1, sizeof *found->of_device);
    if (!found->of_device || ids_intern(&found->programs, "", 0) == IDS_NO_TEXT) return -1;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        struct ids_device_runs *runs = &found->of_device[d];
        if (!ids_device_counts(trace, device)) continue;
        int unknown = 0;
        if (device->modules.count ? gather_modules(found, device, runs)
                                  : gather_ops(found, &device->activity, runs, &unknown))
            return -1;
        if (unknown && gather_untold(found, &device->activity, runs)) return -1;
        if (runs->count) qsort(runs->at, runs->count, sizeof *runs->at, by_program);
    }
    return 0;
}

void ids_program_runs_done(struct ids_program_runs *runs) {
    /* Never found, it has no trace either. */
    for (size_t d = 0; runs->of_device && d < runs->trace->device_count; d++) free(runs->of_device[d].at);
    free(runs->of_device);
    ids_strings_done(&runs->programs);
}
