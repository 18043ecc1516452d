#include "cmd/open_events.h"

#include "cmd/import_run.h"
#include "cmd/open_run.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/reading.h"
#include "lib/analysis/analyzer.h"
#include "lib/store/events_cache.h"
#include "lib/store/summary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int fill(const struct ids_run_files *run, const char *path, const char *key, struct ids_error *err) {
    struct ids_run_db *db = NULL;
    int code = ids_import_begin(path, &db, err);
    if (!code) code = ids_import_run(db, run, key, err);
    if (!code) ids_progress("writing");
    if (!code) code = ids_run_db_finish(db, err);
    ids_run_db_free(db);
    return code;
}

/* Puts the database of the run into the cache, in place of what may be there. */
static int import_into_cache(const struct ids_run_files *run, char **ret_database, struct ids_error *err) {
    struct ids_events_entry entry;
    sigset_t before;
    ids_output_hold(&before);
    int code = ids_events_entry_begin(run, &entry, err);
    if (!code) ids_output_watch(entry.temporary);
    ids_output_let(&before);
    if (code)
        return ids_error_at(err, "events are kept in the cache, which cannot be used; 'idsprof import' writes "
                                 "them elsewhere");
    code = fill(run, entry.temporary, entry.key, err);
    if (!code) code = ids_events_entry_commit(&entry, err);
    ids_output_watch("");
    ids_progress_end();
    if (!code && ret_database && !(*ret_database = strdup(entry.path))) code = ids_no_memory(err);
    ids_events_entry_done(&entry);
    return code;
}

/* In the midst of a query, whose time this does not take, and whose SQL an interrupt could not stop now: it ends the program, as in every
 * import. */
static int import_again(void *run, struct ids_error *err) {
    const struct sigaction ends = {.sa_handler = SIG_DFL};
    struct sigaction before;
    ids_reading_pause();
    sigaction(SIGINT, &ends, &before);
    int code = import_into_cache(run, NULL, err);
    sigaction(SIGINT, &before, NULL);
    ids_reading_resume();
    return code;
}

/* What is not in the cache, or not as it should be, is made. */
static int open_run(struct ids_opened_events *events, struct ids_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    int code = ids_events_cache_find(events->source, &events->path, &why);
    if (code == IDS_NOMEM) return ids_no_memory(err);
    return code ? import_into_cache(events->source, &events->path, err) : 0;
}

static int own_database(const char *path, struct ids_opened_events *events, struct ids_error *err) {
    events->path = strdup(path);
    return events->path ? 0 : ids_no_memory(err);
}

int ids_events_open(const char *path, const char *name, struct ids_opened_events *ret_events, struct ids_error *err) {
    *ret_events = (struct ids_opened_events){.run = 1};
    if (ids_is_database(path)) {
        if (name) return ids_fail(err, IDS_USAGE, "'%s' is a database; choose of its runs by the column run", path);
        return own_database(path, ret_events, err);
    }
    int code = ids_find_runs(path, &ret_events->list, err);
    if (code) return code;
    ids_say_unreadable(&ret_events->list, "query");
    code = ids_choose_run(&ret_events->list, name, &ret_events->source, err);
    return code ? code : open_run(ret_events, err);
}

int ids_events_open_run(const char *path, const char *name, struct ids_opened_events *ret_events,
                        struct ids_error *err) {
    struct ids_run_list list;
    const struct ids_run_files *run;
    if (!ids_is_database(path)) return ids_events_open(path, name, ret_events, err);
    *ret_events = (struct ids_opened_events){.run = 1};
    int code = ids_find_runs(path, &list, err);
    if (code) return code;
    code = ids_choose_run(&list, name, &run, err);
    if (!code) ret_events->run = run->number;
    ids_run_list_done(&list);
    return code ? code : own_database(path, ret_events, err);
}

int ids_events_at_hand(const struct ids_run_files *run, int no_cache, struct ids_opened_events *events,
                       struct ids_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    events->run = run->number ? run->number : 1;
    if (run->number) return own_database(run->path, events, err);
    if (no_cache) return 0;
    int code = ids_events_cache_find(run, &events->path, &why);
    if (!code) events->source = run;
    return code == IDS_NOMEM ? ids_no_memory(err) : 0;
}

void ids_events_done(struct ids_opened_events *events) {
    ids_run_list_done(&events->list);
    free(events->path);
    *events = (struct ids_opened_events){0};
}

int ids_events_query(struct ids_opened_events *events, struct ids_query **ret_query, struct ids_error *err) {
    if (!events->source) return ids_query_open(events->path, ret_query, err);
    const struct ids_query_cached cached = {events->path, import_again, (void *)(uintptr_t)events->source};
    return ids_query_open_cached(&cached, ret_query, err);
}

int ids_events_report(struct ids_opened_events *events, struct ids_report *report, struct ids_error *err) {
    if (!events->source) return ids_summary_read_run(events->path, events->run, NULL, ids_table_def_find, report, err);
    int code = ids_events_cache_report(events->path, ids_table_def_find, report, err);
    if (code != IDS_CORRUPT && code != IDS_NOT_FOUND) return code;
    code = import_into_cache(events->source, NULL, err);
    return code ? code : ids_events_cache_report(events->path, ids_table_def_find, report, err);
}
