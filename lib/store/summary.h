/* summary.h - a report in SQLite, and the cache of reports.
 *
 * A summary is a plain SQLite file (user_version = IDS_SCHEMA_VERSION) that sqlite3, DuckDB or Datasette open. Table
 * `metric` has a row per metric and device, `property`, `advice` and `diag` what their names say, and every report
 * table has a table report_<its name> with its own columns (times in integer picoseconds). It is written under a
 * temporary name, synced, and renamed when whole. A checksum over all values, stored last, tells a whole file from a
 * damaged one.
 */
#ifndef IDS_LIB_STORE_SUMMARY_H
#define IDS_LIB_STORE_SUMMARY_H

#include "lib/io/run_files.h"
#include "lib/report/report.h"

/* Raised when the layout of the file or the meaning of a stored figure changes: an older cache is then rebuilt. */
enum { IDS_SCHEMA_VERSION = 8 };

/* Writes the report to `path`; `key` (any text) is stored and checked by ids_summary_read. */
int ids_summary_write(const struct ids_report *report, const char *key, const char *path, struct ids_error *err);
/* Fills an initialised, empty report. Table definitions are looked up by id with `find_table` (so that this layer does
 * not know the analyzers); a table that it does not know, another key or another schema version is IDS_NOT_FOUND: build
 * anew. A damaged file is IDS_CORRUPT. */
int ids_summary_read(const char *path, const char *key, const struct ids_table_def *(*find_table)(const char *id),
                     struct ids_report *report, struct ids_error *err);

/* The same of one run of a database that holds several (run_db.h). `key` NULL: any. */
int ids_summary_read_run(const char *path, int64_t run, const char *key,
                         const struct ids_table_def *(*find_table)(const char *id), struct ids_report *report,
                         struct ids_error *err);

/* For who reads many runs of one database: it is opened, and its schema read, once. ids_summaries_read gives what
 * ids_summary_read_run does. */
struct ids_summaries;
int ids_summaries_open(const char *path, struct ids_summaries **ret_summaries, struct ids_error *err);
int ids_summaries_read(struct ids_summaries *summaries, int64_t run,
                       const struct ids_table_def *(*find_table)(const char *id), struct ids_report *report,
                       struct ids_error *err);
const char *ids_summaries_path(const struct ids_summaries *summaries);
void ids_summaries_close(struct ids_summaries *summaries);

/* The cache: a report as bytes (report_bytes.h), one file per run under $XDG_CACHE_HOME/idsprof (default
 * ~/.cache/idsprof), named by a hash of the run's name and paths, and valid for one identity of the source files
 * (device, inode, size, mtime, ctime; for a member of an archive: those of the archive, and the member's size and path)
 * and one build of the program. A cache that cannot be used (read-only home, full disk, a folder that others may write)
 * is not an error for the user: the functions return a code and the caller continues, unless it is IDS_NOMEM.
 * IDS_NOT_FOUND: not cached, or the run has no identity (a pipe). Size limit: the least recently used files, also those
 * of events_cache.h, are removed when all together exceed 4 GiB. */
int ids_cache_load(const struct ids_run_files *run, const struct ids_table_def *(*find_table)(const char *id),
                   struct ids_report *report, struct ids_error *err);
int ids_cache_save(const struct ids_run_files *run, const struct ids_report *report, struct ids_error *err);

#endif
