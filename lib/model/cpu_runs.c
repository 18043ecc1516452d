#include "lib/model/cpu_runs.h"

#include "lib/base/buffer.h"
#include "lib/base/parallel.h"
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
    const uint64_t kinds = of_functions ? IDS_KINDS(IDS_KIND_DISPATCH) : IDS_KINDS(IDS_KIND_EXECUTE);
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[t].events, kinds);
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

static const struct ids_event *call_around(const struct ids_trace *trace, const struct ids_event *event) {
    while (event && !is_call(event)) event = ids_event_outside(trace, event);
    return event;
}

/* What queued the task that the event lies in, NULL: it lies in none, or nothing shows who queued it. */
static const struct ids_event *queued_by(const struct ids_trace *trace, const struct ids_event *event) {
    while (event && event->kind != IDS_KIND_REGION) event = ids_event_outside(trace, event);
    return event ? event->launch : NULL;
}

/* Rules 2 and 3. */
static void launch_at_once(const struct ids_trace *trace, struct pairing *pairing) {
    for (size_t i = 0; i < pairing->run_count; i++) {
        struct run *run = &pairing->runs[i];
        if (run->launch) continue;
        const struct ids_event *around = ids_track_at(&trace->tracks[run->first->track], run->first->start_ps);
        const struct ids_event *of = call_around(trace, around);
        if (!of) of = call_around(trace, queued_by(trace, around));
        uint64_t call;
        if (!of || !ids_keymap_get(&pairing->call_of, address_of(of), &call) || pairing->calls[call - 1].used) continue;
        run->launch = of;
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
        if (!run->module) continue;
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
        if (!call->function) continue;
        struct ids_text name = ids_strings_text(&trace->strings, trace->names[call->function->name].text);
        uint32_t stem = stem_of(stems, name, "PjitFunction(", 1);
        if (stem != IDS_NO_TEXT) calls[count++] = (struct member){stem, i};
    }
    if (count) qsort(calls, count, sizeof *calls, by_stem);
    return count;
}

static void pair(struct pairing *pairing, const struct member *run, const struct member *call) {
    pairing->runs[run->index].launch = pairing->calls[call->index].event;
    pairing->calls[call->index].used = 1;
}

static int is_causal(const struct pairing *pairing, const struct member *run, const struct member *call) {
    return pairing->calls[call->index].event->start_ps <= pairing->runs[run->index].first->start_ps;
}

/* All of one program; nothing is known of any of them. */
static void pair_unknown(struct pairing *pairing, const struct member *runs, size_t run_count,
                         const struct member *calls, size_t call_count) {
    size_t skipped = run_count > call_count ? run_count - call_count : 0;
    for (; skipped < run_count; skipped++) {
        int causal = 1;
        for (size_t i = 0; i + skipped < run_count && i < call_count && causal; i++)
            causal = is_causal(pairing, &runs[i + skipped], &calls[i]);
        if (causal) break;
    }
    for (size_t i = 0; i + skipped < run_count && i < call_count; i++) pair(pairing, &runs[i + skipped], &calls[i]);
}

/* Those before a run whose call is known. */
static void pair_before(struct pairing *pairing, const struct member *runs, size_t run_count,
                        const struct member *calls, size_t call_count) {
    while (run_count && call_count) {
        const struct member *run = &runs[run_count - 1], *call = &calls[call_count - 1];
        if (pairing->runs[run->index].launch) {
            run_count--;
        } else if (pairing->calls[call->index].used || !is_causal(pairing, run, call)) {
            call_count--;
        } else {
            pair(pairing, run, call);
            run_count--, call_count--;
        }
    }
}

/* Those after the last run whose call is known. */
static void pair_after(struct pairing *pairing, const struct member *runs, size_t run_count, const struct member *calls,
                       size_t call_count) {
    for (size_t r = 0, c = 0; r < run_count && c < call_count;) {
        if (pairing->calls[calls[c].index].used) {
            c++;
        } else if (pairing->runs[runs[r].index].launch || !is_causal(pairing, &runs[r], &calls[c])) {
            r++;
        } else {
            pair(pairing, &runs[r++], &calls[c++]);
        }
    }
}

