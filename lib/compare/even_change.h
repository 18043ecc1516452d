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
 * tell: a single one's change is its own. `expected`: what the machine's load makes of all (ids_cores_factor), 1 where
 * nothing is known of it. Ops lack cores at other moments and need not change alike; so where the median shows half of
 * it, or else all ops together without the one that changed most, that is the factor, up to what the load explains.
 * Sorts `at`. */
double ids_even_factor(struct ids_even_pair *at, size_t count, double threshold, double expected);

/* Whether a factor is what the machine's load makes expected: half of it or more. */
int ids_even_is_of_load(double factor, double expected);

#endif
