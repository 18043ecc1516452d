/* The calls of include/idsprof.h, over lib/run. */
#include "include/idsprof.h"

#include "lib/analysis/grades.h"
#include "lib/run/find_runs.h"
#include "lib/run/open_events.h"
#include "lib/run/open_run.h"
#include "lib/run/sections.h"
#include "lib/store/db_limit.h"
#include "lib/wire/clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)IDSPROF_NO_MEMORY == IDS_NOMEM && (int)IDSPROF_IO == IDS_IO &&
                   (int)IDSPROF_CORRUPT == IDS_CORRUPT && (int)IDSPROF_TRUNCATED == IDS_TRUNCATED &&
                   (int)IDSPROF_UNSUPPORTED == IDS_UNSUPPORTED && (int)IDSPROF_LIMIT == IDS_LIMIT &&
                   (int)IDSPROF_USAGE == IDS_USAGE && (int)IDSPROF_NOT_FOUND == IDS_NOT_FOUND,
               "codes are stable");
_Static_assert(sizeof((struct idsprof_error *)NULL)->text == sizeof((struct ids_error *)NULL)->text, "texts fit");

enum { SQL_LIMIT_MS = 60000 };
#define PS_PER_MS INT64_C(1000000000)
#define SQL_BYTES (INT64_C(2) << 30) /* of memory, as the program allows */

struct idsprof_run {
    struct ids_engine engine;
    struct ids_engine_calls calls;
    struct idsprof_options options;
    char *path, *name;
    struct ids_run_list list;
    const struct ids_run_files *files;
    char *json;
    struct ids_opened_events events; /* path NULL: not asked for yet */
};

struct idsprof_query {
    struct ids_query *query;
    int is_over; /* the engine would begin anew */
};

const char *idsprof_version(void) {
    return IDS_VERSION;
}

/* A message quotes paths and names of others, and may have been cut within a character. */
static void copy_clean(const char *from, char *to, size_t room) {
    struct ids_buffer clean = {0};
    ids_clean_put(&clean, from, strlen(from), IDS_CLEAN_LINE);
    size_t length = clean.length < room ? clean.length : room - 1;
    while (length < clean.length && length && (clean.at[length] & 0xc0) == 0x80) length--; /* whole characters */
    if (length && !clean.failed) memcpy(to, clean.at, length);
    to[clean.failed ? 0 : length] = '\0';
    ids_buffer_done(&clean);
}

static int hand_over(const struct ids_error *from, int code, struct idsprof_error *to) {
    if (!to) return code;
    to->code = code < 0 ? code : 0;
    to->text[0] = '\0';
    if (code < 0) copy_clean(from->text, to->text, sizeof to->text);
    return code;
}

/* ---- a run ---- */

static void pass_progress(void *own, const char *what) {
    const struct idsprof_run *run = own;
    char text[256];
    if (!run->options.progress) return;
    if (what) copy_clean(what, text, sizeof text);
    run->options.progress(run->options.own, what ? text : NULL);
}

static void pass_note(void *own, const char *text) {
    const struct idsprof_run *run = own;
    char clean[1024];
    if (!run->options.note) return;
    copy_clean(text, clean, sizeof clean);
    run->options.note(run->options.own, clean);
}

static int find(struct idsprof_run *run, struct ids_error *err) {
    int code = ids_find_runs(&run->engine, run->path, &run->list, err);
    if (code) return code;
    ids_note_unreadable(&run->engine, &run->list);
    return ids_choose_run(&run->list, run->name, &run->files, err);
}

int idsprof_open(const char *path, const struct idsprof_options *options, idsprof_run **ret_run,
                 struct idsprof_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    struct idsprof_run *run = calloc(1, sizeof *run);
    *ret_run = NULL;
    if (!run) return hand_over(&why, ids_no_memory(&why), err);
    if (options) /* a caller that was built with an older header has fewer fields */
        memcpy(&run->options, options, options->size < sizeof run->options ? options->size : sizeof run->options);
    run->calls = (struct ids_engine_calls){.progress = pass_progress, .note = pass_note};
    run->engine = (struct ids_engine){.calls = &run->calls, .own = run, .no_cache = run->options.no_cache};
    run->path = strdup(path);
    run->name = run->options.run ? strdup(run->options.run) : NULL;
    int is_short = !run->path || (run->options.run && !run->name);
    int code = is_short ? ids_no_memory(&why) : find(run, &why);
    if (code)
        idsprof_close(run);
    else
        *ret_run = run;
    return hand_over(&why, code, err);
}

