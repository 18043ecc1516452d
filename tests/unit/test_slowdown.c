/* Steps that take longer in the window than around it, by the history of a capture. */
#include "lib/run/slowdown.h"
#include "tests/support/suite.h"

#include <string.h>

enum { STEPS = 60 };

static struct ids_slowdown_step steps[STEPS];
static struct ids_slowdown slowdown;
static struct ids_report report;
static int64_t step_ns; /* by the devices */

/* Steps of 742 us, and of 40 to 44, of which the first is not measured, such that are recorded. */
static void record(int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t took[] = {9000000, a, b, c, d};
    for (int i = 0; i < STEPS; i++) steps[i] = (struct ids_slowdown_step){i, 742000, 0, 0};
    for (int i = 0; i < 5; i++) steps[40 + i] = (struct ids_slowdown_step){40 + i, took[i], 1, 0};
    steps[45] = (struct ids_slowdown_step){45, 20000000, 1, 0}; /* in which the window closed */
    step_ns = 0;
    ids_report_done(&report);
    ids_report_init(&report);
    ids_report_property(&report, "steps.first", ids_int_value(IDS_UNIT_COUNT, 40));
    ids_report_property(&report, "steps.last", ids_int_value(IDS_UNIT_COUNT, 44));
    ids_report_property(&report, "steps.left_out", ids_int_value(IDS_UNIT_COUNT, 40));
}

static int find(const struct ids_slowdown_step *from, size_t count) {
    return ids_slowdown_find(from, count, &report, step_ns, &slowdown);
}

START_TEST(test_found) {
    record(1232000, 1100000, 1300000, 1400000);
    ck_assert_int_eq(find(steps, STEPS), 1);
    ck_assert_int_eq(slowdown.recorded_ns, 1232000);
    ck_assert_int_eq(slowdown.usual_ns, 742000);
    record(1000000, 1000000, 900000, 1000000); /* a quarter longer is 927.5 us */
    ck_assert_int_eq(find(steps, STEPS), 1);
    record(900000, 900000, 900000, 1000000);
    ck_assert_int_eq(find(steps, STEPS), 0);
    record(742000, 60000000, 742000, 60000000); /* two are slow by themselves */
    ck_assert_int_eq(find(steps, STEPS), 0);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_too_few) {
    record(1500000, 1500000, 1500000, 1500000);
    steps[43].is_recorded = steps[44].is_recorded = 0;
    ck_assert_int_eq(find(steps, STEPS), 0);
    record(1100000, 1100000, 1100000, 1100000); /* half as long again is 1113 us */
    ck_assert_int_eq(find(steps + 40, 20), 0);  /* none before */
    ck_assert_int_eq(find(steps, 46), 0);       /* none after */
    ck_assert_int_eq(find(steps + 35, 15), 0);  /* nine */
    ck_assert_int_eq(find(steps + 34, 16), 1);
    ck_assert_uint_eq(slowdown.around, 10);
    ck_assert_int_eq(find(steps, 0), 0);
    ids_report_done(&report);
    ids_report_init(&report); /* no steps */
    ck_assert_int_eq(find(steps, STEPS), 0);
    ids_report_done(&report);
}
END_TEST

/* Twice as long is no chance, though there be few steps outside, or all on one side. */
START_TEST(test_far_slower_beside_few) {
    record(1500000, 1500000, 1500000, 1500000);
    ck_assert_int_eq(find(steps + 40, 20), 1);
    ck_assert_uint_eq(slowdown.around, 14);
    ck_assert_str_eq(slowdown.side, "after");
    ck_assert_int_eq(find(steps + 35, 11), 1);
    ck_assert_uint_eq(slowdown.around, 5);
    ck_assert_str_eq(slowdown.side, "before");
    ck_assert_int_eq(slowdown.usual_ns, 742000);
    ck_assert_int_eq(find(steps + 36, 10), 0); /* four */
    ck_assert_int_eq(find(steps + 38, 11), 1);
    ck_assert_str_eq(slowdown.side, "around");
    ids_slowdown_tell(&slowdown, &report);
    ck_assert_str_eq(ids_report_find_property(&report, "recording")->text,
                     "steps in the window took 2.02 × as long as the 5 around it: 1.500 ms against 742.0 us");
    ids_report_done(&report);
}
END_TEST

