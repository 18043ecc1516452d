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

/* What is even for half of the nights and grows then, and the other way round, is a drift of its size; what wanders
 * from night to night as far as neighbours that are alike do mostly is none. */
START_TEST(a_rise_from_the_middle_is_a_drift) {
    static const double growths[] = {0.01, 0.025, 0.1, -0.02};
    uint64_t state = 19;
    for (size_t g = 0; g < sizeof growths / sizeof *growths; g++) {
        for (int is_first = 0; is_first < 2; is_first++) {
            double values[40];
            for (int i = 0; i < 40; i++) {
                int nights = is_first ? (i < 20 ? i : 20) : (i < 20 ? 0 : i - 19);
                values[i] = 100 * (1 + growths[g] * nights) * (1 + 0.01 * noise(&state));
            }
            struct ids_changes changes;
            ck_assert_int_eq(ids_changes_of(values, 40, 0.01 / 40, &changes, NULL), 0);
            double whole = 100 * growths[g] * 20;
            ck_assert_msg(changes.drifts || changes.count, "nothing is said of %g a night", growths[g]);
            if (!changes.drifts) continue;
            ck_assert_double_ge((changes.to - changes.from) / whole, 0.7);
            ck_assert_double_le((changes.to - changes.from) / whole, 1.3);
            ck_assert_double_gt(changes.slope_low * changes.slope_high, 0);
        }
    }
    const int times = ids_some_of(400, 40);
    int drifts = 0;
    for (int t = 0; t < times; t++) {
        double values[40], before = 0;
        for (int i = 0; i < 40; i++) {
            before = 0.8 * before + 0.6 * noise(&state);
            values[i] = 100 * (1 + 0.01 * before);
        }
        struct ids_changes changes;
        ck_assert_int_eq(ids_changes_of(values, 40, 0.01 / 40, &changes, NULL), 0);
        drifts += changes.drifts;
    }
    ck_assert_int_le(drifts, times / 40 + 2);
}
END_TEST

/* The noise of a time grows with it: a large step has another deviation on each side, and one place all the same. */
START_TEST(large_steps) {
    static const double times[] = {1.5, 2, 4, 10, 30, 1 / 1.5, 1 / 2.0, 1 / 4.0, 1 / 10.0, 1 / 30.0};
    static const int places[] = {3, 6, 20, 40, 54, 57};
    uint64_t state = 13;
    for (size_t size = 0; size < sizeof times / sizeof *times; size++) {
        for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
            int right = 0, latest = 0;
            for (int t = 0; t < 40; t++) {
                double values[NIGHTS];
                for (int i = 0; i < NIGHTS; i++)
                    values[i] = 1e9 * (1 + 0.01 * noise(&state)) * (i >= places[place] ? times[size] : 1);
                struct ids_changes changes = changes_of(values, NIGHTS, NULL);
                right += changes.count == 1 && changes.at[0].at == (size_t)places[place] && changes.at[0].low != 0 &&
                         (changes.at[0].low > 0) == (changes.at[0].high > 0);
                latest += changes.latest > 0;
            }
            ck_assert_msg(right >= 39 && !latest, "x %g at %d: right in %d of 40, the last nights in %d", times[size],
                          places[place], right, latest);
        }
    }
}
END_TEST

/* A share of which one part grows has another deviation behind it in logarithms too. */
START_TEST(a_share_of_other_noise) {
    uint64_t state = 17;
    int right = 0;
    for (int t = 0; t < 40; t++) {
        double values[NIGHTS];
        for (int i = 0; i < NIGHTS; i++) {
            double waits = 0.5 * (1 + 0.03 * noise(&state)) * (i >= 40 ? 10 : 1),
                   works = 6 * (1 + 0.01 * noise(&state));
            values[i] = works / (works + waits);
        }
        struct ids_changes changes = changes_of(values, NIGHTS, NULL);
        right += changes.count == 1 && changes.at[0].at == 40;
    }
    ck_assert_int_ge(right, 39);
}
END_TEST

