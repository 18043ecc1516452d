/* Slow steps that take much of a run, and of which the report measures none. */
#include "lib/run/missed.h"
#include "tests/support/suite.h"

#include <math.h>

enum { STEPS = 100 };

static struct ids_missed_step steps[STEPS];
static struct ids_missed missed;
static struct ids_report report;

/* Steps of 1 ms, but for those of 11 ms at these places; 50 to 54 are in a window, and 51 to 54 measured. */
static void set(const int *slow, size_t count) {
    for (int i = 0; i < STEPS; i++)
        steps[i] = (struct ids_missed_step){.number = i, .took_ns = 1000000, .is_recorded = i > 50 && i <= 54};
    for (size_t i = 0; i < count; i++) {
        steps[slow[i]].took_ns = 11000000;
        steps[slow[i]].longer_ns = 10000000;
    }
    ids_report_done(&report);
    ids_report_init(&report);
    ids_report_property(&report, "steps.first", ids_int_value(IDS_UNIT_COUNT, 50));
    ids_report_property(&report, "steps.last", ids_int_value(IDS_UNIT_COUNT, 54));
    ids_report_property(&report, "steps.left_out", ids_int_value(IDS_UNIT_COUNT, 50));
}

static const int few[] = {80, 12, 31, 50};

static int find(void) {
    for (int i = 0; i < STEPS; i++) steps[i].usual_ns = steps[i].took_ns - steps[i].longer_ns;
    return ids_missed_find(steps, STEPS, NULL, 0, &report, &missed);
}

START_TEST(test_found) {
    set(few, 3);
    ck_assert_int_eq(find(), 1);
    ck_assert_uint_eq(missed.slow, 3);
    ck_assert_uint_eq(missed.steps, STEPS);
    ck_assert_int_eq(missed.longer_ns, 30000000);
    ck_assert_int_eq(missed.total_ns, 130000000);
    ck_assert_int_eq(missed.took_ns, 11000000);
    ck_assert_int_eq(missed.is_rhythm, 0);
    set(few, 4); /* the step that the window opened in is in no mean */
    ck_assert_int_eq(find(), 1);
    ck_assert_uint_eq(missed.slow, 4);
    ids_report_done(&report);
}
END_TEST

/* One step has half of what two lose: it may be chance, and a run that is longer has no more of it. */
START_TEST(test_once) {
    set(few, 2);
    steps[few[0]].took_ns = 91000000, steps[few[0]].longer_ns = 90000000;
    steps[few[1]].longer_ns = 10000000 - 1;
    ck_assert_int_eq(find(), 0);
    steps[few[1]].longer_ns++;
    ck_assert_int_eq(find(), 1);
    set(few, 2); /* 20 ms in two that are alike */
    for (int i = 0; i < STEPS; i++) steps[i].took_ns /= 2;
    ck_assert_int_eq(find(), 1);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_compiled) {
    set(few, 3);
    for (int i = 0; i < 3; i++) steps[few[i]].compile_ns = 4000000 + i, steps[few[i]].compiled = i ? "score" : "init";
    ck_assert_int_eq(find(), 1);
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_null(strstr(report.advice[0].what, "in compilations"));
    for (int i = 0; i < 3; i++) steps[few[i]].compile_ns = 30000000 / 3 / 2;
    ck_assert_int_eq(find(), 1);
    ck_assert_int_eq(missed.compile_ns, 15000000);
    steps[few[1]].compile_ns++;
    ck_assert_int_eq(find(), 1);
    missed.busy = 1, missed.others = .95;
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(
        strstr(report.advice[0].what, ", 50.0 % of it in compilations (longest: score) - keep shapes"));
    ids_report_done(&report);
}
END_TEST