/* Around are 20 to 39, and 46 to 59, which are all. */
START_TEST(test_nearest_steps) {
    record(1500000, 1500000, 1500000, 1500000);
    for (int i = 0; i < 20; i++) steps[i].took_ns = 100000; /* too far */
    ck_assert_int_eq(find(steps, STEPS), 1);
    ck_assert_int_eq(slowdown.usual_ns, 742000);
    ck_assert_uint_eq(slowdown.around, 34);
    for (int i = 50; i < 53; i++) steps[i] = (struct ids_slowdown_step){i, 9000000, 1, 0}; /* another window */
    ck_assert_int_eq(find(steps, STEPS), 1);
    ck_assert_uint_eq(slowdown.around, 31);
    ids_report_done(&report);
}
END_TEST

/* The program itself becomes slower in the window, or quicker: what is longer than on either side, by half, counts. */
START_TEST(test_sides_differ) {
    record(1380000, 1380000, 1380000, 1380000);
    for (int i = 46; i < STEPS; i++) steps[i].took_ns = 925000; /* a quarter longer is 927.5 us */
    ck_assert_int_eq(find(steps, STEPS), 1);
    for (int i = 46; i < STEPS; i++) steps[i].took_ns = 930000;
    ck_assert_int_eq(find(steps, STEPS), 0);
    record(1100000, 1100000, 1100000, 1100000);
    for (int i = 46; i < STEPS; i++) steps[i].took_ns = 590000;
    ck_assert_int_eq(find(steps, STEPS), 0);
    record(14840000, 14840000, 14840000, 14840000);
    for (int i = 46; i < STEPS; i++) steps[i].took_ns = 930000;
    ck_assert_int_eq(find(steps, STEPS), 1);
    ck_assert_int_eq(slowdown.usual_ns, 742000);
    ids_report_done(&report);
}
END_TEST

/* Four of ten steps are slow, in the window and out of it. */
START_TEST(test_slow_by_itself) {
    record(8708000, 8708000, 8708000, 8708000);
    for (int i = 0; i < STEPS; i++) {
        if (i % 10 >= 4 && i % 10 < 8 && !steps[i].is_recorded) steps[i].took_ns = 8600000;
    }
    ck_assert_int_eq(find(steps, STEPS), 0);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_kept_for_a_step) {
    record(1500000, 1500000, 1500000, 1500000);
    ids_report_property(&report, "kept", ids_text_value("step 42 took 11.1 ms, 17.6 × the median"));
    ck_assert_int_eq(find(steps, STEPS), 0);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_told) {
    record(1000, 1000, 1000, 1000);
    slowdown = (struct ids_slowdown){.recorded_ns = 1484000, .usual_ns = 742000, .around = 40, .side = "around"};
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 1040000000, .per_step = 1, .evidence = "most"});
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 1040000000, .evidence = "most"}); /* of the window */
    ids_report_advice(&report,
                      &(struct ids_advice){.saves_ps = -1, .takes_ps = 700, .per_step = 1, .evidence = "most"});
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 3000000000, .per_step = 1, .evidence = "most"});
    ids_slowdown_tell(&slowdown, &report);
    ck_assert_str_eq(ids_report_find_property(&report, "recording")->text,
                     "steps in the window took 2.00 × as long as the 40 around it: 1.484 ms against 742.0 us");
    ck_assert_int_eq(report.advice[0].saves_ps, 191009900); /* 520 of 2020 us, which are 742 */
    ck_assert_str_eq(
        report.advice[0].evidence,
        "most; steps in the window took 2.00 × as long as those around it (742.0 us), so the saving is less");
    ck_assert_int_eq(report.advice[1].saves_ps, 1040000000);
    ck_assert_str_eq(report.advice[1].evidence, "most");
    ck_assert_int_eq(report.advice[2].saves_ps, -1);
    ck_assert_int_eq(report.advice[2].takes_ps, 350);
    ck_assert_int_eq(report.advice[3].saves_ps, 550990099); /* a step longer than the usual one */
    ids_report_done(&report);
    record(1000, 1000, 1000, 1000);
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 740000000, .per_step = 1, .evidence = "most"});
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 500000000, .per_step = 1, .evidence = "most"});
    ids_slowdown_tell(&slowdown, &report);
    ck_assert_int_eq(report.advice[0].saves_ps, 370000000); /* together they are less than a step */
    ck_assert_int_eq(report.advice[1].saves_ps, 250000000);
    ids_report_done(&report);
    for (int is_of_few = 0; is_of_few < 2; is_of_few++) { /* two of four take far longer than the others */
        record(1000, 1000, 1000, 1000);
        slowdown.recorded_mean_ns = 2 * slowdown.recorded_ns - !is_of_few;
        ids_report_advice(&report, &(struct ids_advice){.saves_ps = 1040000000, .per_step = 1, .evidence = "most"});
        ids_slowdown_tell(&slowdown, &report);
        ck_assert_int_eq(report.advice[0].saves_ps == 1040000000, is_of_few);
        ids_report_done(&report);
    }
}
END_TEST

