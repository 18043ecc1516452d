/* lib/events/row_pages.c: SQLite reads back what was written as pages beside it, and finds no fault with the file. */
#include "lib/events/row_pages.h"
#include "tests/support/pages_db.h"

#include <fcntl.h>
#include <stdio.h>

static const char row_columns[] = "id a b c d";

static void begin(int page_bytes) {
    char sql[256];
    snprintf(sql, sizeof sql,
             "PRAGMA page_size=%d; PRAGMA locking_mode=NORMAL; BEGIN; CREATE TABLE row (id INTEGER PRIMARY KEY, a, b, "
             "c, d); "
             "CREATE TABLE keyed (a, word TEXT, b, PRIMARY KEY (a, word, b)) WITHOUT ROWID; CREATE TABLE other (x)",
             page_bytes);
    create(sql);
}

/* Column a counts, b is its square or NULL, c is NULL but in every hundredth row, d is always NULL. */
static void put(struct ids_row_pages *pages, int64_t i) {
    const int64_t values[] = {i, i * i, -i, 0};
    uint32_t nulls = 1u << 3 | (i % 3 ? 0 : 1u << 1) | (i % 100 ? 1u << 2 : 0);
    ck_assert_int_eq(ids_row_pages_put(pages, i, &(struct ids_row_values){values, 4, nulls, 0}, &err), 0);
}

static void put_keyed(struct ids_row_pages *pages, int64_t i) {
    static const char *const words[] = {"arrow", "b", ""};
    const int64_t values[] = {i, (int64_t)(uintptr_t)words[i % 3], i * 1000};
    ck_assert_int_eq(ids_row_pages_put_keyed(pages, &(struct ids_row_values){values, 3, 0, 1u << 1}, &err), 0);
}

static void check_table(int64_t count) {
    char sql[512];
    ck_assert_int_eq(ask("SELECT count(*) FROM row"), count);
    ck_assert_int_eq(ask("SELECT count(*) FROM row WHERE a IS NOT id OR b IS NOT iif(id % 3, id * id, NULL) OR "
                         "c IS NOT iif(id % 100, NULL, -id) OR d IS NOT NULL"),
                     0);
    for (int64_t i = 1; i <= count; i += count / 7 + 1) { /* through the tree, and not along its leaves */
        snprintf(sql, sizeof sql, "SELECT a FROM row WHERE id = %lld", (long long)i);
        ck_assert_int_eq(ask(sql), i);
    }
}

/* Ids are 3, 6, 9 and so on. */
static void check_reader(const struct ids_row_pages *pages, int64_t count) {
    struct ids_row_reader *reader;
    int64_t id = 0, values[3];
    ck_assert_int_eq(ids_row_reader_new(pages, &reader, &err), 0);
    ck_assert_int_eq(ids_row_reader_seek(reader, 1, &err), 0);
    for (int64_t i = 1; i <= count; i++) {
        ck_assert_int_eq(ids_row_reader_next(reader, &id, values, 3, &err), 0);
        ck_assert_int_eq(id, 3 * i);
        ck_assert_int_eq(values[0], 3 * i);
        ck_assert_int_eq(values[1], i * i * (i % 2 ? -1 : 1));
        ck_assert_int_eq(values[2], i % 100 ? 0 : i << 40);
    }
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(ids_row_reader_next(reader, &id, values, 3, &err), 0);
        ck_assert_int_eq(id, 0);
    }
    for (int64_t i = count; i > 0; i -= count / 9 + 1) { /* there, and between two */
        for (int64_t wanted = 3 * i - 2; wanted <= 3 * i; wanted++) {
            ck_assert_int_eq(ids_row_reader_seek(reader, wanted, &err), 0);
            ck_assert_int_eq(ids_row_reader_next(reader, &id, values, 1, &err), 0);
            ck_assert_int_eq(id, 3 * i);
        }
    }
    ck_assert_int_eq(ids_row_reader_seek(reader, 3 * count + 1, &err), 0);
    ck_assert_int_eq(ids_row_reader_next(reader, &id, values, 1, &err), 0);
    ck_assert_int_eq(id, 0);
    ids_row_reader_free(reader);
}

