#include "lib/run/open_run.h"

#include "lib/analysis/analyzer.h"
#include "lib/base/memory.h"
#include "lib/base/parallel.h"
#include "lib/io/memory_limit.h"
#include "lib/io/temporary.h"
#include "lib/run/capture_path.h"
#include "lib/run/captured_steps.h"
#include "lib/run/file_name.h"
#include "lib/run/format_names.h"
#include "lib/run/history.h"
#include "lib/run/read_cached.h"
#include "lib/run/read_run.h"
#include "lib/store/summary.h"
#include "lib/wire/sidecar_name.h"

#include <string.h>
#include <unistd.h>

/* ---- the trace ---- */

uint64_t ids_trace_bytes_most(const struct ids_run_files *run) {
    enum { LEAST_BYTES = 8 << 20 }; /* who has less than five times of that is told that memory ran out */
    for (size_t i = 0; i < run->file_count; i++) {
        if (!run->files[i].size && !run->files[i].unreadable) return UINT64_MAX; /* a pipe cannot be read twice */
    }
    uint64_t share = ids_memory_limit() / 5;
    return share > LEAST_BYTES ? share : LEAST_BYTES;
}

void ids_bound_trace(struct ids_builder *builder, const struct ids_run_files *run, int64_t until_ps) {
    enum { FAR_BYTES = 32 << 20 }; /* of some hosts together, below which a file is not worth it */
    const uint64_t most = ids_trace_bytes_most(run);
    ids_builder_bound(builder, most, until_ps);
    if (run->file_count < 2) return;
    ids_memory_give_back_large();
    /* Where memory is short, the next host needs room beside them. */
    ids_builder_put_far(builder, ids_temporary_on_disk, most / 2 < FAR_BYTES ? most / 2 : FAR_BYTES);
}

/* Of a run of one file; a pipe cannot be read twice, and of many files all would be. */
static int may_begin_again(const struct ids_run_files *run) {
    return run->file_count == 1 && run->files[0].size;
}

/* *ret_builder is the caller's also where this fails. */
static int read_into(const struct ids_engine *engine, const struct ids_run_files *run, int64_t until_ps,
                     int by_partials, struct ids_builder **ret_builder, const char **ret_format,
                     struct ids_error *err) {
    for (int again = may_begin_again(run);; again = 0) {
        int code = ids_builder_new(ret_builder, err);
        if (code) return code;
        struct ids_sink *sink = ids_builder_sink(*ret_builder);
        ids_bound_trace(*ret_builder, run, until_ps);
        sink->may_begin_again = again != 0;
        code = by_partials ? ids_read_by_partials(engine, run, *ret_builder, ids_trace_bytes_most(run), ret_format, err)
                           : ids_read_run(engine, run, sink, ret_format, err);
        if (!sink->begins_again) return code;
        *err = (struct ids_error)IDS_ERROR_INIT;
        ids_builder_free(*ret_builder);
        *ret_builder = NULL;
    }
}

/* *ret_trace is NULL when it does not fit, and *until_ps then up to where it would. */
static int try_trace(const struct ids_engine *engine, const struct ids_run_files *run, int64_t *until_ps,
                     int by_partials, struct ids_trace **ret_trace, const char **ret_format, struct ids_error *err) {
    struct ids_builder *builder = NULL;
    int code = read_into(engine, run, *until_ps, by_partials, &builder, ret_format, err);
    int fits = !code && !ids_builder_overflowed(builder, until_ps);
    if (fits) ids_engine_progress(engine, "joining events");
    if (fits && (code = ids_builder_finish(builder, ret_trace, err))) ids_error_at(err, "'%s'", run->path);
    if (!fits || code) ids_builder_free(builder);
    return code;
}

