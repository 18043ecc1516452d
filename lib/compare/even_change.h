/* even_change.h - whether all ops of a program became slower (or faster) alike, as another clock, another load on the
 * machine or a power limit makes them. That is one cause, and no op's own.
 */
#ifndef IDS_LIB_COMPARE_EVEN_CHANGE_H
#define IDS_LIB_COMPARE_EVEN_CHANGE_H

#include <stddef.h>

/* The time of an op of both sides, which does the same on both. */
struct ids_even_pair {
    double a_ps, b_ps;
    double error_ps; /* the standard error of their difference, where that may hide that all changed alike; else 0 */
};

/* By how much all became longer: the median of b / a, weighted by the time that both have. The way back is 1
 * over it. 1 where it is less than `threshold` from 1,
 * where three quarters of the time are not within half of that of it (or two errors), or where there are too few ops to
 * tell: a single one's change is its own. Sorts `at`. */
double ids_even_factor(struct ids_even_pair *at, size_t count, double threshold);

#endif
