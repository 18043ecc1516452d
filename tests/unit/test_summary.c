/* lib/store/summary.c: a report goes into SQLite and comes back the same, or not at all. The cache: test_cache.c. */
#include "lib/store/db.h"
#include "lib/store/summary.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"
#include "tests/support/whole_report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a folder per test ---- */

static const volatile double zero = 0;
static char *expected; /* report_text of what was written; the fixture frees it */

static void teardown(void) {
    remove_folder();
    free(expected);
    expected = NULL;
}

static void write_summary(const char *path) {
    struct ids_report report;
    struct ids_error err = IDS_ERROR_INIT;
    fill_report(&report);
    known_tables[0] = &ops_def;
    known_tables[1] = &gaps_def;
    free(expected);
    expected = report_text(&report);
    ck_assert_msg(ids_summary_write(&report, "key 1", path, &err) == 0, "%s", err.text);
    ids_report_done(&report);
}

static struct ids_error read_error;

/* The code of reading; 0 only with the expected content, and an empty report with every other code. */
static int read_summary(const char *path, const char *key) {
    struct ids_report report;
    read_error = (struct ids_error)IDS_ERROR_INIT;
    ids_report_init(&report);
    int code = ids_summary_read(path, key, find_table, &report, &read_error);
    ck_assert_int_eq(code, read_error.code);
    if (!code) {
        char *text = report_text(&report);
        ck_assert_str_eq(text, expected);
        free(text);
    } else {
        ck_assert_uint_eq(report.metric_count + report.table_count + report.property_count, 0);
    }
    ids_report_done(&report);
    return code;
}

static void run_sql(const char *path, const char *sql) {
    sqlite3 *db;
    char *message = NULL;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    int result = sqlite3_exec(db, sql, NULL, NULL, &message);
    ck_assert_msg(result == SQLITE_OK, "%s: %s", sql, message);
    sqlite3_close(db);
}

START_TEST(round_trip) {
    const char *path = in_folder("it's 100%? a#b.db"); /* what a URI would take for itself */
    write_summary(path);
    ck_assert_msg(read_summary(path, "key 1") == 0, "%s", read_error.text);
    ck_assert_int_eq(read_summary(path, NULL), 0);
    ck_assert_int_eq(count_files(folder), 1);
    write_summary(path); /* over it */
    ck_assert_int_eq(read_summary(path, "key 1"), 0);
}
END_TEST

/* SQLite stores -0.0 as 0.0 and has no NaN: they must not look like damage. */
START_TEST(odd_numbers) {
    const char *path = in_folder("a.db");
    struct ids_report report, back;
    struct ids_error err = IDS_ERROR_INIT;
    ids_report_init(&report);
    ids_report_init(&back);
    known_tables[0] = &ops_def;
    struct ids_value row[7] = {ids_text_value("x")};
    for (int i = 1; i < 7; i++) row[i] = ids_no_value(op_columns[i].unit);
    row[4] = ids_real_value(IDS_UNIT_RATIO, -0.0);
    row[6] = ids_real_value(IDS_UNIT_NUMBER, 0.0 / zero);
    ids_report_row(&report, ids_report_table(&report, &ops_def), row);
    ids_report_metric(&report, "m", NULL, row[4]);
    ids_report_metric(&report, "inf", NULL, ids_real_value(IDS_UNIT_NUMBER, 1.0 / zero));
    ck_assert_int_eq(ids_summary_write(&report, "k", path, &err), 0);
    ck_assert_msg(ids_summary_read(path, "k", find_table, &back, &err) == 0, "%s", err.text);
    ck_assert(back.tables[0].cells[4].d == 0 && !back.tables[0].cells[4].missing);
    ck_assert(back.tables[0].cells[6].missing);
    ck_assert(back.metrics[0].value.d == 0 && back.metrics[1].value.d > 1e308);
    ids_report_done(&report);
    ids_report_done(&back);
}
END_TEST

