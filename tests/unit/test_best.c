/* lib/analysis/best.h: the first so many of very many. */
#include "lib/analysis/best.h"
#include "tests/support/suite.h"

#include <stdlib.h>

enum { KEPT = 5, MOST = 3 * KEPT };

struct thing {
    int length, number;
};

/* Longest first, of equals the one with the least number. */
static int order(const void *one, const void *other) {
    const struct thing *left = one, *right = other;
    if (left->length != right->length) return left->length < right->length ? 1 : -1;
    return (left->number > right->number) - (left->number < right->number);
}

START_TEST(the_first_ones_of_a_sort_stay) {
    unsigned state = 1;
    for (int count = 0; count <= MOST; count++) {
        for (int round = 0; round < 50; round++) {
            struct thing all[MOST];
            struct ids_best best = {.size = sizeof *all, .kept = KEPT, .order = order};
            for (int i = 0; i < count; i++) {
                state = state * 1103515245 + 12345;
                all[i] = (struct thing){(int)(state >> 16) % 6, i};
                ck_assert_int_eq(ids_best_add(&best, &all[i]), 0);
                ck_assert_uint_lt(best.count, (size_t)2 * KEPT); /* however many come */
            }
            if (count) qsort(all, (size_t)count, sizeof *all, order);
            ids_best_order(&best);
            ck_assert_uint_eq(best.count, (size_t)(count < KEPT ? count : KEPT));
            ck_assert_uint_eq(best.seen, (uint64_t)count);
            const struct thing *at = best.at;
            for (size_t i = 0; i < best.count; i++) {
                ck_assert_int_eq(at[i].length, all[i].length);
                ck_assert_int_eq(at[i].number, all[i].number);
            }
            ids_best_done(&best);
        }
    }
}
END_TEST

IDS_RUN_SUITE("best", the_first_ones_of_a_sort_stay)
