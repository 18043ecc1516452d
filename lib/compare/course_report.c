#include "lib/compare/course_report.h"

#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const struct ids_column_def run_columns[] = {
    {"run", "run", IDS_UNIT_COUNT, 0},       {"name", "name", IDS_UNIT_NONE, 0},
    {"unix_s", "unix_s", IDS_UNIT_COUNT, 0}, {"devices", "devices", IDS_UNIT_NONE, 0},
    {"labels", "labels", IDS_UNIT_NONE, 0},  {"path", "path", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def runs_def = {
    "runs",
    "runs",
    run_columns,
    COUNT_OF(run_columns),
    "One row per run, in the order of time; `labels` are KEY=VALUE, separated by commas.",
    0};

static const struct ids_column_def change_columns[] = {
    {"change", "change", IDS_UNIT_COUNT, 0}, {"run", "run", IDS_UNIT_COUNT, 0},
    {"name", "name", IDS_UNIT_NONE, 0},      {"first", "first", IDS_UNIT_COUNT, 0},
    {"last", "last", IDS_UNIT_COUNT, 0},     {"role", "role", IDS_UNIT_NONE, 0},
    {"kind", "kind", IDS_UNIT_NONE, 0},      {"figure", "figure", IDS_UNIT_NONE, 0},
    {"unit", "unit", IDS_UNIT_NONE, 0},      {"before", "before", IDS_UNIT_NUMBER, 0},
    {"after", "after", IDS_UNIT_NUMBER, 0},  {"low", "at least", IDS_UNIT_NUMBER, 0},
    {"high", "at most", IDS_UNIT_NUMBER, 0},
};
static const struct ids_table_def changes_def = {
    "changes",
    "changes",
    change_columns,
    COUNT_OF(change_columns),
    "One row per figure whose level changes, in SI units. What changes at the same run has one number (`change`): "
    "`run` is the first run of the new level, and it may as well be any of `first` to `last` (at 95 %). `role` is "
    "cause, "
    "part (of a cause) or effect (what a cause moved). The difference `after` - `before` lies between `low` and "
    "`high`, "
    "of all figures together at 99 %.",
    0};

static const struct ids_column_def drift_columns[] = {
    {"kind", "kind", IDS_UNIT_NONE, 0},      {"figure", "figure", IDS_UNIT_NONE, 0},
    {"unit", "unit", IDS_UNIT_NONE, 0},      {"from", "from", IDS_UNIT_NUMBER, 0},
    {"to", "to", IDS_UNIT_NUMBER, 0},        {"low", "at least", IDS_UNIT_NUMBER, 0},
    {"high", "at most", IDS_UNIT_NUMBER, 0}, {"role", "role", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def drifts_def = {"drifts",
                                                "drifts",
                                                drift_columns,
                                                COUNT_OF(drift_columns),
                                                "One row per figure that grows or falls steadily over the runs, in SI "
                                                "units: where its line begins and ends; the whole rise "
                                                "lies between `low` and `high`, of all figures together at 99 %. "
                                                "`role` is as in changes.",
                                                0};

static const struct ids_column_def latest_columns[] = {
    {"kind", "kind", IDS_UNIT_NONE, 0},       {"figure", "figure", IDS_UNIT_NONE, 0},
    {"unit", "unit", IDS_UNIT_NONE, 0},       {"runs", "runs", IDS_UNIT_COUNT, 0},
    {"before", "before", IDS_UNIT_NUMBER, 0}, {"after", "after", IDS_UNIT_NUMBER, 0},
    {"role", "role", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def latest_def = {"latest",
                                                "latest",
                                                latest_columns,
                                                COUNT_OF(latest_columns),
                                                "One row per figure that is out of line in the last run, or the last "
                                                "two (`runs`), in SI units: with a third it is a change. "
                                                "`role` is as in changes.",
                                                0};

const struct ids_table_def *const ids_course_tables[] = {&changes_def, &drifts_def, &latest_def, &runs_def};
const int ids_course_table_count = COUNT_OF(ids_course_tables);

static const char *labels_of(struct ids_report *report, const struct ids_series_run *run) {
    const char *text = "";
    for (size_t i = 0; i < run->label_count; i++)
        text = ids_report_text(report, "%s%s%s=%s", text, i ? "," : "", run->labels[i].key, run->labels[i].value);
    return text;
}

static void list_runs(struct ids_report *report, const struct ids_series *series) {
    struct ids_table *table = ids_report_table(report, &runs_def);
    for (size_t i = 0; i < series->run_count; i++) {
        const struct ids_series_run *run = &series->runs[i];
        struct ids_value row[] = {ids_int_value(IDS_UNIT_COUNT, (int64_t)i),  ids_text_value(run->name),
                                  ids_int_value(IDS_UNIT_COUNT, run->unix_s), ids_text_value(run->devices),
                                  ids_text_value(labels_of(report, run)),     ids_text_value(run->path)};
        IDS_ROW(report, table, run_columns, row);
    }
}

static void list_changes(struct ids_report *report, const struct ids_course *course) {
    struct ids_table *table = ids_report_table(report, &changes_def);
    for (size_t i = 0; i < course->row_count; i++) {
        const struct ids_course_row *of = &course->rows[i];
        const struct ids_series_figure *figure = &course->series->figures[of->figure];
        const struct ids_course_group *group = &course->groups[of->group];
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_COUNT, (int64_t)of->group + 1), ids_int_value(IDS_UNIT_COUNT, (int64_t)group->run),
            ids_text_value(course->series->runs[group->run].name), ids_int_value(IDS_UNIT_COUNT, (int64_t)group->first),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)group->last),   ids_text_value(ids_course_role_name(of->role)),
            ids_text_value(ids_figure_kind_name(figure->kind)),    ids_text_value(figure->name),
            ids_text_value(ids_unit_name(figure->unit)),           ids_si_value(figure->unit, 1, of->change.before),
            ids_si_value(figure->unit, 1, of->change.after),       ids_si_value(figure->unit, 1, of->change.low),
            ids_si_value(figure->unit, 1, of->change.high)};
        IDS_ROW(report, table, change_columns, row);
    }
}

static void list_drifts(struct ids_report *report, const struct ids_course *course) {
    struct ids_table *table = ids_report_table(report, &drifts_def);
    for (size_t i = 0; i < course->drifts.count; i++) {
        const struct ids_course_row *of = &course->drifts.at[i];
        const struct ids_series_figure *figure = &course->series->figures[of->figure];
        struct ids_value row[] = {
            ids_text_value(ids_figure_kind_name(figure->kind)), ids_text_value(figure->name),
            ids_text_value(ids_unit_name(figure->unit)),        ids_si_value(figure->unit, 1, of->change.before),
            ids_si_value(figure->unit, 1, of->change.after),    ids_si_value(figure->unit, 1, of->change.low),
            ids_si_value(figure->unit, 1, of->change.high),     ids_text_value(ids_course_role_name(of->role))};
        IDS_ROW(report, table, drift_columns, row);
    }
}

static void list_latest(struct ids_report *report, const struct ids_course *course) {
    struct ids_table *table = ids_report_table(report, &latest_def);
    for (size_t i = 0; i < course->latest.count; i++) {
        const struct ids_course_row *of = &course->latest.at[i];
        const struct ids_series_figure *figure = &course->series->figures[of->figure];
        struct ids_value row[] = {ids_text_value(ids_figure_kind_name(figure->kind)),
                                  ids_text_value(figure->name),
                                  ids_text_value(ids_unit_name(figure->unit)),
                                  ids_int_value(IDS_UNIT_COUNT, (int64_t)(course->series->run_count - of->change.at)),
                                  ids_si_value(figure->unit, 1, of->change.before),
                                  ids_si_value(figure->unit, 1, of->change.after),
                                  ids_text_value(ids_course_role_name(of->role))};
        IDS_ROW(report, table, latest_columns, row);
    }
}

void ids_course_report(struct ids_course *course) {
    struct ids_report *report = &course->report;
    ids_report_property(report, "runs", ids_int_value(IDS_UNIT_COUNT, (int64_t)course->series->run_count));
    ids_report_property(report, "figures", ids_int_value(IDS_UNIT_COUNT, (int64_t)course->looked_at));
    list_changes(report, course);
    list_drifts(report, course);
    list_latest(report, course);
    list_runs(report, course->series);
}
