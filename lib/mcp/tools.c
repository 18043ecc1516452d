/* The tools: their list, and calling one. */
#include "lib/base/memory.h"
#include "lib/mcp/opening.h"
#include "lib/mcp/result.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_mcp_tool *const all[] = {&ids_mcp_list_tool,     &ids_mcp_report_tool, &ids_mcp_explain_tool,
                                                 &ids_mcp_timeline_tool, &ids_mcp_diff_tool,   &ids_mcp_query_tool};
enum { TOOLS = sizeof all / sizeof *all };

/* ---- the list ---- */

/* What is told of what was cut, and by the engine, may be in every answer. */
static cJSON *result_schema(const struct ids_mcp_tool *tool) {
    cJSON *schema = cJSON_CreateObject(), *properties = cJSON_Parse(tool->members);
    cJSON_AddStringToObject(schema, "type", "object");
    static const char *const lists[] = {"more", "notes"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        cJSON_AddStringToObject(cJSON_AddObjectToObject(properties, lists[i]), "type", "array");
    ids_mcp_put(schema, "properties", properties);
    ids_mcp_put(schema, "required", cJSON_Parse(tool->always));
    return schema;
}

static cJSON *describe(const struct ids_mcp_tool *tool) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", tool->name);
    cJSON_AddStringToObject(object, "title", tool->title);
    cJSON_AddStringToObject(object, "description", tool->about);
    ids_mcp_put(object, "inputSchema", ids_mcp_arguments_schema(tool));
    ids_mcp_put(object, "outputSchema", result_schema(tool));
    cJSON *annotations = cJSON_AddObjectToObject(object, "annotations");
    cJSON_AddTrueToObject(annotations, "readOnlyHint");
    cJSON_AddTrueToObject(annotations, "idempotentHint");
    cJSON_AddFalseToObject(annotations, "openWorldHint");
    return object;
}

cJSON *ids_mcp_tools_list(void) {
    cJSON *result = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(result, "tools");
    for (int i = 0; i < TOOLS; i++) ids_mcp_add(list, describe(all[i]));
    return result;
}

/* ---- what the engine says while a tool is at work ---- */

static void pass_progress(void *own, const char *what) {
    struct ids_mcp_call *call = own;
    if (!what || !call->progress_token) return;
    cJSON *params = cJSON_CreateObject();
    ids_mcp_put(params, "progressToken", cJSON_Duplicate(call->progress_token, 1));
    cJSON_AddNumberToObject(params, "progress", (double)++call->progress);
    ids_mcp_put_text(params, "message", what);
    ids_mcp_send_notification(call->out, "notifications/progress", params);
}

static void pass_note(void *own, const char *text) {
    struct ids_mcp_call *call = own;
    char *words = ids_mcp_own_words(call->tool, text);
    if (words) ids_mcp_answer_note(&call->answer, words);
    free(words);
}

static void pass_filling(void *own, const char *path) {
    const struct ids_mcp_call *call = own;
    if (call->setup->filling) call->setup->filling(NULL, path);
}

static void pass_sql(void *own, enum ids_engine_sql what) {
    const struct ids_mcp_call *call = own;
    if (call->setup->sql) call->setup->sql(NULL, what);
}

static int pass_may_open(void *own, const char *path, struct ids_error *err) {
    const struct ids_mcp_call *call = own;
    return ids_mcp_may_open(call->setup, path, err);
}

/* ---- a call ---- */

static cJSON *run(struct ids_mcp_call *call) {
    static const struct ids_engine_calls calls = {pass_progress, pass_note, pass_filling, pass_sql, pass_may_open};
    struct ids_error why = IDS_ERROR_INIT;
    cJSON *result = NULL;
    call->engine = (struct ids_engine){.calls = &calls, .own = call};
    int code = ids_mcp_arguments_read(call, &why);
    if (!code) code = ids_mcp_answer_begin(&call->answer, &why);
    if (!code) code = call->tool->run(call, &why);
    if (!code) result = ids_mcp_answer_result(call, &why);
    if (!result && !ids_memory_ran_out()) result = ids_mcp_failure_result(call->tool, &why);
    ids_mcp_answer_done(&call->answer);
    ids_engine_done(&call->engine);
    return result;
}

static int no_tool(const char *name, struct ids_error *err) {
    char names[128] = "";
    for (int i = 0, used = 0; i < TOOLS; i++)
        used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", i ? ", " : "", all[i]->name);
    return ids_fail(err, IDS_USAGE, "unknown tool '%.60s' (%s)", name, names);
}

cJSON *ids_mcp_tools_call(struct ids_mcp_call *call, const cJSON *params, int *ret_fault, struct ids_error *err) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(params, "name"));
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(params, "arguments");
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(params, "_meta");
    const cJSON *token = cJSON_GetObjectItemCaseSensitive(meta, "progressToken");
    *ret_fault = IDS_MCP_INVALID_PARAMS;
    if (!name) {
        ids_fail(err, IDS_USAGE, "'name' of the tool is missing");
        return NULL;
    }
    if (given && !cJSON_IsObject(given) && !cJSON_IsNull(given)) {
        ids_fail(err, IDS_USAGE, "'arguments' is not an object");
        return NULL;
    }
    for (int i = 0; !call->tool && i < TOOLS; i++) call->tool = strcmp(all[i]->name, name) ? NULL : all[i];
    if (!call->tool) {
        no_tool(name, err);
        return NULL;
    }
    *ret_fault = 0;
    call->given = cJSON_IsObject(given) ? given : NULL;
    call->progress_token = cJSON_IsString(token) || cJSON_IsNumber(token) ? token : NULL;
    return run(call);
}
