/* layout.h - texts on a terminal: clean, measured, shortened, wrapped, in columns.
 *
 * Names come from files, so a text is cleaned before it is measured or printed: broken UTF-8 and control characters (an
 * escape sequence in a kernel's name must not reach a terminal) become U+FFFD. Functions that return text give it out of
 * the arena; when memory ran out they return the text they were given, or "".
 */
#ifndef IDS_LIB_REPORT_LAYOUT_H
#define IDS_LIB_REPORT_LAYOUT_H

#include "lib/base/arena.h"

#include <stddef.h>
#include <stdio.h>

const char *ids_text_clean(struct ids_arena *arena, const char *text);
/* The columns that a clean text takes: most characters 1, East Asian wide ones and emoji 2, combining ones 0. */
int ids_text_columns(const char *text);
/* At most `columns` wide, the middle replaced by "…": in names of kernels and ops the ends tell most. */
const char *ids_text_shorten(struct ids_arena *arena, const char *text, int columns);
const char *ids_text_upper(struct ids_arena *arena, const char *text);

/* Writes the words of a text from column `at` on, and on from `indent` on new lines; no line is longer than `width` unless
 * a word is. Ends the line. */
void ids_text_wrap(FILE *out, const char *text, int at, int indent, int width);
void ids_spaces(FILE *out, int count);

struct ids_grid_column {
    const char *title;
    int right;    /* numbers */
    int stretch;  /* a name that may be shortened */
    int width;    /* found by ids_grid_fit */
    int left_out; /* found by ids_grid_fit: did not fit */
};

/* Cells row by row, clean. */
struct ids_grid {
    struct ids_grid_column *columns;
    size_t column_count;
    const char **cells;
    size_t row_count;
};

/* Finds the widths of the columns so that a line, two columns of indent included, fits into `width`: names are shortened
 * first, then columns are left out from the right. width 0: as wide as it gets. */
void ids_grid_fit(struct ids_grid *grid, int width);
/* Writes the fitted grid, titles first, between `bold` and `plain`. */
void ids_grid_write(const struct ids_grid *grid, struct ids_arena *arena, const char *bold, const char *plain,
                    FILE *out);

#endif
