/* db.h - SQLite as the store uses it: files that are written in one go, untrusted files, and rows with a checksum.
 *
 * Every value that is written is added to a running sum, and so is every value that is read, in the same order. The
 * last stored value is that sum. So damage that SQLite cannot see (a changed byte in a number, a page that never
 * reached the disk) is found without reading anything twice.
 */
#ifndef IDS_LIB_STORE_DB_H
#define IDS_LIB_STORE_DB_H

#include "lib/base/error.h"
#include "lib/report/report.h"

#include <sqlite3.h>
#include <stdint.h>

/* To be called before several threads open databases at once. */
void ids_db_expect_threads(void);
/* Opens an empty file to be filled: no journal, no locks. A failure later means that the file is to be thrown away. */
int ids_db_create(const char *path, sqlite3 **ret_db, struct ids_error *err);
/* Where a file is from. What the cache keeps is sealed (seal.h): a page that is not as it was written is
 * IDS_CORRUPT. */
enum ids_db_origin { IDS_DB_GIVEN, IDS_DB_CACHED };
/* Opens a file to read, as one that an enemy wrote: its schema cannot run anything, its values have limits. The file
 * must not change meanwhile (the store's never do: they are renamed into place). IDS_NOT_FOUND when it is not there. */
int ids_db_open(const char *path, enum ids_db_origin origin, sqlite3 **ret_db, struct ids_error *err);
/* From now on SQLite counts what it allocates, as a limit of memory needs it; no database may be open. */
void ids_db_count_memory(void);
/* The time that db_limit.h allows begins anew, as it does when a database is opened. */
void ids_db_begin_time(void);
int ids_db_exec(sqlite3 *db, const char *sql, struct ids_error *err);
/* The code for what SQLite said last, its words in err. */
int ids_db_fail(sqlite3 *db, struct ids_error *err);

/* The rows that a statement takes or gives. Mistakes stick: a value that cannot be bound, or that has another type than
 * it is read as, fails the next ids_rows_insert or ids_rows_next. */
struct ids_rows {
    sqlite3 *db;
    sqlite3_stmt *statement;
    uint64_t *sum;
    int column;
    int first;  /* 1: column 1 is the run, see ids_rows_of_run */
    int failed; /* an SQLite code; a value of the wrong type is SQLITE_MISMATCH */
};

int ids_rows_prepare(struct ids_rows *rows, sqlite3 *db, uint64_t *sum, const char *sql, struct ids_error *err);
/* Of a statement whose first parameter is the run: `INSERT INTO x VALUES (?1, ?, ...)` or `SELECT * FROM x WHERE run =
 * ?1`, where run is the first column. Values are then those behind it. */
void ids_rows_of_run(struct ids_rows *rows, int64_t run);
void ids_rows_done(struct ids_rows *rows);

/* Values of a row, left to right. */
void ids_rows_put_null(struct ids_rows *rows);
void ids_rows_put_int(struct ids_rows *rows, int64_t value);
void ids_rows_put_text(struct ids_rows *rows, const char *text); /* NULL is NULL */
void ids_rows_put_value(struct ids_rows *rows, struct ids_value value);
int ids_rows_insert(struct ids_rows *rows, struct ids_error *err);

/* 1 and a row, 0 at the end, or a code. */
int ids_rows_next(struct ids_rows *rows, struct ids_error *err);
int64_t ids_rows_get_int(struct ids_rows *rows, int64_t if_null);
const char *ids_rows_get_text(struct ids_rows *rows); /* NULL for NULL; valid until the next row */
struct ids_value ids_rows_get_value(struct ids_rows *rows, enum ids_unit unit);

/* Calls `read` with each row that the statement gives, until it answers a code; that or 0. */
int ids_rows_each(sqlite3 *db, uint64_t *sum, const char *sql, int (*read)(void *context, struct ids_rows *rows),
                  void *context, struct ids_error *err);

#endif
