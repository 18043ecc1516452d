/* import_run.h - writes a run into a database: its summary and all of its events. */
#ifndef IDS_LIB_RUN_IMPORT_RUN_H
#define IDS_LIB_RUN_IMPORT_RUN_H

#include "lib/events/run_db.h"
#include "lib/io/run_files.h"
#include "lib/run/engine.h"

/* Creates a database in the empty file `path`, with the tables of every analyzer. */
int ids_import_begin(const char *path, struct ids_run_db **ret_db, struct ids_error *err);
/* `key` is stored with the run (run_db.h). */
int ids_import_run(const struct ids_engine *engine, struct ids_run_db *db, const struct ids_run_files *run,
                   const char *key, struct ids_error *err);

#endif
