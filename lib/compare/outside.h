/* outside.h - what the histories of captured runs say of two sides beside their windows.
 *
 * A window has a few steps of a run, and the history nearly all of them: where windows are not like their runs, or one
 * side has slow steps that no window has, the difference between the windows is not that between the runs. */
#ifndef IDS_LIB_COMPARE_OUTSIDE_H
#define IDS_LIB_COMPARE_OUTSIDE_H

#include "lib/compare/side.h"

/* The windows say another change than the histories do, by a quarter; NULL: they agree, or a run has no history. */
const char *ids_outside_unlike(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts);
/* Slow steps outside the windows take another part of one side's runs than of the other's, by a twentieth; NULL: as
 * above. */
const char *ids_outside_slow(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts);

#endif
