/* memory_programs.h - tables of what compiled programs keep in memory. */
#ifndef IDS_ANALYZERS_MEMORY_PROGRAMS_H
#define IDS_ANALYZERS_MEMORY_PROGRAMS_H

#include "lib/analysis/context.h"

extern const struct ids_table_def ids_program_memory_table, ids_program_values_table, ids_not_donated_table;

/* Of the programs that ran. 0, or IDS_NOMEM. */
int ids_list_program_memory(const struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err);

#endif
