/* For every layer but lib/store: without these calls no database can be opened, read or written. */
#ifndef IDS_POISON_SQLITE_H
#define IDS_POISON_SQLITE_H

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

#include "forbid.h"

#define IDS_SQLITE "only lib/store speaks SQLite"
IDS_FORBID(sqlite3_initialize, IDS_SQLITE);
IDS_FORBID(sqlite3_config, IDS_SQLITE);
IDS_FORBID(sqlite3_open, IDS_SQLITE);
IDS_FORBID(sqlite3_open16, IDS_SQLITE);
IDS_FORBID(sqlite3_open_v2, IDS_SQLITE);
IDS_FORBID(sqlite3_close, IDS_SQLITE);
IDS_FORBID(sqlite3_close_v2, IDS_SQLITE);
IDS_FORBID(sqlite3_exec, IDS_SQLITE);
IDS_FORBID(sqlite3_get_table, IDS_SQLITE);
IDS_FORBID(sqlite3_prepare, IDS_SQLITE);
IDS_FORBID(sqlite3_prepare_v2, IDS_SQLITE);
IDS_FORBID(sqlite3_prepare_v3, IDS_SQLITE);
IDS_FORBID(sqlite3_step, IDS_SQLITE);
IDS_FORBID(sqlite3_reset, IDS_SQLITE);
IDS_FORBID(sqlite3_finalize, IDS_SQLITE);
IDS_FORBID(sqlite3_deserialize, IDS_SQLITE);
IDS_FORBID(sqlite3_backup_init, IDS_SQLITE);
IDS_FORBID(sqlite3_blob_open, IDS_SQLITE);
IDS_FORBID(sqlite3_errmsg, IDS_SQLITE);
IDS_FORBID(sqlite3_libversion, IDS_SQLITE);
#endif

#endif
