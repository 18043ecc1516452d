/* pages_db.h - a new database of a test, whose rows are written as pages beside SQLite, and read as another program
 * finds the file. */
#ifndef IDS_TESTS_SUPPORT_PAGES_DB_H
#define IDS_TESTS_SUPPORT_PAGES_DB_H

#include "lib/store/db.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ids_error err;
static char path[] = "/tmp/idsprof-test-pages.XXXXXX";
static sqlite3 *db;
static int fd;

static inline void run_sql(const char *sql) {
    ck_assert_int_eq(ids_db_exec(db, sql, &err), 0);
}

static inline void create(const char *sql) {
    strcpy(path + sizeof path - 7, "XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ids_db_create(path, &db, &err), 0);
    run_sql(sql);
}

static inline int64_t ask(const char *sql) {
    sqlite3_stmt *statement = NULL;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* Ends the transaction. */
static inline void reopen(void) {
    run_sql("COMMIT");
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(ask("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

static inline void done(void) {
    sqlite3_close(db);
    close(fd);
    unlink(path);
}

#endif
