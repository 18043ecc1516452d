/* Steps that take longer at equal distances, in the history of a capture. */
#include "lib/run/rhythm.h"
#include "tests/support/suite.h"

#include <string.h>

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

/* After a checkpoint a step is a little longer, so no two long steps follow each other at the distance. */
START_TEST(test_the_step_after) {
    every(30, 29);
    for (int i = 0; i < STEPS; i++) {
        if (i % 30 == 29) steps[i].took_ns = 60000000;
        if (i % 30 == 0) steps[i].took_ns = 1800000;
    }
    steps[158].took_ns = 1700000;
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 1);
    ck_assert_int_eq(rhythm.period, 30);
    ck_assert_int_eq(rhythm.first, 29);
    ck_assert_int_eq(rhythm.took_ns, 60000000);
    ck_assert_int_eq(rhythm.last, 199);
    for (int i = 9; i < STEPS; i += 10) steps[i].took_ns = i % 30 == 29 ? 60000000 : 1700000; /* of two the greater */
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 1);
    ck_assert_int_eq(rhythm.took_ns, 60000000);
}
END_TEST

/* 165 steps of a tiny program on a busy machine: five of six steps of 29, 53, 77, 101, ... are long, as others are. */
START_TEST(test_noise) {
    static const struct ids_rhythm_step slow[] = {
        {10, 1700},  {21, 23900}, {29, 4300},  {36, 6600},  {53, 6700},  {77, 2200},  {110, 6800},
        {115, 4100}, {116, 2300}, {119, 2000}, {125, 2100}, {130, 1600}, {131, 1600}, {137, 2200},
        {138, 1900}, {145, 2700}, {146, 2600}, {149, 6700}, {154, 1900}, {155, 1800}, {157, 1700}};
    every(STEPS, STEPS);
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) steps[slow[i].number].took_ns = slow[i].took_ns * 1000;
    ck_assert_int_eq(ids_rhythm_find(steps, 165, &rhythm), 0);
    ck_assert_int_eq(ids_rhythm_find(steps + 10, 155, &rhythm), 0);
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
    rhythm = (struct ids_rhythm){10, 0, 9000000, 1000000, 199, NULL};
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

START_TEST(test_measures_what_there_is) {
    struct ids_report report;
    rhythm = (struct ids_rhythm){30, 29, 60000000, 1000000, 163, NULL}; /* no step 179 */
    ck_assert_ptr_nonnull(strstr(missed(&report, 153, 157, 153), "such as step 149, and"));
    ids_report_done(&report);
    ck_assert_ptr_nonnull(strstr(missed(&report, 153, 157, 153), "--start-step 148 --steps 16 measures one"));
    ids_report_done(&report);
    rhythm.last = 179; /* whether it is whole is not known */
    ck_assert_ptr_nonnull(strstr(missed(&report, 153, 157, 153), "--start-step 148 --steps 31 measures one"));
    ids_report_done(&report);
    rhythm.last = 180;
    ck_assert_ptr_nonnull(strstr(missed(&report, 153, 157, 153), "--start-step 178 --steps 3 measures one"));
    ids_report_done(&report);
}
END_TEST

/* With the tenth step the loop's other function is called; that some others take as long hides no turn. */
START_TEST(test_of_turn) {
    every(10, 0);
    for (int i = 0, at = 1; at < STEPS; at += 2 + i++ % 3) steps[at].took_ns = 9000000;
    ck_assert_int_eq(ids_rhythm_find(steps, STEPS, &rhythm), 0);
    ck_assert_int_eq(ids_rhythm_of_turn(steps, STEPS, 10, 0, &rhythm), 1);
    ck_assert_int_eq(rhythm.period, 10);
    ck_assert_int_eq(rhythm.first, 0);
    ck_assert_int_eq(rhythm.took_ns, 9000000);
    ck_assert_int_eq(rhythm.usual_ns, 1000000);
    ck_assert_int_eq(rhythm.last, STEPS - 1);
    ck_assert_int_eq(ids_rhythm_of_turn(steps, STEPS, 10, 2, &rhythm), 0); /* as long as others */
    ck_assert_int_eq(ids_rhythm_of_turn(steps, 30, 10, 0, &rhythm), 0);    /* three of them */
}
END_TEST

static int is_measured(int64_t first, int64_t last, int64_t left_out) {
    struct ids_report report;
    (void)missed(&report, first, last, left_out);
    int is = ids_rhythm_is_measured(&rhythm, steps, STEPS, &report);
    ids_report_done(&report);
    return is;
}

/* Every 10th step takes 9 ms: of a window that has one in ten steps the share is that of the run. */
START_TEST(test_its_share) {
    every(10, 0);
    rhythm = (struct ids_rhythm){10, 0, 9000000, 1000000, 199, NULL};
    ck_assert_int_eq(is_measured(109, 119, 109), 1); /* 110 to 119 */
    ck_assert_int_eq(is_measured(109, 118, 109), 1); /* one less */
    ck_assert_int_eq(is_measured(109, 117, 109), 0);
    ck_assert_int_eq(is_measured(109, 120, 109), 0); /* two in 11 */
    ck_assert_int_eq(is_measured(109, 128, -1), 1);
    ck_assert_int_eq(is_measured(111, 119, -1), 0);
    ck_assert_int_eq(is_measured(110, 119, 110), 0); /* the window opened with it */
    steps[114].took_ns = 4900000;
    ck_assert_int_eq(is_measured(109, 119, 109), 1);
    steps[114].took_ns = 5000000; /* another step is slow, and that may be chance */
    ck_assert_int_eq(is_measured(109, 119, 109), 0);
    struct ids_report report;
    ids_report_init(&report);
    ck_assert_int_eq(ids_rhythm_is_measured(&rhythm, steps, STEPS, &report), 0); /* no steps */
    ids_report_done(&report);
}
END_TEST

IDS_RUN_SUITE("rhythm", test_every_tenth, test_no_rhythm, test_the_step_after, test_noise, test_missed,
              test_measures_what_there_is, test_of_turn, test_its_share)
