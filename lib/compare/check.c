#include "lib/compare/check.h"

#include "lib/base/counted.h"
#include "lib/base/vec.h"
#include "lib/report/gone_ids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ids_check_verdict_name(enum ids_check_verdict verdict) {
    static const char *const names[] = {"held", "broken", "no_data"};
    return names[verdict];
}

static const struct ids_column_def columns[] = {
    {"verdict", "", IDS_UNIT_NONE, 0},      {"id", "figure", IDS_UNIT_NONE, 0},
    {"run", "run", IDS_UNIT_NONE, 0},       {"unit", "unit", IDS_UNIT_NONE, 0},
    {"value", "value", IDS_UNIT_NUMBER, 0}, {"bound", "bound", IDS_UNIT_NUMBER, 0},
    {"limit", "limit", IDS_UNIT_NONE, 0},   {"note", "note", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def checks_def = {
    "checks",
    "checks",
    columns,
    (int)(sizeof columns / sizeof *columns),
    "One row per limit and run: held, broken or no_data; values in SI units.",
    0};
const struct ids_table_def *const ids_check_tables[] = {&checks_def};
const int ids_check_table_count = 1;

/* ---- figures of some of the steps ---- */

static int smaller(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The figure out of the durations of the steps, by the definitions of the analyzer of steps. */
static double of_durations(const char *id, double *durations, size_t count) {
    double mean = ids_mean(durations, count), squares = 0;
    for (size_t i = 0; i < count; i++) squares += (durations[i] - mean) * (durations[i] - mean);
    qsort(durations, count, sizeof *durations, smaller);
    if (!strcmp(id, "mean")) return mean;
    if (!strcmp(id, "count")) return (double)count;
    if (!strcmp(id, "median"))
        return count % 2 ? durations[count / 2] : (durations[count / 2 - 1] + durations[count / 2]) / 2;
    if (!strcmp(id, "p95")) return durations[(count * 95 + 99) / 100 - 1];
    if (!strcmp(id, "std")) return count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
    return NAN;
}

/* Steps `after` on, `over` of them. Returns NULL and the figure, or why there is none. */
static const char *of_some_steps(const struct ids_side_run *run, const struct ids_limit *limit,
                                 struct ids_report *texts, double *ret_value) {
    const char *id = limit->metric->id + strlen("steps.");
    size_t first = (size_t)limit->after, rows = run->steps ? run->steps->row_count : 0;
    size_t count = limit->over ? (size_t)limit->over : rows > first ? rows - first : 0;
    if (!run->steps) return "no steps in this run";
    if (!count || first > rows || count > rows - first)
        return ids_report_text(texts, "the run has %s: too few for %zu after %zu", IDS_COUNTED(rows, "step"), count,
                               first);
    const char *named[] = {id, NULL};
    int of_parts = ids_table_column(run->steps, id) >= 0 && strcmp(id, "step") != 0;
    if (!of_parts) named[0] = "duration";
    double *values = calloc(count, sizeof *values);
    if (!values) {
        texts->out_of_memory = 1;
        return "out of memory";
    }
    for (size_t i = 0; i < count; i++) values[i] = ids_step_columns(run->steps, first + i, named);
    *ret_value = of_parts ? ids_mean(values, count) : of_durations(id, values, count);
    free(values);
    return isnan(*ret_value) ? "this figure is not known of some of the steps" : NULL;
}

static const char *value_of(const struct ids_side_run *run, const struct ids_limit *limit, struct ids_report *texts,
                            double *ret_value) {
    if (limit->over || limit->after) return of_some_steps(run, limit, texts, ret_value);
    if (ids_run_metric(run, limit->metric->id, ret_value)) return NULL;
    const struct ids_metric *metric = ids_report_find(run->report, limit->metric->id, NULL);
    return metric && metric->reason ? metric->reason : "not measured";
}

/* ---- limits ---- */

/* Values are held to limits as they are written: a mean of 149999999999.7 ps is below 150 ms. */
static int holds(enum ids_limit_kind kind, double value, double bound) {
    switch (kind) {
    case IDS_LIMIT_BELOW:
        return value < bound;
    case IDS_LIMIT_AT_MOST:
        return value <= bound;
    case IDS_LIMIT_ABOVE:
        return value > bound;
    case IDS_LIMIT_AT_LEAST:
        return value >= bound;
    case IDS_LIMIT_EQUAL:
        return value == bound;
    case IDS_LIMIT_BASELINE:
        break;
    }
    return 0;
}

static struct ids_check_row *add(struct ids_check *check, const struct ids_limit *limit, const char *run) {
    struct ids_check_row *row = IDS_PUSH(check->at, check->count, check->room);
    if (row) *row = (struct ids_check_row){.limit = limit, .run = ids_report_text(&check->report, "%s", run)};
    return row;
}

static int check_run(struct ids_check *check, const struct ids_side_run *run, const struct ids_limit *limit) {
    struct ids_check_row *row = add(check, limit, run->name);
    if (!row) return -1;
    row->bound = limit->value;
    const char *why = value_of(run, limit, &check->report, &row->value);
    row->has_value = !why;
    row->note = why;
    row->verdict = why                                          ? IDS_CHECK_NO_DATA
                   : holds(limit->kind, row->value, row->bound) ? IDS_CHECK_HELD
                                                                : IDS_CHECK_BROKEN;
    return 0;
}

static double figure_of_run(const struct ids_side_run *run, const void *what) {
    double value;
    return ids_run_metric(run, what, &value) ? value : NAN;
}

/* The spread from run to run, where there are enough of them. */
static int spread(const struct ids_side *a, const struct ids_side *b, const char *id,
                  struct ids_interval *ret_interval) {
    struct ids_numbers left = {0}, right = {0};
    int failed = a->by_run && (ids_side_numbers(a, NULL, figure_of_run, id, &left) ||
                               ids_side_numbers(b, NULL, figure_of_run, id, &right));
    *ret_interval = ids_interval_of(ids_numbers_sample(&left), ids_numbers_sample(&right), IDS_CONFIDENCE);
    free(left.at);
    free(right.at);
    return failed || ret_interval->out_of_memory;
}

static const char *value_text(struct ids_report *texts, enum ids_unit unit, double value) {
    char buffer[IDS_VALUE_ROOM];
    int real = unit == IDS_UNIT_RATIO || unit == IDS_UNIT_RATE || unit == IDS_UNIT_NUMBER;
    ids_value_format(real ? ids_real_value(unit, value) : ids_int_value(unit, (int64_t)llround(value)), buffer,
                     sizeof buffer);
    return ids_report_text(texts, "%s", buffer);
}

/* Why a baseline has no such figure: it may be older than the figure. */
static const char *why_not_there(struct ids_report *texts, const struct ids_side *baseline, const char *id) {
    const struct ids_report *saved = baseline->runs[0].report;
    for (size_t i = 0; i < saved->metric_count; i++) {
        if (ids_gone_id_is_replaced_by(saved->metrics[i].id, id))
            return ids_report_text(texts, "the baseline has '%s', which '%s' replaced: save the baseline again",
                                   saved->metrics[i].id, id);
    }
    return "the baseline has no such figure";
}

static int check_baseline(struct ids_check *check, const struct ids_side *side, const struct ids_side *baseline,
                          const struct ids_limit *limit) {
    const struct ids_metric_def *metric = limit->metric;
    struct ids_check_row *row = add(check, limit, side->label);
    struct ids_interval interval;
    double before = 0;
    if (!row) return -1;
    row->verdict = IDS_CHECK_NO_DATA;
    row->has_value = ids_side_metric(side, metric->id, &row->value);
    if (!baseline) {
        row->note = "there is no baseline: give one with --baseline";
        return 0;
    }
    if (!row->has_value || !ids_side_metric(baseline, metric->id, &before)) {
        const char *why = ids_side_reason(row->has_value ? baseline : side, metric->id);
        row->note = why ? why : row->has_value ? why_not_there(&check->report, baseline, metric->id) : "not measured";
        return 0;
    }
    int sign = metric->better == IDS_BETTER_HIGHER ? -1 : 1; /* of what is worse */
    /* Of a share that should be low (idle time) the other side counts too: 0.04 % and 0.05 % are the same. */
    double base = fabs(before);
    if (metric->unit == IDS_UNIT_RATIO && sign > 0) base = fmax(base, 1 - base);
    row->bound = before + sign * limit->value * base;
    double worse = sign * (row->value - before);
    if (spread(baseline, side, metric->id, &interval)) return -1;
    int sure = !interval.known || (sign > 0 ? interval.low > 0 : interval.high < 0);
    int beyond = worse > limit->value * base;
    row->verdict = beyond && sure ? IDS_CHECK_BROKEN : IDS_CHECK_HELD;
    row->note = ids_report_text(&check->report, "baseline %s%s", value_text(&check->report, metric->unit, before),
                                beyond && !sure ? "; the spread of the runs holds no difference too" : "");
    return 0;
}

/* ---- */

static struct ids_value si(enum ids_unit unit, int known, double value) {
    if (!known) return ids_no_value(IDS_UNIT_NUMBER);
    return ids_real_value(IDS_UNIT_NUMBER, unit == IDS_UNIT_TIME ? value * 1e-12 : value);
}

static void fill_report(struct ids_check *check) {
    struct ids_report *report = &check->report;
    ids_report_property(report, "verdict", ids_text_value(check->broken || check->no_data ? "broken" : "held"));
    ids_report_property(report, "checks", ids_int_value(IDS_UNIT_COUNT, (int64_t)check->count));
    ids_report_property(report, "broken", ids_int_value(IDS_UNIT_COUNT, (int64_t)check->broken));
    ids_report_property(report, "no_data", ids_int_value(IDS_UNIT_COUNT, (int64_t)check->no_data));
    struct ids_table *table = ids_report_table(report, &checks_def);
    for (size_t i = 0; i < check->count; i++) {
        const struct ids_check_row *row = &check->at[i];
        const struct ids_metric_def *metric = row->limit->metric;
        struct ids_value cells[] = {
            ids_text_value(ids_check_verdict_name(row->verdict)),
            ids_text_value(metric->id),
            ids_text_value(row->run),
            ids_text_value(ids_unit_name(metric->unit)),
            si(metric->unit, row->has_value, row->value),
            si(metric->unit, row->limit->kind != IDS_LIMIT_BASELINE || row->verdict != IDS_CHECK_NO_DATA, row->bound),
            ids_text_value(row->limit->text),
            ids_text_value(row->note),
        };
        IDS_ROW(report, table, columns, cells);
    }
}

int ids_check_make(const struct ids_side *side, const struct ids_side *baseline, const struct ids_budget *budget,
                   struct ids_check *ret_check, struct ids_error *err) {
    struct ids_check *check = ret_check;
    int failed = 0;
    *check = (struct ids_check){0};
    ids_report_init(&check->report);
    for (size_t l = 0; l < budget->count && !failed; l++) {
        const struct ids_limit *limit = &budget->at[l];
        if (limit->kind == IDS_LIMIT_BASELINE) {
            failed = check_baseline(check, side, baseline, limit);
            continue;
        }
        for (size_t i = 0; i < side->run_count && !failed; i++) failed = check_run(check, &side->runs[i], limit);
    }
    for (size_t i = 0; i < check->count; i++) {
        check->broken += check->at[i].verdict == IDS_CHECK_BROKEN;
        check->no_data += check->at[i].verdict == IDS_CHECK_NO_DATA;
    }
    if (!failed) fill_report(check);
    if (!failed && !check->report.out_of_memory) return 0;
    ids_check_done(check);
    return ids_no_memory(err);
}

void ids_check_done(struct ids_check *check) {
    free(check->at);
    ids_report_done(&check->report);
    *check = (struct ids_check){0};
}
