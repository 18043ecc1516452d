#include "lib/model/kernel_ops.h"

#include "lib/base/vec.h"
#include "lib/hlo/flow.h"
#include "lib/model/dimensions.h"
#include "lib/model/flow_match.h"

#include <stdlib.h>
#include <string.h>

/* ---- programs ---- */

struct program {
    struct ids_flow flow;
    uint64_t program_id;
    uint32_t host, name;       /* of the module: a text */
    uint32_t next;             /* the next one of that name on that host, + 1 */
    uint32_t module;           /* of the trace, + 1; 0 not looked for yet */
    uint32_t room;             /* of items, while it is read */
    struct ids_keymap by_name; /* of an instruction -> item + 1 */
};

/* Something that a device did, and the execution of a program that launched it. */
struct work {
    struct ids_event *event;
    const struct ids_event *execution, *launch;
};

struct finding {
    const struct ids_join *join;
    struct ids_trace *trace;
    struct ids_kernel_ops *found;
    struct program *programs;
    size_t program_count, program_room;
    struct ids_keymap by_id;   /* (host, program id) -> program + 1 */
    struct ids_keymap by_name; /* (host, name of the module) -> the last one that is called so, + 1 */
    uint32_t *executes;        /* by name of events: text + 2 of the module whose execution is called so; 1 none */
    struct ids_keymap ops;     /* (module, name) -> op + 1 */
    struct work *work;         /* of a device */
    size_t work_count, work_room;
    struct ids_keymap matched; /* (program, what an execution did) -> place in results + 1 */
    uint32_t *results;         /* of each: 1 where it fits, then items + 1 */
    size_t result_count, result_room;
    struct ids_flow_work *one; /* execution */
    size_t one_count, one_room;
};

static uint64_t key_of_program(uint32_t host, uint64_t program_id, uint32_t name) {
    return program_id ? ids_key_of(ids_key_of(program_id, 1), host) : ids_key_of(ids_key_of(name, 2), host);
}

static int add_program(struct finding *finding, uint32_t host, const struct ids_instruction_info *info,
                       uint64_t *place) {
    struct program *program = IDS_PUSH(finding->programs, finding->program_count, finding->program_room);
    uint64_t *named = program ? ids_keymap_at(&finding->by_name, ids_key_of(info->module, host)) : NULL;
    if (!named) return -1;
    *program =
        (struct program){.program_id = info->program_id, .host = host, .name = info->module, .next = (uint32_t)*named};
    *place = *named = finding->program_count;
    return 0;
}

/* An instruction of a program; it may be in the file twice, and then counts once. */
static int add_item(struct finding *finding, struct program *program, const struct ids_instruction_info *info) {
    if (info->order > program->room) {
        uint32_t more = info->order < 64 ? 64 : 2 * info->order;
        struct ids_flow_item *grown = realloc(program->flow.items, more * sizeof *grown);
        if (!grown) return -1;
        memset(grown + program->room, 0, (more - program->room) * sizeof *grown);
        program->flow.items = grown;
        program->room = more;
    }
    struct ids_flow_item *item = &program->flow.items[info->order - 1];
    if (item->runs) return 0;
    struct ids_text name = ids_strings_text(&finding->trace->strings, info->name);
    *item = (struct ids_flow_item){.name = info->name,
                                   .kernel = ids_flow_kernel_name(&finding->trace->strings, name),
                                   .begins = info->loop_begins ? info->loop_begins - 1 : 0,
                                   .ends = info->loop_ends ? info->loop_ends - 1 : 0,
                                   .fingerprint = info->fingerprint,
                                   .runs = info->runs,
                                   .optional = info->optional};
    if (info->order > program->flow.count) program->flow.count = info->order;
    if (item->kernel == IDS_NO_TEXT) return -1;
    return ids_keymap_add(&program->by_name, ids_key_of(info->name, 0), info->order) < 0 ? -1 : 0;
}

/* A program of which an instruction was lost has no order. */
static int finish_program(struct program *program) {
    for (size_t i = 0; i < program->flow.count; i++) {
        if (program->flow.items[i].runs) continue;
        program->flow.count = 0;
    }
    return ids_flow_finish(&program->flow);
}

static int read_programs(struct finding *finding) {
    const struct ids_join *join = finding->join;
    int failed = 0;
    for (size_t i = 0; i < join->hlo_count && !failed; i++) {
        const struct ids_instruction_info *info = &join->hlo[i];
        if (!info->order || info->order > IDS_HLO_INSTRUCTIONS_LIMIT) continue;
        uint64_t *place =
            ids_keymap_at(&finding->by_id, key_of_program(join->hlo_hosts[i], info->program_id, info->module));
        if (!place) return -1;
        if (!*place) failed = add_program(finding, join->hlo_hosts[i], info, place);
        if (!failed) failed = add_item(finding, &finding->programs[*place - 1], info);
    }
    for (size_t i = 0; i < finding->program_count && !failed; i++) failed = finish_program(&finding->programs[i]);
    return failed;
}

