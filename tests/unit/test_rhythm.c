/* Steps that take longer at equal distances, in the history of a capture. */
#include "lib/run/rhythm.h"
#include "tests/support/suite.h"

enum { STEPS = 200 };

static struct ids_rhythm_step steps[STEPS];
static struct ids_rhythm rhythm;

/* The n-th steps, from `first` on, take 9 ms, the others 1 ms. */
static void every(int64_t period, int64_t first) {
    for (int i = 0; i < STEPS; i++) steps[i] = (struct ids_rhythm_step){i, i % period == first ? 9000000 : 1000000};
}

START_TEST(test_every_tenth) {
    every(10, 0);
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 1);
    ck_assert_int_eq(rhythm.period, 10);
    ck_assert_int_eq(rhythm.first, 0);
    ck_assert_int_eq(rhythm.took_ns, 9000000);
    ck_assert_int_eq(rhythm.usual_ns, 1000000);
    steps[33].took_ns = steps[77].took_ns = 20000000; /* what else takes long now and then */
    steps[120].took_ns = 1000000;
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 1);
    ck_assert_int_eq(rhythm.period, 10);
    every(25, 24);
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 1);
    ck_assert_int_eq(rhythm.first, 24);
}
END_TEST

START_TEST(test_no_rhythm) {
    every(STEPS, 0);
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 0);
    ck_assert_int_eq(ids_rhythm_find(steps, 0, &rhythm), 0);
    for (int i = 0; i < 12; i++) steps[(i * i * 7 + i) % STEPS].took_ns = 9000000; /* no two of them as far apart */
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 0);
    every(70, 0); /* three of them: too few */
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 0);
    every(10, 0);
    for (int i = 0; i < STEPS; i += 20) steps[i].took_ns = 1000000;
    for (int i = 0; i < STEPS; i += 60) steps[i + 10].took_ns = 1000000; /* and of every 20th step only two of three */
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 0);
    for (int i = 0; i < STEPS; i++) steps[i].took_ns = i % 2 ? 1000000 : 1400000; /* hardly longer */
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 0);
}
END_TEST

static const char *missed(struct ids_report *report, int64_t first, int64_t last, int64_t left_out) {
    ids_report_init(report);
    ids_report_property(report, "steps.first", ids_int_value(IDS_UNIT_COUNT, first));
    ids_report_property(report, "steps.last", ids_int_value(IDS_UNIT_COUNT, last));
    if (left_out >= 0) ids_report_property(report, "steps.left_out", ids_int_value(IDS_UNIT_COUNT, left_out));
    return ids_rhythm_missed(&rhythm, report);
}

START_TEST(test_missed) {
    struct ids_report report;
    rhythm = (struct ids_rhythm){10, 0, 9000000, 1000000};
    ck_assert_str_eq(missed(&report, 153, 157, 153),
                     "one of 10 steps takes 9.000 ms, 9.0 × the usual one, such as step 160, and none of these is "
                     "measured here: idsprof capture --start-step 159 --steps 11 measures one");
    ids_report_done(&report);
    ck_assert_ptr_null(missed(&report, 149, 153, 149)); /* 150 is measured */
    ids_report_done(&report);
    ck_assert_ptr_nonnull(missed(&report, 150, 154, 150)); /* the window opened with it */
    ids_report_done(&report);
    ck_assert_ptr_null(missed(&report, 150, 160, 150)); /* 160 is measured */
    ids_report_done(&report);
    ids_report_init(&report);
    ck_assert_ptr_null(ids_rhythm_missed(&rhythm, &report)); /* no steps */
    ids_report_done(&report);
}
END_TEST

IDS_RUN_SUITE("rhythm", test_every_tenth, test_no_rhythm, test_missed)
