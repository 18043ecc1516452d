/* kernels.c - GPU kernels by name, op and launch shape. */
#include "lib/analysis/context.h"
#include "lib/analysis/groups.h"
#include "lib/analysis/step_sums.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/hardware.h"
#include "lib/model/matrix_units.h"

#include <stdlib.h>

#define KERNELS "FROM kernels WHERE run = :run AND is_active = 1 AND kind = 'kernel'"
#define COMPUTE KERNELS " AND class = 'compute'"
/* The largest value that half of the time of the kernels that have one reaches or exceeds. */
#define MEDIAN_OF(column)                                                                                        \
    "SELECT max(value) FROM (SELECT " column " AS value, sum(dur_ps) OVER (ORDER BY " column                     \
    " DESC, id ROWS UNBOUNDED PRECEDING) AS reached_ps, sum(dur_ps) OVER () AS total_ps " COMPUTE " AND " column \
    " > 0) WHERE reached_ps >= total_ps - reached_ps"
#define SHARE_OF_TIME(condition, of) \
    "SELECT total(CASE WHEN " condition " THEN dur_ps END) / nullif(total(dur_ps), 0) " of
#define OF_LAUNCHES(column) "SELECT sum(" column ") / count(*) FROM launches WHERE run = :run AND is_active = 1"

static const struct ids_metric_def metrics[] = {
    {"occupancy.median", "occupancy", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Theoretical occupancy that half of the kernel time reaches or exceeds (time-weighted median), over the kernels "
     "that compute and whose occupancy the trace holds or can be computed from their launch and the device; "
     "collectives are left out. 0 % is unknown.",
     MEDIAN_OF("occupancy")},
    {"occupancy.achieved_median", "achieved occupancy", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "The same of the occupancy that Kineto estimates from the size of the grid (\"est. achieved occupancy\"), and "
     "where it wrote 0 of a launch that is known, computed as it does.",
     MEDIAN_OF("achieved_occupancy")},
    {"kernels.tail_share", "tail of kernels", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of the time of the kernels that compute and whose waves of blocks are known which their last, partial wave "
     "leaves the device idle, were each wave as long: 1.25 waves are 2, of which 0.75 are idle. Of less than one wave "
     "idle is the share of the multiprocessors that get no block: 54 blocks on 108 leave half of them.",
     "SELECT total(CASE WHEN waves > 1 THEN dur_ps * (ceil(waves) - waves) / ceil(waves) WHEN waves * blocks_at_once < "
     "1 "
     "THEN dur_ps * (1 - waves * blocks_at_once) END) / nullif(total(dur_ps), 0) " COMPUTE " AND waves > 0"},
    {"kernels.matrix_share", "on matrix units", IDS_UNIT_RATIO, IDS_BETTER_NEITHER,
     "Share of the time of the GPU's kernels that compute which those have whose names say that they use Tensor Cores "
     "or MFMA. Names of compilers (Triton, XLA's fusions) do not tell.",
     SHARE_OF_TIME("matrix_units = 'used'", COMPUTE)},
    {"kernels.matrix_missed_share", "matrix units missed", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of that time in matrix products and convolutions that run on the ordinary units by their names, though the "
     "device has matrix units for their type: f16 and bf16 from compute capability 7.0, f32 (as TF32) from 8.0.",
     SHARE_OF_TIME("matrix_units = 'missed'", COMPUTE)},
    {"kernels.launch_mean", "launch call", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Mean time of the call that launched a kernel, over the GPU's kernels whose launch was recorded and which no CUDA "
     "graph launched.",
     OF_LAUNCHES("launch_dur_ps")},
    {"kernels.queue_mean", "launch to start", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Mean time from the end of that call until the kernel began; 0 where it began before. Long while the device is "
     "busy: the program is ahead of it.",
     OF_LAUNCHES("queue_ps")},
    {"kernels.graph_share", "in CUDA graphs", IDS_UNIT_RATIO, IDS_BETTER_NEITHER,
     "Share of the GPU's kernel time in kernels that a CUDA (or HIP) graph launched.",
     SHARE_OF_TIME("is_in_graph = 1", KERNELS)},
    {"kernels.graph_attributed_share", "attributed in graphs", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Share of the kernel time in CUDA graphs whose op is known.",
     SHARE_OF_TIME("op IS NOT NULL", KERNELS " AND is_in_graph = 1")},
};