/* One of 20 steps takes 92 ms, in the window as outside: what it lost there is lost in the run, however much longer the
 * short steps take. */
START_TEST(test_told_of_a_rhythm) {
    record(1000, 1000, 1000, 1000);
    slowdown = (struct ids_slowdown){1111000, 700000, 40, "around", 5892000, 6500000};
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 1452000000, .per_step = 1, .evidence = "most"});
    ids_slowdown_tell(&slowdown, &report);
    ck_assert_str_eq(ids_report_find_property(&report, "recording")->text,
                     "steps in the window took 1.59 × as long as the 40 around it: 1.111 ms against 700.0 us");
    ck_assert_int_eq(report.advice[0].saves_ps, 1452000000);
    ck_assert_str_eq(report.advice[0].evidence, "most");
    slowdown.recorded_mean_ns = 13000000; /* that step as well was slow to record */
    ids_slowdown_tell(&slowdown, &report);
    ck_assert_int_eq(report.advice[0].saves_ps, 726000000);
    ck_assert_str_eq(report.advice[0].evidence,
                     "most; steps in the window took 2.00 × as long as the mean step of the run with its slow "
                     "ones (6.500 ms), so the saving is less");
    ids_report_done(&report);
}
END_TEST

/* Of 54 steps outside the window so many take 8 ms, where the others take 742 us. */
static int find_often(int slow, int64_t took_ns, struct ids_slow_often *often) {
    record(8000000, 8000000, 8000000, 742000);
    for (int i = 0; i < slow; i++) steps[i * 37 % 40].took_ns = took_ns;
    return ids_slow_often_find(steps, STEPS, &report, often);
}

