/* What steps took of a loop that launches them ahead of its device: calls of 20 us, work of 2 ms on the device. */
#include "lib/run/run_ahead.h"
#include "tests/support/suite.h"

enum { CALL_NS = 20000, WORK_NS = 2000000 };

START_TEST(test_waits_for_the_device) {
    struct ids_run_ahead run = {.step_ns = WORK_NS};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 9; i++) ck_assert_int_eq(ids_run_ahead_step(&run, CALL_NS), WORK_NS);
        /* the tenth waits for all ten: 20 ms, less nine calls */
        ck_assert_int_eq(ids_run_ahead_step(&run, 10 * WORK_NS - 9 * CALL_NS), WORK_NS);
        ck_assert_int_eq(run.ahead_ns, 0);
    }
}
END_TEST

START_TEST(test_runs_dry) {
    struct ids_run_ahead run = {.step_ns = WORK_NS};
    int64_t total = 0, calls = 0;
    for (int i = 0; i < 9; i++) {
        total += ids_run_ahead_step(&run, CALL_NS);
        calls += CALL_NS;
    }
    /* and the host does something else for 50 ms, of which the device has 20 ms, less nine calls */
    const int64_t saves = 50000000;
    ck_assert_int_eq(ids_run_ahead_step(&run, saves), WORK_NS + saves - (10 * WORK_NS - 9 * CALL_NS));
    total += WORK_NS + saves - (10 * WORK_NS - 9 * CALL_NS);
    ck_assert_int_eq(total, calls + saves); /* as long as the loop took */
    /* as long as what was launched suffices nothing is lost, and what is left of it stays */
    for (int i = 0; i < 9; i++) ids_run_ahead_step(&run, CALL_NS);
    ck_assert_int_eq(ids_run_ahead_step(&run, 5 * WORK_NS), WORK_NS);
    ck_assert_int_eq(run.ahead_ns, 10 * WORK_NS - 9 * CALL_NS - 5 * WORK_NS);
    ids_run_ahead_stop(&run);
    ck_assert_int_eq(ids_run_ahead_step(&run, 3 * WORK_NS), 3 * WORK_NS);
}
END_TEST

START_TEST(test_whose_doing) {
    ck_assert_int_eq(ids_run_ahead_is_dry(31 * WORK_NS, 20, WORK_NS), 1);
    ck_assert_int_eq(ids_run_ahead_is_dry(30 * WORK_NS, 20, WORK_NS), 0); /* half as long again */
    ck_assert_int_eq(ids_run_ahead_is_dry(0, 0, WORK_NS), 0);
    ck_assert_int_eq(ids_run_ahead_is_dry(WORK_NS, 1, 0), 0); /* nothing is measured */
}
END_TEST

IDS_RUN_SUITE("run_ahead", test_waits_for_the_device, test_runs_dry, test_whose_doing)
