/* diff_waterfall.h - from before to after, cause by cause, with bars to scale. */
#ifndef IDS_CMD_DIFF_WATERFALL_H
#define IDS_CMD_DIFF_WATERFALL_H

#include "lib/compare/diff.h"
#include "lib/report/painter.h"

/* `top` causes, 0 all; what is left out is put together in one row. `path_b`: for the next command. */
void ids_diff_write_waterfall(struct ids_painter *painter, const struct ids_diff *diff, const char *path_b);

#endif
