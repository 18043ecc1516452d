/* Which steps are slow and which windows are kept for them, with times whose outcome is derived by hand; and the
 * history's file, read back as bytes. */
#include "collectors/common/history.h"
#include "collectors/common/recorder.h"

#include "tests/support/remove_tree.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MS = 1000000 };

static struct ids_recorder r;
static int64_t now, instead, held_against; /* the median of the step that ended last */
static int was_slow;

static void begin(const char *text) {
    struct ids_plan plan;
    char why[256];
    ck_assert_int_eq(ids_plan_parse(text, &plan, why, sizeof why), 0);
    ids_recorder_init(&r, &plan);
    now = 50 * (int64_t)MS;
    ids_recorder_step(&r, now, 0, &held_against);
}

/* The step that runs takes so long, and the next one begins. */
static void took(int64_t ns) {
    now += ns;
    was_slow = ids_recorder_step(&r, now, r.number + 1, &held_against);
}

static void usual(int steps) {
    for (int i = 0; i < steps; i++) took(MS + i % 3 * 1000);
}

static int closes(int64_t window) {
    return ids_recorder_close(&r, now, window, 0, 0, &instead);
}

START_TEST(test_median) {
    struct ids_median median = {0};
    for (int i = 0; i < IDS_WARM_STEPS - 1; i++) ids_median_add(&median, 7);
    ck_assert_int_eq(ids_median_of(&median), 0); /* too few to say */
    ids_median_add(&median, 7);
    ck_assert_int_eq(ids_median_of(&median), 7);
    /* Against a plain sort of the last values, over a sequence with repeats and jumps. */
    int64_t values[1000];
    median = (struct ids_median){0};
    for (int i = 0; i < 1000; i++) {
        values[i] = (int64_t)i * 7919 % 613 + (i > 500 ? 100000 : 0);
        ids_median_add(&median, values[i]);
        int count = i + 1 < IDS_MEDIAN_OF ? i + 1 : IDS_MEDIAN_OF, below = 0, equal = 0;
        if (count < IDS_WARM_STEPS) continue;
        int64_t found = ids_median_of(&median);
        for (int k = i + 1 - count; k <= i; k++) {
            below += values[k] < found;
            equal += values[k] == found;
        }
        ck_assert_int_le(below, count / 2);
        ck_assert_int_gt(below + equal, count / 2);
    }
}
END_TEST

START_TEST(test_twice_the_median) {
    begin("when_ratio=2000;start_step=10");
    usual(100);
    ids_recorder_open(&r, now, now);
    took(2 * MS - MS / 10);
    ck_assert_int_eq(was_slow, 0);
    ck_assert_int_eq(closes(1), 0); /* 1.9 times is not slow */
    ids_recorder_open(&r, now, now);
    int64_t number = r.number;
    took(41 * MS / 10);
    ck_assert_int_eq(was_slow, 1);
    int64_t median_ns = held_against;
    usual(1);
    ck_assert_int_eq(was_slow, 0);
    ck_assert_int_eq(closes(1), 1);
    ck_assert_int_eq(r.worst.number, number);
    ck_assert_int_eq(r.worst.median_ns, median_ns);
    ck_assert_int_eq(r.worst.took_ns, 41 * MS / 10);
    ck_assert_int_ge(r.worst.median_ns, MS);
    ck_assert_int_lt(r.worst.median_ns, MS + 3000);
    ck_assert_int_eq(r.worst.late_ns, 0);
    ck_assert_int_eq(r.slow, 1);
    ck_assert_int_eq(r.slow_missed, 0);
}
END_TEST

