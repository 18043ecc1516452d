/* grid.h - a fitted grid (layout.h) as it stands on a terminal. */
#ifndef IDS_LIB_REPORT_GRID_H
#define IDS_LIB_REPORT_GRID_H

#include "lib/report/layout.h"

/* Writes the fitted grid, titles first, between `bold` and `plain`. Rows that would look alike get what they differ in
 * behind their name, and names are shortened where they are the same. */
void ids_grid_write(struct ids_grid *grid, struct ids_arena *arena, const char *bold, const char *plain, FILE *out);

#endif
