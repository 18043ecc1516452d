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
/* Where a reading stands. */
struct ids_ledger_reading {
    const struct ids_table *ledger;                   /* NULL: there is none */
    int account, culprit, where, per_step, deviation; /* its columns; less than 0: it has not got it */
    size_t at;
};
struct ids_ledger_reading ids_ledger_begin(const struct ids_side_run *run);
/* The next row. 0: that was all. */
int ids_ledger_next(struct ids_ledger_reading *reading, struct ids_ledger_row *ret_row);

#endif
