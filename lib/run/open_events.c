#include "lib/run/open_events.h"

#include "lib/analysis/analyzer.h"
#include "lib/io/temporary.h"
#include "lib/run/find_runs.h"
#include "lib/run/import_run.h"
#include "lib/run/open_run.h"
#include "lib/store/events_cache.h"
#include "lib/store/summary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fill(const struct ids_engine *engine, const struct ids_run_files *run, const char *path, const char *key,
                struct ids_error *err) {
    struct ids_run_db *db = NULL;
    int code = ids_import_begin(path, &db, err);
    if (!code) code = ids_import_run(engine, db, run, key, err);
    if (!code) ids_engine_progress(engine, "writing");
    if (!code) code = ids_run_db_finish(db, err);
    ids_run_db_free(db);
    return code;
}

/* Puts the database of the run into the cache, in place of what may be there. */
static int import_into_cache(const struct ids_engine *engine, const struct ids_run_files *run, char **ret_database,
                             struct ids_error *err) {
    struct ids_events_entry entry;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* until the caller knows the file */
    int code = ids_events_entry_begin(run, &entry, err);
    if (!code) ids_engine_filling(engine, entry.temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code)
        return ids_error_at(err, "events are kept in the cache, which cannot be used; 'idsprof import' writes "
                                 "them elsewhere");
    code = fill(engine, run, entry.temporary, entry.key, err);
    if (!code) code = ids_events_entry_commit(&entry, err);
    ids_engine_filling(engine, "");
    ids_engine_progress_end(engine);
    if (!code && ret_database && !(*ret_database = strdup(entry.path))) code = ids_no_memory(err);
    ids_events_entry_done(&entry);
    return code;
}

/* In the midst of a query. */
static int import_again(void *opened, struct ids_error *err) {
    const struct ids_opened_events *events = opened;
    ids_engine_sql(events->engine, IDS_SQL_PAUSES);
    int code = import_into_cache(events->engine, events->source, NULL, err);
    ids_engine_sql(events->engine, IDS_SQL_GOES_ON);
    return code;
}

/* What is not in the cache, or not as it should be, is made. */
static int open_run(struct ids_opened_events *events, struct ids_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    int code = ids_events_cache_find(events->source, &events->path, &why);
    if (code == IDS_NOMEM) return ids_no_memory(err);
    return code ? import_into_cache(events->engine, events->source, &events->path, err) : 0;
}

static int own_database(const char *path, struct ids_opened_events *events, struct ids_error *err) {
    events->path = strdup(path);
    return events->path ? 0 : ids_no_memory(err);
}

int ids_events_open(struct ids_engine *engine, const char *path, const char *name, struct ids_opened_events *ret_events,
                    struct ids_error *err) {
    *ret_events = (struct ids_opened_events){.engine = engine, .run = 1};
    if (ids_is_database(path)) {
        if (name) return ids_fail(err, IDS_USAGE, "'%s' is a database; choose a run by the column run", path);
        return own_database(path, ret_events, err);
    }
    int code = ids_find_runs(engine, path, &ret_events->list, err);
    if (code) return code;
    ids_note_unreadable(engine, &ret_events->list);
    code = ids_choose_run(&ret_events->list, name, &ret_events->source, err);
    return code ? code : open_run(ret_events, err);
}

int ids_events_open_run(struct ids_engine *engine, const char *path, const char *name,
                        struct ids_opened_events *ret_events, struct ids_error *err) {
    struct ids_run_list list;
    const struct ids_run_files *run;
    if (!ids_is_database(path)) return ids_events_open(engine, path, name, ret_events, err);
    *ret_events = (struct ids_opened_events){.engine = engine, .run = 1};
    int code = ids_find_runs(engine, path, &list, err);
    if (code) return code;
    code = ids_choose_run(&list, name, &run, err);
    if (!code) ret_events->run = run->number;
    ids_run_list_done(&list);
    return code ? code : own_database(path, ret_events, err);
}

int ids_events_at_hand(struct ids_engine *engine, const struct ids_run_files *run, struct ids_opened_events *events,
                       struct ids_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    events->engine = engine;
    events->run = run->number ? run->number : 1;
    if (run->number) return own_database(run->path, events, err);
    if (engine->no_cache) return 0;
    int code = ids_events_cache_find(run, &events->path, &why);
    if (!code) events->source = run;
    return code == IDS_NOMEM ? ids_no_memory(err) : 0;
}

int ids_events_open_empty(struct ids_engine *engine, struct ids_opened_events *ret_events, struct ids_error *err) {
    struct ids_run_db *db = NULL;
    *ret_events = (struct ids_opened_events){.engine = engine, .run = 1};
    int code = ids_temporary_named(&ret_events->path, err);
    ret_events->is_temporary = !code;
    if (!code) code = ids_import_begin(ret_events->path, &db, err);
    if (!code) code = ids_run_db_finish(db, err);
    ids_run_db_free(db);
    return code;
}

void ids_events_done(struct ids_opened_events *events) {
    if (events->is_temporary) unlink(events->path);
    ids_run_list_done(&events->list);
    free(events->path);
    *events = (struct ids_opened_events){0};
}

int ids_events_query(struct ids_opened_events *events, struct ids_query **ret_query, struct ids_error *err) {
    if (!events->source) return ids_query_open(events->path, ret_query, err);
    const struct ids_query_cached cached = {events->path, import_again, events};
    return ids_query_open_cached(&cached, ret_query, err);
}

int ids_events_report(struct ids_opened_events *events, struct ids_report *report, struct ids_error *err) {
    if (!events->source) return ids_summary_read_run(events->path, events->run, NULL, ids_table_def_find, report, err);
    int code = ids_events_cache_report(events->path, ids_table_def_find, report, err);
    if (code != IDS_CORRUPT && code != IDS_NOT_FOUND) return code;
    code = import_into_cache(events->engine, events->source, NULL, err);
    return code ? code : ids_events_cache_report(events->path, ids_table_def_find, report, err);
}
