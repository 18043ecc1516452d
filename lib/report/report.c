#include "lib/report/report.h"

#include "lib/base/intern.h"
#include "lib/base/vec.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ids_report_init(struct ids_report *report) {
    *report = (struct ids_report){.complete = 1};
}

void ids_report_done(struct ids_report *report) {
    for (size_t i = 0; i < report->table_count; i++) free(report->tables[i].cells);
    free(report->properties);
    free(report->metrics);
    ids_keymap_done(&report->metric_places);
    free(report->tables);
    free(report->advice);
    free(report->diags);
    ids_arena_done(&report->arena);
    *report = (struct ids_report){0};
}

int ids_report_check(const struct ids_report *report, struct ids_error *err) {
    if (report->misfit && !report->out_of_memory)
        return ids_fail(err, IDS_CORRUPT,
                        "the column '%s' was given a value of another unit: cells stand in another order than columns",
                        report->misfit->id);
    return report->out_of_memory ? ids_no_memory(err) : 0;
}

/* The report's own copy; "" when memory ran out, NULL for NULL. */
static const char *keep(struct ids_report *report, const char *text) {
    if (!text) return NULL;
    const char *copy = ids_arena_copy(&report->arena, text, strlen(text));
    if (copy) return copy;
    report->out_of_memory = 1;
    return "";
}

static struct ids_value keep_value(struct ids_report *report, struct ids_value value) {
    if (value.unit == IDS_UNIT_NONE && !value.missing) {
        value.text = keep(report, value.text);
        value.missing = !value.text;
    }
    return value;
}

/* Formats into the arena; "" when memory ran out. */
static const char *keep_formatted(struct ids_report *report, const char *format, va_list args) {
    const char *text = ids_arena_vprint(&report->arena, format, args);
    report->out_of_memory |= !text;
    return text ? text : "";
}

void ids_report_property(struct ids_report *report, const char *id, struct ids_value value) {
    value = keep_value(report, value);
    for (size_t i = 0; i < report->property_count; i++) {
        if (strcmp(report->properties[i].id, id) != 0) continue;
        report->properties[i].value = value;
        return;
    }
    struct ids_property *property = IDS_PUSH(report->properties, report->property_count, report->property_room);
    if (property) {
        *property = (struct ids_property){keep(report, id), value};
    } else {
        report->out_of_memory = 1;
    }
}

/* With the length, since ids_hash_bytes alone is the same for some texts of unlike lengths. */
static uint64_t text_key(const char *text) {
    size_t length = strlen(text);
    return ids_key_of(ids_hash_bytes(text, length), length);
}

static uint64_t metric_key(const char *id, const char *device) {
    return ids_key_of(text_key(id), device ? text_key(device) : 0);
}

/* Thousands of devices have the same figures, or lack them for the same reason: texts of the last metrics are kept
 * once. */
enum { LAST_METRICS = 16 };

static const char *keep_again(struct ids_report *report, const char *text, size_t member) {
    size_t from = report->metric_count > LAST_METRICS ? report->metric_count - LAST_METRICS : 0;
    for (size_t i = report->metric_count; text && i-- > from;) {
        const char *other;
        memcpy(&other, (const char *)&report->metrics[i] + member, sizeof other);
        if (other && !strcmp(other, text)) return other;
    }
    return keep(report, text);
}

struct ids_metric *ids_report_metric(struct ids_report *report, const char *id, const char *device,
                                     struct ids_value value) {
    const char *kept_id = keep_again(report, id, offsetof(struct ids_metric, id)),
               *kept_device = keep_again(report, device, offsetof(struct ids_metric, device));
    struct ids_metric *metric = IDS_PUSH(report->metrics, report->metric_count, report->metric_room);
    if (!metric) {
        report->out_of_memory = 1;
        metric = &report->scratch_metric;
    } else if (ids_keymap_add(&report->metric_places, metric_key(id, device), report->metric_count - 1) < 0) {
        report->out_of_memory = 1;
    }
    *metric = (struct ids_metric){.id = kept_id, .device = kept_device, .value = keep_value(report, value)};
    return metric;
}

