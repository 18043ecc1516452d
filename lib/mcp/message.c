#include "lib/mcp/message.h"

#include "lib/base/memory.h"
#include "lib/wire/clean.h"
#include "lib/wire/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char version_key[] = "io.modelcontextprotocol/protocolVersion";

/* ---- reading ---- */

static int is_utf8(const char *at, size_t length) {
    uint32_t character;
    int valid = 1;
    for (size_t i = 0; i < length && valid; i += ids_utf8_next(at + i, length - i, &character, &valid)) {
    }
    return valid;
}

/* An escape of it would cut a text where no one sees it. */
static int has_nul(const char *at, size_t length) {
    static const char nul[] = "u0000";
    const char *end = at + length;
    for (; at < end && (at = memchr(at, '\\', (size_t)(end - at))); at += 2) {
        if ((size_t)(end - at) > sizeof nul - 1 && !memcmp(at + 1, nul, sizeof nul - 1)) return 1;
    }
    return 0;
}

static int is_blank(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n", *at) && *at) at++;
    return at == end;
}

/* Whole numbers, as the protocol wants them; a double cannot hold those beyond 2^53 exactly, and an answer under
 * another id would never be found. */
static int is_id(const cJSON *id) {
    const double most = 9007199254740992.0;
    if (cJSON_IsString(id)) return 1;
    return cJSON_IsNumber(id) && id->valuedouble > -most && id->valuedouble < most &&
           id->valuedouble == (double)(long long)id->valuedouble;
}

static void fault(struct ids_mcp_message *message, int code, const char *why) {
    message->fault = code;
    message->why = why;
}

static void take_apart(struct ids_mcp_message *message) {
    const cJSON *tree = message->tree;
    if (cJSON_IsArray(tree)) {
        fault(message, IDS_MCP_INVALID_REQUEST, "batches are not supported: send one message a line");
        return;
    }
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(tree, "jsonrpc");
    const char *method = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, "method"));
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(tree, "id");
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(tree, "params");
    if (!cJSON_IsObject(tree) || !cJSON_IsString(version) || strcmp(version->valuestring, "2.0") != 0) {
        fault(message, IDS_MCP_INVALID_REQUEST, "not a message of JSON-RPC 2.0");
        return;
    }
    if (id && !is_id(id)) {
        fault(message, IDS_MCP_INVALID_REQUEST, "'id' is neither a text nor a whole number below 2^53");
        return;
    }
    message->id = id;
    if (!method && (cJSON_HasObjectItem(tree, "result") || cJSON_HasObjectItem(tree, "error"))) {
        message->id = NULL; /* an answer, though nothing was asked: never answered */
    } else if (!method) {
        fault(message, IDS_MCP_INVALID_REQUEST, "'method' is missing or no text");
    } else if (params && !cJSON_IsObject(params)) {
        fault(message, id ? IDS_MCP_INVALID_PARAMS : IDS_MCP_INVALID_REQUEST, "'params' is not an object");
    } else {
        message->method = method;
        message->params = params;
        message->is_stateless = ids_mcp_message_version(message) != NULL;
    }
}

void ids_mcp_message_read(const char *line, size_t length, struct ids_mcp_message *ret_message) {
    const char *end = NULL;
    *ret_message = (struct ids_mcp_message){0};
    if (length > IDS_MCP_LINE_MOST) {
        fault(ret_message, IDS_MCP_INVALID_REQUEST, "a message of more than 2 MiB");
        return;
    }
    if (!is_utf8(line, length)) {
        fault(ret_message, IDS_MCP_PARSE_ERROR, "not UTF-8");
        return;
    }
    if (has_nul(line, length)) {
        fault(ret_message, IDS_MCP_PARSE_ERROR, "a NUL in a text");
        return;
    }
    ret_message->tree = cJSON_ParseWithLengthOpts(line, length, &end, 0);
    if (!ret_message->tree)
        fault(ret_message, IDS_MCP_PARSE_ERROR, "not JSON, or nested too deeply");
    else if (!is_blank(end, line + length))
        fault(ret_message, IDS_MCP_PARSE_ERROR, "more than one message in a line");
    else
        take_apart(ret_message);
}

void ids_mcp_message_done(struct ids_mcp_message *message) {
    cJSON_Delete(message->tree);
    *message = (struct ids_mcp_message){0};
}