START_TEST(test_warm_up) { /* the steps that compile are no outliers, nor is anything before there is a median */
    begin("when_ratio=2000;start_step=10");
    ids_recorder_open(&r, now, now);
    took(3000 * (int64_t)MS);
    took(800 * (int64_t)MS);
    usual(8);
    ck_assert_int_eq(closes(1), 0);
    ck_assert_int_eq(r.slow, 0);
    begin("when_ns=500000000;start_step=10"); /* nor by time alone */
    ids_recorder_open(&r, now, now);
    took(3000 * (int64_t)MS);
    ck_assert_int_eq(closes(1), 0);
    usual(10);
    ids_recorder_open(&r, now, now);
    took(501 * (int64_t)MS);
    ck_assert_int_eq(closes(1), 1);
    begin("when_ns=500000000;start_step=40"); /* nor before --start-step */
    usual(30);
    ids_recorder_open(&r, now, now);
    took(501 * (int64_t)MS);
    ck_assert_int_eq(closes(1), 0);
}
END_TEST

START_TEST(test_the_program_slows_down) { /* the median runs along: what is usual by now is not slow */
    begin("when_ratio=2000;start_step=10");
    usual(200);
    for (int i = 0; i < 100; i++) took(3 * MS);
    ck_assert_int_gt(r.slow, 0);
    int64_t before = r.slow;
    ck_assert_int_le(before, IDS_MEDIAN_OF / 2 + 1);
    ids_recorder_open(&r, now, now);
    took(3 * MS);
    ck_assert_int_eq(closes(1), 0);
    ck_assert_int_eq(r.slow, before);
}
END_TEST

START_TEST(test_our_own_time) { /* what the program stood still for us is not its step's */
    begin("when_ratio=2000;start_step=10");
    usual(50);
    ids_recorder_stall(&r, 30 * MS);
    ids_recorder_open(&r, now + 30 * MS, now + 30 * MS);
    took(31 * MS);
    ck_assert_int_eq(closes(1), 0);
    /* A window that another thread opens leaves the step in doubt, unless it was slow by then. */
    ids_recorder_doubt(&r, now + MS);
    ids_recorder_open(&r, now + 2 * MS, now + 2 * MS);
    took(5 * MS);
    ck_assert_int_eq(closes(1), 0);
    ids_recorder_doubt(&r, now + 3 * MS);
    ids_recorder_open(&r, now + 3 * MS, now + 3 * MS);
    took(5 * MS);
    ck_assert_int_eq(closes(1), 1);
    ck_assert_int_eq(r.worst.late_ns, 3 * MS);
}
END_TEST

START_TEST(test_profiled_steps_among_themselves) { /* a profiler that doubles each step makes none of them slow */
    begin("when_ratio=1500;start_step=10");
    usual(50);
    ids_recorder_open(&r, now, now);
    for (int i = 0; i < 12; i++) took(14 * MS / 10);
    ck_assert_int_eq(closes(1), 0);
    for (int k = 0; k < 20; k++) {
        usual(20);
        ids_recorder_open(&r, now, now);
        for (int i = 0; i < 5; i++) took(18 * MS / 10);
        ck_assert_int_eq(closes(1), 0);
    }
}
END_TEST

/* When the step that runs opens a window within the budget. */
static int64_t opens(void) {
    return ids_recorder_deadline(&r, 0);
}

/* And beyond it. */
static int64_t stands_out(void) {
    return ids_recorder_deadline(&r, 1);
}

START_TEST(test_deadline) {
    begin("when_ratio=2000;start_step=10");
    ck_assert_int_eq(opens(), -1);
    ck_assert_int_eq(stands_out(), -1);
    for (int i = 0; i < 20; i++) took(MS);
    ck_assert_int_eq(opens(), now + 2 * MS + 1);
    ck_assert_int_eq(stands_out(), now + 4 * MS + 1);
    ids_recorder_stall(&r, MS);
    ck_assert_int_eq(opens(), now + 3 * MS + 1);
    ids_recorder_watch(&r, now + 3 * MS + 1, 0);
    ck_assert_int_eq(opens(), -1);
    ck_assert_int_eq(stands_out(), -1);
    took(MS);
    ck_assert_int_eq(opens(), now + 2 * MS + 1);
    ck_assert_int_eq(stands_out(), now + 4 * MS + 1); /* what opened within the budget raises no bar */
    begin("when_ns=5000000;start_step=10");
    for (int i = 0; i < 20; i++) took(MS);
    ck_assert_int_eq(opens(), now + 5 * MS + 1);
    ck_assert_int_eq(stands_out(), now + 10 * MS + 1);
    begin("keep_slowest=1;start_step=10"); /* without a rule: by the median, also while there is room */
    ck_assert_int_eq(opens(), -1);
    for (int i = 0; i < 20; i++) took(MS);
    ck_assert_int_eq(opens(), now + 2 * MS + 1);
    ck_assert_int_eq(stands_out(), now + 4 * MS + 1);
}
END_TEST

