/* summary_file.h - what databases of events need of the summary beside summary.h. */
#ifndef IDS_LIB_STORE_SUMMARY_FILE_H
#define IDS_LIB_STORE_SUMMARY_FILE_H

#include "lib/store/db.h"
#include "lib/store/summary.h"

/* ids_summary_read_run of a file that may be the cache's. */
int ids_summary_read_from(const char *path, enum ids_db_origin origin, int64_t run, const char *key,
                          const struct ids_table_def *(*find_table)(const char *id), struct ids_report *report,
                          struct ids_error *err);

/* The parts of it, in a transaction of the caller's: the tables, and what one run puts into them. */
int ids_summary_tables(sqlite3 *db, const struct ids_table_def *const *tables, size_t count, struct ids_error *err);
/* Of a database of several runs, when all rows are in: else each report would be looked for in the rows of all runs. */
int ids_summary_index(sqlite3 *db, struct ids_error *err);
int ids_summary_put(sqlite3 *db, int64_t run, const struct ids_report *report, const char *key, struct ids_error *err);

/* A new file beside `path`, whose name says that it is not finished: its descriptor, locked (flock) as long as it is
 * open. */
int ids_summary_open_beside(const char *path, char **ret_name, struct ids_error *err);
/* 0 when the file of the cache holds a summary of this schema with that key. */
int ids_summary_check_key(const char *path, const char *key, struct ids_error *err);

#endif