void ids_report_no_data(struct ids_report *report, const char *id, enum ids_unit unit, const char *device,
                        const char *format, ...) {
    char reason[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(reason, sizeof reason, format, args);
    int is_whole = length >= 0 && length < (int)sizeof reason;
    const char *kept = is_whole ? keep_again(report, reason, offsetof(struct ids_metric, reason)) : NULL;
    struct ids_metric *metric = ids_report_metric(report, id, device, ids_no_value(unit));
    metric->reason = is_whole ? (kept ? kept : "") : keep_formatted(report, format, again);
    va_end(again);
    va_end(args);
}

void ids_report_rule(struct ids_report *report, struct ids_metric *metric, const char *format, ...) {
    va_list args;
    va_start(args, format);
    metric->rule = keep_formatted(report, format, args);
    va_end(args);
}

struct ids_table *ids_report_table(struct ids_report *report, const struct ids_table_def *def) {
    for (size_t i = 0; i < report->table_count; i++) {
        if (!strcmp(report->tables[i].id, def->id)) return &report->tables[i];
    }
    if (!report->tables) report->tables = calloc(IDS_REPORT_TABLES, sizeof *report->tables);
    struct ids_table *table = &report->scratch_table;
    if (report->tables && report->table_count < IDS_REPORT_TABLES) {
        table = &report->tables[report->table_count++];
    } else {
        report->out_of_memory = 1;
    }
    *table = (struct ids_table){.id = def->id, .def = def};
    return table;
}

/* Makes room for one more row. 0 when memory ran out. */
static int grow_rows(struct ids_table *table) {
    if (table->row_count < table->row_room) return 1;
    size_t row_bytes = (size_t)table->def->column_count * sizeof *table->cells;
    void *cells = ids_vec_grow(table->cells, &table->row_room, row_bytes);
    if (cells) table->cells = cells;
    return cells != NULL;
}

void ids_report_row(struct ids_report *report, struct ids_table *table, const struct ids_value *cells) {
    if (table == &report->scratch_table || !grow_rows(table)) {
        report->out_of_memory = 1;
        return;
    }
    size_t columns = (size_t)table->def->column_count;
    struct ids_value *row = table->cells + table->row_count++ * columns;
    for (size_t i = 0; i < columns; i++) {
        if (cells[i].unit != table->def->columns[i].unit) report->misfit = &table->def->columns[i];
        row[i] = keep_value(report, cells[i]);
    }
}

struct ids_value *ids_report_rows(struct ids_report *report, struct ids_table *table, size_t rows) {
    size_t columns = (size_t)table->def->column_count;
    int is_real = table != &report->scratch_table;
    if (!rows) return NULL;
    struct ids_value *cells = is_real && rows <= SIZE_MAX / columns ? ids_vec_new(rows * columns, sizeof *cells) : NULL;
    if (!cells) {
        report->out_of_memory = 1;
        return NULL;
    }
    table->cells = cells;
    table->row_count = table->row_room = rows;
    return cells;
}

void ids_report_advice(struct ids_report *report, const struct ids_advice *advice) {
    struct ids_advice *place = IDS_PUSH(report->advice, report->advice_count, report->advice_room);
    if (!place) {
        report->out_of_memory = 1;
        return;
    }
    *place = *advice;
    place->account = keep(report, advice->account);
    place->culprit = keep(report, advice->culprit);
    place->where = keep(report, advice->where);
    for (size_t p = 0; p < advice->part_count; p++) place->parts[p].account = keep(report, advice->parts[p].account);
    place->what = keep(report, advice->what);
    place->evidence = keep(report, advice->evidence);
    place->explain = keep(report, advice->explain);
}

void ids_report_advice_at(struct ids_report *report, const struct ids_advice *advice, size_t place) {
    size_t before = report->advice_count;
    ids_report_advice(report, advice);
    if (report->advice_count == before || place >= before) return; /* without memory, or where it is */
    struct ids_advice added = report->advice[before];
    memmove(report->advice + place + 1, report->advice + place, (before - place) * sizeof *report->advice);
    report->advice[place] = added;
}

/* -1: nobody knows, and its place is no matter of that. */
static int64_t saves_at_most(const struct ids_advice *advice) {
    return advice->saves_ps >= 0 ? advice->saves_ps : advice->takes_ps > 0 ? advice->takes_ps : -1;
}

void ids_report_advice_by_saving(struct ids_report *report) {
    for (size_t i = 1; i < report->advice_count; i++) {
        for (size_t at = i, before = i; saves_at_most(&report->advice[at]) >= 0 && before-- > 0;) {
            struct ids_advice earlier = report->advice[before];
            if (saves_at_most(&earlier) < 0) continue;
            if (saves_at_most(&earlier) >= saves_at_most(&report->advice[at])) break;
            report->advice[before] = report->advice[at];
            report->advice[at] = earlier;
            at = before;
        }
    }
}

void ids_report_diag(struct ids_report *report, int severity, const char *id, const char *text, int64_t offset,
                     uint64_t count) {
    struct ids_report_diag *diag = IDS_PUSH(report->diags, report->diag_count, report->diag_room);
    if (!diag) {
        report->out_of_memory = 1;
        return;
    }
    *diag = (struct ids_report_diag){severity, keep(report, id), keep(report, text), offset, count};
}

const char *ids_report_text(struct ids_report *report, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = keep_formatted(report, format, args);
    va_end(args);
    return text;
}

static int is_metric(const struct ids_metric *metric, const char *id, const char *device) {
    if (!metric->id || strcmp(metric->id, id) != 0 || !metric->device != !device) return 0;
    return !device || !strcmp(metric->device, device);
}

const struct ids_metric *ids_report_find(const struct ids_report *report, const char *id, const char *device) {
    uint64_t place;
    if (!ids_keymap_get(&report->metric_places, metric_key(id, device), &place)) return NULL;
    if (is_metric(&report->metrics[place], id, device)) return &report->metrics[place];
    /* Two of one hash, which only a file that was made for it has: the map knows the first. */
    for (size_t i = 0; i < report->metric_count; i++) {
        if (is_metric(&report->metrics[i], id, device)) return &report->metrics[i];
    }
    return NULL;
}

const struct ids_table *ids_report_find_table(const struct ids_report *report, const char *id) {
    for (size_t i = 0; i < report->table_count; i++) {
        if (!strcmp(report->tables[i].id, id)) return &report->tables[i];
    }
    return NULL;
}

int ids_table_column(const struct ids_table *table, const char *id) {
    for (int i = 0; table && i < table->def->column_count; i++) {
        if (!strcmp(table->def->columns[i].id, id)) return i;
    }
    return -1;
}

const char *ids_table_text(const struct ids_table *table, size_t row, const char *id) {
    return ids_table_text_at(table, row, ids_table_column(table, id));
}

const char *ids_table_text_at(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(table, row, column);
    return cell && !cell->missing && cell->unit == IDS_UNIT_NONE && cell->text ? cell->text : "";
}

const struct ids_value *ids_report_find_property(const struct ids_report *report, const char *id) {
    for (size_t i = 0; i < report->property_count; i++) {
        if (!strcmp(report->properties[i].id, id)) return &report->properties[i].value;
    }
    return NULL;
}

const char *ids_severity_name(int severity) {
    static const char *const names[] = {"note", "warning", "damage"};
    return severity < 0 || severity > 2 ? "damage" : names[severity];
}

const char *ids_report_why_incomplete(const struct ids_report *report) {
    for (size_t i = 0; i < report->diag_count; i++) {
        if (!strcmp(ids_severity_name(report->diags[i].severity), "damage")) return report->diags[i].text;
    }
    return "the input ends early";
}

int ids_table_rows_of(const struct ids_table *table, const char *text, struct ids_arena *arena,
                      struct ids_table *ret_table) {
    size_t columns = (size_t)table->def->column_count, kept = columns - 1;
    struct ids_table_def *def = ids_arena_alloc(arena, sizeof *def);
    struct ids_value *cells = ids_arena_alloc(arena, (table->row_count + 1) * kept * sizeof *cells);
    if (!def || !cells) return -1;
    *def = *table->def;
    def->columns++;
    def->column_count--;
    *ret_table = (struct ids_table){.id = table->id, .def = def, .cells = cells};
    for (size_t row = 0; row < table->row_count; row++) {
        const struct ids_value *from = &table->cells[row * columns];
        if (from->missing || from->unit != IDS_UNIT_NONE || strcmp(from->text, text) != 0) continue;
        memcpy(&cells[ret_table->row_count++ * kept], from + 1, kept * sizeof *cells);
    }
    return 0;
}
