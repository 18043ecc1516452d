/* ledger_rows.h - the ledger of a report (its table `ledger`), row by row. */
#ifndef IDS_LIB_COMPARE_LEDGER_ROWS_H
#define IDS_LIB_COMPARE_LEDGER_ROWS_H

#include "lib/compare/side.h"

struct ids_ledger_row {
    const char *account;
    const char *culprit, *where; /* the report's texts; NULL: not known */
    double per_step_ps;          /* mean per step (or window) and device */
    double deviation_ps;         /* over the steps; NAN: not known */
};

/* A ledger is of the steps where a run has them: where the comparison is per window, that run's says nothing. */
int ids_ledger_is_comparable(const struct ids_side *side, const struct ids_side_run *run);
/* The row at *at, which moves on. 0: that was all, or there is no ledger. */
int ids_ledger_next(const struct ids_side_run *run, size_t *at, struct ids_ledger_row *ret_row);

#endif