static const struct ids_column_def columns[] = {
    {"total", "total", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"mean", "mean", IDS_UNIT_TIME, 0},
    {"min", "min", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"max", "max", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"occupancy", "occupancy", IDS_UNIT_RATIO, 0},
    {"limited_by", "limited by", IDS_UNIT_NONE, IDS_COLUMN_VERDICT},
    {"waves", "waves", IDS_UNIT_NUMBER, IDS_COLUMN_SPARE},
    {"registers", "regs", IDS_UNIT_COUNT, 0},
    {"name", "kernel", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"op", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"grid", "grid", IDS_UNIT_NONE, IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"block", "block", IDS_UNIT_NONE, IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"static_shared", "static shared", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"dynamic_shared", "dynamic shared", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"achieved_occupancy", "achieved", IDS_UNIT_RATIO, IDS_COLUMN_DETAIL},
    {"blocks_at_once", "blocks at once", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"tail_share", "tail", IDS_UNIT_RATIO, IDS_COLUMN_DETAIL},
    {"matrix_units", "matrix units", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"launch_mean", "launch call", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"queue_mean", "launch to start", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"in_graph", "in graphs", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"class", "class", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"fingerprint", "fingerprint", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"in_steps", "in steps", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"squares", "sum of squares", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"count_in_steps", "count in steps", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def kernels = {
    "kernels",
    "kernels",
    columns,
    IDS_COUNT_OF(columns),
    "One row per GPU kernel, op and launch shape, over all devices, most time first; copies and sets are not kernels. "
    "Share is of the kernel time. The fingerprint is the HLO op's; in_steps is the time that belongs to steps, "
    "count_in_steps the executions that do, and squares the sum of the squares of the steps' sums in s². Limited by: "
    "what keeps the occupancy from being higher, that is, more threads from being resident on a multiprocessor: "
    "registers, shared memory, block size, the number of blocks; grid where the occupancy is not known and there are "
    "fewer blocks than multiprocessors. waves: how often the grid fills the device; below 1 a part of it stays idle, "
    "whatever the occupancy. blocks_at_once is of a multiprocessor. tail_share is the share of the time that the last, "
    "partial wave of blocks leaves idle, of less than one wave the share of the multiprocessors without a block. "
    "matrix_units: used, not used, or missed (the device has them for that type), "
    "by the kernel's name.",
    IDS_TABLE_TOP,
};

/* How the kernels of a group were launched, by its number. */
struct launched {
    int64_t call_ps, queue_ps, graph_ps;
    int64_t count;
};

/* Kernels in a group have the same name, so what their names tell of them is equal too. */
struct kernel_sums {
    struct ids_groups groups;
    struct ids_step_sums by_step;
    struct launched *launched;
    size_t launched_count, launched_room;
    struct launched all;
    int64_t total_ps;
};

static int add_launch(struct kernel_sums *sums, const struct ids_event *event, int64_t duration_ps) {
    while (sums->launched_count <= sums->groups.last) {
        struct launched *fresh = IDS_PUSH(sums->launched, sums->launched_count, sums->launched_room);
        if (!fresh) return -1;
        *fresh = (struct launched){0};
    }
    struct launched *of = &sums->launched[sums->groups.last];
    if (event->in_graph) ids_sum(&of->graph_ps, duration_ps);
    if (!event->launch || event->in_graph) return 0;
    int64_t queue_ps = event->start_ps - event->launch->end_ps;
    ids_sum(&of->call_ps, event->launch->end_ps - event->launch->start_ps);
    ids_sum(&of->queue_ps, queue_ps > 0 ? queue_ps : 0);
    of->count++;
    return 0;
}

static int kernels_begin(const struct ids_analysis *analysis, void *sums_of, struct ids_error *err) {
    (void)err;
    struct kernel_sums *sums = sums_of;
    sums->by_step = ids_step_sums_of(analysis);
    return 0;
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums_of,
                         struct ids_error *err) {
    struct kernel_sums *sums = sums_of;
    const struct ids_trace *trace = analysis->trace;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->kind != IDS_KIND_KERNEL) continue;
        uint64_t op = event->op == IDS_NONE ? 0 : ids_key_of(trace->ops[event->op].name, trace->ops[event->op].module);
        uint64_t key = ids_key_of(ids_key_of(trace->names[event->name].text, op), event->shape);
        int64_t duration_ps = ids_end_in_window(busy, event) - event->start_ps;
        if (ids_groups_add(&sums->groups, key, event, duration_ps) || add_launch(sums, event, duration_ps) ||
            ids_step_sums_add(&sums->by_step, sums->groups.last, event, duration_ps))
            return ids_no_memory(err);
        ids_sum(&sums->total_ps, duration_ps);
    }
    return 0;
}