START_TEST(test_little_of_the_run) {
    set(few, 3); /* 25 ms longer are a fifth of 125 ms, and less are not */
    for (int i = 0; i < 3; i++) steps[few[i]].longer_ns = 26000000 / 3 + 1;
    ck_assert_int_eq(find(), 1);
    for (int i = 0; i < 3; i++) steps[few[i]].longer_ns = 25900000 / 3;
    ck_assert_int_eq(find(), 0);
    set(few, 3);
    for (int i = 0; i < STEPS; i++) steps[i].took_ns /= 3, steps[i].longer_ns /= 3; /* 10 ms, less what is rounded */
    ck_assert_int_eq(find(), 0);
    steps[few[0]].longer_ns += 1;
    ck_assert_int_eq(find(), 1);
    for (int less = 0; less < 2;
         less++) { /* 14 ms longer are an eighth of 114 ms: in steps 8 times as long as others */
        set(few, 2);
        for (int i = 0; i < 2; i++) steps[few[i]].took_ns = 8000000 - less, steps[few[i]].longer_ns = 7000000 - less;
        ck_assert_int_eq(find(), !less);
    }
    set(few, 1); /* one may be chance, however long it takes */
    steps[few[0]].longer_ns = steps[few[0]].took_ns = 900000000;
    ck_assert_int_eq(find(), 0);
    ck_assert_int_eq(ids_missed_find(steps, 0, NULL, 0, &report, &missed), 0);
    ids_report_done(&report);
}
END_TEST

/* Also where it is not said to be slow: recorded steps are held against one another. */
START_TEST(test_measured) {
    set(few, 3);
    steps[52].took_ns = 5400000;
    ck_assert_int_eq(find(), 1);
    steps[52].took_ns = 5500000;
    ck_assert_int_eq(find(), 0);
    set(few, 3);
    steps[31].is_recorded = 1; /* in another window */
    ck_assert_int_eq(find(), 0);
    set(few, 3);
    ids_report_done(&report);
    ids_report_init(&report); /* no steps */
    ck_assert_int_eq(find(), 0);
    ids_report_done(&report);
}
END_TEST

/* Many that are noise beside few that lose the time: to have measured noise says nothing of these. */
/* The window has left the history: its steps are in the report alone. */
START_TEST(test_before_the_history) {
    static const struct ids_column_def columns[] = {{.id = "step", .unit = IDS_UNIT_COUNT},
                                                    {.id = "duration", .unit = IDS_UNIT_TIME}};
    static const struct ids_table_def def = {.id = "steps", .columns = columns, .column_count = 2};
    set(few, 3);
    for (int i = 0; i < STEPS; i++) steps[i].number += 1000, steps[i].is_recorded = 0;
    ck_assert_int_eq(find(), 1);
    struct ids_table *table = ids_report_table(&report, &def);
    for (int i = 50; i <= 54; i++) {
        int64_t took_ps = i == 50 ? 11000000000 : 1000000000; /* 50 opened the window, and is in no mean */
        ids_report_row(
            &report, table,
            (const struct ids_value[]){ids_int_value(IDS_UNIT_COUNT, i), ids_int_value(IDS_UNIT_TIME, took_ps)});
    }
    ck_assert_int_eq(find(), 1);
    const struct ids_value warm[] = {ids_int_value(IDS_UNIT_COUNT, 9), ids_int_value(IDS_UNIT_TIME, 5500000000)};
    ids_report_row(&report, table, warm); /* one of the first, which compile */
    ck_assert_int_eq(find(), 1);
    ids_report_row(
        &report, table,
        (const struct ids_value[]){ids_int_value(IDS_UNIT_COUNT, 55), ids_int_value(IDS_UNIT_TIME, 5500000000)});
    ck_assert_int_eq(find(), 0);
    steps[90].number = 52; /* the history has the window, and it counts */
    steps[90].is_recorded = 1;
    ck_assert_int_eq(find(), 1);
    ids_report_done(&report);
}
END_TEST

