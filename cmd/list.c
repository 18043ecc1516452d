#include "cmd/command.h"
#include "cmd/open_run.h"
#include "cmd/terminal.h"
#include "lib/base/vec.h"
#include "lib/report/layout.h"
#include "lib/wire/json_writer.h"

#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, PS_PLACES = 12, COLUMNS_COUNT = 8 };

struct list_options {
    int json, no_cache, full;
    int64_t width;
};

#define AT(field) offsetof(struct list_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profiles anew, and keep nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "names and columns whole, however wide", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
};

/* One run. A report of one is closed before the next is opened, so the figures are copied out. */
struct entry {
    const char *name, *path, *devices, *state, *reason;
    struct ids_value hosts, bytes, events, steps, window;
};

struct listing {
    const struct list_options *options;
    struct ids_arena arena;
    struct entry *entries;
    size_t count, room;
    int failed;
};

static const char *keep(struct listing *listing, const char *text) {
    const char *copy = ids_arena_copy(&listing->arena, text, strlen(text));
    return copy ? copy : "";
}

static struct ids_value metric_value(const struct ids_report *report, const char *id, enum ids_unit unit) {
    const struct ids_metric *metric = ids_report_find(report, id, NULL);
    return metric ? metric->value : ids_no_value(unit);
}

static void describe(struct listing *listing, const struct ids_report *report, struct entry *entry) {
    const struct ids_value *hosts = ids_report_find_property(report, "hosts");
    const struct ids_value *devices = ids_report_find_property(report, "devices");
    if (hosts) entry->hosts = *hosts;
    if (devices && devices->unit == IDS_UNIT_NONE && !devices->missing) entry->devices = keep(listing, devices->text);
    entry->events = metric_value(report, "run.events", IDS_UNIT_COUNT);
    entry->steps = metric_value(report, "steps.count", IDS_UNIT_COUNT);
    entry->window = metric_value(report, "run.window", IDS_UNIT_TIME);
    entry->state = report->complete ? "whole" : "truncated";
    if (!report->complete) entry->reason = keep(listing, ids_report_why_incomplete(report));
}

/* "the file is empty" of "'runs/a.pb': the file is empty": the line names the run already. */
static const char *without_path(const char *text) {
    const char *end = *text == '\'' ? strstr(text, "': ") : NULL;
    return end ? end + 3 : text;
}

static int list_run(struct listing *listing, const struct ids_run_files *run, struct ids_error *err) {
    struct entry *entry = IDS_PUSH(listing->entries, listing->count, listing->room);
    if (!entry) return ids_fail(err, IDS_NOMEM, "no memory for the list");
    int64_t bytes = 0;
    for (size_t i = 0; i < run->file_count; i++) bytes += (int64_t)run->files[i].size;
    *entry = (struct entry){
        .name = keep(listing, run->name),
        .path = keep(listing, run->path),
        .hosts = ids_int_value(IDS_UNIT_COUNT, (int64_t)run->file_count),
        .bytes = ids_int_value(IDS_UNIT_BYTES, bytes),
        .events = ids_no_value(IDS_UNIT_COUNT),
        .steps = ids_no_value(IDS_UNIT_COUNT),
        .window = ids_no_value(IDS_UNIT_TIME),
    };
    struct ids_params params;
    struct ids_report report;
    struct ids_error why = IDS_ERROR_INIT;
    ids_params_default(&params);
    int code = ids_open_run(run, &params, listing->options->no_cache, &report, &why);
    if (!code) {
        describe(listing, &report, entry);
        ids_report_done(&report);
        return 0;
    }
    /* One bad run does not stop the others. */
    listing->failed = 1;
    entry->state = code == IDS_CORRUPT ? "corrupt" : code == IDS_TRUNCATED ? "truncated" : "unreadable";
    entry->reason = keep(listing, without_path(why.text));
    return 0;
}

static int list_path(struct listing *listing, const char *path, struct ids_error *err) {
    struct ids_run_list runs;
    struct ids_error why = IDS_ERROR_INIT;
    if (ids_find_runs(path, &runs, &why)) {
        fprintf(stderr, "idsprof: list: %s\n", why.text);
        listing->failed = 1;
        return 0;
    }
    int code = 0;
    for (size_t i = 0; i < runs.run_count && !code; i++) code = list_run(listing, &runs.runs[i], err);
    if (ids_say_unreadable(&runs, "list")) listing->failed = 1;
    ids_run_list_done(&runs);
    return code;
}

