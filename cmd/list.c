#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/page_file.h"
#include "lib/cli/reading.h"
#include "lib/cli/terminal.h"
#include "lib/model/format.h"
#include "lib/report/grid.h"
#include "lib/report/layout.h"
#include "lib/run/listing.h"
#include "lib/wire/json_writer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, PS_PLACES = 12 };

struct list_options {
    int json, no_cache, full, force;
    const char *html;
    int64_t width, newest;
    const char *sort;
};

#define AT(field) offsetof(struct list_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 's', "sort", "COLUMN", "order by a column, -COLUMN for the largest first", AT(sort), NULL},
    {IDS_OPT_COUNT, 'n', "newest", "N", "only the N newest runs", AT(newest), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_TEXT, 0, "html", "FILE", "write one page for a browser; - for standard output", AT(html), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "overwrite the file of --html", AT(force), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profiles again, and cache nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or leave out columns", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
    IDS_READING_OPTIONS,
};

/* ---- printing ---- */

static const char *keep(struct ids_listing *listing, const char *text) {
    const char *copy = ids_arena_copy(&listing->arena, text, strlen(text));
    return copy ? copy : "";
}

static const char *value_text(struct ids_listing *listing, struct ids_value value) {
    char buffer[IDS_VALUE_ROOM];
    return value.missing ? "-" : keep(listing, ids_value_format(value, buffer, sizeof buffer));
}

static const char *form_text(const struct ids_listed_run *run) {
    if (run->format && run->also && run->format != run->also) return "both";
    return run->format ? run->format->form : run->also ? run->also->form : "-";
}

/* "lcam, 4 GPU, step 100": what the run's name does not say as a whole. */
static const char *label_text(struct ids_listing *listing, const struct ids_listed_run *entry) {
    const struct ids_run_label *label = &entry->label;
    char text[160] = "", gpus[32] = "", step[32] = "";
    if (label->gpus >= 0)
        snprintf(gpus, sizeof gpus, "%lld %s%s", (long long)label->gpus, label->what,
                 !strcmp(label->what, "device") && label->gpus != 1 ? "s" : "");
    if (label->step >= 0) snprintf(step, sizeof step, "step %lld", (long long)label->step);
    const char *method = strcmp(label->method, entry->run->name) != 0 ? label->method : "";
    if (!*gpus && !*step) return "";
    snprintf(text, sizeof text, "%s%s%s%s%s", method, *method && *gpus ? ", " : "", gpus,
             (*method || *gpus) && *step ? ", " : "", step);
    return keep(listing, text);
}

/* "8 × CPU" of "8 × CPU (the CPU client's threads are the device)". */
static const char *devices_text(struct ids_listing *listing, const struct ids_listed_run *entry) {
    const char *note = entry->devices ? strstr(entry->devices, " (") : NULL;
    if (!note) return entry->devices ? ids_text_clean(&listing->arena, entry->devices) : "-";
    const char *text = ids_arena_copy(&listing->arena, entry->devices, (size_t)(note - entry->devices));
    return text ? ids_text_clean(&listing->arena, text) : "";
}

enum column { RUN, TIME, LABEL, HOSTS, DEVICES, FORM, STATE, EVENTS, WINDOW, STEPS, COLUMNS };

/* To the minute. Where only the file's time is known that is said, because copying a file may change it. */
static const char *time_text(struct ids_listing *listing, const struct ids_run_label *label) {
    static const char *const who[] = {
        [IDS_TIME_OF_FILE] = "file's time ", [IDS_TIME_OF_FOLDER] = "", [IDS_TIME_OF_RECORDING] = ""};
    char text[64];
    if (!label->time[0]) return "-";
    snprintf(text, sizeof text, "%s%.16s", who[label->time_source], label->time);
    return keep(listing, text);
}

static void fill_row(struct ids_listing *listing, const struct ids_listed_run *entry, const char *cells[COLUMNS]) {
    cells[RUN] = ids_text_clean(&listing->arena, entry->run->name);
    cells[TIME] = time_text(listing, &entry->label);
    cells[LABEL] = ids_text_clean(&listing->arena, label_text(listing, entry));
    cells[HOSTS] = value_text(listing, entry->hosts);
    cells[DEVICES] = devices_text(listing, entry);
    cells[FORM] = form_text(entry);
    cells[EVENTS] = value_text(listing, entry->events);
    cells[STEPS] = value_text(listing, entry->steps);
    cells[WINDOW] = value_text(listing, entry->window);
    cells[STATE] = entry->state;
}

/* Takes a column out of all rows. */
static void drop_column(struct ids_grid *grid, size_t column) {
    size_t old = grid->column_count, to = 0;
    for (size_t i = 0; i < old * grid->row_count; i++) {
        if (i % old != column) grid->cells[to++] = grid->cells[i];
    }
    memmove(grid->columns + column, grid->columns + column + 1, (old - column - 1) * sizeof *grid->columns);
    grid->column_count--;
}

