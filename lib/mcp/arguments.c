/* The arguments of tools: their schema, and reading them. */
#include "lib/mcp/tool.h"

#include <math.h>
#include <string.h>

#define PS_PER_S 1e12

/* ---- the schema ---- */

static void put_type(cJSON *schema, const struct ids_mcp_argument *argument) {
    static const char *const types[] = {[IDS_MCP_TEXT] = "string",
                                        [IDS_MCP_INT] = "integer",
                                        [IDS_MCP_SECONDS] = "number",
                                        [IDS_MCP_TRUTH] = "boolean"};
    if (argument->kind == IDS_MCP_TEXTS) {
        cJSON *any = cJSON_AddArrayToObject(schema, "anyOf"), *one = cJSON_CreateObject();
        cJSON *many = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "type", "string");
        cJSON_AddStringToObject(many, "type", "array");
        ids_mcp_put(many, "items", cJSON_Duplicate(one, 1));
        ids_mcp_add(any, one);
        ids_mcp_add(any, many);
        return;
    }
    cJSON_AddStringToObject(schema, "type", types[argument->kind]);
    if (argument->kind != IDS_MCP_INT && argument->kind != IDS_MCP_SECONDS) return;
    cJSON_AddNumberToObject(schema, "minimum", (double)argument->least);
    cJSON_AddNumberToObject(schema, "maximum", (double)argument->most);
    if (argument->usual >= 0) cJSON_AddNumberToObject(schema, "default", (double)argument->usual);
}

cJSON *ids_mcp_arguments_schema(const struct ids_mcp_tool *tool) {
    cJSON *schema = cJSON_CreateObject();
    cJSON_AddStringToObject(schema, "type", "object");
    cJSON *properties = cJSON_AddObjectToObject(schema, "properties"), *required = cJSON_CreateArray();
    for (int i = 0; i < tool->argument_count; i++) {
        const struct ids_mcp_argument *argument = &tool->arguments[i];
        cJSON *property = cJSON_AddObjectToObject(properties, argument->name);
        put_type(property, argument);
        cJSON_AddStringToObject(property, "description", argument->about);
        if (argument->is_required) ids_mcp_add(required, cJSON_CreateString(argument->name));
    }
    ids_mcp_put(schema, "required", required);
    cJSON_AddFalseToObject(schema, "additionalProperties");
    return schema;
}

/* ---- reading ---- */

static int read_texts(const struct ids_mcp_argument *argument, const cJSON *value, struct ids_error *err) {
    enum { TEXTS_MOST = 64 };
    int is_good = cJSON_IsString(value) || (cJSON_IsArray(value) && cJSON_GetArraySize(value) <= TEXTS_MOST);
    for (const cJSON *item = value->child; cJSON_IsArray(value) && item; item = item->next)
        is_good = is_good && cJSON_IsString(item);
    if (is_good) return 0;
    return ids_fail(err, IDS_USAGE, "'%s' is neither a text nor an array of at most %d texts", argument->name,
                    TEXTS_MOST);
}

static int read_number(const struct ids_mcp_argument *argument, const cJSON *value, int64_t *to,
                       struct ids_error *err) {
    int is_time = argument->kind == IDS_MCP_SECONDS;
    double number = cJSON_IsNumber(value) ? value->valuedouble : (double)NAN;
    if (!(number >= (double)argument->least && number <= (double)argument->most) ||
        (!is_time && number != floor(number)))
        return ids_fail(err, IDS_USAGE, "'%s' is not a %s from %lld to %lld", argument->name,
                        is_time ? "number of seconds" : "whole number", (long long)argument->least,
                        (long long)argument->most);
    *to = is_time ? llround(number * PS_PER_S) : (int64_t)number;
    return 0;
}

static int read_one(const struct ids_mcp_argument *argument, const cJSON *value, char *values, struct ids_error *err) {
    void *to = values + argument->offset;
    switch (argument->kind) {
    case IDS_MCP_TEXT:
        if (!cJSON_IsString(value)) return ids_fail(err, IDS_USAGE, "'%s' is not a text", argument->name);
        *(const char **)to = value->valuestring;
        return 0;
    case IDS_MCP_TEXTS:
        *(const cJSON **)to = value;
        return read_texts(argument, value, err);
    case IDS_MCP_TRUTH:
        if (!cJSON_IsBool(value)) return ids_fail(err, IDS_USAGE, "'%s' is neither true nor false", argument->name);
        *(int64_t *)to = cJSON_IsTrue(value);
        return 0;
    default:
        return read_number(argument, value, to, err);
    }
}

static int no_argument(const struct ids_mcp_tool *tool, const char *name, struct ids_error *err) {
    char names[256] = "";
    for (int i = 0, used = 0; i < tool->argument_count && used < (int)sizeof names - 32; i++)
        used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", i ? ", " : "", tool->arguments[i].name);
    return ids_fail(err, IDS_USAGE, "%s has no argument '%.40s' (%s)", tool->name, name, names);
}

/* A null is an argument that is not given: some clients send all there are. */
int ids_mcp_arguments_read(struct ids_mcp_call *call, struct ids_error *err) {
    const struct ids_mcp_tool *tool = call->tool;
    call->values = (struct ids_mcp_values){0};
    for (int i = 0; i < tool->argument_count; i++) {
        const struct ids_mcp_argument *argument = &tool->arguments[i];
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(call->given, argument->name);
        char *values = (char *)&call->values;
        int is_number = argument->kind == IDS_MCP_INT || argument->kind == IDS_MCP_SECONDS;
        int64_t unit = argument->kind == IDS_MCP_SECONDS && argument->usual > 0 ? (int64_t)PS_PER_S : 1;
        if (is_number) *(int64_t *)(void *)(values + argument->offset) = argument->usual * unit;
        int is_given = value && !cJSON_IsNull(value);
        if (!is_given && argument->is_required)
            return ids_fail(err, IDS_USAGE, "the argument '%s' is missing: %s", argument->name, argument->about);
        int code = is_given ? read_one(argument, value, values, err) : 0;
        if (code) return code;
    }
    for (const cJSON *item = call->given ? call->given->child : NULL; item; item = item->next) {
        int is_known = 0;
        for (int i = 0; i < tool->argument_count; i++) is_known |= !strcmp(tool->arguments[i].name, item->string);
        if (!is_known) return no_argument(tool, item->string, err);
    }
    return 0;
}
