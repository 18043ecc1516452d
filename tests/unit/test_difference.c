/* lib/compare/difference.c on simulated runs: of equal ones no change is called, one of 5 % is; the words follow from
 * what was recorded. Random numbers have a fixed seed. */
#include "lib/analysis/analyzer.h"
#include "lib/compare/difference.h"
#include "lib/run/format_names.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS = 100, AT_LEAST = 95, RUNS_MOST = 5, STEP_PS = 100000000 };

static uint64_t state = 20261121;

static double uniform(void) { /* splitmix64 */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

/* How runs vary: from run to run, from step to step, how much a step is like the one before, and how often one takes
 * three times as long. */
struct noise {
    double run, step, memory, slow;
};

static void simulate(struct ids_report *report, double factor, const struct noise *noise, size_t steps) {
    const struct ids_table_def *def = ids_table_def_find("steps");
    struct ids_value *row = calloc((size_t)def->column_count, sizeof *row);
    double mean = STEP_PS * factor * (1 + noise->run * normal()), before = normal(), sum = 0;
    ck_assert_ptr_nonnull(row);
    ids_report_init(report);
    struct ids_table *table = ids_report_table(report, def);
    for (size_t s = 0; s < steps; s++) {
        before = noise->memory * before + sqrt(1 - noise->memory * noise->memory) * normal();
        double duration = mean * (1 + noise->step * before) * (uniform() < noise->slow ? 3 : 1);
        for (int c = 0; c < def->column_count; c++) row[c] = ids_int_value(def->columns[c].unit, 0);
        row[ids_table_column(table, "step")].i = (int64_t)s;
        row[ids_table_column(table, "duration")].i = row[ids_table_column(table, "compute")].i = (int64_t)duration;
        ids_report_row(report, table, row);
        sum += duration;
    }
    free(row);
    ids_report_metric(report, "steps.mean", NULL, ids_int_value(IDS_UNIT_TIME, (int64_t)(sum / (double)steps)));
    ck_assert_int_eq(report->out_of_memory, 0);
}

static struct ids_difference compare(size_t runs, size_t steps, double factor, const struct noise *noise,
                                     const struct ids_compare_options *options) {
    struct ids_report reports[2][RUNS_MOST];
    const struct ids_report *pointers[2][RUNS_MOST];
    struct ids_side sides[2];
    struct ids_side *settled[] = {&sides[0], &sides[1]};
    struct ids_difference rows[IDS_HEADLINES];
    struct ids_error err = IDS_ERROR_INIT;
    size_t count;
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < runs; i++) {
            simulate(&reports[side][i], side ? factor : 1, noise, steps);
            pointers[side][i] = &reports[side][i];
        }
        ck_assert_int_eq(ids_side_init(&sides[side], "side", pointers[side], runs, ids_format_lacks, &err), 0);
    }
    ids_sides_settle(settled, 2, IDS_RECORDING_PROCESS);
    ck_assert_int_eq(ids_headline_make(&sides[0], &sides[1], options, rows, &count, &err), 0);
    ck_assert_str_eq(rows[0].id, "steps.mean");
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < runs; i++) ids_report_done(&reports[side][i]);
        ids_side_done(&sides[side]);
    }
    return rows[0];
}

static const struct ids_compare_options plain = {.threshold = 0.01};

/* How many of 100 pairs are called, as `wanted` (or as anything, where that is NO_DATA). */
static int called(size_t runs, size_t steps, double factor, const struct noise *noise, enum ids_verdict wanted) {
    int count = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
        enum ids_verdict verdict = compare(runs, steps, factor, noise, &plain).verdict;
        count += wanted == IDS_VERDICT_NO_DATA ? verdict > IDS_VERDICT_UNSURE : verdict == wanted;
    }
    return count;
}

/* One recording a side, 40 steps that vary by 4 %. */
static const struct noise quiet_steps = {0, 0.04, 0, 0};
/* The same with memory from step to step, as garbage collection and clocks have it. */
static const struct noise slow_drift = {0, 0.03, 0.3, 0};
/* Three recordings a side that differ by 0.5 %, and one step in twenty takes three times as long. */
static const struct noise three_runs = {0.005, 0.02, 0, 0.05};
static const struct noise five_runs = {0.01, 0.03, 0, 0};

START_TEST(equal_recordings) {
    ck_assert_int_le(called(1, 40, 1, &quiet_steps, IDS_VERDICT_NO_DATA), PAIRS - AT_LEAST);
    ck_assert_int_le(called(1, 60, 1, &slow_drift, IDS_VERDICT_NO_DATA), PAIRS - AT_LEAST);
}
END_TEST

START_TEST(equal_sets_of_recordings) {
    int regressions = called(3, 40, 1, &three_runs, IDS_VERDICT_REGRESSION);
    int improvements = called(3, 40, 1, &three_runs, IDS_VERDICT_IMPROVEMENT);
    ck_assert_int_le(regressions + improvements, PAIRS - AT_LEAST);
    ck_assert_int_le(called(5, 40, 1, &five_runs, IDS_VERDICT_NO_DATA), PAIRS - AT_LEAST);
}
END_TEST

