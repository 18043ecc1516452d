#include "lib/compare/even_change.h"

#include <math.h>
#include <stdlib.h>

/* An op of less than a hundredth of the time says nothing, and one of more than half of it says all alone. */
enum { OPS_LEAST = 4, ERRORS = 2 };
#define OP_LEAST 0.01
#define OP_MOST 0.5
#define ALIKE 0.75
#define ROUNDING 1e-9

static int by_ratio(const void *a, const void *b) {
    const struct ids_even_pair *left = a, *right = b;
    double l = left->b_ps / left->a_ps, r = right->b_ps / right->a_ps;
    return (l > r) - (l < r);
}

/* What both sides have of it counts, whichever is the first. */
static double shared(const struct ids_even_pair *pair) {
    return fmin(pair->a_ps, pair->b_ps);
}

/* Half of the time became longer by less. Where two share the middle, between them. */
static double median_ratio(struct ids_even_pair *at, size_t count, double whole) {
    double below = 0;
    size_t i = 0;
    qsort(at, count, sizeof *at, by_ratio);
    while (i + 1 < count && below + shared(&at[i]) < whole / 2 * (1 - ROUNDING)) below += shared(&at[i++]);
    size_t next = i + 1 < count && below + shared(&at[i]) <= whole / 2 * (1 + ROUNDING) ? i + 1 : i;
    return sqrt(at[i].b_ps / at[i].a_ps * (at[next].b_ps / at[next].a_ps));
}

static int is_alike(const struct ids_even_pair *pair, double factor) {
    double half = sqrt(factor), width = fabs(half - 1 / half) / 2 * shared(pair);
    return fabs(pair->b_ps / half - pair->a_ps * half) <= fmax(width, ERRORS * pair->error_ps);
}

int ids_even_is_of_load(double factor, double expected) {
    return expected != 1 && log(factor) / log(expected) >= 0.5;
}

/* Of all but the one that changed most, whose change may be its own. */
static double ratio_together(const struct ids_even_pair *at, size_t count) {
    double a = 0, b = 0;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        if (fabs(at[i].b_ps - at[i].a_ps) > fabs(at[most].b_ps - at[most].a_ps)) most = i;
        a += at[i].a_ps;
        b += at[i].b_ps;
    }
    return (b - at[most].b_ps) / (a - at[most].a_ps);
}

/* What the load makes of the middle op; where it made some ops much longer and others not, of all together. These must
 * show more of it, because a few ops move them. */
#define TOGETHER 0.65

static double of_load(double median, double together, double expected) {
    double shown = ids_even_is_of_load(median, expected)                        ? median
                   : expected != 1 && log(together) / log(expected) >= TOGETHER ? together
                                                                                : 1;
    return fabs(log(shown)) < fabs(log(expected)) ? shown : expected;
}

double ids_even_factor(struct ids_even_pair *at, size_t count, double threshold, double expected) {
    double whole = 0, most = 0, alike = 0;
    size_t large = 0;
    for (size_t i = 0; i < count; i++) {
        whole += shared(&at[i]);
        most = fmax(most, shared(&at[i]));
    }
    for (size_t i = 0; i < count; i++) large += shared(&at[i]) >= OP_LEAST * whole;
    if (large < OPS_LEAST || most > OP_MOST * whole) return 1;
    double factor = median_ratio(at, count, whole);
    for (size_t i = 0; i < count; i++) alike += is_alike(&at[i], factor) ? shared(&at[i]) : 0;
    if (alike < ALIKE * whole) factor = of_load(factor, ratio_together(at, count), expected);
    return fmax(factor, 1 / factor) - 1 < threshold ? 1 : factor;
}
