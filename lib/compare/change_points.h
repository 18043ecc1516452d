/* change_points.h - where a series of figures, one a run, changes its level, and whether it drifts.
 *
 * Runs of many nights differ from each other by more than the steps of one say, so what is chance is measured from
 * night to night: two levels differ when Student's t of their means, with a deviation pooled from both, is too large
 * for chance at the level that is asked for, shared among all places where a change was looked for. The noise of a time
 * grows with it: where all values are above 0, logarithms are looked at. Neighbours that go up and down together (lag-1
 * autocorrelation r above 0) tell less than their number says: the error is taken √((1 + r) / (1 - r)) times. Several
 * changes are found by halving: the surest place within intervals of all lengths (Kovács, Li, Bühlmann and Munk's
 * seeded intervals), then both sides again. A level has at least three runs: one night or two that are far from most of
 * the five around them are out of line. A slope that fits better than levels (Schwarz's criterion) is a drift, and no
 * change; so is, where no level is found, whatever ends further from its begin than values wander from night to night.
 * It is a formula: the same input gives the same bytes.
 */
#ifndef IDS_LIB_COMPARE_CHANGE_POINTS_H
#define IDS_LIB_COMPARE_CHANGE_POINTS_H

#include <stddef.h>

enum { IDS_LEVEL_LEAST = 3, IDS_CHANGES_MOST = 32 };

struct ids_change {
    size_t at;            /* the first value of the new level */
    size_t first, last;   /* it may as well be any from one to the other (95 %) */
    double before, after; /* the levels' means */
    double low, high;     /* of the difference, at a confidence of 1 - false_alarms */
};

struct ids_changes {
    struct ids_change at[IDS_CHANGES_MOST]; /* in order */
    size_t count;
    int drifts;
    double slope, slope_low, slope_high; /* of a drift, per place */
    double from, to;                     /* where a drift's line begins and ends */
    size_t latest;                       /* values at the end, one or two, out of line: a change may have begun there */
    double latest_before, latest_after;  /* the level, and the mean of these */
};

/* The places in `single` (one char a value, may be NULL) that are out of line by themselves become 1. `false_alarms`:
 * of so many series without any change one may show one (0.01: of a hundred one). 0, or -1 when memory ran out. */
int ids_changes_of(const double *values, size_t count, double false_alarms, struct ids_changes *ret_changes,
                   char *single);

#endif
