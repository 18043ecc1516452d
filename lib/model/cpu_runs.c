#include "lib/model/cpu_runs.h"

#include "lib/base/buffer.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* One execution on one device. */
struct run {
    const struct ids_event *first; /* its first op */
    const struct ids_event *launch;
    uint64_t id;
    uint32_t module; /* name: text; 0 unknown */
    int named;       /* a call's function is that of its program */
};

struct call {
    const struct ids_event *event;    /* ExecuteHelperOnSingleDevice; where there are none, the PjitFunction */
    const struct ids_event *function; /* the PjitFunction around it, NULL unknown */
    int used;
    int named; /* its function is that of a program which ran */
};

struct pairing {
    struct run *runs;
    size_t run_count, run_room;
    struct call *calls;
    size_t call_count, call_room;
    struct ids_keymap run_of;  /* (run id, device) -> index of runs + 1 */
    struct ids_keymap call_of; /* address of the event -> index of calls + 1 */
};

static uint64_t address_of(const struct ids_event *event) {
    return (uint64_t)(uintptr_t)event;
}

static int is_call(const struct ids_event *event) {
    return event->kind == IDS_KIND_EXECUTE && !event->run_id;
}

/* The outermost of a thread: PjitFunction is recorded twice, and in it are those of functions that were called while
 * tracing. */
static int is_outermost_dispatch(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->kind != IDS_KIND_DISPATCH) return 0;
    do event = ids_event_outside(trace, event);
    while (event && event->kind != IDS_KIND_DISPATCH);
    return !event;
}

static int by_start(const void *a, const void *b) {
    const struct ids_event *left = ((const struct call *)a)->event, *right = ((const struct call *)b)->event;
    return (left->start_ps > right->start_ps) - (left->start_ps < right->start_ps);
}

static int add_calls(struct ids_trace *trace, struct pairing *pairing, int of_functions, struct ids_error *err) {
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (of_functions ? !is_outermost_dispatch(trace, event) : !is_call(event)) continue;
            struct call *call = IDS_PUSH(pairing->calls, pairing->call_count, pairing->call_room);
            if (!call) return ids_no_memory(err);
            *call = (struct call){.event = event};
            const struct ids_event *around = of_functions ? event : ids_event_outside(trace, event);
            while (around && around->kind != IDS_KIND_DISPATCH) around = ids_event_outside(trace, around);
            call->function = around;
        }
    }
    return 0;
}

static int gather_calls(struct ids_trace *trace, struct pairing *pairing, struct ids_error *err) {
    int code = add_calls(trace, pairing, 0, err);
    if (!code && !pairing->call_count)
        code = add_calls(trace, pairing, 1, err); /* a jaxlib that calls its executing otherwise */
    if (code) return code;
    if (pairing->call_count) qsort(pairing->calls, pairing->call_count, sizeof *pairing->calls, by_start);
    for (size_t i = 0; i < pairing->call_count; i++) {
        if (ids_keymap_add(&pairing->call_of, address_of(pairing->calls[i].event), i + 1) < 0)
            return ids_no_memory(err);
    }
    return 0;
}

static uint64_t run_key(const struct ids_event *op) {
    return ids_key_of(op->run_id, op->device);
}

/* Every run once, in the order of first ops on each device. */
static int gather_runs(struct ids_trace *trace, struct pairing *pairing, const struct ids_keymap *executions,
                       struct ids_error *err) {
    for (size_t d = 0; d < trace->device_count; d++) {
        if (trace->devices[d].kind != IDS_DEVICE_CPU) continue;
        struct ids_cursor cursor = ids_cursor_over(&trace->devices[d].activity);
        uint64_t last_id = 0; /* the next op mostly is of the same one */
        for (const struct ids_event *op; (op = ids_cursor_next(&cursor));) {
            if (op->run_id && op->run_id == last_id) continue;
            last_id = op->run_id;
            uint64_t *place = ids_keymap_at(&pairing->run_of, run_key(op));
            if (!place) return ids_no_memory(err);
            if (*place) continue;
            struct run *run = IDS_PUSH(pairing->runs, pairing->run_count, pairing->run_room);
            if (!run) return ids_no_memory(err);
            *place = pairing->run_count;
            *run = (struct run){.first = op, .id = op->run_id};
            if (op->op != IDS_NONE && trace->ops[op->op].module != IDS_NONE)
                run->module = trace->modules[trace->ops[op->op].module].name;
            uint64_t address;
            if (ids_keymap_get(executions, op->run_id, &address))
                run->launch = (const struct ids_event *)(uintptr_t)address;
        }
    }
    return 0;
}