/* The step that runs takes so long, and the budget is used up. 1: it opened a window. */
static int opens_beyond(int64_t ns) {
    int64_t at = stands_out();
    int does_open = at >= 0 && at < now + ns;
    if (does_open) ids_recorder_watch(&r, at, 1);
    took(ns);
    return does_open;
}

START_TEST(test_beyond_the_budget) { /* each opening doubles one of N times, whatever steps come and what is kept */
    enum { PLACES = 3, RANGE_LOG2 = 10 };
    static const double growth[] = {1.001, 1.1, 1.9, 2.0, 2.1, 5.0};
    for (size_t g = 0; g < sizeof growth / sizeof *growth; g++) {
        int openings = 0;
        begin("keep_slowest=3;start_step=10");
        for (int i = 0; i < 300; i++) took(MS);
        ck_assert_int_eq(opens_beyond(4 * MS - 1), 0); /* twice what is slow, and not less */
        for (double ms = 4; ms <= 4 << RANGE_LOG2; ms *= growth[g]) {
            openings += opens_beyond((int64_t)(ms * MS) + 2);
            for (int i = 0; i < 60; i++) openings += opens_beyond(MS); /* the median stays */
        }
        ck_assert_int_le(openings, PLACES * (1 + RANGE_LOG2));
        ck_assert_int_ge(openings, PLACES);
        if (growth[g] < 1.01) ck_assert_int_ge(openings, PLACES * RANGE_LOG2); /* the bound is not far off */
    }
    /* Like steps open no more than there are places. */
    int openings = 0;
    begin("keep_slowest=2;start_step=10");
    for (int i = 0; i < 300; i++) took(MS);
    for (int i = 0; i < 20; i++) {
        openings += opens_beyond(7 * MS);
        for (int k = 0; k < 60; k++) took(MS);
    }
    ck_assert_int_eq(openings, 2);
    ck_assert_int_eq(opens_beyond(9 * MS), 1); /* one that takes twice as long as they had then opens another */
    for (int k = 0; k < 60; k++) took(MS);
    /* Nothing opens for less than the kept windows have. */
    for (int window = 1; window <= 2; window++) {
        ids_recorder_open(&r, now, now);
        took(30 * MS);
        ck_assert_int_eq(closes(window), 1);
    }
    ck_assert_int_eq(opens_beyond(30 * MS), 0);
    ck_assert_int_eq(opens_beyond(31 * MS), 1);
}
END_TEST

/* A window opens when the step has taken so long, and the step takes so long in all. 1: it is kept. */
static int opened_late(int64_t window, int64_t late_ns, int64_t ns) {
    ids_recorder_doubt(&r, now + late_ns);
    ids_recorder_open(&r, now + late_ns, now + late_ns);
    took(ns);
    int is_kept = closes(window);
    usual(60);
    return is_kept;
}

