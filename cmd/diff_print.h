/* diff_print.h - a comparison for people. */
#ifndef IDS_CMD_DIFF_PRINT_H
#define IDS_CMD_DIFF_PRINT_H

#include "cmd/diff_tables.h"
#include "lib/compare/diff.h"
#include "lib/report/painter.h"

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

#endif