/* What others see: user_version, types, NULL, comments. */
START_TEST(plain_sqlite) {
    const char *path = in_folder("a.db");
    sqlite3 *db;
    sqlite3_stmt *row;
    write_summary(path);
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(
            db,
            "SELECT (SELECT user_version FROM pragma_user_version), \"odd \"\"name\"\"\", typeof(share), sql,"
            " (SELECT count(*) FROM metric WHERE value IS NULL), (SELECT grade FROM metric WHERE id='z.last')"
            " FROM report_ops o, sqlite_schema s WHERE s.name='report_ops' AND o.self > 0",
            -1, &row, NULL),
        SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    ck_assert_int_eq(sqlite3_column_int(row, 0), IDS_SCHEMA_VERSION);
    ck_assert_double_eq(sqlite3_column_double(row, 1), 5.0);
    ck_assert_str_eq((const char *)sqlite3_column_text(row, 2), "real");
    const char *sql = (const char *)sqlite3_column_text(row, 3);
    ck_assert_ptr_nonnull(strstr(sql, "-- an op; HLO instruction\n"));
    ck_assert_ptr_nonnull(strstr(sql, "\"self\" INTEGER, -- time_ps, self time\n"));
    ck_assert_ptr_nonnull(strstr(sql, "share of self\n")); /* a comment of two lines would be SQL */
    ck_assert_int_eq(sqlite3_column_int(row, 4), 1);
    ck_assert_str_eq((const char *)sqlite3_column_text(row, 5), "bad");
    sqlite3_finalize(row);
    sqlite3_close(db);
}
END_TEST

START_TEST(not_what_was_asked_for) {
    const char *path = in_folder("a.db");
    write_summary(path);
    ck_assert_int_eq(read_summary(path, "key 2"), IDS_NOT_FOUND);
    ck_assert_int_eq(read_summary(in_folder("nothing.db"), "key 1"), IDS_NOT_FOUND);
    known_tables[1] = NULL;
    ck_assert_int_eq(read_summary(path, "key 1"), IDS_NOT_FOUND);
    static const struct ids_column_def more[] = {{"start", "start", IDS_UNIT_TIME, 0},
                                                 {"end", "end", IDS_UNIT_TIME, 0}};
    static const struct ids_table_def newer = {"idle.gaps", "gaps", more, 2, NULL, 0};
    known_tables[1] = &newer;
    ck_assert_int_eq(read_summary(path, "key 1"), IDS_NOT_FOUND);
    known_tables[1] = &gaps_def;
    run_sql(path, "PRAGMA user_version=1");
    ck_assert_int_eq(read_summary(path, "key 1"), IDS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(read_error.text, "schema 1"));
}
END_TEST

START_TEST(a_cell_of_another_unit_is_refused) {
    struct ids_report report;
    struct ids_error err = IDS_ERROR_INIT;
    ids_report_init(&report);
    ids_report_row(&report, ids_report_table(&report, &gaps_def),
                   (struct ids_value[]){ids_real_value(IDS_UNIT_RATIO, 1)});
    ck_assert_int_eq(ids_summary_write(&report, "k", in_folder("a.db"), &err), IDS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "column 'start' holds ratio, not time_ps"));
    ck_assert_int_eq(count_files(folder), 0);
    ids_report_done(&report);
}
END_TEST

/* ---- damage ---- */

static size_t load(const char *path, uint8_t **ret_bytes) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *ret_bytes = malloc(size);
    ck_assert_uint_eq(fread(*ret_bytes, 1, size, file), size);
    fclose(file);
    return size;
}

static void store(const char *path, const uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

START_TEST(cut_anywhere) {
    const char *path = in_folder("a.db"), *cut = in_folder("cut.db");
    uint8_t *bytes;
    write_summary(path);
    size_t size = load(path, &bytes);
    for (size_t length = 0; length < size; length += length < 200 ? 1 : 997) {
        store(cut, bytes, length);
        int code = read_summary(cut, "key 1");
        if (length < size - 4096) ck_assert_int_ne(code, 0); /* the last page may have unused space at its end */
    }
    free(bytes);
}
END_TEST

/* A changed byte is noticed, or it made no difference (unused space); read_summary compares. */
START_TEST(changed_anywhere) {
    IDS_NOT_UNDER_VALGRIND();
    const char *path = in_folder("a.db"), *changed = in_folder("changed.db");
    uint8_t *bytes;
    write_summary(path);
    size_t size = load(path, &bytes);
    size_t noticed = 0;
    store(changed, bytes, size);
    int fd = open(changed, O_WRONLY);
    for (size_t i = 0; i < size; i++) {
        if (!bytes[i] && i % 61) continue; /* most of the file is unused space */
        uint8_t byte = bytes[i] ^ (uint8_t)(1u << i % 8);
        ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)i), 1);
        noticed += read_summary(changed, "key 1") != 0;
        ck_assert_int_eq(pwrite(fd, &bytes[i], 1, (off_t)i), 1);
    }
    close(fd);
    ck_assert_uint_gt(noticed, 500);
    free(bytes);
}
END_TEST

