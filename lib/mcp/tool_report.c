/* report: what a person reads first, or whole sections. */
#include "lib/mcp/opening.h"
#include "lib/run/sections.h"

#include <stdlib.h>
#include <string.h>

enum { SECTIONS_MOST = 64 };

static const struct ids_mcp_argument arguments[] = {
    IDS_MCP_PATH,
    IDS_MCP_RUN,
    {"sections", IDS_MCP_TEXTS, IDS_MCP_AT(sections), 0, 0, 0, 0,
     "print these sections in full instead of the overview, whose `sections` names them"},
    IDS_MCP_TOP(5, "rows of each table; 0 for all"),
    IDS_MCP_WINDOW,
    IDS_MCP_MAX_CHARS,
};

static const cJSON *member(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static void copy(cJSON *to, const char *as, const cJSON *from, const char *key) {
    const cJSON *value = member(from, key);
    if (value && !cJSON_IsNull(value)) ids_mcp_put(to, as, cJSON_Duplicate(value, 1));
}

static void put_run(struct ids_mcp_call *call, const cJSON *tree) {
    static const char *const kept[] = {"name", "path", "format", "hosts", "jax_version", "part", "not_read", NULL};
    const cJSON *run = member(tree, "run");
    cJSON *put = cJSON_AddObjectToObject(call->answer.data, "run");
    for (const char *const *key = kept; *key; key++) copy(put, *key, run, *key);
    copy(put, "devices", member(run, "devices"), "text");
    copy(put, "steps", member(run, "steps"), "text");
    copy(put, "window_s", member(member(tree, "metrics"), "run.window"), "value");
    copy(call->answer.data, "complete", tree, "complete");
}

static cJSON *metric(const char *id, const char *title, const cJSON *from) {
    static const char *const kept[] = {"value", "unit", "better", "grade", "reason", NULL};
    cJSON *put = cJSON_CreateObject();
    cJSON_AddStringToObject(put, "id", id);
    if (title) cJSON_AddStringToObject(put, "title", title);
    for (const char *const *key = kept; *key; key++) copy(put, *key, from, *key);
    return put;
}

static void put_headlines(struct ids_mcp_call *call, const struct ids_render *render, const cJSON *tree) {
    cJSON *list = cJSON_AddArrayToObject(call->answer.data, "figures");
    for (int s = 0; s < render->section_count; s++) {
        for (int i = 0; i < render->sections[s].headline_count; i++) {
            const struct ids_headline *headline = &render->sections[s].headlines[i];
            const cJSON *from = member(member(tree, "metrics"), headline->metric);
            if (!from || (headline->flags & IDS_HEADLINE_ONLY_KNOWN && cJSON_IsNull(member(from, "value")))) continue;
            ids_mcp_add(list, metric(headline->metric, headline->title, from));
        }
    }
    ids_mcp_answer_part(&call->answer, list, "figures", NULL, NULL, cJSON_GetArraySize(list));
}

/* Sections that hold something, to be asked for by name. */
static void put_sections(struct ids_mcp_call *call, const struct ids_render *render, const struct ids_report *report) {
    cJSON *list = cJSON_AddArrayToObject(call->answer.data, "sections");
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        size_t rows = 0;
        for (int i = 0; i < section->table_count; i++) {
            const struct ids_table *table = ids_report_find_table(report, section->tables[i]->id);
            rows += table ? table->row_count : 0;
        }
        if (rows) ids_mcp_add(list, cJSON_CreateString(section->name));
    }
}

static void put_overview(struct ids_mcp_call *call, const struct ids_render *render, const struct ids_report *report,
                         cJSON *tree) {
    static const char *const columns[] = {"account",     "per_step", "time",  "share",       "culprit", "where",
                                          "group_share", "alike",    "group", "group_where", NULL};
    cJSON *data = call->answer.data, *diags = cJSON_DetachItemFromObjectCaseSensitive(tree, "diag");
    const cJSON *accounts = member(member(tree, "tables"), "accounts");
    put_headlines(call, render, tree);
    cJSON *where = ids_mcp_row_objects(accounts, columns);
    where = ids_mcp_put(data, "where_time_goes", where);
    ids_mcp_answer_part(&call->answer, where, "where_time_goes", "ledger", "accounts", ids_mcp_table_total(accounts));
    cJSON *advice = cJSON_DetachItemFromObjectCaseSensitive(tree, "advice");
    int64_t pieces = cJSON_GetArraySize(advice);
    advice = ids_mcp_put(data, "advice", advice);
    ids_mcp_answer_part(&call->answer, advice, "advice", NULL, NULL, pieces);
    diags = ids_mcp_put(data, "warnings", diags);
    ids_mcp_answer_part(&call->answer, diags, "warnings", NULL, NULL, cJSON_GetArraySize(diags));
    put_sections(call, render, report);
}