int ids_open_trace(const struct ids_engine *engine, const struct ids_run_files *run, int64_t until_ps,
                   struct ids_trace **ret_trace, const char **ret_format, struct ids_error *err) {
    enum { TRIES = 8 }; /* each reads the whole run; the last takes no event, should all be at one moment */
    struct ids_trace *trace = NULL;
    int code = 0;
    if (until_ps == INT64_MAX && ids_reads_by_partials(engine, run)) {
        code = try_trace(engine, run, &until_ps, 1, &trace, ret_format, err);
        if (code == IDS_LIMIT) {
            code = 0;
            *err = (struct ids_error)IDS_ERROR_INIT;
        }
    }
    for (int i = 1; !trace && !code; i++) {
        if (i == TRIES) until_ps = INT64_MIN;
        code = try_trace(engine, run, &until_ps, 0, &trace, ret_format, err);
    }
    if (!code) *ret_trace = trace;
    return code;
}

/* ---- the report ---- */

/* Windows of one process are told by the folder of its capture, which has the record of it. A folder without one may
 * hold the runs of many. */
static void describe_process(const struct ids_run_files *run, struct ids_report *report) {
    size_t folder;
    char *path = ids_capture_path(run->file_count ? run->files[0].path : run->path, &folder);
    const char *sidecar = path ? ids_report_text(report, "%.*s/" IDS_SIDECAR, (int)folder, path) : NULL;
    if (sidecar && !access(sidecar, F_OK))
        ids_report_property(report, "process", ids_text_value(ids_report_text(report, "%.*s", (int)folder, path)));
    free(path);
}

/* A run that is there in two forms is read from the better one; the other is a conversion of it (trace_facts). */
static const char *why_not_read(const struct ids_run_files *run, struct ids_report *report) {
    const struct ids_format *read = ids_format_named(run->files[0].path, 1), *other = ids_format_named(run->also, 1);
    if (read == other || !other || !other->lacks) return "of the same run";
    return ids_report_text(report, "of the same run: %s", other->lacks);
}

/* How the steps of the finished report are among those that the capture saw: the same for one that was stored. */
static void describe_capture(const struct ids_run_files *run, struct ids_report *report) {
    ids_captured_steps_describe(run, report);
    ids_history_warn(run, report);
}

/* What the files alone say. Also for a report out of the cache, since the same files may now go by another path. */
static void describe_files(const struct ids_run_files *run, struct ids_report *report) {
    struct ids_kept kept;
    int64_t bytes = 0;
    for (size_t i = 0; i < run->file_count; i++) bytes += (int64_t)run->files[i].size;
    ids_report_property(report, "name", ids_text_value(run->name));
    ids_report_property(report, "path", ids_text_value(run->path));
    describe_process(run, report);
    if (!ids_run_kept(run, &kept))
        ids_report_property(report, "kept", ids_text_value(ids_report_text(report, "%s", kept.reason)));
    ids_report_property(report, "files", ids_int_value(IDS_UNIT_COUNT, (int64_t)run->file_count));
    ids_report_property(report, "bytes", ids_int_value(IDS_UNIT_BYTES, bytes));
    if (!run->also) return;
    const char *why = why_not_read(run, report);
    ids_report_property(report, "not_read",
                        ids_text_value(run->also_count > 1
                                           ? ids_report_text(report, "%s and %zu more %s", ids_file_name(run->also),
                                                             run->also_count - 1, why)
                                           : ids_report_text(report, "%s %s", ids_file_name(run->also), why)));
}

int ids_report_trace(const struct ids_engine *engine, const struct ids_run_files *run, const struct ids_trace *trace,
                     const char *format, const struct ids_params *params, struct ids_report *report,
                     struct ids_findings *ret_findings, struct ids_error *err) {
    describe_files(run, report);
    ids_report_property(report, "format", ids_text_value(format));
    ids_report_property(report, "hosts", ids_int_value(IDS_UNIT_COUNT, (int64_t)trace->host_count));
    for (size_t i = 0; i < trace->diag_count; i++) {
        if (strcmp(trace->diags[i].id, "model.part") != 0) continue; /* said in the first line too */
        ids_report_property(report, "part", ids_text_value(ids_report_text(report, "%s", trace->diags[i].text)));
        ids_report_property(report, "part_bytes", ids_int_value(IDS_UNIT_BYTES, (int64_t)ids_trace_bytes_most(run)));
    }
    ids_engine_progress(engine, "analyzing");
    int code = ids_analyze_events(trace, params, report, ret_findings, err);
    if (!code) ids_history_describe(run, report);
    if (!code) code = ids_report_check(report, err);
    return code ? ids_error_at(err, "'%s'", run->path) : 0;
}

