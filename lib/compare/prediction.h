/* prediction.h - where the mean of new recordings lies if they are of the same thing as old ones.
 *
 * The prediction interval of one new recording against n old ones is s * t(n - 1) * sqrt(1 + 1/n) to either side of
 * their mean; of the mean of m new ones s * t(n + m - 2) * sqrt(1/m + 1/n), with s pooled from both. It differs from
 * an interval of the old mean: a baseline of a hundred recordings knows its mean well, and yet a single new recording
 * lies as far from it as recordings do.
 */
#ifndef IDS_LIB_COMPARE_PREDICTION_H
#define IDS_LIB_COMPARE_PREDICTION_H

#include "lib/compare/statistics.h"

/* How far recordings of one thing lie from each other. */
struct ids_spread {
    double deviation; /* of one recording */
    double df;        /* 0: not known, a single recording on either side */
};
struct ids_spread ids_spread_of(struct ids_sample old, struct ids_sample fresh);

/* Half of the interval around a level that was found from `level_count` recordings, in which the mean of `fresh_count`
 * new ones lies with that probability. INFINITY where the spread is not known. */
double ids_prediction_half(struct ids_spread spread, size_t level_count, size_t fresh_count, double confidence);

/* The fewest recordings on either side by which a change of `least` would be told apart; 0: more than 100. */
size_t ids_recordings_needed(struct ids_spread spread, double least, double confidence);

#endif