/* Below the table, a line each: what has the name of a profile and is none. What belongs to a run that is listed is
 * only in the JSON. */
static void print_passed(struct ids_listing *listing, const struct list_options *options) {
    enum { MOST = 50 }; /* a data set may lie beside a run */
    int width = options->full ? INT_MAX : ids_terminal_width(options->width);
    size_t count = 0, shown = 0;
    for (size_t l = 0; l < listing->list_count; l++) {
        for (size_t i = 0; i < listing->lists[l].passed_count; i++) {
            const struct ids_run_passed *passed = &listing->lists[l].passed[i];
            count += !passed->same_run && !passed->noted;
        }
    }
    if (count) printf("\n  %zu file%s looked at and not taken\n", count, count == 1 ? " was" : "s were");
    for (size_t l = 0; l < listing->list_count; l++) {
        for (size_t i = 0; i < listing->lists[l].passed_count; i++) {
            const struct ids_run_passed *passed = &listing->lists[l].passed[i];
            char text[1200];
            if (passed->same_run || passed->noted || (shown == MOST && !options->full)) continue;
            shown++;
            snprintf(text, sizeof text, "%s: %s", passed->path, passed->why);
            ids_spaces(stdout, 4);
            ids_text_wrap(stdout, ids_text_clean(&listing->arena, text), 4, 6, width);
        }
    }
    if (shown < count) printf("    %zu more: --full or --json\n", count - shown);
}

/* Below the table, whole: why windows were kept, and why a run is not whole. */
static void print_reasons(struct ids_listing *listing, const struct list_options *options) {
    int width = options->full ? INT_MAX : ids_terminal_width(options->width);
    for (size_t i = 0, before = 0; i < listing->count; i++) {
        const struct ids_listed_run *entry = &listing->entries[i];
        char text[1200];
        if ((entry->kept || entry->reason) && !before++) putchar('\n');
        if (entry->kept) {
            snprintf(text, sizeof text, "%s was kept: %s", entry->run->name, entry->kept);
            ids_spaces(stdout, 2);
            ids_text_wrap(stdout, ids_text_clean(&listing->arena, text), 2, 4, width);
        }
        if (!entry->reason) continue;
        snprintf(text, sizeof text, "%s is %s: %s", entry->run->name, entry->state, entry->reason);
        ids_spaces(stdout, 2);
        ids_text_wrap(stdout, ids_text_clean(&listing->arena, text), 2, 4, width);
    }
}

static int print_text(struct ids_listing *listing, const struct list_options *options, struct ids_error *err) {
    struct ids_grid_column columns[COLUMNS] = {[RUN] = {.title = "run", .stretch = 1},
                                               [TIME] = {.title = "time"},
                                               [LABEL] = {.title = "label", .stretch = 1},
                                               [HOSTS] = {.title = "hosts", .right = 1},
                                               [DEVICES] = {.title = "devices", .stretch = 1},
                                               [FORM] = {.title = "form"},
                                               [STATE] = {.title = "state"},
                                               [EVENTS] = {.title = "events", .right = 1},
                                               [STEPS] = {.title = "steps", .right = 1},
                                               [WINDOW] = {.title = "window", .right = 1}};
    const char **cells = calloc(listing->count * COLUMNS + 1, sizeof *cells);
    if (!cells) return ids_no_memory(err);
    int labelled = 0, several_hosts = 0;
    for (size_t i = 0; i < listing->count; i++) {
        fill_row(listing, &listing->entries[i], cells + i * COLUMNS);
        several_hosts |= listing->entries[i].hosts.i > 1;
        labelled |= cells[i * COLUMNS + LABEL][0] != '\0';
    }
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS, .cells = cells, .row_count = listing->count};
    if (!several_hosts) drop_column(&grid, HOSTS);
    if (!labelled) drop_column(&grid, LABEL);
    ids_grid_fit(&grid, options->full ? 0 : ids_terminal_width(options->width));
    if (listing->count) ids_grid_write(&grid, &listing->arena, "", "", stdout);
    free(cells);
    print_reasons(listing, options);
    print_passed(listing, options);
    return 0;
}

