#include "cmd/open_events.h"

#include "cmd/import_run.h"
#include "cmd/open_run.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "lib/store/events_cache.h"
#include "lib/store/query.h"

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

static int import_into_cache(const struct ids_run_files *run, char **ret_database, struct ids_error *err) {
    struct ids_events_entry entry;
    int code = ids_events_entry_begin(run, &entry, err);
    if (code)
        return ids_error_at(err, "events are kept in the cache, which cannot be used; 'idsprof import' writes "
                                 "them elsewhere");
    ids_output_watch(entry.temporary);
    code = fill(run, entry.temporary, entry.key, err);
    if (!code) code = ids_events_entry_commit(&entry, err);
    ids_output_watch("");
    ids_progress_end();
    if (!code) *ret_database = strdup(entry.path);
    ids_events_entry_done(&entry);
    return code || *ret_database ? code : ids_no_memory(err);
}

static int open_run(const struct ids_run_files *run, char **ret_database, struct ids_error *err) {
    struct ids_error ignored = IDS_ERROR_INIT;
    if (!ids_events_cache_find(run, ret_database, &ignored)) return 0;
    return import_into_cache(run, ret_database, err);
}

int ids_open_events(const char *path, const char *name, char **ret_database, struct ids_error *err) {
    struct ids_run_list list;
    const struct ids_run_files *run;
    if (ids_is_database(path)) {
        if (name) return ids_fail(err, IDS_USAGE, "'%s' is a database; choose of its runs by the column run", path);
        *ret_database = strdup(path);
        return *ret_database ? 0 : ids_no_memory(err);
    }
    int code = ids_find_runs(path, &list, err);
    if (code) return code;
    ids_say_unreadable(&list, "query");
    code = ids_choose_run(&list, name, &run, err);
    if (!code) code = open_run(run, ret_database, err);
    ids_run_list_done(&list);
    return code;
}

int ids_open_events_of_run(const char *path, const char *name, char **ret_database, int64_t *ret_run,
                           struct ids_error *err) {
    struct ids_run_list list;
    const struct ids_run_files *run;
    *ret_run = 1;
    if (!ids_is_database(path)) return ids_open_events(path, name, ret_database, err);
    int code = ids_find_runs(path, &list, err);
    if (code) return code;
    code = ids_choose_run(&list, name, &run, err);
    if (!code) *ret_run = run->number;
    if (!code) *ret_database = strdup(path);
    ids_run_list_done(&list);
    return code || *ret_database ? code : ids_no_memory(err);
}
