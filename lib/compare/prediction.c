#include "lib/compare/prediction.h"

#include <math.h>

static double squares_of(struct ids_sample sample) {
    double mean = ids_mean(sample.at, sample.count), sum = 0;
    for (size_t i = 0; i < sample.count; i++) sum += (sample.at[i] - mean) * (sample.at[i] - mean);
    return sum;
}

struct ids_spread ids_spread_of(struct ids_sample old, struct ids_sample fresh) {
    struct ids_spread spread = {0};
    if (old.count) spread.df += (double)old.count - 1;
    if (fresh.count) spread.df += (double)fresh.count - 1;
    if (spread.df > 0) spread.deviation = sqrt((squares_of(old) + squares_of(fresh)) / spread.df);
    return spread;
}

double ids_prediction_half(struct ids_spread spread, size_t level_count, size_t fresh_count, double confidence) {
    if (!(spread.df > 0) || !level_count || !fresh_count) return INFINITY;
    double root = sqrt(1 / (double)level_count + 1 / (double)fresh_count);
    return spread.deviation * root * ids_student_quantile(0.5 + confidence / 2, spread.df);
}

size_t ids_recordings_needed(struct ids_spread spread, double least, double confidence) {
    enum { MOST = 100 };
    if (!(spread.df > 0) || !(least > 0)) return 0;
    for (size_t count = 2; count <= MOST; count++) {
        struct ids_spread with = {spread.deviation, 2 * (double)count - 2};
        if (ids_prediction_half(with, count, count, confidence) <= least) return count;
    }
    return 0;
}
