/* compile_functions.h - what compiling cost by function, as jax.monitoring told it. A part of the analyzer compile. */
#ifndef IDS_ANALYZERS_COMPILE_FUNCTIONS_H
#define IDS_ANALYZERS_COMPILE_FUNCTIONS_H

#include "lib/analysis/context.h"

extern const struct ids_table_def ids_compile_functions;

/* What was told, each event a row of its own. */
struct ids_compile_list {
    struct ids_compile_told *at;
    size_t count, room;
};

/* Adds what the track tells. 0, or -1 when memory ran out. */
int ids_compile_functions_add(const struct ids_analysis *analysis, const struct ids_track *track,
                              struct ids_compile_list *list);
/* Adds the table to the report, with one row per function. */
void ids_compile_functions_list(const struct ids_analysis *analysis, struct ids_compile_list *list,
                                struct ids_report *report);

#endif
