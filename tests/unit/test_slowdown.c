/* Steps that take longer for being recorded, by the history of a capture. */
#include "lib/run/slowdown.h"
#include "tests/support/suite.h"

enum { STEPS = 60 };

static struct ids_slowdown_step steps[STEPS];
static struct ids_slowdown slowdown;
static struct ids_report report;

/* Steps of 742 us, and of 40 to 44, of which the first is not measured, such that are recorded. */
static void record(int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t took[] = {9000000, a, b, c, d};
    for (int i = 0; i < STEPS; i++) steps[i] = (struct ids_slowdown_step){i, 742000, 0};
    for (int i = 0; i < 5; i++) steps[40 + i] = (struct ids_slowdown_step){40 + i, took[i], 1};
    steps[45] = (struct ids_slowdown_step){45, 20000000, 1}; /* in which the window closed */
    ids_report_done(&report);
    ids_report_init(&report);
    ids_report_property(&report, "steps.first", ids_int_value(IDS_UNIT_COUNT, 40));
    ids_report_property(&report, "steps.last", ids_int_value(IDS_UNIT_COUNT, 44));
    ids_report_property(&report, "steps.left_out", ids_int_value(IDS_UNIT_COUNT, 40));
}

START_TEST(test_found) {
    record(1232000, 1100000, 1300000, 1400000);
    ck_assert_int_eq(ids_slowdown_find(steps, STEPS, &report, &slowdown), 1);
    ck_assert_int_eq(slowdown.recorded_ns, 1232000);
    ck_assert_int_eq(slowdown.usual_ns, 742000);
    record(1000000, 1000000, 900000, 1000000); /* a quarter longer is 927.5 us */
    ck_assert_int_eq(ids_slowdown_find(steps, STEPS, &report, &slowdown), 1);
    record(900000, 900000, 900000, 1000000);
    ck_assert_int_eq(ids_slowdown_find(steps, STEPS, &report, &slowdown), 0);
    record(742000, 60000000, 742000, 60000000); /* two are slow by themselves */
    ck_assert_int_eq(ids_slowdown_find(steps, STEPS, &report, &slowdown), 0);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_too_few) {
    record(1500000, 1500000, 1500000, 1500000);
    steps[43].is_recorded = steps[44].is_recorded = 0;
    ck_assert_int_eq(ids_slowdown_find(steps, STEPS, &report, &slowdown), 0);
    record(1500000, 1500000, 1500000, 1500000);
    ck_assert_int_eq(ids_slowdown_find(steps + 40, 6, &report, &slowdown), 0);  /* no others */
    ck_assert_int_eq(ids_slowdown_find(steps + 21, 25, &report, &slowdown), 0); /* 19 others */
    ck_assert_int_eq(ids_slowdown_find(steps + 20, 26, &report, &slowdown), 1);
    ck_assert_int_eq(ids_slowdown_find(steps, 0, &report, &slowdown), 0);
    ids_report_done(&report);
    ids_report_init(&report); /* no steps */
    ck_assert_int_eq(ids_slowdown_find(steps, STEPS, &report, &slowdown), 0);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_told) {
    record(1000, 1000, 1000, 1000);
    slowdown = (struct ids_slowdown){1484000, 742000};
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 1040000000, .per_step = 1, .evidence = "most"});
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 1040000000, .evidence = "most"}); /* of the window */
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = -1, .per_step = 1, .evidence = "most"});
    ids_slowdown_tell(&slowdown, &report);
    ck_assert_str_eq(ids_report_find_property(&report, "recording")->text,
                     "recording made steps 2.00 × as long: 1.484 ms against 742.0 us of the run's other steps");
    ck_assert_int_eq(report.advice[0].saves_ps, 520000000);
    ck_assert_str_eq(report.advice[0].evidence,
                     "most; recorded steps took 2.00 × as long: the saving is of one of 742.0 us");
    ck_assert_int_eq(report.advice[1].saves_ps, 1040000000);
    ck_assert_str_eq(report.advice[1].evidence, "most");
    ck_assert_int_eq(report.advice[2].saves_ps, -1);
    ids_report_done(&report);
}
END_TEST

IDS_RUN_SUITE("slowdown", test_found, test_too_few, test_told)