START_TEST(few_lose_the_time) {
    set(few, 3);
    for (int i = 60; i < 75; i++) steps[i].took_ns = 2500000, steps[i].longer_ns = 1500000;
    for (int i = 51; i < 54; i++) steps[i].took_ns = 2500000, steps[i].longer_ns = 1500000;
    ck_assert_int_eq(find(), 1);
    ck_assert_uint_eq(missed.slow, 21);
    ck_assert_int_eq(missed.took_ns, 11000000);
    ck_assert_int_eq(missed.first[0], 12);
    ck_assert_int_eq(missed.first[2], 80);
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_str_eq(report.advice[0].evidence,
                     "the slow steps lose 57.00 ms, half of it in steps of 11.00 ms and more, of 157.0 ms; by the "
                     "history, after the first ten steps");
    missed.of = 110; /* the first ten alone */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].evidence, "by the history, after the first ten steps"));
    missed.of = 130;
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].evidence,
                                 "by the history, of whose 130 steps 100 are judged: not the "
                                 "first ten, nor those that mostly compiled"));
    steps[52].took_ns = 5500000;
    ck_assert_int_eq(find(), 0);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_rhythm) {
    static const int tenth[] = {20, 30, 40, 60, 70, 80};
    struct ids_rhythm rhythm = {.period = 10, .first = 0, .took_ns = 11000000, .usual_ns = 1000000};
    set(tenth, 6);
    ck_assert_int_eq(ids_missed_find(steps, STEPS, &rhythm, 0, &report, &missed), 1);
    ck_assert_int_eq(missed.is_rhythm, 1);
    steps[33].took_ns = steps[35].took_ns = steps[37].took_ns = 2000000; /* a machine's noise */
    for (int i = 33; i <= 37; i += 2) steps[i].longer_ns = 1000000;
    for (int i = 41; i <= 45; i++) steps[i].longer_ns = 1; /* and what a rule calls slow */
    ck_assert_int_eq(ids_missed_find(steps, STEPS, &rhythm, 0, &report, &missed), 1);
    ids_missed_tell(&missed, "one of 10 steps takes 11.00 ms", &report);
    /* 14 are called slow, of which the median takes 2 ms; six take 10 ms more each, of 100 + 60 + 3 ms. */
    ck_assert_str_eq(report.advice[0].evidence,
                     "those of that rhythm lose 60.00 ms, half of it in steps of 11.00 ms and more, of 163.0 ms; with "
                     "the other slow ones, 8, it is 38.7 %; by the history, after the first ten steps");
    ck_assert_str_eq(report.advice[0].what,
                     "6 of 100 steps are slow in a rhythm, and lose 36.8 % of the run's time: one of 10 steps takes "
                     "11.00 ms");
    set(tenth, 6); /* half of 90 ms are lost in those of 30 and 20 ms; with the 40 ms of another one, in it and 30 ms */
    steps[20].took_ns = 31000000, steps[20].longer_ns = 30000000;
    steps[30].took_ns = 21000000, steps[30].longer_ns = 20000000;
    steps[33].took_ns = 41000000, steps[33].longer_ns = 40000000;
    ck_assert_int_eq(ids_missed_find(steps, STEPS, &rhythm, 0, &report, &missed), 1);
    ck_assert_int_eq(missed.took_ns, 21000000);
    steps[20].took_ns = 91000000, steps[20].longer_ns = 90000000; /* 80 of 190 ms, where none has more than 20 */
    ck_assert_int_eq(ids_missed_find(steps, STEPS, &rhythm, 0, &report, &missed), 1);
    ck_assert_int_eq(missed.is_rhythm, 0);
    ck_assert_int_eq(missed.in_rhythm_ns, 150000000);
    set(tenth, 6);
    rhythm.first = 3; /* of shorter ones */
    ck_assert_int_eq(ids_missed_find(steps, STEPS, &rhythm, 0, &report, &missed), 1);
    ck_assert_int_eq(missed.is_rhythm, 0);
    ids_report_done(&report);
}
END_TEST

/* Each tenth step takes 11 ms because a turn of the loop ends in it: 90 of 190 ms. */
START_TEST(test_turn) {
    static const int tenth[] = {10, 20, 30, 40, 50, 60, 70, 80, 90};
    struct ids_rhythm turn = {.period = 10, .usual_ns = 1000000, .turn = "apply"};
    set(tenth, 9);
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 5, .what = "a"});
    ck_assert_int_eq(ids_missed_tell_turn(steps, STEPS, &turn, "one of 10 steps", &report), 1);
    ck_assert_str_eq(report.advice[0].what, "a");
    ck_assert_str_eq(report.advice[1].what,
                     "apply is called with one of 10 steps, and 47.4 % of the run's time lies there: one of 10 steps");
    ck_assert(fabs(ids_report_find_property(&report, "steps.missed_share")->d - 90.0 / 190) < 1e-12);
    report.advice_count = 1;
    steps[20].took_ns += 10000000; /* 100 of 200 */
    ck_assert_int_eq(ids_missed_tell_turn(steps, STEPS, &turn, "one of 10 steps", &report), 1);
    ck_assert_str_eq(report.advice[1].what, "a");
    set(few, 3); /* 10 ms of 130 */
    ck_assert_int_eq(ids_missed_tell_turn(steps, STEPS, &turn, "one of 10 steps", &report), 0);
    ids_report_done(&report);
}
END_TEST