/* Rows are read back without SQLite: none, some of a page, many pages; numbers of any width, below 0, and NULL. */
START_TEST(read_back) {
    const int64_t counts[] = {0, 1, 2, 50, 51, 52, 53, 1000, 30000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts - (getenv("IDS_VALGRIND") != NULL); i++) {
        struct ids_row_pages *rows;
        begin(1024);
        ck_assert_int_eq(ids_row_pages_new(db, fd, "row", row_columns, &rows, &err), 0);
        for (int64_t n = 1; n <= counts[i]; n++) {
            const int64_t values[] = {3 * n, n * n * (n % 2 ? -1 : 1), n << 40, 0};
            uint64_t nulls = 1u << 3 | (n % 100 ? 1u << 2 : 0);
            ck_assert_int_eq(ids_row_pages_put(rows, 3 * n, &(struct ids_row_values){values, 4, nulls, 0}, &err), 0);
        }
        ck_assert_int_eq(ids_row_pages_show(rows, &err), 0);
        check_reader(rows, counts[i]);
        ids_row_pages_free(rows);
        done();
    }
}
END_TEST

static void check_keyed(int64_t count) {
    char sql[512];
    ck_assert_int_eq(ask("SELECT count(*) FROM keyed"), count);
    ck_assert_int_eq(
        ask("SELECT count(*) FROM keyed WHERE b != a * 1000 OR word != CASE a % 3 WHEN 0 THEN 'arrow' WHEN 1 THEN 'b' "
            "ELSE '' END"),
        0);
    for (int64_t i = 1; i <= count; i += count / 7 + 1) {
        snprintf(sql, sizeof sql, "SELECT b FROM keyed WHERE a = %lld", (long long)i);
        ck_assert_int_eq(ask(sql), i * 1000);
    }
}

/* Every number of rows up to some pages, so that each way to end a page comes; then trees of two, three and four
 * levels. */
START_TEST(any_number_of_rows) {
    int64_t counts[140];
    size_t tried = 0;
    int is_valgrind = getenv("IDS_VALGRIND") != NULL; /* the sanitizers see all */
    for (int64_t count = 0; count < 130; count += is_valgrind ? 10 : 1) counts[tried++] = count;
    const int64_t more[] = {1000, 5000, 29999, 100000};
    for (size_t i = 0; i < sizeof more / sizeof *more - (is_valgrind ? 2 : 0); i++) counts[tried++] = more[i];
    for (size_t i = 0; i < tried; i++) {
        struct ids_row_pages *rows, *keyed;
        begin(1024);
        ck_assert_int_eq(ids_row_pages_new(db, fd, "row", row_columns, &rows, &err), 0);
        ck_assert_int_eq(ids_row_pages_new(db, fd, "keyed", "a word b", &keyed, &err), 0);
        for (int64_t n = 1; n <= counts[i]; n++) {
            put(rows, n);
            put_keyed(keyed, n);
        }
        ck_assert_int_eq(ids_row_pages_show(rows, &err), 0);
        ck_assert_int_eq(ids_row_pages_show(keyed, &err), 0);
        ids_row_pages_free(rows);
        ids_row_pages_free(keyed);
        reopen();
        check_table(counts[i]);
        check_keyed(counts[i]);
        done();
    }
}
END_TEST

