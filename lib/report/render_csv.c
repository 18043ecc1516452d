/* Tables for spreadsheets and shell pipelines: RFC 4180, but lines end with a plain newline, as every Unix tool
 * expects. */
#include "lib/report/render.h"
#include "lib/wire/csv_put.h"
#include "lib/wire/json_writer.h"

#include <string.h>

enum { PS_PLACES = 12 };

static void put_field(FILE *out, const char *text) {
    struct ids_buffer cell = {0};
    if (!text) return;
    ids_csv_put_text(&cell, text, strlen(text));
    if (cell.length) fwrite(cell.at, 1, cell.length, out);
    ids_buffer_done(&cell);
}

/* A missing value is an empty field. */
static void put_value(FILE *out, struct ids_value value) {
    char buffer[IDS_NUMBER_BYTES];
    if (value.missing) return;
    switch ((enum ids_unit)value.unit) {
    case IDS_UNIT_NONE:
        put_field(out, value.text);
        break;
    case IDS_UNIT_TIME:
        fputs(ids_decimal_text(value.i, PS_PLACES, buffer), out);
        break;
    case IDS_UNIT_COUNT:
    case IDS_UNIT_BYTES:
        fputs(ids_decimal_text(value.i, 0, buffer), out);
        break;
    case IDS_UNIT_RATIO:
    case IDS_UNIT_RATE:
    case IDS_UNIT_NUMBER:
    case IDS_UNIT_FLOPS:
        if (ids_real_text(value.d, buffer)) fputs(buffer, out);
        break;
    case IDS_UNIT_TRUTH:
        fputs(value.i ? "true" : "false", out);
        break;
    }
}

static void put_metric(FILE *out, const struct ids_metric_def *def, const struct ids_metric *metric) {
    put_field(out, def->id);
    fputc(',', out);
    put_field(out, metric ? metric->device : NULL);
    fputc(',', out);
    put_value(out, metric ? metric->value : ids_no_value(def->unit));
    fputc(',', out);
    put_field(out, def->unit == IDS_UNIT_NONE ? "text" : ids_unit_name(def->unit));
    fputc(',', out);
    put_field(out, ids_better_name(def->better));
    fputc(',', out);
    if (!metric || metric->value.missing) put_field(out, metric && metric->reason ? metric->reason : "not measured");
    fputc('\n', out);
}

static void put_metric_head(FILE *out) {
    fputs("id,device,value,unit,better,reason\n", out);
}

static void put_metrics(FILE *out, const struct ids_report *report, const struct ids_section *section) {
    for (int i = 0; i < section->metric_count; i++) {
        const struct ids_metric_def *def = &section->metrics[i];
        put_metric(out, def, ids_report_find(report, def->id, NULL));
        for (size_t m = 0; m < report->metric_count; m++) {
            const struct ids_metric *metric = &report->metrics[m];
            if (metric->device && !strcmp(metric->id, def->id)) put_metric(out, def, metric);
        }
    }
}

static void put_table(FILE *out, const struct ids_table *table, int64_t top) {
    size_t rows = table->row_count, columns = (size_t)table->def->column_count;
    if (top > 0 && (uint64_t)top < rows) rows = (size_t)top;
    for (size_t i = 0; i < columns; i++) {
        if (i) fputc(',', out);
        put_field(out, table->def->columns[i].id);
    }
    fputc('\n', out);
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < columns; i++) {
            if (i) fputc(',', out);
            put_value(out, table->cells[row * columns + i]);
        }
        fputc('\n', out);
    }
}

int ids_render_csv(const struct ids_report *report, const struct ids_render *render, FILE *out, struct ids_error *err) {
    (void)err; /* nothing here takes memory */
    int parts = 0;
    if (!render->only_count) put_metric_head(out);
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        if (!ids_render_wants(render, section->name)) continue;
        if (!render->only_count) {
            put_metrics(out, report, section);
            continue;
        }
        int tables = 0;
        for (int i = 0; i < section->table_count; i++) {
            const struct ids_table *table = ids_report_find_table(report, section->tables[i]->id);
            if (!table || !ids_render_shows(render, section->tables[i], 0)) continue;
            if (parts++) fputc('\n', out);
            put_table(out, table, render->top);
            tables++;
        }
        if (tables) continue;
        if (parts++) fputc('\n', out);
        put_metric_head(out);
        put_metrics(out, report, section);
    }
    return 0;
}
