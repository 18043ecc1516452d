/* When windows open: every mode of the plan, every transition, with events whose outcome is derived by hand. */
#include "tests/support/suite.h"
#include "tests/support/window_play.h"

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

START_TEST(test_calls_hold_executions_back) { /* of what initialises, until there is no call for very long */
    begin("start_step=10;steps=2");
    ids_window_step(&w, now, IDS_STEP_CALL, SECOND, 0);
    w.counts_calls = 1;
    for (int i = 1; i < IDS_WITHOUT_CALL; i++) ck_assert_int_eq(executed(EVAL), IDS_NOTHING);
    ck_assert_int_eq(ids_window_reached(&w), 0);
    ck_assert_uint_eq(ids_window_front(&w), SECOND);
    ck_assert_int_eq(ids_window_step(&w, now, IDS_STEP_CALL, SECOND, 1), IDS_NOTHING);
    for (int i = 1; i < IDS_WITHOUT_CALL; i++) ck_assert_int_eq(executed(EVAL), IDS_NOTHING);
    ck_assert_int_eq(executed(EVAL), IDS_OPEN);
    ck_assert_uint_eq(ids_window_front(&w), EVAL);
    ck_assert_int_eq(ids_window_reached(&w), 2 * IDS_WITHOUT_CALL - 2);
}
END_TEST

START_TEST(test_span_is_over) { /* when another one is called for longer than it was */
    struct ids_span span = {0};
    const int64_t second = SECOND;
    ids_span_call(&span, 0); /* and compiles */
    for (int i = 50; i <= 55; i++) ids_span_call(&span, i * second);
    ck_assert_int_eq(ids_span_is_over(&span, 5 * second, 0), 0);
    ck_assert_int_eq(ids_span_is_over(&span, 5 * second + 1, 0), 1);
    ck_assert_int_eq(ids_span_is_over(&span, 50 * second, 1), 0);
    ck_assert_int_eq(ids_span_is_over(&span, 51 * second, 1), 1);
    span = (struct ids_span){0};
    ids_span_call(&span, 0);
    ck_assert_int_eq(ids_span_is_over(&span, second, 0), 0);
    ck_assert_int_eq(ids_span_is_over(&span, second + 1, 0), 1);
}
END_TEST

static enum ids_window_action called(int64_t number) {
    return obey(ids_window_step(&w, now, IDS_STEP_CALL, SECOND, number));
}

/* The one window was of what initialises: the loop has one too, at its own step, and no third one comes. */
START_TEST(test_a_window_for_the_loop) {
    for (int is_open = 0; is_open < 2; is_open++) {
        begin("start_step=10;steps=3;max=1");
        for (int i = 0; i < 10; i++) ck_assert_int_eq(called(i), IDS_NOTHING);
        ck_assert_int_eq(called(10), IDS_OPEN);
        for (int i = 11; i < (is_open ? 12 : 14); i++) called(i);
        ck_assert_int_eq(w.state, is_open ? IDS_OPENED : IDS_DONE);
        ids_window_turn(&w, SECOND, 4);
        ck_assert_int_eq(ids_window_reached(&w), 3);
        int opened = 0, first = -1;
        for (int i = 4; i < 40; i++) {
            if (called(i) != IDS_OPEN) continue;
            opened++;
            first = i;
        }
        ck_assert_int_eq(opened, 1);
        ck_assert_int_eq(first, 10);
        ids_window_turn(&w, SECOND, 4);
        for (int i = 4; i < 40; i++) ck_assert_int_eq(called(i), IDS_NOTHING);
    }
    begin("start_step=10;steps=3;max=2;every=20"); /* who asks for several has them */
    for (int i = 0; i < 40; i++) called(i);
    ck_assert_int_eq(w.counted, 2);
    ids_window_turn(&w, SECOND, 4);
    for (int i = 4; i < 40; i++) ck_assert_int_eq(called(i), IDS_NOTHING);
}
END_TEST

