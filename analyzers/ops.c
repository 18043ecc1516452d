/* ops.c - the ops that take the time: of compiled programs, and of the framework. */
#include "analyzers/computations.h"
#include "analyzers/cost_cells.h"
#include "lib/analysis/context.h"
#include "lib/analysis/groups.h"
#include "lib/analysis/step_sums.h"
#include "lib/base/saturate.h"
#include "lib/hlo/scope.h"

#include <stdlib.h>
#include <string.h>

/* From there on the times of ops, which run beside each other, are told from those of devices. Less makes no
 * difference to anybody. */
#define BESIDE 1.1

/* What op_key is of. */
#define OF_FRAMEWORK(column) "CASE WHEN is_framework = 1 THEN " column " ELSE NULL END"
#define OP_COLUMNS                                                                                   \
    "module, program_id, op, " OF_FRAMEWORK("op_name") ", " OF_FRAMEWORK("shape") ", " OF_FRAMEWORK( \
        "flops") ", " OF_FRAMEWORK("bytes_accessed")

static const struct ids_metric_def metrics[] = {
    {"ops.count", "distinct ops", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Ops that ran in the window: HLO ops by program and name, ops of the framework by their place in the program and "
     "by what they compute.",
     "SELECT count(*) FROM (SELECT DISTINCT " OP_COLUMNS
     " FROM ops WHERE run = :run AND is_active = 1 AND is_beside = 0)"},
    {"ops.top_share", "largest op", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of all device time of the op with the most self time.",
     "SELECT max(self_ps) * 1.0 / (SELECT sum(self_ps) FROM activities WHERE run = :run AND is_active = 1 AND "
     "is_beside = 0) FROM (SELECT sum(self_ps) AS self_ps FROM ops WHERE run = :run AND is_active = 1 AND is_beside = "
     "0 GROUP BY " OP_COLUMNS ")"},
};

static const struct ids_column_def columns[] = {
    {"self", "self", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"mean", "mean", IDS_UNIT_TIME, 0},
    {"name", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"category", "category", IDS_UNIT_NONE, 0},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"op_name", "in the program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"class", "class", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"total", "total", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"min", "min", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"max", "max", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"flops", "flops", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"bytes", "bytes accessed", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"deduplicated_name", "deduplicated name", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"program_id", "program id", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"text", "HLO", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"shape", "shape", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"fingerprint", "fingerprint", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"scope", "scope", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"pass", "pass", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"family", "family", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"cost_source", "counted by", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"runs", "runs", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"untimed", "without a time", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"memory_bytes", "bytes of memory", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"communicates", "communicates", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"events", "device events", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"device_time", "of the device", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"known", "known", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    IDS_COST_COLUMNS(IDS_COLUMN_DETAIL),
};
static const struct ids_table_def ops = {
    "ops",
    "single ops",
    columns,
    IDS_COUNT_OF(columns),
    "One row per HLO op and program, over all devices, most self time first. On a GPU an op is the kernels that carry "
    "its name. Of a CUDA graph, whose kernels may not say of which op they are, it is the kernels that can be of no "
    "other op of the program. known is how that is known: recorded; by name: no other op of the program has a kernel "
    "of that name; by order: by the order in which the program runs its ops. Kernels "
    "of PyTorch and TensorFlow belong to the framework's op that launched them, with a row for each "
    "place in the program. count is executions: of an op of the framework the runs of it that launched work, however "
    "many kernels, copies and sets each launched (events; where the file does not tell its runs apart, count is the "
    "same), of any other op its events on the device; mean is total by count, min and max are of single events. Self "
    "time is the op's time minus the time of the ops wholly inside it on its track; share "
    "is of the self time of all device activity. flops and bytes are per execution, counted by the file (TPU) or by "
    "idsprof over the program (model, an estimate); memory_bytes are those of the main memory. runs is how often the "
    "op ran, on a GPU as often as the kernel that has most of its time; untimed are those of no duration in the file, "
    "though the op needs a microsecond or more: their time was lost. flop_rate and bandwidth are over the self time, "
    "without these, their shares of what the device can do; device_time is what the ledger books to the op, each "
    "moment of a device once, where ops run beside each other so that their self times sum to a tenth more or above "
    "(threads of a CPU, streams of a GPU), and no other op bears its name at its place; bound (compute, memory, "
    "latency: short, and far from both; "
    "neither: below a tenth of both; communication) and lost, the time beyond the roofline, follow from these. Of ops "
    "beside each other lost is the share of it that the device has of their time. The "
    "scope is what the program named of the op's place, the pass (forward, backward, recomputed, custom vjp) what "
    "automatic differentiation did with it, the family what its names tell of what it computes (of a fusion that its "
    "name calls a copy, and that computes: fusion). The fingerprint is the same for what computes the same, whatever "
    "it is called and whichever program it is in.",
    0,
};