/* ---- printing ---- */

static const char *value_text(struct listing *listing, struct ids_value value) {
    char buffer[IDS_VALUE_ROOM];
    return value.missing ? "-" : keep(listing, ids_value_format(value, buffer, sizeof buffer));
}

static int print_text(struct listing *listing, struct ids_error *err) {
    struct ids_grid_column columns[COLUMNS_COUNT] = {
        {.title = "run", .stretch = 1},  {.title = "hosts", .right = 1},  {.title = "devices", .stretch = 1},
        {.title = "size", .right = 1},   {.title = "events", .right = 1}, {.title = "steps", .right = 1},
        {.title = "window", .right = 1}, {.title = "state", .stretch = 1}};
    const char **cells = calloc(listing->count * COLUMNS_COUNT + 1, sizeof *cells);
    if (!cells) return ids_fail(err, IDS_NOMEM, "no memory for the list");
    for (size_t i = 0; i < listing->count; i++) {
        const struct entry *entry = &listing->entries[i];
        char state[640];
        snprintf(state, sizeof state, "%s%s%s", entry->state, entry->reason ? ": " : "",
                 entry->reason ? entry->reason : "");
        const char **row = cells + i * COLUMNS_COUNT;
        row[0] = ids_text_clean(&listing->arena, entry->name);
        row[1] = value_text(listing, entry->hosts);
        row[2] = entry->devices ? ids_text_clean(&listing->arena, entry->devices) : "-";
        row[3] = value_text(listing, entry->bytes);
        row[4] = value_text(listing, entry->events);
        row[5] = value_text(listing, entry->steps);
        row[6] = value_text(listing, entry->window);
        row[7] = ids_text_clean(&listing->arena, keep(listing, state));
    }
    struct ids_grid grid = {columns, COLUMNS_COUNT, cells, listing->count};
    ids_grid_fit(&grid, listing->options->full ? 0 : ids_terminal_width(listing->options->width));
    if (listing->count) ids_grid_write(&grid, &listing->arena, "", "", stdout);
    free(cells);
    return 0;
}

static void put_int(struct ids_json *json, const char *key, struct ids_value value) {
    ids_json_key(json, key);
    if (value.missing) {
        ids_json_null(json);
    } else {
        ids_json_decimal(json, value.i, value.unit == IDS_UNIT_TIME ? PS_PLACES : 0);
    }
}

static void put_text(struct ids_json *json, const char *key, const char *text) {
    ids_json_key(json, key);
    ids_json_text(json, text);
}

static void print_json(const struct listing *listing) {
    struct ids_json json = ids_json_to(stdout);
    ids_json_object(&json, IDS_JSON_BROKEN);
    ids_json_key(&json, "schema");
    ids_json_int(&json, SCHEMA);
    ids_json_key(&json, "runs");
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < listing->count; i++) {
        const struct entry *entry = &listing->entries[i];
        ids_json_object(&json, IDS_JSON_INLINE);
        put_text(&json, "name", entry->name);
        put_text(&json, "path", entry->path);
        put_int(&json, "hosts", entry->hosts);
        put_text(&json, "devices", entry->devices);
        put_int(&json, "bytes", entry->bytes);
        put_int(&json, "events", entry->events);
        put_int(&json, "steps", entry->steps);
        put_int(&json, "window", entry->window);
        put_text(&json, "state", entry->state);
        put_text(&json, "reason", entry->reason);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    ids_json_end(&json);
}

static int run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    struct listing listing = {.options = values};
    int code = 0;
    for (int i = 0; i < operand_count && !code; i++) code = list_path(&listing, operands[i], err);
    if (!code && listing.options->json) print_json(&listing);
    if (!code && !listing.options->json) code = print_text(&listing, err);
    free(listing.entries);
    ids_arena_done(&listing.arena);
    return code ? code : listing.failed ? IDS_EXIT_ERROR : IDS_EXIT_DONE;
}

const struct ids_command ids_command_list = {
    .operands = "PATH...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct list_options),
    .run = run,
};