static int make_report(const struct ids_engine *engine, const struct ids_run_files *run,
                       const struct ids_params *params, struct ids_report *report, struct ids_error *err) {
    struct ids_trace *trace = NULL;
    const char *format = NULL;
    int code = ids_open_trace(engine, run, INT64_MAX, &trace, &format, err);
    if (code) return code;
    code = ids_report_trace(engine, run, trace, format, params, report, NULL, err);
    ids_trace_free(trace);
    return code;
}

static int build_report(const struct ids_engine *engine, const struct ids_run_files *run,
                        const struct ids_params *params, struct ids_report *report, struct ids_error *err) {
    ids_workers_keep();
    int code = make_report(engine, run, params, report, err);
    ids_workers_let_go();
    return code;
}

/* A report of a part, made where there was less memory than there is now. */
static int could_be_more(const struct ids_run_files *run, const struct ids_report *report) {
    const struct ids_value *part_bytes = ids_report_find_property(report, "part_bytes");
    return part_bytes && !part_bytes->missing && (double)ids_trace_bytes_most(run) > 1.25 * (double)part_bytes->i;
}

/* ---- a stored one ---- */

/* The database that was read last stays open: a list asks it for thousands of runs, and its schema takes longer to read
 * than one of them. */
static int open_summaries(struct ids_engine *engine, const char *path, struct ids_error *err) {
    if (engine->summaries && !strcmp(ids_summaries_path(engine->summaries), path)) return 0;
    ids_engine_done(engine);
    return ids_summaries_open(path, &engine->summaries, err);
}

/* The report that was stored when the run was imported. */
static int read_from_database(struct ids_engine *engine, const struct ids_run_files *run,
                              const struct ids_params *params, struct ids_report *report, struct ids_error *err) {
    if (!ids_params_are_default(params))
        return ids_fail(err, IDS_USAGE,
                        "'%s': a database holds the report with default options; for others give the "
                        "profile itself",
                        run->path);
    int code = open_summaries(engine, run->path, err);
    if (!code) code = ids_summaries_read(engine->summaries, run->number, ids_table_def_find, report, err);
    if (code == IDS_NOT_FOUND)
        code = ids_fail(err, IDS_UNSUPPORTED, "'%s': made by another version of idsprof; import the profile again",
                        run->path);
    return code;
}

/* ---- */

int ids_open_run(struct ids_engine *engine, const struct ids_run_files *run, const struct ids_params *params,
                 struct ids_report *ret_report, struct ids_error *err) {
    struct ids_error ignored = IDS_ERROR_INIT; /* a cache that fails is nobody's problem */
    int cached = !engine->no_cache && ids_params_are_default(params);
    ids_report_init(ret_report);
    if (run->number) return read_from_database(engine, run, params, ret_report, err);
    int code =
        cached && !params->picture ? ids_cache_load(run, ids_table_def_find, ret_report, &ignored) : IDS_NOT_FOUND;
    if (!code && !could_be_more(run, ret_report)) {
        describe_files(run, ret_report);
        ids_history_describe(run, ret_report);
        describe_capture(run, ret_report);
        return 0;
    }
    ids_report_done(ret_report);
    ids_report_init(ret_report);
    code = code == IDS_NOMEM ? ids_no_memory(err) : build_report(engine, run, params, ret_report, err);
    if (code) {
        ids_report_done(ret_report);
    } else if (cached) {
        ids_cache_save(run, ret_report, &ignored);
    }
    if (!code) describe_capture(run, ret_report); /* after the report is stored: it is about the folder */
    ids_engine_progress_end(engine);
    return code;
}
