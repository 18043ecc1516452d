/* list: the runs below a folder, each with the arguments that open it. */
#include "lib/mcp/opening.h"
#include "lib/run/file_name.h"
#include "lib/run/listing.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_mcp_argument arguments[] = {
    {"path", IDS_MCP_TEXT, IDS_MCP_AT(path), 0, 0, 0, 0, "a folder, archive, profile or database; else the first root"},
    {"newest", IDS_MCP_INT, IDS_MCP_AT(newest), 0, 1, 10000, 20, "at most so many runs, the newest ones"},
    {"sort", IDS_MCP_TEXT, IDS_MCP_AT(sort), 0, 0, 0, 0,
     "time, name, label, step or another column; -time, the usual one: downwards"},
    IDS_MCP_MAX_CHARS,
};

static void put_value(cJSON *object, const char *key, struct ids_value value, double unit) {
    if (!value.missing) cJSON_AddNumberToObject(object, key, ids_value_number(value) / unit);
}

static void put_if(cJSON *object, const char *key, const char *text) {
    if (text && *text) ids_mcp_put_text(object, key, text);
}

/* What the other tools want for this run. A run of an archive or a database is named beside it. */
static void put_open(cJSON *object, const struct ids_run_files *run) {
    cJSON *open = cJSON_AddObjectToObject(object, "open");
    const char *archive = run->file_count ? run->files[0].archive : NULL;
    const char *path = archive ? archive : run->path;
    ids_mcp_put_text(open, "path", strncmp(path, "./", 2) ? path : path + 2);
    size_t length = archive ? strlen(archive) : 0;
    if (archive && !strncmp(run->path, archive, length) && run->path[length] == '/')
        ids_mcp_put_text(open, "run", run->path + length + 1); /* its path in there */
    else if (archive || run->number)
        ids_mcp_put_text(open, "run", run->name);
}

static cJSON *describe(const struct ids_listed_run *entry) {
    cJSON *object = cJSON_CreateObject();
    ids_mcp_put_text(object, "name", entry->run->name);
    put_open(object, entry->run);
    put_if(object, "recorded", entry->label.time);
    put_if(object, "devices", entry->devices);
    ids_mcp_put_text(object, "state", entry->state);
    put_if(object, "reason", entry->reason);
    put_if(object, "kept_because", entry->kept);
    put_value(object, "steps", entry->steps, 1);
    put_value(object, "events", entry->events, 1);
    put_value(object, "window_s", entry->window, 1e12);
    return object;
}

static void write_line(FILE *out, const struct ids_listed_run *entry) {
    char steps[IDS_VALUE_ROOM], window[IDS_VALUE_ROOM];
    fprintf(out, "%s · %s · %s steps · window %s · %s · %s\n", entry->run->name,
            entry->devices ? entry->devices : "no device", ids_value_format(entry->steps, steps, sizeof steps),
            ids_value_format(entry->window, window, sizeof window), entry->state, entry->label.time);
}

static int list_runs(struct ids_mcp_call *call, const char *path, int order, int is_descending, struct ids_error *err) {
    struct ids_listing listing;
    char *paths[1] = {strdup(path)};
    if (!paths[0]) return ids_no_memory(err);
    int code = ids_listing_make(&call->engine, paths, 1, call->values.newest, order, is_descending, &listing, err);
    int64_t there = 0;
    for (size_t i = 0; i < listing.list_count; i++) there += (int64_t)listing.lists[i].run_count;
    cJSON *runs = cJSON_AddArrayToObject(call->answer.data, "runs");
    for (size_t i = 0; !code && i < listing.count; i++) {
        ids_mcp_add(runs, describe(&listing.entries[i]));
        write_line(call->answer.out, &listing.entries[i]);
    }
    cJSON_AddNumberToObject(call->answer.data, "total", (double)there);
    ids_mcp_answer_part(&call->answer, runs, "runs", NULL, NULL, there);
    ids_listing_done(&listing);
    free(paths[0]);
    return code;
}

static int run_list(struct ids_mcp_call *call, struct ids_error *err) {
    const char *path = call->values.path ? call->values.path : ".",
               *sort = call->values.sort ? call->values.sort : "-time";
    int order = -1, is_descending = *sort == '-';
    for (int i = 0; ids_listing_order(i); i++) {
        if (!strcmp(ids_listing_order(i), sort + is_descending)) order = i;
    }
    if (order < 0) return ids_fail(err, IDS_USAGE, "'sort': there is no column '%.40s'", sort);
    int code = ids_mcp_may_open(call->setup, path, err);
    return code ? code : list_runs(call, path, order, is_descending, err);
}

const struct ids_mcp_tool ids_mcp_list_tool = {
    .name = "list",
    .title = "List runs",
    .about = "Profiles below a folder: what they hold, and under `open` the arguments that open each with the other "
             "tools. Begin here.",
    .arguments = arguments,
    .argument_count = sizeof arguments / sizeof *arguments,
    .limit = "newest",
    .members = "{\"runs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"total\":{\"type\":\"integer\"}}",
    .always = "[\"runs\",\"total\"]",
    .run = run_list,
};
