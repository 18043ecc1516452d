/* How windows end and fail, and what calls at odd times do, with events whose outcome is derived by hand. */
#include "tests/support/suite.h"
#include "tests/support/window_play.h"

START_TEST(test_exit) {
    begin("start_step=3");
    ck_assert_int_eq(ids_window_exit(&w), IDS_NOTHING);
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_str_eq(events(0, 50), "");
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_NOTHING);
    begin("start_step=3");
    ck_assert_str_eq(events(0, 5), "3+");
    ck_assert_int_eq(obey(ids_window_exit(&w)), IDS_CLOSE);
    ck_assert_int_eq(w.closed_by, IDS_BY_EXIT);
    ck_assert_int_eq(w.last, 4);
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_int_eq(ids_window_exit(&w), IDS_NOTHING);
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_NOTHING);
}
END_TEST

START_TEST(test_failed_start) { /* one that is missed is missed; the next has its turn */
    begin("start_step=10;every=10;max=3;steps=2");
    for (int i = 0; i < 10; i++) annotated(TRAIN, i);
    ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, 10), IDS_OPEN);
    ids_window_opened(&w, now, 0);
    ck_assert_int_eq(w.state, IDS_WAITING);
    ck_assert_str_eq(events(11, 60), "20+ 22- 30+ 32-");
    ck_assert_int_eq(w.number, 3);
    ck_assert_int_eq(w.state, IDS_DONE);
}
END_TEST

START_TEST(test_busy) { /* the same window is tried again, and nothing of it counts */
    begin("start_step=10;steps=2");
    for (int i = 0; i < 10; i++) annotated(TRAIN, i);
    for (int i = 10; i < 15; i++) {
        now += SECOND;
        ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, i), IDS_OPEN);
        ck_assert_int_eq(w.number, 1);
        ids_window_busy(&w, now);
        ck_assert_int_eq(w.state, IDS_WAITING);
        ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, i), IDS_NOTHING);
    }
    ck_assert_str_eq(events(15, 16), ""); /* too soon after the last try */
    ids_window_free(&w);
    ck_assert_str_eq(events(16, 40), "16+ 18-");
    ck_assert_int_eq(w.number, 1);
    ck_assert_int_eq(w.first, 16);
    ck_assert_int_eq(w.last, 17);
    ck_assert_int_eq(w.state, IDS_DONE);
}
END_TEST

START_TEST(test_busy_at_a_time) {
    begin("start_step=-1;delay_ns=1000000000;duration_ns=1000000000");
    now += SECOND;
    ck_assert_int_eq(ids_window_time(&w, now), IDS_OPEN);
    ids_window_busy(&w, now);
    ck_assert(ids_window_deadline(&w) > now);
    ck_assert_int_eq(ids_window_time(&w, now), IDS_NOTHING);
    now = ids_window_deadline(&w);
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_OPEN);
    now += SECOND;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_CLOSE);
    ck_assert_int_eq(w.state, IDS_DONE);
}
END_TEST

START_TEST(test_busy_for_a_trigger) { /* who asked is told */
    begin("start_step=-1;trigger=1");
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_OPEN);
    ids_window_busy(&w, now);
    ck_assert_int_eq(w.state, IDS_WAITING);
    ck_assert_int_eq(ids_window_deadline(&w), -1);
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_OPEN);
    ck_assert_int_eq(w.number, 2);
}
END_TEST

START_TEST(test_other_ends) { /* too much memory, exec */
    begin("start_step=3;every=10;max=2");
    ck_assert_int_eq(ids_window_full(&w), IDS_NOTHING);
    ck_assert_int_eq(ids_window_exec(&w), IDS_NOTHING);
    ck_assert_str_eq(events(0, 5), "3+");
    ck_assert_int_eq(obey(ids_window_full(&w)), IDS_CLOSE);
    ck_assert_int_eq(w.closed_by, IDS_BY_SIZE);
    ck_assert_str_eq(events(5, 14), "13+"); /* the next has its turn */
    ck_assert_int_eq(obey(ids_window_exec(&w)), IDS_CLOSE);
    ck_assert_int_eq(w.closed_by, IDS_BY_EXEC);
}
END_TEST

START_TEST(test_window_bytes) {
    struct ids_plan plan;
    char why[256];
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {{"", 0},
                 {"start_step=-1", 256 << 20},
                 {"start_step=5;duration_ns=1", 256 << 20},
                 {"max_window_bytes=7", 7},
                 {"start_step=-1;max_window_bytes=0", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(ids_plan_parse(cases[i].text, &plan, why, sizeof why), 0);
        ck_assert_int_eq(ids_window_bytes(&plan), cases[i].bytes);
    }
}
END_TEST

START_TEST(test_three_failures) {
    begin("start_step=10;every=10;max=0;steps=2");
    for (int i = 0; i < 10; i++) annotated(TRAIN, i);
    for (int i = 1; i <= 3; i++) {
        ck_assert_int_eq(w.state, IDS_WAITING);
        ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, 10 * i), IDS_OPEN);
        ids_window_opened(&w, now, 0);
    }
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_str_eq(events(31, 90), "");
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_OPEN); /* a person may try again */
}
END_TEST

