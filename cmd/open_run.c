#include "cmd/open_run.h"

#include "cmd/file_name.h"
#include "cmd/progress.h"
#include "cmd/reading.h"
#include "cmd/say.h"
#include "lib/analysis/analyzer.h"
#include "lib/io/head.h"
#include "lib/io/memory_limit.h"
#include "lib/io/source.h"
#include "lib/model/builder.h"
#include "lib/model/format.h"
#include "lib/events/query.h"
#include "lib/store/summary.h"
#include "lib/wire/clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- which run ---- */

enum { SUFFIXES_MAX = 32 };

static void add_suffixes(const char *all[SUFFIXES_MAX + 1], const char *const *some) {
    int count = 0;
    while (all[count]) count++;
    for (; some && *some && count < SUFFIXES_MAX; some++) all[count++] = *some;
}

/* The format that claims content which begins with these bytes, or NULL; *more is 1 when what follows may change that. */
static const struct ids_format *best_bid(const uint8_t *head, size_t length, int *more) {
    const struct ids_format *format = NULL;
    int best = 0;
    *more = 0;
    for (int i = 0; i < ids_format_count; i++) {
        int wants = 0, bid = ids_formats[i]->bid(head, length, &wants);
        *more |= wants;
        if (bid <= best) continue;
        best = bid;
        format = ids_formats[i];
    }
    return format;
}

/* Bytes that a format without generic endings claims are no profile by the name of "x.json". */
static int is_profile(const uint8_t *head, size_t length, const char **ret_why, int *more) {
    const struct ids_format *format = best_bid(head, length, more);
    if (format && format->generic_suffixes) return 1;
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", head[at]) && head[at]) at++;
    *ret_why = at == length      ? "it is empty"
               : head[at] == '{' ? "JSON, but no trace: it has no list 'traceEvents'"
               : head[at] == '[' ? "JSON, but no trace: its list holds no events"
                                 : "no profile by its content";
    return 0;
}

enum { DATABASE_RUNS_MAX = 16384 };

static int add_database_run(struct ids_run_list *list, const char *path, struct ids_cell id, struct ids_cell name,
                            struct ids_error *err) {
    struct ids_run_files *run = &list->runs[list->run_count];
    if (id.type != IDS_CELL_INT || id.i < 1 || name.type != IDS_CELL_TEXT)
        return ids_fail(err, IDS_CORRUPT, "damaged database: a run without number or name");
    *run = (struct ids_run_files){.path = strdup(path),
                                  .name = strndup(name.bytes, name.length),
                                  .files = calloc(1, sizeof *run->files),
                                  .number = id.i};
    list->run_count++;
    if (!run->files || !run->path || !run->name) return ids_no_memory(err);
    run->file_count = 1;
    run->files->path = strdup(path);
    struct stat status;
    if (!stat(path, &status)) run->files->size = (uint64_t)status.st_size;
    return run->files->path ? 0 : ids_no_memory(err);
}

/* The runs that a database holds, in the order in which they were imported. */
static int find_in_database(const char *path, struct ids_run_list *ret_list, struct ids_error *err) {
    struct ids_run_list list = {.runs = calloc(DATABASE_RUNS_MAX, sizeof *list.runs)};
    struct ids_query *query = NULL;
    int more = 0;
    int code = list.runs ? ids_query_open(path, &query, err) : ids_no_memory(err);
    ids_reading_watch("list");
    if (!code) code = ids_query_prepare(query, "SELECT id, name FROM run ORDER BY id", err);
    if (code == IDS_USAGE)
        code = ids_fail(err, IDS_UNSUPPORTED, "'%s': a database, but none that idsprof import wrote", path);
    while (!code && list.run_count < DATABASE_RUNS_MAX && (more = ids_query_next(query, err)) > 0)
        code = add_database_run(&list, path, ids_query_cell(query, 0), ids_query_cell(query, 1), err);
    if (!code && more < 0) code = more;
    if (!code && !list.run_count) code = ids_fail(err, IDS_NOT_FOUND, "'%s': a database without a run", path);
    ids_query_free(query);
    ids_reading_unwatch();
    if (code) {
        ids_run_list_done(&list);
        return code;
    }
    *ret_list = list;
    return 0;
}

