#include "lib/compare/shrinkage.h"

#include "lib/compare/statistics.h"

#include <math.h>
#include <stdlib.h>

enum { NEIGHBOURS = 40 };
/* What the like of a thing tell counts at most as much as this. Variances differ in ways that few values do not
 * show. */
#define MOST_PRIOR_DF 50.0

/* ---- the logarithm of a variance: what Γ says of its mean and variance ---- */

/* ψ and ψ' by recurrence up to 6, then their asymptotic series (Abramowitz and Stegun 6.3.18, 6.4.12). */
static double digamma(double x) {
    double sum = 0;
    while (x < 6) sum -= 1 / x++;
    double f = 1 / (x * x);
    return sum + log(x) - 0.5 / x - f * (1.0 / 12 - f * (1.0 / 120 - f / 252));
}

static double trigamma(double x) {
    double sum = 0;
    while (x < 6) {
        sum += 1 / (x * x);
        x++;
    }
    double f = 1 / (x * x);
    return sum + 1 / x + f / 2 + f / x * (1.0 / 6 - f * (1.0 / 30 - f / 42));
}

/* ψ' falls from infinity to 0. */
static double trigamma_inverse(double y) {
    double low = 1e-3, high = 1e6;
    for (int i = 0; i < 200; i++) {
        double middle = sqrt(low * high);
        *(trigamma(middle) > y ? &low : &high) = middle;
    }
    return sqrt(low * high);
}

/* ---- the trend ---- */

struct log_variance {
    double mean;  /* of the thing */
    double value; /* of its variance over the square of its mean, without bias */
    double trend;
    double own; /* the variance of `value` for want of values */
};

/* Of equal means by the value, so that no order in which they come decides who has which neighbours. */
static int by_mean(const void *a, const void *b) {
    const struct log_variance *left = a, *right = b;
    if (left->mean != right->mean) return left->mean < right->mean ? -1 : 1;
    return (left->value > right->value) - (left->value < right->value);
}

static size_t take_logs(const struct ids_variation *at, size_t count, struct log_variance *ret) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(at[i].mean > 0) || !(at[i].variance > 0) || !(at[i].df > 0)) continue;
        double half = at[i].df / 2, relative = at[i].variance / (at[i].mean * at[i].mean);
        ret[kept++] = (struct log_variance){at[i].mean, log(relative) - digamma(half) + log(half), 0, trigamma(half)};
    }
    qsort(ret, kept, sizeof *ret, by_mean);
    return kept;
}

/* The mean over the neighbours in the order of the means. */
static void find_trend(struct log_variance *at, size_t count) {
    size_t width = count < NEIGHBOURS ? count : NEIGHBOURS;
    for (size_t i = 0; i < count; i++) {
        size_t first = i > width / 2 ? i - width / 2 : 0;
        double sum = 0;
        if (first + width > count) first = count - width;
        for (size_t j = first; j < first + width; j++) sum += at[j].value;
        at[i].trend = sum / (double)width;
    }
}

/* By how much the variances are alike, as degrees of freedom. */
static double prior_df(const struct log_variance *at, size_t count) {
    double squares = 0, own = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        squares += (at[i].value - at[i].trend) * (at[i].value - at[i].trend);
        own += at[i].own / n;
    }
    double beyond = squares / (n - 1) - own;
    if (!(beyond > 0)) return MOST_PRIOR_DF;
    double df = 2 * trigamma_inverse(beyond);
    return df < MOST_PRIOR_DF ? df : MOST_PRIOR_DF;
}

static double trend_at(const struct log_variance *at, size_t count, double mean) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (at[middle].mean < mean)
            low = middle + 1;
        else
            high = middle;
    }
    return at[low].trend;
}

int ids_shrink(struct ids_variation *at, size_t count) {
    struct log_variance *logs = calloc(count ? count : 1, sizeof *logs);
    if (!logs) return -1;
    size_t kept = take_logs(at, count, logs);
    if (kept >= IDS_SHRINK_LEAST) {
        find_trend(logs, kept);
        double df = prior_df(logs, kept), bias = digamma(df / 2) - log(df / 2);
        for (size_t i = 0; i < count; i++) {
            if (!(at[i].mean > 0) || !(at[i].df > 0)) continue;
            double prior = exp(trend_at(logs, kept, at[i].mean) + bias) * at[i].mean * at[i].mean;
            at[i].variance = (df * prior + at[i].df * at[i].variance) / (df + at[i].df);
            at[i].df += df;
        }
    }
    free(logs);
    return 0;
}

static double squares_about_mean(const double *at, size_t count, double *ret_mean) {
    double sum = 0;
    *ret_mean = ids_mean(at, count);
    for (size_t i = 0; i < count; i++) sum += (at[i] - *ret_mean) * (at[i] - *ret_mean);
    return sum;
}

struct ids_variation ids_variation_of(const double *a, size_t a_count, const double *b, size_t b_count) {
    double mean_a, mean_b;
    double squares = squares_about_mean(a, a_count, &mean_a) + squares_about_mean(b, b_count, &mean_b);
    double df = (double)(a_count + b_count) - 2;
    return (struct ids_variation){(mean_a + mean_b) / 2, squares / df, df};
}