START_TEST(test_full) {
    begin("start_step=10;every=10;max=0;steps=2");
    for (int i = 0; i < 12; i++) annotated(TRAIN, i);
    ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, 12), IDS_CLOSE);
    ids_window_closed(&w, 1);
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_str_eq(events(13, 90), "");
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_NOTHING);
}
END_TEST

START_TEST(test_while_opening_and_closing) { /* everything is answered with nothing, and steps are counted on */
    begin("start_step=2;steps=2;every=10;max=0;duration_ns=1");
    annotated(TRAIN, 0);
    annotated(TRAIN, 1);
    ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, 2), IDS_OPEN);
    ck_assert_int_eq(w.state, IDS_OPENING);
    ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, 3), IDS_NOTHING);
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_NOTHING);
    ck_assert_int_eq(ids_window_trigger(&w, NULL), IDS_NOTHING);
    ck_assert_int_eq(ids_window_time(&w, now + 5), IDS_NOTHING);
    ids_window_closed(&w, 0); /* nobody asked for that */
    ck_assert_int_eq(w.state, IDS_OPENING);
    ids_window_opened(&w, now, 1);
    ids_window_opened(&w, now, 0);
    ck_assert_int_eq(w.state, IDS_OPENED);
    ck_assert_int_eq(ids_window_time(&w, now + 5), IDS_CLOSE);
    ck_assert_int_eq(w.state, IDS_CLOSING);
    for (int i = 4; i < 15; i++) {
        ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, i), IDS_NOTHING);
    }
    ck_assert_int_eq(ids_window_exit(&w), IDS_NOTHING);
    ids_window_closed(&w, 0);
    ck_assert_int_eq(w.state, IDS_DONE); /* for the program ends */
    ck_assert_int_eq(ids_window_reached(&w), 14);
}
END_TEST

START_TEST(test_stop_that_takes_long) { /* 12 passed while it closed: the next start is 22 */
    begin("start_step=2;steps=2;every=10;max=0");
    for (int i = 0; i < 4; i++) annotated(TRAIN, i);
    ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, 4), IDS_CLOSE);
    for (int i = 5; i < 15; i++) ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, i);
    ids_window_closed(&w, 0);
    ck_assert_str_eq(events(15, 30), "22+ 24-");
}
END_TEST

START_TEST(test_names) {
    static const char *const names[] = {"nobody", "step",    "time", "range", "trigger",
                                        "exit",   "program", "size", "exec",  "slow"};
    for (int i = IDS_BY_NOBODY; i <= IDS_BY_SLOW; i++) {
        ck_assert_str_eq(ids_window_cause_name((enum ids_window_cause)i), names[i]);
    }
    begin("");
    ck_assert_int_eq(ids_window_reached(&w), -1);
    executed(EVAL);
    executed(TRAIN);
    executed(TRAIN);
    ck_assert_int_eq(ids_window_reached(&w), 1);
}
END_TEST

START_TEST(test_every_so_often) { /* the next start is the first step after that time */
    begin("start_step=1;steps=2;every_ns=5000000000;max=3");
    ck_assert_str_eq(events(0, 9), "1+ 3-");
    now += 5 * (int64_t)SECOND - 1;
    ck_assert_str_eq(events(9, 12), "");
    now += 1;
    ck_assert_str_eq(events(12, 16), "12+ 14-");
    now += 7 * (int64_t)SECOND;
    ck_assert_str_eq(events(16, 30), "16+ 18-");
    ck_assert_int_eq(w.state, IDS_DONE);
    begin("start_step=-1;steps=0;delay_ns=1000000000;duration_ns=2000000000;every_ns=10000000000;max=2");
    ck_assert_int_eq(ids_window_deadline(&w), now + SECOND);
    now += SECOND;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_OPEN);
    now += 2 * (int64_t)SECOND;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_CLOSE);
    ck_assert_int_eq(ids_window_deadline(&w), now + 8 * (int64_t)SECOND); /* from start to start */
    now += 8 * (int64_t)SECOND;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_OPEN);
    now += 2 * (int64_t)SECOND;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_CLOSE);
    ck_assert_int_eq(w.state, IDS_DONE);
}
END_TEST

START_TEST(
    test_judged) { /* windows one behind the other; one that is not kept does not count, and gives its number back */
    begin("start_step=10;steps=2;when_ratio=2000;max=2");
    ck_assert_str_eq(events(0, 12), "10+");
    ids_window_drop(&w);
    ck_assert_int_eq(annotated(TRAIN, 12), IDS_CLOSE);
    ck_assert_int_eq(w.number, 0);
    ck_assert_str_eq(events(13, 16), "13+ 15-");
    ck_assert_int_eq(w.number, 1);
    ck_assert_int_eq(w.first, 13);
    ids_window_pause(&w, now + 9 * (int64_t)SECOND, now + SECOND);
    ck_assert_str_eq(events(16, 20), "");
    ck_assert_int_eq(ids_window_slow(&w, now, 0), IDS_NOTHING);
    ck_assert_int_eq(ids_window_earliest(&w, 0), now + SECOND);
    ck_assert_int_le(ids_window_earliest(&w, 1), now); /* beyond the budget it does not wait */
    now += SECOND;
    ck_assert_int_eq(obey(ids_window_slow(&w, now, 0)), IDS_OPEN);
    ck_assert_int_eq(w.opened_by, IDS_BY_SLOW);
    ck_assert_str_eq(events(20, 30), "22-"); /* two whole steps behind the slow one */
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_int_eq(ids_window_slow(&w, now, 0), IDS_NOTHING);
}
END_TEST

