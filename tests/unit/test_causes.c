/* What the causes of a change rest on: variances shared over ops, a change that all ops have alike, shapes. */
#include "lib/compare/even_change.h"
#include "lib/compare/shape_change.h"
#include "lib/compare/shrinkage.h"
#include "lib/compare/statistics.h"
#include "tests/support/suite.h"

#include <math.h>

enum { OPS = 40 };

/* Means 1 to 40, relative variances from `small` and `large` by turns. */
static void fill(struct ids_variation spreads[OPS], double small, double large) {
    for (int i = 0; i < OPS; i++) {
        double mean = i + 1, relative = i % 2 ? large : small;
        spreads[i] = (struct ids_variation){mean, relative * mean * mean, 4};
    }
}

/* Variances that are all alike stay and are surer: as sure as the prior may be, 50 degrees, and their own 4. They are
 * log variances less the bias of 4 degrees, and come back with the bias of 54 as exp(ψ(25) - ln 25 - ψ(2) + ln 2). */
START_TEST(alike_variances_are_surer) {
    struct ids_variation spreads[OPS];
    fill(spreads, 0.01, 0.01);
    ck_assert_int_eq(ids_shrink(spreads, OPS), 0);
    double bias = exp(-0.0201333 - (0.4227843 - log(2))); /* ψ(25) = ln 25 - 0.0201333, ψ(2) = 0.4227843 */
    for (int i = 0; i < OPS; i++) {
        double mean = i + 1, expected = (50 * 0.01 * bias + 4 * 0.01) / 54 * mean * mean;
        ck_assert_double_eq_tol(spreads[i].variance, expected, 1e-4 * expected);
        ck_assert_double_eq(spreads[i].df, 54);
    }
}
END_TEST

/* Where they differ by a factor of ten thousand, the others say next to nothing of one. */
START_TEST(unlike_variances_stay) {
    struct ids_variation spreads[OPS];
    fill(spreads, 1e-6, 1e-2);
    ck_assert_int_eq(ids_shrink(spreads, OPS), 0);
    for (int i = 0; i < OPS; i++) {
        double mean = i + 1, own = (i % 2 ? 1e-2 : 1e-6) * mean * mean;
        ck_assert_double_lt(spreads[i].df, 4.5);
        ck_assert_double_lt(fabs(log(spreads[i].variance / own)), i % 2 ? 0.2 : 3);
    }
}
END_TEST

