/* shrinkage.h - the variances of many measured things, each made surer by those of its like.
 *
 * Three recordings a side tell the variance of one op badly (four degrees of freedom), but those of a few hundred ops
 * tell together how far an op of about this time varies. Each variance is drawn towards that by as much as the ops'
 * variances are alike: the empirical Bayes estimate of Smyth ("Linear models and empirical Bayes methods", 2004), with
 * the trend over the mean (limma's eBayes(trend = TRUE)). Where they are unlike they stay almost as they are.
 */
#ifndef IDS_LIB_COMPARE_SHRINKAGE_H
#define IDS_LIB_COMPARE_SHRINKAGE_H

#include <stddef.h>

struct ids_variation {
    double mean;     /* what is like it has about this mean */
    double variance; /* of one value */
    double df;       /* its degrees of freedom, above 0 */
};

/* Of the values of two sides, whose means may differ; together more than 2. */
struct ids_variation ids_variation_of(const double *a, size_t a_count, const double *b, size_t b_count);

/* Fewer things than this tell nothing of each other. */
enum { IDS_SHRINK_LEAST = 10 };

/* Replaces variances and degrees of freedom. Things whose mean or variance is 0 tell nothing of others, but take part.
 * 0, or -1 when memory ran out. */
int ids_shrink(struct ids_variation *at, size_t count);

#endif
