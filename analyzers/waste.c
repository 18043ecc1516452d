/* waste.c - what ops compute, move or wait for that need not be: copies of layouts, conversions, what is computed
 * again, collectives of what every device has, a softmax that goes through memory. */
#include "lib/model/waste.h"
#include "lib/analysis/context.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/report/alike_names.h"

#include <stdlib.h>

#define COPIED "(class = 'copy' AND direction = 'D2D' AND waste = 'layout')"
#define WASTED "(class IN ('compute', 'collective') OR waste = 'serial' OR " COPIED ")"
#define SHARE_OF(which)                                                                                           \
    "SELECT (SELECT coalesce(sum(self_ps), 0) FROM ops WHERE run = :run AND is_active = 1 AND is_beside = 0 AND " \
    "" which ") * 1.0 / (SELECT sum(self_ps) FROM activities WHERE run = :run AND is_active = 1 AND is_beside = 0)"

static const struct ids_metric_def metrics[] = {
    {"layout.share", "copies of layouts", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of all device time of ops that copy, transpose or reshape arrays inside device memory and do nothing else "
     "(hlo_category data formatting; fusions of nothing but such instructions; aten::contiguous, clone and copy_ of "
     "PyTorch, as kernels or as copies within the device), without those that are in a part that is computed again.",
     SHARE_OF("((waste = 'layout' AND class = 'compute') OR " COPIED ")")},
    {"waste.share", "only wasted", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of all device time of the rows of the table `waste`. What of it could be saved is less: a copy may be "
     "needed, and a softmax must be computed in a fused kernel too.",
     SHARE_OF("waste IS NOT NULL AND " WASTED)},
};