START_TEST(few_and_empty_stay) {
    struct ids_variation few[3] = {{1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    ck_assert_int_eq(ids_shrink(few, 3), 0);
    ck_assert_double_eq(few[0].variance, 2);
    ck_assert_double_eq(few[0].df, 4);
    struct ids_variation spreads[OPS];
    fill(spreads, 0.01, 0.01);
    spreads[7] = (struct ids_variation){0, 0, 0};
    ck_assert_int_eq(ids_shrink(spreads, OPS), 0);
    ck_assert_double_eq(spreads[7].df, 0);
}
END_TEST

/* 1 2 3 and 5 7 9: squares 2 and 8 about 2 and 7, over four degrees. */
START_TEST(spread_of_two_sides) {
    struct ids_variation spread = ids_variation_of((const double[]){1, 2, 3}, 3, (const double[]){5, 7, 9}, 3);
    ck_assert_double_eq(spread.mean, 4.5);
    ck_assert_double_eq(spread.variance, 2.5);
    ck_assert_double_eq(spread.df, 4);
}
END_TEST

/* Of ten questions at 1 %: 0.0009 <= 0.001 and 0.0019 <= 0.002 are answered, 0.2 is not; the limit is that of two. A
 * later one may carry earlier ones with it: 0.0029 is third, and 0.0025 second. */
START_TEST(discoveries) {
    double p[] = {0.2, 0.0019, 0.3, 0.0009, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
    ck_assert_double_eq_tol(ids_discovery_limit(p, 10, 0.01), 0.002, 1e-15);
    double carried[] = {0.0025, 0.0001, 0.0029, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1};
    ck_assert_double_eq_tol(ids_discovery_limit(carried, 10, 0.01), 0.003, 1e-15);
    double none[] = {0.5, 0.6};
    ck_assert_double_eq_tol(ids_discovery_limit(none, 2, 0.01), 0.005, 1e-15);
    ck_assert_double_eq(ids_discovery_limit(none, 0, 0.01), 0.01);
}
END_TEST

/* p and the interval say the same: at a confidence of 1 - p it ends at zero. */
START_TEST(p_and_interval) {
    struct ids_interval interval = ids_interval_by_error(3, 1, 8, 0.99);
    double p = ids_interval_p(&interval);
    ids_interval_set(&interval, 1 - p, 0);
    ck_assert_double_eq_tol(interval.mean.low, 0, 1e-6);
    ids_interval_set(&interval, 0.99, 1); /* a noise of 1 leaves 2 */
    struct ids_interval less = ids_interval_by_error(2, 1, 8, 0.99);
    ck_assert_double_eq_tol(ids_interval_p(&interval), ids_interval_p(&less), 1e-12);
    ck_assert_double_eq_tol(interval.mean.high - interval.mean.low, 2 + less.mean.high - less.mean.low, 1e-9);
    ids_interval_set(&interval, 0.99, 4);
    ck_assert_double_eq(ids_interval_p(&interval), 1);
}
END_TEST

static double even(double a1, double b1, double a2, double b2, double a3, double b3, double a4, double b4) {
    struct ids_even_pair pairs[] = {{a1, b1}, {a2, b2}, {a3, b3}, {a4, b4}};
    return ids_even_factor(pairs, 4, 0.01);
}

START_TEST(even_changes) {
    ck_assert_double_eq_tol(even(10, 10.2, 20, 20.4, 30, 30.6, 25, 25.5), 1.02, 1e-12);
    ck_assert_double_eq_tol(even(10, 20, 20, 42, 30, 61, 25, 49), 2.03333, 1e-4);
    ck_assert_double_eq(even(10, 10.05, 20, 20.1, 30, 30.15, 25, 25.1), 1); /* below the threshold */
    ck_assert_double_eq(even(10, 10, 20, 20, 30, 33, 25, 30), 1);           /* half of the time stayed */
    ck_assert_double_eq(even(10, 10.2, 20, 20.4, 90, 91.8, 25, 25.5), 1);   /* one op is most of it */
    struct ids_even_pair three[] = {{1, 2}, {1, 2}, {1, 2}};
    ck_assert_double_eq(ids_even_factor(three, 3, 0.01), 1);
    ck_assert_double_eq(ids_even_factor(three, 0, 0.01), 1);
}
END_TEST

START_TEST(shapes) {
    static const struct {
        const char *a, *b;
        int differs;
        enum ids_shape_change_kind kind;
        const char *text;
    } table[] = {
        {"f32[8,4]", "f32[8,4]", 0, IDS_SHAPE_OTHER, NULL},
        {"f32[8,4]", "", 0, IDS_SHAPE_OTHER, NULL},
        {"f32[8,4]", "bf16[8,4]", 1, IDS_SHAPE_ELEMENT, "f32 \xe2\x86\x92 bf16"},
        {"f32[8,4]", "f32[16,4]", 1, IDS_SHAPE_LEADING, "batch x2 (8 \xe2\x86\x92 16)"},
        {"f32[16]", "f32[8]", 1, IDS_SHAPE_LEADING, "batch x0.5 (16 \xe2\x86\x92 8)"},
        {"(f32[8,4], s32[])", "(f32[16,4], s32[])", 1, IDS_SHAPE_LEADING, NULL},
        {"f32[8,4]", "f32[8,8]", 1, IDS_SHAPE_OTHER, NULL},
        {"f32[8,4]", "f32[8,4,2]", 1, IDS_SHAPE_OTHER, NULL},
        {"f32[8,4]", "bf16[16,4]", 1, IDS_SHAPE_OTHER, NULL},
        {"f32[]", "f32[4]", 1, IDS_SHAPE_OTHER, NULL},
        {"token", "f32[4]", 1, IDS_SHAPE_OTHER, NULL},
    };
    struct ids_shape_change change;
    char text[IDS_SHAPE_CHANGE_TEXT];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_int_eq(ids_shape_change(table[i].a, table[i].b, &change), table[i].differs);
        ck_assert_int_eq(change.kind, table[i].kind);
        if (!table[i].text) continue;
        ids_shape_change_text(&change, text);
        ck_assert_str_eq(text, table[i].text);
    }
}
END_TEST

START_TEST(like_shapes) {
    struct ids_shape_change batch, tokens, other;
    ids_shape_change("f32[8,4]", "f32[16,4]", &batch);
    ids_shape_change("f32[128]", "f32[256]", &tokens);
    ids_shape_change("f32[128]", "f32[512]", &other);
    ck_assert_int_eq(ids_shape_changes_are_alike(&batch, &tokens), 1);
    ck_assert_int_eq(ids_shape_changes_are_alike(&batch, &other), 0);
    ids_shape_change("f32[8,4]", "f32[8,8]", &other);
    ck_assert_int_eq(ids_shape_changes_are_alike(&other, &other), 0);
}
END_TEST

IDS_RUN_SUITE("causes", alike_variances_are_surer, unlike_variances_stay, few_and_empty_stay, spread_of_two_sides,
              discoveries, p_and_interval, even_changes, shapes, like_shapes)
