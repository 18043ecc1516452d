/* lib/analysis/step_sums.h: whatever the order in which steps come, each has its sum, in the order of steps. */
#include "lib/analysis/step_sums.h"
#include "tests/support/suite.h"

enum { STEPS = 30, THINGS = 3, ADDS = 2000 };

static uint32_t seed;

static uint32_t any(uint32_t below) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void check_row(const struct ids_step_sum *row, const int64_t sums_ps[STEPS]) {
    size_t cells = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        if (!sums_ps[step]) continue;
        ck_assert_uint_lt(cells, row->count);
        ck_assert_uint_eq(row->cells[cells].step, step);
        ck_assert_int_eq(row->cells[cells++].ps, sums_ps[step]);
    }
    ck_assert_uint_eq(row->count, cells);
}

START_TEST(steps_in_any_order) {
    struct ids_analysis analysis = {.steps = {.count = STEPS}};
    for (seed = 1; seed < 200; seed++) {
        uint32_t first = seed;
        struct ids_step_sums sums = ids_step_sums_of(&analysis), both = ids_step_sums_of(&analysis);
        int64_t wanted[THINGS][STEPS] = {0}, twice[THINGS][STEPS] = {0};
        for (uint32_t i = any(ADDS); i; i--) {
            uint32_t thing = any(THINGS), step = any(any(2) ? STEPS : 2);
            ck_assert_int_eq(ids_step_sums_add_to(&sums, thing, step, i), 0);
            ck_assert_int_eq(ids_step_sums_add_to(&both, thing, STEPS - 1 - step, i), 0);
            wanted[thing][step] += i;
            twice[thing][STEPS - 1 - step] += i;
        }
        for (uint32_t thing = 0; thing < THINGS; thing++) {
            check_row(ids_step_sum_of(&sums, thing), wanted[thing]);
            ck_assert_int_eq(ids_step_sums_take(&both, thing, ids_step_sum_of(&sums, thing)), 0);
            for (uint32_t step = 0; step < STEPS; step++) twice[thing][step] += wanted[thing][step];
            check_row(ids_step_sum_of(&both, thing), twice[thing]);
        }
        ids_step_sums_done(&sums);
        ids_step_sums_done(&both);
        seed = first;
    }
}
END_TEST

/* Two streams, one after the other, of many steps: those of the second are up to 3,000 places late. */
START_TEST(streams_far_apart) {
    enum { MANY = 6000 };
    struct ids_analysis analysis = {.steps = {.count = MANY}};
    struct ids_step_sums sums = ids_step_sums_of(&analysis);
    for (uint32_t stream = 0; stream < 2; stream++)
        for (uint32_t step = stream; step < MANY; step += 2)
            ck_assert_int_eq(ids_step_sums_add_to(&sums, 0, step, step + 1), 0);
    ck_assert_int_eq(ids_step_sums_add_to(&sums, 0, 7, 1), 0);
    const struct ids_step_sum *row = ids_step_sum_of(&sums, 0);
    ck_assert_uint_eq(row->count, MANY);
    for (uint32_t step = 0; step < MANY; step++) {
        ck_assert_uint_eq(row->cells[step].step, step);
        ck_assert_int_eq(row->cells[step].ps, step + 1 + (step == 7));
    }
    ids_step_sums_done(&sums);
}
END_TEST

START_TEST(rows_beyond_the_limit_have_no_cells) {
    struct ids_analysis analysis = {.steps = {.count = IDS_STEP_SUM_CELLS / 2}};
    struct ids_step_sums sums = ids_step_sums_of(&analysis);
    for (size_t thing = 0; thing < 3; thing++) {
        ck_assert_int_eq(sums.is_full, 0);
        ck_assert_int_eq(ids_step_sums_add_to(&sums, thing, 5, 1), 0);
    }
    ck_assert_int_eq(sums.is_full, 1);
    ck_assert_uint_eq(ids_step_sum_of(&sums, 1)->count, 1);
    ck_assert_uint_eq(ids_step_sum_of(&sums, 2)->count, 0);
    ck_assert_int_eq(ids_step_sum_of(&sums, 2)->total_ps, 1);
    ids_step_sums_done(&sums);
}
END_TEST

IDS_RUN_SUITE("step_sums", steps_in_any_order, streams_far_apart, rows_beyond_the_limit_have_no_cells)
