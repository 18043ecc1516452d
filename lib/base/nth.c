#include "lib/base/nth.h"

#include <stdlib.h>

static int shorter(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Each round halves what is looked through, as a rule: what comes otherwise is sorted. */
int64_t ids_nth(int64_t *at, size_t count, size_t n) {
    size_t from = 0, to = count;
    for (int round = 0; to - from > 1; round++) {
        enum { ROUNDS = 64 };
        if (round == ROUNDS) {
            qsort(at + from, to - from, sizeof *at, shorter);
            break;
        }
        const int64_t pivot = at[from + (to - from) / 2];
        size_t low = from, high = to - 1;
        for (;; low++, high--) {
            while (at[low] < pivot) low++;
            while (at[high] > pivot) high--;
            if (low >= high) break;
            int64_t held = at[low];
            at[low] = at[high];
            at[high] = held;
        }
        /* Before `low` none is longer than the pivot, from there on none is shorter. */
        if (low == from) low++; /* it is the least of all */
        if (n < low)
            to = low;
        else
            from = low;
    }
    return at[n];
}
