/* kernels.c - GPU kernels by name, op and launch shape. */
#include "lib/analysis/context.h"
#include "lib/analysis/groups.h"
#include "lib/analysis/step_sums.h"
#include "lib/base/saturate.h"

#include <stdlib.h>

static const struct ids_metric_def metrics[] = {
    {"occupancy.median", "occupancy", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Theoretical occupancy that half of the kernel time reaches or exceeds (time-weighted median), over the kernels "
     "whose occupancy the trace holds. 0 % is unknown.",
     "SELECT max(occupancy) FROM (SELECT occupancy, sum(dur_ps) OVER (ORDER BY occupancy DESC, id ROWS UNBOUNDED "
     "PRECEDING) AS reached_ps, sum(dur_ps) OVER () AS total_ps FROM kernels WHERE run = :run AND is_active = 1 AND "
     "kind = 'kernel' AND occupancy > 0) WHERE reached_ps >= total_ps - reached_ps"},
};

static const struct ids_column_def columns[] = {
    {"total", "total", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"mean", "mean", IDS_UNIT_TIME, 0},
    {"min", "min", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"max", "max", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"occupancy", "occupancy", IDS_UNIT_RATIO, 0},
    {"registers", "regs", IDS_UNIT_COUNT, 0},
    {"name", "kernel", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"op", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"grid", "grid", IDS_UNIT_NONE, IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"block", "block", IDS_UNIT_NONE, IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"static_shared", "static shared", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"dynamic_shared", "dynamic shared", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
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
    "count_in_steps the executions that do, and squares the sum of the squares of the steps' sums in s².",
    IDS_TABLE_TOP,
};

static int gather(const struct ids_analysis *analysis, struct ids_groups *groups, struct ids_step_sums *by_step,
                  int64_t *ret_total_ps) {
    const struct ids_trace *trace = analysis->trace;
    *ret_total_ps = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind != IDS_KIND_KERNEL) continue;
            uint64_t op =
                event->op == IDS_NONE ? 0 : ids_key_of(trace->ops[event->op].name, trace->ops[event->op].module);
            uint64_t key = ids_key_of(ids_key_of(trace->names[event->name].text, op), event->shape);
            int64_t duration_ps = ids_end_in_window(busy, event) - event->start_ps;
            if (ids_groups_add(groups, key, event, duration_ps)) return -1;
            if (ids_step_sums_add(by_step, groups->last, event, duration_ps)) return -1;
            ids_sum(ret_total_ps, duration_ps);
        }
    }
    return 0;
}

/* A program of a hundred thousand kernels of different names is none; a damaged file may have a million. */
enum { ROWS_LIMIT = 50000 };

static struct ids_value triple(struct ids_report *report, const int64_t values[3]) {
    if (values[0] < 0) return ids_no_value(IDS_UNIT_NONE);
    return ids_text_value(
        ids_report_text(report, "%lld,%lld,%lld", (long long)values[0], (long long)values[1], (long long)values[2]));
}

static struct ids_value known(enum ids_unit unit, int64_t value) {
    return value < 0 ? ids_no_value(unit) : ids_int_value(unit, value);
}

