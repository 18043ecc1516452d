/* lib/events/stretch_rows.c: the view stretch gives back each stretch that was put, however they lie in blocks. */
#include "lib/events/findings.sql.h"
#include "lib/events/stretch_rows.h"
#include "tests/support/pages_db.h"

static struct ids_stretch_rows *rows;
static sqlite3_stmt *wanted;

static void begin(void) {
    create("PRAGMA page_size=16384; PRAGMA locking_mode=NORMAL; BEGIN");
    run_sql(ids_findings_sql);
    run_sql("CREATE TABLE wanted (id, device, start_ps, dur_ps, culprit, known, state, step, event)");
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

/* As another program finds the file. Rows come in the order of their ids without being asked to. */
static void check(int64_t count) {
    sqlite3_finalize(wanted);
    ck_assert_int_eq(ids_stretch_rows_show(rows, &err), 0);
    ids_stretch_rows_free(rows);
    reopen();
    ck_assert_int_eq(ask("SELECT count(*) FROM stretch"), count);
    ck_assert_int_eq(ask("SELECT count(*) FROM (SELECT * FROM wanted EXCEPT SELECT * FROM stretch)"), 0);
    ck_assert_int_eq(ask("SELECT count(*) FROM (SELECT id, lag(id) OVER () AS before FROM stretch) WHERE id <= before"),
                     0);
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

/* Of many culprits the common ones have kinds of one byte, whenever they come, and rare ones take none from them. */
START_TEST(common_kinds_are_short) {
    enum { CULPRITS = 300, FIRST = 1000, COMMON = CULPRITS - 1 };
    static uint64_t stretches[CULPRITS];
    for (int i = 0; i < CULPRITS; i++) stretches[i] = 1;
    stretches[COMMON] = 1000000;
    begin();
    ck_assert_int_eq(ids_stretch_rows_begin_run(rows, FIRST, stretches, CULPRITS, &err), 0);
    int64_t id = 0;
    for (int i = 0; i < CULPRITS - 1; i++) {
        put(&(struct ids_stretch){++id, 1, 0, FIRST + i, 0, id * 1000, id * 1000 + 1000, 256, 0});
        put(&(struct ids_stretch){++id, 1, 0, FIRST + COMMON, 0, id * 1000, id * 1000 + 1000, 256, (uint8_t)(i % 2)});
    }
    ck_assert_int_eq(ids_stretch_rows_end_run(rows, &err), 0);
    /* The next run numbers its culprits anew, and has few. */
    ck_assert_int_eq(ids_stretch_rows_begin_run(rows, FIRST + CULPRITS, stretches, 2, &err), 0);
    put(&(struct ids_stretch){++id, 2, 0, FIRST + CULPRITS + 1, 0, 0, 1000, 256, 0});
    ck_assert_int_eq(ids_stretch_rows_end_run(rows, &err), 0);
    check(id);
    ck_assert_int_eq(ask("SELECT max(id) FROM stretch_kind WHERE culprit = 1299"), 2);
    ck_assert_int_eq(ask("SELECT count(*) FROM stretch_kind WHERE culprit < 1299 AND id > 127"), CULPRITS - 1);
    ck_assert_int_eq(ask("SELECT id FROM stretch_kind WHERE culprit = 1301"), 3);
    ck_assert_int_eq(ask("SELECT count(*) FROM stretch_kind"), CULPRITS + 2);
    done();
}
END_TEST

IDS_RUN_SUITE("stretch_rows", full_blocks, large_numbers, any_stretches, common_kinds_are_short)
