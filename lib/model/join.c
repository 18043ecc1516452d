#include "lib/model/join.h"

#include "lib/base/parallel.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/hlo/scope.h"
#include "lib/model/classify.h"
#include "lib/model/collective.h"
#include "lib/model/containers.h"
#include "lib/model/cpu_runs.h"
#include "lib/model/dimensions.h"
#include "lib/model/event_order.h"
#include "lib/model/host_copies.h"
#include "lib/model/kernel_ops.h"
#include "lib/model/link.h"
#include "lib/model/op_ends.h"
#include "lib/model/profiler_overhead.h"
#include "lib/model/program_facts.h"
#include "lib/model/sampled.h"
#include "lib/model/waste.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int note(struct ids_trace *trace, enum ids_severity severity, const char *id, const char *text, uint64_t count,
                struct ids_error *err) {
    if (!count) return 0;
    struct ids_trace_diag *diag = IDS_PUSH(trace->diags, trace->diag_count, trace->diag_room);
    if (!diag) return ids_no_memory(err);
    *diag = (struct ids_trace_diag){
        .severity = (uint8_t)severity, .id = id, .text = text, .offset = -1, .count = count, .host = IDS_NONE};
    return 0;
}

/* --- what HLO protos say of ops ----------------------------------------------------------------------------------- */

/* Those from the op `first` on. */
static void describe_ops(const struct ids_join *join, struct ids_trace *trace, size_t first) {
    for (size_t i = first; i < trace->op_count; i++) {
        struct ids_op *op = &trace->ops[i];
        const struct ids_module *module = op->module == IDS_NONE ? NULL : &trace->modules[op->module];
        const struct ids_instruction_info *hlo = module ? ids_join_instruction(join, module, op->name) : NULL;
        if (!hlo) continue;
        if (!module->name) trace->modules[op->module].name = hlo->module;
        op->opcode = hlo->opcode;
        if (!op->source) op->source = hlo->source;
        if (!op->framework_name) op->framework_name = hlo->op_name;
        if (!op->groups) op->groups = hlo->groups;
        /* xla_python_cpu_callback, xla_ffi_partitioned_python_gpu_callback */
        op->calls_back = (uint8_t)ids_text_contains(ids_strings_text(&trace->strings, hlo->call_target), "python");
        op->result_bytes = hlo->result_bytes;
        op->shape = hlo->shape;
        op->fingerprint = hlo->fingerprint;
        op->product = hlo->product;
        op->parts = hlo->parts;
        op->waste = hlo->waste;
        op->waste_why = hlo->waste_why;
        op->waste_rounds = hlo->waste_rounds;
        op->waste_is_part = hlo->waste_is_part;
        op->computed_once = hlo->computed_once;
        op->matrix_flops = hlo->matrix_flops;
        if (op->cost_source == IDS_COST_UNKNOWN && (hlo->flops >= 0 || hlo->bytes >= 0)) {
            op->cost_source = IDS_COST_OF_MODEL;
            op->flops = hlo->flops;
            op->bytes_accessed = op->memory_bytes = hlo->bytes;
        }
        if (hlo->element) op->element = hlo->element;
        op->split = hlo->split;
        if (op->category) continue; /* the device's own word stands */
        op->category = hlo->opcode;
        ids_op_classify(op, ids_strings_text(&trace->strings, hlo->opcode), IDS_RULE_OPCODE);
        if (op->calls_back) op->class = IDS_CLASS_STALL; /* the device waits for the host */
    }
}

/* The operations of the model, where the file has none: products and convolutions, without those that are computed
 * again for the backward pass. */
static void count_model_flops(struct ids_trace *trace, size_t first) {
    for (size_t i = first; i < trace->op_count; i++) {
        struct ids_op *op = &trace->ops[i];
        if (op->model_flops >= 0 || op->flops < 0) continue;
        int64_t flops = op->matrix_flops >= 0 ? op->matrix_flops : op->element ? op->flops : 0;
        op->model_flops = flops && strcmp(ids_op_pass(trace, op), "recomputed") != 0 ? flops : 0;
    }
}

