/* scale_text.h - methods × devices as text. */
#ifndef IDS_LIB_RENDER_SCALE_TEXT_H
#define IDS_LIB_RENDER_SCALE_TEXT_H

#include "lib/compare/scale.h"
#include "lib/report/render.h"

/* `path` is what the user gave, for the next command; NULL where there were several. */
int ids_render_scale(const struct ids_scale *scale, const struct ids_render *render, const char *path, FILE *out,
                     struct ids_error *err);

#endif