/* ---- executions ---- */

/* The module that an event executes: XLA calls it "jit_train_step:XLA GPU module". IDS_NONE: it executes none. */
static uint32_t module_executed(struct finding *finding, const struct ids_event *event) {
    static const char ending[] = ":XLA GPU module";
    uint32_t *known = &finding->executes[event->name];
    if (!*known) {
        struct ids_text name = ids_strings_text(&finding->trace->strings, finding->trace->names[event->name].text);
        uint32_t text = IDS_NO_TEXT;
        if (ids_text_ends(name, ending))
            text = ids_strings_find(&finding->trace->strings, name.at, name.length - (sizeof ending - 1));
        *known = text == IDS_NO_TEXT ? 1 : text + 2;
    }
    return *known == 1 ? IDS_NONE : *known - 2;
}

static const struct ids_event *execution_of(struct finding *finding, const struct ids_event *launch) {
    const struct ids_event *around = launch;
    while (around && (around->kind != IDS_KIND_EXECUTE || module_executed(finding, around) == IDS_NONE))
        around = ids_event_outside(finding->trace, around);
    return around;
}

/* The file says of which instruction it is. What it says of a graph's kernel may be of what launched the graph. */
static int is_told(const struct finding *finding, const struct ids_event *event) {
    const struct ids_trace *trace = finding->trace;
    uint64_t index;
    if (event->op == IDS_NONE) return 0;
    const struct ids_op *op = &trace->ops[event->op];
    if (op->framework || op->module == IDS_NONE) return 1;
    const struct ids_module *module = &trace->modules[op->module];
    uint32_t host = trace->devices[event->device].host;
    if (!event->in_graph ||
        !ids_keymap_get(&finding->by_id, key_of_program(host, module->program_id, module->name), &index))
        return 1;
    const struct ids_instruction_info *info = ids_join_instruction(finding->join, module, op->name);
    return info && info->order; /* a call runs nothing itself */
}

static int is_work(const struct ids_event *event) {
    return event->kind == IDS_KIND_KERNEL || event->kind == IDS_KIND_COPY || event->kind == IDS_KIND_SET;
}

static int gather(struct finding *finding, struct ids_events *events) {
    const struct ids_event *last = NULL, *execution = NULL;
    int any = 0;
    finding->work_count = 0;
    ids_events_turn(events);
    for (size_t i = 0; i < events->count; i++) {
        struct ids_event *event = &events->at[i];
        if (!is_work(event) || !event->launch) continue;
        if (event->launch != last) execution = execution_of(finding, event->launch);
        last = event->launch;
        if (!execution) continue;
        struct work *work = IDS_PUSH(finding->work, finding->work_count, finding->work_room);
        if (!work) return -1;
        *work = (struct work){event, execution, event->launch};
        any |= !is_told(finding, event);
    }
    if (!any) finding->work_count = 0;
    return 0;
}

static int by_launch(const void *a, const void *b) {
    const struct work *left = a, *right = b;
    if (left->execution != right->execution) {
        if (left->execution->start_ps != right->execution->start_ps)
            return left->execution->start_ps < right->execution->start_ps ? -1 : 1;
        return left->execution < right->execution ? -1 : 1;
    }
    if (left->launch->start_ps != right->launch->start_ps)
        return left->launch->start_ps < right->launch->start_ps ? -1 : 1;
    if (left->event->start_ps != right->event->start_ps) return left->event->start_ps < right->event->start_ps ? -1 : 1;
    return left->event < right->event ? -1 : left->event > right->event;
}

/* ---- of one execution ---- */

/* The kernels of a graph may run beside each other, and then their times tell nothing of their order. The next one
 * begins a little earlier than the one before it ends, where it need not wait for all of its blocks. */
static int is_in_order(const struct work *work, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const struct ids_event *before = work[i - 1].event, *event = work[i].event;
        if (work[i].launch == work[i - 1].launch &&
            2 * (event->start_ps - before->start_ps) < before->end_ps - before->start_ps)
            return 0;
    }
    return 1;
}

