/* diff_print.h - a comparison for people. */
#ifndef IDS_CMD_DIFF_PRINT_H
#define IDS_CMD_DIFF_PRINT_H

#include "lib/compare/diff.h"
#include "lib/report/painter.h"

enum ids_diff_sort { IDS_DIFF_BY_CHANGE, IDS_DIFF_BY_RATIO, IDS_DIFF_BY_BEFORE, IDS_DIFF_BY_AFTER, IDS_DIFF_BY_NAME };

struct ids_diff_print {
    struct ids_render render; /* top, full, width, colour */
    enum ids_diff_sort sort;
    const char *path_b; /* for the next command */
};

/* The first line and the findings; then, unless the runs are refused, all the rest. */
int ids_diff_print_head(const struct ids_diff *diff, const struct ids_diff_print *print, FILE *out,
                        struct ids_error *err);
int ids_diff_print_body(const struct ids_diff *diff, const struct ids_diff_print *print, FILE *out,
                        struct ids_error *err);
/* Several sides against the first: a column each. */
int ids_diff_print_many(const struct ids_diff *diffs, size_t count, const struct ids_diff_print *print, FILE *out,
                        struct ids_error *err);

/* "+5.450 ms", "-3.1 points": a difference with its sign. */
enum { IDS_SIGNED_ROOM = 48 };
const char *ids_signed(char buffer[IDS_SIGNED_ROOM], enum ids_unit unit, double value);
/* "regression, by 2.1 ms to 3.4 ms", "within the spread (-1.2 ms to +0.4 ms)". */
const char *ids_verdict_words(struct ids_painter *painter, const struct ids_difference *row);
/* The value of a figure in the unit's base. */
struct ids_value ids_figure_value(enum ids_unit unit, int known, double value);
/* The order of --sort in a table of ops or kernels of diff->report; the table is sorted in place. */
void ids_diff_sort_table(struct ids_table *table, enum ids_diff_sort sort);

#endif