static void put_known(struct ids_json *json, const char *key, int64_t value) {
    ids_json_key(json, key);
    if (value < 0) {
        ids_json_null(json);
    } else {
        ids_json_int(json, value);
    }
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

static void put_forms(struct ids_json *json, const struct ids_listed_run *run) {
    ids_json_key(json, "forms");
    ids_json_array(json, IDS_JSON_INLINE);
    for (int i = 0; i < ids_format_count; i++) {
        if (ids_formats[i] == run->format || ids_formats[i] == run->also) ids_json_text(json, ids_formats[i]->form);
    }
    ids_json_end(json);
}

/* "2026-01-02T03:04:05" as the recording machine's clock said, "...Z" in UTC of a file. */
static void put_time(struct ids_json *json, const struct ids_run_label *label) {
    char text[sizeof label->time + 1];
    snprintf(text, sizeof text, "%s%s", label->time, label->time_source == IDS_TIME_OF_FOLDER ? "" : "Z");
    text[10] = 'T';
    put_text(json, "time", label->time[0] ? text : NULL);
}

static void put_files(struct ids_json *json, const struct ids_run_files *run) {
    ids_json_key(json, "files");
    ids_json_array(json, IDS_JSON_INLINE);
    for (size_t i = 0; i < run->file_count; i++) ids_json_text(json, run->files[i].path);
    ids_json_end(json);
}

static void print_json_passed(struct ids_json *json, const struct ids_listing *listing) {
    ids_json_key(json, "not_taken");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t l = 0; l < listing->list_count; l++) {
        for (size_t i = 0; i < listing->lists[l].passed_count; i++) {
            ids_json_object(json, IDS_JSON_INLINE);
            put_text(json, "path", listing->lists[l].passed[i].path);
            put_text(json, "reason", listing->lists[l].passed[i].why);
            ids_json_end(json);
        }
    }
    ids_json_end(json);
}

static void print_json(const struct ids_listing *listing, FILE *out) {
    struct ids_json json = ids_json_to(out);
    ids_json_object(&json, IDS_JSON_BROKEN);
    ids_json_key(&json, "schema");
    ids_json_int(&json, SCHEMA);
    ids_json_key(&json, "runs");
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < listing->count; i++) {
        const struct ids_listed_run *entry = &listing->entries[i];
        ids_json_object(&json, IDS_JSON_INLINE);
        put_text(&json, "name", entry->run->name);
        put_text(&json, "path", entry->run->path);
        put_time(&json, &entry->label);
        put_text(&json, "time_source", entry->label.time[0] ? ids_time_source_name(entry->label.time_source) : NULL);
        put_text(&json, "method", entry->label.method[0] ? entry->label.method : NULL);
        put_known(&json, "gpus", entry->label.gpus);
        put_known(&json, "step", entry->label.step);
        put_int(&json, "hosts", entry->hosts);
        put_text(&json, "devices", entry->devices);
        put_int(&json, "device_count", entry->device_count);
        put_text(&json, "device_kind", entry->device_kind);
        put_forms(&json, entry);
        put_int(&json, "bytes", entry->bytes);
        put_int(&json, "events", entry->events);
        put_int(&json, "steps", entry->steps);
        put_int(&json, "window", entry->window);
        put_text(&json, "state", entry->state);
        put_text(&json, "reason", entry->reason);
        put_text(&json, "kept", entry->kept);
        put_files(&json, entry->run);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    print_json_passed(&json, listing);
    ids_json_end(&json);
}

static int write_block(void *own, FILE *out, struct ids_error *err) {
    (void)err;
    print_json(own, out);
    return 0;
}

static int write_page(const struct list_options *options, struct ids_listing *listing, struct ids_error *err) {
    const struct ids_render render = {0};
    const struct ids_page_block block = {.id = "report", .write = write_block, .own = listing};
    const struct ids_page page = {.kind = "list", .render = &render, .blocks = &block, .block_count = 1};
    return ids_page_to_file(&page, options->html, options->force, IDS_PAGE_SAID, err);
}

static int list_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct list_options *options = values;
    struct ids_engine engine = ids_command_engine("list", options->no_cache);
    struct ids_listing listing;
    int order = -1, is_descending = options->sort && *options->sort == '-';
    if (options->sort && ids_parse_choice(options->sort + is_descending, ids_listing_order, &order, err))
        return ids_error_at(err, "--sort");
    if (options->html && options->json) return ids_fail(err, IDS_USAGE, "--html and --json exclude each other");
    if (options->force && !options->html) return ids_fail(err, IDS_USAGE, "--force works only with --html");
    int code = options->html ? ids_page_file_check(options->html, options->force, err) : 0;
    if (code) return code;
    code = ids_listing_make(&engine, operands, operand_count, options->newest, order, is_descending, &listing, err);
    if (!code && options->json) print_json(&listing, stdout);
    if (!code && options->html) code = write_page(options, &listing, err);
    if (!code && !options->json && !options->html) code = print_text(&listing, options, err);
    int failed = listing.failed;
    ids_listing_done(&listing);
    ids_engine_done(&engine);
    return code ? code : failed ? IDS_EXIT_ERROR : IDS_EXIT_DONE;
}

const struct ids_command ids_list_command = {
    .operands = "PATH...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct list_options),
    .run = list_run,
};
