/* report_chart.h - a report as pictures of characters: a step, the steps, what devices did over time, and gaps. */
#ifndef IDS_LIB_RENDER_REPORT_CHART_H
#define IDS_LIB_RENDER_REPORT_CHART_H

#include "lib/report/render.h"

/* Draws the report's tables (accounts, steps, strips, gap_histogram) to render->width. What a report lacks is left out,
 * and an empty one is said. Fails only when memory runs out. */
int ids_render_chart(const struct ids_report *report, const struct ids_render *render, FILE *out,
                     struct ids_error *err);

#endif