static int describe(struct finding *finding, const struct program *program, const struct work *work, size_t count) {
    const struct ids_trace *trace = finding->trace;
    finding->one_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct ids_event *event = work[i].event;
        struct ids_flow_work *one = IDS_PUSH(finding->one, finding->one_count, finding->one_room);
        if (!one) return -1;
        *one = (struct ids_flow_work){.kernel = trace->names[event->name].text, .kind = event->kind};
        uint64_t item;
        if (event->op == IDS_NONE || !is_told(finding, event)) continue;
        if (ids_keymap_get(&program->by_name, ids_key_of(trace->ops[event->op].name, 0), &item))
            one->told = (uint32_t)item;
    }
    return 0;
}

static uint64_t key_of_work(const struct finding *finding, uint32_t program) {
    uint64_t key = ids_key_of(program, finding->one_count);
    for (size_t i = 0; i < finding->one_count; i++)
        key = ids_key_of(ids_key_of(key, finding->one[i].kernel),
                         (uint64_t)finding->one[i].told << 8 | finding->one[i].kind);
    return key;
}

/* Where in results it stands whether the execution can be one of that program, and what its work is of then. Most
 * executions do the same as others. */
static int match(struct finding *finding, uint32_t index, const struct work *work, size_t count, size_t *ret_place) {
    const struct program *program = &finding->programs[index];
    if (describe(finding, program, work, count)) return -1;
    uint64_t *place = ids_keymap_at(&finding->matched, key_of_work(finding, index));
    if (!place) return -1;
    if (!*place) {
        *place = finding->result_count + 1;
        for (size_t i = 0; i < count + 1; i++) {
            uint32_t *result = IDS_PUSH(finding->results, finding->result_count, finding->result_room);
            if (!result) return -1;
            *result = 0;
        }
        int fits = ids_flow_match(&program->flow, finding->one, count, &finding->results[*place]);
        if (fits < 0) return -1;
        finding->results[*place - 1] = (uint32_t)fits;
    }
    *ret_place = (size_t)*place - 1;
    return 0;
}

static int find_module(struct ids_trace *trace, struct program *program) {
    const struct ids_module like = {.name = program->name, .host = program->host, .program_id = program->program_id};
    if (program->module) return 0;
    for (size_t i = 0; i < trace->module_count; i++) {
        if (trace->modules[i].host != program->host || ids_module_key(&trace->modules[i]) != ids_module_key(&like))
            continue;
        program->module = (uint32_t)i + 1;
        return 0;
    }
    struct ids_module *added = IDS_PUSH(trace->modules, trace->module_count, trace->module_room);
    if (!added) return -1;
    *added = like;
    program->module = (uint32_t)trace->module_count;
    return 0;
}

/* The op of that instruction. */
static int op_of(struct finding *finding, struct program *program, uint32_t name, uint32_t *ret_op,
                 struct ids_error *err) {
    struct ids_trace *trace = finding->trace;
    if (find_module(trace, program)) return ids_no_memory(err);
    uint64_t *place = ids_keymap_at(&finding->ops, ids_key_of(program->module, name));
    if (!place) return ids_no_memory(err);
    if (!*place) {
        int code = ids_op_new(trace, name, program->module - 1, ret_op, err);
        if (code) return code;
        *place = (uint64_t)*ret_op + 1;
    }
    *ret_op = (uint32_t)(*place - 1);
    return 0;
}

static int give(struct finding *finding, struct program *program, struct ids_event *event, uint32_t item, int by_order,
                struct ids_error *err) {
    uint32_t op;
    if (is_told(finding, event)) return 0;
    if (!item || program->flow.items[item - 1].runs == IDS_HLO_RUNS_LOOP) {
        finding->found->unknown++;
        return 0;
    }
    int code = op_of(finding, program, program->flow.items[item - 1].name, &op, err);
    if (code) return code;
    by_order &= item != ids_flow_item_called(&program->flow, finding->trace->names[event->name].text);
    *(by_order ? &finding->found->by_order : &finding->found->by_name) += 1;
    uint8_t *known_by = &finding->trace->ops[op].known_by;
    if (*known_by < (by_order ? IDS_OP_BY_ORDER : IDS_OP_BY_NAME))
        *known_by = by_order ? IDS_OP_BY_ORDER : IDS_OP_BY_NAME;
    event->op = op;
    return 0;
}

/* The programs that the execution may be of: that of the id that the file says of a kernel, else all of that name. */
static uint32_t first_program(const struct finding *finding, uint32_t host, const struct work *work, size_t count,
                              int *ret_sure) {
    const struct ids_trace *trace = finding->trace;
    uint32_t name = finding->executes[work->execution->name] - 2;
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ids_op *op = work[i].event->op == IDS_NONE ? NULL : &trace->ops[work[i].event->op];
        if (!op || op->module == IDS_NONE || !trace->modules[op->module].program_id) continue;
        *ret_sure =
            ids_keymap_get(&finding->by_id, key_of_program(host, trace->modules[op->module].program_id, 0), &found);
        if (*ret_sure) return (uint32_t)found;
    }
    return ids_keymap_get(&finding->by_name, ids_key_of(name, host), &found) ? (uint32_t)found : 0;
}

