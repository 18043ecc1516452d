#include "lib/run/watch.h"

#include "lib/analysis/params.h"
#include "lib/base/intern.h"
#include "lib/run/find_runs.h"
#include "lib/run/open_run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A profile is written in one go, mostly within a second; the programs of a job end theirs at different moments. */
static const int64_t still_ns = 1000000000, patience_ns = 10000000000;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t identity_of(const struct ids_run_files *run) {
    uint64_t identity = ids_hash_bytes(run->path, strlen(run->path));
    for (size_t i = 0; i < run->file_count; i++) {
        const struct ids_run_file *file = &run->files[i];
        const uint64_t parts[] = {identity, file->size, file->inode, (uint64_t)file->mtime_ns,
                                  ids_hash_bytes(file->path, strlen(file->path))};
        identity = ids_hash_bytes(parts, sizeof parts);
    }
    return identity ? identity : 1;
}

/* Whether it can be read to its end. Its report stays in the cache for who asks next. */
static int is_whole(struct ids_engine *engine, const struct ids_run_files *run) {
    struct ids_params params;
    struct ids_report report;
    struct ids_error ignored = IDS_ERROR_INIT; /* half a file may be anything */
    ids_params_default(&params);
    if (ids_open_run(engine, run, &params, &report, &ignored)) return 0;
    int is_complete = report.complete;
    ids_report_done(&report);
    return is_complete;
}

static int was_given(const struct ids_watch *watch, uint64_t identity) {
    for (size_t i = 0; i < IDS_WATCH_GIVEN && i < watch->given_count; i++) {
        if (watch->given[i] == identity) return 1;
    }
    return 0;
}

static int is_ready(struct ids_watch *watch, struct ids_engine *engine, const struct ids_run_files *run) {
    uint64_t identity = identity_of(run);
    int64_t now = now_ns();
    if (was_given(watch, identity)) return 0;
    if (identity != watch->seen) {
        watch->seen = identity;
        watch->since_ns = now;
        watch->is_known = 0;
        return 0;
    }
    if (now - watch->since_ns < still_ns) return 0;
    if (!watch->is_known && is_whole(engine, run)) return 1;
    watch->is_known = 1;
    return now - watch->since_ns >= patience_ns;
}

/* No job records into an archive. */
static const struct ids_run_files *newest(const struct ids_run_list *list) {
    for (size_t i = list->run_count; i--;) {
        if (list->runs[i].file_count && !list->runs[i].files[0].archive) return &list->runs[i];
    }
    return NULL;
}

int ids_watch_look(struct ids_watch *watch, struct ids_engine *engine, char **ret_run, struct ids_error *err) {
    struct ids_run_list list;
    struct ids_error why = IDS_ERROR_INIT;
    int code = ids_find_runs(engine, watch->path, &list, &why);
    if (code == IDS_NOT_FOUND) return 0;
    if (code) return ids_error_pass(err, &why);
    const struct ids_run_files *run = newest(&list);
    int ready = run && is_ready(watch, engine, run);
    if (ready) {
        watch->given[watch->given_count++ % IDS_WATCH_GIVEN] = watch->seen;
        *ret_run = strdup(run->path);
        if (!*ret_run) ready = ids_no_memory(err);
    }
    ids_run_list_done(&list);
    return ready;
}
