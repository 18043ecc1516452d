/* What is compared besides the windows: what the histories of the runs say, and how often programs come with a step
 * that is a call. */
#include "lib/analysis/analyzer.h"
#include "lib/analysis/history_tables.h"
#include "lib/compare/call_rates.h"
#include "lib/compare/comparability.h"
#include "lib/compare/outside.h"
#include "lib/run/format_names.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

enum { RUNS = 2 };

static struct ids_report reports[2][RUNS], texts;
static const struct ids_report *pointers[2][RUNS];
static struct ids_side sides[2];

static void begin(void) {
    for (int s = 0; s < 2; s++) {
        for (int r = 0; r < RUNS; r++) ids_report_init(&reports[s][r]), pointers[s][r] = &reports[s][r];
    }
    ids_report_init(&texts);
}

static void done(void) {
    for (int s = 0; s < 2; s++) {
        ids_side_done(&sides[s]);
        for (int r = 0; r < RUNS; r++) ids_report_done(&reports[s][r]);
    }
    ids_report_done(&texts);
}

static void compare(size_t runs) {
    static const char *const labels[] = {"before", "after"};
    struct ids_error err = IDS_ERROR_INIT;
    for (int s = 0; s < 2; s++) {
        ids_side_done(&sides[s]);
        ck_assert_int_eq(ids_side_init(&sides[s], labels[s], pointers[s], runs, ids_format_lacks, &err), 0);
    }
    struct ids_side *settled[] = {&sides[0], &sides[1]};
    ids_sides_settle(settled, 2, IDS_RECORDING_PROCESS);
}

static struct ids_value ms(double value) {
    return ids_int_value(IDS_UNIT_TIME, llround(value * 1e9));
}

/* A history of so many steps, each of which usually takes that long, and a window of five of them from step 50 on, the
 * first of which is in no mean. */
static void captured(struct ids_report *report, int64_t steps, double usual_ms, double window_ms) {
    struct ids_table *history = ids_report_table(report, &ids_history_table);
    struct ids_value row[IDS_HISTORY_COLUMNS] = {ids_text_value("host.1"),
                                                 ids_int_value(IDS_UNIT_COUNT, 0),
                                                 ids_int_value(IDS_UNIT_COUNT, steps - 1),
                                                 ids_int_value(IDS_UNIT_COUNT, steps),
                                                 ms(1000),
                                                 ms(usual_ms),
                                                 ms(300),
                                                 ids_int_value(IDS_UNIT_COUNT, 0),
                                                 ids_int_value(IDS_UNIT_COUNT, 0),
                                                 ids_no_value(IDS_UNIT_COUNT),
                                                 ids_text_value("")};
    ids_report_row(report, history, row);
    ids_report_metric(report, "steps.median", NULL, ms(window_ms));
    ids_report_property(report, "steps.first", ids_int_value(IDS_UNIT_COUNT, 50));
    ids_report_property(report, "steps.last", ids_int_value(IDS_UNIT_COUNT, 54));
    ids_report_property(report, "steps.left_out", ids_int_value(IDS_UNIT_COUNT, 50));
}

static void slow(struct ids_report *report, int64_t step, double took_ms, double medians) {
    struct ids_table *table = ids_report_find_table(report, "slow_steps")
                                  ? (struct ids_table *)ids_report_find_table(report, "slow_steps")
                                  : ids_report_table(report, &ids_slow_steps_table);
    struct ids_value row[IDS_SLOW_STEPS_COLUMNS] = {ids_text_value("host.1"),
                                                    ids_int_value(IDS_UNIT_COUNT, step),
                                                    ms(500),
                                                    ms(took_ms),
                                                    ids_real_value(IDS_UNIT_NUMBER, medians),
                                                    ids_no_value(IDS_UNIT_COUNT),
                                                    ids_text_value("-")};
    ids_report_row(report, table, row);
}

static const char *unlike(void) {
    return ids_outside_unlike(&sides[0], &sides[1], &texts);
}

static const char *slow_ones(void) {
    return ids_outside_slow(&sides[0], &sides[1], &texts);
}

static int says(const char *text, const char *part) {
    return text && strstr(text, part) != NULL;
}

/* 20 and 30 ms by the histories, 30 and 30 by the windows: they differ by half. */
START_TEST(windows_unlike_their_runs) {
    captured(&reports[0][0], 100, 20, 30);
    captured(&reports[1][0], 100, 30, 30);
    compare(1);
    ck_assert(
        says(unlike(), "a step takes 20.00 ms in before and 30.00 ms in after, in the windows 30.00 ms and 30.00 ms"));
    ck_assert_ptr_null(slow_ones());
}
END_TEST

/* Both windows are slower than their runs by as much: what differs is what differs in the runs. */
START_TEST(windows_slower_alike) {
    captured(&reports[0][0], 100, 20, 30);
    captured(&reports[1][0], 100, 30, 45);
    compare(1);
    ck_assert_ptr_null(unlike());
}
END_TEST

