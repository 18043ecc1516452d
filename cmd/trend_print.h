/* trend_print.h - `idsprof diff --trend`: the runs of all operands as one series, and how it is printed. */
#ifndef IDS_CMD_TREND_PRINT_H
#define IDS_CMD_TREND_PRINT_H

#include "lib/compare/trend.h"
#include "lib/report/render.h"
#include "lib/run/open_sides.h"

/* `runs` were opened by_step; the trend lives no longer than they do. */
int ids_trend_open(struct ids_open_side *runs, int force, struct ids_trend *ret_trend, struct ids_error *err);
int ids_trend_print(const struct ids_trend *trend, const struct ids_render *render, FILE *out, struct ids_error *err);

#endif
