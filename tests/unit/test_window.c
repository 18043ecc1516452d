/* When windows open and close: every mode of the plan, every transition, with events whose outcome is derived by
 * hand. */
#include "collectors/common/window.h"

#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TRAIN = 11, EVAL = 12, SECOND = 1000000000 };

static struct ids_window w;
static int64_t now;
static const struct ids_window_wish any = {-1, -1};

static void begin(const char *text) {
    struct ids_plan plan;
    char why[256];
    ck_assert_int_eq(ids_plan_parse(text, &plan, why, sizeof why), 0);
    now = 100 * (int64_t)SECOND;
    ids_window_init(&w, &plan, now);
}

/* What the agent does at once when it is told to. */
static enum ids_window_action obey(enum ids_window_action action) {
    if (action == IDS_CLOSE || action == IDS_REOPEN) ids_window_closed(&w, 0);
    if (action == IDS_OPEN || action == IDS_REOPEN) ids_window_opened(&w, now, 1);
    return action;
}

static enum ids_window_action annotated(uint64_t key, int64_t number) {
    return obey(ids_window_step(&w, now, IDS_STEP_ANNOTATION, key, number));
}

static enum ids_window_action executed(uint64_t key) {
    return obey(ids_window_step(&w, now, IDS_STEP_EXECUTION, key, -1));
}

/* Annotated steps from..to-1: the numbers at which something happened, as "50+ 55-" ("!" the end of a warm-up). */
static const char *events(int64_t from, int64_t to) {
    static char text[512];
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = from; i < to; i++) {
        enum ids_window_action action = annotated(TRAIN, i);
        if (action == IDS_NOTHING) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld%c", used ? " " : "", (long long)i,
                                 " +-!"[action]);
    }
    return text;
}

/* ---- steps ---- */

START_TEST(test_default) {
    begin("");
    ck_assert_str_eq(events(0, 153), "");
    ck_assert_int_eq(w.state, IDS_WAITING);
    ck_assert_str_eq(events(153, 158), "153+");
    ck_assert_int_eq(w.state, IDS_OPENED);
    ck_assert_int_eq(w.first, 153);
    ck_assert_int_eq(w.last, 157);
    ck_assert_int_eq(w.steps_begun, 5);
    ck_assert_str_eq(events(158, 400), "158-");
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_int_eq(w.first, 153);
    ck_assert_int_eq(w.last, 157);
    ck_assert_int_eq(w.opened_by, IDS_BY_STEP);
    ck_assert_int_eq(w.closed_by, IDS_BY_STEP);
}
END_TEST

START_TEST(test_start_step_0) {
    begin("start_step=0;steps=1");
    ck_assert_str_eq(events(0, 9), "0+ 1-");
}
END_TEST

START_TEST(test_every_and_max) {
    begin("start_step=50;every=100;max=3");
    ck_assert_str_eq(events(0, 1000), "50+ 55- 150+ 155- 250+ 255-");
    ck_assert_int_eq(w.number, 3);
    ck_assert_int_eq(w.state, IDS_DONE);
    begin("start_step=1;steps=2;every=10;max=0"); /* no limit */
    ck_assert_str_eq(events(0, 35), "1+ 3- 11+ 13- 21+ 23- 31+ 33-");
}
END_TEST

START_TEST(test_steps_jump) { /* the program counts by tens, and passes over 55 */
    begin("start_step=55;steps=2;every=50;max=2");
    for (int i = 0; i <= 5; i++) ck_assert_int_eq(annotated(TRAIN, 10 * i), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 60), IDS_OPEN);
    ck_assert_int_eq(annotated(TRAIN, 70), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 80), IDS_CLOSE);
    ck_assert_int_eq(w.last, 70);
    ck_assert_int_eq(annotated(TRAIN, 100), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 300), IDS_OPEN); /* 105 is passed over, and so are 155, 205, 255 */
    ck_assert_int_eq(w.first, 300);
}
END_TEST

START_TEST(test_next_start_behind_a_jump) { /* a window that begins late takes no second start of the past */
    begin("start_step=10;steps=1;every=10;max=0");
    ck_assert_int_eq(annotated(TRAIN, 0), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 35), IDS_OPEN);
    ck_assert_int_eq(annotated(TRAIN, 36), IDS_CLOSE);
    ck_assert_str_eq(events(37, 45), "40+ 41-");
}
END_TEST

