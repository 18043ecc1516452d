/* What the one slow step of a window has of a run in which few steps are like it. */
#include "lib/run/rare_step.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

enum { STEPS = 204, FIRST = 100 };

static struct ids_slowdown_step steps[STEPS];
static struct ids_report report;
static struct ids_rare_step rare;

/* Steps of 1 ms. A window has five from step 100 on, the first of which is in no mean; the second takes 41 ms. Of the
 * 199 others the first so many take 21 ms. */
static void set(int like) {
    for (int i = 0; i < STEPS; i++)
        steps[i] = (struct ids_slowdown_step){
            .number = i, .took_ns = i < like ? 21000000 : 1000000, .is_recorded = i >= FIRST && i < FIRST + 5};
    steps[FIRST + 1].took_ns = 41000000;
    ids_report_done(&report);
    ids_report_init(&report);
    ids_report_property(&report, "steps.first", ids_int_value(IDS_UNIT_COUNT, FIRST));
    ids_report_property(&report, "steps.last", ids_int_value(IDS_UNIT_COUNT, FIRST + 4));
    ids_report_property(&report, "steps.left_out", ids_int_value(IDS_UNIT_COUNT, FIRST));
}

static int find(void) {
    return ids_rare_step_find(steps, STEPS, &report, &rare);
}

START_TEST(found) {
    set(10);
    ck_assert_int_eq(find(), 1);
    ck_assert_uint_eq(rare.measured, 4);
    ck_assert_uint_eq(rare.like, 10);
    ck_assert_uint_eq(rare.steps, 199);
    ck_assert_int_eq(rare.longer_ns, 40000000);
    ck_assert_double_eq_tol(rare.lost_ns, 10 * 20e6 / 199, 1e-3);
    set(3);
    ck_assert_int_eq(find(), 1);
    set(2); /* may be chance */
    ck_assert_int_eq(find(), 0);
    set(10);
    for (int i = 0; i < 10; i++) steps[i].took_ns--; /* less than half as much longer */
    ck_assert_int_eq(find(), 0);
}
END_TEST

START_TEST(not_rare) {
    set(10);
    steps[FIRST + 2].took_ns = 2000002; /* two of the four are slow */
    ck_assert_int_eq(find(), 0);
    steps[FIRST + 2].took_ns = 2000001;
    ck_assert_int_eq(find(), 1);
    steps[FIRST + 1].took_ns = 2000001; /* none is */
    ck_assert_int_eq(find(), 0);
    set(10);
    steps[FIRST].took_ns = steps[FIRST + 1].took_ns; /* in no mean */
    ck_assert_int_eq(find(), 1);
    steps[FIRST + 1].is_of_other = steps[FIRST + 2].is_of_other = 1; /* another window's */
    ck_assert_int_eq(find(), 0);
    set(10);
    ids_report_property(&report, "kept", ids_text_value("step 101"));
    ck_assert_int_eq(find(), 0);
    set(4);
    ck_assert_int_eq(ids_rare_step_find(steps + FIRST - 14, 14 + 5, &report, &rare), 0); /* a history of 14 others */
}
END_TEST

static void advise(int64_t saves_ps, int64_t chance_ps) {
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = saves_ps,
                                                    .chance_ps = chance_ps,
                                                    .takes_ps = saves_ps,
                                                    .per_step = 1,
                                                    .what = "what",
                                                    .evidence = "figures"});
}

/* 39 ms of that step are 9.75 ms a step of the window; the run loses 10 times 20 in 199 steps, of 40 that are 10
 * here. */
START_TEST(told) {
    set(10);
    ck_assert_int_eq(find(), 1);
    advise(9750000000, 9750000000);
    advise(9750000000, 0);          /* of all steps */
    advise(4999000000, 4999000000); /* of one, and less than half of what it took longer */
    advise(-1, 0);
    ck_assert_int_eq(ids_rare_step_tell(&rare, &report), 1);
    ck_assert_int_eq(report.advice[0].saves_ps, (int64_t)(9.75e9 * (200.0 / 199) / 10));
    ck_assert_int_eq(report.advice[0].takes_ps, report.advice[0].saves_ps);
    ck_assert_int_eq(report.advice[0].chance_ps, 0);
    ck_assert_str_eq(report.advice[0].evidence,
                     "figures; by the history 10 of 199 other steps are like it and lose 1.005 ms a step");
    for (size_t i = 1; i < 4; i++) ck_assert_str_eq(report.advice[i].evidence, "figures");
    ck_assert_int_eq(report.advice[1].saves_ps, 9750000000);
    ck_assert_int_eq(report.advice[2].chance_ps, 4999000000);
    set(10);
    advise(9750000000, 9749999999);
    ck_assert_int_eq(ids_rare_step_tell(&rare, &report), 0);
}
END_TEST

static void done(void) {
    ids_report_done(&report);
}

IDS_RUN_FIXTURE("rare_step", NULL, done, found, not_rare, told)
