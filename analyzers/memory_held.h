/* memory_held.h - what lives by the calls that made it, out of device memory profiles. */
#ifndef IDS_ANALYZERS_MEMORY_HELD_H
#define IDS_ANALYZERS_MEMORY_HELD_H

#include "lib/analysis/context.h"

extern const struct ids_table_def ids_held_table;

/* A profile that was saved as a window began is compared with the one at its end: its name ends so. */
#define IDS_HELD_AT_BEGIN ".begin"

/* Sets the metric memory.held too. 0, or IDS_NOMEM. */
int ids_list_held(const struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err);

#endif