START_TEST(test_numbers_restart) { /* an epoch of 100 steps: the 151st step is number 50 of the second */
    begin("start_step=150");
    ck_assert_str_eq(events(0, 100), "");
    ck_assert_str_eq(events(0, 100), "50+ 55-");
    ck_assert_int_eq(w.first, 50); /* as the program calls it */
    ck_assert_int_eq(ids_window_reached(&w), 199);
}
END_TEST

START_TEST(test_resumed) { /* the first number is beyond the start: counted from there */
    begin("start_step=150");
    ck_assert_str_eq(events(10000, 10400), "10150+ 10155-");
}
END_TEST

START_TEST(test_same_number_again) { /* microbatches of one step */
    begin("start_step=2;steps=2");
    const int64_t numbers[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
    const enum ids_window_action expected[] = {0, 0, 0, 0, IDS_OPEN, 0, 0, 0, IDS_CLOSE, 0};
    for (size_t i = 0; i < 10; i++) ck_assert_int_eq(annotated(TRAIN, numbers[i]), expected[i]);
}
END_TEST

START_TEST(test_without_numbers) {
    begin("start_step=3;steps=2");
    for (int i = 0; i < 3; i++) ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_OPEN);
    ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_CLOSE);
    ck_assert_int_eq(w.first, 3);
    ck_assert_int_eq(w.last, 4);
}
END_TEST

START_TEST(test_huge_numbers) {
    begin("start_step=9223372036854775807;every=9223372036854775807;steps=1;max=0");
    ck_assert_int_eq(annotated(TRAIN, 5), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, INT64_MAX - 1), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 0), IDS_OPEN);  /* a restart: the position behind the largest number */
    ck_assert_int_eq(annotated(TRAIN, 9), IDS_CLOSE); /* positions saturate and steps are still counted */
    annotated(TRAIN, 3);
    executed(TRAIN);
    ck_assert_int_eq(w.next_start, INT64_MAX);
}
END_TEST

/* ---- two feeders ---- */

START_TEST(test_the_most_executed_leads) {
    begin("start_step=10;steps=3");
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
        if (i % 2) ck_assert_int_eq(executed(EVAL), IDS_NOTHING);
    }
    ck_assert_int_eq(executed(EVAL), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_OPEN);
    for (int i = 0; i < 50; i++) ck_assert_int_eq(executed(EVAL), IDS_NOTHING); /* does not count */
    ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_CLOSE);
}
END_TEST

START_TEST(test_two_annotations) { /* each has its own position */
    begin("start_step=5;steps=2");
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(annotated(TRAIN, i), IDS_NOTHING);
        if (i < 3) ck_assert_int_eq(annotated(EVAL, i), IDS_NOTHING);
    }
    ck_assert_int_eq(annotated(TRAIN, 5), IDS_OPEN);
    ck_assert_int_eq(annotated(EVAL, 3), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 6), IDS_NOTHING);
    ck_assert_int_eq(annotated(EVAL, 4), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 7), IDS_CLOSE);
}
END_TEST

START_TEST(test_annotations_beat_executions) {
    begin("start_step=10;steps=2");
    ck_assert(ids_window_wants(&w, IDS_STEP_EXECUTION));
    for (int i = 0; i < 8; i++) ck_assert_int_eq(executed(TRAIN), IDS_NOTHING); /* compiling, initialising */
    ck_assert_int_eq(annotated(TRAIN, 0), IDS_NOTHING);
    ck_assert(!ids_window_wants(&w, IDS_STEP_EXECUTION));
    for (int i = 1; i < 10; i++) {
        ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
        ck_assert_int_eq(annotated(TRAIN, i), IDS_NOTHING);
    }
    ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 10), IDS_OPEN);
}
END_TEST

START_TEST(test_annotations_begin_in_a_window) { /* that executions opened: it ends by the annotated ones */
    begin("start_step=1;steps=2");
    ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_OPEN);
    ck_assert_int_eq(annotated(TRAIN, 0), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 1), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 2), IDS_CLOSE);
}
END_TEST

