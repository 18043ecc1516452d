/* opening.h - runs for tools: which paths may be opened, the report of a part of a run, and its JSON. */
#ifndef IDS_LIB_MCP_OPENING_H
#define IDS_LIB_MCP_OPENING_H

#include "lib/analysis/params.h"
#include "lib/mcp/tool.h"
#include "lib/report/render.h"
#include "lib/run/find_runs.h"
#include "lib/run/open_events.h"

/* Whether a path lies below a root, and is a file or a folder: 0, or IDS_USAGE and the reason. For the engine, which
 * asks for each file of a run, and before it is asked, since it takes patterns and "-" too. */
int ids_mcp_may_open(const struct ids_mcp_setup *setup, const char *path, struct ids_error *err);

struct ids_mcp_opened {
    struct ids_report report;
    struct ids_opened_events events; /* path NULL: nowhere yet; its list has the runs */
    char command[1024];              /* what the next command begins with */
};

/* The report of call->values.path, run, from, to, steps and device. To be ended in any case. */
int ids_mcp_open(struct ids_mcp_call *call, struct ids_mcp_opened *ret_opened, struct ids_error *err);
void ids_mcp_opened_done(struct ids_mcp_opened *opened);

/* What is rendered for a tool: `top` rows of each table. */
struct ids_render ids_mcp_render(const struct ids_mcp_opened *opened, int64_t top);

typedef int ids_mcp_renderer(const struct ids_report *report, const struct ids_render *render, FILE *out,
                             struct ids_error *err);
/* What ids_render_json (or another of that form) writes, as a tree. */
int ids_mcp_json(const struct ids_report *report, const struct ids_render *render, ids_mcp_renderer *renderer,
                 cJSON **ret_tree, struct ids_error *err);

/* Moves a table of such a tree into a list of {id, title, columns, rows}, and names it as one that may be cut. */
void ids_mcp_put_table(struct ids_mcp_call *call, cJSON *list, cJSON *table, const char *section);
/* The rows of a table of such a tree as objects, with these columns (NULL behind the last) alone. */
cJSON *ids_mcp_row_objects(const cJSON *table, const char *const *columns);
int64_t ids_mcp_table_total(const cJSON *table);

/* A table of a report's JSON that an answer has as a list: its id, what it is called there, the columns up to NULL. */
struct ids_mcp_list {
    const char *table, *as;
    const char *columns[12];
};
/* Those of `tree` that are in `lists`, as parts of the answer that can be cut. */
void ids_mcp_put_lists(struct ids_mcp_answer *answer, const cJSON *tree, const struct ids_mcp_list *lists,
                       size_t count);

#endif
