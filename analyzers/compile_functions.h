/* compile_functions.h - what compiling cost by function, as jax.monitoring told it. A part of the analyzer compile. */
#ifndef IDS_ANALYZERS_COMPILE_FUNCTIONS_H
#define IDS_ANALYZERS_COMPILE_FUNCTIONS_H

#include "lib/analysis/context.h"

extern const struct ids_table_def ids_compile_functions;

/* Adds the table to the report, with one row per function. 0, or -1 when memory ran out. */
int ids_compile_functions_list(const struct ids_analysis *analysis, struct ids_report *report);

#endif
