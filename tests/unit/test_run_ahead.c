/* What steps took of a loop that launches them ahead of its device: calls of 20 us, work of 2 ms on the device. */
#include "lib/run/run_ahead.h"
#include "tests/support/suite.h"

enum { CALL_NS = 20000, WORK_NS = 2000000 };

START_TEST(test_waits_for_the_device) {
    struct ids_run_ahead run = {.step_ns = WORK_NS};
    int64_t of;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 9; i++) ck_assert_int_eq(ids_run_ahead_step(&run, CALL_NS, &of), WORK_NS);
        /* the tenth waits for all ten: 20 ms, less nine calls */
        ck_assert_int_eq(ids_run_ahead_step(&run, 10 * WORK_NS - 9 * CALL_NS, &of), WORK_NS);
        ck_assert_int_eq(run.ahead_ns, 0);
    }
}
END_TEST

START_TEST(test_runs_dry) {
    struct ids_run_ahead run = {.step_ns = WORK_NS};
    int64_t of;
    int64_t total = 0, calls = 0;
    for (int i = 0; i < 9; i++) {
        total += ids_run_ahead_step(&run, CALL_NS, &of);
        calls += CALL_NS;
    }
    /* and the host does something else for 50 ms, of which the device has 20 ms, less nine calls */
    const int64_t saves = 50000000;
    ck_assert_int_eq(ids_run_ahead_step(&run, saves, &of), WORK_NS + saves - (10 * WORK_NS - 9 * CALL_NS));
    ck_assert_int_eq(of, 10 * WORK_NS); /* while it did all these */
    total += WORK_NS + saves - (10 * WORK_NS - 9 * CALL_NS);
    ck_assert_int_eq(total, calls + saves); /* as long as the loop took */
    /* as long as what was launched suffices nothing is lost, and what is left of it stays */
    for (int i = 0; i < 9; i++) ids_run_ahead_step(&run, CALL_NS, &of);
    ck_assert_int_eq(ids_run_ahead_step(&run, 5 * WORK_NS, &of), WORK_NS);
    ck_assert_int_eq(run.ahead_ns, 10 * WORK_NS - 9 * CALL_NS - 5 * WORK_NS);
    ck_assert_int_eq(of, WORK_NS); /* nothing was lost */
    ids_run_ahead_stop(&run);
    ck_assert_int_eq(ids_run_ahead_step(&run, 3 * WORK_NS, &of), 3 * WORK_NS);
    ck_assert_int_eq(of, WORK_NS);
}
END_TEST

START_TEST(test_whose_doing) {
    ck_assert_int_eq(ids_run_ahead_is_dry(31 * WORK_NS, 20, WORK_NS), 1);
    ck_assert_int_eq(ids_run_ahead_is_dry(30 * WORK_NS, 20, WORK_NS), 0); /* half as long again */
    ck_assert_int_eq(ids_run_ahead_is_dry(0, 0, WORK_NS), 0);
    ck_assert_int_eq(ids_run_ahead_is_dry(WORK_NS, 1, 0), 0); /* nothing is measured */
}
END_TEST

START_TEST(test_no_wait_explains_it) {
    struct ids_run_ahead run = {.step_ns = WORK_NS};
    int64_t of;
    for (int i = 0; i < 9; i++) ids_run_ahead_step(&run, CALL_NS, &of);
    int64_t most = 10 * WORK_NS - 9 * CALL_NS;
    ck_assert_int_eq(ids_run_ahead_surely(&run, 4 * most), 0);
    ck_assert_int_eq(ids_run_ahead_surely(&run, 4 * most + 4), 3 * most + 4);
}
END_TEST

/* Twenty rounds of nine calls and a wait for what all ten take of the device; after each fifth something else for 50
 * ms. In `own` the step after a wait is executed in its call. */
static size_t rounds_of(int64_t *calls, int64_t work_ns, int own) {
    size_t count = 0;
    for (int round = 0; round < 20; round++) {
        int64_t left = 10 * work_ns;
        for (int i = 0; i < 9; i++) {
            calls[count] = own && !i ? work_ns : CALL_NS;
            left -= calls[count++];
        }
        calls[count++] = left + (round % 5 == 3 ? 50000000 : 0);
    }
    return count;
}

START_TEST(test_work_of_a_step) {
    int64_t calls[200];
    for (int own = 0; own < 2; own++) {
        size_t count = rounds_of(calls, WORK_NS, own);
        ck_assert_int_eq(ids_run_ahead_work(calls, count, WORK_NS), WORK_NS);
        ck_assert_int_eq(ids_run_ahead_work(calls, count, 2 * WORK_NS), WORK_NS); /* recorded at a bad moment */
        ck_assert_int_eq(ids_run_ahead_work(calls, count, WORK_NS * 3 / 4), WORK_NS * 3 / 4); /* the device runs dry */
        ck_assert_int_eq(ids_run_ahead_work(calls, count, WORK_NS / 2), WORK_NS / 2);
    }
    size_t count = rounds_of(calls, WORK_NS, 0);
    for (int i = 0; i < 200; i++) calls[i] = i % 10 == 9 ? calls[i] : -1; /* of no round anything is known */
    ck_assert_int_eq(ids_run_ahead_work(calls, count, 2 * WORK_NS), 2 * WORK_NS);
    ck_assert_int_eq(ids_run_ahead_work(calls, 0, WORK_NS), WORK_NS);
    for (int i = 0; i < 200; i++) calls[i] = i % 5 < 3 ? WORK_NS : CALL_NS; /* none waits, and some are held up */
    ck_assert_int_eq(ids_run_ahead_work(calls, 200, WORK_NS), WORK_NS);
    for (int i = 0; i < 200; i++) calls[i] = i % 5 == 0 ? WORK_NS : CALL_NS;
    ck_assert_int_eq(ids_run_ahead_work(calls, 200, WORK_NS), WORK_NS);
}
END_TEST

IDS_RUN_SUITE("run_ahead", test_waits_for_the_device, test_runs_dry, test_whose_doing, test_no_wait_explains_it,
              test_work_of_a_step)