/* XLA's CPU collectives meet at a rendezvous inside their op. Without HLO (a Chrome trace) only this shows that the op
 * is a collective; its name mostly says which. */
static void classify_by_rendezvous(struct ids_trace *trace) {
    for (size_t i = 0; i < trace->op_count; i++) {
        struct ids_op *op = &trace->ops[i];
        if (!op->meets || op->category || op->collective) continue;
        enum ids_collective collective = ids_collective_of_opcode(ids_strings_text(&trace->strings, op->name));
        op->collective = (uint8_t)(collective ? collective : IDS_OTHER_COLLECTIVE);
        op->class = IDS_CLASS_COLLECTIVE;
        op->class_rule = IDS_RULE_RENDEZVOUS;
    }
}

/* Kernels and CPU ops take the class of their op, from the op `first` on; a kernel known by its name to be a collective
 * stays one. */
static void classify_events(const struct ids_trace *trace, struct ids_events *events, size_t first) {
    ids_events_turn(events);
    for (size_t i = 0; i < events->count; i++) {
        struct ids_event *event = &events->at[i];
        if (event->op == IDS_NONE || event->op < first ||
            (event->kind != IDS_KIND_OP && event->kind != IDS_KIND_KERNEL))
            continue;
        const struct ids_op *op = &trace->ops[event->op];
        if (event->kind == IDS_KIND_KERNEL && !op->collective) continue;
        const uint8_t class = event->kind == IDS_KIND_KERNEL ? IDS_CLASS_COLLECTIVE : op->class;
        /* Most have it from the device's own word, and a page that nobody writes to costs less. */
        if (event->class != class || event->collective != op->collective || event->class_rule != op->class_rule) {
            event->class = class;
            event->collective = op->collective;
            event->class_rule = op->class_rule;
        }
        if (op->collective) event->value = op->message_bytes;
    }
}

static void classify_device(void *context, size_t d) {
    struct ids_trace *trace = context;
    classify_events(trace, &trace->devices[d].activity, 0);
    for (size_t i = 0; i < trace->devices[d].async.count; i++) {
        struct ids_event *event = &trace->devices[d].async.at[i];
        if (event->collective && event->op != IDS_NONE) event->value = trace->ops[event->op].message_bytes;
    }
}

static int measure_collectives(struct ids_trace *trace, size_t first, struct ids_error *err) {
    for (size_t i = first; i < trace->op_count; i++) {
        if (trace->ops[i].collective && ids_collective_measure(trace, &trace->ops[i])) return ids_no_memory(err);
    }
    return 0;
}

/* TPU: what runs is in the module that covers its start on the same core. */
struct covering {
    const struct ids_events *modules;
    size_t at;
};
static const struct ids_event *covering_module(struct covering *covering, const struct ids_event *event) {
    const struct ids_events *modules = covering->modules;
    while (covering->at < modules->count && modules->at[covering->at].end_ps <= event->start_ps) covering->at++;
    return covering->at < modules->count && modules->at[covering->at].start_ps <= event->start_ps
               ? &modules->at[covering->at]
               : NULL;
}

/* A Chrome trace does not say which program an op is of: one op for each module it runs in. */
static int place_ops(struct ids_trace *trace, struct ids_device *device, struct ids_events *events,
                     struct ids_keymap *placed, const struct ids_keymap *module_of_name, struct ids_error *err) {
    struct covering covering = {.modules = &device->modules};
    if (!device->modules.count) return 0;
    ids_events_turn(events);
    for (size_t i = 0; i < events->count; i++) {
        struct ids_event *event = &events->at[i];
        if (event->op == IDS_NONE || trace->ops[event->op].module != IDS_NONE) continue;
        const struct ids_event *execution = covering_module(&covering, event);
        uint64_t module;
        if (!execution || !ids_keymap_get(module_of_name, ids_key_of(execution->name, 0), &module)) continue;
        uint64_t *place = ids_keymap_at(placed, ids_key_of(event->op, module));
        if (!place) return ids_no_memory(err);
        if (!*place) {
            struct ids_op op = trace->ops[event->op];
            op.module = (uint32_t)module;
            struct ids_op *added = IDS_PUSH(trace->ops, trace->op_count, trace->op_room);
            if (!added) return ids_no_memory(err);
            *added = op;
            *place = trace->op_count;
        }
        event->op = (uint32_t)(*place - 1);
    }
    return 0;
}

