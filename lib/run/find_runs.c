#include "lib/run/find_runs.h"

#include "lib/events/query.h"
#include "lib/model/format.h"
#include "lib/run/capture_path.h"
#include "lib/run/file_name.h"
#include "lib/run/history.h"
#include "lib/run/partial_order.h"
#include "lib/run/read_run.h"
#include "lib/run/run_label.h"
#include "lib/store/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SUFFIXES_MAX = 32 };

static void add_suffixes(const char *all[SUFFIXES_MAX + 1], const char *const *some) {
    int count = 0;
    while (all[count]) count++;
    for (; some && *some && count < SUFFIXES_MAX; some++) all[count++] = *some;
}

/* Bytes that a format without generic endings claims are no profile by the name of "x.json". */
static int is_profile(const uint8_t *head, size_t length, const char **ret_why, int *more) {
    const struct ids_format *format = ids_format_of_bytes(head, length, more);
    if (format && format->generic_suffixes) return 1;
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", head[at]) && head[at]) at++;
    *ret_why = at == length      ? "it is empty"
               : head[at] == '{' ? "JSON, but not a trace: it has no list 'traceEvents'"
               : head[at] == '[' ? "JSON, but not a trace: its list holds no events"
                                 : "its content is not a profile";
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

/* One without runs may be of another command. */
static int refuse_database(struct ids_query *query, const char *path, struct ids_error *err) {
    struct ids_error ignored = IDS_ERROR_INIT;
    if (ids_query_prepare(query, "SELECT schema FROM track", &ignored))
        return ids_fail(err, IDS_UNSUPPORTED, "'%s': a database, but none of idsprof", path);
    ids_fail(err, IDS_UNSUPPORTED, "'%s': figures of many runs, which 'idsprof track' keeps", path);
    return ids_hint(err, "'idsprof track show' prints their course");
}

/* The runs that a database holds, in the order in which they were imported. */
static int find_in_database(const struct ids_engine *engine, const char *path, struct ids_run_list *ret_list,
                            struct ids_error *err) {
    struct ids_run_list list = {.runs = calloc(DATABASE_RUNS_MAX, sizeof *list.runs)};
    struct ids_query *query = NULL;
    int more = 0;
    int code = list.runs ? ids_query_open(path, &query, err) : ids_no_memory(err);
    ids_engine_sql(engine, IDS_SQL_BEGINS);
    if (!code) code = ids_query_prepare(query, "SELECT id, name FROM run ORDER BY id", err);
    if (code == IDS_USAGE) code = refuse_database(query, path, err);
    while (!code && list.run_count < DATABASE_RUNS_MAX && (more = ids_query_next(query, err)) > 0)
        code = add_database_run(&list, path, ids_query_cell(query, 0), ids_query_cell(query, 1), err);
    if (!code && more < 0) code = more;
    if (!code && !list.run_count) code = ids_fail(err, IDS_NOT_FOUND, "'%s': a database without runs", path);
    ids_query_free(query);
    ids_engine_sql(engine, IDS_SQL_ENDS);
    if (code) {
        ids_run_list_done(&list);
        return code;
    }
    *ret_list = list;
    return 0;
}

static int may_open_files(const struct ids_engine *engine, const struct ids_run_file *files, size_t count,
                          struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < count && !code; i++)
        code = ids_engine_may_open(engine, files[i].archive ? files[i].archive : files[i].path, err);
    return code;
}

static int may_open_run(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_error *err) {
    int code = may_open_files(engine, run->files, run->file_count, err);
    return code ? code : may_open_files(engine, run->beside, run->beside_count, err);
}

/* Links lead anywhere. A run that leads outside is left out; if all do, that is why there is none. */
static int leave_out(const struct ids_engine *engine, struct ids_run_list *list, struct ids_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    for (size_t i = list->run_count; i--;) {
        if (!may_open_run(engine, &list->runs[i], &why)) continue;
        ids_engine_note(engine, "left out: %s", why.text);
        ids_run_list_drop(list, i);
    }
    if (list->run_count) return 0;
    ids_run_list_done(list);
    return ids_error_pass(err, &why);
}

