/* saturate.h - sums and products of times and bytes that stop at the largest number instead of running over. No real
 * profile gets there (INT64_MAX picoseconds are 106 days of one device); a damaged one may. */
#ifndef IDS_LIB_BASE_SATURATE_H
#define IDS_LIB_BASE_SATURATE_H

#include <stdint.h>

/* Adds to a sum. */
static inline void ids_sum(int64_t *sum, int64_t amount) {
    if (__builtin_add_overflow(*sum, amount, sum)) *sum = amount < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t ids_sat_add(int64_t a, int64_t b) {
    ids_sum(&a, b);
    return a;
}

static inline int64_t ids_sat_sub(int64_t a, int64_t b) {
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? (b < 0 ? INT64_MAX : INT64_MIN) : difference;
}
static inline int64_t ids_sat_mul(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN) : product;
}

#endif