START_TEST(test_too_many_executables) {
    begin("start_step=3;steps=1");
    ck_assert_int_eq(executed(7), IDS_NOTHING);
    for (uint64_t key = 1000; key < 1000 + IDS_FEEDERS + 20; key++) ck_assert_int_eq(executed(key), IDS_NOTHING);
    ck_assert_int_eq(w.missed, 21);
    ck_assert_int_eq(executed(7), IDS_NOTHING);
    ck_assert_int_eq(executed(7), IDS_NOTHING);
    ck_assert_int_eq(executed(7), IDS_OPEN);
}
END_TEST

/* ---- time ---- */

START_TEST(test_delay_and_duration) {
    begin("start_step=-1;steps=0;delay_ns=3000000000;duration_ns=2000000000");
    ck_assert_int_eq(ids_window_deadline(&w), 103 * (int64_t)SECOND);
    ck_assert(!ids_window_wants(&w, IDS_STEP_EXECUTION));
    ck_assert(ids_window_wants(&w, IDS_STEP_ANNOTATION));
    now += 3 * (int64_t)SECOND - 1;
    ck_assert_int_eq(ids_window_time(&w, now), IDS_NOTHING);
    ck_assert_int_eq(annotated(TRAIN, 0), IDS_NOTHING);
    now++;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_OPEN);
    ck_assert_int_eq(ids_window_deadline(&w), 105 * (int64_t)SECOND);
    for (int i = 1; i < 20; i++) ck_assert_int_eq(annotated(TRAIN, i), IDS_NOTHING);
    now += 2 * (int64_t)SECOND;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_CLOSE);
    ck_assert_int_eq(w.steps_begun, 19);
    ck_assert_int_eq(w.closed_by, IDS_BY_TIME);
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_int_eq(ids_window_deadline(&w), -1);
    ck_assert_int_eq(ids_window_time(&w, INT64_MAX), IDS_NOTHING);
}
END_TEST

START_TEST(test_delay_holds_steps_back) {
    begin("start_step=2;steps=2;delay_ns=3000000000");
    ck_assert_int_eq(ids_window_deadline(&w), -1); /* a step opens it */
    ck_assert_str_eq(events(0, 10), "");
    now += 3 * (int64_t)SECOND;
    ck_assert_str_eq(events(10, 20), "10+ 12-");
}
END_TEST

START_TEST(test_steps_or_duration) { /* whichever comes first */
    begin("start_step=-1;steps=2;delay_ns=0;duration_ns=10000000000");
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_OPEN);
    ck_assert_int_eq(executed(EVAL), IDS_NOTHING); /* whole steps: the one in which it opened does not count */
    ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_NOTHING);
    ck_assert_int_eq(executed(TRAIN), IDS_CLOSE);
    ck_assert_int_eq(w.steps_begun, 2);
    begin("start_step=0;steps=100;duration_ns=1000000000");
    ck_assert_str_eq(events(0, 50), "0+");
    now += SECOND;
    ck_assert_int_eq(obey(ids_window_time(&w, now)), IDS_CLOSE);
}
END_TEST

/* ---- trigger ---- */

START_TEST(test_trigger) {
    begin("start_step=-1;trigger=1;steps=2;max=0");
    ck_assert_int_eq(ids_window_deadline(&w), -1);
    ck_assert_str_eq(events(0, 300), "");
    ck_assert_int_eq(ids_window_trigger(&w, NULL), IDS_NOTHING); /* nothing is open */
    ck_assert_int_eq(obey(ids_window_trigger(&w, &any)), IDS_OPEN);
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_NOTHING); /* one is open */
    ck_assert_str_eq(events(300, 310), "302-");
    ck_assert_int_eq(obey(ids_window_trigger(&w, &any)), IDS_OPEN);
    ck_assert_int_eq(obey(ids_window_trigger(&w, NULL)), IDS_CLOSE);
    ck_assert_int_eq(w.closed_by, IDS_BY_TRIGGER);
    ck_assert_int_eq(w.number, 2);
    ck_assert_int_eq(w.state, IDS_WAITING);
}
END_TEST

START_TEST(test_trigger_max) {
    begin("start_step=-1;trigger=1;steps=1;max=2");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(obey(ids_window_trigger(&w, &any)), IDS_OPEN);
        ck_assert_int_eq(obey(ids_window_trigger(&w, NULL)), IDS_CLOSE);
    }
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_int_eq(ids_window_trigger(&w, &any), IDS_NOTHING);
}
END_TEST

