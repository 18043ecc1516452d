/* lib/compare/change_points.c: levels, places, drifts, single nights, and how often chance is taken for a change. */
#include "lib/compare/change_points.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdint.h>

enum { NIGHTS = 60 };

/* The same numbers on every machine: a normal deviate out of twelve uniform ones, of Knuth's generator. */
static double noise(uint64_t *state) {
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}

static struct ids_changes changes_of(const double *values, size_t count, char *single) {
    struct ids_changes changes;
    ck_assert_int_eq(ids_changes_of(values, count, 1e-4, &changes, single), 0);
    return changes;
}

/* Equal numbers but for a step: the place and the levels are exact, and nothing else is. */
START_TEST(exact_levels) {
    double values[NIGHTS];
    for (int i = 0; i < NIGHTS; i++) values[i] = i < 20 ? 5 : i < 40 ? 7 : 5;
    struct ids_changes changes = changes_of(values, NIGHTS, NULL);
    ck_assert_uint_eq(changes.count, 2);
    ck_assert_uint_eq(changes.at[0].at, 20);
    ck_assert_uint_eq(changes.at[0].first, 20);
    ck_assert_uint_eq(changes.at[0].last, 20);
    ck_assert_double_eq(changes.at[0].before, 5);
    ck_assert_double_eq(changes.at[0].after, 7);
    ck_assert_double_eq(changes.at[0].low, 2);
    ck_assert_uint_eq(changes.at[1].at, 40);
    ck_assert(!changes.drifts && !changes.latest);
}
END_TEST

START_TEST(equal_numbers_have_no_change) {
    double values[NIGHTS];
    for (int i = 0; i < NIGHTS; i++) values[i] = 0.1;
    struct ids_changes changes = changes_of(values, NIGHTS, NULL);
    ck_assert(!changes.count && !changes.drifts && !changes.latest);
    changes = changes_of(values, 0, NULL);
    ck_assert(!changes.count);
    changes = changes_of(values, 5, NULL);
    ck_assert(!changes.count && !changes.latest);
}
END_TEST

/* A step of three deviations at the 41st of 60. */
START_TEST(a_step_in_noise) {
    uint64_t state = 1;
    int one = 0, near = 0;
    for (int t = 0; t < 100; t++) {
        double values[NIGHTS];
        for (int i = 0; i < NIGHTS; i++) values[i] = 100 + noise(&state) + (i >= 40 ? 3 : 0);
        struct ids_changes changes = changes_of(values, NIGHTS, NULL);
        one += changes.count == 1 && changes.at[0].low > 0 && changes.at[0].low < 3 && changes.at[0].high > 3;
        near += changes.count && changes.at[0].first <= 40 && changes.at[0].last >= 40;
    }
    ck_assert_int_ge(one, 95);
    ck_assert_int_ge(near, 90);
}
END_TEST

/* Of a thousand series without a change, one in a hundred is asked for. Neighbours that go together are no level, and
 * neither are long tails. */
START_TEST(chance_is_no_change) {
    static const char *const kinds[] = {"normal", "autocorrelated", "lognormal", "with outliers"};
    static const int most[] = {18, 90, 30, 30};
    for (int kind = 0; kind < 4; kind++) {
        uint64_t state = 7;
        int alarms = 0; /* of few series too at most as many, which says little */
        for (int t = 0; t < ids_some_of(1000, 30); t++) {
            double values[NIGHTS], before = 0;
            struct ids_changes changes;
            for (int i = -20; i < NIGHTS; i++) {
                double value = noise(&state);
                if (kind == 1) value = before = 0.5 * before + value;
                if (kind == 2) value = exp(0.5 * value);
                if (kind == 3 && (state >> 33) % 20 == 0) value += 8;
                if (i >= 0) values[i] = 100 + value;
            }
            ck_assert_int_eq(ids_changes_of(values, NIGHTS, 0.01, &changes, NULL), 0);
            alarms += changes.count || changes.drifts;
        }
        ck_assert_msg(alarms <= most[kind], "%s: %d of 1000", kinds[kind], alarms);
    }
}
END_TEST

START_TEST(one_bad_night_is_no_level) {
    uint64_t state = 3;
    double values[NIGHTS];
    char single[NIGHTS];
    for (int i = 0; i < NIGHTS; i++) values[i] = 100 + noise(&state);
    values[30] += 20;
    values[31] += 18;
    struct ids_changes changes = changes_of(values, NIGHTS, single);
    ck_assert(!changes.count && !changes.drifts);
    ck_assert(single[30] && single[31] && !single[29] && !single[32]);
}
END_TEST

/* Two at the end may be the begin of a level; three are one. */
START_TEST(the_last_nights) {
    uint64_t state = 5;
    double values[NIGHTS];
    for (int i = 0; i < NIGHTS; i++) values[i] = 100 + noise(&state) + (i >= NIGHTS - 3 ? 12 : 0);
    struct ids_changes changes = changes_of(values, NIGHTS - 1, NULL);
    ck_assert(!changes.count);
    ck_assert_uint_eq(changes.latest, 2);
    ck_assert_double_eq_tol(changes.latest_after - changes.latest_before, 12, 2);
    changes = changes_of(values, NIGHTS - 2, NULL);
    ck_assert_uint_eq(changes.latest, 1);
    changes = changes_of(values, NIGHTS, NULL);
    ck_assert_uint_eq(changes.count, 1);
    ck_assert_uint_eq(changes.at[0].at, NIGHTS - 3);
    ck_assert(!changes.latest);
}
END_TEST

START_TEST(a_slope_is_a_drift) {
    uint64_t state = 9;
    double values[NIGHTS];
    for (int i = 0; i < NIGHTS; i++) values[i] = 100 + noise(&state) + 0.2 * i;
    struct ids_changes changes = changes_of(values, NIGHTS, NULL);
    ck_assert(changes.drifts && !changes.count);
    ck_assert(changes.slope_low < 0.2 && changes.slope_high > 0.2 && changes.slope_low > 0.1);
    ck_assert_double_eq_tol(changes.from, 100, 1);
    ck_assert_double_eq_tol(changes.to, 112, 1);
}
END_TEST

/* Up for five nights and down again. */
START_TEST(a_level_of_few_nights) {
    uint64_t state = 11;
    double values[NIGHTS];
    for (int i = 0; i < NIGHTS; i++) values[i] = 100 + noise(&state) + (i >= 20 && i < 25 ? 8 : 0);
    struct ids_changes changes = changes_of(values, NIGHTS, NULL);
    ck_assert_uint_eq(changes.count, 2);
    ck_assert_uint_eq(changes.at[0].at, 20);
    ck_assert_uint_eq(changes.at[1].at, 25);
}
END_TEST

IDS_RUN_SUITE("change_points", exact_levels, equal_numbers_have_no_change, a_step_in_noise, chance_is_no_change,
              one_bad_night_is_no_level, the_last_nights, a_slope_is_a_drift, a_level_of_few_nights)
