/* op_costs_making.c - what each op computed and moved on each device, a device at a time, beside what analyzers sum up
 * of it (gathering.c). */
#include "lib/analysis/context.h"
#include "lib/analysis/device_sweep.h"
#include "lib/analysis/ledger.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

/* ---- one device ---- */

/* What one device did of an op under one name: on a GPU one of its kernels, elsewhere the op itself. */
struct part {
    int64_t ps, first_ps, last_ps;           /* the latter: when it began */
    uint64_t count, count_in_steps, untimed; /* the latter: of no duration */
    uint32_t op, name;
};

/* What one device did of an op so far. */
struct ran {
    int64_t self_ps, compute_ps;    /* the latter computes and is no copy, set or collective */
    int64_t device_ps;              /* what the device has of it, where its ops run beside each other */
    uint64_t begun, begun_in_steps; /* runs, where the file tells them apart; else 0 */
    struct part first;              /* under the first name that was met */
    struct part rarest;             /* of several kernels; else its count is 0 */
    uint32_t op;
};

struct ids_op_counting {
    const struct ids_analysis *analysis;
    struct ids_op_costs *costs;
    struct ran *ran; /* ops that the device ran */
    size_t ran_count, ran_room;
    uint32_t *place;          /* by op: index of `ran` + 1; 0: the device did not run it so far */
    struct ids_keymap places; /* op and name of another kernel than its first one -> index of parts + 1 */
    struct part *parts;
    size_t part_count, part_room;
    struct ids_sweep_room *sweep_room; /* NULL: no device needed it yet */
};

/* What begins or awaits an asynchronous copy moves nothing in its own time. */
static int is_copy_aside(const struct ids_op *op) {
    return op->marker && op->cost_source == IDS_COST_OF_FILE && op->memory_bytes > 0;
}

static int has_cost(const struct ids_op *op) {
    return op->cost_source != IDS_COST_UNKNOWN && !op->container && (!op->marker || is_copy_aside(op));
}

/* NULL when memory ran out. */
static struct ran *ran_of(struct ids_op_counting *counting, uint32_t op) {
    uint32_t *place = &counting->place[op];
    if (!*place) {
        struct ran *fresh = IDS_PUSH(counting->ran, counting->ran_count, counting->ran_room);
        if (!fresh) return NULL;
        *fresh = (struct ran){.op = op};
        *place = (uint32_t)counting->ran_count;
    }
    return &counting->ran[*place - 1];
}

/* Of the event's op the part that has its name; NULL when memory ran out. */
static struct part *part_of(struct ids_op_counting *counting, struct ran *ran, const struct ids_event *event) {
    uint32_t name = counting->analysis->trace->names[event->name].text;
    if (!ran->first.count) ran->first = (struct part){.op = event->op, .name = name};
    if (ran->first.name == name) return &ran->first;
    uint64_t *place = ids_keymap_at(&counting->places, ids_key_of(event->op, name));
    if (place && !*place) {
        struct part *fresh = IDS_PUSH(counting->parts, counting->part_count, counting->part_room);
        if (fresh) *fresh = (struct part){.op = event->op, .name = name};
        *place = fresh ? counting->part_count : 0;
    }
    return place && *place ? &counting->parts[*place - 1] : NULL;
}

static int count_event(struct ids_op_counting *counting, const struct ids_busy *busy, const struct ids_event *event) {
    struct ran *ran = ran_of(counting, event->op);
    int64_t own_ps = ids_own_in_window(busy, event);
    struct part *part = ran ? part_of(counting, ran, event) : NULL;
    if (!part) return -1;
    ids_sum(&ran->self_ps, own_ps);
    ids_sum(&part->ps, own_ps);
    if (!part->count++) part->first_ps = event->start_ps;
    part->last_ps = event->start_ps;
    part->untimed += event->end_ps == event->start_ps;
    int is_in_step = counting->analysis->steps.count && ids_step_of_device_event(counting->analysis, event);
    if (is_in_step) part->count_in_steps++;
    if (event->begins_run) {
        ran->begun++;
        ran->begun_in_steps += (uint64_t)is_in_step;
    }
    if (event->class == IDS_CLASS_COMPUTE) ids_sum(&ran->compute_ps, own_ps);
    return 0;
}

static void keep_rarest(struct part *rarest, const struct part *part) {
    int64_t span_ps = part->last_ps - part->first_ps;
    if (!rarest->count || part->count < rarest->count ||
        (part->count == rarest->count && span_ps > rarest->last_ps - rarest->first_ps))
        *rarest = *part;
}