/* Rule 2. */
static void launch_inline(const struct ids_trace *trace, struct pairing *pairing) {
    for (size_t i = 0; i < pairing->run_count; i++) {
        struct run *run = &pairing->runs[i];
        if (run->launch) continue;
        const struct ids_event *around = ids_track_at(&trace->tracks[run->first->track], run->first->start_ps);
        while (around && !is_call(around)) around = ids_event_outside(trace, around);
        uint64_t call;
        if (!around || !ids_keymap_get(&pairing->call_of, address_of(around), &call)) continue;
        run->launch = around;
        pairing->calls[call - 1].used = 1;
    }
}

static int is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/* A program goes by two names, the module "jit_train_step" and PjitFunction(train_step). */
struct stems {
    struct ids_strings of_programs; /* what both share, "train_step" */
    struct ids_buffer scratch;
    int failed;
};

/* The stem of a name that begins with `before` and has `after` bytes at its end that are none of it; IDS_NO_TEXT for
 * other names. A module has an underscore for each byte that is not plain, "jit__lambda_" for <lambda>; newer JAX
 * leaves those at the end out. */
static uint32_t stem_of(struct stems *stems, struct ids_text name, const char *before, size_t after) {
    size_t from = strlen(before), to = name.length - after;
    if (name.length < from + after || !ids_text_begins(name, before)) return IDS_NO_TEXT;
    while (to > from && !is_plain(name.at[to - 1])) to--;
    stems->scratch.length = 0;
    for (size_t i = from; i < to; i++) ids_buffer_byte(&stems->scratch, is_plain(name.at[i]) ? name.at[i] : '_');
    uint32_t stem = stems->scratch.failed
                        ? IDS_NO_TEXT
                        : ids_intern(&stems->of_programs, to > from ? (const char *)stems->scratch.at : "", to - from);
    if (stem == IDS_NO_TEXT) stems->failed = 1;
    return stem;
}

static int earlier_run(const void *a, const void *b) {
    const struct ids_event *left = ((const struct run *)a)->first, *right = ((const struct run *)b)->first;
    return (left->start_ps > right->start_ps) - (left->start_ps < right->start_ps);
}

/* A run or a call of a program: the program's stem, and which run or call it is. */
struct member {
    uint32_t stem;
    size_t index;
};