static void list(const struct ids_analysis *analysis, struct ids_report *report, const struct ids_groups *groups,
                 struct ids_step_sums *by_step, int64_t total_ps) {
    static const struct ids_shape unknown = {-1, -1, -1, {-1, -1, -1}, {-1, -1, -1}, -1, 0, 0};
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &kernels);
    if (groups->count > ROWS_LIMIT)
        ids_report_diag(report, IDS_NOTE, "kernels.rows",
                        "kernels beyond the 50,000 with most time have no row of their own", -1,
                        groups->count - ROWS_LIMIT);
    for (size_t g = 0; g < groups->count && g < ROWS_LIMIT; g++) {
        const struct ids_group *group = &groups->at[g];
        const struct ids_shape *shape =
            group->first->shape == IDS_NONE ? &unknown : &trace->shapes[group->first->shape];
        const struct ids_op *op = group->first->op == IDS_NONE ? NULL : &trace->ops[group->first->op];
        const struct ids_step_sum *in_steps = ids_step_sum_of(by_step, group->number);
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, group->total_ps),
            total_ps ? ids_real_value(IDS_UNIT_RATIO, (double)group->total_ps / (double)total_ps)
                     : ids_no_value(IDS_UNIT_RATIO),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)group->count),
            ids_int_value(IDS_UNIT_TIME, group->total_ps / (int64_t)group->count),
            ids_int_value(IDS_UNIT_TIME, group->min_ps),
            ids_int_value(IDS_UNIT_TIME, group->max_ps),
            shape->occupancy > 0 ? ids_real_value(IDS_UNIT_RATIO, shape->occupancy) : ids_no_value(IDS_UNIT_RATIO),
            known(IDS_UNIT_COUNT, shape->registers),
            ids_text_value(ids_trace_text(trace, trace->names[group->first->name].text)),
            ids_text_value(op ? ids_trace_text(trace, op->name) : NULL),
            ids_text_value(op && op->module != IDS_NONE ? ids_trace_text(trace, trace->modules[op->module].name)
                                                        : NULL),
            triple(report, shape->grid),
            triple(report, shape->block),
            known(IDS_UNIT_BYTES, shape->static_shared_bytes),
            known(IDS_UNIT_BYTES, shape->dynamic_shared_bytes),
            ids_text_value(ids_class_name((enum ids_class)group->first->class)),
            op && op->fingerprint
                ? ids_text_value(ids_report_text(report, "%016llx", (unsigned long long)op->fingerprint))
                : ids_no_value(IDS_UNIT_NONE),
            analysis->steps.count ? ids_int_value(IDS_UNIT_TIME, in_steps->total_ps) : ids_no_value(IDS_UNIT_TIME),
            in_steps->count ? ids_real_value(IDS_UNIT_NUMBER, ids_step_sum_squares(in_steps))
                            : ids_no_value(IDS_UNIT_NUMBER),
            analysis->steps.count ? ids_int_value(IDS_UNIT_COUNT, in_steps->events) : ids_no_value(IDS_UNIT_COUNT),
        };
        IDS_ROW(report, table, columns, row);
    }
}

struct weighted {
    double occupancy;
    int64_t total_ps;
};

static int higher(const void *a, const void *b) {
    double left = ((const struct weighted *)a)->occupancy, right = ((const struct weighted *)b)->occupancy;
    return (left < right) - (left > right);
}

static int occupancy(const struct ids_analysis *analysis, struct ids_report *report, const struct ids_groups *groups) {
    struct weighted *known_ones = calloc(groups->count + 1, sizeof *known_ones);
    if (!known_ones) return -1;
    size_t count = 0;
    int64_t total_ps = 0, sum_ps = 0;
    for (size_t g = 0; g < groups->count; g++) {
        const struct ids_group *group = &groups->at[g];
        if (group->first->shape == IDS_NONE || analysis->trace->shapes[group->first->shape].occupancy <= 0) continue;
        known_ones[count++] =
            (struct weighted){analysis->trace->shapes[group->first->shape].occupancy, group->total_ps};
        ids_sum(&total_ps, group->total_ps);
    }
    qsort(known_ones, count, sizeof *known_ones, higher);
    for (size_t i = 0; i < count; i++) {
        ids_sum(&sum_ps, known_ones[i].total_ps);
        if (sum_ps < total_ps - sum_ps) continue;
        ids_report_metric(report, "occupancy.median", NULL, ids_real_value(IDS_UNIT_RATIO, known_ones[i].occupancy));
        break;
    }
    if (!count)
        ids_report_no_data(report, "occupancy.median", IDS_UNIT_RATIO, NULL, "%s",
                           groups->count ? "no kernel of this trace has an occupancy" : "no GPU kernel in the window");
    free(known_ones);
    return 0;
}

static int kernels_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct ids_groups groups = {0};
    struct ids_step_sums by_step = ids_step_sums_of(analysis);
    int64_t total_ps;
    int failed = gather(analysis, &groups, &by_step, &total_ps);
    if (!failed) {
        ids_groups_sort_by_total(&groups);
        if (groups.count) list(analysis, report, &groups, &by_step, total_ps);
        failed = occupancy(analysis, report, &groups);
    }
    ids_groups_done(&groups);
    ids_step_sums_done(&by_step);
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
    .run = kernels_run,
};
