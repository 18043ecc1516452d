/* explain: what an id means, how it was found in this run, and the intervals behind it. */
#include "lib/mcp/opening.h"
#include "lib/run/explanation.h"
#include "lib/run/sections.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_mcp_argument arguments[] = {
    IDS_MCP_PATH,
    IDS_MCP_RUN,
    {"id", IDS_MCP_TEXT, IDS_MCP_AT(id), 1, 0, 0, 0,
     "an account (host.compile), a figure (idle.share) or a table (gaps), as the other tools name them"},
    IDS_MCP_TOP(10, "culprits and intervals; 0 for all"),
    IDS_MCP_MAX_CHARS,
};

static int must_exist(const char *id, struct ids_error *err) {
    for (int i = 0; ids_explain_choice(i); i++) {
        if (!strcmp(ids_explain_choice(i), id)) return 0;
    }
    return ids_fail(err, IDS_USAGE, "there is no account, figure or table '%.60s'; report gives ids", id);
}

/* Everything that is said but for its head and its tables, which are lists here. */
static void put_tree(struct ids_mcp_call *call, cJSON *tree) {
    static const char *const dropped[] = {"schema", "program", "complete", NULL};
    cJSON *tables = cJSON_DetachItemFromObjectCaseSensitive(tree, "tables");
    for (const char *const *key = dropped; *key; key++) cJSON_DeleteItemFromObjectCaseSensitive(tree, *key);
    for (cJSON *item; (item = cJSON_DetachItemViaPointer(tree, tree->child));) {
        char key[64];
        snprintf(key, sizeof key, "%s", item->string);
        ids_mcp_put(call->answer.data, key, item);
        if (!tree->child) break;
    }
    if (!tables) return;
    cJSON *list = cJSON_AddArrayToObject(call->answer.data, "tables");
    for (cJSON *table = tables->child; table; table = table->next) ids_mcp_put_table(call, list, table, NULL);
    cJSON_Delete(tables);
}

static int explain(struct ids_mcp_call *call, struct ids_mcp_opened *opened, struct ids_error *err) {
    struct ids_explanation explanation = {0};
    struct ids_render render = ids_mcp_render(opened, call->values.top);
    const char *id = call->values.id;
    cJSON *tree = NULL;
    int code = ids_explanation_make(id, &opened->events, NULL, &explanation, err);
    render.explained = &explanation.about;
    char *text = NULL;
    size_t length = 0;
    FILE *out = code ? NULL : open_memstream(&text, &length);
    if (!code && !out) code = ids_no_memory(err);
    if (!code) code = ids_render_explain_json(&opened->report, &render, id, out, err);
    if (out && fclose(out) && !code) code = ids_no_memory(err);
    if (!code && !(tree = cJSON_ParseWithLength(text, length))) code = ids_no_memory(err);
    if (!code) put_tree(call, tree);
    if (!code) code = ids_render_explain(&opened->report, &render, id, call->answer.out, err);
    cJSON_Delete(tree);
    free(text);
    ids_explanation_done(&explanation);
    return code;
}

static int run_explain(struct ids_mcp_call *call, struct ids_error *err) {
    struct ids_mcp_opened opened = {0};
    int code = must_exist(call->values.id, err);
    if (code) return code;
    call->values.to_ps = call->values.from_ps = -1;
    code = ids_mcp_open(call, &opened, err);
    if (!code) code = explain(call, &opened, err);
    ids_mcp_opened_done(&opened);
    return code;
}

const struct ids_mcp_tool ids_mcp_explain_tool = {
    .name = "explain",
    .title = "Explain an account, a figure or a table",
    .about =
        "The definition of an id, its value and the rule by which it was found in this run; of an account also who "
        "is to blame and its longest intervals, with the step, device and evidence of each; and the SQL that "
        "gives it from rows.",
    .arguments = arguments,
    .argument_count = sizeof arguments / sizeof *arguments,
    .limit = "top",
    .members = "{\"id\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},\"definition\":{\"type\":\"string\"},"
               "\"tables\":{\"type\":\"array\"},\"sql\":{\"type\":\"string\"}}",
    .always = "[\"id\",\"kind\"]",
    .run = run_explain,
};