static const struct ids_column_def columns[] = {
    {"time", "time", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"per_step", "a step", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"saving", "saves up to", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"ops", "alike", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"waste", "waste", IDS_UNIT_NONE, 0},
    {"op", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"where", "in the program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"why", "why", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"bytes", "of each", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
};
static const struct ids_table_def waste = {
    "waste",
    "what only wastes",
    columns,
    IDS_COUNT_OF(columns),
    "Ops whose time is wasted, over all devices, most time first; ops that compute the same are one row (`alike`). An "
    "op has one kind, the first that holds. recomputed: jax.checkpoint and XLA's rematerialization compute it a second "
    "time. repeated: the program computes the same of the same operands elsewhere. replicated: a collective of what "
    "every device has already, or of groups of one device. gathered: an all-gather of which each device uses a slice. "
    "reduced: an all-reduce of which each device uses a slice, so that a reduce-scatter would do. layout: copies, "
    "transposes and reshapes that move data. convert: conversions of elements alone. padding: pads alone, or after a "
    "slice. wide: computed in float64, which one array or number brings in, beside larger arguments that are narrower. "
    "attention: a softmax between two batched products that goes through memory, with what scales and masks its "
    "scores. transposed: a fusion that computes and inside of it transposes an array of at least half of what it reads "
    "or writes, and 256 KiB, so that other elements are neighbours; on CPUs, which go through it element by element. "
    "serial: something asynchronous is waited for as soon as it is begun. `time` is self time, `per_step` of "
    "it what a step has on a device (without steps: the window). `saving` is the most that a step could win, where the "
    "program proves it: all of what is repeated, replicated or constant, of what is invariant all rounds but one, half "
    "of an all-reduce that could be a reduce-scatter. `why` is what shows it: what is moved, of what, and for whom. "
    "`bytes` has the result of one op: advice on what moves, converts or pads leaves out what has less than 1,024, as "
    "a loop's counter, which takes as long as any small op.",
    0,
};

static const struct ids_column_def split_columns[] = {
    {"time", "time", IDS_UNIT_TIME, 0},
    {"count", "kernels", IDS_UNIT_COUNT, 0},
    {"ops", "ops", IDS_UNIT_COUNT, 0},
    {"between", "behind them", IDS_UNIT_NONE, 0},
    {"op", "most", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"where", "in the program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def splits = {
    "splits",
    "why small kernels are apart",
    split_columns,
    IDS_COUNT_OF(split_columns),
    "Kernels below --small-kernel of ops that XLA could fuse by their nature (elementwise work, moves, reductions), by "
    "what the program has behind them: a collective, a custom call, a matrix product, a loop or branch, a reduction, "
    "several users, the result of the program or loop, an array of other size. nothing seen: the graph shows no "
    "reason, so that it was XLA's choice.",
    0,
};

enum { MOST_ROWS = 500 };

struct row {
    const struct ids_op *op; /* the one with most time */
    uint8_t places_differ;   /* 1: in numbers, for they are of one row */
    int64_t most_ps, time_ps, step_ps;
    int64_t count, ops;
};

struct gathering {
    const struct ids_analysis *analysis;
    struct own {
        int64_t time_ps, step_ps, count;
        int64_t small_ps, small_count; /* of kernels that are small */
    } * of_op;                         /* by trace->ops; NULL: none of them is known to waste, or to be apart */
    struct ids_keymap numbers;
    struct row *rows;
    size_t count, room;
    int64_t all_ps;    /* of all activity */
    int64_t moved_ps;  /* of layouts */
    int64_t wasted_ps; /* of all rows */
};

static int has_any(const struct ids_trace *trace) {
    for (size_t i = 0; i < trace->op_count; i++) {
        if (trace->ops[i].waste || trace->ops[i].split) return 1;
    }
    return 0;
}

/* Of all activity, as the categories have it: most programs waste nothing, and are not read for it once more. */
static int64_t all_time(const struct ids_report *report) {
    const struct ids_table *categories = ids_report_find_table(report, "op_categories");
    int self = ids_table_column(categories, "self");
    int64_t all_ps = 0;
    for (size_t row = 0; categories && row < categories->row_count; row++)
        ids_sum(&all_ps, ids_table_cell(categories, row, self)->i);
    return all_ps;
}

static void count_split(struct gathering *gathering, const struct ids_busy *busy, const struct ids_event *event) {
    if (ids_end_in_window(busy, event) - event->start_ps >= gathering->analysis->params.small_kernel_ps) return;
    struct own *own = &gathering->of_op[event->op];
    ids_sum(&own->small_ps, ids_own_in_window(busy, event));
    own->small_count++;
}

static int waste_begin(const struct ids_analysis *analysis, void *sums, struct ids_error *err) {
    struct gathering *gathering = sums;
    gathering->analysis = analysis;
    if (!has_any(analysis->trace)) return 0;
    gathering->of_op = calloc(analysis->trace->op_count, sizeof *gathering->of_op);
    return gathering->of_op ? 0 : ids_no_memory(err);
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err) {
    (void)err;
    struct gathering *gathering = sums;
    if (!gathering->of_op) return 0;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->op != IDS_NONE && analysis->trace->ops[event->op].split) count_split(gathering, busy, event);
        if (!ids_is_wasted(analysis->trace, event)) continue;
        struct own *own = &gathering->of_op[event->op];
        int64_t own_ps = ids_own_in_window(busy, event);
        ids_sum(&own->time_ps, own_ps);
        own->count++;
        if (ids_step_of_device_event(analysis, event)) ids_sum(&own->step_ps, own_ps);
    }
    return 0;
}

static void waste_done(void *sums) {
    struct gathering *gathering = sums;
    ids_keymap_done(&gathering->numbers);
    free(gathering->of_op);
    free(gathering->rows);
}

/* Ops of one kind that compute the same are one row, on all devices and hosts. So are ops of a framework at places that
 * differ in numbers only. */
static uint64_t key_of(const struct ids_trace *trace, const struct ids_op *op) {
    const struct ids_module *module = op->module == IDS_NONE ? NULL : &trace->modules[op->module];
    const char *path = ids_trace_text(trace, op->framework_name);
    uint64_t place =
        ids_key_of(module ? module->name : 0,
                   ids_key_of(op->name, op->framework ? ids_hash_without_numbers(path) : op->framework_name));
    return ids_key_of(op->fingerprint ? op->fingerprint : place, op->waste);
}

