#include "lib/mcp/opening.h"

#include "lib/analysis/grades.h"
#include "lib/run/extract_window.h"
#include "lib/run/open_run.h"
#include "lib/run/sections.h"
#include "lib/wire/shell_quote.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- which paths ---- */

static int is_below(const char *path, const char *root) {
    size_t length = strlen(root);
    if (length == 1) return 1; /* "/" */
    return !strncmp(path, root, length) && (!path[length] || path[length] == '/');
}

/* Of a path that is not there, the part that is: whether something exists outside is not told. -1: nothing of it is. */
static int real_part(const char *path, char real[PATH_MAX]) {
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) return -1;
    if (realpath(part, real)) return 0;
    for (;;) {
        char *slash = strrchr(part, '/');
        if (!slash) return realpath(".", real) ? 0 : -1;
        slash[slash == part] = '\0';
        if (realpath(part, real)) return 0;
        if (slash == part) return -1;
    }
}

static int refuse(const struct ids_mcp_setup *setup, const char *path, struct ids_error *err) {
    char roots[256] = "";
    for (size_t i = 0, used = 0; i < setup->root_count && used < sizeof roots - 1; i++)
        used += (size_t)snprintf(roots + used, sizeof roots - used, "%s'%s'", i ? ", " : "", setup->roots[i]);
    return ids_fail(err, IDS_USAGE,
                    "'%.160s' is outside the folders that this server may open (%s); start it with --root to "
                    "add others",
                    path, roots);
}

int ids_mcp_may_open(const struct ids_mcp_setup *setup, const char *path, struct ids_error *err) {
    struct stat status;
    if (!strcmp(path, "-") || !*path)
        return ids_fail(err, IDS_USAGE, "'path' names no file or folder; requests come on standard input");
    char real[PATH_MAX];
    int allowed = 0, is_real = !real_part(path, real);
    for (size_t i = 0; is_real && i < setup->root_count; i++) allowed |= is_below(real, setup->roots[i]);
    if (!allowed) return refuse(setup, path, err);
    if (stat(path, &status)) return ids_fail_system(err, "'%.160s'", path); /* a pattern is no path */
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return 0;
    return ids_fail(err, IDS_USAGE, "'%.160s' is neither a file nor a folder", path); /* a pipe may never end */
}

/* ---- a report ---- */

static int make_params(const struct ids_mcp_values *values, struct ids_params *ret_params, struct ids_error *err) {
    ids_params_default(ret_params);
    if (values->from_ps > 0) ret_params->from_ps = values->from_ps;
    if (values->to_ps > 0) ret_params->to_ps = values->to_ps;
    ret_params->device = values->device;
    if (ret_params->from_ps >= ret_params->to_ps || !values->to_ps)
        return ids_fail(err, IDS_USAGE, "'from' is not before 'to'");
    if (!values->steps) return 0;
    int code = ids_parse_steps(values->steps, &ret_params->first_step, &ret_params->last_step, err);
    return code ? ids_error_at(err, "'steps'") : 0;
}

static void make_command(const struct ids_mcp_values *values, char *to, size_t room) {
    size_t used = (size_t)snprintf(to, room, "idsprof report ");
    ids_shell_quote(values->path, to + used, room - used);
    used = strlen(to);
    if (!values->run || room - used < sizeof " --run ") return;
    used += (size_t)snprintf(to + used, room - used, " --run ");
    ids_shell_quote(values->run, to + used, room - used);
}

int ids_mcp_open(struct ids_mcp_call *call, struct ids_mcp_opened *ret_opened, struct ids_error *err) {
    struct ids_mcp_values *values = &call->values;
    struct ids_params params;
    struct ids_grade_rules grades;
    const struct ids_run_files *run = NULL;
    struct ids_run_list *list = &ret_opened->events.list;
    *ret_opened = (struct ids_mcp_opened){0};
    ids_report_init(&ret_opened->report);
    make_command(values, ret_opened->command, sizeof ret_opened->command);
    int code = make_params(values, &params, err);
    if (!code) code = ids_mcp_may_open(call->setup, values->path, err);
    if (!code) code = ids_find_runs(&call->engine, values->path, list, err);
    if (code) return code;
    ids_note_unreadable(&call->engine, list);
    code = ids_choose_run(list, values->run, &run, err);
    if (!code && !values->run) ids_note_choice(&call->engine, list);
    if (!code) code = ids_open_run(&call->engine, run, &params, &ret_opened->report, err);
    if (code) return code;
    ids_grade_rules_default(&params, &grades);
    ids_grade(&grades, &ret_opened->report);
    if (ids_params_are_default(&params)) code = ids_events_at_hand(&call->engine, run, &ret_opened->events, err);
    if (!code && !ret_opened->events.run) ret_opened->events.run = run->number ? run->number : 1;
    return code;
}

