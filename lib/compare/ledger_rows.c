#include "lib/compare/ledger_rows.h"

#include <math.h>

int ids_ledger_is_comparable(const struct ids_side *side, const struct ids_side_run *run) {
    return side->per_step || !run->steps;
}

static const char *text_at(const struct ids_table *table, size_t row, int column) {
    const char *text = ids_table_text_at(table, row, column);
    return *text ? text : NULL;
}

static double time_at(const struct ids_table *table, size_t row, int column) {
    return column < 0 ? NAN : ids_value_number(*ids_table_cell(table, row, column));
}

struct ids_ledger_reading ids_ledger_begin(const struct ids_side_run *run) {
    const struct ids_table *ledger = ids_report_find_table(run->report, "ledger");
    return (struct ids_ledger_reading){.ledger = ledger,
                                       .account = ids_table_column(ledger, "account"),
                                       .culprit = ids_table_column(ledger, "culprit"),
                                       .where = ids_table_column(ledger, "where"),
                                       .per_step = ids_table_column(ledger, "per_step"),
                                       .deviation = ids_table_column(ledger, "sd")};
}

int ids_ledger_next(struct ids_ledger_reading *reading, struct ids_ledger_row *ret_row) {
    const struct ids_table *ledger = reading->ledger;
    while (ledger && reading->at < ledger->row_count) {
        size_t at = reading->at++;
        *ret_row = (struct ids_ledger_row){.account = text_at(ledger, at, reading->account),
                                           .culprit = text_at(ledger, at, reading->culprit),
                                           .where = text_at(ledger, at, reading->where),
                                           .per_step_ps = time_at(ledger, at, reading->per_step),
                                           .deviation_ps = time_at(ledger, at, reading->deviation)};
        if (ret_row->account && !isnan(ret_row->per_step_ps)) return 1;
    }
    return 0;
}