/* TPU module names are "jit_f(123)", ops know the number only, or nothing. */
static int name_modules(struct ids_trace *trace, struct ids_error *err) {
    struct ids_keymap named = {0}, module_of_name = {0}, placed = {0};
    int code = ids_modules_list(trace, &named) ? ids_no_memory(err) : 0;
    for (size_t d = 0; d < trace->device_count && !code; d++) {
        struct ids_device *device = &trace->devices[d];
        for (size_t i = 0; i < device->modules.count && !code; i++) {
            uint64_t key = ids_key_of(device->modules.at[i].name, 0), there;
            uint32_t module;
            if (ids_keymap_get(&module_of_name, key, &there)) continue;
            uint32_t name = trace->names[device->modules.at[i].name].text;
            code = ids_module_named(trace, &named, device->host, name, &module, err);
            if (!code && ids_keymap_add(&module_of_name, key, module) < 0) code = ids_no_memory(err);
        }
        if (!code) code = place_ops(trace, device, &device->activity, &placed, &module_of_name, err);
        if (!code) code = place_ops(trace, device, &device->async, &placed, &module_of_name, err);
    }
    ids_keymap_done(&named);
    ids_keymap_done(&module_of_name);
    ids_keymap_done(&placed);
    return code;
}

/* --- launches
 * ------------------------------------------------------------------------------------------------------ */

/* The tracks and devices of one host: an id is a number of its host, so that nothing links two of them. */
struct of_host {
    size_t first_track, end_track, first_device, end_device;
};

static struct of_host of_host(const struct ids_trace *trace, size_t host) {
    int is_last = host + 1 == trace->host_count;
    return (struct of_host){
        trace->hosts[host].first_track, is_last ? trace->track_count : trace->hosts[host + 1].first_track,
        trace->hosts[host].first_device, is_last ? trace->device_count : trace->hosts[host + 1].first_device};
}

enum { AHEAD = 16 }; /* so many events before a key is looked for, the memory is asked for its place */

struct producers {
    struct ids_keymap by_link;      /* link -> host event */
    struct ids_keymap by_run;       /* run -> the host event that executes it on all its devices */
    struct ids_keymap by_execution; /* run and device -> the host event that enqueues it there; for files without
                                     * other links between them (a Chrome trace) */
};

/* XLA's CUPTI collector has the driver's calls on a plane of its own, where only jax's session puts them among the
 * other events of their threads: a recording of the plugin alone has a line for them with the id of the thread's. */
static void find_threads(struct ids_trace *trace, const struct of_host *of) {
    for (size_t t = of->first_track; t < of->end_track; t++) {
        struct ids_track *track = &trace->tracks[t];
        if (!ids_text_is(ids_strings_text(&trace->strings, track->plane_name), "/host:CUPTI")) continue;
        for (size_t other = of->first_track; other < of->end_track && !track->thread; other++) {
            const struct ids_track *thread = &trace->tracks[other];
            if (thread->id == track->id && thread->plane != track->plane && thread->device == IDS_NONE &&
                ids_text_is(ids_strings_text(&trace->strings, thread->plane_name), "/host:CPU"))
                track->thread = (uint32_t)other + 1;
        }
    }
}

/* Two calls on different threads have one number: the earlier one hands its work to the other's thread, as MTIA's
 * executors do (gif_merge, predictor_executor::run). */
static void hand_over(struct ids_keymap *by_link, struct ids_event *event) {
    uint64_t *address = ids_keymap_at(by_link, event->produces);
    struct ids_event *other = address ? (struct ids_event *)(uintptr_t)*address : NULL;
    if (!other || other->track == event->track) return;
    int is_first = event->start_ps < other->start_ps;
    struct ids_event *later = is_first ? other : event;
    if (is_first) *address = (uint64_t)(uintptr_t)event;
    if (!later->consumes) later->consumes = later->produces;
}