static void kernels_done(void *sums_of) {
    struct kernel_sums *sums = sums_of;
    ids_groups_done(&sums->groups);
    ids_step_sums_done(&sums->by_step);
    free(sums->launched);
}

static void sum_launches(struct kernel_sums *sums) {
    for (size_t g = 0; g < sums->launched_count; g++) {
        ids_sum(&sums->all.call_ps, sums->launched[g].call_ps);
        ids_sum(&sums->all.queue_ps, sums->launched[g].queue_ps);
        ids_sum(&sums->all.graph_ps, sums->launched[g].graph_ps);
        sums->all.count += sums->launched[g].count;
    }
}

/* A program of a hundred thousand kernels of different names is none; a damaged file may have a million. */
enum { ROWS_LIMIT = 20000 };

static struct ids_value triple(struct ids_report *report, const int64_t values[3]) {
    if (values[0] < 0) return ids_no_value(IDS_UNIT_NONE);
    return ids_text_value(
        ids_report_text(report, "%lld,%lld,%lld", (long long)values[0], (long long)values[1], (long long)values[2]));
}

static struct ids_value known(enum ids_unit unit, int64_t value) {
    return value < 0 ? ids_no_value(unit) : ids_int_value(unit, value);
}

static const struct ids_shape *shape_of(const struct ids_trace *trace, const struct ids_group *group) {
    static const struct ids_shape unknown = {.registers = -1,
                                             .static_shared_bytes = -1,
                                             .dynamic_shared_bytes = -1,
                                             .grid = {-1, -1, -1},
                                             .block = {-1, -1, -1},
                                             .occupancy = -1,
                                             .achieved = -1,
                                             .waves = -1};
    return group->first->shape == IDS_NONE ? &unknown : &trace->shapes[group->first->shape];
}

static struct ids_value positive(enum ids_unit unit, double value) {
    return value > 0 ? ids_real_value(unit, value) : ids_no_value(unit);
}

static struct ids_value mean_of(int64_t sum_ps, int64_t count) {
    return count ? ids_int_value(IDS_UNIT_TIME, sum_ps / count) : ids_no_value(IDS_UNIT_TIME);
}

