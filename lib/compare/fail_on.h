/* fail_on.h - whether a comparison shows something that got worse by so much that it shall fail.
 *
 * It does when the step time (without steps the window) rose by that share or more and the change is more than the
 * spread, or when a cause that is certain took that share of the step before, or more: compilations that are counted
 * inside steps, and, from three recordings a side on or with a stated noise, a cause whose interval excludes zero. So
 * an improvement elsewhere hides no cause.
 */
#ifndef IDS_LIB_COMPARE_FAIL_ON_H
#define IDS_LIB_COMPARE_FAIL_ON_H

#include "lib/compare/diff.h"

/* What got worse, in words that live in the diff's report: "step time: +12.3 %"; NULL: nothing. */
const char *ids_diff_fails_on(struct ids_diff *diff, double share);

#endif