/* SQLite goes on writing its own tables meanwhile, and finds its statements as they were. */
START_TEST(beside_sqlite) {
    IDS_NOT_UNDER_VALGRIND();
    enum { ROWS = 200000 };
    struct ids_row_pages *rows;
    sqlite3_stmt *insert = NULL;
    begin(4096);
    ck_assert_int_eq(ids_row_pages_new(db, fd, "row", row_columns, &rows, &err), 0);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "INSERT INTO other VALUES (?)", -1, &insert, NULL), SQLITE_OK);
    for (int64_t i = 1; i <= ROWS; i++) {
        put(rows, i);
        if (i % 10) continue;
        sqlite3_bind_int64(insert, 1, i);
        ck_assert_int_eq(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    ck_assert_int_eq(ids_row_pages_show(rows, &err), 0);
    ids_row_pages_free(rows);
    ck_assert_int_eq(ids_db_exec(db, "CREATE TABLE late AS SELECT * FROM row WHERE id % 1000 = 0", &err), 0);
    reopen();
    check_table(ROWS);
    ck_assert_int_eq(ask("SELECT count(*) FROM other"), ROWS / 10);
    ck_assert_int_eq(ask("SELECT sum(x) FROM other"), 2000100000); /* 10 + 20 + ... + 200000 */
    ck_assert_int_eq(ask("SELECT count(*) FROM late"), ROWS / 1000);
    done();
}
END_TEST

/* Shown after each part, the rows so far are there; pages of the tree are used again, so that none is lost
 * (integrity_check). */
START_TEST(shown_in_parts) {
    IDS_NOT_UNDER_VALGRIND();
    const int64_t parts[] = {0, 3, 3, 40, 41, 45, 3000, 3001, 70000, 70000, 200000};
    struct ids_row_pages *rows;
    int64_t n = 1;
    begin(1024);
    ck_assert_int_eq(ids_row_pages_new(db, fd, "row", row_columns, &rows, &err), 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (; n <= parts[i]; n++) put(rows, n);
        ck_assert_int_eq(ids_row_pages_show(rows, &err), 0);
        check_table(parts[i]);
        ck_assert_int_eq(ids_db_exec(db, "INSERT INTO other VALUES (zeroblob(3000))", &err), 0);
    }
    ids_row_pages_free(rows);
    reopen();
    check_table(200000);
    done();
}
END_TEST

/* Each number at the edges of a length. */
START_TEST(every_length) {
    struct ids_row_pages *rows;
    int64_t tried[2 * 64 * 3], count = 0;
    for (int bits = 0; bits < 64; bits++) {
        for (int64_t off = -1; off <= 1; off++) {
            int64_t value = (int64_t)((UINT64_C(1) << bits) + (uint64_t)off);
            tried[count++] = value;
            tried[count++] = (int64_t) - (uint64_t)value;
        }
    }
    begin(16384);
    ck_assert_int_eq(ids_row_pages_new(db, fd, "row", row_columns, &rows, &err), 0);
    for (int64_t i = 0; i < count; i++) {
        const int64_t values[] = {tried[i], tried[i], tried[i], tried[i]};
        int64_t id = i + (i < count / 2 ? 1 : (int64_t)1 << 40); /* ids of more bytes too */
        ck_assert_int_eq(ids_row_pages_put(rows, id, &(struct ids_row_values){values, 4, 0, 0}, &err), 0);
    }
    ck_assert_int_eq(ids_row_pages_show(rows, &err), 0);
    ids_row_pages_free(rows);
    reopen();
    for (int64_t i = 0; i < count; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT a FROM row WHERE id = %lld",
                 (long long)(i + (i < count / 2 ? 1 : (int64_t)1 << 40)));
        ck_assert_int_eq(ask(sql), tried[i]);
    }
    ck_assert_int_eq(ask("SELECT count(*) FROM row WHERE a IS NOT b OR a IS NOT d OR typeof(c) != 'integer'"), 0);
    done();
}
END_TEST

/* The page of the locks: of 1024 bytes, number 1048577. */
START_TEST(page_of_the_locks) {
    ck_assert_uint_eq(ids_row_pages_behind(10, 5, 1024), 11);
    ck_assert_uint_eq(ids_row_pages_behind(1048571, 5, 1024), 1048572); /* up to 1048576 */
    ck_assert_uint_eq(ids_row_pages_behind(1048572, 5, 1024), 1048578);
    ck_assert_uint_eq(ids_row_pages_behind(1048576, 1, 1024), 1048578);
    ck_assert_uint_eq(ids_row_pages_behind(1048577, 1, 1024), 1048578); /* SQLite passed over it */
    ck_assert_uint_eq(ids_row_pages_behind(65535, 1, 16384), 65536);
    ck_assert_uint_eq(ids_row_pages_behind(65536, 1, 16384), 65538);
}
END_TEST

/* A file that cannot be written: the write fails, and says why. */
START_TEST(no_room) {
    struct ids_row_pages *rows;
    int code = 0, closed;
    begin(1024);
    closed = open("/dev/full", O_RDWR);
    ck_assert_int_eq(ids_row_pages_new(db, closed, "row", row_columns, &rows, &err), 0);
    for (int64_t i = 1; i < 200000 && !code; i++) {
        const int64_t values[] = {i, i, i, i};
        code = ids_row_pages_put(rows, i, &(struct ids_row_values){values, 4, 0, 0}, &err);
    }
    ck_assert_int_eq(code, IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "No space left on device"));
    ids_row_pages_free(rows);
    close(closed);
    done();
}
END_TEST

/* A column that was added to the SQL, and is in no row, or that changed its place: nobody else would say so. */
START_TEST(other_columns) {
    static const char *const wrong[] = {"id a b c", "id a b c d e", "id b a c d", "a b c d", "id a b c  d", ""};
    begin(4096);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ids_row_pages *rows = NULL;
        ck_assert_int_eq(ids_row_pages_new(db, fd, "row", wrong[i], &rows, &err), IDS_UNSUPPORTED);
        ck_assert_ptr_null(rows);
        ck_assert_ptr_nonnull(strstr(err.text, "the table row has the columns 'id a b c d'"));
    }
    done();
}
END_TEST

IDS_RUN_SUITE("row_pages", any_number_of_rows, read_back, beside_sqlite, shown_in_parts, every_length,
              page_of_the_locks, no_room, other_columns)