/* The database that was read last stays open: a list asks it for thousands of runs, and its schema takes longer to read than one of them. */
static struct ids_summaries *summaries;

static int open_summaries(const char *path, struct ids_error *err) {
    if (summaries && !strcmp(ids_summaries_path(summaries), path)) return 0;
    ids_summaries_close(summaries);
    summaries = NULL;
    return ids_summaries_open(path, &summaries, err);
}

/* The report that was stored when the run was imported. */
static int read_from_database(const struct ids_run_files *run, const struct ids_params *params,
                              struct ids_report *report, struct ids_error *err) {
    if (!ids_params_are_default(params))
        return ids_fail(err, IDS_USAGE,
                        "'%s': a database holds the report with default options; for others give the "
                        "profile itself",
                        run->path);
    int code = open_summaries(run->path, err);
    if (!code) code = ids_summaries_read(summaries, run->number, ids_table_def_find, report, err);
    if (code == IDS_NOT_FOUND)
        code = ids_fail(err, IDS_UNSUPPORTED, "'%s': made by another version of idsprof; import the profile again",
                        run->path);
    return code;
}

int ids_find_runs(const char *path, struct ids_run_list *ret_list, struct ids_error *err) {
    if (ids_is_database(path)) return find_in_database(path, ret_list, err);
    const char *suffixes[SUFFIXES_MAX + 1] = {NULL}, *generic[SUFFIXES_MAX + 1] = {NULL};
    for (int i = 0; i < ids_format_count; i++) { /* in the order of formats.def */
        add_suffixes(suffixes, ids_formats[i]->suffixes);
        add_suffixes(generic, ids_formats[i]->generic_suffixes);
    }
    const struct ids_run_kinds kinds = {suffixes, generic, is_profile};
    return ids_runs_find(path, &kinds, ret_list, err);
}

int ids_say_unreadable(const struct ids_run_list *list, const char *command) {
    for (size_t i = 0; i < list->note_count; i++) ids_say(command, "%s", list->notes[i]);
    if (!list->unreadable) return list->damaged != 0;
    char more[32] = "";
    if (list->unreadable_count > 1) snprintf(more, sizeof more, "and %zu more ", list->unreadable_count - 1);
    ids_say(command, "'%s' %scould not be read; the runs in there are left out", list->unreadable, more);
    return 1;
}

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

int ids_choose_run(const struct ids_run_list *list, const char *name, const struct ids_run_files **ret_run,
                   struct ids_error *err) {
    if (!name) {
        *ret_run = &list->runs[list->run_count - 1];
        return 0;
    }
    for (size_t i = list->run_count; i--;) {
        if (strcmp(list->runs[i].name, name) != 0 && !ends_with(list->runs[i].path, name)) continue;
        *ret_run = &list->runs[i];
        return 0;
    }
    const char *newest = list->runs[list->run_count - 1].name;
    return ids_fail(err, IDS_USAGE, "no run '%s' among %zu; the newest is '%s' ('idsprof list' shows all)", name,
                    list->run_count, newest);
}

/* ---- reading ---- */

static int has_ending(const char *path, const char *const *suffixes) {
    for (; suffixes && *suffixes; suffixes++) {
        if (ends_with(path, *suffixes)) return 1;
    }
    return 0;
}

const char *ids_format_named(const char *path) {
    for (int i = 0; i < ids_format_count; i++) {
        if (has_ending(path, ids_formats[i]->suffixes) || has_ending(path, ids_formats[i]->generic_suffixes))
            return ids_formats[i]->name;
    }
    return NULL;
}

