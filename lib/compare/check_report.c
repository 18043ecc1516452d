#include "lib/compare/check_report.h"

#include <math.h>

const char *ids_check_verdict_name(enum ids_check_verdict verdict) {
    static const char *const names[] = {"pass", "fail", "inconclusive", "skipped"};
    return names[verdict];
}

static const struct ids_column_def columns[] = {
    {"verdict", "", IDS_UNIT_NONE, 0},
    {"id", "figure", IDS_UNIT_NONE, 0},
    {"run", "run", IDS_UNIT_NONE, 0},
    {"unit", "unit", IDS_UNIT_NONE, 0},
    {"value", "value", IDS_UNIT_NUMBER, 0},
    {"bound", "bound", IDS_UNIT_NUMBER, 0},
    {"limit", "limit", IDS_UNIT_NONE, 0},
    {"baseline", "baseline", IDS_UNIT_NUMBER, 0},
    {"low", "at least", IDS_UNIT_NUMBER, 0},
    {"high", "at most", IDS_UNIT_NUMBER, 0},
    {"accepted", "accepted", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"accepted_unix_s", "accepted at", IDS_UNIT_COUNT, 0},
    {"note", "note", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def checks_def = {
    "checks",
    "checks",
    columns,
    (int)(sizeof columns / sizeof *columns),
    "One row per limit and run: pass, fail, inconclusive or skipped; values in SI units. `baseline` is its figure (or "
    "the level that was accepted since, with the reason), `low` and `high` say where a new recording of it lies with "
    "99 % probability.",
    0};
const struct ids_table_def *const ids_check_tables[] = {&checks_def};
const int ids_check_table_count = 1;

static void put_row(struct ids_report *report, struct ids_table *table, const struct ids_check_row *row) {
    const struct ids_metric_def *metric = row->limit->subject.metric;
    const struct ids_acceptance *accepted = row->accepted;
    int has_range = row->has_before && !isnan(row->half);
    struct ids_value cells[] = {
        ids_text_value(ids_check_verdict_name(row->verdict)),
        ids_text_value(metric->id),
        ids_text_value(row->run),
        ids_text_value(ids_unit_name(metric->unit)),
        ids_si_value(metric->unit, row->has_value, row->value),
        ids_si_value(metric->unit, row->limit->kind != IDS_LIMIT_BASELINE || row->has_before, row->bound),
        ids_text_value(row->limit->text),
        ids_si_value(metric->unit, row->has_before, row->before),
        ids_si_value(metric->unit, has_range, row->before - row->half),
        ids_si_value(metric->unit, has_range, row->before + row->half),
        ids_text_value(accepted ? accepted->reason : NULL),
        accepted ? ids_int_value(IDS_UNIT_COUNT, accepted->unix_s) : ids_no_value(IDS_UNIT_COUNT),
        ids_text_value(row->note),
    };
    IDS_ROW(report, table, columns, cells);
}

void ids_check_report(struct ids_check *check) {
    struct ids_report *report = &check->report;
    ids_report_property(report, "verdict", ids_text_value(ids_check_verdict_name(check->verdict)));
    ids_report_property(report, "checks", ids_int_value(IDS_UNIT_COUNT, (int64_t)check->count));
    for (int i = 0; i < IDS_CHECK_VERDICTS; i++)
        ids_report_property(report, ids_check_verdict_name((enum ids_check_verdict)i),
                            ids_int_value(IDS_UNIT_COUNT, (int64_t)check->counts[i]));
    struct ids_table *table = ids_report_table(report, &checks_def);
    for (size_t i = 0; i < check->count; i++) put_row(report, table, &check->at[i]);
}
