/* lib/events/stretch_rows.c: the view stretch gives back each stretch that was put, however they lie in blocks. */
#include "lib/events/findings.sql.h"
#include "lib/events/stretch_rows.h"
#include "lib/store/db.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ids_error err;
static char path[] = "/tmp/idsprof-test-stretches.XXXXXX";
static sqlite3 *db;
static int fd;
static struct ids_stretch_rows *rows;
static sqlite3_stmt *wanted;

static void begin(void) {
    strcpy(path + sizeof path - 7, "XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ids_db_create(path, &db, &err), 0);
    ck_assert_int_eq(ids_db_exec(db, "PRAGMA page_size=16384; PRAGMA locking_mode=NORMAL; BEGIN", &err), 0);
    ck_assert_int_eq(ids_db_exec(db, ids_findings_sql, &err), 0);
    ck_assert_int_eq(
        ids_db_exec(db, "CREATE TABLE wanted (id, device, start_ps, dur_ps, culprit, known, state, step, event)", &err),
        0);
    ck_assert_int_eq(ids_stretch_rows_new(db, fd, &rows, &err), 0);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "INSERT INTO wanted VALUES (?,?,?,?,?,?,?,?,?)", -1, &wanted, NULL),
                     SQLITE_OK);
}

static void put(const struct ids_stretch *stretch) {
    const int64_t values[] = {stretch->id,      stretch->device, stretch->from_ps, stretch->to_ps - stretch->from_ps,
                              stretch->culprit, stretch->known,  stretch->state,   stretch->step,
                              stretch->event};
    for (int i = 0; i < 9; i++) {
        if (i >= 7 && !values[i])
            sqlite3_bind_null(wanted, i + 1);
        else
            sqlite3_bind_int64(wanted, i + 1, values[i]);
    }
    ck_assert_int_eq(sqlite3_step(wanted), SQLITE_DONE);
    sqlite3_reset(wanted);
    ck_assert_int_eq(ids_stretch_rows_put(rows, stretch, &err), 0);
}

static int64_t ask(const char *sql) {
    sqlite3_stmt *statement = NULL;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* As another program finds the file. Rows come in the order of their ids without being asked to. */
static void check(int64_t count) {
    sqlite3_finalize(wanted);
    ck_assert_int_eq(ids_stretch_rows_show(rows, &err), 0);
    ids_stretch_rows_free(rows);
    ck_assert_int_eq(ids_db_exec(db, "COMMIT", &err), 0);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(ask("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    ck_assert_int_eq(ask("SELECT count(*) FROM stretch"), count);
    ck_assert_int_eq(ask("SELECT count(*) FROM (SELECT * FROM wanted EXCEPT SELECT * FROM stretch)"), 0);
    ck_assert_int_eq(ask("SELECT count(*) FROM (SELECT id, lag(id) OVER () AS before FROM stretch) WHERE id <= before"),
                     0);
}

static void done(void) {
    sqlite3_close(db);
    close(fd);
    unlink(path);
}

/* Twice 16 and one more, which fill two blocks and begin a third. */
START_TEST(full_blocks) {
    begin();
    for (int i = 0; i < 33; i++)
        put(&(struct ids_stretch){i + 1, 1, 7, 5, 40 + i / 3, i * 2000, i * 2000 + 2000, 256, 0});
    ck_assert_int_eq(ids_stretch_rows_end_run(rows, &err), 0);
    check(33);
    ck_assert_int_eq(ask("SELECT count(*) FROM stretch_block"), 3);
    ck_assert_int_eq(ask("SELECT unit_ps FROM stretch_block WHERE id = 17"), 1000);
    ck_assert_int_eq(ask("SELECT count(*) FROM stretch_kind"), 1);
    done();
}
END_TEST

/* What needs all 8 bytes of a number, and a record of more than 128. */
START_TEST(large_numbers) {
    const int64_t far_ps = INT64_C(1) << 58;
    begin();
    for (int i = 0; i < 16; i++)
        put(&(struct ids_stretch){i + 1, 1, 0, 5 + i, INT64_C(1) << (2 * i + 20), i * far_ps,
                                  (i + 1) * far_ps - (i == 15), 511, 2});
    ck_assert_int_eq(ids_stretch_rows_end_run(rows, &err), 0);
    check(16);
    ck_assert_int_eq(ask("SELECT count(*) FROM stretch_block"), 1);
    ck_assert_int_eq(ask("SELECT unit_ps FROM stretch_block"), 1);
    done();
}
END_TEST

/* Other devices and steps, gaps, times that are whole nanoseconds and others, events back and forth; two runs. */
START_TEST(any_stretches) {
    enum { COUNT = 30000 };
    struct ids_stretch stretch = {.device = 1};
    uint32_t random = 20261126;
    begin();
    for (int i = 1; i <= COUNT; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t dice = random >> 8;
        stretch.id = i;
        stretch.device += dice % 1000 == 0;
        if (dice % 50 == 1) stretch.step = dice >> 16 & 7;
        stretch.from_ps = dice % 70 == 2 ? stretch.to_ps + 17 : stretch.to_ps;
        stretch.to_ps = stretch.from_ps + (dice % 3 == 0 || stretch.device % 2 ? 1000 : 1) * (int64_t)(dice >> 9);
        stretch.culprit = 1 + (dice >> 4) % 40 + (i > COUNT / 2 ? 40 : 0);
        stretch.event = dice >> 20 & 1 ? 1000 + (int64_t)((dice >> 12) % 300) : 0;
        stretch.state = dice >> 15 & 511;
        stretch.known = (uint8_t)(dice % 3);
        put(&stretch);
        if (i == COUNT / 2) ck_assert_int_eq(ids_stretch_rows_end_run(rows, &err), 0);
    }
    ck_assert_int_eq(ids_stretch_rows_end_run(rows, &err), 0);
    check(COUNT);
    done();
}
END_TEST

IDS_RUN_SUITE("stretch_rows", full_blocks, large_numbers, any_stretches)