/* 1.24 and 1.26 times, either way. */
START_TEST(windows_within_a_quarter) {
    static const double windows[][2] = {{20, 24.8}, {24.8, 20}, {20, 25.2}, {25.2, 20}};
    for (size_t i = 0; i < 4; i++) {
        done(), begin();
        captured(&reports[0][0], 100, 20, windows[i][0]);
        captured(&reports[1][0], 100, 20, windows[i][1]);
        compare(1);
        ck_assert_int_eq(unlike() != NULL, i >= 2);
    }
}
END_TEST

/* The mean of a side's recordings counts; one without a history, or with a short one, says nothing. */
START_TEST(windows_of_several) {
    captured(&reports[0][0], 100, 10, 20);
    captured(&reports[0][1], 100, 30, 20);
    captured(&reports[1][0], 100, 20, 20);
    captured(&reports[1][1], 20, 20, 20);
    compare(2);
    ck_assert_ptr_null(unlike());
    compare(1);
    ck_assert(says(unlike(), "10.00 ms in before"));
    done(), begin();
    captured(&reports[0][0], 19, 10, 20);
    captured(&reports[1][0], 100, 20, 20);
    compare(1);
    ck_assert_ptr_null(unlike());
}
END_TEST

/* Three steps of 100 ms lose 80 each: 24 % of a second. Steps of the window are compared, but for the one that it
 * opened with. */
START_TEST(slow_outside) {
    captured(&reports[0][0], 100, 20, 20);
    captured(&reports[1][0], 100, 20, 20);
    slow(&reports[1][0], 20, 100, 5);
    slow(&reports[1][0], 50, 100, 5);
    slow(&reports[1][0], 52, 100, 5);
    slow(&reports[1][0], 80, 100, 5);
    compare(1);
    ck_assert(
        says(slow_ones(), "lose 0.0 % of the run in before, 24.0 % in after: 3 in after, up to 100.0 ms, 5.0 times"));
    ck_assert_ptr_null(unlike());
}
END_TEST

/* Both have as many, or one alone has one. */
START_TEST(slow_alike) {
    captured(&reports[0][0], 100, 20, 20);
    captured(&reports[1][0], 100, 20, 20);
    for (int s = 0; s < 2; s++) slow(&reports[s][0], 20, 100, 5), slow(&reports[s][0], 40, 100, 5);
    slow(&reports[1][0], 70, 60, 3); /* 4 % more */
    compare(1);
    ck_assert_ptr_null(slow_ones());
    slow(&reports[0][0], 60, 220, 11);
    compare(1);
    ck_assert(says(slow_ones(), "3 in before, up to 220.0 ms"));
    done(), begin();
    captured(&reports[0][0], 100, 20, 20);
    captured(&reports[1][0], 100, 20, 20);
    slow(&reports[1][0], 20, 320, 16);
    compare(1);
    ck_assert_ptr_null(slow_ones());
}
END_TEST

/* --- calls ------------------------------------------------------------------------------------------------------ */

static const struct ids_table_def *modules_def(void) {
    static const struct ids_table_def *def;
    if (!def) def = ids_table_def_find("modules");
    ck_assert_ptr_nonnull(def);
    return def;
}

static void ran(struct ids_report *report, const char *name, int64_t executions) {
    struct ids_table *table = (struct ids_table *)ids_report_find_table(report, "modules");
    if (!table) table = ids_report_table(report, modules_def());
    struct ids_value row[16];
    for (int i = 0; i < modules_def()->column_count; i++) row[i] = ids_no_value(modules_def()->columns[i].unit);
    row[ids_table_column(table, "name")] = ids_text_value(name);
    row[ids_table_column(table, "executions")] = ids_int_value(IDS_UNIT_COUNT, executions);
    ids_report_row(report, table, row);
}

static void called(struct ids_report *report, const char *mark, int64_t steps) {
    ids_report_property(report, "steps.annotation", ids_text_value(mark));
    ids_report_property(report, "steps.count", ids_int_value(IDS_UNIT_COUNT, steps));
}

static const char *calls_unlike(void) {
    compare(1);
    return ids_call_rates_unlike(&sides[0], &sides[1], &texts);
}

static void accumulates(int by, const char *mark) {
    struct ids_report *once = &reports[by][0], *often = &reports[!by][0];
    called(once, mark, 5), called(often, mark, 5);
    ran(once, "jit_grad", 5), ran(once, "jit_update", 5);
    ran(often, "jit_grad", 5), ran(often, "jit_update", 2), ran(often, "jit_add", 20);
}

START_TEST(gradients_accumulate) {
    accumulates(0, "call of grad");
    ck_assert(says(calls_unlike(), "jit_update comes with each of them in before and with 0.4 of one in after"));
    ck_assert(says(calls_unlike(), "--step-executable '^update$'"));
    done(), begin();
    accumulates(1, "call of grad");
    ck_assert(says(calls_unlike(), "jit_update comes with each of them in after and with 0.4 of one in before"));
    done(), begin();
    accumulates(0, "train"); /* marks of the program's own are turns */
    ck_assert_ptr_null(calls_unlike());
}
END_TEST

