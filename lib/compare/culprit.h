/* culprit.h - who made the difference in an account: the function, op, call or rank whose time in it changed most.
 *
 * Culprits are taken from the reports' table `ledger`, so that a comparison calls them what a report calls them.
 */
#ifndef IDS_LIB_COMPARE_CULPRIT_H
#define IDS_LIB_COMPARE_CULPRIT_H

#include "lib/compare/side.h"

struct ids_culprit {
    const char *name, *where; /* the reports' own texts; `where` may be NULL */
    double a_ps, b_ps;        /* as parts are: per step (or window) and device */
};

/* Of those whose time changed in the direction of `sign`, the one that changed most; its name is NULL when nobody is
 * known. Every a_ps counts `scale_a` times: the ideal of a scaled run is a part of the first one. 0, or -1 when
 * memory ran out. */
int ids_culprit_find(const struct ids_side *a, double scale_a, const struct ids_side *b, const char *account, int sign,
                     struct ids_culprit *ret_culprit);

#endif
