/* culprit.h - the culprit of a difference in an account: the function, op, call or rank whose time in it changed most.
 *
 * Culprits are taken from the reports' table `ledger`, so that a comparison calls them what a report calls them.
 */
#ifndef IDS_LIB_COMPARE_CULPRIT_H
#define IDS_LIB_COMPARE_CULPRIT_H

#include "lib/compare/side.h"

struct ids_culprit {
    const char *name, *where; /* the reports' own texts; `where`, on the side of more time, may be NULL */
    const char *places[2];    /* that, on each side */
    double a_ps, b_ps;        /* as parts are: per step (or window) and device */
};

/* Finds the culprit that changed most in the direction of `sign`; its name is NULL if none is known. Every a_ps is
 * multiplied by `scale_a`: the ideal of a scaled run is a part of the first run. 0, or -1 when memory ran out. */
int ids_culprit_find(const struct ids_side *a, double scale_a, const struct ids_side *b, const char *account, int sign,
                     struct ids_culprit *ret_culprit);

#endif