START_TEST(test_slow_often) {
    struct ids_slow_often often;
    ck_assert_int_eq(find_often(6, 8000000, &often), 1);
    ck_assert_uint_eq(often.slow, 6);
    ck_assert_uint_eq(often.steps, 54);
    ck_assert_int_eq(often.mean_ns, (6 * INT64_C(8000000) + 48 * INT64_C(742000)) / 54);
    ck_assert_int_eq(find_often(4, 8000000, &often), 0); /* of 54, no tenth */
    ck_assert_int_eq(find_often(6, 1484000, &often), 0); /* twice the median, and no more */
    ck_assert_int_eq(find_often(6, 1600000, &often), 0); /* they lose an eighth of the time */
    ck_assert_int_eq(find_often(12, 8000000, &often), 1);
    for (int i = 40; i < 45; i++) steps[i].took_ns = 742000; /* none is measured */
    ck_assert_int_eq(ids_slow_often_find(steps, STEPS, &report, &often), 0);
    ck_assert_int_eq(ids_slow_often_find(steps, 0, &report, &often), 0);
    /* The window has left the history, and one of its steps is in the report. */
    static const struct ids_column_def columns[] = {{.id = "step", .unit = IDS_UNIT_COUNT},
                                                    {.id = "duration", .unit = IDS_UNIT_TIME}};
    static const struct ids_table_def def = {.id = "steps", .columns = columns, .column_count = 2};
    const struct ids_value row[] = {ids_int_value(IDS_UNIT_COUNT, 12), ids_int_value(IDS_UNIT_TIME, 8000000000)};
    ids_report_row(&report, ids_report_table(&report, &def), row);
    ck_assert_int_eq(ids_slow_often_find(steps, STEPS, &report, &often), 0); /* the history knows better */
    for (int i = 40; i < 45; i++) steps[i].is_recorded = 0;
    ck_assert_int_eq(ids_slow_often_find(steps, STEPS, &report, &often), 1);
    ids_report_done(&report);
    /* A window of slow steps: the run's mean is what the saving is held against. */
    slowdown = (struct ids_slowdown){.recorded_ns = 6000000, .usual_ns = 742000};
    ck_assert_int_eq(ids_slow_often_measured(&slowdown), 1);
    slowdown.recorded_ns = 1484000; /* one that is slow to record */
    ck_assert_int_eq(ids_slow_often_measured(&slowdown), 0);
}
END_TEST

/* What one step of the window has, and so may be chance, is more than what all have. */
START_TEST(test_slow_often_told) {
    const struct ids_slow_often often = {.slow = 79, .steps = 283};
    for (int is_chance = 0; is_chance < 2; is_chance++) {
        record(1000, 1000, 1000, 1000);
        ids_report_advice(&report, &(struct ids_advice){.saves_ps = 335000000, .per_step = 1, .what = "all"});
        ids_report_advice(&report, &(struct ids_advice){.saves_ps = 1120000000,
                                                        .chance_ps = is_chance ? 1120000000 : 0,
                                                        .per_step = 1,
                                                        .what = "one",
                                                        .evidence = "1.120 ms"});
        ids_slow_often_tell(&often, &report);
        ck_assert_str_eq(report.advice[0].what, is_chance ? "one" : "all"); /* another rule had put it there */
        ck_assert_str_eq(report.advice[is_chance ? 0 : 1].evidence,
                         is_chance ? "1.120 ms; its size is unsure, because the window has few steps; 79 of the run's "
                                     "283 other steps take more than twice the median"
                                   : "1.120 ms");
        ids_report_done(&report);
    }
}
END_TEST

/* The devices' steps count, not the host's: it made them as usual. */
START_TEST(test_shorter) {
    record(742000, 742000, 742000, 742000);
    step_ns = 430000;
    ck_assert_int_eq(find(steps, STEPS), 1);
    ck_assert_int_eq(slowdown.recorded_ns, 430000);
    ck_assert_int_eq(slowdown.usual_ns, 742000);
    ck_assert_uint_eq(slowdown.around, 34);
    step_ns = 0; /* of devices of other processes */
    ck_assert_int_eq(find(steps, STEPS), 0);
    step_ns = 430000;
    for (int i = 0; i < 35; i++) steps[i].took_ns = 594000; /* a quarter of them is not half longer than 430 us */
    for (int i = 46; i < STEPS; i++) steps[i].took_ns = 930000;
    ck_assert_int_eq(find(steps, STEPS), 0);
    for (int i = 0; i < 35; i++) steps[i].took_ns = 700000;
    ck_assert_int_eq(find(steps, STEPS), 1);
    ids_report_done(&report);
    record(742000, 742000, 742000, 742000);
    step_ns = 600000; /* a quarter longer is 750 us */
    ck_assert_int_eq(find(steps, STEPS), 0);
    ids_report_done(&report);
    record(742000, 742000, 742000, 742000);
    step_ns = 590000;
    ck_assert_int_eq(find(steps, STEPS), 1);
    ids_report_done(&report);
}
END_TEST

