/* What the causes of a change rest on: variances shared over ops, a change that all ops have alike, shapes. */
#include "lib/compare/cause_groups.h"
#include "lib/compare/cause_intervals.h"
#include "lib/compare/cores.h"
#include "lib/compare/even_change.h"
#include "lib/compare/machine_spread.h"
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
    struct ids_even_pair pairs[] = {{a1, b1, 0}, {a2, b2, 0}, {a3, b3, 0}, {a4, b4, 0}};
    return ids_even_factor(pairs, 4, 0.01, 1);
}

START_TEST(even_changes) {
    ck_assert_double_eq_tol(even(10, 10.2, 20, 20.4, 30, 30.6, 25, 25.5), 1.02, 1e-12);
    ck_assert_double_eq_tol(even(10, 20, 20, 42, 30, 61, 25, 49), 2.03333, 1e-4);
    ck_assert_double_eq(even(10, 10.05, 20, 20.1, 30, 30.15, 25, 25.1), 1);               /* below the threshold */
    ck_assert_double_eq(even(10, 10, 20, 20, 30, 33, 25, 30), 1);                         /* half of the time stayed */
    ck_assert_double_eq(even(10, 10.2, 20, 20.4, 90, 91.8, 25, 25.5), 1);                 /* one op is most of it */
    struct ids_even_pair loaded[] = {{10, 20, 1}, {20, 50, 6}, {30, 48, 7}, {25, 50, 1}}; /* 2.5 and 1.6 may be 2 */
    ck_assert_double_eq_tol(ids_even_factor(loaded, 4, 0.01, 1), 2, 1e-12);
    for (int i = 0; i < 4; i++) loaded[i].error_ps = 0;
    ck_assert_double_eq_tol(ids_even_factor(loaded, 4, 0.01, 1), 2, 1e-12); /* within half of the change */
    struct ids_even_pair uneven[] = {{10, 20, 0}, {20, 70, 0}, {30, 30, 0}, {25, 50, 0}};
    ck_assert_double_eq(ids_even_factor(uneven, 4, 0.01, 1), 1);
    for (int i = 0; i < 4; i++) uneven[i] = (struct ids_even_pair){uneven[i].a_ps, uneven[i].b_ps, 16};
    ck_assert_double_eq_tol(ids_even_factor(uneven, 4, 0.01, 1), 2, 1e-12);
    /* what the machine's load explains need not be alike, but no more than that is its */
    struct ids_even_pair busy[] = {{10, 12, 0}, {10, 19, 0}, {10, 20, 0}, {10, 38, 0}, {10, 40, 0}};
    ck_assert_double_eq(ids_even_factor(busy, 5, 0.01, 1), 1);
    ck_assert_double_eq_tol(ids_even_factor(busy, 5, 0.01, 3), 2, 1e-12);
    ck_assert_double_eq_tol(ids_even_factor(busy, 5, 0.01, 1.5), 1.5, 1e-12);
    ck_assert_double_eq(ids_even_factor(busy, 5, 0.01, 4.5), 1); /* less than half of it is seen */
    ck_assert_double_eq(ids_even_factor(busy, 5, 0.01, 0.5), 1); /* nor what goes the other way */
    for (int i = 0; i < 5; i++) busy[i] = (struct ids_even_pair){busy[i].b_ps, busy[i].a_ps, 0};
    ck_assert_double_eq_tol(ids_even_factor(busy, 5, 0.01, 1 / 1.5), 1 / 1.5, 1e-12);
    /* where some ops lacked cores for long and the middle one did not, all together show it, without the largest */
    struct ids_even_pair some[] = {{10, 10, 0}, {10, 11, 0}, {10, 12, 0}, {10, 80, 0}, {10, 90, 0}};
    ck_assert_double_eq_tol(ids_even_factor(some, 5, 0.01, 3), 2.825, 1e-12);
    ck_assert_double_eq_tol(ids_even_factor(some, 5, 0.01, 2), 2, 1e-12);
    ck_assert_double_eq(ids_even_factor(some, 5, 0.01, 6), 1); /* that is too little of it */
    for (int i = 0; i < 5; i++) some[i] = (struct ids_even_pair){some[i].b_ps, some[i].a_ps, 0};
    ck_assert_double_eq_tol(ids_even_factor(some, 5, 0.01, 1 / 3.), 1 / 2.825, 1e-12);
    struct ids_even_pair largest[] = {{10, 10, 0}, {10, 11, 0}, {10, 12, 0}, {10, 12, 0}, {10, 90, 0}};
    ck_assert_double_eq(ids_even_factor(largest, 5, 0.01, 3), 1); /* its change is its own */
    ck_assert_double_eq_tol(ids_cores_factor(0.2, 0.6), 2, 1e-12);
    ck_assert_double_eq_tol(ids_cores_factor(0.6, 0.2), 0.5, 1e-12);
    ck_assert_double_eq(ids_cores_factor(0.5, 0.55), 1); /* a tenth more */
    ck_assert_double_eq(ids_cores_factor(0.0, 0.19), 1);
    ck_assert_double_eq(ids_cores_factor(NAN, 0.6), 1);
    ck_assert_double_eq(ids_cores_factor(0.2, 1), 1);
    struct ids_even_pair three[] = {{1, 2, 0}, {1, 2, 0}, {1, 2, 0}};
    ck_assert_double_eq(ids_even_factor(three, 3, 0.01, 1), 1);
    ck_assert_double_eq(ids_even_factor(three, 0, 0.01, 1), 1);
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

START_TEST(dimensions) {
    static const struct {
        const char *a, *b;
        size_t count;
        int64_t from, to;
    } table[] = {
        {"f32[8,512]", "f32[8,1024]", 1, 512, 1024},
        {"f32[512,512]", "f32[1024,1024]", 1, 512, 1024},
        {"f32[4096,512]", "f32[8192,1024]", 1, 512, 1024}, /* eight times as much of it */
        {"(f32[8,512], s32[])", "(f32[8,1024], s32[])", 1, 512, 1024},
        {"f32[8,768,512]", "f32[8,1536,1024]", 2, 768, 1536}, /* twice as large, and no multiple of one another */
        {"f32[4,4,256,64]", "f32[4,8,256,32]", 2, 4, 8},      /* heads */
        {"f32[8,512]", "f32[16,512]", 1, 8, 16},
        {"f32[8,512]", "f32[512,8]", 0, 0, 0},
        {"f32[2,8,512]", "f32[4,512,8]", 3, 2, 4},
        {"f32[8,512]", "f32[8,512]", 0, 0, 0},
        {"f32[8,512]", "bf16[8,1024]", 0, 0, 0},
        {"f32[8,512]", "f32[8,2,512]", 0, 0, 0},
        {"f32[8,512", "f32[8,1024", 1, 512, 1024}, /* cut off */
        {"f32[8,0]", "f32[8,4]", 0, 0, 0},
        {"f32[2,3,5,7,11]", "f32[13,17,19,23,29]", 0, 0, 0},
        {"f32[99999999999999999999]", "f32[1]", 1, INT64_MAX, 1},
        {"", "f32[1]", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_dimension_change changes[IDS_DIMENSIONS_OF_SHAPE];
        ck_assert_msg(ids_dimension_changes(table[i].a, table[i].b, changes) == table[i].count, "%s", table[i].a);
        if (!table[i].count) continue;
        ck_assert_int_eq(changes[0].from, table[i].from);
        ck_assert_int_eq(changes[0].to, table[i].to);
    }
}
END_TEST

/* An op that is gone had 7 us, give or take 3, and one that is new has 6: in the steps that were recorded. */
START_TEST(gone_of_unsure_size) {
    const struct ids_interval known = {.known = 1, .typical = {.error = 3000}};
    struct ids_cause gone = {.kind = IDS_CAUSE_OP, .is_in_a = 1, .a_ps = 7000, .change_ps = -7000};
    const struct ids_cause fresh = {.kind = IDS_CAUSE_OP, .is_in_b = 1, .b_ps = 6000, .change_ps = 6000};
    ck_assert_double_eq(ids_cause_rank(&gone, 0), 1.5 * 7000);
    gone.interval = known;
    ck_assert_double_eq(ids_cause_rank(&gone, 0), 1.5 * 7000 * (49. / 58));
    ck_assert(ids_cause_rank(&gone, 0) < ids_cause_rank(&fresh, 0));
    gone.is_in_b = 1, gone.kind = IDS_CAUSE_CULPRIT;
    ck_assert_double_eq_tol(ids_cause_rank(&gone, 0), 7000 * (49. / 58), 1e-6);
}
END_TEST

/* One of 9 us that may be chance, of which 4.5 are left, stands behind a sure one of 1 us and before one of 0.4; one
 * without a rank stands behind all. That it compiled, what the program says, and a function that one side alone has are
 * no chance; but time without a place in the program may come and go. */
START_TEST(chance_stands_behind) {
    const struct ids_interval holds_zero = {.known = 1, .typical = {.low = -1, .high = 20000}};
    const struct ids_interval is_sure = {.known = 1, .typical = {.low = 500, .high = 1500}};
    struct ids_cause chance = {.kind = IDS_CAUSE_CULPRIT,
                               .account = "host.python",
                               .culprit = "f",
                               .where = "train.py:7",
                               .is_in_a = 1,
                               .is_in_b = 1,
                               .a_ps = 1000,
                               .b_ps = 10000,
                               .change_ps = 9000,
                               .rank = 4500,
                               .interval = holds_zero};
    struct ids_cause sure = chance, none = chance;
    sure.change_ps = sure.rank = 1000, sure.interval = is_sure;
    none.rank = 0, none.interval = is_sure;
    ck_assert_int_lt(ids_cause_order(&sure, &chance), 0);
    ck_assert_int_gt(ids_cause_order(&chance, &sure), 0);
    ck_assert_int_lt(ids_cause_order(&chance, &none), 0);
    sure.rank = 400;
    ck_assert_int_lt(ids_cause_order(&chance, &sure), 0);
    sure.rank = 1000;
    chance.account = "host.compile";
    ck_assert_int_lt(ids_cause_order(&chance, &sure), 0);
    chance.account = "host.python";
    chance.a_ps = 100; /* a hundredth: a name that samples see now and then */
    ck_assert_int_lt(ids_cause_order(&chance, &sure), 0);
    chance.a_ps = 101;
    ck_assert_int_gt(ids_cause_order(&chance, &sure), 0);
    chance.a_ps = 0, chance.where = NULL; /* wait_for_core */
    ck_assert_int_gt(ids_cause_order(&chance, &sure), 0);
    chance.hidden_ps = 1;
    ck_assert_int_lt(ids_cause_order(&chance, &sure), 0);
}
END_TEST

/* A function that came counts half as much again, as an op does. */
START_TEST(function_that_came) {
    struct ids_cause cause = {.kind = IDS_CAUSE_CULPRIT,
                              .account = "host.python",
                              .culprit = "f",
                              .where = "train.py:7",
                              .b_ps = 6000,
                              .change_ps = 6000};
    ck_assert_double_eq(ids_cause_rank(&cause, 0), 1.5 * 6000);
    cause.account = "host.sync"; /* a wait may come by chance */
    ck_assert_double_eq(ids_cause_rank(&cause, 0), 6000);
    cause.account = "host.dispatch";
    cause.kind = IDS_CAUSE_LAUNCHES;
    ck_assert_double_eq(ids_cause_rank(&cause, 0), 1.5 * 6000);
    cause.a_ps = 1000;
    ck_assert_double_eq(ids_cause_rank(&cause, 0), 6000);
    cause.a_ps = 0, cause.where = "held up";
    ck_assert_double_eq(ids_cause_rank(&cause, 0), 6000);
}
END_TEST

/* Three programs of one function are one cause, unless one of them is more than half of it; what the function itself
 * does goes with them, and is no program. Those of another function, file or account are others. */
START_TEST(launches_of_a_function) {
    static const struct {
        const char *account, *culprit, *where;
        double change_ps;
    } parts[] = {
        {"host.dispatch", "add", "train.py:16 clip", 40},
        {"host.dispatch", "mul", "train.py:17 clip, held up", 50},
        {"host.dispatch", "clip", "train.py:16, mostly in add", 5},
        {"host.dispatch", "sqrt", "train.py:17 clip", 30},
        {"device.queue", "add", "train.py:16 clip", 40},
        {"host.dispatch", "add", "data.py:16 clip", 40},
        {"host.dispatch", "one", "train.py:30 main", 80},
        {"host.dispatch", "two", "train.py:31 main", 10},
        {"host.dispatch", "three", "train.py:31 main", 10},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    const struct ids_side side = {.recording_count = 0};
    struct ids_report texts;
    struct ids_entry at[PARTS];
    struct ids_entries entries = {.sides = {&side, &side}, .texts = &texts, .at = at, .count = PARTS};
    ids_report_init(&texts);
    for (size_t i = 0; i < PARTS; i++)
        at[i] = (struct ids_entry){.cause = {.kind = IDS_CAUSE_CULPRIT,
                                             .account = parts[i].account,
                                             .culprit = parts[i].culprit,
                                             .where = parts[i].where,
                                             .is_in_b = 1,
                                             .b_ps = parts[i].change_ps,
                                             .change_ps = parts[i].change_ps}};
    ck_assert_int_eq(ids_group_launches(&entries), 0);
    const struct ids_cause *whole = &at[0].cause;
    ck_assert_int_eq(whole->kind, IDS_CAUSE_LAUNCHES);
    ck_assert_str_eq(whole->culprit, "clip");
    ck_assert_str_eq(whole->where, "train.py:17");
    ck_assert_str_eq(whole->largest, "mul");
    ck_assert_uint_eq(whole->count, 3);
    ck_assert_double_eq(whole->change_ps, 125);
    for (size_t i = 1; i < PARTS; i++) ck_assert_int_eq(at[i].is_gone, i <= 3);
    ids_report_done(&texts);
}
END_TEST

/* A callback of 5 ns is new: 1 ns of it is its own on the ledger, and while it held a core in the other 4 an op of 3 ns
 * took 6. An op that is alone, and one that does something else, did not wait for it. */
START_TEST(hidden_callback) {
    const struct ids_item call = {
        .name = "pure_callback.1", .base = "pure_callback", .category = "custom-call", .time_ps = 5000};
    const struct ids_item dot = {.name = "dot", .shape = "f32[4]", .fingerprint = "1", .count = 1};
    const struct ids_item other = {.name = "dot", .shape = "f32[8]", .fingerprint = "2", .count = 1};
    struct ids_match matches[] = {{.b = &call}, {.a = &dot, .b = &dot}, {.a = &dot, .b = &other}};
    struct ids_matches ops = {.at = matches, .count = 3};
    struct ids_entry at[] = {
        {.cause =
             {.kind = IDS_CAUSE_CULPRIT, .culprit = "pure_callback", .is_in_b = 1, .b_ps = 1000, .change_ps = 1000}},
        {.cause = {.kind = IDS_CAUSE_OP, .match = &matches[1], .a_ps = 3000, .b_ps = 6000, .change_ps = 3000},
         .own_ps = {3000, 8000}},
        {.cause = {.kind = IDS_CAUSE_OP, .match = &matches[1], .a_ps = 30, .b_ps = 60, .change_ps = 30},
         .own_ps = {30, 60}},
        {.cause = {.kind = IDS_CAUSE_OP, .match = &matches[2], .a_ps = 3, .b_ps = 9, .change_ps = 6}, .own_ps = {9, 9}},
    };
    struct ids_entries entries = {.ops = &ops, .at = at, .count = 4};
    ck_assert_int_eq(ids_find_hidden(&entries), 0);
    ck_assert_double_eq(at[0].cause.hidden_ps, 3000);
    ck_assert(ids_cause_is_structural(&at[0].cause));
    ck_assert_double_eq(ids_cause_rank(&at[0].cause, 1), 1.5 * 4000);
    at[1].own_ps[0] = 9000; /* gone is the other way round: the op became faster */
    at[1].cause.change_ps = -5000;
    at[0].cause =
        (struct ids_cause){.kind = IDS_CAUSE_CULPRIT, .culprit = "pure_callback", .is_in_a = 1, .change_ps = -1000};
    matches[0] = (struct ids_match){.a = &call};
    ck_assert_int_eq(ids_find_hidden(&entries), 0);
    ck_assert_double_eq(at[0].cause.hidden_ps, 4000);
    at[0].cause.is_in_b = 1; /* of both sides: nothing is known of it */
    at[0].cause.hidden_ps = 0;
    ck_assert_int_eq(ids_find_hidden(&entries), 0);
    ck_assert_double_eq(at[0].cause.hidden_ps, 0);
}
END_TEST

/* Of one recording a side, 19 causes of chance and three of p = 0.002. Asked among many a wait of both sides is not
 * sure; one at a place that one side alone has keeps its interval, and a function of Python is asked alone. Of
 * recordings all but the few are asked alike. */
START_TEST(one_among_many) {
    enum { CHANCE = 19, BOTH = CHANCE, CAME, PYTHON, ALL };
    struct ids_entry at[ALL] = {{.cause = {.count = 0}}};
    for (size_t i = 0; i < ALL; i++)
        at[i].cause = (struct ids_cause){.kind = IDS_CAUSE_CULPRIT,
                                         .account = i == PYTHON ? "host.python" : "host.sync",
                                         .culprit = "float",
                                         .is_in_a = 1,
                                         .is_in_b = 1,
                                         .a_ps = 500,
                                         .b_ps = 600,
                                         .interval = ids_interval_by_error(i < CHANCE ? 10 : 100, 30, 60, 0.99)};
    at[CAME].cause.where = "train.py:30 log_loss";
    at[CAME].cause.is_in_a = 0;
    struct ids_side side = {.per_step = 1};
    struct ids_entries entries = {.sides = {&side, &side}, .at = at, .count = ALL, .step_ps = {1000, 1000}, .even = 1};
    for (size_t i = BOTH; i < ALL; i++) ck_assert(ids_interval_excludes_zero(&at[i].cause.interval));
    ck_assert_int_eq(ids_entries_hold_discovery_rate(&entries), 0);
    ck_assert(!ids_interval_excludes_zero(&at[BOTH].cause.interval));
    ck_assert(ids_interval_excludes_zero(&at[CAME].cause.interval));
    ck_assert(ids_interval_excludes_zero(&at[PYTHON].cause.interval));
    side.by_run = 1;
    ck_assert_int_eq(ids_entries_hold_discovery_rate(&entries), 0);
    ck_assert(!ids_interval_excludes_zero(&at[CAME].cause.interval));
    ck_assert(!ids_interval_excludes_zero(&at[PYTHON].cause.interval));
}
END_TEST

/* Twelve ops that do the same, of which nine take a tenth longer and three, each as long as they are, ten times as
 * long: those say nothing of the machine. Nine ops alone tell nothing. What an op may change by is of what it takes
 * itself, where the ledger has less of it. */
START_TEST(machine_spread) {
    enum { OPS_OF_TWO = 12, SLOW = 3 };
    const struct ids_item dot = {.name = "dot", .shape = "f32[4]", .fingerprint = "1", .count = 1};
    struct ids_match match = {.a = &dot, .b = &dot};
    struct ids_entry at[OPS_OF_TWO] = {{.cause = {.count = 0}}};
    for (size_t i = 0; i < OPS_OF_TWO; i++)
        at[i].cause = (struct ids_cause){.kind = IDS_CAUSE_OP,
                                         .account = "work.compute",
                                         .match = &match,
                                         .a_ps = 100,
                                         .b_ps = i < SLOW ? 1000 : 110,
                                         .change_ps = i < SLOW ? 900 : 10};
    struct ids_entries entries = {.at = at, .count = OPS_OF_TWO - SLOW, .even = 1};
    ck_assert_int_eq(ids_find_machine_spread(&entries), 0);
    ck_assert_double_eq(entries.machine_spread.share, 0);
    entries.count = OPS_OF_TWO;
    ck_assert_int_eq(ids_find_machine_spread(&entries), 0);
    double far = ids_student_quantile(0.995, 11);
    ck_assert_double_eq_tol(entries.machine_spread.share, (pow(1.1, 1.4826 * far) - 1) / far, 1e-9);
    ck_assert_double_eq(entries.machine_spread.df, 11);
    entries.machine_spread = (struct ids_machine_spread){0.5, 10};
    struct ids_variation spread = {100, 4, 6};
    at[0].own_ps[0] = 200;
    at[0].own_ps[1] = 1200;
    ids_add_machine_spread(&entries, &at[0], &spread);
    ck_assert_double_eq(spread.variance, 4 + 100 * 100);
    ck_assert_double_eq_tol(spread.df, 10004.0 * 10004 / (4.0 * 4 / 6 + 1e8 / 10), 1e-9);
}
END_TEST

/* A wait beside which the device no longer works is seen to be the cause, however long it takes itself. */
START_TEST(exposing_wait_is_no_chance) {
    struct ids_cause wait = {.kind = IDS_CAUSE_CULPRIT,
                             .account = "host.sync",
                             .culprit = "float",
                             .change_ps = 10,
                             .interval = ids_interval_by_error(10, 30, 60, 0.99)};
    ck_assert(ids_cause_may_be_chance(&wait));
    wait.exposed_ps = 1000;
    ck_assert(!ids_cause_may_be_chance(&wait));
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

/* Of tuples a person is told the first part that differs, or how many parts there are. */
START_TEST(shapes_told) {
    static const struct {
        const char *a, *b, *told_a, *told_b;
    } table[] = {
        {"f32[8,4]", "f32[16,4]", "f32[8,4]", "f32[16,4]"},
        {"(s32[], f32[8,4]{1,0}, f32[2])", "(s32[], f32[8,6]{1,0}, f32[3])", "f32[8,4]{1,0}", "f32[8,6]{1,0}"},
        {"(s32[], (f32[8], f32[9]))", "(s32[], (f32[8], f32[7]))", "(f32[8], f32[9])", "(f32[8], f32[7])"},
        {"(s32[], f32[8])", "(s32[], f32[8], f32[2])", "2 arrays", "3 arrays"},
        {"(s32[], f3... of 16 arrays", "(s32[], f3... of 32 arrays", "16 arrays", "32 arrays"},
        {"(s32[], f32[8])", "f32[8]", "(s32[], f32[8])", "f32[8]"},
    };
    struct ids_report texts;
    ids_report_init(&texts);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *a = table[i].a, *b = table[i].b;
        ids_shapes_told(&texts, &a, &b);
        ck_assert_str_eq(a, table[i].told_a);
        ck_assert_str_eq(b, table[i].told_b);
    }
    ids_report_done(&texts);
}
END_TEST

IDS_RUN_SUITE("causes", alike_variances_are_surer, unlike_variances_stay, few_and_empty_stay, spread_of_two_sides,
              discoveries, p_and_interval, even_changes, shapes, dimensions, gone_of_unsure_size, chance_stands_behind,
              function_that_came, launches_of_a_function, hidden_callback, one_among_many, machine_spread,
              exposing_wait_is_no_chance, like_shapes, shapes_told)
