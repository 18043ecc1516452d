/* computations.h - ops that are the same computation, as one row: 64 layers have 64 times the same matrix product. */
#ifndef IDS_ANALYZERS_COMPUTATIONS_H
#define IDS_ANALYZERS_COMPUTATIONS_H

#include "lib/report/report.h"

extern const struct ids_table_def ids_computations;

/* Out of the tables `ops` and `op_categories`. 0, or -1 when memory ran out. */
int ids_computations_list(struct ids_report *report);

#endif