START_TEST(test_trigger_beside_steps) { /* it takes nothing away from the plan, before and after */
    begin("start_step=10;steps=2");
    ck_assert_int_eq(obey(ids_window_trigger(&w, &any)), IDS_OPEN);
    ck_assert_str_eq(events(0, 20), "2- 10+ 12-");
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_int_eq(obey(ids_window_trigger(&w, &any)), IDS_OPEN);
    ck_assert_str_eq(events(20, 30), "22-");
    ck_assert_int_eq(w.number, 3);
}
END_TEST

/* ---- regions ---- */

START_TEST(test_range) {
    begin("start_step=-1;range=block;steps=0");
    ck_assert_str_eq(events(0, 300), "");
    ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_OPEN);
    ck_assert_str_eq(events(300, 400), "");
    ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_NOTHING); /* nested, or in another thread */
    ck_assert_int_eq(obey(ids_window_range(&w, now, 0)), IDS_NOTHING);
    ck_assert_int_eq(obey(ids_window_range(&w, now, 0)), IDS_CLOSE);
    ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_NOTHING); /* once */
    ck_assert_int_eq(w.state, IDS_DONE);
}
END_TEST

START_TEST(test_range_again) {
    begin("start_step=-1;range=block;steps=0;max=2;delay_ns=1000000000");
    ck_assert_int_eq(ids_window_range(&w, now, 0), IDS_NOTHING); /* an end without a beginning */
    ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_NOTHING);
    now += SECOND;
    ck_assert_int_eq(obey(ids_window_range(&w, now, 0)), IDS_NOTHING);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_OPEN);
        ck_assert_int_eq(obey(ids_window_range(&w, now, 0)), IDS_CLOSE);
    }
    ck_assert_int_eq(ids_window_range(&w, now, 1), IDS_NOTHING);
    begin("start_step=1"); /* no region is asked for */
    ck_assert_int_eq(ids_window_range(&w, now, 1), IDS_NOTHING);
}
END_TEST

START_TEST(test_range_ends_late) { /* it was closed by a stop meanwhile */
    begin("start_step=-1;range=block;steps=0;max=2");
    ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_OPEN);
    ck_assert_int_eq(obey(ids_window_trigger(&w, NULL)), IDS_CLOSE);
    ck_assert_int_eq(obey(ids_window_range(&w, now, 0)), IDS_NOTHING);
    ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_OPEN);
}
END_TEST

START_TEST(test_range_from_a_step_on) {
    begin("start_step=5;range=block;steps=0");
    ck_assert_str_eq(events(0, 5), "");
    ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_NOTHING);
    ck_assert_int_eq(obey(ids_window_range(&w, now, 0)), IDS_NOTHING);
    ck_assert_str_eq(events(5, 6), "");
    ck_assert_int_eq(obey(ids_window_range(&w, now, 1)), IDS_OPEN);
}
END_TEST

/* ---- warm-up ---- */

START_TEST(test_warmup) {
    begin("start_step=50;steps=5;warmup=3;every=100;max=2");
    ck_assert_str_eq(events(0, 49), "47+");
    ck_assert_int_eq(w.warm, 1);
    ck_assert_int_eq(w.number, 1);
    ck_assert_str_eq(events(49, 60), "50! 55-");
    ck_assert_int_eq(w.warm, 0);
    ck_assert_int_eq(w.number, 1);
    ck_assert_int_eq(w.first, 50);
    ck_assert_int_eq(w.last, 54);
    ck_assert_str_eq(events(60, 300), "147+ 150! 155-");
    ck_assert_int_eq(w.state, IDS_DONE);
}
END_TEST

START_TEST(test_warmup_from_the_first_step) {
    begin("start_step=2;steps=1;warmup=5");
    ck_assert_str_eq(events(0, 9), "0+ 2! 3-");
}
END_TEST

START_TEST(test_warmup_that_fails) { /* the window itself is tried, and counts once */
    begin("start_step=10;every=10;max=2;steps=2;warmup=4");
    for (int i = 0; i < 6; i++) annotated(TRAIN, i);
    for (int i = 6; i < 10; i++) {
        ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_ANNOTATION, TRAIN, i), IDS_OPEN);
        ids_window_opened(&w, now, 0);
        ck_assert_int_eq(w.state, IDS_WAITING);
    }
    ck_assert_str_eq(events(10, 40), "10+ 12- 16+ 20! 22-");
    ck_assert_int_eq(w.state, IDS_DONE);
}
END_TEST

