/* sums.h - matches put together under what they have in common: a program, a scope, a family of kernels, a kind of
 * collective. */
#ifndef IDS_LIB_COMPARE_SUMS_H
#define IDS_LIB_COMPARE_SUMS_H

#include "lib/compare/match.h"

enum ids_sum_by { IDS_SUM_MODULE, IDS_SUM_SCOPE, IDS_SUM_FAMILY, IDS_SUM_COLLECTIVE };

struct ids_sum {
    const char *name, *pass; /* pass: of families, "forward", "backward"; else "" */
    double a_ps, b_ps;       /* per step and device */
    double count_a, count_b; /* executions of the same; of a module those of its most frequent op */
    size_t matched, added, removed;
    size_t as_often; /* of the matched ones, those that run as often as before */
    double added_ps, removed_ps;
};

/* Executions that differ by less than a twentieth. */
int ids_is_as_often(double count_a, double count_b);

struct ids_sums {
    struct ids_sum *at; /* largest change first */
    size_t count, room;
};

/* Names live in `texts`. */
int ids_sums_make(const struct ids_matches *matches, enum ids_sum_by by, struct ids_report *texts,
                  struct ids_sums *ret_sums, struct ids_error *err);
void ids_sums_done(struct ids_sums *sums);

#endif
