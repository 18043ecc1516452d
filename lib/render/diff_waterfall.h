/* diff_waterfall.h - from before to after, cause by cause, with bars to scale. */
#ifndef IDS_LIB_RENDER_DIFF_WATERFALL_H
#define IDS_LIB_RENDER_DIFF_WATERFALL_H

#include "lib/compare/diff.h"
#include "lib/report/painter.h"

/* `top` causes, 0 all; what is left out is put together in one row. `path_b`: for the next command. */
void ids_render_diff_waterfall(struct ids_painter *painter, const struct ids_diff *diff, const char *path_b);

#endif