START_TEST(test_what_a_window_saw) { /* not how long its step took */
    begin("keep_slowest=2;start_step=10");
    usual(100);
    ck_assert_int_eq(opened_late(1, 4 * MS, 30 * MS), 1);
    ck_assert_int_eq(opened_late(2, 4 * MS, 20 * MS), 1);
    ck_assert_int_eq(opened_late(3, 30 * MS, 40 * MS), 0); /* 10 of 40 ms, where 16 of 20 are kept */
    ck_assert_int_eq(opened_late(3, 20 * MS, 40 * MS), 1); /* 20 of 40 ms */
    ck_assert_int_eq(instead, 2);
    ck_assert_int_eq(r.worst.late_ns, 20 * MS);
    /* While there is room, too, less than a tenth is nothing; and the next like step gets the place. */
    begin("keep_slowest=1;start_step=10");
    usual(100);
    ck_assert_int_eq(opened_late(1, 39 * MS, 391 * MS / 10), 0);
    ck_assert_int_eq(r.missed_ns, 391 * MS / 10);
    ck_assert_int_lt(opens(), now + 3 * MS);
    ck_assert_int_eq(opened_late(1, 30 * MS, 391 * MS / 10), 1);
    ck_assert_int_eq(opened_late(2, 15 * MS, 391 * MS / 10), 1);
    ck_assert_int_eq(instead, 1);
    /* By a rule such a step is slow and missed, and takes no place of --max. */
    begin("when_ratio=2000;start_step=10");
    usual(100);
    ck_assert_int_eq(opened_late(1, 39 * MS, 391 * MS / 10), 0);
    ck_assert_int_eq(r.slow, 1);
    ck_assert_int_eq(r.slow_missed, 1);
    ck_assert_int_eq(opened_late(1, 35 * MS, 391 * MS / 10), 1);
    ck_assert_int_eq(r.slow, 2);
    ck_assert_int_eq(r.slow_missed, 1);
    /* Of several steps in a window the one it is kept for is the one it saw most of. */
    ids_recorder_doubt(&r, now + 30 * MS);
    ids_recorder_open(&r, now + 30 * MS, now + 30 * MS);
    took(40 * MS);
    int64_t number = r.number;
    took(20 * MS);
    ck_assert_int_eq(closes(2), 1);
    ck_assert_int_eq(r.worst.number, number);
}
END_TEST

START_TEST(test_still_running) { /* the program ends, or hangs, in the slow step */
    begin("when_ns=10000000;start_step=10");
    usual(20);
    ids_recorder_open(&r, now, now);
    now += 30 * MS;
    ck_assert_int_eq(closes(1), 1);
    ck_assert_int_eq(r.worst.goes_on, 1);
    ck_assert_int_eq(r.worst.took_ns, 30 * MS);
    /* What follows a program's loop is as long as the program likes: it takes no place of a step that ended. */
    begin("keep_slowest=1;start_step=10");
    usual(20);
    ids_recorder_open(&r, now, now);
    now += 30 * MS;
    ck_assert_int_eq(ids_recorder_close(&r, now, 1, 0, 1, &instead), 1); /* there is room */
    took(MS);
    usual(3);
    ids_recorder_open(&r, now, now);
    took(40 * MS);
    ck_assert_int_eq(closes(2), 1);
    ids_recorder_open(&r, now, now);
    now += 300 * MS;
    ck_assert_int_eq(ids_recorder_close(&r, now, 3, 0, 1, &instead), 0);
    ids_recorder_open(&r, now - 300 * MS, now - 300 * MS);
    ck_assert_int_eq(closes(3), 1); /* of a program that goes on it is a step */
    ck_assert_int_eq(instead, 2);
}
END_TEST

/* From a quarter of what the least saw on: of a step of 30 ms a window that opened after 20 ms would see 10. */
START_TEST(test_opens_early) {
    begin("keep_slowest=1;start_step=10");
    usual(20);
    ids_recorder_open(&r, now, now);
    took(20 * MS);
    ck_assert_int_eq(closes(1), 1);
    ck_assert_int_eq(opens(), now + 5 * MS + 1);
    ck_assert_int_eq(stands_out(), now + 20 * MS + 1); /* beyond the budget only what is longer than the least */
}
END_TEST

