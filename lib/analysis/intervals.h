/* intervals.h - sets of moments, as sorted intervals that do not touch: unions, not sums.
 *
 * A set is filled with ids_spans_add in any order and made a set by ids_spans_unite; the functions below it want united
 * sets. Intervals are half open, [start, end); empty ones are dropped.
 */
#ifndef IDS_LIB_ANALYSIS_INTERVALS_H
#define IDS_LIB_ANALYSIS_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

struct ids_span {
    int64_t start_ps, end_ps;
};

struct ids_spans {
    struct ids_span *at;
    size_t count, room;
    int out_of_memory; /* sticky, so that the fillers need no checks; ids_spans_unite reports it */
};

void ids_spans_done(struct ids_spans *spans);
void ids_spans_add(struct ids_spans *spans, int64_t start_ps, int64_t end_ps);
/* Returns 0, or -1 when memory ran out here or in an add before. */
int ids_spans_unite(struct ids_spans *spans);

int64_t ids_spans_total(const struct ids_spans *set);
/* How much of [start, end) the set covers. */
int64_t ids_spans_cover(const struct ids_spans *set, int64_t start_ps, int64_t end_ps);
/* The time that both sets cover. */
int64_t ids_spans_overlap(const struct ids_spans *a, const struct ids_spans *b);
/* ret_set = a without b, ret_set is empty before. -1 when memory ran out. */
int ids_spans_subtract(const struct ids_spans *a, const struct ids_spans *b, struct ids_spans *ret_set);
/* ret_set = what both cover. */
int ids_spans_intersect(const struct ids_spans *a, const struct ids_spans *b, struct ids_spans *ret_set);
/* ret_set = [start, end) without the set: the gaps. */
int ids_spans_gaps(const struct ids_spans *set, int64_t start_ps, int64_t end_ps, struct ids_spans *ret_set);

#endif