START_TEST(test_told) {
    set(few, 3);
    ck_assert_int_eq(find(), 1);
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 5, .what = "a"});
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 4, .what = "b"});
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_uint_eq(report.advice_count, 3);
    ck_assert_str_eq(report.advice[0].what,
                     "3 of 100 steps are slow, such as steps 12, 31 and 80, and lose 23.1 % of the run's time; none "
                     "like these is measured here - record one: idsprof capture --when 'step > 2x'");
    ck_assert_str_eq(report.advice[0].evidence,
                     "the slow steps lose 30.00 ms, half of it in steps of 11.00 ms and more, of 130.0 ms; by the "
                     "history, after the first ten steps");
    ck_assert_int_eq(report.advice[0].saves_ps, -1);
    ck_assert(fabs(ids_report_find_property(&report, "steps.missed_share")->d - 30.0 / 130) < 1e-12);
    ck_assert_str_eq(report.advice[1].what, "a");
    ck_assert_str_eq(report.advice[2].what, "b");
    for (int i = 0; i < STEPS; i++) steps[i].number = -1;
    ids_report_property(&report, "steps.first", ids_int_value(IDS_UNIT_COUNT, 0));
    ck_assert_int_eq(find(), 1);
    ck_assert_uint_eq(missed.first_count, 0);
    /* The window was kept for a step like these; or for another one. */
    ck_assert_int_eq(ids_missed_find(steps, STEPS, NULL, 11000000 / 2, &report, &missed), 0);
    ck_assert_int_eq(ids_missed_find(steps, STEPS, NULL, 11000000 / 2 - 1, &report, &missed), 1);
    ids_missed_tell(&missed, "one of 10 steps takes long", &report);
    ck_assert_str_eq(report.advice[0].what,
                     "3 of 100 steps are slow, and lose 23.1 % of the run's time: one of 10 steps takes long");
    ids_report_done(&report);
}
END_TEST

/* What held up the slow step that the window opened with is recorded, and comes before all; not where it is a usual one
 * beside those that lose the time. */
START_TEST(test_told_behind_the_opening) {
    const struct ids_advice opening = {.account = "host.python", .explain = "idle.longest", .what = "step 50"};
    for (int is_busy = 0; is_busy < 2; is_busy++) {
        set(few, 4);
        ck_assert_int_eq(find(), 1);
        missed.busy = missed.others = is_busy ? 1 : 0;
        ids_report_advice(&report, &(struct ids_advice){.what = "a", .account = "host.python"});
        ids_report_advice(&report, &(struct ids_advice){.what = "b", .explain = "idle.longest"});
        ids_report_advice(&report, &opening);
        ids_missed_tell(&missed, NULL, &report);
        ck_assert_uint_eq(report.advice_count, 4);
        ck_assert_str_eq(report.advice[0].what, "step 50");
        ck_assert_ptr_nonnull(strstr(report.advice[1].what, "4 of 100 steps are slow"));
        const char *whole =
            "none like these is measured here, and the one that opened the window not whole - record one "
            "whole: idsprof capture --when";
        ck_assert_int_eq(strstr(report.advice[1].what, whole) != NULL, !is_busy);
        ck_assert_str_eq(report.advice[2].what, "a");
        ck_assert_str_eq(report.advice[3].what, "b");
        ids_report_done(&report);
    }
    set(few, 4);
    steps[50].took_ns = 5400000;
    ck_assert_int_eq(find(), 1);
    ids_report_advice(&report, &opening);
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "none like these is measured here - record one: idsprof"));
    ck_assert_str_eq(report.advice[1].what, "step 50");
    ids_report_done(&report);
}
END_TEST

