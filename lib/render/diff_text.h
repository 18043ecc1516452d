/* diff_text.h - a comparison for people. */
#ifndef IDS_LIB_RENDER_DIFF_TEXT_H
#define IDS_LIB_RENDER_DIFF_TEXT_H

#include "lib/compare/diff.h"
#include "lib/render/diff_tables.h"
#include "lib/report/painter.h"

struct ids_diff_render {
    struct ids_render render; /* top, full, width, colour */
    enum ids_diff_sort sort;
    const char *path_b; /* for the next command */
};

/* The first line and the findings; then, unless the runs are refused, all the rest. */
int ids_render_diff_head(const struct ids_diff *diff, const struct ids_diff_render *how, FILE *out,
                         struct ids_error *err);
int ids_render_diff_body(const struct ids_diff *diff, const struct ids_diff_render *how, FILE *out,
                         struct ids_error *err);
/* Several sides against the first: a column each. */
int ids_render_diffs(const struct ids_diff *diffs, size_t count, const struct ids_diff_render *how, FILE *out,
                     struct ids_error *err);

#endif