static int gather_producers(struct ids_trace *trace, const struct of_host *of, struct producers *producers,
                            struct ids_error *err) {
    for (size_t t = of->first_track; t < of->end_track; t++) {
        struct ids_events *events = &trace->tracks[t].events;
        size_t links = 0;
        ids_events_turn(events);
        for (size_t i = 0; i < events->count; i++) links += events->at[i].produces != 0;
        if (ids_keymap_reserve(&producers->by_link, links)) return ids_no_memory(err);
        for (size_t i = 0; i < events->count; i++) {
            struct ids_event *event = &events->at[i];
            uint64_t address = (uint64_t)(uintptr_t)event;
            if (i + AHEAD < events->count) ids_keymap_expect(&producers->by_link, event[AHEAD].produces);
            int added = event->produces ? ids_keymap_add(&producers->by_link, event->produces, address) : 1;
            if (added < 0) return ids_no_memory(err);
            if (!added) hand_over(&producers->by_link, event);
            if (event->kind == IDS_KIND_EXECUTE && event->run_id &&
                ids_keymap_add(&producers->by_run, event->run_id, address) < 0)
                return ids_no_memory(err);
            if (event->kind == IDS_KIND_LAUNCH && event->run_id && event->value > 0 &&
                ids_keymap_add(&producers->by_execution, ids_link_execution(event->run_id, event->value - 1), address) <
                    0)
                return ids_no_memory(err);
        }
    }
    return 0;
}

static const struct ids_event *producer(const struct ids_keymap *map, uint64_t key) {
    uint64_t address;
    return ids_keymap_get(map, key, &address) ? (const struct ids_event *)(uintptr_t)address : NULL;
}

/* AMD: a copy made by a kernel has its direction from the API call that launched it. */
static void direct_copy(struct ids_trace *trace, struct ids_event *event) {
    if (event->kind != IDS_KIND_COPY || event->direction != IDS_NO_DIRECTION || !event->launch) return;
    event->direction =
        (uint8_t)ids_direction_of_name(ids_strings_text(&trace->strings, trace->names[event->launch->name].text));
}

/* A kernel that is one for all collectives, or that sends for another one: the annotation around the call that
 * launched it says which. */
static void name_collective(struct ids_trace *trace, struct ids_event *event) {
    if (event->class_rule != IDS_RULE_KERNEL_NAME ||
        (event->collective != IDS_OTHER_COLLECTIVE && event->collective != IDS_SEND_RECV))
        return;
    for (const struct ids_event *around = event->launch; around; around = ids_event_outside(trace, around)) {
        if (!around->annotation) continue;
        enum ids_collective told =
            ids_collective_of_annotation(ids_strings_text(&trace->strings, trace->names[around->name].text));
        if (!told) continue;
        event->collective = (uint8_t)told;
        event->class_rule = IDS_RULE_ANNOTATION;
        break;
    }
}

/* cudaGraphLaunch, hipGraphLaunch: old files do not say of the kernels themselves that a graph launched them. */
static void find_graph(struct ids_trace *trace, struct ids_event *event) {
    struct ids_name *name = &trace->names[event->launch->name];
    uint8_t launches = __atomic_load_n(&name->graph_launch, __ATOMIC_RELAXED);
    if (!launches) { /* of threads that look at once all find the same */
        launches = ids_text_contains(ids_strings_text(&trace->strings, name->text), "GraphLaunch") ? 2 : 1;
        __atomic_store_n(&name->graph_launch, launches, __ATOMIC_RELAXED);
    }
    if (launches != 2) return;
    event->in_graph = 1;
    uint8_t *ran = &((struct ids_event *)(uintptr_t)event->launch)->graph_ran;
    if (!__atomic_load_n(ran, __ATOMIC_RELAXED)) __atomic_store_n(ran, 1, __ATOMIC_RELAXED);
}

/* The launches of a few events, which lie anywhere: all are asked for before the first is waited for. Returns how many
 * links found none. */
