#include "lib/compare/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIM 0.2
#define MOST_AUTOCORRELATION 0.9
enum { RUNS_TRIMMED = 10 };

static int smaller(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double ids_mean(const double *at, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += at[i];
    return count ? sum / (double)count : 0;
}

/* ---- Student's t ---- */

/* The continued fraction of the incomplete beta function (Lentz's method). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 300; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int half = 0; half < 2; half++) {
            double n = half ? odd : even;
            d = 1 + n * d;
            c = 1 + n / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            if (fabs(c) < tiny) c = tiny;
            h *= d * c;
        }
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return h;
}

static double incomplete_beta(double a, double b, double x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(T > t) for t >= 0. */
static double student_tail(double t, double df) {
    return 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

static double student_density(double t, double df) {
    double front = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * log(df * 3.14159265358979323846);
    return exp(front - (df + 1) / 2 * log1p(t * t / df));
}

/* Abramowitz and Stegun 26.2.23, to three digits, and what Student's t adds to it (26.7.5). */
static double first_guess(double p, double df) {
    double t = sqrt(-2 * log(1 - p));
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    double z3 = z * z * z;
    return z + (z3 + z) / (4 * df) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * df * df);
}

/* Newton's steps within a bracket that each evaluation narrows: a diff asks hundreds of times. Each step doubles the
 * digits, so that after a small one all are right. */
double ids_student_quantile(double p, double df) {
    double low = 0, high = INFINITY;
    if (!(p > 0.5) || !(df > 0)) return 0;
    double t = first_guess(p, df);
    if (!(t > 0) || isinf(t)) t = 1;
    for (int i = 0; i < 200; i++) {
        double over = student_tail(t, df) - (1 - p), before = t;
        if (over > 0)
            low = t;
        else
            high = t;
        t += over / student_density(t, df);
        if (!(t > low && t < high)) t = isinf(high) ? 2 * low + 1 : (low + high) / 2;
        if (fabs(t - before) <= 1e-9 * t || before > 1e12) break;
    }
    return t;
}

/* ---- trimmed means ---- */

struct trimmed {
    double mean, variance; /* of the mean */
    double df;
};

/* Of neighbours' deviations from the mean, after the ends were pulled in. */
static double autocorrelation(const struct ids_sample *sample, double low, double high) {
    double mean = 0, own = 0, next = 0, before = 0;
    for (size_t i = 0; i < sample->count; i++) mean += fmin(fmax(sample->at[i], low), high);
    mean /= (double)sample->count;
    for (size_t i = 0; i < sample->count; i++) {
        double value = fmin(fmax(sample->at[i], low), high) - mean;
        own += value * value;
        if (i) next += value * before;
        before = value;
    }
    double r = own > 0 ? next / own : 0;
    return r < 0 ? 0 : r > MOST_AUTOCORRELATION ? MOST_AUTOCORRELATION : r;
}

/* Without a share at either end; 0: the plain mean. */
static int trim(const struct ids_sample *sample, double share, struct trimmed *ret_trimmed) {
    int cuts = sample->serial || sample->count >= RUNS_TRIMMED;
    size_t n = sample->count, cut = cuts ? (size_t)(share * (double)n) : 0, kept = n - 2 * cut;
    double *sorted = malloc((n ? n : 1) * sizeof *sorted);
    if (!sorted || !n) {
        free(sorted);
        return -1;
    }
    memcpy(sorted, sample->at, n * sizeof *sorted);
    if (cut) qsort(sorted, n, sizeof *sorted, smaller);
    double low = cut ? sorted[cut] : -INFINITY, high = cut ? sorted[n - 1 - cut] : INFINITY;
    double mean = 0, pulled = 0, squares = 0;
    for (size_t i = cut; i < n - cut; i++) mean += sorted[i];
    mean /= (double)kept;
    for (size_t i = 0; i < n; i++) pulled += fmin(fmax(sorted[i], low), high);
    pulled /= (double)n;
    for (size_t i = 0; i < n; i++) {
        double value = fmin(fmax(sorted[i], low), high) - pulled;
        squares += value * value;
    }
    free(sorted);
    *ret_trimmed = (struct trimmed){.mean = mean, .df = (double)kept - 1};
    if (kept > 1) ret_trimmed->variance = squares / ((double)kept * ((double)kept - 1));
    if (sample->serial) {
        double r = autocorrelation(sample, low, high);
        ret_trimmed->variance *= (1 + r) / (1 - r);
    }
    return 0;
}

double ids_trimmed_mean(struct ids_sample sample) {
    struct trimmed trimmed;
    return trim(&sample, TRIM, &trimmed) ? NAN : trimmed.mean;
}

/* ---- intervals ---- */

static int bounds_of(const struct ids_sample *a, const struct ids_sample *b, double share,
                     struct ids_bounds *ret_bounds) {
    struct trimmed left, right;
    if (trim(a, share, &left) || trim(b, share, &right)) return -1;
    double variance = left.variance + right.variance, df = left.df + right.df;
    /* With as many values on either side the t test holds its level also where variances differ. */
    if (variance > 0 && (a->serial || b->serial || a->count != b->count))
        df = variance * variance /
             (left.variance * left.variance / left.df + right.variance * right.variance / right.df);
    *ret_bounds = (struct ids_bounds){.at = right.mean - left.mean, .error = sqrt(variance), .df = df};
    return 0;
}

static void set_bounds(struct ids_bounds *bounds, double confidence, double noise) {
    double half = noise;
    if (bounds->error > 0 && confidence > 0)
        half += ids_student_quantile(0.5 + confidence / 2, bounds->df) * bounds->error;
    bounds->low = bounds->at - half;
    bounds->high = bounds->at + half;
}

void ids_interval_set(struct ids_interval *interval, double confidence, double noise) {
    interval->noise = noise;
    set_bounds(&interval->mean, confidence, noise);
    set_bounds(&interval->typical, confidence, noise);
}

struct ids_interval ids_interval_of(struct ids_sample a, struct ids_sample b, double confidence) {
    struct ids_interval interval = {0};
    if (a.count < IDS_SAMPLE_LEAST || b.count < IDS_SAMPLE_LEAST) return interval;
    interval.out_of_memory = bounds_of(&a, &b, 0, &interval.mean) || bounds_of(&a, &b, TRIM, &interval.typical);
    interval.known = !interval.out_of_memory;
    if (interval.known) ids_interval_set(&interval, confidence, 0);
    return interval;
}

struct ids_interval ids_interval_by_error(double difference, double error, double df, double confidence) {
    struct ids_interval interval = {.known = 1};
    interval.mean = interval.typical = (struct ids_bounds){.at = difference, .error = error, .df = df};
    ids_interval_set(&interval, confidence, 0);
    return interval;
}

double ids_interval_p(const struct ids_interval *interval) {
    double beyond = fabs(interval->typical.at) - interval->noise;
    if (!interval->known || !(beyond > 0)) return 1;
    return interval->typical.error > 0 ? 2 * student_tail(beyond / interval->typical.error, interval->typical.df) : 0;
}

double ids_discovery_limit(double *p, size_t count, double rate) {
    size_t yes = 1;
    if (!count) return rate;
    qsort(p, count, sizeof *p, smaller);
    for (size_t i = 0; i < count; i++) {
        if (p[i] <= rate * (double)(i + 1) / (double)count) yes = i + 1;
    }
    return rate * (double)yes / (double)count;
}

struct ids_interval ids_interval_of_mean(struct ids_sample sample, double mean, double confidence) {
    double own = ids_mean(sample.at, sample.count), squares = 0, n = (double)sample.count;
    if (sample.count < IDS_SAMPLE_LEAST) return (struct ids_interval){0};
    for (size_t i = 0; i < sample.count; i++) squares += (sample.at[i] - own) * (sample.at[i] - own);
    double variance = squares / (n * (n - 1)), r = sample.serial ? autocorrelation(&sample, -INFINITY, INFINITY) : 0;
    return ids_interval_by_error(mean, sqrt(variance * (1 + r) / (1 - r)), n - 1, confidence);
}

/* ---- slopes ---- */

/* The standard normal quantile is Student's at many degrees of freedom. */
static double normal_quantile(double p) {
    return ids_student_quantile(p, 1e7);
}

struct ids_slope ids_slope_of(const double *x, const double *y, size_t count, double confidence) {
    enum { MOST = 2000 };
    struct ids_slope result = {0};
    if (count < 2 || count > MOST) return result;
    double *slopes = malloc(count * (count - 1) / 2 * sizeof *slopes);
    size_t n = 0;
    if (!slopes) {
        result.out_of_memory = 1;
        return result;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (x[j] != x[i]) slopes[n++] = (y[j] - y[i]) / (x[j] - x[i]);
        }
    }
    if (n) {
        qsort(slopes, n, sizeof *slopes, smaller);
        result.slope = n % 2 ? slopes[n / 2] : (slopes[n / 2 - 1] + slopes[n / 2]) / 2;
        double k = (double)count, spread = sqrt(k * (k - 1) * (2 * k + 5) / 18);
        double half = normal_quantile(0.5 + confidence / 2) * spread;
        double first = floor(((double)n - half) / 2), last = ceil(((double)n + half) / 2);
        if (first >= 0) {
            result.known = 1;
            result.low = slopes[(size_t)first];
            result.high = slopes[(size_t)fmin(last, (double)n - 1)];
        }
    }
    free(slopes);
    return result;
}