/* Steps of 100 ms, and three of 1.1 s. */
static void set_long(void) {
    set(few, 3);
    for (int i = 0; i < STEPS; i++) steps[i].took_ns *= 100, steps[i].longer_ns *= 100;
}

/* Others had three quarters of the cores while all were busy. */
START_TEST(on_a_busy_machine) {
    const char *const alone = "none like these is measured here";
    set_long();
    ck_assert_int_eq(find(), 1);
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 5, .what = "a"});
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 4, .what = "b"});
    missed.busy = 0.12;   /* the slow steps take 23.1 % */
    missed.others = 0.82; /* who has a fifth of the cores takes five times as long, and twice that is not unusual */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_str_eq(report.advice[0].what, "a");
    ck_assert_str_eq(report.advice[1].what,
                     "3 of 100 steps are slow, such as steps 12, 31 and 80, and lose 23.1 % of the run's time, while "
                     "other processes had 82.0 % of the machine's cores - run it without them; "
                     "should steps be slow then too, record one: idsprof capture --when 'step > 2x'");
    ck_assert_str_eq(report.advice[1].evidence,
                     "the slow steps lose 3.000 s, half of it in steps of 1.100 s and more, of 13.00 s; by the "
                     "history, after the first ten steps; all cores were busy for 12.0 % of the run");
    ck_assert_ptr_null(ids_report_find_property(&report, "steps.missed_share")); /* nothing of it to compare */
    missed.busy = 0.11;
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, alone));
    missed.busy = 1;
    ids_missed_tell(&missed, "one of 10 steps takes long", &report); /* which others do not */
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "one of 10 steps"));
    ck_assert_ptr_null(strstr(report.advice[0].evidence, "cores"));
    ids_report_done(&report);
    set_long();
    ck_assert_int_eq(find(), 1);
    missed.busy = missed.others = 1;
    ids_missed_tell(&missed, NULL, &report); /* the only piece there is */
    ck_assert_uint_eq(report.advice_count, 1);
    report.advice_count = 0;
    missed.others = 0.85; /* up to 13 times as long */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "run it without them"));
    report.advice_count = 0;
    missed.half_ns = 80000000000; /* sharing explains those that are noise, not the few that lose half of the time */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, alone));
    report.advice_count = 0;
    missed.is_by_rule = 1; /* which has just missed them */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "record one: idsprof capture --keep-slowest 1"));
    missed.is_by_rule = 0;
    missed.half_ns = 1000000000;
    report.advice_count = 0;
    missed.others = 0.81; /* 2 / 0.19 is less than the eleven times as long that they take */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, alone));
    ck_assert_ptr_null(strstr(report.advice[0].evidence, "cores"));
    ids_report_done(&report);
}
END_TEST

/* A step of 1.1 s in which the program waited for 20 steps of its device lost a third of that time. */
START_TEST(ahead_on_a_busy_machine) {
    static const char *const rhythm = "one of 20 steps takes long";
    set_long();
    for (int i = 0; i < STEPS; i++) steps[i].usual_ns = steps[i].longer_ns ? 2000000000 : 100000000;
    ck_assert_int_eq(ids_missed_find(steps, STEPS, NULL, 0, &report, &missed), 1);
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 5, .what = "a"});
    missed.busy = 1;
    missed.others = 0.1;
    missed.is_by_device = 1;
    ids_missed_tell(&missed, rhythm, &report);
    ck_assert_str_eq(report.advice[0].what, "a");
    ck_assert_ptr_nonnull(strstr(report.advice[1].what, "while other processes had 10.0 %"));
    ck_assert_ptr_null(strstr(report.advice[1].what, rhythm)); /* that of its waits */
    report.advice_count = 1;
    missed.is_by_device = 0;
    ids_missed_tell(&missed, rhythm, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, rhythm));
    report.advice_count = 1;
    missed.is_by_device = 1;
    missed.busy = 0.1; /* of a machine with free cores others take none away */
    ids_missed_tell(&missed, rhythm, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, rhythm));
    ids_report_done(&report);
}
END_TEST