static int render(const struct ids_report *report, char **ret_json, struct ids_error *err) {
    size_t length;
    struct ids_render how = {0};
    how.sections = ids_sections(&how.section_count);
    FILE *out = open_memstream(ret_json, &length);
    if (!out) return ids_no_memory(err);
    int code = ids_render_json(report, &how, out, err);
    if (fclose(out) && !code) code = ids_no_memory(err);
    return code;
}

int idsprof_report_json(idsprof_run *run, const char **ret_json, struct idsprof_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    struct ids_params params;
    struct ids_report report;
    int code = 0;
    if (!run->json) {
        ids_params_default(&params);
        code = ids_open_run(&run->engine, run->files, &params, &report, &why);
        if (!code) {
            ids_grade_standard(&report); /* a stored report has grades, but not the thresholds that they follow from */
            code = render(&report, &run->json, &why);
            ids_report_done(&report);
        }
        if (code) {
            free(run->json);
            run->json = NULL;
        }
    }
    *ret_json = run->json;
    return hand_over(&why, code, err);
}

void idsprof_close(idsprof_run *run) {
    if (!run) return;
    ids_events_done(&run->events);
    ids_run_list_done(&run->list);
    ids_engine_done(&run->engine);
    free(run->path);
    free(run->name);
    free(run->json);
    free(run);
}

/* ---- SQL ---- */

int idsprof_query_open(idsprof_run *run, const char *sql, idsprof_query **ret_query, struct idsprof_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    struct idsprof_query *query = calloc(1, sizeof *query);
    int64_t ms = run->options.sql_limit_ms ? run->options.sql_limit_ms : SQL_LIMIT_MS;
    *ret_query = NULL;
    int code = query ? 0 : ids_no_memory(&why);
    ids_db_limit_set(ms > 0 && ms < INT64_MAX / PS_PER_MS ? ms * PS_PER_MS : 0, SQL_BYTES);
    if (!code && !run->events.path) {
        code = ids_events_open_run(&run->engine, run->path, run->name, &run->events, &why);
        if (code) ids_events_done(&run->events);
    }
    if (!code) code = ids_events_query(&run->events, &query->query, &why);
    if (!code) code = ids_query_prepare(query->query, sql, &why);
    if (code)
        idsprof_query_close(query);
    else
        *ret_query = query;
    return hand_over(&why, code, err);
}

int idsprof_query_columns(const idsprof_query *query) {
    return ids_query_columns(query->query);
}

const char *idsprof_query_column(const idsprof_query *query, int column) {
    return ids_query_column(query->query, column);
}

int idsprof_query_next(idsprof_query *query, struct idsprof_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    int code = query->is_over ? 0 : ids_query_next(query->query, &why);
    query->is_over = !code;
    return hand_over(&why, code, err);
}

struct idsprof_value idsprof_query_value(const idsprof_query *query, int column) {
    static const enum idsprof_type types[] = {[IDS_CELL_NULL] = IDSPROF_NULL,
                                              [IDS_CELL_INT] = IDSPROF_INTEGER,
                                              [IDS_CELL_REAL] = IDSPROF_REAL,
                                              [IDS_CELL_TEXT] = IDSPROF_TEXT,
                                              [IDS_CELL_BLOB] = IDSPROF_BLOB};
    const struct ids_cell cell = ids_query_cell(query->query, column);
    return (struct idsprof_value){types[cell.type], cell.i, cell.d, cell.bytes, cell.length};
}

void idsprof_query_close(idsprof_query *query) {
    if (!query) return;
    ids_query_free(query->query);
    free(query);
}
