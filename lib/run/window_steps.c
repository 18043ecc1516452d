#include "lib/run/window_steps.h"

#include "collectors/common/recorder.h"

int64_t ids_window_number(const struct ids_report *report, const char *id) {
    const struct ids_value *value = ids_report_find_property(report, id);
    return value && !value->missing && value->unit == IDS_UNIT_COUNT ? value->i : -1;
}

static int64_t cell_of(const struct ids_table *table, size_t row, const char *column) {
    int at = ids_table_column(table, column);
    const struct ids_value *value = at < 0 ? NULL : ids_table_cell(table, row, at);
    return !value || value->missing ? -1 : value->i;
}

int64_t ids_window_step(const struct ids_report *report, size_t *at) {
    enum { PS_PER_NS = 1000 };
    const struct ids_table *table = ids_report_find_table(report, "steps");
    const struct ids_value *left_out = ids_report_find_property(report, "steps.left_out");
    while (table && *at < table->row_count) {
        size_t row = (*at)++;
        int64_t number = cell_of(table, row, "step"), took_ps = cell_of(table, row, "duration");
        if (took_ps < 0 || number < IDS_WARM_STEPS ||
            (left_out && !left_out->missing && left_out->i >= 0 && number == left_out->i))
            continue;
        return took_ps / PS_PER_NS;
    }
    return -1;
}
