/* held_changes.h - what lives in one run and not, or less, in another: out of their device memory profiles. */
#ifndef IDS_LIB_COMPARE_HELD_CHANGES_H
#define IDS_LIB_COMPARE_HELD_CHANGES_H

#include "lib/compare/side.h"

extern const struct ids_table_def ids_held_changes_table;

/* Whether the run is such a profile, and nothing else: it has no times, and no device that does anything. */
int ids_is_held_alone(const struct ids_side_run *run);
/* Compares the last run of each side that has such a table. Without any there is no table. 0, or IDS_NOMEM. */
int ids_list_held_changes(const struct ids_side *a, const struct ids_side *b, struct ids_report *report,
                          struct ids_error *err);

#endif
