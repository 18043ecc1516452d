#include "lib/compare/levels.h"

#include "lib/base/vec.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const struct ids_column_def level_columns[] = {
    {"kind", "kind", IDS_UNIT_NONE, 0},      {"figure", "figure", IDS_UNIT_NONE, 0},
    {"unit", "unit", IDS_UNIT_NONE, 0},      {"a", "A", IDS_UNIT_NUMBER, 0},
    {"b", "B", IDS_UNIT_NUMBER, 0},          {"low", "at least", IDS_UNIT_NUMBER, 0},
    {"high", "at most", IDS_UNIT_NUMBER, 0}, {"verdict", "verdict", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def levels_def = {"levels",
                                                "levels",
                                                level_columns,
                                                COUNT_OF(level_columns),
                                                "One row per figure of two sets of runs, in SI units: the means, the "
                                                "interval of the difference B - A where either side "
                                                "has three runs, and the verdict of idsprof-diff(1).",
                                                0};
const struct ids_table_def *const ids_levels_tables[] = {&levels_def};
const int ids_levels_table_count = COUNT_OF(ids_levels_tables);

/* The values of those runs that have the figure. */
static struct ids_sample values_of(const struct ids_series *series, struct ids_level_runs runs, size_t figure,
                                   double *room) {
    struct ids_sample sample = {room, 0, 0};
    for (size_t i = 0; i < runs.count; i++) {
        double value = ids_series_value(series, runs.at[i], figure);
        if (!isnan(value)) room[sample.count++] = value;
    }
    return sample;
}

static double step_of(const struct ids_levels *levels, double *room) {
    size_t figure = ids_series_find(levels->series, IDS_FIGURE_METRIC, "steps.mean");
    if (figure == SIZE_MAX) figure = ids_series_find(levels->series, IDS_FIGURE_METRIC, "run.window");
    if (figure == SIZE_MAX) return 0;
    struct ids_sample sample = values_of(levels->series, levels->a, figure, room);
    return ids_mean(sample.at, sample.count);
}

static int is_asked(const struct ids_series_figure *figure, const struct ids_course_options *options) {
    const char *glob = options->figure;
    return !glob || !strcmp(glob, figure->name) || !fnmatch(glob, figure->name, 0);
}

/* Times that hardly differ, against a step, are not shown. */
static int is_shown(const struct ids_series_figure *figure, const struct ids_difference *difference,
                    const struct ids_course_options *options, double step_ps) {
    double change = fabs(difference->b - difference->a);
    if (figure->kind == IDS_FIGURE_METRIC) return 1;
    return change > 0 && change >= options->least * step_ps && change >= options->threshold * fabs(difference->a);
}

static int add(struct ids_levels *levels, size_t figure, const struct ids_course_options *options, double step_ps,
               double *room) {
    const struct ids_series_figure *of = &levels->series->figures[figure];
    struct ids_sample a = values_of(levels->series, levels->a, figure, room);
    struct ids_sample b = values_of(levels->series, levels->b, figure, room + levels->a.count);
    struct ids_difference difference = {
        .id = of->name, .title = of->name, .unit = of->unit, .better = of->better, .has_a = 1, .has_b = 1};
    if (!a.count || !b.count) return 0;
    difference.a = ids_mean(a.at, a.count);
    difference.b = ids_mean(b.at, b.count);
    difference.interval = ids_interval_of(a, b, 0);
    if (difference.interval.out_of_memory) return -1;
    if (!is_shown(of, &difference, options, step_ps)) return 0;
    struct ids_level *level = IDS_PUSH(levels->at, levels->count, levels->room);
    if (!level) return -1;
    *level = (struct ids_level){figure, of->kind == IDS_FIGURE_METRIC, difference};
    return 0;
}

/* How sure, when all that is asked is known. */
static int judge(struct ids_levels *levels, const struct ids_course_options *options) {
    const struct ids_compare_options compare = {.threshold = options->threshold};
    double *p = calloc(levels->count + 1, sizeof *p);
    size_t known = 0;
    if (!p) return -1;
    for (size_t i = 0; i < levels->count; i++) {
        if (levels->at[i].difference.interval.known) p[known++] = ids_interval_p(&levels->at[i].difference.interval);
    }
    double confidence = 1 - ids_discovery_limit(p, known, 1 - IDS_CONFIDENCE);
    free(p);
    for (size_t i = 0; i < levels->count; i++) {
        struct ids_difference *difference = &levels->at[i].difference;
        if (difference->interval.known) ids_interval_set(&difference->interval, confidence, 0);
        difference->verdict = ids_judge(difference, &compare, 1);
    }
    return 0;
}

static double size_of(const struct ids_level *level) {
    return fabs(level->difference.b - level->difference.a);
}

/* Metrics as the headline has them, then the largest differences. */
static int by_size(const void *a, const void *b) {
    const struct ids_level *left = a, *right = b;
    double x = size_of(left), y = size_of(right);
    if (left->is_metric != right->is_metric) return left->is_metric ? -1 : 1;
    if (!left->is_metric && x != y) return x > y ? -1 : 1;
    return (left->figure > right->figure) - (left->figure < right->figure);
}

static void list(struct ids_levels *levels) {
    struct ids_table *table = ids_report_table(&levels->report, &levels_def);
    for (size_t i = 0; i < levels->count; i++) {
        const struct ids_difference *of = &levels->at[i].difference;
        const struct ids_series_figure *figure = &levels->series->figures[levels->at[i].figure];
        struct ids_value row[] = {ids_text_value(ids_figure_kind_name(figure->kind)),
                                  ids_text_value(figure->name),
                                  ids_text_value(ids_unit_name(figure->unit)),
                                  ids_si_value(of->unit, 1, of->a),
                                  ids_si_value(of->unit, 1, of->b),
                                  ids_si_value(of->unit, of->interval.known, of->interval.typical.low),
                                  ids_si_value(of->unit, of->interval.known, of->interval.typical.high),
                                  ids_text_value(ids_verdict_name(of->verdict))};
        IDS_ROW(&levels->report, table, level_columns, row);
    }
}

int ids_levels_make(const struct ids_series *series, struct ids_level_runs a, struct ids_level_runs b,
                    const struct ids_course_options *options, struct ids_levels *ret_levels, struct ids_error *err) {
    double *room = calloc(a.count + b.count + 1, sizeof *room);
    int failed = !room;
    *ret_levels = (struct ids_levels){.series = series, .a = a, .b = b};
    ids_report_init(&ret_levels->report);
    double step_ps = failed ? 0 : step_of(ret_levels, room);
    for (size_t f = 0; f < series->figure_count && !failed; f++) {
        if (is_asked(&series->figures[f], options)) failed = add(ret_levels, f, options, step_ps, room);
    }
    free(room);
    failed = failed || judge(ret_levels, options);
    if (!failed && ret_levels->count) qsort(ret_levels->at, ret_levels->count, sizeof *ret_levels->at, by_size);
    if (!failed) list(ret_levels);
    int code = failed ? ids_no_memory(err) : ids_report_check(&ret_levels->report, err);
    if (code) ids_levels_done(ret_levels);
    return code;
}

void ids_levels_done(struct ids_levels *levels) {
    free(levels->at);
    ids_report_done(&levels->report);
    *levels = (struct ids_levels){0};
}