/* From the last call of a turn to the last one of another: without the first step, which is in no mean, whole turns. */
START_TEST(test_whole_turns) {
    static const struct {
        int steps, every, first, last;
    } cases[] = {{5, 4, 11, 15}, {5, 7, 13, 20}, {5, 2, 11, 15}, {1, 4, 11, 11}, {9, 4, 11, 19}, {5, 0, 10, 14}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char plan[64];
        snprintf(plan, sizeof plan, "start_step=10;steps=%d;max=1", cases[c].steps);
        begin(plan);
        for (int i = 0; i < 40 && w.state != IDS_DONE; i++) {
            if (cases[c].every) ids_window_in_turn(&w, cases[c].every, i % cases[c].every + 1);
            called(i);
        }
        ck_assert_msg(w.first == cases[c].first && w.last == cases[c].last, "%zu: %lld to %lld", c, (long long)w.first,
                      (long long)w.last);
    }
    for (int steps = -1; steps < 7; steps += 7) { /* a trigger that does not say how many, and one that does */
        const struct ids_window_wish wish = {.steps = steps, .duration_ns = -1};
        begin("steps=5;trigger=1");
        ids_window_in_turn(&w, 4, 2);
        ck_assert_int_eq(obey(ids_window_trigger(&w, &wish)), IDS_OPEN);
        for (int i = 10; i < 40 && w.state == IDS_OPENED; i++) called(i);
        ck_assert_int_eq(w.first, 10);
        ck_assert_int_eq(w.last, steps < 0 ? 17 : 15);
    }
    begin("start_step=10;steps=5;max=1"); /* there are no turns any more */
    for (int i = 0; i < 12; i++) {
        ids_window_in_turn(&w, i < 11 ? 8 : 0, i < 11 ? 3 : 0);
        called(i);
    }
    ck_assert_int_eq(w.first, 11);
}
END_TEST

START_TEST(test_takes_over) {
    begin("start_step=100;steps=2");
    for (int i = 0; i < 5; i++) executed(EVAL);
    for (int i = 0; i < 5; i++) executed(TRAIN);
    ck_assert_int_eq(w.turns, 0);
    ck_assert_uint_eq(ids_window_front(&w), EVAL);
    executed(TRAIN);
    ck_assert_int_eq(w.turns, 1);
    ck_assert_uint_eq(ids_window_front(&w), TRAIN);
    ck_assert_int_eq(w.furthest, 5);
    for (int i = 0; i < 40; i++) { /* in turn, and now the one, now the other is further */
        for (int k = 0; k < 2; k++) executed(i % 2 ? EVAL : TRAIN);
    }
    ck_assert_int_eq(w.turns, 1);
    begin("start_step=100;steps=2"); /* what was executed in between, too, is of the same loop */
    for (int i = 0; i < 5; i++) executed(EVAL);
    for (int i = 0; i < 5; i++) executed(TRAIN);
    executed(EVAL);
    for (int i = 0; i < 5; i++) executed(TRAIN);
    ck_assert_uint_eq(ids_window_front(&w), TRAIN);
    ck_assert_int_eq(w.turns, 0);
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

IDS_RUN_SUITE("window", test_default, test_start_step_0, test_every_and_max, test_steps_jump,
              test_next_start_behind_a_jump, test_numbers_restart, test_resumed, test_same_number_again,
              test_without_numbers, test_huge_numbers, test_the_most_executed_leads, test_two_annotations,
              test_annotations_beat_executions, test_annotations_begin_in_a_window, test_calls_hold_executions_back,
              test_span_is_over, test_a_window_for_the_loop, test_whole_turns, test_takes_over,
              test_too_many_executables, test_delay_and_duration, test_delay_holds_steps_back, test_steps_or_duration,
              test_trigger, test_trigger_max, test_trigger_beside_steps, test_range, test_range_again,
              test_range_ends_late, test_range_from_a_step_on, test_warmup, test_warmup_from_the_first_step,
              test_warmup_that_fails, test_warmup_has_no_duration, test_exit_in_the_warmup)
