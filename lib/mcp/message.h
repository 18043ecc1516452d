/* message.h - one message of JSON-RPC 2.0, and what is sent back. */
#ifndef IDS_LIB_MCP_MESSAGE_H
#define IDS_LIB_MCP_MESSAGE_H

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdio.h>

enum ids_mcp_fault {
    IDS_MCP_PARSE_ERROR = -32700,
    IDS_MCP_INVALID_REQUEST = -32600,
    IDS_MCP_NO_METHOD = -32601,
    IDS_MCP_INVALID_PARAMS = -32602,
    IDS_MCP_INTERNAL = -32603,
    IDS_MCP_OTHER_VERSION = -32022,
};

enum { IDS_MCP_LINE_MOST = 2 << 20 }; /* bytes of a message */

struct ids_mcp_message {
    cJSON *tree;
    const cJSON *id;     /* a number or text; NULL: a notification, which is not answered */
    const char *method;  /* NULL: an answer to somebody, or wrong */
    const cJSON *params; /* an object, or NULL */
    int is_stateless;    /* it says its version itself, as since 2026-07-28 */
    int fault;           /* enum ids_mcp_fault, 0: none */
    const char *why;
};

/* Of any bytes; to be ended with ids_mcp_message_done. */
void ids_mcp_message_read(const char *line, size_t length, struct ids_mcp_message *ret_message);
void ids_mcp_message_done(struct ids_mcp_message *message);
/* Whether both ids are the same one. */
int ids_mcp_same_id(const cJSON *a, const cJSON *b);
/* The version that the request names, NULL: none. */
const char *ids_mcp_message_version(const struct ids_mcp_message *message);

/* Where messages go, from more than one thread. */
struct ids_mcp_out {
    FILE *file;
    pthread_mutex_t lock;
    int failed; /* nobody reads */
};

int ids_mcp_out_failed(struct ids_mcp_out *out);
/* Takes `result`; NULL: there was no memory for it. `id` NULL: null. Nothing is sent to a notification. */
void ids_mcp_send_result(struct ids_mcp_out *out, const struct ids_mcp_message *to, cJSON *result);
/* `data` may be NULL; it is taken. */
void ids_mcp_send_error(struct ids_mcp_out *out, const cJSON *id, int code, const char *text, cJSON *data);
/* Takes `params`. */
void ids_mcp_send_notification(struct ids_mcp_out *out, const char *method, cJSON *params);

/* Valid UTF-8 without control characters but newlines and tabs, at most `most` bytes (what is left out is counted
 * behind); NULL: no memory. The caller frees it. */
char *ids_mcp_clean(const char *bytes, size_t length, size_t most);
/* Take the item over, also where there is no memory to put it there. The item; NULL: it is no more. */
cJSON *ids_mcp_put(cJSON *object, const char *key, cJSON *item);
cJSON *ids_mcp_add(cJSON *list, cJSON *item);
/* A clean text as a member; null where `text` is NULL. */
void ids_mcp_put_text(cJSON *object, const char *key, const char *text);

#endif