/* By content; *ret_format is NULL where it says nothing. */
static int format_of_content(struct ids_source *source, const struct ids_format **ret_format, struct ids_error *err) {
    struct ids_head head = {0};
    int more = 1, code = 0;
    while (!code && more) {
        code = ids_head_read(&head, source, err);
        more = 0;
        if (!code) *ret_format = best_bid(head.bytes, head.length, &more);
        more &= ids_head_has_more(&head);
    }
    if (!code && !head.length)
        code =
            ids_fail(err, IDS_UNSUPPORTED, "%s", ids_source_cut(source) ? ids_source_cut(source) : "the file is empty");
    ids_head_done(&head);
    return code;
}

/* *ret_named: only the file's name speaks for the format. */
static int choose_format(struct ids_source *source, const struct ids_format **ret_format, int *ret_named,
                         struct ids_error *err) {
    int code = format_of_content(source, ret_format, err);
    if (code) return code;
    if (*ret_format) return 0;
    /* Content decides. Where it says nothing, a file that is named like a profile is read as one, to say where it is damaged. */
    for (int i = 0; i < ids_format_count; i++) {
        if (!has_ending(ids_source_path(source), ids_formats[i]->suffixes)) continue;
        *ret_format = ids_formats[i];
        *ret_named = 1;
        return 0;
    }
    return ids_fail(err, IDS_UNSUPPORTED,
                    "not a profile that idsprof can read (expected an XSpace profile, *.xplane.pb, or a Chrome trace of JAX "
                    "or PyTorch, *.trace.json; either also in gzip or an archive)");
}

/* What came out of a source that was cut is a whole file to the format, so its end is said here. */
static int say_cut(const struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    const char *why = ids_source_cut(source);
    if (!why) return 0;
    sink->complete = 0;
    struct ids_diag diag = {.severity = IDS_DAMAGE,
                            .id = "source.cut",
                            .text = why,
                            .offset = (int64_t)ids_source_cut_at(source),
                            .count = 1};
    return sink->ops->diag(sink, &diag, err);
}

/* `source` is closed. */
static int read_source(struct ids_source *source, struct ids_sink *sink, const char **ret_format,
                       struct ids_error *err) {
    const struct ids_format *format = NULL;
    int named = 0;
    int code = choose_format(source, &format, &named, err);
    if (!code && !format->streams) code = ids_source_unpack(source, err);
    if (!code) code = format->read(source, sink, err);
    if (code && named) ids_error_at(err, "not a profile, though named like one");
    if (code == IDS_CORRUPT && ids_source_cut(source)) ids_error_at(err, "%s", ids_source_cut(source));
    if (!code) code = say_cut(source, sink, err);
    if (!code) *ret_format = format->title;
    if (code)
        ids_error_at(err, strcmp(ids_source_path(source), "standard input") ? "'%s'" : "%s", ids_source_path(source));
    ids_source_close(source);
    return code;
}

int ids_read_file(const char *path, struct ids_sink *sink, const char **ret_format, struct ids_error *err) {
    struct ids_source *source = NULL;
    int code = ids_source_open(path, &source, err);
    return code ? code : read_source(source, sink, ret_format, err);
}

int ids_read_run_file(const struct ids_run_file *file, struct ids_sink *sink, const char **ret_format,
                      struct ids_error *err) {
    struct ids_source *source = NULL;
    int code = ids_run_file_open(file, &source, err);
    return code ? code : read_source(source, sink, ret_format, err);
}

int ids_read_run(const struct ids_run_files *run, struct ids_sink *sink, const char **ret_format,
                 struct ids_error *err) {
    for (size_t i = 0; i < run->file_count; i++) {
        char size[IDS_VALUE_ROOM];
        ids_value_format(ids_int_value(IDS_UNIT_BYTES, (int64_t)run->files[i].size), size, sizeof size);
        if (run->files[i].size) {
            ids_progress("reading %.80s (%s)", ids_file_name(run->files[i].path), size);
        } else {
            ids_progress("reading"); /* a pipe */
        }
        char stem[IDS_STEM_BYTES];
        ids_profile_stem(run->files[i].path, stem, sizeof stem);
        sink->file_name = run->file_count > 1 ? ids_intern_z(sink->strings, stem) : 0;
        if (sink->file_name == IDS_NO_TEXT) return ids_no_memory(err);
        int code = ids_read_run_file(&run->files[i], sink, ret_format, err);
        if (code) return code;
    }
    return 0;
}