static int add_op(struct gathering *gathering, const struct ids_op *op, const struct own *own) {
    uint64_t *place = ids_keymap_at(&gathering->numbers, key_of(gathering->analysis->trace, op));
    if (!place) return -1;
    if (!*place) {
        struct row *fresh = IDS_PUSH(gathering->rows, gathering->count, gathering->room);
        if (!fresh) return -1;
        *place = gathering->count;
        *fresh = (struct row){.op = op};
    }
    struct row *row = &gathering->rows[*place - 1];
    row->places_differ |= op->framework && op->framework_name != row->op->framework_name;
    if (own->time_ps > row->most_ps) row->op = op, row->most_ps = own->time_ps;
    ids_sum(&row->time_ps, own->time_ps);
    ids_sum(&row->step_ps, own->step_ps);
    ids_sum(&gathering->wasted_ps, own->time_ps);
    if (op->waste == IDS_WASTE_LAYOUT) ids_sum(&gathering->moved_ps, own->time_ps);
    row->count += own->count;
    row->ops++;
    return 0;
}

static int most_first(const void *a, const void *b) {
    const struct row *left = a, *right = b;
    if (left->time_ps != right->time_ps) return left->time_ps < right->time_ps ? 1 : -1;
    return (left->op > right->op) - (left->op < right->op);
}

/* What of a step's time could be won by the program's own proof; missing where it proves nothing. */
static struct ids_value saving_of(const struct ids_op *op, int64_t step_ps) {
    int is_whole = op->waste == IDS_WASTE_REPEATED || op->waste == IDS_WASTE_CONSTANT ||
                   (op->waste == IDS_WASTE_REPLICATED && !op->waste_is_part);
    if (op->waste == IDS_WASTE_INVARIANT && op->waste_rounds)
        return ids_int_value(IDS_UNIT_TIME, step_ps - step_ps / op->waste_rounds);
    if (is_whole) return ids_int_value(IDS_UNIT_TIME, step_ps);
    return op->waste == IDS_WASTE_REDUCED ? ids_int_value(IDS_UNIT_TIME, step_ps / 2) : ids_no_value(IDS_UNIT_TIME);
}

static struct ids_value text_or_none(const struct ids_trace *trace, uint32_t text) {
    return ids_text_value(text ? ids_trace_text(trace, text) : NULL);
}

/* A * stands for the numbers in which the places differ. */
static struct ids_value place_of(struct ids_report *report, const struct ids_trace *trace, const struct row *row) {
    if (!row->places_differ) return text_or_none(trace, row->op->framework_name);
    return ids_text_value(ids_without_numbers(report, ids_trace_text(trace, row->op->framework_name)));
}

static void list(struct gathering *gathering, struct ids_report *report) {
    const struct ids_analysis *analysis = gathering->analysis;
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &waste);
    int64_t devices = ids_device_steps(analysis);
    if (gathering->count) qsort(gathering->rows, gathering->count, sizeof *gathering->rows, most_first);
    for (size_t i = 0; i < gathering->count && i < MOST_ROWS; i++) {
        const struct row *of = &gathering->rows[i];
        const struct ids_op *op = of->op;
        int64_t step_ps = (analysis->steps.count ? of->step_ps : of->time_ps) / devices;
        const struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, of->time_ps),
            ids_real_value(IDS_UNIT_RATIO, (double)of->time_ps / (double)gathering->all_ps),
            ids_int_value(IDS_UNIT_TIME, step_ps),
            saving_of(op, step_ps),
            ids_int_value(IDS_UNIT_COUNT, of->count),
            of->ops > 1 ? ids_int_value(IDS_UNIT_COUNT, of->ops) : ids_no_value(IDS_UNIT_COUNT),
            ids_text_value(ids_waste_name((enum ids_waste)op->waste)),
            ids_text_value(ids_trace_text(trace, op->name)),
            place_of(report, trace, of),
            text_or_none(trace, op->waste_why),
            op->result_bytes >= 0 ? ids_int_value(IDS_UNIT_BYTES, op->result_bytes) : ids_no_value(IDS_UNIT_BYTES),
            op->module == IDS_NONE ? ids_no_value(IDS_UNIT_NONE) : text_or_none(trace, trace->modules[op->module].name),
            text_or_none(trace, op->source),
        };
        IDS_ROW(report, table, columns, row);
    }
    if (gathering->count > MOST_ROWS) table->rows_left_out = (int64_t)(gathering->count - MOST_ROWS);
}

