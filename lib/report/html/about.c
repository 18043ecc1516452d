#include "lib/report/html/about.h"

#include "lib/model/account_look.h"
#include "lib/wire/json_writer.h"

static void put_text(struct ids_json *json, const char *key, const char *text) {
    if (!text) return;
    ids_json_key(json, key);
    ids_json_text(json, text);
}

static void put_accounts(struct ids_json *json) {
    ids_json_key(json, "accounts");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        enum ids_account account = (enum ids_account)a;
        char letter[2] = {ids_account_letter(account), '\0'};
        ids_json_object(json, IDS_JSON_INLINE);
        put_text(json, "id", ids_account_id(account));
        put_text(json, "title", ids_account_title(account));
        put_text(json, "meaning", ids_account_meaning(account));
        put_text(json, "letter", letter);
        put_text(json, "light", ids_account_look(account)->light);
        put_text(json, "dark", ids_account_look(account)->dark);
        ids_json_key(json, "idle");
        ids_json_bool(json, ids_account_is_idle(account));
        ids_json_end(json);
    }
    ids_json_end(json);
}

static void put_metrics(struct ids_json *json, const struct ids_report *report, const struct ids_section *section) {
    ids_json_key(json, "metrics");
    ids_json_object(json, IDS_JSON_BROKEN);
    for (int i = 0; i < section->metric_count; i++) {
        const struct ids_metric_def *def = &section->metrics[i];
        if (!ids_report_find(report, def->id, NULL)) continue;
        ids_json_key(json, def->id);
        ids_json_object(json, IDS_JSON_INLINE);
        put_text(json, "title", def->title);
        put_text(json, "definition", def->definition);
        ids_json_end(json);
    }
    ids_json_end(json);
}

static void put_columns(struct ids_json *json, const struct ids_table_def *def) {
    ids_json_key(json, "columns");
    ids_json_array(json, IDS_JSON_INLINE);
    for (int i = 0; i < def->column_count; i++) {
        ids_json_object(json, IDS_JSON_INLINE);
        put_text(json, "title", def->columns[i].title);
        ids_json_key(json, "long");
        ids_json_bool(json, (def->columns[i].flags & (IDS_COLUMN_LONG | IDS_COLUMN_NAME)) != 0);
        ids_json_key(json, "detail");
        ids_json_bool(json, (def->columns[i].flags & (IDS_COLUMN_DETAIL | IDS_COLUMN_SPARE)) != 0);
        ids_json_end(json);
    }
    ids_json_end(json);
}

static void put_tables(struct ids_json *json, const struct ids_report *report, const struct ids_render *render,
                       const struct ids_section *section) {
    ids_json_key(json, "tables");
    ids_json_object(json, IDS_JSON_BROKEN);
    for (int i = 0; i < section->table_count; i++) {
        const struct ids_table_def *def = section->tables[i];
        if (!ids_report_find_table(report, def->id) || !ids_render_shows(render, def, 0)) continue;
        ids_json_key(json, def->id);
        ids_json_object(json, IDS_JSON_BROKEN);
        put_text(json, "title", def->title);
        put_text(json, "definition", def->definition);
        ids_json_key(json, "tree");
        ids_json_bool(json, (def->flags & IDS_TABLE_TREE) != 0);
        put_columns(json, def);
        ids_json_end(json);
    }
    ids_json_end(json);
}

/* The lines of the overview. */
static void put_headlines(struct ids_json *json, const struct ids_section *section) {
    ids_json_key(json, "headlines");
    ids_json_array(json, IDS_JSON_INLINE);
    for (int i = 0; i < section->headline_count; i++) {
        ids_json_object(json, IDS_JSON_INLINE);
        put_text(json, "title", section->headlines[i].title);
        put_text(json, "metric", section->headlines[i].metric);
        ids_json_end(json);
    }
    ids_json_end(json);
}

void ids_page_about(const char *kind, const struct ids_report *report, const struct ids_render *render, FILE *out) {
    struct ids_json json = ids_json_to(out);
    ids_json_object(&json, IDS_JSON_BROKEN);
    put_text(&json, "kind", kind);
    put_text(&json, "command", render->command);
    put_accounts(&json);
    ids_json_key(&json, "sections");
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        ids_json_object(&json, IDS_JSON_BROKEN);
        put_text(&json, "name", section->name);
        put_text(&json, "title", section->title);
        put_headlines(&json, section);
        put_metrics(&json, report, section);
        put_tables(&json, report, render, section);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    ids_json_end(&json);
}
