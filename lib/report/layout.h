/* layout.h - texts on a terminal: clean, measured, shortened, wrapped, in columns.
 *
 * Names come from files, so a text is cleaned before it is measured or printed: broken UTF-8 and control characters (an
 * escape sequence in a kernel's name must not reach a terminal) become U+FFFD. Functions that return text give it out
 * of the arena; when memory ran out they return the text they were given, or "".
 */
#ifndef IDS_LIB_REPORT_LAYOUT_H
#define IDS_LIB_REPORT_LAYOUT_H

#include "lib/base/arena.h"

#include <stddef.h>
#include <stdio.h>

const char *ids_text_clean(struct ids_arena *arena, const char *text);
/* The columns that a clean text takes: most characters 1, East Asian wide ones and emoji 2, combining ones 0. */
int ids_text_columns(const char *text);
/* The bytes of a text's start that fit into `columns`. */
size_t ids_text_head(const char *text, size_t length, int columns);
/* At most `columns` wide, the middle replaced by "…": in names of kernels and ops the ends tell most,
 * and in a text of a change what changed into what ("512 → 1024"), which is not cut. */
const char *ids_text_shorten(struct ids_arena *arena, const char *text, int columns);
const char *ids_text_upper(struct ids_arena *arena, const char *text);

/* Writes the words of a text from column `at` on, and on from `indent` on new lines; no line is longer than `width`
 * unless a word is. Ends the line. */
void ids_text_wrap(FILE *out, const char *text, int at, int indent, int width);
void ids_spaces(FILE *out, int count);

enum ids_grid_left_out { IDS_GRID_SHOWN, IDS_GRID_TOO_WIDE, IDS_GRID_EMPTY };

struct ids_grid_column {
    const char *title;
    int right;      /* numbers */
    int stretch;    /* a name that may be shortened */
    int is_name;    /* says what the row is about, and is always shown; else the first that may be shortened, or the
                     * first text */
    int is_verdict; /* says nothing of which row it is */
    int width;      /* found by ids_grid_fit */
    int left_out;   /* enum ids_grid_left_out, found by ids_grid_fit */
};

/* A text of each row that no column shows: what rows that look alike may differ in. */
struct ids_grid_detail {
    const char **cells; /* clean; "-" where a row has none */
    int is_readable;    /* taken before those that are not */
};

/* Cells row by row, clean. */
struct ids_grid {
    struct ids_grid_column *columns;
    size_t column_count;
    const char **cells;
    size_t row_count;
    struct ids_grid_detail *details; /* may be NULL */
    size_t detail_count;
    int fitted_to; /* the width given to ids_grid_fit */
};

enum { IDS_GRID_INDENT = 2, IDS_GRID_BETWEEN = 2, LEAST_NAME = 20, NARROWEST_NAME = 8 };
/* The column that says what a row is about: the one that is marked, else the first long one, else the first text. */
size_t ids_grid_name(const struct ids_grid *grid);
/* Finds the widths of the columns so that a line, two columns of indent included, fits into `width`: columns without
 * any value are left out first, then names are shortened, then columns are left out from the right, the name and the
 * first column never. width 0: as wide as it gets. */
void ids_grid_fit(struct ids_grid *grid, int width);
#endif