static uint64_t launch_few(struct ids_event *events, size_t count, const struct ids_device *device,
                           const struct producers *producers) {
    uint64_t without = 0;
    for (size_t i = 0; i < count; i++) ids_keymap_expect(&producers->by_link, events[i].consumes);
    for (size_t i = 0; i < count; i++) {
        struct ids_event *event = &events[i];
        const uint64_t consumed = event->consumes; /* the launch takes its place */
        if (consumed)
            event->launch = producer(&producers->by_link, consumed);
        else if (event->kind == IDS_KIND_MODULE && event->run_id)
            event->launch = producer(&producers->by_execution, ids_link_execution(event->run_id, device->ordinal));
        without += consumed && !event->launch;
        __builtin_prefetch(event->launch);
    }
    return without;
}

struct launched {
    struct ids_trace *trace;
    const struct of_host *of;
    const struct producers *producers;
    atomic_uint_least64_t without;
};

static void launch_device(void *context, size_t place) {
    enum { FEW = 64 }; /* they stay in the nearest cache */
    struct launched *launched = context;
    struct ids_trace *trace = launched->trace;
    struct ids_device *device = &trace->devices[launched->of->first_device + place];
    struct ids_events *lists[] = {&device->modules, &device->activity, &device->async, &device->waits};
    uint64_t without = 0;
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        const struct ids_events none = {0};
        struct covering covering = {.modules = l ? &device->modules : &none};
        struct ids_event *opened = ids_events_change(lists[l]);
        for (size_t i = 0; i < lists[l]->count; i++) { /* millions, so all that each needs at once */
            struct ids_event *event = &opened[i];
            if (i % FEW == 0) {
                size_t left = lists[l]->count - i;
                without += launch_few(event, left < FEW ? left : FEW, device, launched->producers);
            }
            if (event->launch) find_graph(trace, event);
            /* A TPU op is launched with the module it runs in. */
            const struct ids_event *execution = covering_module(&covering, event);
            if (execution && !event->launch) event->launch = execution->launch;
            if (lists[l] != &device->activity) continue;
            direct_copy(trace, event);
            name_collective(trace, event);
        }
        ids_events_changed(lists[l], opened);
    }
    for (size_t i = 0; i < device->steps.count; i++) device->steps.at[i].launch = NULL; /* nobody asks */
    atomic_fetch_add(&launched->without, without);
}

/* Devices do not know of each other, only of what host threads did. */
static uint64_t launch_devices(struct ids_trace *trace, const struct of_host *of, const struct producers *producers) {
    struct launched launched = {.trace = trace, .of = of, .producers = producers};
    ids_parallel_events(trace->event_count, of->end_device - of->first_device, launch_device, &launched);
    return launched.without;
}

/* The step annotation on another thread of the process that covers the event: what calls backward() waits for it. */
static const struct ids_event *step_on_process(const struct ids_trace *trace, const uint32_t *stepping, size_t count,
                                               const struct ids_event *event) {
    for (size_t i = 0; i < count; i++) {
        const struct ids_track *track = &trace->tracks[stepping[i]];
        if (track->plane != trace->tracks[event->track].plane || stepping[i] == event->track) continue;
        const struct ids_event *around = ids_track_at(track, event->start_ps);
        while (around && around->kind != IDS_KIND_STEP_MARK) around = ids_event_outside(trace, around);
        if (around) return around;
    }
    return NULL;
}

/* The threads that annotate steps; there are few, and beyond this nobody looks. */
enum { STEPPING = 64 };
static size_t stepping_threads(const struct ids_trace *trace, const struct of_host *of, uint32_t ret_tracks[STEPPING]) {
    size_t count = 0;
    for (size_t t = of->first_track; t < of->end_track && trace->call_count; t++) {
        const struct ids_events *events = &trace->tracks[t].events;
        size_t i = 0;
        while (i < events->count && events->at[i].kind != IDS_KIND_STEP_MARK) i++;
        if (i < events->count && count < STEPPING) ret_tracks[count++] = (uint32_t)t;
    }
    return count;
}