/* Those around the window are unlike each other, and say nothing: the run does. */
START_TEST(test_shorter_than_the_run) {
    static struct ids_slowdown_step many[100];
    record(430000, 430000, 430000, 430000);
    step_ns = 430000;
    for (int i = 0; i < 100; i++) many[i] = (struct ids_slowdown_step){i, 742000, 0, 0};
    for (int i = 20; i < 66; i += 2) many[i].took_ns = 430000;
    memcpy(many + 40, steps + 40, 6 * sizeof *many);
    ck_assert_int_eq(find(many, 100), 1);
    ck_assert_str_eq(slowdown.side, "outside");
    ck_assert_uint_eq(slowdown.around, 94);
    ck_assert_int_eq(slowdown.recorded_ns, 430000);
    ck_assert_int_eq(slowdown.usual_ns, 742000);
    ck_assert_int_eq(find(many, 86), 0); /* of 80 a quarter are as those of the window */
    ck_assert_int_eq(find(many + 20, 44), 0);
    for (int i = 20; i < 66; i++) many[i].took_ns = 430000; /* it is alike all around: that part of the run is so */
    ck_assert_int_eq(find(many, 100), 0);
    ids_report_done(&report);
}
END_TEST

/* Another window of the run has steps of the same numbers, as calls of another function have. */
START_TEST(test_numbers_of_another_window) {
    record(1500000, 1500000, 1500000, 1500000);
    for (int i = 40; i < 46; i++) steps[i].is_of_other = 1;
    ck_assert_int_eq(find(steps, STEPS), 0);
    for (int i = 0; i < 5; i++) {
        steps[10 + i] = steps[40 + i];
        steps[10 + i].took_ns = 742000;
        steps[10 + i].is_of_other = 0;
    }
    ck_assert_int_eq(find(steps, STEPS), 0);
    for (int i = 0; i < 5; i++) steps[10 + i].took_ns = 1500000;
    ck_assert_int_eq(find(steps, STEPS), 1);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_shorter_told) {
    record(1000, 1000, 1000, 1000);
    slowdown = (struct ids_slowdown){.recorded_ns = 430000, .usual_ns = 742000, .around = 40, .side = "around"};
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 90000000, .per_step = 1, .account = "host.sync"});
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = -1, .per_step = 1, .account = "work.compute"});
    ids_slowdown_tell(&slowdown, &report);
    ck_assert_str_eq(ids_report_find_property(&report, "recording")->text,
                     "steps in the window took 0.58 × as long as the 40 around it: 430.0 us against 742.0 us: the "
                     "window is not typical");
    ck_assert_uint_eq(report.advice_count, 3);
    ck_assert_int_eq(report.advice[0].saves_ps, 90000000);
    ck_assert_ptr_null(report.advice[0].evidence);
    ck_assert_ptr_nonnull(strstr(report.advice[1].what, "Steps in the window took 0.58 × as long as the 40 around it: "
                                                        "the window is not typical"));
    ck_assert_str_eq(report.advice[2].account, "work.compute");
    ids_report_done(&report);
    record(1000, 1000, 1000, 1000); /* less than a tenth of 430 us */
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 42000000, .per_step = 1, .account = "host.sync"});
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = -1, .per_step = 1, .account = "work.compute"});
    ids_slowdown_tell(&slowdown, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "the window is not typical"));
    ck_assert_int_eq(report.advice[1].saves_ps, 42000000);
    ids_report_done(&report);
    record(1000, 1000, 1000, 1000);
    ids_slowdown_tell(&slowdown, &report); /* nothing is said of compute */
    ck_assert_uint_eq(report.advice_count, 0);
    ids_report_done(&report);
}
END_TEST

IDS_RUN_SUITE("slowdown", test_found, test_too_few, test_far_slower_beside_few, test_nearest_steps, test_sides_differ,
              test_slow_by_itself, test_kept_for_a_step, test_told, test_told_of_a_rhythm, test_slow_often,
              test_slow_often_told, test_shorter, test_shorter_than_the_run, test_numbers_of_another_window,
              test_shorter_told)