START_TEST(test_warmup_has_no_duration) {
    begin("start_step=5;steps=100;warmup=2;duration_ns=1000000000");
    ck_assert_str_eq(events(0, 4), "3+");
    ck_assert_int_eq(ids_window_deadline(&w), -1);
    ck_assert_str_eq(events(4, 6), "5!");
    ck_assert_int_eq(ids_window_deadline(&w), now + SECOND);
}
END_TEST

START_TEST(test_exit_in_the_warmup) {
    begin("start_step=5;steps=2;warmup=2");
    ck_assert_str_eq(events(0, 5), "3+");
    ck_assert_int_eq(ids_window_exit(&w), IDS_CLOSE);
    ck_assert_int_eq(w.warm, 1); /* so that what it caught is thrown away */
    ids_window_closed(&w, 0);
    ck_assert_int_eq(w.state, IDS_DONE);
}
END_TEST

/* ---- ends, failures, and calls at odd times ---- */

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
    ck_assert_int_eq(ids_window_slow(&w, now), IDS_NOTHING);
    ck_assert_int_eq(ids_window_earliest(&w), now + SECOND);
    now += SECOND;
    ck_assert_int_eq(obey(ids_window_slow(&w, now)), IDS_OPEN);
    ck_assert_int_eq(w.opened_by, IDS_BY_SLOW);
    ck_assert_str_eq(events(20, 30), "22-"); /* two whole steps behind the slow one */
    ck_assert_int_eq(w.state, IDS_DONE);
    ck_assert_int_eq(ids_window_slow(&w, now), IDS_NOTHING);
}
END_TEST

START_TEST(test_slow_beside_a_rhythm) { /* a slow step does not wait for the next window of the rhythm */
    begin("start_step=10;steps=1;every_ns=60000000000;when_ratio=2000;max=0");
    ck_assert_str_eq(events(0, 15), "10+ 11-");
    ck_assert_int_eq(obey(ids_window_slow(&w, now)), IDS_OPEN);
    ck_assert_int_eq(obey(ids_window_waste(&w)), IDS_CLOSE);
    ck_assert_int_eq(ids_window_waste(&w), IDS_NOTHING);
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

START_TEST(test_next) { /* up to where steps come to nothing */
    begin("start_step=50;steps=2;warmup=3;every=20;max=2");
    ck_assert_int_eq(ids_window_next(&w), 47);
    events(0, 48);
    ck_assert_int_eq(ids_window_next(&w), INT64_MIN);
    events(48, 60);
    ck_assert_int_eq(ids_window_next(&w), 67);
    events(60, 90);
    ck_assert_int_eq(ids_window_next(&w), INT64_MAX);
    begin("start_step=-1;delay_ns=1000");
    ck_assert_int_eq(ids_window_next(&w), INT64_MAX);
}
END_TEST

IDS_RUN_SUITE("window", test_default, test_start_step_0, test_every_and_max, test_steps_jump,
              test_next_start_behind_a_jump, test_numbers_restart, test_resumed, test_same_number_again,
              test_without_numbers, test_huge_numbers, test_the_most_executed_leads, test_two_annotations,
              test_annotations_beat_executions, test_annotations_begin_in_a_window, test_too_many_executables,
              test_delay_and_duration, test_delay_holds_steps_back, test_steps_or_duration, test_trigger,
              test_trigger_max, test_trigger_beside_steps, test_range, test_range_again, test_range_ends_late,
              test_range_from_a_step_on, test_warmup, test_warmup_from_the_first_step, test_warmup_has_no_duration,
              test_warmup_that_fails, test_exit_in_the_warmup, test_exit, test_failed_start, test_three_failures,
              test_busy, test_busy_at_a_time, test_busy_for_a_trigger, test_other_ends, test_window_bytes, test_full,
              test_while_opening_and_closing, test_stop_that_takes_long, test_every_so_often, test_judged,
              test_slow_beside_a_rhythm, test_wishes, test_next, test_names)