/* Steps of 1 ms are shorter than the 4 ms for which who has a core keeps it. */
START_TEST(short_on_a_busy_machine) {
    set(few, 3);
    ck_assert_int_eq(find(), 1);
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 5, .what = "a"});
    missed.busy = 1;
    missed.others = 0.65; /* 11 ms less 7.4 of turns, less than twice what a third of a core makes of 1 ms */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_str_eq(report.advice[0].what, "a");
    ck_assert_ptr_nonnull(strstr(report.advice[1].what, "run it without them"));
    ck_assert_ptr_nonnull(strstr(report.advice[1].evidence,
                                 "all cores were busy for 100.0 % of the run, and who has one keeps it for "
                                 "milliseconds, for which a short step waits"));
    report.advice_count = 1;
    missed.others = 0.55; /* 4.9 and 4.4 ms are not 11 */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "none like these is measured here"));
    ids_report_done(&report);
}
END_TEST

/* 20 steps of 100 lose 5 ms and more, and `early` of the others 2 ms. */
static void wait_from(int64_t least_ns, int early) {
    set(few, 0);
    for (int i = 0; i < 20; i++) steps[2 * i].longer_ns = least_ns + i * 400000;
    for (int i = 0; i < early; i++) steps[90 + i].longer_ns = 2000000;
    for (int i = 0; i < STEPS; i++) steps[i].took_ns += steps[i].longer_ns;
}

static int is_of_others(void) {
    ck_assert_int_eq(find(), 1);
    missed.busy = 1;
    missed.others = 0.8;
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 5, .what = "a"});
    ids_missed_tell(&missed, NULL, &report);
    return strstr(report.advice[1].what, "run it without them") != NULL;
}

/* Who waits for a core loses two milliseconds as often as six, and who waits for Python's lock five and more. */
START_TEST(of_the_lock) {
    wait_from(4900000, 2);
    ck_assert_int_eq(is_of_others(), 0);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what,
                                 "none like these is measured here; another thread of the program "
                                 "may have Python's lock - record one: "));
    ck_assert_ptr_nonnull(strstr(report.advice[0].evidence,
                                 "; they begin to lose at 5 ms, for which a thread waits for Python's lock while "
                                 "another one computes"));
    wait_from(4900000, 3);
    ck_assert_int_eq(is_of_others(), 1);
    ck_assert_ptr_null(strstr(report.advice[1].evidence, "lock"));
    wait_from(5300000, 0); /* 5.3 and 5.7 ms */
    ck_assert_int_eq(is_of_others(), 0);
    wait_from(5700000, 0); /* one of 20 */
    ck_assert_int_eq(is_of_others(), 1);
    wait_from(5000000, 0);
    steps[2].took_ns++; /* a usual step is longer than a millisecond */
    ck_assert_int_eq(is_of_others(), 1);
    wait_from(5000000, 0);
    for (int i = 0; i < 11; i++) steps[2 * i].longer_ns = 0, steps[2 * i].took_ns = 1000000; /* too few */
    steps[22].took_ns -= 4200000, steps[22].longer_ns -= 4200000;
    ck_assert_int_eq(is_of_others(), 1);
    ids_report_done(&report);
}
END_TEST

START_TEST(of_garbage) {
    static const char *const what =
        "3 of 100 steps are slow, such as steps 12, 31 and 80, and lose 23.1 % of the run's time, 60.0 % of it in "
        "collections of garbage - make fewer objects in a step, take what stays out of the "
        "collector (gc.freeze after setup), or gc.disable and gc.collect at a step of your choice; where the objects "
        "are made: idsprof capture --when 'step > 2x'";
    set(few, 3);
    steps[12].garbage_ns = 11000000; /* of which 10 ms make it slow */
    steps[31].garbage_ns = 8000000;
    steps[52].garbage_ns = 900000; /* of a usual step */
    ck_assert_int_eq(find(), 1);
    ck_assert_int_eq(missed.garbage_ns, 18000000);
    missed.busy = missed.others = 1; /* others are not to blame */
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_str_eq(report.advice[0].what, what);
    ck_assert_ptr_null(strstr(report.advice[0].evidence, "cores"));
    ids_missed_tell(&missed, "one of 10 steps takes long", &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "time, 60.0 % of it in collections of garbage: one of 10"));
    set(few, 3);
    steps[12].garbage_ns = 10000000; /* a third */
    ck_assert_int_eq(find(), 1);
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_null(strstr(report.advice[0].what, "garbage"));
    ids_report_done(&report);
}
END_TEST