static int origin_of(const struct ids_run_file *file, char *path, size_t room) {
    struct ids_partial_head head;
    if (!ids_partial_head_of(file, &head)) return 0;
    snprintf(path, room, "%s", head.path);
    return 1;
}

static int find(const struct ids_engine *engine, const char *path, struct ids_run_list *ret_list,
                struct ids_error *err) {
    if (ids_is_database(path)) return find_in_database(engine, path, ret_list, err);
    const char *suffixes[SUFFIXES_MAX + 1] = {NULL}, *generic[SUFFIXES_MAX + 1] = {NULL},
                                        *beside[SUFFIXES_MAX + 1] = {NULL};
    for (int i = 0; i < ids_format_count; i++) { /* in the order of formats.def */
        add_suffixes(suffixes, ids_formats[i]->suffixes);
        add_suffixes(generic, ids_formats[i]->generic_suffixes);
        add_suffixes(beside, ids_formats[i]->beside_suffixes);
    }
    const struct ids_run_kinds kinds = {suffixes, generic, is_profile, beside, IDS_PARTIAL_SUFFIX, origin_of};
    return ids_runs_find(path, &kinds, ret_list, err);
}

int ids_find_runs(const struct ids_engine *engine, const char *path, struct ids_run_list *ret_list,
                  struct ids_error *err) {
    int code = ids_engine_may_open(engine, path, err);
    if (!code) code = find(engine, path, ret_list, err);
    if (!code) code = leave_out(engine, ret_list, err);
    for (size_t i = 0; !code && i < ret_list->run_count; i++) {
        code = ids_partials_arrange(engine, &ret_list->runs[i], err);
        if (code) ids_run_list_done(ret_list);
    }
    return code;
}

int ids_note_unreadable(const struct ids_engine *engine, const struct ids_run_list *list) {
    for (size_t i = 0; i < list->note_count; i++) ids_engine_note(engine, "%s", list->notes[i]);
    if (!list->unreadable) return list->damaged != 0;
    char more[32] = "";
    if (list->unreadable_count > 1) snprintf(more, sizeof more, "and %zu more ", list->unreadable_count - 1);
    ids_engine_note(engine, "'%s' %scould not be read; the runs in there are left out", list->unreadable, more);
    return 1;
}

/* By the names of folders, else by the times of files, as `idsprof list --newest` has it; of those of one second the
 * last. *ret_source says by which of them. */
static const struct ids_run_files *newest_run(const struct ids_run_list *list, enum ids_time_source *ret_source) {
    const struct ids_run_files *newest = NULL;
    int64_t newest_s = 0;
    *ret_source = IDS_TIME_OF_FOLDER;
    for (size_t i = 0; i < list->run_count; i++) {
        struct ids_run_label label;
        if (!list->runs[i].file_count) return &list->runs[list->run_count - 1]; /* of a database: as imported */
        ids_label_run(&list->runs[i], &label);
        if (newest && label.time_s < newest_s) continue;
        newest = &list->runs[i];
        newest_s = label.time_s;
        *ret_source = label.time_source;
    }
    return newest;
}

static int is_in_capture(const char *path, const char *capture, size_t length) {
    size_t folder;
    char *whole = ids_capture_path(path, &folder);
    int is_in = whole && folder == length && !memcmp(whole, capture, length);
    free(whole);
    return is_in;
}

/* Of a capture that kept windows with slow steps (--when), the one that recorded most of one, among those of the newest
 * run's folder; *ret_kept is how many there are, *ret_with what it has. What ran when the program ended may be no step,
 * and takes the place of none that is one. */
