#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/cli/terminal.h"
#include "lib/base/vec.h"
#include "lib/report/layout.h"
#include "lib/run/find_runs.h"
#include "lib/run/open_run.h"
#include "lib/run/read_run.h"
#include "lib/run/run_label.h"
#include "lib/wire/json_writer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, PS_PLACES = 12 };

struct list_options {
    int json, no_cache, full;
    int64_t width, newest;
    const char *sort;
};

#define AT(field) offsetof(struct list_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 's', "sort", "COLUMN", "order by a column, -COLUMN for the largest first", AT(sort), NULL},
    {IDS_OPT_COUNT, 'n', "newest", "N", "only the N newest runs", AT(newest), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profiles again, and cache nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or leave out columns", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
    IDS_READING_OPTIONS,
};

enum form { XPLANE = 1, JSON = 2, OTHER = 4 };

/* One run. A report of one is closed before the next is opened, so the figures are copied out. */
struct entry {
    const struct ids_run_files *run;
    size_t order; /* in which it was found */
    const char *devices, *device_kind, *state, *reason;
    struct ids_run_label label;
    unsigned forms; /* of enum form */
    struct ids_value hosts, bytes, events, steps, window, device_count;
};

struct listing {
    struct ids_engine engine;
    const struct list_options *options;
    struct ids_arena arena;
    struct ids_run_list *lists; /* one for each operand */
    size_t list_count;
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
    const struct ids_value *recorded = ids_report_find_property(report, "recorded_unix_ns");
    if (hosts) entry->hosts = *hosts;
    if (recorded && !recorded->missing) ids_label_recorded(&entry->label, recorded->i);
    if (devices && devices->unit == IDS_UNIT_NONE && !devices->missing) entry->devices = keep(listing, devices->text);
    const struct ids_value *count = ids_report_find_property(report, "devices.count");
    const struct ids_value *kind = ids_report_find_property(report, "devices.kind");
    entry->device_count = count ? *count : ids_no_value(IDS_UNIT_COUNT);
    if (kind && !kind->missing) entry->device_kind = keep(listing, kind->text);
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

static unsigned form_of(const char *format) {
    return !format ? 0 : !strcmp(format, "xplane") ? XPLANE : !strcmp(format, "chrome_trace") ? JSON : OTHER;
}

/* What the names alone say. */
static int add_run(struct listing *listing, const struct ids_run_files *run, struct ids_error *err) {
    struct entry *entry = IDS_PUSH(listing->entries, listing->count, listing->room);
    if (!entry) return ids_no_memory(err);
    int64_t bytes = 0;
    for (size_t i = 0; i < run->file_count; i++) bytes += (int64_t)run->files[i].size;
    *entry = (struct entry){
        .run = run,
        .order = listing->count,
        .forms = form_of(ids_format_named(run->files[0].path)) | (run->also ? form_of(ids_format_named(run->also)) : 0),
        .hosts = ids_int_value(IDS_UNIT_COUNT, (int64_t)run->file_count),
        .bytes = ids_int_value(IDS_UNIT_BYTES, bytes),
        .events = ids_no_value(IDS_UNIT_COUNT),
        .steps = ids_no_value(IDS_UNIT_COUNT),
        .window = ids_no_value(IDS_UNIT_TIME),
    };
    ids_label_run(run, &entry->label);
    return 0;
}

static void read_run(struct listing *listing, struct entry *entry) {
    struct ids_params params;
    struct ids_report report;
    struct ids_error why = IDS_ERROR_INIT;
    ids_params_default(&params);
    int code = ids_open_run(&listing->engine, entry->run, &params, &report, &why);
    if (!code) {
        describe(listing, &report, entry);
        ids_report_done(&report);
        return;
    }
    /* One bad run does not stop the others. */
    listing->failed = 1;
    entry->state = code == IDS_CORRUPT ? "corrupt" : code == IDS_TRUNCATED ? "truncated" : "unreadable";
    entry->reason = keep(listing, without_path(why.text));
}

static int add_path(struct listing *listing, const char *path, struct ids_error *err) {
    struct ids_run_list *runs = &listing->lists[listing->list_count];
    struct ids_error why = IDS_ERROR_INIT;
    if (ids_find_runs(&listing->engine, path, runs, &why)) {
        ids_say("list", "%s", why.text);
        listing->failed = 1;
        return 0;
    }
    listing->list_count++;
    int code = 0;
    for (size_t i = 0; i < runs->run_count && !code; i++) code = add_run(listing, &runs->runs[i], err);
    if (ids_note_unreadable(&listing->engine, runs)) listing->failed = 1;
    return code;
}

/* ---- order ---- */

static int by_order(const void *a, const void *b) {
    const struct entry *left = a, *right = b;
    return (left->order > right->order) - (left->order < right->order);
}

/* Members of one archive side by side and by their place in it, so that it is read in one pass. */
static int by_place(const void *a, const void *b) {
    const struct ids_run_file *left = ((const struct entry *)a)->run->files;
    const struct ids_run_file *right = ((const struct entry *)b)->run->files;
    int order = strcmp(left->archive ? left->archive : "", right->archive ? right->archive : "");
    if (order || !left->archive || left->member_index == right->member_index) return order ? order : by_order(a, b);
    return left->member_index < right->member_index ? -1 : 1;
}

static int compare_ints(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* What is not known comes before what is. */
static int compare_values(struct ids_value a, struct ids_value b) {
    if (a.missing || b.missing) return !a.missing - !b.missing;
    return compare_ints(a.i, b.i);
}

static int compare_texts(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_run(const struct entry *a, const struct entry *b) {
    return strcmp(a->run->name, b->run->name);
}
static int compare_time(const struct entry *a, const struct entry *b) {
    return compare_ints(a->label.time_s, b->label.time_s);
}
static int compare_method(const struct entry *a, const struct entry *b) {
    return strcmp(a->label.method, b->label.method);
}
static int compare_gpus(const struct entry *a, const struct entry *b) {
    return compare_ints(a->label.gpus, b->label.gpus);
}
static int compare_step(const struct entry *a, const struct entry *b) {
    return compare_ints(a->label.step, b->label.step);
}
static int compare_label(const struct entry *a, const struct entry *b) {
    int order = compare_method(a, b);
    if (!order) order = compare_gpus(a, b);
    return order ? order : compare_step(a, b);
}
static int compare_hosts(const struct entry *a, const struct entry *b) {
    return compare_values(a->hosts, b->hosts);
}
static int compare_devices(const struct entry *a, const struct entry *b) {
    return compare_texts(a->devices, b->devices);
}
static int compare_form(const struct entry *a, const struct entry *b) {
    return compare_ints(a->forms, b->forms);
}
static int compare_size(const struct entry *a, const struct entry *b) {
    return compare_values(a->bytes, b->bytes);
}
static int compare_events(const struct entry *a, const struct entry *b) {
    return compare_values(a->events, b->events);
}
static int compare_steps(const struct entry *a, const struct entry *b) {
    return compare_values(a->steps, b->steps);
}
static int compare_window(const struct entry *a, const struct entry *b) {
    return compare_values(a->window, b->window);
}
static int compare_state(const struct entry *a, const struct entry *b) {
    return compare_texts(a->state, b->state);
}

static const struct {
    const char *name;
    int (*compare)(const struct entry *a, const struct entry *b);
} sorts[] = {{"run", compare_run},       {"time", compare_time},       {"label", compare_label},
             {"method", compare_method}, {"gpus", compare_gpus},       {"step", compare_step},
             {"hosts", compare_hosts},   {"devices", compare_devices}, {"form", compare_form},
             {"size", compare_size},     {"events", compare_events},   {"steps", compare_steps},
             {"window", compare_window}, {"state", compare_state}};
enum { SORTS = sizeof sorts / sizeof *sorts };

static const char *sort_name(int i) {
    return i < SORTS ? sorts[i].name : NULL;
}

struct sorting {
    int sort, descending;
};

static int by_sorting(const void *a, const void *b, void *data) {
    const struct sorting *sorting = data;
    int order = sorts[sorting->sort].compare(a, b);
    if (sorting->descending) order = -order;
    return order ? order : by_order(a, b);
}

/* The N newest, in the order in which they were found. */
static void keep_newest(struct listing *listing, int64_t newest) {
    struct sorting by_time = {1, 1};
    if (!newest || (uint64_t)newest >= listing->count) return;
    qsort_r(listing->entries, listing->count, sizeof *listing->entries, by_sorting, &by_time);
    listing->count = (size_t)newest;
    qsort(listing->entries, listing->count, sizeof *listing->entries, by_order);
}

/* ---- printing ---- */

static const char *value_text(struct listing *listing, struct ids_value value) {
    char buffer[IDS_VALUE_ROOM];
    return value.missing ? "-" : keep(listing, ids_value_format(value, buffer, sizeof buffer));
}

static const char *form_text(unsigned forms) {
    return forms == (XPLANE | JSON) ? "both" : forms & XPLANE ? "xplane" : forms & JSON ? "json" : "-";
}

/* "lcam, 4 GPU, step 100": what the run's name does not say as a whole. */
static const char *label_text(struct listing *listing, const struct entry *entry) {
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
static const char *devices_text(struct listing *listing, const struct entry *entry) {
    const char *note = entry->devices ? strstr(entry->devices, " (") : NULL;
    if (!note) return entry->devices ? ids_text_clean(&listing->arena, entry->devices) : "-";
    const char *text = ids_arena_copy(&listing->arena, entry->devices, (size_t)(note - entry->devices));
    return text ? ids_text_clean(&listing->arena, text) : "";
}

enum column { RUN, TIME, LABEL, HOSTS, DEVICES, FORM, STATE, EVENTS, WINDOW, STEPS, COLUMNS };

/* To the minute. Where only the file's time is known that is said, because copying a file may change it. */
static const char *time_text(struct listing *listing, const struct ids_run_label *label) {
    static const char *const who[] = {
        [IDS_TIME_OF_FILE] = "file's time ", [IDS_TIME_OF_FOLDER] = "", [IDS_TIME_OF_RECORDING] = ""};
    char text[64];
    if (!label->time[0]) return "-";
    snprintf(text, sizeof text, "%s%.16s", who[label->time_source], label->time);
    return keep(listing, text);
}

static void fill_row(struct listing *listing, const struct entry *entry, const char *cells[COLUMNS]) {
    cells[RUN] = ids_text_clean(&listing->arena, entry->run->name);
    cells[TIME] = time_text(listing, &entry->label);
    cells[LABEL] = ids_text_clean(&listing->arena, label_text(listing, entry));
    cells[HOSTS] = value_text(listing, entry->hosts);
    cells[DEVICES] = devices_text(listing, entry);
    cells[FORM] = form_text(entry->forms);
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

/* Below the table, a line each: what has the name of a profile and is none. What belongs to a run that is listed is only in the JSON. */
static void print_passed(struct listing *listing) {
    enum { MOST = 50 }; /* a data set may lie beside a run */
    int width = listing->options->full ? INT_MAX : ids_terminal_width(listing->options->width);
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
            if (passed->same_run || passed->noted || (shown == MOST && !listing->options->full)) continue;
            shown++;
            snprintf(text, sizeof text, "%s: %s", passed->path, passed->why);
            ids_spaces(stdout, 4);
            ids_text_wrap(stdout, ids_text_clean(&listing->arena, text), 4, 6, width);
        }
    }
    if (shown < count) printf("    %zu more: --full or --json\n", count - shown);
}

/* Below the table, whole: why a run is not. */
static void print_reasons(struct listing *listing) {
    int width = listing->options->full ? INT_MAX : ids_terminal_width(listing->options->width);
    for (size_t i = 0, before = 0; i < listing->count; i++) {
        const struct entry *entry = &listing->entries[i];
        char text[1200];
        if (!entry->reason) continue;
        if (!before++) putchar('\n');
        snprintf(text, sizeof text, "%s is %s: %s", entry->run->name, entry->state, entry->reason);
        ids_spaces(stdout, 2);
        ids_text_wrap(stdout, ids_text_clean(&listing->arena, text), 2, 4, width);
    }
}

static int print_text(struct listing *listing, struct ids_error *err) {
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
    ids_grid_fit(&grid, listing->options->full ? 0 : ids_terminal_width(listing->options->width));
    if (listing->count) ids_grid_write(&grid, &listing->arena, "", "", stdout);
    free(cells);
    print_reasons(listing);
    print_passed(listing);
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

static void put_forms(struct ids_json *json, unsigned forms) {
    ids_json_key(json, "forms");
    ids_json_array(json, IDS_JSON_INLINE);
    if (forms & XPLANE) ids_json_text(json, "xplane");
    if (forms & JSON) ids_json_text(json, "json");
    if (forms & OTHER) ids_json_text(json, "other");
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

static void print_json_passed(struct ids_json *json, const struct listing *listing) {
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
        put_forms(&json, entry->forms);
        put_int(&json, "bytes", entry->bytes);
        put_int(&json, "events", entry->events);
        put_int(&json, "steps", entry->steps);
        put_int(&json, "window", entry->window);
        put_text(&json, "state", entry->state);
        put_text(&json, "reason", entry->reason);
        put_files(&json, entry->run);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    print_json_passed(&json, listing);
    ids_json_end(&json);
}

static int make_listing(struct listing *listing, char *const *paths, int path_count, struct ids_error *err) {
    struct sorting sorting = {-1, 0};
    const char *sort = listing->options->sort;
    int code = 0;
    if (sort) {
        sorting.descending = *sort == '-';
        code = ids_parse_choice(sort + sorting.descending, sort_name, &sorting.sort, err);
        if (code) return ids_error_at(err, "--sort");
    }
    listing->lists = calloc((size_t)path_count, sizeof *listing->lists);
    if (!listing->lists) return ids_no_memory(err);
    for (int i = 0; i < path_count && !code; i++) code = add_path(listing, paths[i], err);
    if (code || !listing->count) return code;
    keep_newest(listing, listing->options->newest);
    qsort(listing->entries, listing->count, sizeof *listing->entries, by_place);
    for (size_t i = 0; i < listing->count; i++) read_run(listing, &listing->entries[i]);
    qsort(listing->entries, listing->count, sizeof *listing->entries, by_order);
    if (sort) qsort_r(listing->entries, listing->count, sizeof *listing->entries, by_sorting, &sorting);
    return 0;
}

static int list_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct list_options *options = values;
    struct listing listing = {.options = options, .engine = ids_command_engine("list", options->no_cache)};
    int code = make_listing(&listing, operands, operand_count, err);
    if (!code && listing.options->json) print_json(&listing);
    if (!code && !listing.options->json) code = print_text(&listing, err);
    for (size_t i = 0; i < listing.list_count; i++) ids_run_list_done(&listing.lists[i]);
    ids_engine_done(&listing.engine);
    free(listing.lists);
    free(listing.entries);
    ids_arena_done(&listing.arena);
    return code ? code : listing.failed ? IDS_EXIT_ERROR : IDS_EXIT_DONE;
}

const struct ids_command ids_list_command = {
    .operands = "PATH...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct list_options),
    .run = list_run,
};