/* A page that did not reach the disk. */
START_TEST(pages_of_zeros) {
    const char *path = in_folder("a.db"), *holed = in_folder("holed.db");
    uint8_t *bytes, saved[4096];
    write_summary(path);
    size_t size = load(path, &bytes);
    for (size_t page = 0; page + sizeof saved <= size; page += sizeof saved) {
        memcpy(saved, bytes + page, sizeof saved);
        memset(bytes + page, 0, sizeof saved);
        store(holed, bytes, size);
        ck_assert_int_ne(read_summary(holed, "key 1"), 0);
        memcpy(bytes + page, saved, sizeof saved);
    }
    free(bytes);
}
END_TEST

START_TEST(hostile_content) {
    static const char *const attacks[] = {
        "UPDATE report_ops SET self = 1 WHERE count = 3", /* a figure forged */
        "DELETE FROM metric",
        "INSERT INTO report_ops SELECT * FROM report_ops",
        "UPDATE metric SET unit = 'furlongs'",
        "UPDATE metric SET id = x'00ff'",
        "UPDATE metric SET value = 'text' WHERE unit = 'ratio'",
        "UPDATE report_table SET id = 'idle.gaps'", /* twice */
        "UPDATE meta SET value = NULL WHERE id = 'checksum'",
        "DELETE FROM meta WHERE id = 'checksum'",
        "UPDATE property SET id = 'a' || char(0) || 'b'",
        "DROP TABLE diag",
        "ALTER TABLE diag RENAME TO d; CREATE VIEW diag AS SELECT * FROM d",
        "DROP TABLE diag; CREATE TABLE diag(run, a, b AS (hex(zeroblob(500000000))), c, d, e); INSERT INTO diag "
        "VALUES (1,1,2,3,4)",
        "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i+1 FROM n LIMIT 3000)"
        " INSERT INTO property SELECT 1, 'p' || i, 'count', i FROM n",
    };
    const char *path = in_folder("a.db");
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        write_summary(path);
        sqlite3 *db;
        ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
        sqlite3_exec(db, attacks[i], NULL, NULL, NULL); /* a table list with a generated column may refuse the insert */
        sqlite3_close(db);
        ck_assert_msg(read_summary(path, "key 1") == IDS_CORRUPT, "attack %zu: %d %s", i, read_error.code,
                      read_error.text);
    }
    /* A view under the name of a report table is no table. */
    write_summary(path);
    run_sql(path, "ALTER TABLE report_ops RENAME TO o; CREATE VIEW report_ops AS SELECT * FROM o");
    ck_assert_int_eq(read_summary(path, "key 1"), IDS_NOT_FOUND);
}
END_TEST

START_TEST(not_a_database) {
    const char *path = in_folder("a.db");
    uint8_t noise[8192];
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (uint8_t)(i * 31 + 7);
    known_tables[0] = &ops_def;
    store(path, noise, sizeof noise);
    ck_assert_int_eq(read_summary(path, "key 1"), IDS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(read_error.text, path));
    ck_assert_int_ne(read_summary(folder, "key 1"), 0);
}
END_TEST

/* The file is named: the user may know nothing of it, as of one in the cache. */
START_TEST(full) {
    const char *path = in_folder("full.db");
    struct ids_error err = IDS_ERROR_INIT;
    sqlite3 *db;
    store(path, (const uint8_t *)"", 0);
    ck_assert_int_eq(ids_db_create(path, &db, &err), 0);
    ck_assert_int_eq(ids_db_exec(db, "PRAGMA max_page_count=1; CREATE TABLE a(b); CREATE TABLE c(d)", &err), IDS_IO);
    sqlite3_close(db);
    ck_assert_ptr_nonnull(strstr(err.text, "cannot write '"));
    ck_assert_ptr_nonnull(strstr(err.text, "full.db'"));
    unlink(path);
}
END_TEST

START_TEST(no_space) {
    const char *path = in_folder("a.db");
    struct ids_report report;
    struct ids_error err = IDS_ERROR_INIT;
    write_summary(path);
    struct rlimit limit, before;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){20000, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    fill_report(&report);
    int code = ids_summary_write(&report, "key 2", path, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(code, IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, path));
    ck_assert_int_eq(count_files(folder), 1);         /* nothing half made stays */
    ck_assert_int_eq(read_summary(path, "key 1"), 0); /* and the old one is whole */
    ck_assert_int_eq(ids_summary_write(&report, "k", "/dev/full", &err), IDS_IO);
    ck_assert_int_eq(ids_summary_write(&report, "k", in_folder("no/such/a.db"), &err), IDS_IO);
    ids_report_done(&report);
}
END_TEST

IDS_RUN_FIXTURE("summary", make_folder, teardown, round_trip, odd_numbers, plain_sqlite, not_what_was_asked_for,
                a_cell_of_another_unit_is_refused, cut_anywhere, changed_anywhere, pages_of_zeros, hostile_content,
                not_a_database, full, no_space)
