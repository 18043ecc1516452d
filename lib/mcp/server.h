/* server.h - what a server does with one message; serve.c brings messages from a stream. */
#ifndef IDS_LIB_MCP_SERVER_H
#define IDS_LIB_MCP_SERVER_H

#include "lib/mcp/mcp.h"
#include "lib/mcp/message.h"

struct ids_query;

struct ids_mcp_server {
    const struct ids_mcp_setup *setup;
    struct ids_mcp_out out;
    void (*watch)(void *own, struct ids_query *query); /* see tool.h; may be NULL */
    int (*is_cancelled)(void *own);                    /* the request at work is not to be answered; may be NULL */
    void *own;
};

void ids_mcp_server_init(struct ids_mcp_server *server, const struct ids_mcp_setup *setup, FILE *out);
void ids_mcp_server_done(struct ids_mcp_server *server);
/* Answers a message. IDS_NOMEM when memory ran out: no later answer could be trusted. */
int ids_mcp_server_answer(struct ids_mcp_server *server, const struct ids_mcp_message *message, struct ids_error *err);

#endif
