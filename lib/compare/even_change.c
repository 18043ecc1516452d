#include "lib/compare/even_change.h"

#include <math.h>
#include <stdlib.h>

/* An op of less than a hundredth of the time says nothing, and one of more than half of it says all alone. */
enum { OPS_LEAST = 4, ERRORS = 2 };
#define OP_LEAST 0.01
#define OP_MOST 0.5
#define ALIKE 0.75

static int by_ratio(const void *a, const void *b) {
    const struct ids_even_pair *left = a, *right = b;
    double l = left->b_ps / left->a_ps, r = right->b_ps / right->a_ps;
    return (l > r) - (l < r);
}

double ids_even_factor(struct ids_even_pair *at, size_t count, double threshold) {
    double whole = 0, most = 0, below = 0, alike = 0, factor = 1;
    size_t large = 0;
    for (size_t i = 0; i < count; i++) {
        whole += at[i].a_ps;
        most = fmax(most, at[i].a_ps);
    }
    for (size_t i = 0; i < count; i++) large += at[i].a_ps >= OP_LEAST * whole;
    if (large < OPS_LEAST || most > OP_MOST * whole) return 1;
    qsort(at, count, sizeof *at, by_ratio);
    for (size_t i = 0; i < count && below <= whole / 2; i++) {
        below += at[i].a_ps;
        factor = at[i].b_ps / at[i].a_ps;
    }
    double width = fabs(factor - 1) / 2 * fmin(factor, 1);
    for (size_t i = 0; i < count; i++) {
        double far = fmax(width * at[i].a_ps, ERRORS * at[i].error_ps);
        alike += fabs(at[i].b_ps - factor * at[i].a_ps) <= far ? at[i].a_ps : 0;
    }
    return fabs(factor - 1) >= threshold && alike >= ALIKE * whole ? factor : 1;
}
