#include "lib/compare/trend.h"

#include "lib/base/vec.h"
#include "lib/compare/items.h"

#include <math.h>
#include <stdlib.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

enum { OPS_LOOKED_AT = 64 };

const char *ids_trend_verdict_name(enum ids_trend_verdict verdict) {
    static const char *const names[] = {"unknown", "steady", "grows", "falls"};
    return names[verdict];
}

static const struct ids_column_def value_columns[] = {
    {"run", "run", IDS_UNIT_COUNT, 0},  {"name", "name", IDS_UNIT_NONE, 0}, {"x", "x", IDS_UNIT_NUMBER, 0},
    {"id", "figure", IDS_UNIT_NONE, 0}, {"unit", "unit", IDS_UNIT_NONE, 0}, {"value", "value", IDS_UNIT_NUMBER, 0},
};
static const struct ids_table_def values_def = {
    "values",
    "figures by run",
    value_columns,
    COUNT_OF(value_columns),
    "One row per run and figure, in SI units; x is the step of training that "
    "the run's path names, else its place in the series.",
    0};

static const struct ids_column_def line_columns[] = {
    {"id", "figure", IDS_UNIT_NONE, 0},       {"title", "title", IDS_UNIT_NONE, 0},
    {"unit", "unit", IDS_UNIT_NONE, 0},       {"first", "first", IDS_UNIT_NUMBER, 0},
    {"last", "last", IDS_UNIT_NUMBER, 0},     {"slope", "slope", IDS_UNIT_NUMBER, 0},
    {"low", "at least", IDS_UNIT_NUMBER, 0},  {"high", "at most", IDS_UNIT_NUMBER, 0},
    {"verdict", "verdict", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def lines_def = {
    "trend",
    "trend",
    line_columns,
    COUNT_OF(line_columns),
    "One row per figure, and per op whose time changes with x: median slope a unit "
    "of x in SI units, its interval, and whether it grows, falls or is steady.",
    0};

const struct ids_table_def *const ids_trend_tables[] = {&ids_findings_table, &values_def, &lines_def};
const int ids_trend_table_count = COUNT_OF(ids_trend_tables);

/* A change over the whole series that is less than this part of the first value is none. */
#define LEAST_CHANGE 0.01

/* Steady is what cannot have changed by more than the least change, however the runs vary. Of a share that is the part
 * of the larger side, as in a comparison of two. */
static enum ids_trend_verdict verdict_of(const struct ids_trend *trend, const struct ids_trend_line *line) {
    double span = trend->x[trend->side->run_count - 1] - trend->x[0], first = fabs(line->first);
    double least = LEAST_CHANGE * (line->unit == IDS_UNIT_RATIO ? fmax(first, 1 - first) : first);
    double whole = line->slope.slope * span, low = line->slope.low * span, high = line->slope.high * span;
    if ((low > 0 || high < 0) && fabs(whole) >= least) return whole > 0 ? IDS_TREND_GROWS : IDS_TREND_FALLS;
    return low >= -least && high <= least ? IDS_TREND_STEADY : IDS_TREND_UNKNOWN;
}

static int add_line(struct ids_trend *trend, const struct ids_difference *figure, const double *values,
                    double confidence) {
    size_t count = trend->side->run_count;
    struct ids_trend_line line = {
        .id = figure->id, .title = figure->title, .unit = figure->unit, .better = figure->better};
    line.first = values[0];
    line.last = values[count - 1];
    line.slope = ids_slope_of(trend->x, values, count, confidence);
    if (line.slope.out_of_memory) return -1;
    if (line.slope.known) line.verdict = verdict_of(trend, &line);
    struct ids_trend_line *place = IDS_PUSH(trend->lines, trend->line_count, trend->line_room);
    if (place) *place = line;
    return place ? 0 : -1;
}

static int add_figures(struct ids_trend *trend) {
    size_t runs = trend->side->run_count;
    double *values = calloc(runs, sizeof *values);
    int failed = !values;
    for (size_t i = 0; i < runs && !failed; i++)
        trend->figure_count = ids_headline_of_run(trend->side, i, trend->values[i]);
    for (size_t f = 0; f < trend->figure_count && !failed; f++) {
        int known = 1;
        for (size_t i = 0; i < runs; i++) {
            values[i] = trend->values[i][f].a;
            known &= trend->values[i][f].has_a;
        }
        if (known) failed = add_line(trend, &trend->values[0][f], values, IDS_CONFIDENCE);
    }
    free(values);
    return failed;
}

/* Ops whose time a step changes over the series, of those that take the most. */
static int add_ops(struct ids_trend *trend, struct ids_error *err) {
    struct ids_items items;
    int code = ids_items_make(trend->side, IDS_ITEM_OPS, &trend->report, &items, err);
    if (code) return code;
    /* Of all ops together one in a hundred may seem to change by chance, and not of each. */
    size_t looked_at = items.count < OPS_LOOKED_AT ? items.count : OPS_LOOKED_AT;
    double confidence = 1 - (1 - IDS_CONFIDENCE) / (double)(looked_at ? looked_at : 1);
    for (size_t i = 0; i < looked_at && !code; i++) {
        const struct ids_item *item = &items.at[i];
        if (!item->values || item->value_count != trend->side->run_count) continue;
        struct ids_difference figure = {.id = "op",
                                        .title = ids_report_text(&trend->report, "%s (%s)", item->name, item->module),
                                        .unit = IDS_UNIT_TIME,
                                        .better = IDS_BETTER_LOWER};
        if (add_line(trend, &figure, item->values, confidence)) code = ids_no_memory(err);
        if (!code && trend->lines[trend->line_count - 1].verdict < IDS_TREND_GROWS) trend->line_count--;
    }
    ids_items_done(&items);
    return code;
}

static void fill_report(struct ids_trend *trend) {
    struct ids_report *report = &trend->report;
    ids_report_property(report, "runs", ids_int_value(IDS_UNIT_COUNT, (int64_t)trend->side->run_count));
    ids_report_property(report, "x", ids_text_value(trend->x_is_step ? "step" : "place"));
    ids_report_property(report, "per", ids_text_value(trend->side->per_step ? "step" : "window"));
    ids_report_property(report, "confidence", ids_real_value(IDS_UNIT_RATIO, IDS_CONFIDENCE));
    ids_remarks_list(&trend->remarks, report);
    struct ids_table *table = ids_report_table(report, &values_def);
    for (size_t i = 0; i < trend->side->run_count; i++) {
        for (size_t f = 0; f < trend->figure_count; f++) {
            const struct ids_difference *value = &trend->values[i][f];
            struct ids_value row[] = {
                ids_int_value(IDS_UNIT_COUNT, (int64_t)i),    ids_text_value(trend->side->runs[i].name),
                ids_real_value(IDS_UNIT_NUMBER, trend->x[i]), ids_text_value(value->id),
                ids_text_value(ids_unit_name(value->unit)),   ids_si_value(value->unit, value->has_a, value->a)};
            IDS_ROW(report, table, value_columns, row);
        }
    }
    table = ids_report_table(report, &lines_def);
    for (size_t i = 0; i < trend->line_count; i++) {
        const struct ids_trend_line *line = &trend->lines[i];
        struct ids_value row[] = {ids_text_value(line->id),
                                  ids_text_value(line->title),
                                  ids_text_value(ids_unit_name(line->unit)),
                                  ids_si_value(line->unit, 1, line->first),
                                  ids_si_value(line->unit, 1, line->last),
                                  ids_si_value(line->unit, 1, line->slope.slope),
                                  ids_si_value(line->unit, line->slope.known, line->slope.low),
                                  ids_si_value(line->unit, line->slope.known, line->slope.high),
                                  ids_text_value(ids_trend_verdict_name(line->verdict))};
        IDS_ROW(report, table, line_columns, row);
    }
}

static int make(struct ids_trend *trend, const int64_t *steps, struct ids_error *err) {
    size_t runs = trend->side->run_count;
    trend->x = calloc(runs, sizeof *trend->x);
    trend->values = calloc(runs, sizeof *trend->values);
    if (!trend->x || !trend->values) return ids_no_memory(err);
    trend->x_is_step = 1;
    for (size_t i = 0; i < runs; i++) trend->x_is_step &= steps[i] >= 0 && (!i || steps[i] != steps[i - 1]);
    for (size_t i = 0; i < runs; i++) trend->x[i] = trend->x_is_step ? (double)steps[i] : (double)i;
    int code = ids_remarks_make(&trend->side, 1, IDS_ALIKE_DEVICES, &trend->report, &trend->remarks, err);
    if (!code && add_figures(trend)) code = ids_no_memory(err);
    if (!code && trend->side->by_run) code = add_ops(trend, err);
    if (!code) fill_report(trend);
    return code ? code : ids_report_check(&trend->report, err);
}

int ids_trend_make(const struct ids_side *side, const int64_t *steps, struct ids_trend *ret_trend,
                   struct ids_error *err) {
    *ret_trend = (struct ids_trend){.side = side};
    ids_report_init(&ret_trend->report);
    int code = make(ret_trend, steps, err);
    if (code) ids_trend_done(ret_trend);
    return code;
}

void ids_trend_done(struct ids_trend *trend) {
    free(trend->x);
    free(trend->values);
    free(trend->lines);
    ids_remarks_done(&trend->remarks);
    ids_report_done(&trend->report);
    *trend = (struct ids_trend){0};
}