static int find_of(struct finding *finding, uint32_t host, const struct work *work, size_t count,
                   struct ids_error *err) {
    int sure = 0, fitting = 0, code = 0;
    uint32_t first = first_program(finding, host, work, count, &sure), fits = 0;
    size_t place = 0, there = 0;
    const int in_order = is_in_order(work, count);
    for (uint32_t p = first; p && in_order; p = sure ? 0 : finding->programs[p - 1].next) {
        if (match(finding, p - 1, work, count, &there)) return ids_no_memory(err);
        if (!finding->results[there]) continue;
        fitting++;
        fits = p;
        place = there;
    }
    /* Names alone, where the order says nothing and there is one program that has them. */
    const int alone = first && (sure || !finding->programs[first - 1].next);
    struct program *program = fitting == 1 ? &finding->programs[fits - 1]
                              : alone      ? &finding->programs[first - 1]
                                           : NULL;
    for (size_t i = 0; i < count && !code; i++) {
        uint32_t text = finding->trace->names[work[i].event->name].text, item = 0;
        if (!program) {
            finding->found->unknown += !is_told(finding, work[i].event);
            continue;
        }
        item = fitting == 1 ? finding->results[place + 1 + i] : ids_flow_item_called(&program->flow, text);
        code = give(finding, program, work[i].event, item, fitting == 1, err);
    }
    return code;
}

static int find_on(struct finding *finding, struct ids_device *device, struct ids_error *err) {
    int code = 0;
    if (gather(finding, &device->activity)) return ids_no_memory(err);
    if (finding->work_count > 1) qsort(finding->work, finding->work_count, sizeof *finding->work, by_launch);
    for (size_t from = 0, to; from < finding->work_count && !code; from = to) {
        for (to = from + 1; to < finding->work_count && finding->work[to].execution == finding->work[from].execution;)
            to++;
        code = find_of(finding, device->host, &finding->work[from], to - from, err);
    }
    return code;
}

static int list_ops(struct finding *finding) {
    const struct ids_trace *trace = finding->trace;
    for (size_t i = 0; i < trace->op_count; i++) {
        if (trace->ops[i].module == IDS_NONE) continue;
        if (ids_keymap_add(&finding->ops, ids_key_of(trace->ops[i].module + 1, trace->ops[i].name), i + 1) < 0)
            return -1;
    }
    return 0;
}

/* Most files say it of each kernel. */
static int any_untold(const struct ids_trace *trace) {
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_events *events = &trace->devices[d].activity;
        if (trace->devices[d].kind != IDS_DEVICE_GPU) continue;
        ids_events_turn(events);
        for (size_t i = 0; i < events->count; i++) {
            if (is_work(&events->at[i]) && events->at[i].launch &&
                (events->at[i].op == IDS_NONE || events->at[i].in_graph))
                return 1;
        }
    }
    return 0;
}

int ids_kernel_ops_find(const struct ids_join *join, struct ids_trace *trace, struct ids_kernel_ops *ret_found,
                        struct ids_error *err) {
    struct finding finding = {.join = join, .trace = trace, .found = ret_found};
    int code = 0;
    *ret_found = (struct ids_kernel_ops){0};
    if (!join->hlo_count || !any_untold(trace)) return 0;
    finding.executes = calloc(trace->name_count + 1, sizeof *finding.executes);
    if (!finding.executes || read_programs(&finding) || list_ops(&finding)) code = ids_no_memory(err);
    for (size_t d = 0; d < trace->device_count && !code; d++) {
        if (trace->devices[d].kind == IDS_DEVICE_GPU) code = find_on(&finding, &trace->devices[d], err);
    }
    for (size_t i = 0; i < finding.program_count; i++) {
        ids_flow_done(&finding.programs[i].flow);
        ids_keymap_done(&finding.programs[i].by_name);
        free(finding.programs[i].flow.items);
    }
    free(finding.programs);
    free(finding.executes);
    free(finding.work);
    free(finding.results);
    free(finding.one);
    ids_keymap_done(&finding.by_id);
    ids_keymap_done(&finding.by_name);
    ids_keymap_done(&finding.ops);
    ids_keymap_done(&finding.matched);
    return code;
}
