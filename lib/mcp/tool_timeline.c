/* timeline: a window as rows of letters, with its gaps and what ran. */
#include "lib/mcp/opening.h"
#include "lib/model/account.h"
#include "lib/render/report_chart.h"

#include <string.h>

static const struct ids_mcp_argument arguments[] = {
    IDS_MCP_PATH,      IDS_MCP_RUN, IDS_MCP_WINDOW, IDS_MCP_TOP(8, "devices, gaps, steps and ops; 0 for all"),
    IDS_MCP_MAX_CHARS,
};

/* In the order in which they are worth their room; with the columns that tell of time. */
static const struct ids_mcp_list lists[] = {
    {"strips", "strips", {"device", "start", "duration", "letters", NULL}},
    {"accounts", "where_time_goes", {"account", "time", "per_step", "share", "culprit", "where", NULL}},
    {"gaps", "gaps", {"device", "start", "duration", "account", "culprit", "where", "next", NULL}},
    {"steps", "steps", {"step", "start", "duration", "slowest", "slowest_device", NULL}},
    {"computations", "ran", {"name", "self", "share", "count", "mean", "category", "module", "place", NULL}},
};

static void put_legend(cJSON *data) {
    cJSON *legend = cJSON_AddObjectToObject(data, "legend");
    for (int i = 0; i < IDS_ACCOUNT_COUNT; i++) {
        const char letter[] = {ids_account_letter((enum ids_account)i), '\0'};
        cJSON_AddStringToObject(legend, letter, ids_account_id((enum ids_account)i));
    }
}

/* Only letters that are there. */
static void trim_legend(cJSON *data) {
    cJSON *legend = cJSON_GetObjectItemCaseSensitive(data, "legend");
    const cJSON *strips = cJSON_GetObjectItemCaseSensitive(data, "strips");
    for (cJSON *entry = legend ? legend->child : NULL, *next; entry; entry = next) {
        int is_there = 0;
        const cJSON *strip = NULL;
        next = entry->next;
        cJSON_ArrayForEach(strip, strips) {
            const char *letters = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(strip, "letters"));
            is_there |= letters && strchr(letters, *entry->string);
        }
        if (!is_there) cJSON_Delete(cJSON_DetachItemViaPointer(legend, entry));
    }
}

static int put_lists(struct ids_mcp_call *call, const struct ids_mcp_opened *opened, struct ids_error *err) {
    struct ids_render render = ids_mcp_render(opened, call->values.top);
    static const char *const only[] = {"ledger", "idle_gaps", "steps", "ops"};
    cJSON *tree = NULL;
    render.only = only;
    render.only_count = sizeof only / sizeof *only;
    int code = ids_mcp_json(&opened->report, &render, ids_render_json, &tree, err);
    if (code) return code;
    ids_mcp_put_lists(&call->answer, tree, lists, sizeof lists / sizeof *lists);
    cJSON_Delete(tree);
    return 0;
}

static int run_timeline(struct ids_mcp_call *call, struct ids_error *err) {
    struct ids_mcp_opened opened = {0};
    int code = ids_mcp_open(call, &opened, err);
    put_legend(call->answer.data);
    if (!code) code = put_lists(call, &opened, err);
    trim_legend(call->answer.data);
    struct ids_render render = ids_mcp_render(&opened, call->values.top);
    if (!code) code = ids_render_chart(&opened.report, &render, call->answer.out, err);
    ids_mcp_opened_done(&opened);
    return code;
}

const struct ids_mcp_tool ids_mcp_timeline_tool = {
    .name = "timeline",
    .title = "Look at a window of time",
    .about = "A window of a run (from and to in seconds, or steps): for each device a strip of 240 letters, one of the "
             "account that most of each cell belongs to (`legend`), the longest gaps with their causes, the steps, and "
             "what ran.",
    .arguments = arguments,
    .argument_count = sizeof arguments / sizeof *arguments,
    .limit = "top",
    .members = "{\"legend\":{\"type\":\"object\"},\"strips\":{\"type\":\"array\"},\"gaps\":{\"type\":\"array\"},"
               "\"steps\":{\"type\":\"array\"},\"ran\":{\"type\":\"array\"}}",
    .always = "[\"legend\",\"strips\",\"gaps\"]",
    .run = run_timeline,
};
