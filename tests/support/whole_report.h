/* whole_report.h - a report with one of everything, and all that a report holds as text, to compare. */
#ifndef IDS_TESTS_SUPPORT_WHOLE_REPORT_H
#define IDS_TESTS_SUPPORT_WHOLE_REPORT_H

#include "lib/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct ids_column_def op_columns[] = {
    {"name", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG}, {"self", "self time", IDS_UNIT_TIME, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},          {"moved", "bytes moved", IDS_UNIT_BYTES, 0},
    {"share", "share\nof self", IDS_UNIT_RATIO, 0}, {"speed", "speed", IDS_UNIT_RATE, 0},
    {"odd \"name\"", "number", IDS_UNIT_NUMBER, 0},
};
static const struct ids_table_def ops_def = {"ops", "ops", op_columns, 7, "an op; HLO instruction", IDS_TABLE_TOP};
static const struct ids_column_def gap_columns[] = {{"start", "start", IDS_UNIT_TIME, 0}};
static const struct ids_table_def gaps_def = {"idle.gaps", "gaps", gap_columns, 1, NULL, 0};
static const struct ids_table_def *known_tables[3];

static const struct ids_table_def *find_table(const char *id) {
    for (int i = 0; i < 3; i++) {
        if (known_tables[i] && !strcmp(known_tables[i]->id, id)) return known_tables[i];
    }
    return NULL;
}

static void fill_ops(struct ids_report *report) {
    struct ids_table *ops = ids_report_table(report, &ops_def);
    ids_report_row(report, ops,
                   (struct ids_value[]){ids_text_value("fusion.3"), ids_int_value(IDS_UNIT_TIME, INT64_MAX),
                                        ids_int_value(IDS_UNIT_COUNT, INT64_MIN), ids_int_value(IDS_UNIT_BYTES, 0),
                                        ids_real_value(IDS_UNIT_RATIO, 0.1), ids_real_value(IDS_UNIT_RATE, 1e300),
                                        ids_real_value(IDS_UNIT_NUMBER, 5.0)});
    ids_report_row(report, ops,
                   (struct ids_value[]){ids_text_value("bad \xff utf-8 'quoted' \"name\""), ids_no_value(IDS_UNIT_TIME),
                                        ids_no_value(IDS_UNIT_COUNT), ids_no_value(IDS_UNIT_BYTES),
                                        ids_real_value(IDS_UNIT_RATIO, 0.0), ids_real_value(IDS_UNIT_RATE, -2.5e-308),
                                        ids_real_value(IDS_UNIT_NUMBER, 9007199254740993.0)});
    ids_report_row(report, ops,
                   (struct ids_value[]){ids_text_value(""), ids_int_value(IDS_UNIT_TIME, -1),
                                        ids_int_value(IDS_UNIT_COUNT, 3), ids_int_value(IDS_UNIT_BYTES, 7),
                                        ids_no_value(IDS_UNIT_RATIO), ids_no_value(IDS_UNIT_RATE),
                                        ids_no_value(IDS_UNIT_NUMBER)});
    ops->rows_left_out = 12;
    ids_report_table(report, &gaps_def);
}

static void fill_report(struct ids_report *report) {
    ids_report_init(report);
    report->complete = 0;
    ids_report_property(report, "name", ids_text_value("tad"));
    ids_report_property(report, "hosts", ids_int_value(IDS_UNIT_COUNT, 2));
    ids_report_property(report, "jax_version", ids_no_value(IDS_UNIT_NONE));
    struct ids_metric *metric = ids_report_metric(report, "z.last", NULL, ids_real_value(IDS_UNIT_RATIO, 1.0 / 3));
    metric->grade = IDS_GRADE_BAD;
    ids_report_rule(report, metric, "steps by %s", "annotation");
    ids_report_metric(report, "a.first", "host0:/device:GPU:0", ids_int_value(IDS_UNIT_TIME, 812400000000000));
    metric = ids_report_metric(report, "a.first", "host0:/device:GPU:1", ids_text_value("text"));
    metric->grade = IDS_GRADE_GOOD;
    ids_report_no_data(report, "b", IDS_UNIT_BYTES, NULL, "the trace has no %s plane", "host");
    fill_ops(report);
    ids_report_advice(report, &(struct ids_advice){.saves_ps = 31000000000,
                                                   .chance_ps = 29000000000,
                                                   .per_step = 1,
                                                   .account = "host.input",
                                                   .culprit = "load",
                                                   .where = "train.py:7",
                                                   .parts = {{"host.input", 0.7}, {"host.sync", 0.3}},
                                                   .part_count = 2,
                                                   .what = "feed it",
                                                   .evidence = "1,204 gaps",
                                                   .explain = "idle.total"});
    ids_report_advice(report, &(struct ids_advice){.saves_ps = -1, .takes_ps = 7000000000, .what = "look"});
    ids_report_diag(report, 2, "xplane.truncated", "ends early", 8812, 1);
    ids_report_diag(report, 0, "x", "y", -1, UINT64_MAX);
}

static void print_text(FILE *out, const char *text) {
    if (text)
        fprintf(out, " '%s'", text);
    else
        fprintf(out, " NULL");
}

static void print_value(FILE *out, struct ids_value value) {
    fprintf(out, " %d:", value.unit);
    if (value.missing)
        fprintf(out, "missing");
    else if (value.unit == IDS_UNIT_NONE)
        print_text(out, value.text);
    else if (value.unit >= IDS_UNIT_RATIO)
        fprintf(out, "%a", value.d);
    else
        fprintf(out, "%" PRId64, value.i);
}

/* Everything that a report holds, to compare. */
static char *report_text(const struct ids_report *report) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "complete %d\n", report->complete);
    for (size_t i = 0; i < report->property_count; i++) {
        fprintf(out, "property %s", report->properties[i].id);
        print_value(out, report->properties[i].value);
    }
    for (size_t i = 0; i < report->metric_count; i++) {
        const struct ids_metric *metric = &report->metrics[i];
        fprintf(out, "\nmetric %s grade %d", metric->id, (int)metric->grade);
        print_text(out, metric->device);
        print_value(out, metric->value);
        print_text(out, metric->reason);
        print_text(out, metric->rule);
    }
    for (size_t i = 0; i < report->table_count; i++) {
        const struct ids_table *table = &report->tables[i];
        fprintf(out, "\ntable %s %zu rows, %" PRId64 " left out:", table->id, table->row_count, table->rows_left_out);
        for (size_t k = 0; k < table->row_count * (size_t)table->def->column_count; k++)
            print_value(out, table->cells[k]);
    }
    for (size_t i = 0; i < report->advice_count; i++) {
        const struct ids_advice *advice = &report->advice[i];
        fprintf(out, "\nadvice %" PRId64 " %" PRId64 " %" PRId64 " %d", advice->saves_ps, advice->chance_ps,
                advice->takes_ps, advice->per_step);
        print_text(out, advice->account);
        print_text(out, advice->culprit);
        print_text(out, advice->where);
        for (size_t p = 0; p < advice->part_count; p++)
            fprintf(out, " %s %.17g", advice->parts[p].account, advice->parts[p].share);
        print_text(out, advice->what);
        print_text(out, advice->evidence);
        print_text(out, advice->explain);
    }
    for (size_t i = 0; i < report->diag_count; i++) {
        const struct ids_report_diag *diag = &report->diags[i];
        fprintf(out, "\ndiag %d %s %s %" PRId64 " %" PRIu64, diag->severity, diag->id, diag->text, diag->offset,
                diag->count);
    }
    fclose(out);
    return text;
}

#endif