START_TEST(test_slow_beside_a_rhythm) { /* a slow step does not wait for the next window of the rhythm */
    begin("start_step=10;steps=1;every_ns=60000000000;when_ratio=2000;max=0");
    ck_assert_str_eq(events(0, 15), "10+ 11-");
    ck_assert_int_eq(obey(ids_window_slow(&w, now, 0)), IDS_OPEN);
    ck_assert_int_eq(obey(ids_window_waste(&w)), IDS_CLOSE);
    ck_assert_int_eq(ids_window_waste(&w), IDS_NOTHING);
    ids_window_pause(&w, 0, now + 9 * (int64_t)SECOND);
    ck_assert_int_eq(ids_window_slow(&w, now, 0), IDS_NOTHING);
    ck_assert_int_eq(obey(ids_window_slow(&w, now, 1)), IDS_OPEN); /* one that stands out, whatever the budget says */
    ck_assert_int_eq(obey(ids_window_waste(&w)), IDS_CLOSE);
    now += 60 * (int64_t)SECOND;
    ck_assert_str_eq(events(15, 20), "15+ 16-");
}
END_TEST

START_TEST(test_wishes) { /* of a trigger: its steps or its time instead of the plan's */
    const struct ids_window_wish two_steps = {2, -1}, a_second = {-1, SECOND};
    begin("start_step=1000;steps=5;duration_ns=60000000000");
    ck_assert_str_eq(events(0, 3), "");
    ck_assert_int_eq(obey(ids_window_trigger(&w, &two_steps)), IDS_OPEN);
    ck_assert_int_eq(ids_window_deadline(&w), -1);
    ck_assert_str_eq(events(3, 20), "5-");
    ck_assert_int_eq(obey(ids_window_trigger(&w, &a_second)), IDS_OPEN);
    ck_assert_int_eq(ids_window_deadline(&w), now + SECOND);
    ck_assert_str_eq(events(20, 90), "");
    now += SECOND;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_CLOSE);
    ck_assert_int_eq(obey(ids_window_trigger(&w, &any)), IDS_OPEN); /* the plan's again */
    ck_assert_int_eq(ids_window_deadline(&w), now + 60 * (int64_t)SECOND);
    ck_assert_str_eq(events(90, 200), "95-");
}
END_TEST

static int passes(int64_t number) {
    return ids_window_passes(&w, IDS_STEP_ANNOTATION, TRAIN, number);
}

START_TEST(test_passes) { /* up to where a step opens a window */
    begin("start_step=50;steps=2;warmup=3;every=20;max=2");
    ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_EXECUTION, 1, 0), IDS_NOTHING);
    ck_assert_int_eq(ids_window_passes(&w, IDS_STEP_EXECUTION, 1, 1), 1);
    ck_assert_int_eq(ids_window_passes(&w, IDS_STEP_EXECUTION, 2, 1), 0); /* a feeder that is not known yet */
    ck_assert_int_eq(passes(0), 0);                                       /* the first one ends what executions count */
    events(0, 40);
    ck_assert_int_eq(passes(46), 1);
    ck_assert_int_eq(passes(47), 0);
    events(40, 48);
    ck_assert_int_eq(passes(48), 0); /* it is open */
    events(48, 60);
    ck_assert_int_eq(passes(66), 1);
    ck_assert_int_eq(passes(67), 0);
    events(60, 90);
    ck_assert_int_eq(passes(1000), 1); /* there is none any more */
    begin("start_step=-1;delay_ns=1000");
    annotated(TRAIN, 0);
    ck_assert_int_eq(passes(1), 1); /* steps open none */
}
END_TEST

/* A program that begins to count anew goes on where it was, so that a small number may open a window. */
START_TEST(test_passes_by_position) {
    begin("start_step=50;steps=2");
    events(0, 40);
    for (int64_t number = 0; number < 10; number++) {
        ck_assert_int_eq(passes(number), 1);
        ck_assert_int_eq(obey(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, number)), IDS_NOTHING);
    }
    ck_assert_int_eq(passes(10), 0);
    ck_assert_int_eq(obey(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, 10)), IDS_OPEN);
}
END_TEST

IDS_RUN_SUITE("window_ends", test_exit, test_failed_start, test_busy, test_busy_at_a_time, test_busy_for_a_trigger,
              test_other_ends, test_window_bytes, test_three_failures, test_full, test_while_opening_and_closing,
              test_stop_that_takes_long, test_names, test_every_so_often, test_judged, test_slow_beside_a_rhythm,
              test_wishes, test_passes, test_passes_by_position)