static int link_host(struct ids_trace *trace, const struct of_host *of, struct ids_calls *calls,
                     const struct producers *producers, struct ids_error *err) {
    uint32_t stepping[STEPPING];
    size_t count = stepping_threads(trace, of, stepping);
    for (size_t t = of->first_track; t < of->end_track; t++) {
        struct ids_events *events = &trace->tracks[t].events;
        ids_events_turn(events);
        for (size_t i = 0; i < events->count; i++) {
            struct ids_event *event = &events->at[i];
            const uint64_t consumed = event->consumes;
            if (!consumed) continue;
            const struct ids_event *by = producer(&producers->by_link, consumed);
            event->launch = by != event ? by : NULL;
            if (event->call && ids_calls_join(calls, consumed, event)) return ids_no_memory(err);
            if (event->from_autograd && !event->launch) event->launch = step_on_process(trace, stepping, count, event);
        }
    }
    return 0;
}

/* Several kernels may be of one run of an op, and its runs may launch kernels of several names: only the run tells how
 * often it ran. Where the launch was not recorded, the op's number stands for it, by which the op was found. Work that
 * stands for an op, since none of the framework launched it, is a run of its own. */
static int note_run(const struct ids_trace *trace, struct ids_keymap *runs, struct ids_event *work) {
    const struct ids_op *op = work->op == IDS_NONE ? NULL : &trace->ops[work->op];
    if (!op || !op->framework || !op->category) return 0;
    const struct ids_event *launch = work->launch && work->launch->call && work->launch->run_id ? work->launch : NULL;
    uint64_t run = launch ? ids_key_of(launch->run_id, (uint64_t)launch->track + 1) : work->produces;
    if (!run) return 0;
    uint64_t *seen = ids_keymap_at(runs, ids_key_of(work->op, run));
    if (!seen) return -1;
    work->begins_run = !*seen;
    *seen = 1;
    return 0;
}

/* Work that names no op of a program is of the framework's op that launched it. */
static int name_ops(struct ids_trace *trace, struct ids_calls *calls, struct ids_error *err) {
    struct ids_keymap ops = {0}, runs = {0};
    int failed = 0;
    for (size_t d = 0; d < trace->device_count && trace->call_count && !failed; d++) {
        struct ids_events *events = &trace->devices[d].activity;
        ids_events_turn(events);
        for (size_t i = 0; i < events->count && !failed; i++) {
            struct ids_event *event = &events->at[i];
            if (event->op == IDS_NONE) failed = ids_calls_op(calls, &ops, event, &event->op);
            if (!failed) failed = note_run(trace, &runs, event);
        }
    }
    ids_keymap_done(&ops);
    ids_keymap_done(&runs);
    return failed ? ids_no_memory(err) : 0;
}

static int by_key(const void *a, const void *b) {
    const struct ids_device *left = a, *right = b;
    if (left->host != right->host) return left->host < right->host ? -1 : 1;
    if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
    if (left->ordinal != right->ordinal) return left->ordinal < right->ordinal ? -1 : 1;
    return strcmp(left->key, right->key);
}

/* Devices by host and ordinal: CPU devices were met in the order in which threads ran them. Their events learn of it
 * when they are put in order. */
static int order_devices(struct ids_trace *trace, size_t first, size_t first_track, struct ids_error *err) {
    size_t count = trace->device_count - first;
    if (!count) return 0;
    uint32_t *place = calloc(count, sizeof *place);
    if (!place) return ids_no_memory(err);
    for (size_t d = first; d < trace->device_count; d++) trace->devices[d].found = (uint32_t)d;
    qsort(&trace->devices[first], count, sizeof *trace->devices, by_key);
    for (size_t d = first; d < trace->device_count; d++) place[trace->devices[d].found - first] = (uint32_t)d;
    for (size_t t = first_track; t < trace->track_count; t++) {
        struct ids_track *track = &trace->tracks[t];
        if (track->device != IDS_NONE) track->device = place[track->device - first];
    }
    free(place);
    return 0;
}