static const struct ids_column_def category_columns[] = {
    {"self", "self", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"category", "category", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def categories = {
    "op_categories",
    "op categories",
    category_columns,
    IDS_COUNT_OF(category_columns),
    "Device time by hlo_category (TPU), HLO opcode, op of the framework, or, without an op, the kind of activity.",
    0,
};

enum { VECTORS = 512 };

static const struct ids_column_def step_columns[] = {
    {"op", "op", IDS_UNIT_COUNT, 0},
    {"in_steps", "in steps", IDS_UNIT_TIME, 0},
    {"squares", "sum of squares", IDS_UNIT_NUMBER, 0},
    {"by_step", "by step", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"count_in_steps", "count in steps", IDS_UNIT_COUNT, 0},
};
static const struct ids_table_def op_steps = {
    "op_steps",
    "ops by step",
    step_columns,
    IDS_COUNT_OF(step_columns),
    "One row per op (its place in the table `ops`, from 0; none: activity without an op): self time that belongs to "
    "steps, over all devices, the sum of the squares of the steps' sums in s², of the 512 ops with most self time the "
    "sums by step in ps, and the executions that belong to steps.",
    IDS_TABLE_HIDDEN,
};

/* One op on all devices and hosts: module and op by name, and the program, of which there may be several of one
 * name. Those of a framework are told apart by where they stand, and by what they compute. */
static uint64_t op_key(const struct ids_trace *trace, const struct ids_op *op) {
    const struct ids_module *module = op->module == IDS_NONE ? NULL : &trace->modules[op->module];
    uint64_t cost = ids_key_of(ids_key_of((uint64_t)op->flops, (uint64_t)op->bytes_accessed), op->shape);
    uint64_t place = op->framework ? ids_key_of(op->framework_name, cost) : 0;
    return ids_key_of(ids_key_of(module ? module->name : 0, module ? module->program_id : place), op->name);
}

static int64_t clipped(const struct ids_busy *busy, const struct ids_event *event) {
    return ids_end_in_window(busy, event) - event->start_ps;
}

/* The category of the event's op, 0 where it is called after what it does. */
static uint32_t own_category(const struct ids_trace *trace, const struct ids_event *event) {
    int is_copy = event->kind == IDS_KIND_COPY || event->kind == IDS_KIND_SET;
    if (event->op == IDS_NONE || (is_copy && trace->ops[event->op].framework)) return 0;
    return trace->ops[event->op].category;
}

static const char *category_of(const struct ids_trace *trace, const struct ids_event *event) {
    uint32_t category = own_category(trace, event);
    if (category) return ids_trace_text(trace, category);
    if (event->kind == IDS_KIND_COPY || event->kind == IDS_KIND_SET)
        return ids_direction_name((enum ids_direction)event->direction);
    return event->op == IDS_NONE ? "(no HLO op)" : "(opcode unknown)";
}

static int64_t own_time(const struct ids_event *event, int64_t duration_ps) {
    return event->self_ps < duration_ps ? event->self_ps : duration_ps;
}

/* How much each step has of each op. */
struct steps {
    struct ids_keymap numbers;    /* by the key of an op: its group's number + 1, in the order in which they were met */
    uint32_t *of_op;              /* the number + 1; 0: not met yet */
    struct ids_step_sums by_step; /* by the number of the op's group */
    struct ids_step_sums without_op; /* the one row of activity that has none */
};

struct gathering {
    const struct ids_trace *trace;
    struct ids_groups by_op, by_category;
    struct place {
        uint32_t op, category; /* numbers of its groups + 1; 0: not met yet */
    } * of_op;
    int64_t all_ps;
    struct steps *steps;       /* of its own: another thread writes it meanwhile */
    struct ids_op_cost *costs; /* by the number of the op's group; NULL: none is known */
    int64_t *device_ps;        /* by the number of the op's group: what the ledger books to it, 0 unknown; NULL: ops
                                * do not run beside each other */
};

static int add_to_category(struct gathering *gathering, const struct ids_event *event, int64_t duration_ps) {
    uint32_t *known = own_category(gathering->trace, event) ? &gathering->of_op[event->op].category : NULL;
    if (known && *known) {
        ids_groups_add_to(&gathering->by_category, *known - 1, event, duration_ps);
        return 0;
    }
    const char *category = category_of(gathering->trace, event);
    uint64_t key = ids_hash_bytes(category, strlen(category)) | 1;
    if (ids_groups_add(&gathering->by_category, key, event, duration_ps)) return -1;
    if (known) *known = (uint32_t)gathering->by_category.last + 1;
    return 0;
}

static int add_to_op(struct gathering *gathering, const struct ids_event *event, int64_t duration_ps) {
    uint32_t *known = &gathering->of_op[event->op].op;
    if (*known) {
        ids_groups_add_to(&gathering->by_op, *known - 1, event, duration_ps);
        return 0;
    }
    uint64_t key = op_key(gathering->trace, &gathering->trace->ops[event->op]);
    if (ids_groups_add(&gathering->by_op, key, event, duration_ps)) return -1;
    *known = (uint32_t)gathering->by_op.last + 1;
    return 0;
}

static int ops_begin(const struct ids_analysis *analysis, void *sums, struct ids_error *err) {
    struct gathering *gathering = sums;
    gathering->trace = analysis->trace;
    gathering->of_op = calloc(analysis->trace->op_count + 1, sizeof *gathering->of_op);
    struct steps *steps = gathering->steps = calloc(1, sizeof *steps);
    if (!gathering->of_op || !steps) return ids_no_memory(err);
    steps->by_step = steps->without_op = ids_step_sums_of(analysis);
    steps->of_op = calloc(analysis->trace->op_count + 1, sizeof *steps->of_op);
    return steps->of_op ? 0 : ids_no_memory(err);
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err) {
    (void)analysis;
    struct gathering *gathering = sums;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        int64_t duration_ps = clipped(busy, event);
        ids_sum(&gathering->all_ps, own_time(event, duration_ps));
        if (add_to_category(gathering, event, duration_ps)) return ids_no_memory(err);
        if (event->op != IDS_NONE && add_to_op(gathering, event, duration_ps)) return ids_no_memory(err);
    }
    return 0;
}

/* The number that by_op gives the op's group: both meet the same events. */
static int find_number(const struct ids_trace *trace, struct steps *steps, uint32_t op, size_t *ret_number) {
    uint32_t *known = &steps->of_op[op];
    if (!*known) {
        uint64_t *place = ids_keymap_at(&steps->numbers, op_key(trace, &trace->ops[op]));
        if (!place) return -1;
        if (!*place) *place = steps->numbers.count;
        *known = (uint32_t)*place;
    }
    *ret_number = *known - 1;
    return 0;
}

static int sum_up_steps(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                        struct ids_error *err) {
    struct steps *steps = ((const struct gathering *)sums)->steps;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        int64_t own_ps = own_time(event, clipped(busy, event));
        int has_op = event->op != IDS_NONE;
        size_t number = 0;
        if (has_op && find_number(analysis->trace, steps, event->op, &number)) return ids_no_memory(err);
        if (ids_step_sums_add(has_op ? &steps->by_step : &steps->without_op, number, event, own_ps))
            return ids_no_memory(err);
    }
    return 0;
}

