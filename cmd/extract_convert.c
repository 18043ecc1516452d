/* `extract` into another format: one reading of each file, through a filter, into an export. */
#include "cmd/extraction.h"
#include "lib/cli/progress.h"
#include "lib/export/filter.h"
#include "lib/export/gzip.h"
#include "lib/export/ordered.h"
#include "lib/redact/redacting.h"
#include "lib/run/format_names.h"
#include "lib/run/open_run.h"
#include "lib/run/read_run.h"

#include <stdio.h>
#include <string.h>

static int name_output(struct ids_extraction *extraction, size_t file, char *buffer, size_t room,
                       struct ids_error *err) {
    char stem[IDS_STEM_BYTES];
    int code = ids_extract_stem(extraction, file, stem, sizeof stem, err);
    if (!code) snprintf(buffer, room, "%s%s", stem, ids_extract_export(extraction->options)->suffix);
    return code;
}

static int fill_filter(const struct ids_extraction *extraction, size_t file, struct ids_filter_params *ret_params) {
    const struct ids_extract_options *options = extraction->options;
    ids_filter_params_default(ret_params);
    ids_extract_window_in(&extraction->window, file, &ret_params->from_ps, &ret_params->to_ps);
    ret_params->min_duration_ps = options->min_duration_ps;
    ret_params->devices = (struct ids_globs){options->devices.at, options->devices.count};
    ret_params->tracks = (struct ids_globs){options->tracks.at, options->tracks.count};
    ret_params->names = (struct ids_globs){options->names.at, options->names.count};
    return !ids_filter_params_are_default(ret_params);
}

/* Reads a file through the filter, and the order where the format wants one, into the export. */
static int feed(struct ids_extraction *extraction, size_t file, struct ids_export *export, struct ids_error *err) {
    const struct ids_run_file *source = &extraction->run->files[file];
    struct ids_filter_params params;
    struct ids_ordered *ordered = NULL;
    struct ids_filter *filter = NULL;
    struct ids_accounts *accounts = NULL;
    struct ids_redacting *redacting = NULL;
    struct ids_sink *sink = &export->sink;
    const char *title;
    int code = ids_extract_export(extraction->options)->wants_order ? ids_ordered_new(sink, &ordered, err) : 0;
    if (!code && ordered) sink = ids_ordered_sink(ordered);
    if (!code && extraction->redacts) { /* behind the filter, which knows events by their own names */
        code = ids_redacting_new(sink, &extraction->redactor, &redacting, err);
        if (!code) sink = ids_redacting_sink(redacting);
    }
    if (!code && fill_filter(extraction, file, &params)) {
        code = ids_filter_new(sink, &params, &filter, err);
        if (!code) sink = ids_filter_sink(filter);
    }
    if (!code && extraction->options->accounts) {
        struct ids_accounts_params what;
        ids_extract_accounts_in(&extraction->accounts, file, &what);
        code = ids_accounts_new(sink, &what, &accounts, err);
        if (!code) sink = ids_accounts_sink(accounts);
    }
    if (!code) code = ids_read_run_file(source, sink, &title, err);
    if (!code && accounts) code = ids_accounts_finish(accounts, err);
    if (!code && ordered) code = ids_ordered_finish(ordered, err);
    if (!code) code = export->finish(export, err);
    if (!code && !sink->complete) extraction->incomplete = 1;
    ids_accounts_free(accounts);
    ids_filter_free(filter);
    ids_redacting_free(redacting);
    ids_ordered_free(ordered);
    return code;
}

static void add_up(struct ids_extraction *extraction, const struct ids_export *export) {
    extraction->events += export->events;
    for (size_t i = 0; i < IDS_EXPORT_LOSSES; i++) {
        uint64_t before = extraction->losses[i].count;
        extraction->losses[i] = export->losses[i];
        extraction->losses[i].count += before;
    }
}

static int convert_into(struct ids_extraction *extraction, size_t file, struct ids_out *out, struct ids_error *err) {
    char stem[IDS_STEM_BYTES];
    struct ids_export *export = NULL;
    struct ids_gzip *gzip = NULL;
    const struct ids_export_format *format = ids_extract_export(extraction->options);
    const struct ids_export_params params = {.host = stem, .only_used = ids_extract_has_filter(extraction->options)};
    int code = ids_extract_stem(extraction, file, stem, sizeof stem, err);
    if (!code && format->packs) code = ids_gzip_new(out, &gzip, err);
    if (!code) code = format->open(gzip ? ids_gzip_out(gzip) : out, &params, &export, err);
    if (!code) code = feed(extraction, file, export, err);
    if (!code && gzip) code = ids_gzip_finish(gzip, err);
    if (!code) add_up(extraction, export);
    ids_export_free(export);
    ids_gzip_free(gzip);
    return code;
}

static int convert_file(struct ids_extraction *extraction, size_t file, struct ids_error *err) {
    char name[1024];
    struct ids_output output;
    int code = name_output(extraction, file, name, sizeof name, err);
    if (code) return code;
    ids_progress("writing %.80s", name);
    code = ids_output_set_open(&extraction->outputs, name, &output, err);
    return code ? code
                : ids_extract_end_output(extraction, &output, convert_into(extraction, file, &output.out, err), err);
}

static int take_accounts(struct ids_extraction *extraction, const struct ids_trace *trace, struct ids_error *err) {
    struct ids_extract_accounts *accounts = &extraction->accounts;
    int code = ids_extract_accounts_of(&extraction->engine, trace, accounts, err);
    if (code) return ids_error_at(err, "'%s'", extraction->run->path);
    if (!accounts->device_count)
        extraction->lack_of_accounts = "; no event of a device is recorded, so there are no accounts";
    else if (accounts->is_part)
        extraction->lack_of_accounts = "; accounts cover only the first part of the run, which fits in memory";
    return 0;
}

/* What the whole run must be read for first: the window, and the accounts. */
static int look_at_run(struct ids_extraction *extraction, struct ids_error *err) {
    const struct ids_extract_options *options = extraction->options;
    const struct ids_run_files *run = extraction->run;
    int bounded = options->from_ps >= 0 || options->to_ps >= 0 || options->steps;
    struct ids_trace *trace;
    const char *format;
    extraction->window = IDS_EXTRACT_WHOLE;
    if (!bounded && !options->accounts) return 0;
    if (!strcmp(run->path, "-")) {
        return ids_fail(err, IDS_USAGE, "%s the run twice, which standard input does not allow",
                        bounded ? "--from, --to and --steps read" : "--accounts reads");
    }
    int code = ids_open_trace(&extraction->engine, run, INT64_MAX, &trace, &format, err);
    if (code) return code;
    if (bounded)
        code = ids_extract_window_of(trace, options->from_ps, options->to_ps, options->steps, &extraction->window, err);
    if (!code && options->accounts) code = take_accounts(extraction, trace, err);
    ids_trace_free(trace);
    return code;
}

int ids_extract_convert(struct ids_extraction *extraction, struct ids_error *err) {
    const struct ids_extract_options *options = extraction->options;
    const struct ids_run_files *run = extraction->run;
    int code = ids_extract_check_single(extraction, run->file_count, err);
    for (size_t i = 0; i < run->file_count && !code; i++) {
        char name[1024];
        code = name_output(extraction, i, name, sizeof name, err);
        if (!code) code = ids_output_check(options->folder, name, options->force, err);
    }
    if (!code) code = look_at_run(extraction, err);
    for (size_t i = 0; i < run->file_count && !code; i++) code = convert_file(extraction, i, err);
    ids_extract_window_done(&extraction->window);
    ids_extract_accounts_done(&extraction->accounts);
    return code;
}