/* One and two nights are none, three are a level, whatever their size. */
START_TEST(three_nights_are_a_level) {
    static const double times[] = {1.1, 1.2, 1.5, 2, 3, 10, 0.5};
    uint64_t state = 19;
    for (size_t size = 0; size < sizeof times / sizeof *times; size++) {
        for (int length = 1; length <= 4; length++) {
            int right = 0;
            for (int t = 0; t < 40; t++) {
                double values[NIGHTS];
                for (int i = 0; i < NIGHTS; i++)
                    values[i] = (1 + 0.01 * noise(&state)) * (i >= 24 && i < 24 + length ? times[size] : 1);
                struct ids_changes changes;
                double alarms = length < IDS_LEVEL_LEAST ? 0.01 : 1e-4;
                ck_assert_int_eq(ids_changes_of(values, NIGHTS, alarms, &changes, NULL), 0);
                if (length < IDS_LEVEL_LEAST)
                    right += !changes.count && !changes.drifts;
                else
                    right += changes.count == 2 && changes.at[0].at == 24 && changes.at[1].at == 24 + (size_t)length &&
                             fabs(changes.at[0].after / changes.at[0].before / times[size] - 1) < 0.03;
            }
            ck_assert_msg(right >= (length < IDS_LEVEL_LEAST ? 37 : 39), "%d nights x %g: %d of 40", length,
                          times[size], right);
        }
    }
}
END_TEST

/* Where a step is not far above the noise its place is not sure: 95 of 100 ranges hold it, also where nights that
 * follow each other are alike. */
START_TEST(the_range_of_a_place) {
    static const double steps[] = {0.012, 0.02, 0.03, 0.05}, noises[] = {0.005, 0.01, 0.02, 0.03}, alike[] = {0, 0.5};
    for (int a = 0; a < 2; a++) {
        uint64_t state = 23;
        int found = 0, held = 0, wide = 0;
        for (int t = 0; t < ids_some_of(16 * 200, 16 * 20); t++) {
            double values[NIGHTS], step = steps[t % 4], deviation = noises[t / 4 % 4], before = 0;
            for (int i = -20; i < NIGHTS; i++) {
                before = alike[a] * before + sqrt(1 - alike[a] * alike[a]) * noise(&state);
                if (i >= 0) values[i] = (1 + deviation * before) * (i >= 40 ? 1 + step : 1);
            }
            struct ids_changes changes = changes_of(values, NIGHTS, NULL);
            if (changes.count != 1) continue;
            found++;
            held += changes.at[0].first <= 40 && changes.at[0].last >= 40;
            wide += !a && step / deviation >= 5 && changes.at[0].first + 2 < changes.at[0].last;
        }
        ck_assert_msg((held + 1) * 1000 >= found * (a ? 980 : 985), "%d: %d of %d", a, held, found);
        ck_assert_int_le(wide, found / 100);
    }
}
END_TEST

/* Nothing in most nights and some time in others: no night of either kind is out of line. */
START_TEST(now_and_then) {
    uint64_t state = 37;
    double values[NIGHTS];
    for (int i = 0; i < NIGHTS; i++) values[i] = i % 7 == 3 ? 5 + 0.1 * noise(&state) : 0;
    struct ids_changes changes = changes_of(values, NIGHTS, NULL);
    ck_assert(!changes.count && !changes.drifts && !changes.latest);
}
END_TEST

/* What the last nights are held against is uncertain too. */
START_TEST(quiet_last_nights) {
    static const int counts[] = {6, 7, 12, 20, 60};
    uint64_t state = 31;
    int alarms = 0;
    for (int t = 0; t < ids_some_of(10000, 250); t++) {
        double values[NIGHTS];
        int count = counts[t % 5];
        for (int i = 0; i < count; i++) values[i] = 100 + noise(&state);
        alarms += changes_of(values, (size_t)count, NULL).latest > 0;
    }
    ck_assert_int_le(alarms, 3);
}
END_TEST

IDS_RUN_SUITE("change_points", exact_levels, equal_numbers_have_no_change, a_step_in_noise, chance_is_no_change,
              one_bad_night_is_no_level, the_last_nights, a_slope_is_a_drift, a_rise_from_the_middle_is_a_drift,
              a_level_of_few_nights, large_steps, a_share_of_other_noise, three_nights_are_a_level,
              the_range_of_a_place, now_and_then, quiet_last_nights)
