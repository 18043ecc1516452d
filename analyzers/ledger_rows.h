/* ledger_rows.h - the ledger's rows for who asks on: by step, by device, over time, and the longest intervals of each
 * account. */
#ifndef IDS_ANALYZERS_LEDGER_ROWS_H
#define IDS_ANALYZERS_LEDGER_ROWS_H

#include "lib/analysis/context.h"

extern const struct ids_table_def ids_ledger_by_step, ids_ledger_by_device, ids_ledger_strips, ids_ledger_intervals;

/* Fills these tables. -1 when memory ran out. */
int ids_ledger_rows(const struct ids_analysis *analysis, struct ids_report *report);

#endif
