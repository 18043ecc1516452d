/* lib/run/import_run.c, lib/store: a database has the same bytes however little of the events memory may hold, for each
 * trace of testdata (oracle.db_hash holds the rows against the file); and a run of another kind of failure leaves no
 * thread behind. */
#include "lib/run/find_runs.h"
#include "lib/run/import_run.h"
#include "lib/store/db.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct ids_engine engine; /* silent */
static struct ids_error err;

static const char *testdata(void) {
    static char path[4096];
    const char *source = getenv("IDS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/testdata", source ? source : ".");
    return path;
}

/* What the tables hold: as many events as were read, each but the first of its kind behind the one before. */
static void check_rows(const char *path, int64_t events) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    static const char sql[] =
        "SELECT count(*), max(id), (SELECT count(*) FROM event b JOIN event a ON a.id = b.id - 1 WHERE "
        "a.track = b.track AND (a.start_ps, -a.dur_ps) > (b.start_ps, -b.dur_ps)), "
        "(SELECT integrity_check = 'ok' FROM pragma_integrity_check) FROM event";
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    ck_assert_int_eq(sqlite3_column_int64(statement, 0), events);
    ck_assert_int_eq(sqlite3_column_int64(statement, 1), events);
    ck_assert_int_eq(sqlite3_column_int64(statement, 2), 0);
    ck_assert_int_eq(sqlite3_column_int64(statement, 3), 1);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* The bytes of a database of the run, made with `held` bytes of events in memory; the caller's to free. */
static char *import(const struct ids_run_files *run, const size_t *held, size_t *ret_length, int64_t *ret_events) {
    char path[] = "/tmp/idsprof-test-import.XXXXXX";
    struct ids_run_db *db;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ids_import_begin(path, &db, &err), 0);
    if (held) ids_run_db_hold(db, *held);
    ck_assert_msg(!ids_import_run(&engine, db, run, "", &err), "%s", err.text);
    ck_assert_msg(!ids_run_db_finish(db, &err), "%s", err.text);
    *ret_events = ids_run_db_events(db);
    ids_run_db_free(db);
    if (!held) check_rows(path, *ret_events);
    struct stat status;
    ck_assert_int_eq(fstat(fd, &status), 0);
    char *bytes = malloc((size_t)status.st_size);
    ck_assert_int_eq(pread(fd, bytes, (size_t)status.st_size, 0), status.st_size);
    close(fd);
    unlink(path);
    *ret_length = (size_t)status.st_size;
    return bytes;
}

static void check_run(const struct ids_run_files *run) {
    const size_t held[] = {0, 400, 30000, 100000};
    size_t length;
    int64_t events;
    char *whole = import(run, NULL, &length, &events);
    size_t first = events > 20000, count = sizeof held / sizeof *held; /* 0: each event is put aside by itself */
    if (!ids_some_of(1, 0)) first = 1, count = 2;
    for (size_t i = first; i < count; i++) {
        size_t spilled_length;
        char *spilled = import(run, &held[i], &spilled_length, &events);
        ck_assert_msg(spilled_length == length && !memcmp(spilled, whole, length), "%s: other bytes with %zu in memory",
                      run->name, held[i]);
        free(spilled);
    }
    free(whole);
}

START_TEST(same_bytes) {
    struct ids_run_list list;
    ck_assert_msg(!ids_find_runs(&engine, testdata(), &list, &err), "%s", err.text);
    size_t runs = 0, apart = getenv("IDS_VALGRIND") ? 12 : (size_t)ids_some_of(1, 4);
    for (size_t i = 0; i < list.run_count; i++) {
        if (strstr(list.runs[i].path, "damaged") || i % apart) continue;
        check_run(&list.runs[i]);
        runs++;
    }
    ck_assert_uint_ge(runs, apart > 4 ? 2 : 4);
    ids_run_list_done(&list);
}
END_TEST

/* What memory may hold is passed by events of a track that come backwards, by equal ones, and by some that lie in
 * each other. */
START_TEST(orders) {
    const int events = getenv("IDS_VALGRIND") ? 300 : 3000;
    char path[] = "/tmp/idsprof-test-order.XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "idsprof-mini 1\nplane /host:CPU\nline 1 a\n");
    for (int i = 0; i < events; i++) fprintf(file, "%d %d back i=%d\n", 10 * (events - i), i % 4 ? 10 : 35, i);
    fprintf(file, "line 2 b\n");
    for (int i = 0; i < events; i++) fprintf(file, "7 %d same run_id=%d\n", i % 2, i);
    fprintf(file, "line 3 c\n");
    for (int i = 0; i < events; i++) fprintf(file, "%d %d nested\n", i, 2 * (events - i));
    fclose(file);
    struct ids_run_list list;
    ck_assert_msg(!ids_find_runs(&engine, path, &list, &err), "%s", err.text);
    check_run(&list.runs[0]);
    ids_run_list_done(&list);
    unlink(path);
}
END_TEST

/* The reading fails while rows are being made of what came before. */
START_TEST(a_file_that_is_corrupt) {
    IDS_NOT_UNDER_VALGRIND();
    char path[] = "/tmp/idsprof-test-corrupt.XXXXXX", database[] = "/tmp/idsprof-test-import.XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    fprintf(file, "idsprof-mini 1\nplane /host:CPU\nline 1 a\n");
    for (int i = 0; i < 40000; i++) fprintf(file, "%d 1 event%d\n", i, i);
    fprintf(file, "what is this\n");
    fclose(file);
    close(mkstemp(database));
    struct ids_run_list list;
    struct ids_run_db *db;
    ck_assert_msg(!ids_find_runs(&engine, path, &list, &err), "%s", err.text);
    ck_assert_int_eq(ids_import_begin(database, &db, &err), 0);
    ck_assert_int_eq(ids_import_run(&engine, db, &list.runs[0], "", &err), IDS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.text, "line 40004"));
    ids_run_db_free(db);
    ids_run_list_done(&list);
    unlink(path);
    unlink(database);
}
END_TEST

IDS_RUN_SUITE("import_run", same_bytes, orders, a_file_that_is_corrupt)