struct between {
    int64_t time_ps, count, ops, most_ps;
    const struct ids_op *most;
    enum ids_split split;
};

static int longest_first(const void *a, const void *b) {
    const struct between *left = a, *right = b;
    if (left->time_ps != right->time_ps) return left->time_ps < right->time_ps ? 1 : -1;
    return (left->split > right->split) - (left->split < right->split);
}

static void list_splits(const struct gathering *gathering, struct ids_report *report) {
    const struct ids_trace *trace = gathering->analysis->trace;
    struct between of[IDS_SPLIT_COUNT] = {{0}};
    for (int s = 0; s < IDS_SPLIT_COUNT; s++) of[s].split = (enum ids_split)s;
    for (size_t i = 0; i < trace->op_count; i++) {
        const struct own *own = &gathering->of_op[i];
        struct between *between = &of[trace->ops[i].split];
        if (!own->small_count) continue;
        ids_sum(&between->time_ps, own->small_ps);
        between->count += own->small_count;
        between->ops++;
        if (!between->most || own->small_ps > between->most_ps)
            between->most = &trace->ops[i], between->most_ps = own->small_ps;
    }
    qsort(of, IDS_SPLIT_COUNT, sizeof *of, longest_first);
    for (int s = 0; s < IDS_SPLIT_COUNT; s++) {
        if (!of[s].count) continue;
        const struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, of[s].time_ps),
            ids_int_value(IDS_UNIT_COUNT, of[s].count),
            ids_int_value(IDS_UNIT_COUNT, of[s].ops),
            ids_text_value(ids_split_name(of[s].split)),
            ids_text_value(ids_trace_text(trace, of[s].most->name)),
            text_or_none(trace, of[s].most->framework_name),
        };
        IDS_ROW(report, ids_report_table(report, &splits), split_columns, row);
    }
}

static int waste_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct gathering *gathering = analysis->sums;
    const struct ids_trace *trace = analysis->trace;
    gathering->all_ps = all_time(report);
    for (size_t i = 0; i < trace->op_count && gathering->of_op; i++) {
        if (gathering->of_op[i].time_ps && add_op(gathering, &trace->ops[i], &gathering->of_op[i]))
            return ids_no_memory(err);
    }
    if (gathering->all_ps && trace->op_count) {
        list(gathering, report);
        if (gathering->of_op) list_splits(gathering, report);
        double all = (double)gathering->all_ps;
        ids_report_metric(report, "layout.share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, (double)gathering->moved_ps / all));
        ids_report_metric(report, "waste.share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, (double)gathering->wasted_ps / all));
        return 0;
    }
    ids_report_table(report, &waste);
    ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics),
                        analysis->busy_count ? "no device event of this trace carries an HLO op, or is known to be "
                                               "launched by an op of a framework"
                                             : ids_no_activity_reason(analysis));
    return 0;
}

static const struct ids_table_def *const tables[] = {&waste, &splits};

const struct ids_analyzer ids_waste_analyzer = {
    .name = "waste",
    .title = "what only wastes",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct gathering), .begin = waste_begin, .device = sum_up_device, .done = waste_done},
    .run = waste_run,
};
