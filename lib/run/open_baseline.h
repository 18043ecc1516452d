/* open_baseline.h - a saved baseline as a side of a comparison. */
#ifndef IDS_LIB_RUN_OPEN_BASELINE_H
#define IDS_LIB_RUN_OPEN_BASELINE_H

#include "lib/run/open_sides.h"
#include "lib/store/baseline.h"

/* The side points into the baseline. The caller ends both, the side
 * first, when 0 is returned. IDS_NOT_FOUND when nothing was saved under that name. */
int ids_open_baseline(const char *name, struct ids_baseline *ret_baseline, struct ids_open_side *ret_side,
                      struct ids_error *err);
/* Puts it in front of the sides that are open. IDS_UNSUPPORTED when it was saved before baselines held ops. When 0 is
 * returned the caller ends the sides, then the baseline; else the sides are as they were. */
int ids_open_sides_against(const char *name, struct ids_baseline *ret_baseline, struct ids_open_sides *sides,
                           struct ids_error *err);

#endif
