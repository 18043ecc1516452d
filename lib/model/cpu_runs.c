#include "lib/model/cpu_runs.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* One execution on one device. */
struct run {
    const struct ids_event *first; /* its first op */
    const struct ids_event *launch;
    uint64_t id;
    uint32_t module; /* name: text; 0 unknown */
};

struct call {
    const struct ids_event *event;    /* ExecuteHelperOnSingleDevice */
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

static int by_start(const void *a, const void *b) {
    const struct ids_event *left = ((const struct call *)a)->event, *right = ((const struct call *)b)->event;
    return (left->start_ps > right->start_ps) - (left->start_ps < right->start_ps);
}

static int gather_calls(struct ids_trace *trace, struct pairing *pairing, struct ids_error *err) {
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (!is_call(event)) continue;
            struct call *call = IDS_PUSH(pairing->calls, pairing->call_count, pairing->call_room);
            if (!call) return ids_no_memory(err);
            *call = (struct call){.event = event};
            const struct ids_event *around = ids_event_outside(trace, event);
            while (around && around->kind != IDS_KIND_DISPATCH) around = ids_event_outside(trace, around);
            call->function = around;
        }
    }
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
        for (const struct ids_event *op; (op = ids_cursor_next(&cursor));) {
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

/* Newer JAX ends no module's name with an underscore, whatever it made one of. */
static size_t without_tail(const char *text, size_t length) {
    while (length && !is_plain(text[length - 1])) length--;
    return length;
}

/* Whether the module is that of the function: "jit_train_step" of PjitFunction(train_step), "jit__lambda_" or "jit__lambda" of
 * <lambda>, as the version of JAX has it. */
static int is_module_of(const struct ids_trace *trace, uint32_t module, const struct ids_event *function) {
    static const char prefix[] = "jit_", call[] = "PjitFunction(";
    struct ids_text name = ids_strings_text(&trace->strings, module);
    struct ids_text text = ids_strings_text(&trace->strings, trace->names[function->name].text);
    if (text.length < sizeof call || name.length < sizeof prefix - 1 || memcmp(name.at, prefix, sizeof prefix - 1) != 0)
        return 0;
    const char *inner = text.at + sizeof call - 1, *outer = name.at + sizeof prefix - 1;
    size_t length = without_tail(inner, text.length - sizeof call); /* less the closing parenthesis */
    if (without_tail(outer, name.length - (sizeof prefix - 1)) != length) return 0;
    for (size_t i = 0; i < length; i++) {
        if (is_plain(inner[i]) ? inner[i] != outer[i] : outer[i] != '_') return 0;
    }
    return 1;
}

/* Pairs the runs (indices into pairing->runs) with the calls of one program, both in time order. */
static void pair_program(struct pairing *pairing, const size_t *runs, size_t run_count, const size_t *calls,
                         size_t call_count) {
    size_t skipped = run_count > call_count ? run_count - call_count : 0;
    for (; skipped < run_count; skipped++) {
        int causal = 1;
        for (size_t i = 0; i + skipped < run_count && i < call_count && causal; i++) {
            causal = pairing->calls[calls[i]].event->start_ps <= pairing->runs[runs[i + skipped]].first->start_ps;
        }
        if (causal) break;
    }
    for (size_t i = 0; i + skipped < run_count && i < call_count; i++) {
        pairing->runs[runs[i + skipped]].launch = pairing->calls[calls[i]].event;
        pairing->calls[calls[i]].used = 1;
    }
}

static int earlier_run(const void *a, const void *b) {
    const struct ids_event *left = ((const struct run *)a)->first, *right = ((const struct run *)b)->first;
    return (left->start_ps > right->start_ps) - (left->start_ps < right->start_ps);
}

/* Rule 3, program by program. */
static void launch_by_name(const struct ids_trace *trace, struct pairing *pairing, size_t *runs, size_t *calls,
                           unsigned char *done) {
    for (size_t r = 0; r < pairing->run_count; r++) {
        uint32_t module = pairing->runs[r].module;
        if (pairing->runs[r].launch || !module || done[r]) continue;
        size_t run_count = 0, call_count = 0;
        for (size_t c = 0; c < pairing->call_count; c++) {
            struct call *call = &pairing->calls[c];
            if (call->used || !call->function || !is_module_of(trace, module, call->function)) continue;
            call->named = 1;
            calls[call_count++] = c;
        }
        for (size_t i = r; i < pairing->run_count; i++) {
            if (pairing->runs[i].module != module || pairing->runs[i].launch) continue;
            runs[run_count++] = i;
            done[i] = call_count ? 2 : 1;
        }
        pair_program(pairing, runs, run_count, calls, call_count);
    }
}

/* Rule 4: programs that no function's name tells of, and calls that tell of no program which ran. */
static void launch_nameless(struct pairing *pairing, size_t *runs, size_t *calls, const unsigned char *done) {
    size_t run_count = 0, call_count = 0;
    for (size_t i = 0; i < pairing->run_count; i++) {
        if (!pairing->runs[i].launch && done[i] != 2) runs[run_count++] = i;
    }
    for (size_t c = 0; c < pairing->call_count; c++) {
        if (!pairing->calls[c].used && !pairing->calls[c].named) calls[call_count++] = c;
    }
    pair_program(pairing, runs, run_count, calls, call_count);
}

static int launch_by_order(const struct ids_trace *trace, struct pairing *pairing, struct ids_error *err) {
    size_t *runs = calloc(pairing->run_count + 1, sizeof *runs),
           *calls = calloc(pairing->call_count + 1, sizeof *calls);
    unsigned char *done = calloc(pairing->run_count + 1, 1); /* 1: looked at, 2: and its program has calls */
    int failed = !runs || !calls || !done;
    if (!failed) {
        launch_by_name(trace, pairing, runs, calls, done);
        launch_nameless(pairing, runs, calls, done);
    }
    free(runs);
    free(calls);
    free(done);
    return failed ? ids_no_memory(err) : 0;
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
    if (pairing->run_count) qsort(pairing->runs, pairing->run_count, sizeof *pairing->runs, earlier_run);
    code = launch_by_order(trace, pairing, err);
    if (code) return code;
    for (size_t i = 0; i < pairing->run_count; i++) {
        uint64_t *place = ids_keymap_at(&pairing->run_of, run_key(pairing->runs[i].first));
        if (!place) return ids_no_memory(err);
        *place = i + 1;
    }
    for (size_t i = 0; i < pairing->run_count; i++) {
        if (!pairing->runs[i].launch) launch_around(trace, &pairing->runs[i]);
    }
    for (size_t d = 0; d < trace->device_count; d++) {
        struct ids_events *ops = &trace->devices[d].activity;
        for (size_t i = 0; i < ops->count && trace->devices[d].kind == IDS_DEVICE_CPU; i++) {
            uint64_t place;
            if (ids_keymap_get(&pairing->run_of, run_key(&ops->at[i]), &place))
                ops->at[i].launch = pairing->runs[place - 1].launch;
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