/* Metrics are computed less often, and another program still comes with each call. */
START_TEST(one_program_of_several) {
    accumulates(0, "call of grad");
    for (int s = 0; s < 2; s++) ran(&reports[s][0], "jit_norm", 5);
    ck_assert_ptr_null(calls_unlike());
}
END_TEST

/* An evaluation now and then; one that one side alone has; calls of another function. */
START_TEST(other_rates) {
    for (int s = 0; s < 2; s++) called(&reports[s][0], "call of step", 10), ran(&reports[s][0], "jit_step", 10);
    ran(&reports[0][0], "jit_eval", 5), ran(&reports[1][0], "jit_eval", 1);
    ck_assert_ptr_null(calls_unlike());
    ran(&reports[0][0], "jit_log", 10);
    ck_assert_ptr_null(calls_unlike());
    done(), begin();
    accumulates(0, "call of grad");
    ids_report_property(&reports[1][0], "steps.annotation", ids_text_value("call of update"));
    ck_assert_ptr_null(calls_unlike());
}
END_TEST

/* An update each second call, then each fourth; and as often. */
START_TEST(rates_of_parts) {
    static const int64_t updates[][3] = {{5, 2, 1}, {2, 5, 1}, {3, 2, 0}, {10, 5, 0}, {0, 5, 0}};
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        done(), begin();
        for (int s = 0; s < 2; s++) {
            called(&reports[s][0], "call of grad", 10), ran(&reports[s][0], "jit_grad", 10);
            ran(&reports[s][0], "jit_update", updates[i][s]);
        }
        compare(1);
        const char *text = ids_call_rates_other(&sides[0], &sides[1], &texts);
        ck_assert_int_eq(text != NULL, updates[i][2]);
        if (!i) ck_assert(says(text, "jit_update comes with 0.5 of one in before and with 0.2 in after"));
    }
}
END_TEST

/* A window has five calls, of turns of two and of four. */
START_TEST(rates_of_turns) {
    for (int s = 0; s < 2; s++) {
        called(&reports[s][0], "call of grad", 5);
        ran(&reports[s][0], "jit_grad", 5), ran(&reports[s][0], "jit_update", 2);
    }
    compare(1);
    ck_assert_ptr_null(ids_call_rates_other(&sides[0], &sides[1], &texts));
    for (int s = 0; s < 2; s++) {
        ids_report_property(&reports[s][0], "turn_every", ids_int_value(IDS_UNIT_COUNT, s ? 4 : 2));
        ids_report_property(&reports[s][0], "turn", ids_text_value("update comes with one of some steps"));
    }
    ck_assert(
        says(ids_call_rates_other(&sides[0], &sides[1], &texts), "with 0.5 of one in before and with 0.25 in after"));
    for (int s = 0; s < 2; s++) ids_report_property(&reports[s][0], "turn", ids_text_value("updates comes with some"));
    ck_assert_ptr_null(ids_call_rates_other(&sides[0], &sides[1], &texts));
}
END_TEST

/* --- as remarks ------------------------------------------------------------------------------------------------- */

/* The text of the one of that id; NULL: there is none. */
static const char *remark(const char *id, int *ret_unlike) {
    const struct ids_side *both[] = {&sides[0], &sides[1]};
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_remarks remarks;
    const char *text = NULL;
    ck_assert_int_eq(ids_remarks_make(both, 2, IDS_ALIKE_DEVICES, &texts, &remarks, &err), 0);
    for (size_t i = 0; i < remarks.count; i++) {
        if (strcmp(remarks.at[i].id, id) != 0) continue;
        text = remarks.at[i].text; /* of `texts` */
        *ret_unlike = remarks.at[i].severity == IDS_REMARK_UNLIKE;
    }
    ids_remarks_done(&remarks);
    return text;
}

/* What both sides say together comes before what one run says by itself, and calls that are no steps are refused. */
START_TEST(remarks) {
    int is_unlike;
    accumulates(0, "call of grad");
    for (int s = 0; s < 2; s++) captured(&reports[s][0], 100, 20, 20 + 20 * s);
    slow(&reports[1][0], 20, 100, 5), slow(&reports[1][0], 80, 100, 5);
    ids_report_property(&reports[1][0], "steps.missed_share", ids_real_value(IDS_UNIT_RATIO, 0.25));
    compare(1);
    ck_assert(says(remark("steps.calls", &is_unlike), "gradients are accumulated") && is_unlike);
    ck_assert(says(remark("windows", &is_unlike), "not like their runs") && !is_unlike);
    ck_assert(says(remark("steps.missed", &is_unlike), "in before, 16.0 % in after") && !is_unlike);
}
END_TEST

IDS_RUN_FIXTURE("outside", begin, done, windows_unlike_their_runs, windows_slower_alike, windows_within_a_quarter,
                windows_of_several, slow_outside, slow_alike, gradients_accumulate, one_program_of_several, other_rates,
                rates_of_parts, rates_of_turns, remarks)
