/* trend_text.h - a series of runs as text. */
#ifndef IDS_LIB_RENDER_TREND_TEXT_H
#define IDS_LIB_RENDER_TREND_TEXT_H

#include "lib/compare/trend.h"
#include "lib/report/render.h"

int ids_render_trend(const struct ids_trend *trend, const struct ids_render *render, FILE *out, struct ids_error *err);

#endif