static void ops_done(void *sums) {
    struct gathering *gathering = sums;
    free(gathering->of_op);
    free(gathering->costs);
    free(gathering->device_ps);
    ids_groups_done(&gathering->by_op);
    ids_groups_done(&gathering->by_category);
    struct steps *steps = gathering->steps;
    if (!steps) return;
    free(steps->of_op);
    ids_keymap_done(&steps->numbers);
    ids_step_sums_done(&steps->by_step);
    ids_step_sums_done(&steps->without_op);
    free(steps);
}

static struct ids_value known(enum ids_unit unit, int64_t value) {
    return value < 0 ? ids_no_value(unit) : ids_int_value(unit, value);
}

static struct ids_value text_or_none(const struct ids_trace *trace, uint32_t text) {
    return ids_text_value(text ? ids_trace_text(trace, text) : NULL);
}

static struct ids_value word_or_none(const char *word) {
    return ids_text_value(*word ? word : NULL);
}

/* Ops of one name on several hosts are one row. */
static int gather_costs(const struct ids_analysis *analysis, struct gathering *gathering) {
    const struct ids_op_cost *of_op = analysis->costs.of_op;
    if (!of_op) return 0;
    gathering->costs = calloc(gathering->by_op.count + 1, sizeof *gathering->costs);
    if (!gathering->costs) return -1;
    for (size_t i = 0; i < analysis->trace->op_count; i++) {
        uint32_t number = gathering->of_op[i].op;
        if (number) ids_op_cost_add(&gathering->costs[number - 1], &of_op[i]);
    }
    return 0;
}

