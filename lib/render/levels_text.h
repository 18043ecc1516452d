/* levels_text.h - two sets of runs of a series, figure by figure, as text. */
#ifndef IDS_LIB_RENDER_LEVELS_TEXT_H
#define IDS_LIB_RENDER_LEVELS_TEXT_H

#include "lib/compare/levels.h"
#include "lib/report/render.h"

/* What the sides are called: as the user asked for them. */
int ids_render_levels(const struct ids_levels *levels, const char *a, const char *b, const struct ids_render *render,
                      FILE *out, struct ids_error *err);

#endif
