/* The report for programs, as report.schema.json describes it. Version 2 of the shape; units are SI, order is that
 * of the analyzers and of insertion. */
#include "lib/report/render.h"
#include "lib/report/value_json.h"
#include "lib/wire/json_writer.h"

#include <string.h>

enum { SCHEMA = 2 };

/* A pair that is only there when there is something to say. */
static void put_text_if(struct ids_json *json, const char *key, const char *text) {
    if (!text) return;
    ids_json_key(json, key);
    ids_json_text(json, text);
}

static void put_devices(struct ids_json *json, const struct ids_report *report, const char *id) {
    size_t devices = 0, reasons = 0;
    for (size_t i = 0; i < report->metric_count; i++) {
        const struct ids_metric *metric = &report->metrics[i];
        if (!metric->device || strcmp(metric->id, id) != 0) continue;
        if (!devices++) {
            ids_json_key(json, "by_device");
            ids_json_object(json, IDS_JSON_INLINE);
        }
        ids_json_key(json, metric->device);
        ids_value_json(json, metric->value);
        reasons += metric->reason != NULL;
    }
    if (devices) ids_json_end(json);
    if (!reasons) return;
    ids_json_key(json, "reason_by_device");
    ids_json_object(json, IDS_JSON_INLINE);
    for (size_t i = 0; i < report->metric_count; i++) {
        const struct ids_metric *metric = &report->metrics[i];
        if (metric->device && metric->reason && !strcmp(metric->id, id))
            put_text_if(json, metric->device, metric->reason);
    }
    ids_json_end(json);
}

static void put_threshold(struct ids_json *json, const struct ids_threshold *threshold) {
    if (!threshold->of) return;
    ids_json_key(json, "threshold");
    ids_json_object(json, IDS_JSON_INLINE);
    put_text_if(json, "of", threshold->of);
    put_text_if(json, "better", ids_better_name(threshold->higher ? IDS_BETTER_HIGHER : IDS_BETTER_LOWER));
    ids_json_key(json, "warn");
    ids_value_json(json, threshold->warn);
    if (ids_threshold_has_bad(threshold)) {
        ids_json_key(json, "bad");
        ids_value_json(json, threshold->bad);
    }
    ids_json_end(json);
}

static void put_metric(struct ids_json *json, const struct ids_report *report, const struct ids_metric_def *def) {
    const struct ids_metric *metric = ids_report_find(report, def->id, NULL);
    ids_json_key(json, "value");
    ids_value_json(json, metric ? metric->value : ids_no_value(def->unit));
    put_text_if(json, "unit", def->unit == IDS_UNIT_NONE ? "text" : ids_unit_name(def->unit));
    put_text_if(json, "better", ids_better_name(def->better));
    if (!metric) {
        put_text_if(json, "reason", "not measured");
    } else {
        if (metric->value.missing) put_text_if(json, "reason", metric->reason ? metric->reason : "not measured");
        put_text_if(json, "grade", ids_grade_name(metric->grade));
        put_threshold(json, &metric->threshold);
        put_text_if(json, "rule", metric->rule);
    }
    put_devices(json, report, def->id);
}

static void put_metrics(struct ids_json *json, const struct ids_report *report, const struct ids_render *render) {
    ids_json_key(json, "metrics");
    ids_json_object(json, IDS_JSON_BROKEN);
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        if (!ids_render_wants(render, section->name)) continue;
        for (int i = 0; i < section->metric_count; i++) {
            ids_json_key(json, section->metrics[i].id);
            ids_json_object(json, IDS_JSON_INLINE);
            put_metric(json, report, &section->metrics[i]);
            ids_json_end(json);
        }
    }
    ids_json_end(json);
}

static void put_columns(struct ids_json *json, const struct ids_table_def *def) {
    ids_json_key(json, "columns");
    ids_json_array(json, IDS_JSON_INLINE);
    for (int i = 0; i < def->column_count; i++) {
        ids_json_object(json, IDS_JSON_INLINE);
        ids_json_key(json, "id");
        ids_json_text(json, def->columns[i].id);
        put_text_if(json, "unit", ids_unit_name(def->columns[i].unit));
        ids_json_end(json);
    }
    ids_json_end(json);
}