static int by_stem(const void *a, const void *b) {
    const struct member *left = a, *right = b;
    if (left->stem != right->stem) return left->stem < right->stem ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static size_t list_runs(const struct ids_trace *trace, const struct pairing *pairing, struct stems *stems,
                        struct member *runs) {
    size_t count = 0;
    for (size_t i = 0; i < pairing->run_count; i++) {
        const struct run *run = &pairing->runs[i];
        if (run->launch || !run->module) continue;
        uint32_t stem = stem_of(stems, ids_strings_text(&trace->strings, run->module), "jit_", 0);
        if (stem != IDS_NO_TEXT) runs[count++] = (struct member){stem, i};
    }
    if (count) qsort(runs, count, sizeof *runs, by_stem);
    return count;
}

static size_t list_calls(const struct ids_trace *trace, const struct pairing *pairing, struct stems *stems,
                         struct member *calls) {
    size_t count = 0;
    for (size_t i = 0; i < pairing->call_count; i++) {
        const struct call *call = &pairing->calls[i];
        if (call->used || !call->function) continue;
        struct ids_text name = ids_strings_text(&trace->strings, trace->names[call->function->name].text);
        uint32_t stem = stem_of(stems, name, "PjitFunction(", 1);
        if (stem != IDS_NO_TEXT) calls[count++] = (struct member){stem, i};
    }
    if (count) qsort(calls, count, sizeof *calls, by_stem);
    return count;
}

/* Pairs the runs with the calls of one program, both in time order. */
static void pair_program(struct pairing *pairing, const struct member *runs, size_t run_count,
                         const struct member *calls, size_t call_count) {
    size_t skipped = run_count > call_count ? run_count - call_count : 0;
    for (; skipped < run_count; skipped++) {
        int causal = 1;
        for (size_t i = 0; i + skipped < run_count && i < call_count && causal; i++) {
            causal = pairing->calls[calls[i].index].event->start_ps <=
                     pairing->runs[runs[i + skipped].index].first->start_ps;
        }
        if (causal) break;
    }
    for (size_t i = 0; i + skipped < run_count && i < call_count; i++) {
        pairing->runs[runs[i + skipped].index].launch = pairing->calls[calls[i].index].event;
        pairing->calls[calls[i].index].used = 1;
    }
}

/* Rule 3, program by program. */
static void launch_by_name(struct pairing *pairing, const struct member *runs, size_t run_count,
                           const struct member *calls, size_t call_count) {
    for (size_t r = 0, c = 0, r_end, c_end; r < run_count; r = r_end, c = c_end) {
        uint32_t stem = runs[r].stem;
        for (r_end = r; r_end < run_count && runs[r_end].stem == stem;) r_end++;
        while (c < call_count && calls[c].stem < stem) c++;
        for (c_end = c; c_end < call_count && calls[c_end].stem == stem;) c_end++;
        for (size_t i = r; i < r_end; i++) pairing->runs[runs[i].index].named = c < c_end;
        for (size_t i = c; i < c_end; i++) pairing->calls[calls[i].index].named = 1;
        pair_program(pairing, &runs[r], r_end - r, &calls[c], c_end - c);
    }
}

/* Rule 4: programs that no function's name matches, and calls that match no program. */
static void launch_nameless(struct pairing *pairing, struct member *runs, struct member *calls) {
    size_t run_count = 0, call_count = 0;
    for (size_t i = 0; i < pairing->run_count; i++) {
        if (!pairing->runs[i].launch && !pairing->runs[i].named) runs[run_count++].index = i;
    }
    for (size_t i = 0; i < pairing->call_count; i++) {
        if (!pairing->calls[i].used && !pairing->calls[i].named) calls[call_count++].index = i;
    }
    pair_program(pairing, runs, run_count, calls, call_count);
}

static int launch_by_order(const struct ids_trace *trace, struct pairing *pairing, struct ids_error *err) {
    struct member *runs = calloc(pairing->run_count + 1, sizeof *runs),
                  *calls = calloc(pairing->call_count + 1, sizeof *calls);
    struct stems stems = {.failed = !runs || !calls};
    if (!stems.failed) {
        size_t run_count = list_runs(trace, pairing, &stems, runs);
        size_t call_count = list_calls(trace, pairing, &stems, calls);
        launch_by_name(pairing, runs, run_count, calls, call_count);
        launch_nameless(pairing, runs, calls);
    }
    free(runs);
    free(calls);
    ids_strings_done(&stems.of_programs);
    ids_buffer_done(&stems.scratch);
    return stems.failed ? ids_no_memory(err) : 0;
}

/* Rule 5. A wait inside the op may begin with it, and an event that ends where the op begins is not around it. */
static void launch_around(const struct ids_trace *trace, struct run *run) {
    const struct ids_event *around = ids_track_at(&trace->tracks[run->first->track], run->first->start_ps);
    for (; around; around = ids_event_outside(trace, around)) {
        if (around->kind == IDS_KIND_STALL || around->end_ps <= run->first->start_ps) continue;
        run->launch = around;
        if (around->kind != IDS_KIND_REGION) return;
        if (around->launch) {
            run->launch = around->launch;
            return;
        }
    }
}

static int launch_all(struct ids_trace *trace, struct pairing *pairing, const struct ids_keymap *executions,
                      struct ids_error *err) {
    int code = gather_calls(trace, pairing, err);
    if (!code) code = gather_runs(trace, pairing, executions, err);
    if (code) return code;
    launch_inline(trace, pairing);
    if (pairing->run_count) {
        qsort(pairing->runs, pairing->run_count, sizeof *pairing->runs, earlier_run);
        for (size_t i = 0; i < pairing->run_count; i++) {
            uint64_t *place = ids_keymap_at(&pairing->run_of, run_key(pairing->runs[i].first));
            if (!place) return ids_no_memory(err);
            *place = i + 1;
        }
    }
    code = launch_by_order(trace, pairing, err);
    if (code) return code;
    for (size_t i = 0; i < pairing->run_count; i++) {
        if (!pairing->runs[i].launch) launch_around(trace, &pairing->runs[i]);
    }
    for (size_t d = 0; d < trace->device_count; d++) {
        struct ids_events *ops = &trace->devices[d].activity;
        if (trace->devices[d].kind == IDS_DEVICE_CPU) ids_events_turn(ops);
        const struct run *run = NULL; /* of the op before */
        for (size_t i = 0; i < ops->count && trace->devices[d].kind == IDS_DEVICE_CPU; i++) {
            uint64_t place;
            if (!run || run->id != ops->at[i].run_id)
                run = ids_keymap_get(&pairing->run_of, run_key(&ops->at[i]), &place) ? &pairing->runs[place - 1] : NULL;
            if (run) ops->at[i].launch = run->launch;
        }
    }
    return 0;
}

int ids_cpu_runs_launch(struct ids_trace *trace, const struct ids_keymap *executions, struct ids_error *err) {
    struct pairing pairing = {0};
    int code = launch_all(trace, &pairing, executions, err);
    free(pairing.runs);
    free(pairing.calls);
    ids_keymap_done(&pairing.run_of);
    ids_keymap_done(&pairing.call_of);
    return code;
}