static void put_chosen(struct ids_mcp_call *call, const struct ids_render *render, cJSON *tree) {
    cJSON *metrics = cJSON_AddArrayToObject(call->answer.data, "figures"), *tables = NULL;
    for (const cJSON *from = member(tree, "metrics")->child; from; from = from->next)
        ids_mcp_add(metrics, metric(from->string, NULL, from));
    tables = cJSON_AddArrayToObject(call->answer.data, "tables");
    const char *section = render->only_count == 1 ? render->only[0] : NULL;
    for (cJSON *table = member(tree, "tables")->child; table; table = table->next)
        ids_mcp_put_table(call, tables, table, section);
    ids_mcp_answer_part(&call->answer, metrics, "figures", section, NULL, cJSON_GetArraySize(metrics));
}

/* The names that were asked for; each must be a section. */
static int choose(const cJSON *asked, const char *names[SECTIONS_MOST], size_t *ret_count, struct ids_error *err) {
    const cJSON *item = cJSON_IsArray(asked) ? asked->child : asked;
    *ret_count = 0;
    for (; item && *ret_count < SECTIONS_MOST; item = cJSON_IsArray(asked) ? item->next : NULL) {
        const char *name = NULL;
        for (int i = 0; !name && ids_section_choice(i); i++)
            name = !strcmp(ids_section_choice(i), item->valuestring) ? ids_section_choice(i) : NULL;
        if (!name)
            return ids_fail(err, IDS_USAGE, "there is no section '%.60s'; the overview's `sections` names them",
                            item->valuestring);
        names[(*ret_count)++] = name;
    }
    return 0;
}

static int run_report(struct ids_mcp_call *call, struct ids_error *err) {
    const char *names[SECTIONS_MOST];
    struct ids_mcp_opened opened = {0};
    cJSON *tree = NULL;
    size_t count = 0;
    int code = choose(call->values.sections, names, &count, err);
    if (code) return code;
    code = ids_mcp_open(call, &opened, err);
    struct ids_render render = ids_mcp_render(&opened, call->values.top);
    render.only = names;
    render.only_count = count;
    if (!code) code = ids_mcp_json(&opened.report, &render, ids_render_json, &tree, err);
    if (!code) {
        put_run(call, tree);
        if (count)
            put_chosen(call, &render, tree);
        else
            put_overview(call, &render, &opened.report, tree);
        code = ids_render_text(&opened.report, &render, call->answer.out, err);
    }
    cJSON_Delete(tree);
    ids_mcp_opened_done(&opened);
    return code;
}

const struct ids_mcp_tool ids_mcp_report_tool = {
    .name = "report",
    .title = "Report on a run",
    .about =
        "How busy the devices of a run were, where the time of a step goes by account and culprit, and what to do, "
        "the largest saving first. Each piece of advice has an id under `explain` for the tool explain. Times are "
        "in seconds.",
    .arguments = arguments,
    .argument_count = sizeof arguments / sizeof *arguments,
    .limit = "top",
    .members = "{\"run\":{\"type\":\"object\"},\"complete\":{\"type\":\"boolean\"},\"figures\":{\"type\":\"array\"},"
               "\"where_time_goes\":{\"type\":\"array\"},\"advice\":{\"type\":\"array\"},\"warnings\":{\"type\":"
               "\"array\"},\"sections\":{\"type\":\"array\"},\"tables\":{\"type\":\"array\"}}",
    .always = "[\"run\",\"complete\",\"figures\"]",
    .run = run_report,
};
