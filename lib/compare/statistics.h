/* statistics.h - how far a difference of two samples can be trusted.
 *
 * Two intervals are known: Welch's of the difference of the means, and Yuen's of the difference of 20 % trimmed means,
 * with winsorized variances and Welch's degrees of freedom. A fifth of the values at either end takes no part, so that
 * a slow step now and then (garbage collection, a compilation) neither makes nor hides a difference; of fewer than five
 * steps or ten runs nothing is trimmed, and it is Welch's; sets of equally many runs have the degrees of freedom of
 * both together (Student's), for of three runs a side Welch's would leave two. Values of one recording follow each
 * other: where they go up and down together (lag-1 autocorrelation r above 0) they tell less than their number says,
 * and their variance is taken (1 + r) / (1 - r) times. It is a formula: no random numbers, the same input gives the
 * same bytes.
 */
#ifndef IDS_LIB_COMPARE_STATISTICS_H
#define IDS_LIB_COMPARE_STATISTICS_H

#include <stddef.h>

/* Of 100 pairs of recordings of the same thing, at most about one is called different. */
#define IDS_CONFIDENCE 0.99

enum { IDS_SAMPLE_LEAST = 3 };

struct ids_sample {
    const double *at; /* in the order of time where `serial` */
    size_t count;
    int serial; /* values of one recording */
};

/* A difference b - a and how sure it is. */
struct ids_bounds {
    double at;
    double error, df; /* its standard error, and the degrees of freedom of that */
    double low, high; /* at the interval's confidence; `at` lies between them */
};

struct ids_interval {
    int known;                 /* 0: a sample has fewer than IDS_SAMPLE_LEAST values */
    int out_of_memory;         /* then it is not known either; the caller says so */
    double noise;              /* either end is this much farther out than the samples say */
    struct ids_bounds mean;    /* of the means, which is what the figures of a side are */
    struct ids_bounds typical; /* of the trimmed means: whether there is a difference is told by these */
};

/* A confidence of 0 leaves the bounds to ids_interval_set: where many are asked, how wide they are is known last. */
struct ids_interval ids_interval_of(struct ids_sample a, struct ids_sample b, double confidence);
/* One that is known by its error: of means of so many values, or by another's variance. */
struct ids_interval ids_interval_by_error(double difference, double error, double df, double confidence);
/* The same at another confidence, and wider by `noise` at either end. */
void ids_interval_set(struct ids_interval *interval, double confidence, double noise);
/* How probable a typical difference as large as this one is where there is none. */
double ids_interval_p(const struct ids_interval *interval);

/* Of one sample around its mean, which may be the mean of its runs' means; nothing is trimmed. */
struct ids_interval ids_interval_of_mean(struct ids_sample sample, double mean, double confidence);

/* 1 when zero lies outside of the typical difference. */
static inline int ids_interval_excludes_zero(const struct ids_interval *interval) {
    return interval->known && (interval->typical.low > 0 || interval->typical.high < 0);
}

/* Benjamini and Hochberg's false discovery rate: of `count` questions with these p (which are sorted), the p up to
 * which one is answered by yes, so that of all those at most a share of `rate` is wrong in the mean. Without any it is
 * rate / count. An interval at a confidence of 1 less this excludes zero just where the answer is yes. */
double ids_discovery_limit(double *p, size_t count, double rate);

/* The value that a Student-t variable of `df` degrees of freedom stays below with probability p, 0.5 <= p < 1. */
double ids_student_quantile(double p, double df);
/* The mean of what trimming leaves; NAN of nothing, or when memory ran out. */
double ids_trimmed_mean(struct ids_sample sample);
double ids_mean(const double *at, size_t count);

/* The median of the slopes between all pairs of points, and its interval (Theil, Sen; by the normal approximation of
 * Kendall's S). At 99 % six points are the fewest that have one: of fewer even a series that only goes up may be
 * chance. */
struct ids_slope {
    int known, out_of_memory;
    double slope, low, high;
};
struct ids_slope ids_slope_of(const double *x, const double *y, size_t count, double confidence);

#endif
