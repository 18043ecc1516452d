/* tool.h - what a tool is: a row of its arguments, from which its schema and the reading of them follow, and a
 * function that answers. */
#ifndef IDS_LIB_MCP_TOOL_H
#define IDS_LIB_MCP_TOOL_H

#include "lib/mcp/answer.h"
#include "lib/mcp/mcp.h"
#include "lib/mcp/message.h"
#include "lib/run/engine.h"

#include <cjson/cJSON.h>
#include <stdint.h>

enum ids_mcp_kind {
    IDS_MCP_TEXT,    /* const char * */
    IDS_MCP_TEXTS,   /* const cJSON *: one text, or an array of texts */
    IDS_MCP_INT,     /* int64_t */
    IDS_MCP_SECONDS, /* int64_t picoseconds; -1 where it is not given */
    IDS_MCP_TRUTH,   /* int64_t */
};

/* The values of every tool's arguments. */
struct ids_mcp_values {
    const char *path, *run, *id, *sql, *steps, *device, *sort;
    const cJSON *sections, *before, *after;
    int64_t top, newest, max_rows, max_chars, force, from_ps, to_ps, seconds_ps;
};

struct ids_mcp_argument {
    const char *name;
    enum ids_mcp_kind kind;
    size_t offset; /* into struct ids_mcp_values */
    int is_required;
    int64_t least, most, usual; /* of whole numbers and seconds */
    const char *about;
};

struct ids_mcp_call;

struct ids_mcp_tool {
    const char *name, *title, *about;
    const struct ids_mcp_argument *arguments;
    int argument_count;
    const char *limit;   /* the argument that bounds its rows */
    const char *members; /* JSON: the properties of its result; the first of them are there always */
    const char *always;  /* JSON: their names */
    int (*run)(struct ids_mcp_call *call, struct ids_error *err);
};

struct ids_query;

/* A tool that is at work. */
struct ids_mcp_call {
    const struct ids_mcp_setup *setup;
    const struct ids_mcp_tool *tool;
    const cJSON *given; /* the arguments as they came, or NULL */
    struct ids_mcp_values values;
    struct ids_engine engine;
    struct ids_mcp_answer answer;
    struct ids_mcp_out *out;
    const cJSON *progress_token; /* NULL: progress is not asked for */
    int64_t progress;
    /* Says which SQL could be stopped (NULL: none any more); may be NULL. */
    void (*watch)(void *own, struct ids_query *query);
    void *own;
};

extern const struct ids_mcp_tool ids_mcp_list_tool, ids_mcp_report_tool, ids_mcp_explain_tool, ids_mcp_query_tool,
    ids_mcp_diff_tool, ids_mcp_timeline_tool;

/* The answer to tools/list; and to tools/call, whose failures are results too, so that a model sees them. NULL: no
 * memory. *ret_fault is set (and NULL returned) where the call itself is wrong: then `err` says why. */
cJSON *ids_mcp_tools_list(void);
cJSON *ids_mcp_tools_call(struct ids_mcp_call *call, const cJSON *params, int *ret_fault, struct ids_error *err);

/* own_words.c: what the engine says at a command line, with the tool's arguments for options; allocated, NULL without
 * memory. */
char *ids_mcp_own_words(const struct ids_mcp_tool *tool, const char *words);

/* arguments.c */
cJSON *ids_mcp_arguments_schema(const struct ids_mcp_tool *tool);
int ids_mcp_arguments_read(struct ids_mcp_call *call, struct ids_error *err);

/* Of the arguments that most tools have. */
#define IDS_MCP_AT(field) offsetof(struct ids_mcp_values, field)
enum { IDS_MCP_CHARS = 6000, IDS_MCP_CHARS_LEAST = 2000, IDS_MCP_CHARS_MOST = 100000 };
#define IDS_MCP_PATH                                                                                      \
    {                                                                                                     \
        "path", IDS_MCP_TEXT, IDS_MCP_AT(path), 1, 0, 0, 0,                                               \
            "a profile, a folder or archive of runs, or a database of 'idsprof import'; as list gives it" \
    }
#define IDS_MCP_RUN \
    { "run", IDS_MCP_TEXT, IDS_MCP_AT(run), 0, 0, 0, 0, "which run of the path; without it the newest" }
#define IDS_MCP_TOP(usual, what) \
    { "top", IDS_MCP_INT, IDS_MCP_AT(top), 0, 0, 100000, (usual), what }
#define IDS_MCP_MAX_CHARS                                                                                           \
    {                                                                                                               \
        "max_chars", IDS_MCP_INT, IDS_MCP_AT(max_chars), 0, IDS_MCP_CHARS_LEAST, IDS_MCP_CHARS_MOST, IDS_MCP_CHARS, \
            "how long the answer may be, the text and the structured content each"                                  \
    }
#define IDS_MCP_WINDOW                                                                                                \
    {"from", IDS_MCP_SECONDS, IDS_MCP_AT(from_ps), 0, 0, 9000000, -1, "seconds since the first activity: look from"}, \
        {"to", IDS_MCP_SECONDS, IDS_MCP_AT(to_ps), 0, 0, 9000000, -1, "look up to here"},                             \
        {"steps", IDS_MCP_TEXT, IDS_MCP_AT(steps), 0, 0, 0, 0, "look at these steps only: 7, or 3-5"}, {              \
        "device", IDS_MCP_TEXT, IDS_MCP_AT(device), 0, 0, 0, 0, "look at these devices only: GPU:0, or a glob"        \
    }

#endif