int ids_mcp_same_id(const cJSON *a, const cJSON *b) {
    if (!a || !b) return 0;
    if (cJSON_IsString(a)) return cJSON_IsString(b) && !strcmp(a->valuestring, b->valuestring);
    return cJSON_IsNumber(a) && cJSON_IsNumber(b) && (long long)a->valuedouble == (long long)b->valuedouble;
}

const char *ids_mcp_message_version(const struct ids_mcp_message *message) {
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(message->params, "_meta");
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(meta, version_key));
}

/* ---- texts ---- */

char *ids_mcp_clean(const char *bytes, size_t length, size_t most) {
    struct ids_buffer clean = {0};
    size_t take = length;
    if (take > most) {
        for (take = most; take && ((unsigned char)bytes[take] & 0xc0) == 0x80; take--) { /* whole characters */
        }
    }
    ids_clean_put(&clean, bytes, take, IDS_CLEAN_LINES);
    if (take < length) {
        char more[48];
        int digits = snprintf(more, sizeof more, "... (%zu bytes more)", length - take);
        ids_buffer_put(&clean, more, (size_t)digits);
    }
    ids_buffer_byte(&clean, '\0');
    if (!clean.failed) return clean.at;
    ids_buffer_done(&clean);
    return NULL;
}

cJSON *ids_mcp_put(cJSON *object, const char *key, cJSON *item) {
    if (cJSON_AddItemToObject(object, key, item)) return item;
    cJSON_Delete(item);
    return NULL;
}

cJSON *ids_mcp_add(cJSON *list, cJSON *item) {
    if (cJSON_AddItemToArray(list, item)) return item;
    cJSON_Delete(item);
    return NULL;
}

void ids_mcp_put_text(cJSON *object, const char *key, const char *text) {
    enum { TEXT_MOST = 2000 };
    char *clean = text ? ids_mcp_clean(text, strlen(text), TEXT_MOST) : NULL;
    if (clean)
        cJSON_AddStringToObject(object, key, clean);
    else
        cJSON_AddNullToObject(object, key);
    free(clean);
}

/* ---- sending ---- */

static void send_line(struct ids_mcp_out *out, cJSON *message) {
    static const char no_memory[] =
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\"out of memory\"}}";
    char *text = message && !ids_memory_ran_out() ? cJSON_PrintUnformatted(message) : NULL;
    const char *line = text ? text : no_memory;
    pthread_mutex_lock(&out->lock);
    if (!out->failed) {
        size_t length = strlen(line);
        int is_whole = fwrite(line, 1, length, out->file) == length && fwrite("\n", 1, 1, out->file) == 1;
        out->failed = !is_whole || fflush(out->file);
    }
    pthread_mutex_unlock(&out->lock);
    if (!text) ids_memory_refused();
    cJSON_free(text);
    cJSON_Delete(message);
}

int ids_mcp_out_failed(struct ids_mcp_out *out) {
    pthread_mutex_lock(&out->lock);
    int failed = out->failed;
    pthread_mutex_unlock(&out->lock);
    return failed;
}

static cJSON *begin(void) {
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "jsonrpc", "2.0");
    return message;
}

static void add_id(cJSON *message, const cJSON *id) {
    ids_mcp_put(message, "id", id ? cJSON_Duplicate(id, 1) : cJSON_CreateNull());
}

void ids_mcp_send_result(struct ids_mcp_out *out, const struct ids_mcp_message *to, cJSON *result) {
    cJSON *message = begin();
    if (!to->id) {
        cJSON_Delete(result);
        cJSON_Delete(message);
        return;
    }
    if (!result) ids_memory_refused();
    add_id(message, to->id);
    if (to->is_stateless) cJSON_AddStringToObject(result, "resultType", "complete");
    ids_mcp_put(message, "result", result);
    send_line(out, message);
}

void ids_mcp_send_error(struct ids_mcp_out *out, const cJSON *id, int code, const char *text, cJSON *data) {
    cJSON *message = begin(), *error = cJSON_CreateObject();
    add_id(message, id);
    cJSON_AddNumberToObject(error, "code", code);
    ids_mcp_put_text(error, "message", text);
    if (data) ids_mcp_put(error, "data", data);
    ids_mcp_put(message, "error", error);
    send_line(out, message);
}

void ids_mcp_send_notification(struct ids_mcp_out *out, const char *method, cJSON *params) {
    cJSON *message = begin();
    cJSON_AddStringToObject(message, "method", method);
    ids_mcp_put(message, "params", params);
    send_line(out, message);
}