int ids_join_hosts(struct ids_join *join, struct ids_trace *trace, size_t first_device, size_t first_track,
                   struct ids_error *err) {
    int code = ids_op_ends_find(join, trace, first_device, first_track, err);
    if (!code) code = order_devices(trace, first_device, first_track, err);
    ids_trace_give_back(trace, first_device, first_track);
    return code ? code : ids_events_order_from(trace, first_device, first_track, err);
}

/* Which host event made what happen, and launched what. */
static int link_all(struct ids_trace *trace, struct ids_calls *calls, struct ids_error *err) {
    struct producers producers = {0};
    uint64_t without = 0;
    int code = 0;
    for (size_t h = 0; h < trace->host_count && !code; h++) {
        const struct of_host of = of_host(trace, h);
        find_threads(trace, &of);
        code = gather_producers(trace, &of, &producers, err);
        if (!code) code = link_host(trace, &of, calls, &producers, err);
        if (!code && ids_sampled_join_told(trace, of.first_track, of.end_track)) code = ids_no_memory(err);
        if (!code) without += launch_devices(trace, &of, &producers);
        ids_keymap_done(&producers.by_link);
        ids_keymap_done(&producers.by_execution);
    }
    if (!code) code = ids_cpu_runs_launch(trace, &producers.by_run, err);
    ids_keymap_done(&producers.by_run);
    if (code) return code;
    return note(trace, IDS_NOTE, "model.launch_not_recorded", "device events whose launch is not in the trace", without,
                err);
}

/* Those of kernels that do not say it, once it is known what launched them. */
static int find_kernel_ops(const struct ids_join *join, struct ids_trace *trace, struct ids_error *err) {
    struct ids_kernel_ops found;
    const size_t first = trace->op_count;
    int code = ids_kernel_ops_find(join, trace, &found, err);
    if (code) return code;
    describe_ops(join, trace, first);
    count_model_flops(trace, first);
    code = measure_collectives(trace, first, err);
    for (size_t d = 0; d < trace->device_count && trace->op_count > first && !code; d++)
        classify_events(trace, &trace->devices[d].activity, first);
    if (!code)
        code = note(trace, IDS_NOTE, "model.op_by_name", "device events whose op is known by the kernel's name",
                    found.by_name, err);
    if (!code)
        code =
            note(trace, IDS_NOTE, "model.op_by_order",
                 "device events whose op is known by the order in which the program runs its ops", found.by_order, err);
    if (code) return code;
    const int is_little = found.unknown < (found.by_name + found.by_order) / 10;
    return note(
        trace, is_little ? IDS_NOTE : IDS_WARNING, "model.op_not_told",
        "kernels, copies and sets of XLA's programs do not say of which op they are: where XLA launches them as CUDA "
        "graphs, XLA_FLAGS=--xla_gpu_enable_command_buffer= (with nothing behind it) has it launch each by itself, and "
        "say so",
        found.unknown, err);
}

int ids_join_run(struct ids_join *join, struct ids_calls *calls, struct ids_trace *trace, struct ids_error *err) {
    int code =
        note(trace, IDS_NOTE, "cpu.op_without_end",
             "CPU ops without an 'end:' event were taken to end with their own event", join->ops_without_end, err);
    if (code) return code;
    describe_ops(join, trace, 0);
    count_model_flops(trace, 0);
    code = ids_containers_find(trace, err);
    if (!code) code = measure_collectives(trace, 0, err);
    if (code) return code;
    classify_by_rendezvous(trace);
    ids_parallel_events(trace->event_count, trace->device_count, classify_device, trace);
    code = name_modules(trace, err);
    if (!code) code = ids_program_facts_find(join->hlo, join->hlo_count, trace, err);
    if (!code) code = ids_host_copies_add(trace, err);
    if (code) return code;
    if (ids_profiler_overhead_join(trace) || ids_sampled_join(trace)) return ids_no_memory(err);
    code = link_all(trace, calls, err);
    if (!code) code = find_kernel_ops(join, trace, err);
    if (!code) code = name_ops(trace, calls, err);
    return !code && ids_wastes_find(trace) ? ids_no_memory(err) : code;
}
