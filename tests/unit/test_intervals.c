/* lib/analysis/intervals.c: sets of moments, against a bitmap and by hand. */
#include "lib/analysis/intervals.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

/* A set out of pairs that end with {0, 0}, added in that order. */
static struct ids_spans set_of(const struct ids_span *pairs) {
    struct ids_spans set = {0};
    for (; pairs->start_ps || pairs->end_ps; pairs++) ids_spans_add(&set, pairs->start_ps, pairs->end_ps);
    ck_assert_int_eq(ids_spans_unite(&set), 0);
    return set;
}
#define SET(...) set_of((const struct ids_span[]){__VA_ARGS__, {0, 0}})

/* "[1,2) [5,9)" */
static const char *shown(const struct ids_spans *set) {
    static char text[512];
    text[0] = '\0';
    for (size_t i = 0; i < set->count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%lld,%lld)", i ? " " : "",
                 (long long)set->at[i].start_ps, (long long)set->at[i].end_ps);
    }
    return text;
}

static void expect(struct ids_spans set, const char *wanted, int64_t total) {
    ck_assert_str_eq(shown(&set), wanted);
    ck_assert_int_eq(ids_spans_total(&set), total);
    ids_spans_done(&set);
    ck_assert_uint_eq(set.count, 0);
}

START_TEST(unions_not_sums) {
    expect(SET({1, 5}, {3, 8}), "[1,8)", 7);
    expect(SET({1, 5}, {5, 8}), "[1,8)", 7); /* touching ones are one */
    expect(SET({1, 5}, {6, 8}), "[1,5) [6,8)", 6);
    expect(SET({1, 9}, {2, 3}, {4, 5}), "[1,9)", 8); /* inside */
    expect(SET({10, 12}, {1, 3}, {5, 6}, {2, 11}), "[1,12)", 11);
    expect(SET({-5, -1}, {-2, 4}), "[-5,4)", 9);
    expect(SET({3, 3}, {5, 4}), "", 0); /* empty and backward ones */
    expect(SET({1, 2}, {4, 5}, {4, 5}, {1, 2}), "[1,2) [4,5)", 2);
    expect(SET({INT64_MAX - 3, INT64_MAX}, {INT64_MAX - 9, INT64_MAX - 2}), "[9223372036854775798,9223372036854775807)",
           9);
}
END_TEST

START_TEST(what_comes_a_little_late) {
    struct ids_spans set = {0};
    for (int64_t i = 0; i < 96; i++) ids_spans_add(&set, (i ^ 7) * 10, (i ^ 7) * 10 + 5); /* each eight backwards */
    ids_spans_add(&set, 3, 12); /* from the end to the front, where it makes one of two */
    ck_assert_int_eq(ids_spans_unite(&set), 0);
    ck_assert_uint_eq(set.count, 95);
    ck_assert_int_eq(set.at[0].end_ps, 15);
    for (int64_t i = 1; i < 95; i++) ck_assert_int_eq(set.at[i].start_ps, (i + 1) * 10);
    ids_spans_done(&set);
}
END_TEST

START_TEST(cover_of_a_stretch) {
    struct ids_spans set = SET({10, 20}, {30, 40});
    ck_assert_int_eq(ids_spans_cover(&set, 0, 100), 20);
    ck_assert_int_eq(ids_spans_cover(&set, 15, 35), 10);
    ck_assert_int_eq(ids_spans_cover(&set, 12, 14), 2);
    ck_assert_int_eq(ids_spans_cover(&set, 20, 30), 0);
    ck_assert_int_eq(ids_spans_cover(&set, 19, 31), 2);
    ck_assert_int_eq(ids_spans_cover(&set, 40, 50), 0);
    ck_assert_int_eq(ids_spans_cover(&set, 35, 35), 0);
    ck_assert_int_eq(ids_spans_cover(&set, 35, 12), 0);
    ids_spans_done(&set);
}
END_TEST