static int communicates(const struct ids_op *op) {
    int goes_elsewhere = op->direction == IDS_H2D || op->direction == IDS_D2H || op->direction == IDS_P2P;
    return op->collective || op->class == IDS_CLASS_COLLECTIVE || goes_elsewhere;
}

static struct ids_value count_or_none(uint64_t count) {
    return count ? ids_int_value(IDS_UNIT_COUNT, (int64_t)count) : ids_no_value(IDS_UNIT_COUNT);
}

static struct ids_value program_of(const struct ids_module *module, struct ids_report *report) {
    if (!module || !module->program_id) return ids_no_value(IDS_UNIT_NONE);
    return ids_text_value(ids_report_text(report, "%llu", (unsigned long long)module->program_id));
}

static struct ids_value fingerprint_of(const struct ids_op *op, struct ids_report *report) {
    if (!op->fingerprint) return ids_no_value(IDS_UNIT_NONE);
    return ids_text_value(ids_report_text(report, "%016llx", (unsigned long long)op->fingerprint));
}

static void list(const struct ids_analysis *analysis, struct ids_report *report, const struct gathering *gathering) {
    static const struct ids_op_cost none;
    const struct ids_groups *groups = &gathering->by_op;
    int64_t all_ps = gathering->all_ps;
    const int64_t *device_ps = gathering->device_ps;
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &ops);
    for (size_t g = 0; g < groups->count; g++) {
        const struct ids_group *group = &groups->at[g];
        const struct ids_op *op = &trace->ops[group->first->op];
        const struct ids_module *module = op->module == IDS_NONE ? NULL : &trace->modules[op->module];
        const char *place = ids_trace_text(trace, op->framework_name);
        char scope[IDS_SCOPE_BYTES];
        ids_scope_of(place, scope);
        const int64_t executions = (int64_t)(group->begun ? group->begun : group->count);
        const struct ids_op_cost *cost = gathering->costs ? &gathering->costs[group->number] : &none;
        struct ids_value cost_cells[IDS_COST_CELLS];
        ids_cost_cells(cost, communicates(op), cost_cells);
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, group->self_ps),
            all_ps ? ids_real_value(IDS_UNIT_RATIO, (double)group->self_ps / (double)all_ps)
                   : ids_no_value(IDS_UNIT_RATIO),
            ids_int_value(IDS_UNIT_COUNT, executions),
            ids_int_value(IDS_UNIT_TIME, group->total_ps / executions),
            ids_text_value(ids_trace_text(trace, op->name)),
            text_or_none(trace, op->category),
            module ? text_or_none(trace, module->name) : ids_no_value(IDS_UNIT_NONE),
            text_or_none(trace, op->framework_name),
            text_or_none(trace, op->source),
            ids_text_value(ids_class_name((enum ids_class)group->first->class)),
            ids_int_value(IDS_UNIT_TIME, group->total_ps),
            ids_int_value(IDS_UNIT_TIME, group->min_ps),
            ids_int_value(IDS_UNIT_TIME, group->max_ps),
            known(IDS_UNIT_COUNT, op->flops),
            known(IDS_UNIT_BYTES, op->bytes_accessed),
            text_or_none(trace, op->deduplicated_name),
            program_of(module, report),
            text_or_none(trace, op->long_name),
            text_or_none(trace, op->shape),
            fingerprint_of(op, report),
            word_or_none(scope),
            word_or_none(ids_op_pass(trace, op)),
            ids_text_value(ids_op_family(trace, op, ids_class_name((enum ids_class)group->first->class))),
            ids_text_value(ids_cost_source_name((enum ids_cost_source)op->cost_source)),
            count_or_none(cost->runs),
            count_or_none(cost->untimed.runs),
            known(IDS_UNIT_BYTES, op->memory_bytes),
            count_or_none((uint64_t)communicates(op)),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)group->count),
            device_ps && device_ps[group->number] ? ids_int_value(IDS_UNIT_TIME, device_ps[group->number])
                                                  : ids_no_value(IDS_UNIT_TIME),
            ids_text_value(ids_op_known_name((enum ids_op_known)op->known_by)),
            IDS_COST_VALUES(cost_cells),
        };
        IDS_ROW(report, table, columns, row);
    }
}