/* The place of the call that launched the run, from `at` on; call_count: it is none of them. */
static size_t place_of(const struct pairing *pairing, const struct member *run, const struct member *calls, size_t at,
                       size_t call_count) {
    const struct ids_event *launch = pairing->runs[run->index].launch;
    size_t end = call_count;
    uint64_t call;
    if (!launch || !ids_keymap_get(&pairing->call_of, address_of(launch), &call)) return call_count;
    while (at < end) { /* calls are in the order of their indices */
        size_t middle = at + (end - at) / 2;
        if (calls[middle].index < call - 1)
            at = middle + 1;
        else
            end = middle;
    }
    return at < call_count && calls[at].index == call - 1 ? at : call_count;
}

static size_t keep_free_runs(const struct pairing *pairing, struct member *runs, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!pairing->runs[runs[i].index].launch) runs[kept++] = runs[i];
    return kept;
}

static size_t keep_free_calls(const struct pairing *pairing, struct member *calls, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!pairing->calls[calls[i].index].used) calls[kept++] = calls[i];
    return kept;
}

/* Pairs the runs with the calls of one program, both in time order. Where the call of one is known, those before it and
 * those after it are paired among themselves: a recording may begin in a call, and end before a run. */
static void pair_program(struct pairing *pairing, struct member *runs, size_t run_count, struct member *calls,
                         size_t call_count) {
    size_t from = 0, at = 0;
    for (size_t r = 0; r < run_count; r++) {
        size_t place = place_of(pairing, &runs[r], calls, at, call_count);
        if (place == call_count) continue;
        pair_before(pairing, &runs[from], r - from, &calls[at], place - at);
        from = r + 1, at = place + 1;
    }
    if (at) {
        pair_after(pairing, &runs[from], run_count - from, &calls[at], call_count - at);
    } else {
        run_count = keep_free_runs(pairing, runs, run_count);
        call_count = keep_free_calls(pairing, calls, call_count);
        pair_unknown(pairing, runs, run_count, calls, call_count);
    }
}

/* Rule 4, program by program. */
static void launch_by_name(struct pairing *pairing, struct member *runs, size_t run_count, struct member *calls,
                           size_t call_count) {
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

/* Rule 5: programs that no function's name matches, and calls that match no program. */
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

/* Rule 6. A wait inside the op may begin with it, and an event that ends where the op begins is not around it. */
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

struct launching {
    struct ids_trace *trace;
    const struct pairing *pairing;
};

/* The ops of a device have the launch of their run. */
static void launch_ops(void *context, size_t d) {
    const struct launching *launching = context;
    const struct pairing *pairing = launching->pairing;
    struct ids_events *ops = &launching->trace->devices[d].activity;
    if (launching->trace->devices[d].kind != IDS_DEVICE_CPU) return;
    ids_events_turn(ops);
    const struct run *run = NULL; /* of the op before */
    for (size_t i = 0; i < ops->count; i++) {
        uint64_t place;
        if (!run || run->id != ops->at[i].run_id)
            run = ids_keymap_get(&pairing->run_of, run_key(&ops->at[i]), &place) ? &pairing->runs[place - 1] : NULL;
        if (run) ops->at[i].launch = run->launch;
    }
}

static int launch_all(struct ids_trace *trace, struct pairing *pairing, const struct ids_keymap *executions,
                      struct ids_error *err) {
    int code = gather_calls(trace, pairing, err);
    if (!code) code = gather_runs(trace, pairing, executions, err);
    if (code) return code;
    launch_at_once(trace, pairing);
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
    struct launching launching = {trace, pairing};
    ids_parallel_events(trace->event_count, trace->device_count, launch_ops, &launching);
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
