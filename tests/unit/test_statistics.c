/* lib/compare/statistics.c against numbers out of tables and by hand. */
#include "lib/compare/statistics.h"
#include "tests/support/suite.h"

#include <math.h>

#define SAMPLE(serially, ...)                                                                                   \
    ((struct ids_sample){(const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double), \
                         serially})

/* The usual tables of Student's t. */
START_TEST(quantiles) {
    static const struct {
        double p, df, t;
    } table[] = {{0.975, 1, 12.7062}, {0.975, 10, 2.22814}, {0.995, 2, 9.92484},  {0.995, 4, 4.60409},
                 {0.95, 30, 1.69726}, {0.9995, 5, 6.86883}, {0.975, 1e7, 1.95996}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_double_eq_tol(ids_student_quantile(table[i].p, table[i].df), table[i].t, 1e-4 * table[i].t);
    ck_assert_double_eq(ids_student_quantile(0.5, 3), 0);
}
END_TEST

/* Three values are not trimmed: Welch. Means 2 and 5, variances 1, each 1/3 of the mean: s = sqrt(2/3), df 4, t
 * 4.60409. */
START_TEST(welch) {
    struct ids_interval interval = ids_interval_of(SAMPLE(0, 1, 2, 3), SAMPLE(0, 6, 5, 4), 0.99);
    ck_assert_int_eq(interval.known, 1);
    ck_assert_double_eq_tol(interval.mean.low, 3 - 4.60409 * sqrt(2.0 / 3), 1e-4);
    ck_assert_double_eq_tol(interval.mean.high, 3 + 4.60409 * sqrt(2.0 / 3), 1e-4);
    ck_assert_int_eq(ids_interval_excludes_zero(&interval), 0);
}
END_TEST

/* Of five one at either end is trimmed: 1 2 3 4 100 has mean 3; pulled in it is 2 2 3 4 4, squares 4, variance of the
 * mean 4/(3*2) = 2/3, df 2 (no step is like the one before). The other is 10 more. s = sqrt(4/3), df 4. Runs are not
 * trimmed. */
START_TEST(an_outlier_is_trimmed) {
    struct ids_interval interval = ids_interval_of(SAMPLE(1, 100, 1, 4, 2, 3), SAMPLE(1, 110, 11, 14, 12, 13), 0.99);
    ck_assert_double_eq_tol(interval.typical.at, 10, 1e-12);
    ck_assert_double_eq_tol(interval.typical.low, 10 - 4.60409 * sqrt(4.0 / 3), 1e-4);
    ck_assert_int_eq(ids_interval_excludes_zero(&interval), 1);
    ck_assert_double_eq_tol(ids_trimmed_mean(SAMPLE(0, 1, 2, 3, 4, 100)), 22, 1e-12);
}
END_TEST

/* 0 0 1 1 goes up and down together: r = 0.25, so that the variance 1/(4*3) is taken 1.25/0.75 times; 0 1 0 1 does
 * not. df 6. */
START_TEST(neighbours_that_are_alike_tell_less) {
    double t = ids_student_quantile(0.995, 6);
    struct ids_interval alike = ids_interval_of(SAMPLE(1, 0, 0, 1, 1), SAMPLE(1, 0, 0, 1, 1), 0.99);
    struct ids_interval apart = ids_interval_of(SAMPLE(1, 0, 1, 0, 1), SAMPLE(1, 0, 1, 0, 1), 0.99);
    ck_assert_double_eq_tol(alike.mean.high, t * sqrt(2 * 1.25 / 0.75 / 12), 1e-9);
    ck_assert_double_eq_tol(apart.mean.high, t * sqrt(2.0 / 12), 1e-9);
    struct ids_interval runs = ids_interval_of(SAMPLE(0, 0, 0, 1, 1), SAMPLE(0, 0, 0, 1, 1), 0.99);
    ck_assert_double_eq_tol(runs.mean.high, apart.mean.high, 1e-9);
}
END_TEST

START_TEST(too_little_and_no_spread) {
    ck_assert_int_eq(ids_interval_of(SAMPLE(0, 1, 2), SAMPLE(0, 1, 2, 3), 0.99).known, 0);
    struct ids_interval exact = ids_interval_of(SAMPLE(1, 7, 7, 7), SAMPLE(1, 9, 9, 9), 0.99);
    ck_assert_double_eq(exact.mean.low, 2);
    ck_assert_double_eq(exact.mean.high, 2);
    struct ids_interval nothing = ids_interval_of(SAMPLE(1, 7, 7, 7), SAMPLE(1, 7, 7, 7), 0.99);
    ck_assert_int_eq(ids_interval_excludes_zero(&nothing), 0);
}
END_TEST

/* y = 3 x with one run that stands out: of 45 slopes 9 are of that run, so the median and the interval's ends stay
 * 3. */
START_TEST(slopes) {
    double x[10], y[10];
    for (int i = 0; i < 10; i++) {
        x[i] = i;
        y[i] = 3 * i;
    }
    y[4] = 1000;
    struct ids_slope slope = ids_slope_of(x, y, 10, 0.99);
    ck_assert_double_eq_tol(slope.slope, 3, 1e-12);
    ck_assert_int_eq(slope.known, 1);
    ck_assert_double_gt(slope.low, 0);
    double level[6] = {5, 6, 5, 6, 5, 6};
    slope = ids_slope_of(x, level, 6, 0.99);
    ck_assert_int_eq(slope.known && slope.low > 0, 0);
    ck_assert_int_eq(ids_slope_of(x, y, 5, 0.99).known, 0); /* by chance up or down in 2 of 120 */
    y[4] = 12;
    slope = ids_slope_of(x, y, 6, 0.99); /* in 2 of 720 */
    ck_assert_int_eq(slope.known && slope.low > 0, 1);
}
END_TEST

IDS_RUN_SUITE("statistics", quantiles, welch, an_outlier_is_trimmed, neighbours_that_are_alike_tell_less,
              too_little_and_no_spread, slopes)