static void list_step_row(struct ids_report *report, struct ids_table *table, struct ids_value op,
                          struct ids_step_sums *sums, size_t number, int with_vector, int is_begun) {
    const struct ids_step_sum *row = ids_step_sum_of(sums, number);
    if (!row->total_ps) return;
    struct ids_value cells[] = {
        op,
        ids_int_value(IDS_UNIT_TIME, row->total_ps),
        row->count ? ids_real_value(IDS_UNIT_NUMBER, ids_step_sum_squares(row)) : ids_no_value(IDS_UNIT_NUMBER),
        ids_text_value(with_vector ? ids_step_sum_text(sums, row, report) : NULL),
        ids_int_value(IDS_UNIT_COUNT, is_begun ? row->begun : row->events),
    };
    IDS_ROW(report, table, step_columns, cells);
}

static void list_steps(struct ids_report *report, const struct ids_groups *groups, struct steps *steps) {
    struct ids_table *table = ids_report_table(report, &op_steps);
    for (size_t g = 0; g < groups->count; g++)
        list_step_row(report, table, ids_int_value(IDS_UNIT_COUNT, (int64_t)g), &steps->by_step, groups->at[g].number,
                      g<VECTORS, groups->at[g].begun> 0);
    list_step_row(report, table, ids_no_value(IDS_UNIT_COUNT), &steps->without_op, 0, 1, 0);
}

static void list_categories(const struct ids_analysis *analysis, struct ids_report *report,
                            const struct ids_groups *groups, int64_t all_ps) {
    struct ids_table *table = ids_report_table(report, &categories);
    for (size_t g = 0; g < groups->count; g++) {
        const struct ids_group *group = &groups->at[g];
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, group->self_ps),
            all_ps ? ids_real_value(IDS_UNIT_RATIO, (double)group->self_ps / (double)all_ps)
                   : ids_no_value(IDS_UNIT_RATIO),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)group->count),
            ids_text_value(category_of(analysis->trace, group->first)),
        };
        IDS_ROW(report, table, category_columns, row);
    }
}

/* As the ledger places an op. */
static uint32_t place_of(const struct ids_trace *trace, const struct ids_op *op) {
    uint32_t text = op->framework_name ? op->framework_name : op->source;
    return !text && op->module != IDS_NONE ? trace->modules[op->module].name : text;
}