/* 3, unknown, 20, 3 (another), unknown, 7, and one that takes 8 */
START_TEST(advice_by_saving) {
    enum { COUNT = 7 };
    static const int64_t savings[COUNT] = {3, -1, 20, 3, -1, 7, -1}, takes[COUNT] = {0, 0, 0, 0, 0, 0, 8},
                         wanted[COUNT] = {20, -1, -1, 7, -1, 3, 3};
    static const char *const names[COUNT] = {"a", "b", "c", "d", "e", "f", "g"}, *const order[COUNT] = {
                                                                                     "c", "b", "g", "f", "e", "a", "d"};
    struct ids_report all;
    ids_report_init(&all);
    for (size_t i = 0; i < COUNT; i++)
        ids_report_advice(&all, &(struct ids_advice){.saves_ps = savings[i], .takes_ps = takes[i], .what = names[i]});
    ids_report_advice_by_saving(&all);
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(all.advice[i].saves_ps, wanted[i]);
        ck_assert_str_eq(all.advice[i].what, order[i]);
    }
    ids_report_done(&all);
}
END_TEST

static size_t place_beside(int64_t saves_ps, int64_t chance_ps, const char *culprit) {
    set(few, 3);
    ck_assert_int_eq(find(), 1);
    ids_report_advice_at(&report,
                         &(struct ids_advice){.saves_ps = saves_ps,
                                              .chance_ps = chance_ps,
                                              .per_step = 1,
                                              .account = "host.python",
                                              .culprit = culprit,
                                              .what = "it"},
                         0);
    ids_missed_tell(&missed, NULL, &report);
    size_t place = 0;
    while (!strstr(report.advice[place].what, "are slow")) place++;
    ids_report_done(&report);
    return place;
}

/* Three steps of 100 lose 30 ms: what takes more than 0.3 ms of each step comes before that. */
START_TEST(behind_more_of_each_step) {
    ck_assert_uint_eq(place_beside(300000000, 0, "load"), 0);
    ck_assert_uint_eq(place_beside(300000001, 0, "load"), 1);
    ck_assert_uint_eq(place_beside(500000000, 200000000, "load"), 0);
    ck_assert_uint_eq(place_beside(900000000, 0, "wait_for_core"), 0);
}
END_TEST

/* Where garbage was collected in the window that is reported. */
START_TEST(garbage_at_a_line) {
    static const struct ids_column_def columns[] = {{"culprit", "culprit", IDS_UNIT_NONE, 0},
                                                    {"where", "where", IDS_UNIT_NONE, 0}};
    static const struct ids_table_def ledger = {"ledger", "ledger", columns, 2, "", 0};
    set(few, 3);
    for (int i = 0; i < 3; i++) steps[few[i]].garbage_ns = 9000000;
    ck_assert_int_eq(find(), 1);
    struct ids_table *table = ids_report_table(&report, &ledger);
    struct ids_value load[] = {ids_text_value("load"), ids_text_value("train.py:8")},
                     garbage[] = {ids_text_value("collect garbage"), ids_text_value("train.py:88")};
    IDS_ROW(&report, table, columns, load);
    IDS_ROW(&report, table, columns, garbage);
    ids_missed_tell(&missed, NULL, &report);
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "collections of garbage, most of what is recorded here at "
                                                        "train.py:88 - make fewer objects"));
    ids_report_done(&report);
}
END_TEST

IDS_RUN_SUITE("missed", test_found, test_once, test_compiled, test_little_of_the_run, test_measured,
              test_before_the_history, few_lose_the_time, test_rhythm, test_turn, test_told,
              test_told_behind_the_opening, on_a_busy_machine, ahead_on_a_busy_machine, short_on_a_busy_machine,
              of_the_lock, of_garbage, advice_by_saving, behind_more_of_each_step, garbage_at_a_line)
