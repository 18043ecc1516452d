/* op_cuts.h - the device time in other cuts than by op: by program, line of source, family. */
#ifndef IDS_ANALYZERS_OP_CUTS_H
#define IDS_ANALYZERS_OP_CUTS_H

#include "analyzers/op_rows.h"

extern const struct ids_table_def ids_time_by_module, ids_time_by_source, ids_time_by_family;

/* Fills the three. 0, or -1 when memory ran out. */
int ids_op_cuts(struct ids_report *report, const struct ids_op_rows *rows);

#endif