uint64_t ids_trace_bytes_most(const struct ids_run_files *run) {
    enum { LEAST_BYTES = 8 << 20 }; /* who has less than five times of that is told that memory ran out */
    for (size_t i = 0; i < run->file_count; i++) {
        if (!run->files[i].size) return UINT64_MAX; /* a pipe cannot be read twice */
    }
    uint64_t share = ids_memory_limit() / 5;
    return share > LEAST_BYTES ? share : LEAST_BYTES;
}

/* *ret_trace is NULL when it does not fit, and *until_ps then up to where it would. */
static int try_trace(const struct ids_run_files *run, int64_t *until_ps, struct ids_trace **ret_trace,
                     const char **ret_format, struct ids_error *err) {
    struct ids_builder *builder;
    int code = ids_builder_new(&builder, err);
    if (code) return code;
    ids_builder_bound(builder, ids_trace_bytes_most(run), *until_ps);
    code = ids_read_run(run, ids_builder_sink(builder), ret_format, err);
    int fits = !code && !ids_builder_overflowed(builder, until_ps);
    if (fits) ids_progress("joining events");
    if (fits && (code = ids_builder_finish(builder, ret_trace, err))) ids_error_at(err, "'%s'", run->path);
    if (!fits || code) ids_builder_free(builder);
    return code;
}

int ids_open_trace(const struct ids_run_files *run, int64_t until_ps, struct ids_trace **ret_trace,
                   const char **ret_format, struct ids_error *err) {
    enum { TRIES = 8 }; /* each reads the whole run; the last takes no event, should all be at one moment */
    struct ids_trace *trace = NULL;
    int code = 0;
    for (int i = 1; !trace && !code; i++) {
        if (i == TRIES) until_ps = INT64_MIN;
        code = try_trace(run, &until_ps, &trace, ret_format, err);
    }
    if (!code) *ret_trace = trace;
    return code;
}

/* ---- the report ---- */

/* What the files alone say. Also for a report out of the cache, since the same files may now go by another path. */
static void describe_files(const struct ids_run_files *run, struct ids_report *report) {
    int64_t bytes = 0;
    for (size_t i = 0; i < run->file_count; i++) bytes += (int64_t)run->files[i].size;
    ids_report_property(report, "name", ids_text_value(run->name));
    ids_report_property(report, "path", ids_text_value(run->path));
    ids_report_property(report, "files", ids_int_value(IDS_UNIT_COUNT, (int64_t)run->file_count));
    ids_report_property(report, "bytes", ids_int_value(IDS_UNIT_BYTES, bytes));
    if (!run->also) return;
    /* Of a run that is there in two forms the better one is read; the other is XLA's conversion of it (trace_facts). */
    const char *better =
        ends_with(run->files[0].path, ".pb") || ends_with(run->files[0].path, ".pb.gz")
            ? "of the same run: trace.json lacks programs, kernel details, memory, the links between threads, and "
              "what is beyond a million events (newer writers: five)"
            : "of the same run";
    ids_report_property(report, "not_read",
                        ids_text_value(run->also_count > 1
                                           ? ids_report_text(report, "%s and %zu more %s", ids_file_name(run->also),
                                                             run->also_count - 1, better)
                                           : ids_report_text(report, "%s %s", ids_file_name(run->also), better)));
}

