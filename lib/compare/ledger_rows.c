#include "lib/compare/ledger_rows.h"

#include <math.h>

int ids_ledger_is_comparable(const struct ids_side *side, const struct ids_side_run *run) {
    return side->per_step || !run->steps;
}

static const char *text_at(const struct ids_table *table, size_t row, const char *id) {
    int column = ids_table_column(table, id);
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(table, row, column);
    return cell && !cell->missing && cell->unit == IDS_UNIT_NONE ? cell->text : NULL;
}

static double time_at(const struct ids_table *table, size_t row, const char *id) {
    int column = ids_table_column(table, id);
    return column < 0 ? NAN : ids_value_number(*ids_table_cell(table, row, column));
}

int ids_ledger_next(const struct ids_side_run *run, size_t *at, struct ids_ledger_row *ret_row) {
    const struct ids_table *ledger = ids_report_find_table(run->report, "ledger");
    for (; ledger && *at < ledger->row_count; ++*at) {
        *ret_row = (struct ids_ledger_row){.account = text_at(ledger, *at, "account"),
                                           .culprit = text_at(ledger, *at, "culprit"),
                                           .where = text_at(ledger, *at, "where"),
                                           .per_step_ps = time_at(ledger, *at, "per_step"),
                                           .deviation_ps = time_at(ledger, *at, "sd")};
        if (!ret_row->account || isnan(ret_row->per_step_ps)) continue;
        ++*at;
        return 1;
    }
    return 0;
}
