/* tree.h - which rows of a table are shown, and in which order: sorting by a column, and trees (IDS_TABLE_TREE), whose
 * rows stand behind the one that they are in, by the columns `depth`, `total` and `self`. */
#ifndef IDS_LIB_REPORT_TREE_H
#define IDS_LIB_REPORT_TREE_H

#include "lib/report/report.h"

/* Largest first by a column of numbers, in alphabetical order by one of texts; what has no value comes last. Of a tree
 * the rows that are in the same one. 0, or -1 when memory ran out. */
int ids_table_sort(struct ids_table *table, int column);

/* Of a tree: leaves only rows above `depth` levels (0: all) and, of these, the `top` with most time (0: all). A row
 * that is in none that has time of its own is named together with it, "model/encoder", when `join` is set. The names
 * get texts of the report's arena. 0, or -1 when memory ran out. */
int ids_table_cut_tree(struct ids_report *report, struct ids_table *table, int64_t depth, int64_t top, int join);

#endif
