#include "lib/run/listing.h"

#include "lib/analysis/analyzer.h"
#include "lib/base/vec.h"
#include "lib/model/format.h"
#include "lib/run/find_runs.h"
#include "lib/run/format_names.h"
#include "lib/run/history.h"
#include "lib/run/open_run.h"

#include <stdlib.h>
#include <string.h>

static const char *keep(struct ids_listing *listing, const char *text) {
    const char *copy = ids_arena_copy(&listing->arena, text, strlen(text));
    return copy ? copy : "";
}

static struct ids_value metric_value(const struct ids_report *report, const char *id, enum ids_unit unit) {
    const struct ids_metric *metric = ids_report_find(report, id, NULL);
    return metric ? metric->value : ids_no_value(unit);
}

/* Files of the run that could not be read at all: nothing is known to be cut. */
static int has_unreadable(const struct ids_report *report) {
    for (size_t i = 0; i < report->diag_count; i++)
        if (!strcmp(report->diags[i].id, "run.unreadable")) return 1;
    return 0;
}

static void describe(struct ids_listing *listing, const struct ids_report *report, struct ids_listed_run *entry) {
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
    entry->state = report->complete ? "whole" : has_unreadable(report) ? "incomplete" : "truncated";
    if (!report->complete) entry->reason = keep(listing, ids_report_why_incomplete(report));
}

/* "the file is empty" of "'runs/a.pb': the file is empty": the line names the run already. */
static const char *without_path(const char *text) {
    const char *end = *text == '\'' ? strstr(text, "': ") : NULL;
    return end ? end + 3 : text;
}

/* What the names alone say. */
static int add_run(struct ids_listing *listing, const struct ids_run_files *run, struct ids_error *err) {
    struct ids_listed_run *entry = IDS_PUSH(listing->entries, listing->count, listing->room);
    if (!entry) return ids_no_memory(err);
    int64_t bytes = 0;
    for (size_t i = 0; i < run->file_count; i++) bytes += (int64_t)run->files[i].size;
    *entry = (struct ids_listed_run){
        .run = run,
        .order = listing->count,
        .format = ids_format_named(run->files[0].path, 1),
        .also = run->also ? ids_format_named(run->also, 1) : NULL,
        .hosts = ids_int_value(IDS_UNIT_COUNT, (int64_t)run->file_count),
        .bytes = ids_int_value(IDS_UNIT_BYTES, bytes),
        .events = ids_no_value(IDS_UNIT_COUNT),
        .steps = ids_no_value(IDS_UNIT_COUNT),
        .window = ids_no_value(IDS_UNIT_TIME),
    };
    struct ids_kept kept;
    if (!ids_run_kept(run, &kept)) entry->kept = keep(listing, kept.reason);
    ids_label_run(run, &entry->label);
    return 0;
}

static void read_run(struct ids_listing *listing, struct ids_listed_run *entry) {
    struct ids_params params;
    struct ids_report report;
    struct ids_error why = IDS_ERROR_INIT;
    char whole[IDS_ERROR_WHOLE];
    ids_params_default(&params);
    int code = ids_open_run(listing->engine, entry->run, &params, &report, &why);
    if (!code) {
        describe(listing, &report, entry);
        ids_report_done(&report);
        return;
    }
    /* One bad run does not stop the others. */
    listing->failed = 1;
    entry->state = code == IDS_CORRUPT ? "corrupt" : code == IDS_TRUNCATED ? "truncated" : "unreadable";
    entry->reason = keep(listing, without_path(ids_error_whole(&why, whole)));
}

static int add_path(struct ids_listing *listing, const char *path, struct ids_error *err) {
    struct ids_run_list *runs = &listing->lists[listing->list_count];
    struct ids_error why = IDS_ERROR_INIT;
    if (ids_find_runs(listing->engine, path, runs, &why)) {
        char whole[IDS_ERROR_WHOLE];
        ids_engine_note(listing->engine, "%s", ids_error_whole(&why, whole));
        listing->failed = 1;
        return 0;
    }
    listing->list_count++;
    int code = 0;
    for (size_t i = 0; i < runs->run_count && !code; i++) code = add_run(listing, &runs->runs[i], err);
    if (ids_note_unreadable(listing->engine, runs)) listing->failed = 1;
    return code;
}

/* ---- order ---- */

