/* mcp.h - the engine for programs that reason: a server of the Model Context Protocol over two streams.
 *
 * Messages are JSON-RPC 2.0, one a line. Versions 2024-11-05 to 2025-11-25 begin with `initialize`; since 2026-07-28
 * every request says its version itself, and `server/discover` tells what there is. Both are served, and no state is
 * kept between requests, so that the order of them does not matter.
 *
 * Requests are answered one after the other by the thread that called, while another one reads: it answers `ping` at
 * once, and takes a cancelled request out of the queue or stops its SQL. Nothing but messages is written.
 */
#ifndef IDS_LIB_MCP_MCP_H
#define IDS_LIB_MCP_MCP_H

#include "lib/run/engine.h"

#include <stdint.h>
#include <stdio.h>

struct ids_mcp_setup {
    const char *const *roots; /* real paths of folders; nothing outside is opened */
    size_t root_count;
    /* Of engine.h; each may be NULL. They run on the thread that called ids_mcp_serve. */
    void (*filling)(void *own, const char *path);
    void (*sql)(void *own, enum ids_engine_sql what);
    int64_t sql_timeout_ps, sql_bytes; /* at most, of one statement; 0: any */
};

/* Until the input ends or nobody reads the output, which is no failure; whoever owns `out` looks for write errors. */
int ids_mcp_serve(const struct ids_mcp_setup *setup, int input, FILE *out, struct ids_error *err);

/* Answers one message, without threads: for tests. IDS_NOMEM is the only failure. */
int ids_mcp_answer_line(const struct ids_mcp_setup *setup, const char *line, size_t length, FILE *out,
                        struct ids_error *err);

#endif