START_TEST(test_keep_slowest) {
    static const int steps_ms[] = {3, 5, 4, 2, 9, 4, 6};
    static const int64_t goes[] = {0, 0, 0, -1, 1, -1, 3}; /* -1: not kept; the window that goes for it */
    begin("keep_slowest=3;start_step=10");
    usual(20);
    for (int i = 0; i < 7; i++) {
        ids_recorder_open(&r, now, now);
        took((int64_t)steps_ms[i] * MS);
        ck_assert_int_eq(closes(i + 1), goes[i] >= 0);
        if (goes[i] >= 0) ck_assert_int_eq(instead, goes[i]);
    }
    ck_assert_int_eq(opens(),
                     now + 2 * ids_median_of(&r.medians[0]) + 1); /* twice the median; kept are 5, 9 and 6 ms */
    took(4 * MS);                                                 /* in no window: not slower than what is kept */
    ck_assert_int_eq(r.missed_ns, 0);
    took(8 * MS);
    took(7 * MS);
    ck_assert_int_eq(r.missed_ns, 8 * MS);
    ck_assert_int_eq(r.missed_number, r.number - 2);
    ck_assert_int_eq(r.slow, 0); /* without a rule nothing is slow */
    ck_assert_int_eq(r.slow_missed, 0);
    ids_recorder_lost(&r, 7);
    ck_assert_int_lt(opens(), now + 3 * MS); /* there is room again */
    begin("keep_slowest=1;when_ratio=2000;start_step=10");
    usual(20);
    ids_recorder_open(&r, now, now);
    took(15 * MS / 10);
    ck_assert_int_eq(closes(1), 0);                                      /* not slow, though the slowest */
    ck_assert_int_eq(ids_recorder_close(&r, now, 2, 1, 0, &instead), 1); /* what is asked for is kept */
    ck_assert_int_eq(r.kept_count, 0);
}
END_TEST

/* The step begins, takes so long, and a window has the last `seen_ms` of it. */
static int is_kept(int64_t window, int64_t took_ms, int64_t seen_ms) {
    ids_recorder_open(&r, now + (took_ms - seen_ms) * MS, now + (took_ms - seen_ms) * MS);
    took(took_ms * MS);
    return closes(window);
}

/* Who collects garbage holds up a window that is to open, and what it did is known: it is said how late that was. */
START_TEST(test_held_up) {
    begin("when_ns=60000000;start_step=10");
    usual(20);
    ids_recorder_open(&r, now + 60 * MS, now + 101 * MS);
    took(102 * MS);
    ck_assert_int_eq(closes(1), 1);
    ck_assert_int_eq(r.worst.late_ns, 101 * MS);
    ids_recorder_open(&r, now + 93 * MS, now + 101 * MS); /* less than a tenth */
    took(102 * MS);
    ck_assert_int_eq(closes(2), 0);
}
END_TEST

START_TEST(test_slower_than_kept) { /* a window that saw more of a shorter step is kept in place of one of a longer */
    begin("keep_slowest=1;start_step=10");
    usual(20);
    ck_assert_int_eq(is_kept(1, 5, 5), 1);
    ck_assert_int_eq(is_kept(2, 20, 4), 0);
    ck_assert_int_eq(r.missed_ns, 20 * MS);
    ck_assert_int_eq(r.missed_number, r.number - 1);
    ck_assert_int_eq(r.missed_seen_ns, 4 * MS);
    ck_assert_int_eq(is_kept(3, 30, 7), 1);
    ck_assert_int_eq(r.missed_ns, 20 * MS);
    ck_assert_int_eq(is_kept(4, 9, 9), 1);
    ck_assert_int_eq(instead, 3);
    ck_assert_int_eq(r.missed_ns, 30 * MS);
    ck_assert_int_eq(r.missed_number, r.number - 2);
    ck_assert_int_eq(r.missed_seen_ns, 7 * MS);
    ck_assert_int_eq(is_kept(5, 8, 8), 0);
    ck_assert_int_eq(r.missed_ns, 30 * MS);
    took(40 * MS);
    ck_assert_int_eq(r.missed_ns, 40 * MS);
    ck_assert_int_eq(r.missed_seen_ns, 0);
    ck_assert_int_eq(is_kept(6, 45, 45), 1); /* slower than all of them */
    ck_assert_int_eq(r.missed_ns, 0);
}
END_TEST