static void put_row(const struct ids_analysis *analysis, struct ids_report *report, struct ids_table *table,
                    struct kernel_sums *sums, const struct ids_group *group) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_shape *shape = shape_of(trace, group);
    const struct launched *launched = &sums->launched[group->number];
    const struct ids_op *op = group->first->op == IDS_NONE ? NULL : &trace->ops[group->first->op];
    const struct ids_step_sum *in_steps = ids_step_sum_of(&sums->by_step, group->number);
    int computes = group->first->class == IDS_CLASS_COMPUTE; /* a collective's grid says nothing of its speed */
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_TIME, group->total_ps),
        sums->total_ps ? ids_real_value(IDS_UNIT_RATIO, (double)group->total_ps / (double)sums->total_ps)
                       : ids_no_value(IDS_UNIT_RATIO),
        ids_int_value(IDS_UNIT_COUNT, (int64_t)group->count),
        ids_int_value(IDS_UNIT_TIME, group->total_ps / (int64_t)group->count),
        ids_int_value(IDS_UNIT_TIME, group->min_ps),
        ids_int_value(IDS_UNIT_TIME, group->max_ps),
        positive(IDS_UNIT_RATIO, shape->occupancy),
        ids_text_value(computes ? ids_occupancy_limit_name((enum ids_occupancy_limit)shape->limit) : NULL),
        positive(IDS_UNIT_NUMBER, shape->waves),
        known(IDS_UNIT_COUNT, shape->registers),
        ids_text_value(ids_trace_text(trace, trace->names[group->first->name].text)),
        ids_text_value(op ? ids_trace_text(trace, op->name) : NULL),
        ids_text_value(op && op->module != IDS_NONE ? ids_trace_text(trace, trace->modules[op->module].name) : NULL),
        triple(report, shape->grid),
        triple(report, shape->block),
        known(IDS_UNIT_BYTES, shape->static_shared_bytes),
        known(IDS_UNIT_BYTES, shape->dynamic_shared_bytes),
        positive(IDS_UNIT_RATIO, shape->achieved),
        known(IDS_UNIT_COUNT, shape->blocks_at_once ? shape->blocks_at_once : -1),
        shape->waves > 0 ? ids_real_value(IDS_UNIT_RATIO, ids_tail_share(shape)) : ids_no_value(IDS_UNIT_RATIO),
        ids_text_value(ids_matrix_use_name(ids_matrix_use(trace, group->first))),
        mean_of(launched->call_ps, launched->count),
        mean_of(launched->queue_ps, launched->count),
        ids_int_value(IDS_UNIT_TIME, launched->graph_ps),
        ids_text_value(ids_class_name((enum ids_class)group->first->class)),
        op && op->fingerprint ? ids_text_value(ids_report_text(report, "%016llx", (unsigned long long)op->fingerprint))
                              : ids_no_value(IDS_UNIT_NONE),
        analysis->steps.count ? ids_int_value(IDS_UNIT_TIME, in_steps->total_ps) : ids_no_value(IDS_UNIT_TIME),
        in_steps->count ? ids_real_value(IDS_UNIT_NUMBER, ids_step_sum_squares(in_steps))
                        : ids_no_value(IDS_UNIT_NUMBER),
        analysis->steps.count ? ids_int_value(IDS_UNIT_COUNT, in_steps->events) : ids_no_value(IDS_UNIT_COUNT),
    };
    IDS_ROW(report, table, columns, row);
}

static void list(const struct ids_analysis *analysis, struct ids_report *report, struct kernel_sums *sums) {
    struct ids_table *table = ids_report_table(report, &kernels);
    const struct ids_groups *groups = &sums->groups;
    if (groups->count > ROWS_LIMIT)
        ids_report_diag(report, IDS_NOTE, "kernels.rows",
                        "kernels beyond the 20,000 with most time have no row of their own", -1,
                        groups->count - ROWS_LIMIT);
    for (size_t g = 0; g < groups->count && g < ROWS_LIMIT; g++) put_row(analysis, report, table, sums, &groups->at[g]);
}

struct weighted {
    double share;
    int64_t total_ps;
};

static int higher(const void *a, const void *b) {
    double left = ((const struct weighted *)a)->share, right = ((const struct weighted *)b)->share;
    return (left < right) - (left > right);
}

static double theoretical(const struct ids_shape *shape) {
    return shape->occupancy;
}
static double achieved(const struct ids_shape *shape) {
    return shape->achieved;
}

static int median(const struct ids_analysis *analysis, struct ids_report *report, const struct ids_groups *groups,
                  const char *metric, double (*share_of)(const struct ids_shape *shape), const char *what) {
    struct weighted *known_ones = calloc(groups->count + 1, sizeof *known_ones);
    if (!known_ones) return -1;
    size_t count = 0;
    int64_t total_ps = 0, sum_ps = 0;
    for (size_t g = 0; g < groups->count; g++) {
        const struct ids_group *group = &groups->at[g];
        double share = share_of(shape_of(analysis->trace, group));
        if (share <= 0 || group->first->class != IDS_CLASS_COMPUTE) continue;
        known_ones[count++] = (struct weighted){share, group->total_ps};
        ids_sum(&total_ps, group->total_ps);
    }
    qsort(known_ones, count, sizeof *known_ones, higher);
    for (size_t i = 0; i < count; i++) {
        ids_sum(&sum_ps, known_ones[i].total_ps);
        if (sum_ps < total_ps - sum_ps) continue;
        ids_report_metric(report, metric, NULL, ids_real_value(IDS_UNIT_RATIO, known_ones[i].share));
        break;
    }
    if (!count)
        ids_report_no_data(report, metric, IDS_UNIT_RATIO, NULL, "%s%s",
                           groups->count ? "no kernel of this trace has " : "no GPU kernel in the window",
                           groups->count ? what : "");
    free(known_ones);
    return 0;
}

