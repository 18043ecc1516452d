/* diff_tables.h - the tables of a comparison for people: what is the same is counted, what is small is left out. */
#ifndef IDS_LIB_RENDER_DIFF_TABLES_H
#define IDS_LIB_RENDER_DIFF_TABLES_H

#include "lib/compare/diff.h"
#include "lib/report/painter.h"

enum ids_diff_sort { IDS_DIFF_BY_CHANGE, IDS_DIFF_BY_RATIO, IDS_DIFF_BY_BEFORE, IDS_DIFF_BY_AFTER, IDS_DIFF_BY_NAME };

/* The order of --sort in a table of ops or kernels of diff->report; the table is sorted in place. */
void ids_diff_sort_table(struct ids_table *table, enum ids_diff_sort sort);

/* `id`: "computations" (of ops) or "kernels". */
void ids_render_diff_matches(struct ids_painter *painter, const struct ids_diff *diff, const char *id);
/* `id`: "families", "scopes", "modules" or "collectives". */
void ids_render_diff_structure(struct ids_painter *painter, const struct ids_diff *diff);
void ids_render_diff_sums(struct ids_painter *painter, const struct ids_diff *diff, const char *id);

#endif
