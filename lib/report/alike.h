/* alike.h - rows of a table that differ, but would look the same. */
#ifndef IDS_LIB_REPORT_ALIKE_H
#define IDS_LIB_REPORT_ALIKE_H

#include "lib/report/layout.h"

/* If rows look the same in all columns shown, adds the text in which they differ to their name: from a column that
 * was left out, or from the grid's details. Fits the grid again then. */
void ids_grid_tell_apart(struct ids_grid *grid, size_t name, struct ids_arena *arena);
/* Shortens texts to `columns` in place, so that different ones stay different. */
void ids_texts_shorten(const char **texts, size_t count, int columns, struct ids_arena *arena);
/* The cells as they are shown: names no wider than their column, and different where they differ. NULL without
 * memory. */
const char **ids_grid_shortened(const struct ids_grid *grid, struct ids_arena *arena);

#endif
