/* run_db.h - a database of runs: the summary of each (summary.h) and all of its events (events.sql), in one SQLite
 * file.
 *
 * It is filled in one transaction without a journal, so after a failure the file must be removed: write it under a
 * temporary name, and rename it when ids_run_db_sync has succeeded. */
#ifndef IDS_LIB_EVENTS_RUN_DB_H
#define IDS_LIB_EVENTS_RUN_DB_H

#include "lib/model/findings.h"
#include "lib/model/sink.h"
#include "lib/report/report.h"

struct ids_run_db;

/* `path` is an empty file; `tables` are all that a report may have. */
int ids_run_db_create(const char *path, const struct ids_table_def *const *tables, size_t count,
                      struct ids_run_db **ret_db, struct ids_error *err);
/* Begins a run, whose files are to be read into *ret_sink; their rows are made on a thread of their own (relay.h).
 * `strings` is where their texts are interned; it must live until the run ends. */
int ids_run_db_begin(struct ids_run_db *db, struct ids_strings *strings, struct ids_sink **ret_sink,
                     struct ids_error *err);
/* Ends the events of the run. The rest of them is written while the caller makes its report. */
void ids_run_db_end_events(struct ids_run_db *db);
/* Waits for the events, and writes the findings; the report notes findings that could not be written. */
int ids_run_db_put_findings(struct ids_run_db *db, const struct ids_trace *trace, const struct ids_findings *findings,
                            struct ids_report *report, struct ids_error *err);
/* Waits for the events and ends the run with its summary; properties "name", "path" and "format" are those of the table
 * run. `key` is stored with it, any text. */
int ids_run_db_end(struct ids_run_db *db, const struct ids_report *report, const char *key, struct ids_error *err);
/* Call this instead of ids_run_db_end after a failure: nothing uses `strings` any more. The file is of no use then. */
void ids_run_db_give_up(struct ids_run_db *db);
/* Views, and the end of the transaction: the file is whole. */
int ids_run_db_finish(struct ids_run_db *db, struct ids_error *err);
/* Then, for a file that is to survive a power cut: all of it to the disk. */
int ids_run_db_sync(struct ids_run_db *db, struct ids_error *err);
/* How many bytes of events may wait in memory for their track to end, in place of 128 MiB; more wait in a file. Before
 * ids_run_db_begin. The rows are the same. */
void ids_run_db_hold(struct ids_run_db *db, size_t bytes);
/* The events written so far. */
int64_t ids_run_db_events(const struct ids_run_db *db);
void ids_run_db_free(struct ids_run_db *db);

#endif