/* Leaves in `first` of each op the part that has most of its time. */
static void find_longest_parts(struct ids_op_counting *counting) {
    for (size_t i = 0; i < counting->part_count; i++) {
        struct ran *ran = &counting->ran[counting->place[counting->parts[i].op] - 1];
        struct part *part = &counting->parts[i], *first = &ran->first;
        keep_rarest(&ran->rarest, first);
        keep_rarest(&ran->rarest, part);
        if (part->ps > first->ps || (part->ps == first->ps && part->count < first->count)) *first = *part;
    }
    counting->part_count = 0;
    ids_keymap_done(&counting->places);
}

/* How often a run launches the op's main kernel: where another one of its kernels runs half as often, or a third, all
 * the time, that one tells the runs. One that runs only at first prepares something. view op_cost does the same. */
static uint64_t launches_of(const struct ran *ran) {
    enum { FEWEST = 3, MOST_LAUNCHES = 16 };
    const struct part *rarest = &ran->rarest, *main = &ran->first;
    if (rarest->count < FEWEST || (rarest->last_ps - rarest->first_ps) * 2 < main->last_ps - main->first_ps) return 1;
    uint64_t launches = (main->count + rarest->count / 2) / rarest->count, told = launches * rarest->count;
    uint64_t apart = told > main->count ? told - main->count : main->count - told;
    return launches > 1 && launches <= MOST_LAUNCHES && apart < launches ? launches : 1; /* the window may cut a run */
}

static uint64_t runs_of(const struct ran *ran) {
    if (ran->begun) return ran->begun;
    return launches_of(ran) > 1 ? ran->rarest.count : ran->first.count;
}

static uint64_t runs_in_steps_of(const struct ran *ran) {
    return ran->begun ? ran->begun_in_steps : ran->first.count_in_steps / launches_of(ran);
}

/* Of an op that needs a microsecond at its roofline, executions of no duration lost their time. view op_costs does the
 * same. */
static struct ids_untimed_cost untimed_of(const struct ids_op_cost *cost, const struct part *main) {
    struct ids_untimed_cost none = {0};
    double least = 1e-6 * (double)cost->runs, share = (double)main->untimed / (double)main->count;
    if (!main->untimed || !cost->runs || (cost->flops_time < least && cost->bytes_time < least)) return none;
    return (struct ids_untimed_cost){(uint64_t)((double)cost->runs * share + 0.5), cost->flops * share,
                                     cost->bytes * share, cost->flops_time * share, cost->bytes_time * share};
}

/* Of an asynchronous copy, at its start or its end. */
static struct ids_op_cost copy_of(const struct ids_op *op, const struct ran *ran, const struct ids_peaks *peaks) {
    struct ids_op_cost cost = {.has_copies = 1, .copied_bytes = (double)op->memory_bytes * (double)runs_of(ran)};
    if (peaks->bandwidth > 0) cost.copied_time = cost.copied_bytes / peaks->bandwidth;
    return cost;
}

/* An op that runs beside others could not be rid of more than the device has of it. view op_costs does the same. */
static double lost_of(const struct ids_op_cost *cost, const struct ran *ran, int are_beside) {
    double lost = cost->self_time > cost->roof_time ? cost->self_time - cost->roof_time : 0;
    return are_beside && ran->device_ps < ran->self_ps ? lost * (double)ran->device_ps / (double)ran->self_ps : lost;
}

static struct ids_op_cost cost_of(const struct ids_op *op, const struct ran *ran, const struct ids_peaks *peaks,
                                  int are_beside) {
    uint64_t count = runs_of(ran);
    double runs = (double)count, self_time = (double)ran->self_ps * 1e-12;
    double rate = op->flops > 0 && self_time > 0 ? (double)op->flops * runs / self_time : 0;
    double peak = peaks->flops[ids_multiplier_at(op, peaks, rate)];
    if (op->marker) return copy_of(op, ran, peaks);
    struct ids_op_cost cost = {.runs = count, .self_time = self_time};
    cost.has_flops = op->flops >= 0;
    cost.has_bytes = op->memory_bytes >= 0;
    if (cost.has_flops) {
        cost.flops = (double)op->flops * runs;
        cost.flops_self = self_time;
    }
    if (cost.has_bytes) {
        cost.bytes = (double)op->memory_bytes * runs;
        cost.bytes_self = self_time;
    }
    if (peak > 0) cost.flops_time = cost.flops / peak;
    if (peaks->bandwidth > 0) cost.bytes_time = cost.bytes / peaks->bandwidth;
    cost.model_flops = (op->model_flops > 0 ? (double)op->model_flops : 0) * runs;
    if (peak > 0) cost.model_time = cost.model_flops / peak;
    cost.untimed = untimed_of(&cost, &ran->first);
    /* Either side of the roof may be what is not known. */
    cost.has_roof = cost.has_flops && cost.has_bytes && peak > 0 && peaks->bandwidth > 0;
    if (!cost.has_roof) return cost;
    cost.roof_time = cost.flops_time > cost.bytes_time ? cost.flops_time - cost.untimed.flops_time
                                                       : cost.bytes_time - cost.untimed.bytes_time;
    cost.judged_time = cost.self_time;
    if (ran->compute_ps < ran->self_ps - ran->compute_ps) return cost;
    cost.lost_time = lost_of(&cost, ran, are_beside);
    if (ids_bound_of(&cost, 0) == IDS_BOUND_MEMORY) {
        cost.memory_time = cost.self_time;
        cost.memory_roof = cost.bytes_time - cost.untimed.bytes_time;
    }
    return cost;
}