static int by_order(const void *a, const void *b) {
    const struct ids_listed_run *left = a, *right = b;
    return (left->order > right->order) - (left->order < right->order);
}

/* Members of one archive side by side and by their place in it, so that it is read in one pass. */
static int by_place(const void *a, const void *b) {
    const struct ids_run_file *left = ((const struct ids_listed_run *)a)->run->files;
    const struct ids_run_file *right = ((const struct ids_listed_run *)b)->run->files;
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

static int compare_run(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return strcmp(a->run->name, b->run->name);
}
static int compare_time(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_ints(a->label.time_s, b->label.time_s);
}
static int compare_method(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return strcmp(a->label.method, b->label.method);
}
static int compare_gpus(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_ints(a->label.gpus, b->label.gpus);
}
static int compare_step(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_ints(a->label.step, b->label.step);
}
static int compare_label(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    int order = compare_method(a, b);
    if (!order) order = compare_gpus(a, b);
    return order ? order : compare_step(a, b);
}
static int compare_hosts(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_values(a->hosts, b->hosts);
}
static int compare_devices(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_texts(a->devices, b->devices);
}
/* By their order in the registry; runs in several formats come behind those of each. */
static int64_t formats_of(const struct ids_listed_run *run) {
    int64_t formats = 0;
    for (int i = 0; i < ids_format_count; i++) {
        if (run->format == ids_formats[i] || run->also == ids_formats[i]) formats |= (int64_t)1 << i;
    }
    return formats;
}
static int compare_form(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_ints(formats_of(a), formats_of(b));
}
static int compare_size(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_values(a->bytes, b->bytes);
}
static int compare_events(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_values(a->events, b->events);
}
static int compare_steps(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_values(a->steps, b->steps);
}
static int compare_window(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_values(a->window, b->window);
}
static int compare_state(const struct ids_listed_run *a, const struct ids_listed_run *b) {
    return compare_texts(a->state, b->state);
}

static const struct {
    const char *name;
    int (*compare)(const struct ids_listed_run *a, const struct ids_listed_run *b);
} sorts[] = {{"run", compare_run},       {"time", compare_time},       {"label", compare_label},
             {"method", compare_method}, {"gpus", compare_gpus},       {"step", compare_step},
             {"hosts", compare_hosts},   {"devices", compare_devices}, {"form", compare_form},
             {"size", compare_size},     {"events", compare_events},   {"steps", compare_steps},
             {"window", compare_window}, {"state", compare_state}};
enum { SORTS = sizeof sorts / sizeof *sorts };

const char *ids_listing_order(int i) {
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
static void keep_newest(struct ids_listing *listing, int64_t newest) {
    struct sorting by_time = {1, 1};
    if (!newest || (uint64_t)newest >= listing->count) return;
    qsort_r(listing->entries, listing->count, sizeof *listing->entries, by_sorting, &by_time);
    listing->count = (size_t)newest;
    qsort(listing->entries, listing->count, sizeof *listing->entries, by_order);
}

/* ---- */

int ids_listing_make(struct ids_engine *engine, char *const *paths, int path_count, int64_t newest, int order,
                     int is_descending, struct ids_listing *ret_listing, struct ids_error *err) {
    struct sorting sorting = {order, is_descending};
    struct ids_listing *listing = ret_listing;
    int code = 0;
    *listing = (struct ids_listing){.engine = engine};
    listing->lists = calloc((size_t)path_count, sizeof *listing->lists);
    if (!listing->lists) return ids_no_memory(err);
    for (int i = 0; i < path_count && !code; i++) code = add_path(listing, paths[i], err);
    if (code || !listing->count) return code;
    keep_newest(listing, newest);
    qsort(listing->entries, listing->count, sizeof *listing->entries, by_place);
    for (size_t i = 0; i < listing->count; i++) read_run(listing, &listing->entries[i]);
    qsort(listing->entries, listing->count, sizeof *listing->entries, by_order);
    if (order >= 0) qsort_r(listing->entries, listing->count, sizeof *listing->entries, by_sorting, &sorting);
    return 0;
}

void ids_listing_done(struct ids_listing *listing) {
    for (size_t i = 0; i < listing->list_count; i++) ids_run_list_done(&listing->lists[i]);
    free(listing->lists);
    free(listing->entries);
    ids_arena_done(&listing->arena);
    *listing = (struct ids_listing){0};
}