/* Times of kernels with what their launches tell; doubles, as the statements' sums are. */
struct shares {
    double compute_ps, waves_ps, tail_ps, used_ps, missed_ps, attributed_ps;
};

static struct shares sum_shares(const struct ids_analysis *analysis, const struct kernel_sums *sums) {
    struct shares shares = {0};
    for (size_t g = 0; g < sums->groups.count; g++) {
        const struct ids_group *group = &sums->groups.at[g];
        const struct ids_shape *shape = shape_of(analysis->trace, group);
        double total_ps = (double)group->total_ps;
        if (group->first->op != IDS_NONE) shares.attributed_ps += (double)sums->launched[group->number].graph_ps;
        if (group->first->class != IDS_CLASS_COMPUTE) continue;
        enum ids_matrix_use use = ids_matrix_use(analysis->trace, group->first);
        shares.compute_ps += total_ps;
        if (use == IDS_MATRIX_USED) shares.used_ps += total_ps;
        if (use == IDS_MATRIX_MISSED) shares.missed_ps += total_ps;
        if (shape->waves <= 0) continue;
        shares.waves_ps += total_ps;
        shares.tail_ps += total_ps * ids_tail_share(shape);
    }
    return shares;
}

static void share(struct ids_report *report, const char *metric, double part_ps, double whole_ps, const char *why) {
    if (whole_ps > 0)
        ids_report_metric(report, metric, NULL, ids_real_value(IDS_UNIT_RATIO, part_ps / whole_ps));
    else
        ids_report_no_data(report, metric, IDS_UNIT_RATIO, NULL, "%s", why);
}

static void mean(struct ids_report *report, const char *metric, int64_t sum_ps, int64_t count) {
    if (count)
        ids_report_metric(report, metric, NULL, mean_of(sum_ps, count));
    else
        ids_report_no_data(report, metric, IDS_UNIT_TIME, NULL, "no launch of a GPU kernel was recorded");
}

static void put_metrics(const struct ids_analysis *analysis, struct ids_report *report,
                        const struct kernel_sums *sums) {
    static const char none[] = "no GPU kernel in the window";
    struct shares shares = sum_shares(analysis, sums);
    share(report, "kernels.tail_share", shares.tail_ps, shares.waves_ps,
          sums->groups.count ? "the waves of no kernel are known: registers, block and grid of a known device" : none);
    share(report, "kernels.matrix_share", shares.used_ps, shares.compute_ps, none);
    share(report, "kernels.matrix_missed_share", shares.missed_ps, shares.compute_ps, none);
    mean(report, "kernels.launch_mean", sums->all.call_ps, sums->all.count);
    mean(report, "kernels.queue_mean", sums->all.queue_ps, sums->all.count);
    share(report, "kernels.graph_share", (double)sums->all.graph_ps, (double)sums->total_ps, none);
    share(report, "kernels.graph_attributed_share", shares.attributed_ps, (double)sums->all.graph_ps,
          sums->groups.count ? "no kernel ran in a CUDA graph" : none);
}

static int kernels_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct kernel_sums *sums = analysis->sums;
    sum_launches(sums);
    ids_groups_sort_by_total(&sums->groups);
    if (sums->groups.count) list(analysis, report, sums);
    put_metrics(analysis, report, sums);
    int failed = median(analysis, report, &sums->groups, "occupancy.median", theoretical, "an occupancy") ||
                 median(analysis, report, &sums->groups, "occupancy.achieved_median", achieved,
                        "an estimate of the achieved occupancy (Kineto)");
    return failed ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {&kernels};

const struct ids_analyzer ids_kernels_analyzer = {
    .name = "kernels",
    .title = "kernels",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct kernel_sums),
                  .begin = kernels_begin,
                  .device = sum_up_device,
                  .done = kernels_done},
    .run = kernels_run,
};