static void put_table(struct ids_json *json, const struct ids_table *table, int64_t top) {
    const struct ids_table_def *def = table->def;
    size_t rows = table->row_count, columns = (size_t)def->column_count;
    if (top > 0 && (uint64_t)top < rows) rows = (size_t)top;
    ids_json_key(json, table->id);
    ids_json_object(json, IDS_JSON_BROKEN);
    put_text_if(json, "title", def->title);
    put_columns(json, def);
    ids_json_key(json, "rows");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t row = 0; row < rows; row++) {
        ids_json_array(json, IDS_JSON_INLINE);
        for (size_t i = 0; i < columns; i++) ids_value_json(json, table->cells[row * columns + i]);
        ids_json_end(json);
    }
    ids_json_end(json);
    int64_t left_out = table->rows_left_out + (int64_t)(table->row_count - rows);
    if (left_out) {
        ids_json_key(json, "rows_left_out");
        ids_json_int(json, left_out);
    }
    ids_json_end(json);
}

static void put_tables(struct ids_json *json, const struct ids_report *report, const struct ids_render *render) {
    ids_json_key(json, "tables");
    ids_json_object(json, IDS_JSON_BROKEN);
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        if (!ids_render_wants(render, section->name)) continue;
        for (int i = 0; i < section->table_count; i++) {
            const struct ids_table_def *def = section->tables[i];
            if (!ids_render_shows(render, def, render->only_count > 0)) continue;
            const struct ids_table *table = ids_report_find_table(report, def->id);
            if (table) put_table(json, table, render->top);
        }
    }
    ids_json_end(json);
}

static void put_run(struct ids_json *json, const struct ids_report *report) {
    ids_json_key(json, "run");
    ids_json_object(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < report->property_count; i++) {
        if (!ids_property_is_part(report, report->properties[i].id))
            ids_property_json(json, report, report->properties[i].id);
    }
    ids_json_end(json);
}

/* {"host.sync": 0.6, "host.dispatch": 0.4}: what the saving has of each account; only where it is of several. */
static void put_accounts_of(struct ids_json *json, const struct ids_advice *advice) {
    if (!advice->part_count) return;
    ids_json_key(json, "accounts");
    ids_json_object(json, IDS_JSON_INLINE);
    for (size_t p = 0; p < advice->part_count; p++) {
        ids_json_key(json, advice->parts[p].account);
        ids_value_json(json, ids_real_value(IDS_UNIT_RATIO, advice->parts[p].share));
    }
    ids_json_end(json);
}

static void put_advice(struct ids_json *json, const struct ids_report *report) {
    ids_json_key(json, "advice");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < report->advice_count; i++) {
        const struct ids_advice *advice = &report->advice[i];
        ids_json_object(json, IDS_JSON_INLINE);
        ids_json_key(json, "saves");
        ids_value_json(json, advice->saves_ps < 0 ? ids_no_value(IDS_UNIT_TIME)
                                                  : ids_int_value(IDS_UNIT_TIME, advice->saves_ps));
        ids_json_key(json, "per");
        ids_json_text(json, advice->per_step ? "step" : "window");
        put_text_if(json, "account", advice->account);
        put_text_if(json, "culprit", advice->culprit);
        put_text_if(json, "where", advice->where);
        put_accounts_of(json, advice);
        put_text_if(json, "what", advice->what);
        put_text_if(json, "evidence", advice->evidence);
        put_text_if(json, "explain", advice->explain);
        ids_json_end(json);
    }
    ids_json_end(json);
}

static void put_diags(struct ids_json *json, const struct ids_report *report) {
    ids_json_key(json, "diag");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < report->diag_count; i++) {
        const struct ids_report_diag *diag = &report->diags[i];
        ids_json_object(json, IDS_JSON_INLINE);
        put_text_if(json, "severity", ids_severity_name(diag->severity));
        put_text_if(json, "id", diag->id);
        put_text_if(json, "text", diag->text);
        ids_json_key(json, "offset");
        if (diag->offset < 0) {
            ids_json_null(json);
        } else {
            ids_json_int(json, diag->offset);
        }
        ids_json_key(json, "count");
        ids_json_uint(json, diag->count);
        ids_json_end(json);
    }
    ids_json_end(json);
}