START_TEST(five_percent_of_a_recording) {
    ck_assert_int_ge(called(1, 40, 1.05, &quiet_steps, IDS_VERDICT_DIFFERS), AT_LEAST);
    ck_assert_int_ge(called(1, 60, 1.05, &slow_drift, IDS_VERDICT_DIFFERS), AT_LEAST);
}
END_TEST

START_TEST(five_percent_of_sets) {
    ck_assert_int_ge(called(3, 40, 1.05, &three_runs, IDS_VERDICT_REGRESSION), AT_LEAST);
    ck_assert_int_ge(called(3, 40, 0.95, &three_runs, IDS_VERDICT_IMPROVEMENT), AT_LEAST);
    ck_assert_int_ge(called(5, 40, 1.05, &five_runs, IDS_VERDICT_REGRESSION), AT_LEAST);
}
END_TEST

/* ---- words ---- */

static enum ids_verdict judge(double a, double b, struct ids_interval interval, double noise, int many) {
    struct ids_difference row = {.unit = IDS_UNIT_TIME,
                                 .better = IDS_BETTER_LOWER,
                                 .has_a = 1,
                                 .has_b = 1,
                                 .a = a,
                                 .b = b,
                                 .interval = interval};
    struct ids_compare_options options = {.threshold = 0.01, .noise = noise};
    return ids_judge(&row, &options, many);
}

/* From low to high. */
static struct ids_interval between(double low, double high) {
    struct ids_bounds bounds = {.at = (low + high) / 2, .low = low, .high = high};
    return (struct ids_interval){.known = 1, .mean = bounds, .typical = bounds};
}

/* A stated noise is in the interval already. */
START_TEST(words) {
    struct ids_interval none = {0}, sure = between(4, 16), unsure = between(-4, 24), still = between(-0.5, 0.5);
    ck_assert_int_eq(judge(100, 100, none, 0, 0), IDS_VERDICT_SAME);
    ck_assert_int_eq(judge(100, 100.5, none, 0, 0), IDS_VERDICT_SAME); /* half a percent, below the threshold */
    ck_assert_int_eq(judge(100, 119, none, 0, 0), IDS_VERDICT_UNSURE); /* one measurement a side */
    ck_assert_int_eq(judge(100, 130, none, 0, 0), IDS_VERDICT_COUNTED);
    ck_assert_int_eq(judge(100, 110, sure, 0, 0), IDS_VERDICT_DIFFERS); /* one recording a side is no regression */
    ck_assert_int_eq(judge(100, 110, sure, 0, 1), IDS_VERDICT_REGRESSION);
    ck_assert_int_eq(judge(100, 110, unsure, 0, 1), IDS_VERDICT_UNSURE);
    ck_assert_int_eq(judge(100, 140, still, 0, 0),
                     IDS_VERDICT_SINGLE_STEPS); /* the mean is outside of what is typical */
    ck_assert_int_eq(judge(100, 110, sure, 0.03, 0), IDS_VERDICT_REGRESSION); /* noise stands for other recordings */
    ck_assert_int_eq(judge(100, 110, unsure, 0.05, 0), IDS_VERDICT_UNSURE);
    /* Same is what lies within the threshold as a whole. */
    ck_assert_int_eq(judge(100, 100.1, still, 0, 1), IDS_VERDICT_SAME);
    ck_assert_int_eq(judge(100, 100.1, between(-1.3, 1.5), 0, 1), IDS_VERDICT_UNSURE);
    ck_assert_int_eq(judge(100, 100.8, between(0.2, 1.4), 0, 1), IDS_VERDICT_UNSURE);
    struct ids_interval less = between(-16, -4);
    ck_assert_int_eq(judge(110, 100, less, 0, 1), IDS_VERDICT_IMPROVEMENT);
    /* The mean rose and a typical step fell: of one recording a side neither is said to have happened. */
    ck_assert_int_eq(judge(100, 125, less, 0, 0), IDS_VERDICT_SINGLE_STEPS);
    ck_assert_int_eq(judge(100, 90, less, 0, 0), IDS_VERDICT_DIFFERS);
    struct ids_difference absent = {.has_a = 1};
    ck_assert_int_eq(ids_judge(&absent, &plain, 1), IDS_VERDICT_NO_DATA);
}
END_TEST

/* Of a share the threshold is of the larger side: idle time of 0.04 % and 0.05 % is the same, 50 % and 52 % is not. */
START_TEST(shares) {
    struct ids_difference row = {
        .unit = IDS_UNIT_RATIO, .better = IDS_BETTER_LOWER, .has_a = 1, .has_b = 1, .a = 0.0004, .b = 0.0005};
    ck_assert_int_eq(ids_judge(&row, &plain, 0), IDS_VERDICT_SAME);
    row.a = 0.5;
    row.b = 0.52;
    ck_assert_int_eq(ids_judge(&row, &plain, 0), IDS_VERDICT_COUNTED);
}
END_TEST

IDS_RUN_SUITE("difference", equal_recordings, equal_sets_of_recordings, five_percent_of_a_recording,
              five_percent_of_sets, words, shares)