START_TEST(test_slower_than_the_only_one) { /* fewer windows are kept than were asked for */
    begin("keep_slowest=3;start_step=10");
    usual(20);
    ids_recorder_open(&r, now, now);
    took(2 * MS);
    ck_assert_int_eq(closes(1), 1);
    took(19 * MS);
    usual(3);
    ck_assert_int_eq(r.missed_ns, 19 * MS);
    ck_assert_int_eq(r.missed_number, r.number - 4);
    ck_assert_int_eq(r.slow_missed, 0);
}
END_TEST

START_TEST(test_words) {
    char text[256];
    struct ids_slow_step slow = {.number = 8113, .took_ns = 4100000, .median_ns = 1000000};
    ids_recorder_text(&slow, text, sizeof text);
    ck_assert_str_eq(text, "step 8,113 took 4.10 ms, 4.1 × the median");
    slow.late_ns = 2100000;
    slow.goes_on = 1;
    ids_recorder_text(&slow, text, sizeof text);
    ck_assert_str_eq(
        text, "step 8,113, or what followed it, took more than 4.10 ms, 4.1 × the median; recorded from 2.10 ms on");
    slow = (struct ids_slow_step){.number = 999, .took_ns = 12000000000};
    ids_recorder_text(&slow, text, sizeof text);
    ck_assert_str_eq(text, "step 999 took 12.0 s");
    slow.took_ns = 0;
    ids_recorder_text(&slow, text, sizeof text);
    ck_assert_str_eq(text, "");
}
END_TEST

/* ---- the history's file ---- */

static int locked;

static void lock(void) {
    ck_assert_int_eq(locked++, 0);
}

static void unlock(void) {
    ck_assert_int_eq(--locked, 0);
}

static size_t read_all(const char *path, char *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(bytes, 1, size, file) : 0;
    if (file) fclose(file);
    return length;
}