int ids_report_trace(const struct ids_run_files *run, const struct ids_trace *trace, const char *format,
                     const struct ids_params *params, struct ids_report *report, struct ids_findings *ret_findings,
                     struct ids_error *err) {
    describe_files(run, report);
    ids_report_property(report, "format", ids_text_value(format));
    ids_report_property(report, "hosts", ids_int_value(IDS_UNIT_COUNT, (int64_t)trace->host_count));
    for (size_t i = 0; i < trace->diag_count; i++) {
        if (strcmp(trace->diags[i].id, "model.part") != 0) continue; /* said in the first line too */
        ids_report_property(report, "part", ids_text_value(ids_report_text(report, "%s", trace->diags[i].text)));
        ids_report_property(report, "part_bytes", ids_int_value(IDS_UNIT_BYTES, (int64_t)ids_trace_bytes_most(run)));
    }
    ids_progress("analyzing");
    int code = ids_analyze_events(trace, params, report, ret_findings, err);
    if (!code) code = ids_report_check(report, err);
    return code ? ids_error_at(err, "'%s'", run->path) : 0;
}

static int build_report(const struct ids_run_files *run, const struct ids_params *params, struct ids_report *report,
                        struct ids_error *err) {
    struct ids_trace *trace = NULL;
    const char *format = NULL;
    int code = ids_open_trace(run, INT64_MAX, &trace, &format, err);
    if (code) return code;
    code = ids_report_trace(run, trace, format, params, report, NULL, err);
    ids_trace_free(trace);
    return code;
}

/* A report of a part, made where there was less memory than there is now. */
static int could_be_more(const struct ids_run_files *run, const struct ids_report *report) {
    const struct ids_value *part_bytes = ids_report_find_property(report, "part_bytes");
    return part_bytes && !part_bytes->missing && (double)ids_trace_bytes_most(run) > 1.25 * (double)part_bytes->i;
}

int ids_open_run(const struct ids_run_files *run, const struct ids_params *params, int no_cache,
                 struct ids_report *ret_report, struct ids_error *err) {
    struct ids_error ignored = IDS_ERROR_INIT; /* a cache that fails is nobody's problem */
    int cached = !no_cache && ids_params_are_default(params);
    ids_report_init(ret_report);
    if (run->number) return read_from_database(run, params, ret_report, err);
    int code = cached ? ids_cache_load(run, ids_table_def_find, ret_report, &ignored) : IDS_NOT_FOUND;
    if (!code && !could_be_more(run, ret_report)) {
        describe_files(run, ret_report);
        return 0;
    }
    ids_report_done(ret_report);
    ids_report_init(ret_report);
    code = code == IDS_NOMEM ? ids_no_memory(err) : build_report(run, params, ret_report, err);
    if (code) {
        ids_report_done(ret_report);
    } else if (cached) {
        ids_cache_save(run, ret_report, &ignored);
    }
    ids_progress_end();
    return code;
}

/* ---- */

/* What a terminal would not show as it is: bash, zsh and ksh read \ooo inside of $'...'. */
static int quote_bytes(const char *path, char *buffer, size_t size) {
    size_t used = 2;
    buffer[0] = '$';
    buffer[1] = '\'';
    for (; *path && used + 6 < size; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte >= 0x20 && byte < 0x7f && byte != '\'' && byte != '\\')
            buffer[used++] = *path;
        else
            used += (size_t)snprintf(buffer + used, 5, "\\%03o", byte);
    }
    memcpy(buffer + used, "'", 2);
    return (int)used + 1;
}

int ids_shell_quote(const char *path, char *buffer, size_t size) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,:=@%+";
    if (*path && strspn(path, plain) == strlen(path)) return snprintf(buffer, size, "%s", path);
    size_t used = 0;
    if (size < 8) return -1;
    if (!ids_is_clean(path, strlen(path), IDS_CLEAN_LINE)) return quote_bytes(path, buffer, size);
    buffer[used++] = '\'';
    for (; *path && used + 6 < size; path++) {
        if (*path == '\'') {
            memcpy(buffer + used, "'\\''", 4);
            used += 4;
        } else {
            buffer[used++] = *path;
        }
    }
    buffer[used++] = '\'';
    buffer[used] = '\0';
    return (int)used;
}
