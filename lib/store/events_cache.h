/* events_cache.h - databases of events in the cache (run_db.h): one per run, with the rules for names and validity of
 * cached reports (summary.h).
 *
 * Two processes may make the same one: each has its own temporary file, and the last one renamed is kept.
 * cache_folder.h says why a file with a final name is whole. */
#ifndef IDS_LIB_STORE_EVENTS_CACHE_H
#define IDS_LIB_STORE_EVENTS_CACHE_H

#include "lib/io/run_files.h"
#include "lib/report/report.h"

/* The database of this run, IDS_NOT_FOUND when there is none that is valid. *ret_path is the caller's. */
int ids_events_cache_find(const struct ids_run_files *run, char **ret_path, struct ids_error *err);

/* The report that is stored with the rows. */
int ids_events_cache_report(const char *path, const struct ids_table_def *(*find_table)(const char *id),
                            struct ids_report *report, struct ids_error *err);

struct ids_events_entry {
    char *folder, *path, *temporary, *key; /* key: what the run's summary is to be stored under */
    int lock;                              /* the temporary file, locked as long as it is written */
};

/* An empty temporary file in the cache, to be filled; removed again by ids_events_entry_done unless it was
 * committed. */
int ids_events_entry_begin(const struct ids_run_files *run, struct ids_events_entry *ret_entry, struct ids_error *err);
/* Gives it its name, and makes room in the cache. */
int ids_events_entry_commit(struct ids_events_entry *entry, struct ids_error *err);
void ids_events_entry_done(struct ids_events_entry *entry);

#endif
