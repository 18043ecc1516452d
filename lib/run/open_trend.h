/* open_trend.h - the runs of all operands of `idsprof diff --trend` as one series. */
#ifndef IDS_LIB_RUN_OPEN_TREND_H
#define IDS_LIB_RUN_OPEN_TREND_H

#include "lib/compare/trend.h"
#include "lib/run/open_sides.h"

/* `runs` were opened by_step, and must outlive the trend. Runs that cannot be compared are refused unless `force`. */
int ids_open_trend(struct ids_open_side *runs, int force, struct ids_trend *ret_trend, struct ids_error *err);

#endif