void ids_mcp_opened_done(struct ids_mcp_opened *opened) {
    ids_report_done(&opened->report);
    ids_events_done(&opened->events);
}

/* ---- as JSON ---- */

struct ids_render ids_mcp_render(const struct ids_mcp_opened *opened, int64_t top) {
    struct ids_render render = {.top = top, .width = 120, .command = opened->command};
    render.sections = ids_sections(&render.section_count);
    return render;
}

int ids_mcp_json(const struct ids_report *report, const struct ids_render *render, ids_mcp_renderer *renderer,
                 cJSON **ret_tree, struct ids_error *err) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return ids_no_memory(err);
    int code = renderer(report, render, out, err);
    if (fclose(out) && !code) code = ids_no_memory(err);
    if (!code) *ret_tree = cJSON_ParseWithLength(text, length);
    free(text);
    return !code && !*ret_tree ? ids_no_memory(err) : code;
}

int64_t ids_mcp_table_total(const cJSON *table) {
    const cJSON *left_out = cJSON_GetObjectItemCaseSensitive(table, "rows_left_out");
    return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(table, "rows")) +
           (cJSON_IsNumber(left_out) ? (int64_t)left_out->valuedouble : 0);
}

void ids_mcp_put_table(struct ids_mcp_call *call, cJSON *list, cJSON *table, const char *section) {
    cJSON *put = cJSON_CreateObject();
    int64_t total = ids_mcp_table_total(table);
    cJSON_AddStringToObject(put, "id", table->string);
    const cJSON *title = cJSON_GetObjectItemCaseSensitive(table, "title");
    if (title) cJSON_AddStringToObject(put, "title", title->valuestring);
    cJSON *columns = cJSON_AddArrayToObject(put, "columns"), *units = cJSON_AddObjectToObject(put, "units");
    const cJSON *column = NULL;
    cJSON_ArrayForEach(column, cJSON_GetObjectItemCaseSensitive(table, "columns")) {
        const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(column, "id"));
        const char *unit = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(column, "unit"));
        ids_mcp_add(columns, cJSON_CreateString(id ? id : ""));
        if (id && unit) cJSON_AddStringToObject(units, id, unit);
    }
    cJSON *rows = cJSON_DetachItemFromObjectCaseSensitive(table, "rows");
    rows = ids_mcp_put(put, "rows", rows);
    cJSON_AddNumberToObject(put, "total", (double)total);
    if (!ids_mcp_add(list, put)) return;
    ids_mcp_answer_part(&call->answer, rows, table->string, section, table->string, total);
    ids_mcp_answer_part_in(&call->answer, rows, put);
}

cJSON *ids_mcp_row_objects(const cJSON *table, const char *const *columns) {
    cJSON *list = cJSON_CreateArray();
    const cJSON *row = NULL;
    const cJSON *defs = cJSON_GetObjectItemCaseSensitive(table, "columns");
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(table, "rows")) {
        cJSON *object = cJSON_CreateObject();
        const cJSON *def = defs ? defs->child : NULL;
        for (const cJSON *cell = row->child; cell && def; cell = cell->next, def = def->next) {
            const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(def, "id"));
            for (const char *const *wanted = columns; id && *wanted; wanted++) {
                if (!strcmp(*wanted, id) && !cJSON_IsNull(cell)) ids_mcp_put(object, id, cJSON_Duplicate(cell, 1));
            }
        }
        ids_mcp_add(list, object);
    }
    return list;
}

void ids_mcp_put_lists(struct ids_mcp_answer *answer, const cJSON *tree, const struct ids_mcp_list *lists,
                       size_t count) {
    const cJSON *tables = cJSON_GetObjectItemCaseSensitive(tree, "tables");
    for (size_t i = 0; i < count; i++) {
        const cJSON *table = cJSON_GetObjectItemCaseSensitive(tables, lists[i].table);
        cJSON *rows = ids_mcp_row_objects(table, lists[i].columns);
        rows = ids_mcp_put(answer->data, lists[i].as, rows);
        ids_mcp_answer_part(answer, rows, lists[i].as, NULL, NULL, ids_mcp_table_total(table));
    }
}