static void put_head(struct ids_json *json, const struct ids_report *report) {
    ids_json_key(json, "schema");
    ids_json_int(json, SCHEMA);
    ids_json_key(json, "program");
    ids_json_object(json, IDS_JSON_INLINE);
    put_text_if(json, "name", "idsprof");
    put_text_if(json, "version", IDS_VERSION);
    ids_json_end(json);
    ids_json_key(json, "complete");
    ids_json_bool(json, report->complete);
}

int ids_render_json(const struct ids_report *report, const struct ids_render *render, FILE *out,
                    struct ids_error *err) {
    (void)err; /* nothing here takes memory */
    struct ids_json json = ids_json_to(out);
    ids_json_object(&json, IDS_JSON_BROKEN);
    put_head(&json, report);
    put_run(&json, report);
    put_metrics(&json, report, render);
    put_tables(&json, report, render);
    put_advice(&json, report);
    put_diags(&json, report);
    ids_json_end(&json);
    return 0;
}

/* What a report says of a topic: its figures by id, and the rows that are about it. */
static int put_topic(struct ids_json *json, const struct ids_report *report, const struct ids_topic *topic,
                     const char *id, int64_t top) {
    struct ids_arena arena = {0};
    int failed = 0;
    ids_json_key(json, "figures");
    ids_json_object(json, IDS_JSON_BROKEN);
    for (const char *const *figure = topic->figures; *figure; figure++) {
        const struct ids_metric *metric = ids_report_find(report, *figure, NULL);
        ids_json_key(json, *figure);
        ids_value_json(json, metric ? metric->value : ids_no_value(IDS_UNIT_TIME));
    }
    ids_json_end(json);
    ids_json_key(json, "tables");
    ids_json_object(json, IDS_JSON_BROKEN);
    for (const char *const *name = topic->tables; *name && !failed; name++) {
        const struct ids_table *table = ids_report_find_table(report, *name);
        struct ids_table rows;
        if (!table) continue;
        failed = ids_table_rows_of(table, id, &arena, &rows);
        if (!failed) put_table(json, &rows, top);
    }
    ids_json_end(json);
    ids_arena_done(&arena);
    return failed;
}

int ids_render_explain_json(const struct ids_report *report, const struct ids_render *render, const char *id, FILE *out,
                            struct ids_error *err) {
    const struct ids_section *section = NULL;
    const struct ids_metric_def *metric = ids_render_metric_def(render, id, &section);
    const struct ids_table_def *table = metric ? NULL : ids_render_table_def(render, id, &section);
    const struct ids_topic *topic = !metric && !table && render->explained ? render->explained->topic : NULL;
    struct ids_heading heading;
    if (ids_render_heading(metric, table, topic, section, &heading))
        return ids_fail(err, IDS_NOT_FOUND, "no metric, table or account '%s'", id);
    int failed = 0;
    struct ids_json json = ids_json_to(out);
    ids_json_object(&json, IDS_JSON_BROKEN);
    put_head(&json, report);
    put_text_if(&json, "id", id);
    put_text_if(&json, "kind", metric ? "metric" : table ? "table" : "account");
    put_text_if(&json, "title", heading.title);
    put_text_if(&json, "section", heading.section);
    put_text_if(&json, "definition", heading.definition);
    if (metric) put_metric(&json, report, metric);
    if (table) put_columns(&json, table);
    if (topic) failed = put_topic(&json, report, topic, id, render->top);
    if (render->explained) {
        put_text_if(&json, "sql", render->explained->sql);
        if (render->explained->has_value) {
            ids_json_key(&json, "from_rows");
            ids_value_json(&json, render->explained->value);
        }
    }
    ids_json_end(&json);
    return failed ? ids_no_memory(err) : 0;
}
