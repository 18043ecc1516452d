/* grid.h - a grid (layout.h) as it stands on a terminal, or in Markdown. */
#ifndef IDS_LIB_REPORT_GRID_H
#define IDS_LIB_REPORT_GRID_H

#include "lib/report/layout.h"

/* Writes the fitted grid, titles first, between `bold` and `plain`. Rows that would look alike get what they differ in
 * behind their name, and names are shortened where they are the same. */
void ids_grid_write(struct ids_grid *grid, struct ids_arena *arena, const char *bold, const char *plain, FILE *out);

/* The same as a table of Markdown: no column is left out but empty ones, numbers are aligned right, and names are code.
 * Names longer than a line are shortened. */
void ids_grid_write_markdown(struct ids_grid *grid, struct ids_arena *arena, FILE *out);

#endif
