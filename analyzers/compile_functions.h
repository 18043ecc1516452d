/* compile_functions.h - what compiling cost by function, as jax.monitoring told it. A part of the analyzer compile. */
#ifndef IDS_ANALYZERS_COMPILE_FUNCTIONS_H
#define IDS_ANALYZERS_COMPILE_FUNCTIONS_H

#include "lib/analysis/context.h"

extern const struct ids_table_def ids_compile_functions;

/* Whether the event is "jax.compile(f)" or the like, told by jax.monitoring; and the f of it, length 0 where there is none. */
int ids_is_told(const struct ids_trace *trace, const struct ids_event *event);
struct ids_text ids_told_function(const struct ids_trace *trace, const struct ids_event *event);

/* Adds the table to the report: one row per function, of all that was told. 0, or -1 when memory ran out. */
int ids_compile_functions_list(const struct ids_analysis *analysis, struct ids_report *report);

#endif