START_TEST(what_two_sets_share) {
    struct ids_spans a = SET({0, 10}, {20, 30}, {40, 50}), b = SET({5, 25}, {30, 45}), both = {0}, only = {0},
                     gaps = {0};
    ck_assert_int_eq(ids_spans_overlap(&a, &b), 15); /* [5,10) [20,25) [40,45) */
    ck_assert_int_eq(ids_spans_intersect(&a, &b, &both), 0);
    expect(both, "[5,10) [20,25) [40,45)", 15);
    ck_assert_int_eq(ids_spans_subtract(&a, &b, &only), 0);
    expect(only, "[0,5) [25,30) [45,50)", 15);
    ck_assert_int_eq(ids_spans_gaps(&a, -5, 45, &gaps), 0);
    expect(gaps, "[-5,0) [10,20) [30,40)", 25);
    struct ids_spans none = {0}, rest = {0}, nothing = {0};
    ck_assert_int_eq(ids_spans_gaps(&none, 3, 9, &rest), 0);
    expect(rest, "[3,9)", 6);
    ck_assert_int_eq(ids_spans_gaps(&none, 9, 3, &nothing), 0);
    expect(nothing, "", 0);
    ids_spans_done(&a);
    ids_spans_done(&b);
}
END_TEST

START_TEST(no_memory_is_remembered) {
    struct ids_spans set = {.out_of_memory = 1};
    ids_spans_add(&set, 1, 2);
    ck_assert_int_eq(ids_spans_unite(&set), -1);
    ids_spans_done(&set);
}
END_TEST

/* ---- against a bitmap ---- */

enum { MOMENTS = 120 };
static uint32_t random_state;

static int64_t random_below(uint32_t limit) {
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % limit;
}

static struct ids_spans random_set(uint8_t bits[MOMENTS]) {
    struct ids_spans set = {0};
    memset(bits, 0, MOMENTS);
    for (int64_t i = random_below(30); i > 0; i--) {
        int64_t start = random_below(MOMENTS), end = start + random_below(12);
        if (end > MOMENTS) end = MOMENTS;
        ids_spans_add(&set, start, end);
        for (int64_t t = start; t < end; t++) bits[t] = 1;
    }
    ck_assert_int_eq(ids_spans_unite(&set), 0);
    return set;
}

/* The set holds the moments of the bitmap, in order, without touching. */
static void same(const struct ids_spans *set, const uint8_t bits[MOMENTS]) {
    uint8_t held[MOMENTS] = {0};
    for (size_t i = 0; i < set->count; i++) {
        ck_assert_int_lt(set->at[i].start_ps, set->at[i].end_ps);
        if (i) ck_assert_int_lt(set->at[i - 1].end_ps, set->at[i].start_ps);
        for (int64_t t = set->at[i].start_ps; t < set->at[i].end_ps; t++) held[t] = 1;
    }
    ck_assert_mem_eq(held, bits, MOMENTS);
}

START_TEST(sets_are_what_a_bitmap_says) {
    for (uint32_t seed = 1; seed <= (uint32_t)ids_some_of(2000, 100); seed++) {
        random_state = seed;
        uint8_t in_a[MOMENTS], in_b[MOMENTS], both[MOMENTS], only[MOMENTS], gaps[MOMENTS] = {0};
        struct ids_spans a = random_set(in_a), b = random_set(in_b), shared = {0}, rest = {0}, free_time = {0};
        int64_t from = random_below(MOMENTS), to = from + random_below((uint32_t)(MOMENTS - from) + 1), covered = 0,
                total = 0, overlap = 0;
        for (int64_t t = 0; t < MOMENTS; t++) {
            both[t] = in_a[t] & in_b[t];
            only[t] = in_a[t] & !in_b[t];
            gaps[t] = t >= from && t < to && !in_a[t];
            covered += t >= from && t < to && in_a[t];
            total += in_a[t];
            overlap += both[t];
        }
        same(&a, in_a);
        ck_assert_int_eq(ids_spans_total(&a), total);
        ck_assert_int_eq(ids_spans_cover(&a, from, to), covered);
        ck_assert_int_eq(ids_spans_overlap(&a, &b), overlap);
        ck_assert_int_eq(ids_spans_intersect(&a, &b, &shared), 0);
        same(&shared, both);
        ck_assert_int_eq(ids_spans_subtract(&a, &b, &rest), 0);
        same(&rest, only);
        ck_assert_int_eq(ids_spans_gaps(&a, from, to, &free_time), 0);
        same(&free_time, gaps);
        ids_spans_done(&a);
        ids_spans_done(&b);
        ids_spans_done(&shared);
        ids_spans_done(&rest);
        ids_spans_done(&free_time);
    }
}
END_TEST

IDS_RUN_SUITE("intervals", unions_not_sums, what_comes_a_little_late, cover_of_a_stretch, what_two_sets_share,
              no_memory_is_remembered, sets_are_what_a_bitmap_says)