static const struct ids_run_files *slowest_kept(const struct ids_run_list *list, size_t *ret_kept,
                                                const char **ret_with) {
    enum ids_time_source source;
    const struct ids_run_files *newest = newest_run(list, &source), *slowest = newest;
    size_t length = 0;
    char *capture = newest->file_count ? ids_capture_path(newest->files[0].path, &length) : NULL;
    int64_t longest_ns = -1, recorded_ns = -1, took_ns = -1;
    int goes_on = 1, one_goes_on = 0;
    *ret_kept = 0;
    for (size_t i = 0; capture && i < list->run_count; i++) {
        const struct ids_run_files *run = &list->runs[i];
        struct ids_kept kept;
        if (!run->file_count || !is_in_capture(run->files[0].path, capture, length) || ids_run_kept(run, &kept))
            continue;
        ++*ret_kept;
        one_goes_on |= kept.goes_on;
        if (kept.goes_on > goes_on) continue;
        if (kept.goes_on < goes_on) longest_ns = recorded_ns = -1;
        goes_on = kept.goes_on;
        if (kept.took_ns > longest_ns) longest_ns = kept.took_ns;
        if (kept.took_ns - kept.late_ns <= recorded_ns) continue;
        recorded_ns = kept.took_ns - kept.late_ns;
        took_ns = kept.took_ns;
        slowest = run;
    }
    free(capture);
    *ret_with = took_ns != longest_ns     ? "that recorded most of a slow step"
                : one_goes_on && !goes_on ? "with the slowest step that ended"
                                          : "with the slowest step";
    return slowest;
}

static int is_of_partials(const struct ids_run_files *run) {
    return run->file_count && ids_name_ends_with(run->files[0].path, IDS_PARTIAL_SUFFIX);
}

void ids_note_choice(const struct ids_engine *engine, const struct ids_run_list *list) {
    size_t kept;
    const char *with;
    const struct ids_run_files *run = slowest_kept(list, &kept, &with);
    if (kept > 1)
        ids_engine_note(engine, "%zu windows were kept; this is the one %s, %s (--run chooses another)", kept, with,
                        ids_file_name(run->name));
    size_t partials = 0;
    for (size_t i = 0; i < list->run_count; i++) partials += is_of_partials(&list->runs[i]) != 0;
    if (partials && list->run_count > 1)
        ids_engine_note(engine,
                        "%zu of %zu runs are partials, and this is one run, %s (--run chooses another); what is of one "
                        "run belongs in one folder",
                        partials, list->run_count, run->name);
    enum ids_time_source source;
    newest_run(list, &source);
    if (!kept && !partials && list->run_count > 1 && source == IDS_TIME_OF_FILE)
        ids_engine_note(
            engine,
            "%zu runs are here, whose names say nothing of when they were recorded; this is the one whose "
            "file is the newest, %s (--run chooses another, and 'idsprof list' says when each was recorded)",
            list->run_count, run->name);
}

int ids_choose_run(const struct ids_run_list *list, const char *name, const struct ids_run_files **ret_run,
                   struct ids_error *err) {
    if (!name) {
        size_t kept;
        const char *with;
        *ret_run = slowest_kept(list, &kept, &with);
        return 0;
    }
    for (size_t i = list->run_count; i--;) {
        if (strcmp(list->runs[i].name, name) != 0 && !ids_name_ends_with(list->runs[i].path, name)) continue;
        *ret_run = &list->runs[i];
        return 0;
    }
    enum ids_time_source source;
    const char *newest = newest_run(list, &source)->name;
    ids_fail(err, IDS_USAGE, "no run '%s' among %zu; the newest is '%s'", name, list->run_count, newest);
    return ids_hint(err, "'idsprof list' shows all");
}

int ids_need_profile(const struct ids_run_files *run, struct ids_error *err) {
    if (!run->number) return 0;
    ids_fail(err, IDS_UNSUPPORTED, "'%s': an idsprof database: it holds the report and rows of events, not the profile",
             run->path);
    return ids_hint(err, "'idsprof report' and 'idsprof query' read it");
}
