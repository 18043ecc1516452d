/* trend_print.h - `idsprof diff --trend`: the runs of all operands as one series, and how it is printed. */
#ifndef IDS_CMD_TREND_PRINT_H
#define IDS_CMD_TREND_PRINT_H

#include "cmd/open_sides.h"
#include "lib/compare/trend.h"
#include "lib/report/render.h"

/* The series: by the step that the paths name, then by time. It is kept as one side in sides[0], whose runs the others' are added
 * to. */
int ids_trend_open(struct ids_open_side *sides, size_t count, int force, struct ids_trend *ret_trend,
                   struct ids_error *err);
int ids_trend_print(const struct ids_trend *trend, const struct ids_render *render, FILE *out, struct ids_error *err);

#endif
