/* diff: what changed between two runs, and why. */
#include "lib/compare/diff.h"
#include "lib/mcp/opening.h"
#include "lib/render/diff_text.h"
#include "lib/run/open_sides.h"

#include <stdlib.h>
#include <string.h>

enum { PATHS_MOST = 64 };

static const struct ids_mcp_argument arguments[] = {
    {"before", IDS_MCP_TEXTS, IDS_MCP_AT(before), 1, 0, 0, 0,
     "a run, or several recordings of one program; all runs of a folder are recordings"},
    {"after", IDS_MCP_TEXTS, IDS_MCP_AT(after), 1, 0, 0, 0, "the same of the other side"},
    {"force", IDS_MCP_TRUTH, IDS_MCP_AT(force), 0, 0, 0, 0, "compare even if the runs are not comparable"},
    IDS_MCP_TOP(5, "rows of each table; 0 for all"),
    IDS_MCP_MAX_CHARS,
};

/* A side of a comparison, with the paths that it needs. */
struct operand {
    char *paths[PATHS_MOST];
    int count;
    struct ids_open_side side;
    int is_open;
};

static int open_operand(struct ids_mcp_call *call, const cJSON *given, struct operand *operand, struct ids_error *err) {
    const struct ids_open_options options = {0};
    const cJSON *item = cJSON_IsArray(given) ? given->child : given;
    for (; item && operand->count < PATHS_MOST; item = cJSON_IsArray(given) ? item->next : NULL) {
        int code = ids_mcp_may_open(call->setup, item->valuestring, err);
        if (code) return code;
        operand->paths[operand->count] = strdup(item->valuestring);
        if (!operand->paths[operand->count++]) return ids_no_memory(err);
    }
    if (!operand->count) return ids_fail(err, IDS_USAGE, "'before' and 'after' need a path each");
    int code = ids_open_side(&call->engine, operand->paths, operand->count, &options, &operand->side, err);
    operand->is_open = !code;
    return code;
}

static void operand_done(struct operand *operand) {
    if (operand->is_open) ids_open_side_done(&operand->side);
    for (int i = 0; i < operand->count; i++) free(operand->paths[i]);
}

static void put_findings(struct ids_mcp_call *call, const struct ids_diff *diff) {
    cJSON *list = cJSON_AddArrayToObject(call->answer.data, "findings");
    for (size_t i = 0; i < diff->remarks.count; i++) {
        cJSON *finding = cJSON_CreateObject();
        ids_mcp_put_text(finding, "severity", ids_remark_severity_name(diff->remarks.at[i].severity));
        ids_mcp_put_text(finding, "id", diff->remarks.at[i].id);
        ids_mcp_put_text(finding, "text", diff->remarks.at[i].text);
        ids_mcp_add(list, finding);
    }
    ids_mcp_answer_part(&call->answer, list, "findings", NULL, NULL, (int64_t)diff->remarks.count);
}

/* Of the tables that a diff has, those that say why; and of these the columns that a reader needs. */
static const struct ids_mcp_list lists[] = {
    {"waterfall",
     "causes",
     {"change", "share", "account", "culprit", "where", "cause", "low", "high", "verdict", NULL}},
    {"headline", "figures", {"id", "title", "unit", "a", "b", "difference", "ratio", "verdict", "better", NULL}},
    {"structure", "programs", {"what", "where", "before", "after", "count", NULL}},
    {"changes", "changes", {"change", "text", "explain", NULL}},
    {"computations", "ops", {"change", "a", "b", "ops", "name", "class", "module", "op_name", NULL}},
};

/* What it says for programs; of what cannot be compared, no figure. */
static int put_lists(struct ids_mcp_call *call, const struct ids_diff *diff, struct ids_error *err) {
    static const char *const all[] = {"comparison"};
    static const char *const told[] = {"a", "b", "per", "verdict", "whole_a", "whole_b", "change", "explained_share"};
    const struct ids_section section = {
        .name = all[0], .title = all[0], .tables = ids_diff_tables, .table_count = ids_diff_table_count};
    const struct ids_render render = {
        .sections = &section, .section_count = 1, .only = all, .only_count = 1, .top = call->values.top};
    cJSON *tree = NULL;
    int code = ids_mcp_json(&diff->report, &render, ids_render_json, &tree, err);
    if (code) return code;
    const cJSON *run = cJSON_GetObjectItemCaseSensitive(tree, "run");
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(run, told[i]);
        if (value) ids_mcp_put(call->answer.data, told[i], cJSON_Duplicate(value, 1));
    }
    ids_mcp_put_lists(&call->answer, tree, lists, sizeof lists / sizeof *lists);
    cJSON_Delete(tree);
    return 0;
}

static int put(struct ids_mcp_call *call, const struct ids_diff *diff, const char *path_b, struct ids_error *err) {
    const struct ids_diff_render how = {.render = {.top = call->values.top, .width = 120}, .path_b = path_b};
    int is_comparable = !diff->remarks.unlike;
    cJSON_AddBoolToObject(call->answer.data, "comparable", is_comparable);
    put_findings(call, diff);
    int code = ids_render_diff_head(diff, &how, call->answer.out, err);
    if (code || (!is_comparable && !call->values.force)) return code;
    code = put_lists(call, diff, err);
    return code ? code : ids_render_diff_body(diff, &how, call->answer.out, err);
}

static int compare(struct ids_mcp_call *call, struct operand *a, struct operand *b, struct ids_error *err) {
    const struct ids_compare_options options = {.threshold = 0.01};
    struct ids_side *sides[] = {&a->side.side, &b->side.side};
    struct ids_diff diff;
    if (!strcmp(sides[0]->label, sides[1]->label)) { /* names that are the same say nothing */
        sides[0]->label = a->paths[0];
        sides[1]->label = b->paths[0];
    }
    ids_sides_settle(sides, 2, IDS_RECORDING_PROCESS);
    int code = ids_diff_make(sides[0], sides[1], &options, &diff, err);
    if (code) return code;
    code = put(call, &diff, ids_open_side_run_path(&b->side), err);
    ids_diff_done(&diff);
    return code;
}

static int run_diff(struct ids_mcp_call *call, struct ids_error *err) {
    struct operand a = {0}, b = {0};
    int code = open_operand(call, call->values.before, &a, err);
    if (!code) code = open_operand(call, call->values.after, &b, err);
    if (!code) code = compare(call, &a, &b, err);
    operand_done(&a);
    operand_done(&b);
    return code;
}

const struct ids_mcp_tool ids_mcp_diff_tool = {
    .name = "diff",
    .title = "Compare two runs",
    .about =
        "Whether two runs are comparable, what changed, how sure it is, and where the change of the step comes from "
        "(`causes`: they add up, and the surest large one is first). Times are in seconds a step.",
    .arguments = arguments,
    .argument_count = sizeof arguments / sizeof *arguments,
    .limit = "top",
    .members = "{\"comparable\":{\"type\":\"boolean\"},\"findings\":{\"type\":\"array\"},\"verdict\":{\"type\":"
               "\"string\"},\"causes\":{\"type\":\"array\"},\"figures\":{\"type\":\"array\"},\"programs\":{\"type\":"
               "\"array\"},\"changes\":{\"type\":\"array\"},\"ops\":{\"type\":\"array\"}}",
    .always = "[\"comparable\",\"findings\"]",
    .run = run_diff,
};