/* The ledger has one entry for all ops of a name and place (a function that was compiled for three shapes): it does
 * not tell their times apart. */
static int forget_shared(const struct ids_trace *trace, struct gathering *gathering) {
    const struct ids_groups *groups = &gathering->by_op;
    struct ids_keymap first = {0}; /* name and place -> the number of the first group that has them, + 1 */
    int failed = 0;
    for (size_t g = 0; g < groups->count && !failed; g++) {
        size_t number = groups->at[g].number;
        const struct ids_op *op = &trace->ops[groups->at[g].first->op];
        uint64_t *place = ids_keymap_at(&first, ids_key_of(op->name, place_of(trace, op)));
        failed = !place;
        if (failed) break;
        if (*place) gathering->device_ps[*place - 1] = gathering->device_ps[number] = 0;
        if (!*place) *place = number + 1;
    }
    ids_keymap_done(&first);
    return failed ? -1 : 0;
}

/* Where ops run beside each other, their times are those of threads or streams: what the device was busy for is less.
 * Both are said, and the ledger knows how much of the latter each op has. */
static int take_device_time(const struct ids_analysis *analysis, struct ids_report *report,
                            struct gathering *gathering) {
    const struct ids_ledger *ledger = &analysis->ledger;
    int64_t busy_ps = 0;
    char ops_time[IDS_VALUE_ROOM], device_time[IDS_VALUE_ROOM];
    for (size_t b = 0; b < analysis->busy_count; b++) ids_sum(&busy_ps, ids_time_in(&analysis->busy[b], IDS_IS_BUSY));
    if (!gathering->by_op.count || (double)gathering->all_ps < (double)busy_ps * BESIDE) return 0;
    gathering->device_ps = calloc(gathering->by_op.count, sizeof *gathering->device_ps);
    if (!gathering->device_ps) return -1;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        uint32_t group = entry->op ? gathering->of_op[entry->op - 1].op : 0; /* 0: the op did nothing that counts */
        if (group) ids_sum(&gathering->device_ps[group - 1], entry->in_window_ps);
    }
    if (forget_shared(analysis->trace, gathering)) return -1;
    ids_report_property(
        report, "ops_beside",
        ids_text_value(ids_report_text(
            report, "ops run beside each other: their times sum to %s, in %s of devices",
            ids_value_format(ids_int_value(IDS_UNIT_TIME, gathering->all_ps), ops_time, sizeof ops_time),
            ids_value_format(ids_int_value(IDS_UNIT_TIME, busy_ps), device_time, sizeof device_time))));
    return 0;
}

static int ops_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct gathering *gathering = analysis->sums;
    struct ids_groups *by_op = &gathering->by_op, *by_category = &gathering->by_category;
    if (gather_costs(analysis, gathering)) return ids_no_memory(err);
    ids_groups_sort_by_self(by_op);
    ids_groups_sort_by_self(by_category);
    if (by_op->count) {
        ids_report_metric(report, "ops.count", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)by_op->count));
        if (gathering->all_ps)
            ids_report_metric(report, "ops.top_share", NULL,
                              ids_real_value(IDS_UNIT_RATIO, (double)by_op->at[0].self_ps / (double)gathering->all_ps));
    } else {
        const char *why = analysis->busy_count ? "no device event of this trace carries an HLO op, or is known to be "
                                                 "launched by an op of a framework"
                                               : ids_no_activity_reason(analysis);
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), why);
    }
    if (take_device_time(analysis, report, gathering)) return ids_no_memory(err);
    list(analysis, report, gathering);
    if (analysis->steps.count) list_steps(report, by_op, gathering->steps);
    list_categories(analysis, report, by_category, gathering->all_ps);
    return ids_computations_list(report) ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {&ids_computations, &ops, &categories, &op_steps};

const struct ids_analyzer ids_ops_analyzer = {
    .name = "ops",
    .title = "ops",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct gathering),
                  .begin = ops_begin,
                  .device = sum_up_device,
                  .beside = sum_up_steps,
                  .done = ops_done,
                  .is_longest = 1},
    .run = ops_run,
};