START_TEST(test_history) {
    static char bytes[1 << 20];
    char session[200], path[300];
    const char *folder = getenv("TMPDIR");
    snprintf(session, sizeof session, "%s/history.XXXXXX", folder ? folder : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(session));
    snprintf(path, sizeof path, "%s/.idsprof", session);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/.idsprof/node.17.history", session);
    ids_history_begin(session, "node", 17, 3, 2000, 0);
    ck_assert_int_eq(ids_history_step(10, 0), 1); /* there is something new, once */
    ids_history_write(lock, unlock);
    ck_assert_uint_eq(read_all(path, bytes, sizeof bytes), 0); /* one step is no history */
    ck_assert_int_eq(ids_history_step(20, 1), 1);
    ck_assert_int_eq(ids_history_step(30, 2), 0);
    ck_assert_int_eq(ids_history_stall(4), 0);
    ck_assert_int_eq(ids_history_event(IDS_HISTORY_COMPILE, 12, 19, "train_step"), 0);
    ids_history_write(lock, unlock);
    struct ids_history_head head;
    struct ids_history_step step;
    ck_assert_uint_gt(read_all(path, bytes, sizeof bytes), sizeof head);
    memcpy(&head, bytes, sizeof head);
    ck_assert_int_eq(head.steps, 3);
    ck_assert_int_eq(head.compile_ns, 7);
    ck_assert_str_eq(head.host, "node");
    memcpy(&step, bytes + sizeof head + 2 * sizeof step, sizeof step);
    ck_assert_float_eq(step.stall_ns, 4);
    ck_assert_float_eq(step.slow_median_ns, 0);
    ids_history_slow(700);
    ids_history_garbage(1000000);
    ids_history_garbage(2000000);
    ids_history_stall(5); /* of the step that was written already */
    ids_history_write(lock, unlock);
    read_all(path, bytes, sizeof bytes);
    memcpy(&step, bytes + sizeof head + 2 * sizeof step, sizeof step);
    ck_assert_float_eq(step.stall_ns, 9);
    ck_assert_float_eq(step.slow_median_ns, 700);
    ck_assert_float_eq(step.garbage_ns, 3000000);
    for (int64_t i = 3; i < 25000; i++) { /* round and round, written now and then */
        ids_history_step(10 * i + 10, i);
        if (i % 7001 == 0) ids_history_write(lock, unlock);
    }
    ids_history_write(lock, unlock);
    size_t length = read_all(path, bytes, sizeof bytes);
    ck_assert_uint_le(length, 400 * 1000); /* a few hundred kB at most */
    memcpy(&head, bytes, sizeof head);
    ck_assert_int_eq(head.steps, 25000);
    for (int64_t i = 15000; i < 25000; i++) {
        memcpy(&step, bytes + sizeof head + (size_t)(i % IDS_HISTORY_STEPS) * sizeof step, sizeof step);
        ck_assert_int_eq(step.number, i);
        ck_assert_int_eq(step.begin_ns, 10 * i + 10);
    }
    remove_tree(session);
    ids_history_step(1, 25000);
    ids_history_write(lock, unlock); /* the folder is gone: nothing happens, and it is not tried again */
    ids_history_write(lock, unlock);
}
END_TEST

static void *execute_some(void *nothing) {
    (void)nothing;
    for (int i = 0; i < 10000; i++) ids_history_executed(3);
    return NULL;
}

static struct ids_history_step step_at(const char *path, int64_t at) {
    static char bytes[1 << 20];
    struct ids_history_step step;
    read_all(path, bytes, sizeof bytes);
    memcpy(&step, bytes + sizeof(struct ids_history_head) + (size_t)at * sizeof step, sizeof step);
    return step;
}

START_TEST(test_collectives) {
    char session[200], path[300];
    const char *folder = getenv("TMPDIR");
    snprintf(session, sizeof session, "%s/history.XXXXXX", folder ? folder : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(session));
    snprintf(path, sizeof path, "%s/.idsprof", session);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/.idsprof/node.18.history", session);
    ids_history_executed(100); /* of the process before */
    ids_history_begin(session, "node", 18, -1, 0, 0);
    ids_history_executed(7); /* before the first step: of none */
    ids_history_step(10, 0);
    ids_history_executed(4);
    ids_history_executed(0);
    ids_history_step(20, 1); /* nothing in it */
    ids_history_step(30, 2);
    ids_history_write(lock, unlock);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, execute_some, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    ids_history_step(40, 3); /* of the step that was written already */
    ids_history_executed(4);
    ids_history_executed(-1);
    ids_history_executed(INT64_MAX);
    ids_history_step(50, 4);
    ids_history_write(lock, unlock);
    static const int32_t collectives[] = {4, -1, 120000, -1, -1};
    for (int i = 0; i < 5; i++) {
        struct ids_history_step step = step_at(path, i);
        ck_assert_int_eq(step.number, i);
        ck_assert_int_eq(step.collectives, collectives[i]);
    }
    remove_tree(session);
}
END_TEST

IDS_RUN_SUITE("recorder", test_median, test_twice_the_median, test_warm_up, test_the_program_slows_down,
              test_our_own_time, test_profiled_steps_among_themselves, test_opens_early, test_held_up, test_deadline,
              test_beyond_the_budget, test_what_a_window_saw, test_still_running, test_keep_slowest,
              test_slower_than_kept, test_slower_than_the_only_one, test_words, test_history, test_collectives)