static int see_stretch(void *context, const struct ids_stretch *stretch, struct ids_error *err) {
    struct ids_op_counting *counting = context;
    uint32_t op = stretch->state & IDS_IS_BUSY ? stretch->event->op : IDS_NONE;
    (void)err;
    if (op != IDS_NONE && counting->place[op])
        ids_sum(&counting->ran[counting->place[op] - 1].device_ps, stretch->to_ps - stretch->from_ps);
    return 0;
}

/* Each moment of the device is that of the op to which the ledger books it. */
static int divide_device(struct ids_op_counting *counting, const struct ids_busy *busy, struct ids_error *err) {
    if (!counting->sweep_room && ids_sweep_room_new(counting->analysis, &counting->sweep_room, err)) return -1;
    return ids_sweep_device(counting->sweep_room, busy, busy->start_ps, busy->end_ps, see_stretch, counting, err);
}

static void add_costs(struct ids_op_counting *counting, const struct ran *ran, size_t b, const struct ids_peaks *peaks,
                      int are_beside) {
    struct ids_op_costs *costs = counting->costs;
    struct ids_op_cost cost = cost_of(&counting->analysis->trace->ops[ran->op], ran, peaks, are_beside);
    ids_op_cost_add(&costs->of_op[ran->op], &cost);
    ids_op_cost_add(&costs->of_device[b], &cost);
    double share = cost.runs ? (double)runs_in_steps_of(ran) / (double)cost.runs : 0;
    costs->in_steps[b].flops += cost.model_flops * share;
    costs->in_steps[b].time += cost.model_time * share;
}

int ids_op_costs_count(struct ids_op_counting *counting, size_t b, struct ids_error *err) {
    if (!counting) return 0;
    const struct ids_busy *busy = &counting->analysis->busy[b];
    const struct ids_trace *trace = counting->analysis->trace;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    int64_t self_ps = 0;
    int failed = 0;
    for (const struct ids_event *event; !failed && (event = ids_cursor_next(&cursor));) {
        ids_sum(&self_ps, ids_own_in_window(busy, event));
        if (event->op != IDS_NONE && has_cost(&trace->ops[event->op])) failed = count_event(counting, busy, event);
    }
    struct ids_peaks peaks = ids_peaks_of(trace, busy->device, &counting->analysis->params);
    int are_beside = peaks.bandwidth > 0 && self_ps > ids_time_in(busy, IDS_IS_BUSY);
    if (!failed && are_beside) failed = divide_device(counting, busy, err);
    find_longest_parts(counting);
    for (size_t i = 0; i < counting->ran_count; i++) {
        add_costs(counting, &counting->ran[i], b, &peaks, are_beside);
        counting->place[counting->ran[i].op] = 0;
    }
    counting->ran_count = 0;
    return failed ? ids_no_memory(err) : 0;
}

/* ---- all ---- */

static int any_cost(const struct ids_trace *trace) {
    for (size_t i = 0; i < trace->op_count; i++) {
        if (has_cost(&trace->ops[i])) return 1;
    }
    return 0;
}

int ids_op_costs_begin(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_op_costs *costs = &analysis->costs;
    if (!any_cost(trace)) return 0;
    struct ids_op_counting *counting = analysis->op_counting = calloc(1, sizeof *counting);
    if (!counting) return ids_no_memory(err);
    counting->analysis = analysis;
    counting->costs = costs;
    counting->place = calloc(trace->op_count + 1, sizeof *counting->place);
    costs->of_op = calloc(trace->op_count + 1, sizeof *costs->of_op);
    costs->of_device = calloc(analysis->busy_count + 1, sizeof *costs->of_device);
    costs->in_steps = calloc(analysis->busy_count + 1, sizeof *costs->in_steps);
    int failed = !costs->of_op || !costs->of_device || !costs->in_steps || !counting->place;
    return failed ? ids_no_memory(err) : 0;
}

void ids_op_costs_end(struct ids_analysis *analysis) {
    struct ids_op_counting *counting = analysis->op_counting;
    if (!counting) return;
    ids_sweep_room_free(counting->sweep_room);
    ids_keymap_done(&counting->places);
    free(counting->ran);
    free(counting->place);
    free(counting->parts);
    free(counting);
    analysis->op_counting = NULL;
}
