#include "lib/store/db.h"

#include "lib/base/intern.h"
#include "lib/base/saturate.h"
#include "lib/store/db_limit.h"
#include "lib/store/sealed_vfs.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_VALUE_BYTES = 16 << 20, /* the longest text that a file may make us hold */
    MAX_SQL_BYTES = 1 << 20,
    STEPS_BETWEEN_LOOKS = 10000, /* of SQLite's machine, some 100 us */
    PS_PER_NS = 1000,
};
#define PS_PER_MS INT64_C(1000000000)
#define PS_PER_S INT64_C(1000000000000)

/* ---- what it may cost ---- */

static struct {
    int64_t timeout_ps, memory_bytes;
    int uncounted; /* SQLite does not count its memory: there is no limit */
} limit;

/* Of the database that was opened last; who asks it may be another thread than who opened it. */
static struct {
    _Atomic int64_t deadline_ps;
    atomic_int late;
} running;

void ids_db_limit_set(int64_t timeout_ps, int64_t memory_bytes) {
    limit.timeout_ps = timeout_ps;
    limit.memory_bytes = memory_bytes;
}

static int64_t cpu_ps(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * PS_PER_S + (int64_t)now.tv_nsec * PS_PER_NS;
}

static int is_late(void *unused) {
    (void)unused;
    int is_over = cpu_ps() > running.deadline_ps;
    running.late = is_over;
    return is_over;
}

void ids_db_begin_time(void) {
    running.late = 0;
    running.deadline_ps = ids_sat_add(cpu_ps(), limit.timeout_ps);
}

static void bound(sqlite3 *db) {
    sqlite3_hard_heap_limit64(limit.memory_bytes);
    if (!limit.timeout_ps) return;
    ids_db_begin_time();
    sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, is_late, NULL);
}

void ids_db_count_memory(void) {
    if (!limit.uncounted || !limit.memory_bytes) return;
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
    limit.uncounted = 0;
}

static int fail_late(struct ids_error *err) {
    ids_fail(err, IDS_LIMIT, "the SQL took more than %lld ms of CPU time: stopped",
             (long long)(limit.timeout_ps / PS_PER_MS));
    return ids_hint(err, "--timeout TIME allows more");
}

static int fail_memory(struct ids_error *err) {
    if (limit.uncounted || sqlite3_hard_heap_limit64(-1) <= 0) return ids_no_memory(err);
    ids_fail(err, IDS_NOMEM, "out of memory: the SQL may take %lld MiB", (long long)(limit.memory_bytes >> 20));
    return ids_hint(err, "--max-memory SIZE allows more");
}

/* ---- */

int ids_db_fail(sqlite3 *db, struct ids_error *err) {
    int result = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    int system = db ? sqlite3_system_errno(db) : 0;
    if (result == SQLITE_IOERR_NOMEM || system == ENOMEM) result = SQLITE_NOMEM;
    if (result == SQLITE_IOERR_DATA) return ids_fail(err, IDS_CORRUPT, "damaged: it changed after it was written");
    switch (result & 0xff) {
    case SQLITE_NOMEM:
        return fail_memory(err);
    case SQLITE_INTERRUPT:
        return running.late ? fail_late(err) : ids_fail(err, IDS_IO, "interrupted");
    case SQLITE_CANTOPEN:
        return ids_fail(err, system == ENOENT ? IDS_NOT_FOUND : IDS_IO, "cannot open: %s",
                        system ? strerror(system) : sqlite3_errmsg(db));
    case SQLITE_FULL: /* the file is named: it may be of a cache that the user knows nothing of */
        return ids_fail(err, IDS_IO, "cannot write '%s': %s", sqlite3_db_filename(db, "main"), sqlite3_errmsg(db));
    case SQLITE_IOERR:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_BUSY:
        return ids_fail(err, IDS_IO, "%s%s%s", sqlite3_errmsg(db), system ? ": " : "", system ? strerror(system) : "");
    default:
        return ids_fail(err, IDS_CORRUPT, "damaged database: %s", sqlite3_errmsg(db));
    }
}

int ids_db_exec(sqlite3 *db, const char *sql, struct ids_error *err) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : ids_db_fail(db, err);
}

/* Counting its memory takes a lock an allocation, a tenth of an import. Not beside other calls of SQLite. */
static void leave_uncounted(void) {
    if (sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK) limit.uncounted = 1;
}

void ids_db_expect_threads(void) {
    leave_uncounted();
    sqlite3_initialize();
}

int ids_db_create(const char *path, sqlite3 **ret_db, struct ids_error *err) {
    sqlite3 *db = NULL;
    leave_uncounted();
    sqlite3_hard_heap_limit64(0);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    /* Nobody else knows the file, and it is locked already (unfinished.h), which on network file systems SQLite's
     * own locks run into. */
    int code = sqlite3_open_v2(path, &db, flags, "unix-none") == SQLITE_OK ? 0 : ids_db_fail(db, err);
    if (!code) {
        code = ids_db_exec(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;", err);
    }
    if (code) {
        sqlite3_close(db);
        return code;
    }
    *ret_db = db;
    return 0;
}

/* "file:<path>?immutable=1" with the path's own ?, # and % escaped (https://sqlite.org/uri.html). Immutable: no locks,
 * no look for a journal, which a hostile neighbour could have put there. */
static char *immutable_uri(const char *path) {
    static const char before[] = "file:", after[] = "?immutable=1";
    char *uri = malloc(sizeof before + 3 * strlen(path) + sizeof after);
    if (!uri) return NULL;
    char *at = uri + sizeof before - 1;
    memcpy(uri, before, sizeof before - 1);
    for (; *path; path++) {
        if (strchr("?#%", *path)) {
            static const char hex[] = "0123456789ABCDEF";
            *at++ = '%';
            *at++ = hex[*path >> 4];
            *at++ = hex[*path & 15];
        } else {
            *at++ = *path;
        }
    }
    memcpy(at, after, sizeof after);
    return uri;
}

static void distrust(sqlite3 *db) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 20);
    sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 25000);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

int ids_db_open(const char *path, enum ids_db_origin origin, sqlite3 **ret_db, struct ids_error *err) {
    sqlite3 *db = NULL;
    const char *vfs = origin == IDS_DB_CACHED ? ids_sealed_vfs() : NULL;
    if (origin == IDS_DB_CACHED && !vfs) return ids_no_memory(err);
    char *uri = immutable_uri(path);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    if (!uri) return ids_no_memory(err);
    int code = sqlite3_open_v2(uri, &db, flags, vfs) == SQLITE_OK ? 0 : ids_db_fail(db, err);
    free(uri);
    if (!code) {
        distrust(db);
        bound(db);
        code = ids_db_exec(db, "PRAGMA cell_size_check=ON;", err);
    }
    if (code) {
        sqlite3_close(db);
        return code;
    }
    *ret_db = db;
    return 0;
}

/* ---- rows ---- */

/* One step of the sum: `kind` keeps a text from looking like a number. Changing this makes every older file damaged. */
static void add_to_sum(struct ids_rows *rows, unsigned kind, uint64_t bits) {
    uint64_t sum = (*rows->sum ^ bits) * UINT64_C(0xff51afd7ed558ccd) + kind;
    *rows->sum = sum ^ sum >> 32;
}

static void add_real_to_sum(struct ids_rows *rows, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_to_sum(rows, SQLITE_FLOAT, bits);
}

int ids_rows_prepare(struct ids_rows *rows, sqlite3 *db, uint64_t *sum, const char *sql, struct ids_error *err) {
    *rows = (struct ids_rows){.db = db, .sum = sum};
    return sqlite3_prepare_v2(db, sql, -1, &rows->statement, NULL) == SQLITE_OK ? 0 : ids_db_fail(db, err);
}

void ids_rows_of_run(struct ids_rows *rows, int64_t run) {
    if (!rows->statement) return;
    sqlite3_bind_int64(rows->statement, 1, run); /* stays over all rows */
    rows->first = rows->column = 1;
}

void ids_rows_done(struct ids_rows *rows) {
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
}

static void note(struct ids_rows *rows, int result) {
    if (result != SQLITE_OK && !rows->failed) rows->failed = result;
}

static int sticky_failure(const struct ids_rows *rows, struct ids_error *err) {
    if (rows->failed == SQLITE_NOMEM) return fail_memory(err);
    return ids_fail(err, IDS_CORRUPT, "damaged database: a value of the wrong type in: %s",
                    sqlite3_sql(rows->statement));
}

void ids_rows_put_null(struct ids_rows *rows) {
    add_to_sum(rows, SQLITE_NULL, 0);
    note(rows, sqlite3_bind_null(rows->statement, ++rows->column));
}

void ids_rows_put_int(struct ids_rows *rows, int64_t value) {
    add_to_sum(rows, SQLITE_INTEGER, (uint64_t)value);
    note(rows, sqlite3_bind_int64(rows->statement, ++rows->column, value));
}

void ids_rows_put_text(struct ids_rows *rows, const char *text) {
    if (!text) {
        ids_rows_put_null(rows);
        return;
    }
    size_t length = strlen(text);
    if (length > MAX_VALUE_BYTES) length = MAX_VALUE_BYTES; /* what ids_db_open would refuse */
    add_to_sum(rows, SQLITE_TEXT, ids_hash_bytes(text, length));
    note(rows, sqlite3_bind_text(rows->statement, ++rows->column, text, (int)length, SQLITE_STATIC));
}

static void put_real(struct ids_rows *rows, double value) {
    if (value != value) { /* SQLite has no NaN */
        ids_rows_put_null(rows);
        return;
    }
    value += 0.0; /* and stores -0.0 as 0.0, which this is too */
    add_real_to_sum(rows, value);
    note(rows, sqlite3_bind_double(rows->statement, ++rows->column, value));
}

void ids_rows_put_value(struct ids_rows *rows, struct ids_value value) {
    if (value.missing) {
        ids_rows_put_null(rows);
    } else if (value.unit == IDS_UNIT_NONE) {
        ids_rows_put_text(rows, value.text);
    } else if (ids_unit_is_real(value.unit)) {
        put_real(rows, value.d);
    } else {
        ids_rows_put_int(rows, value.i);
    }
}

int ids_rows_insert(struct ids_rows *rows, struct ids_error *err) {
    if (rows->failed) return sticky_failure(rows, err);
    rows->column = rows->first;
    sqlite3_step(rows->statement);
    return sqlite3_reset(rows->statement) == SQLITE_OK ? 0 : ids_db_fail(rows->db, err);
}

int ids_rows_next(struct ids_rows *rows, struct ids_error *err) {
    if (rows->failed) return sticky_failure(rows, err);
    rows->column = rows->first;
    int result = sqlite3_step(rows->statement);
    if (result == SQLITE_ROW) return 1;
    return result == SQLITE_DONE ? 0 : ids_db_fail(rows->db, err);
}

/* 1 when the next column has the type; NULL and every other type are 0, the other types a failure. */
static int next_is(struct ids_rows *rows, int type) {
    int found = sqlite3_column_type(rows->statement, rows->column);
    if (found == type) return 1;
    if (found != SQLITE_NULL) note(rows, SQLITE_MISMATCH);
    add_to_sum(rows, SQLITE_NULL, 0);
    rows->column++;
    return 0;
}

int64_t ids_rows_get_int(struct ids_rows *rows, int64_t if_null) {
    if (!next_is(rows, SQLITE_INTEGER)) return if_null;
    int64_t value = sqlite3_column_int64(rows->statement, rows->column++);
    add_to_sum(rows, SQLITE_INTEGER, (uint64_t)value);
    return value;
}

const char *ids_rows_get_text(struct ids_rows *rows) {
    if (!next_is(rows, SQLITE_TEXT)) return NULL;
    const char *text = (const char *)sqlite3_column_text(rows->statement, rows->column);
    size_t length = (size_t)sqlite3_column_bytes(rows->statement, rows->column++);
    if (!text) {
        note(rows, SQLITE_NOMEM);
        return NULL;
    }
    if (strlen(text) != length) note(rows, SQLITE_MISMATCH);
    add_to_sum(rows, SQLITE_TEXT, ids_hash_bytes(text, length));
    return text;
}

struct ids_value ids_rows_get_value(struct ids_rows *rows, enum ids_unit unit) {
    if (unit == IDS_UNIT_NONE) return ids_text_value(ids_rows_get_text(rows));
    if (ids_unit_is_real(unit)) {
        if (!next_is(rows, SQLITE_FLOAT)) return ids_no_value(unit);
        double value = sqlite3_column_double(rows->statement, rows->column++);
        add_real_to_sum(rows, value);
        return ids_real_value(unit, value);
    }
    if (sqlite3_column_type(rows->statement, rows->column) == SQLITE_NULL) {
        next_is(rows, SQLITE_INTEGER);
        return ids_no_value(unit);
    }
    return ids_int_value(unit, ids_rows_get_int(rows, 0));
}

int ids_rows_each(sqlite3 *db, uint64_t *sum, const char *sql, int (*read)(void *context, struct ids_rows *rows),
                  void *context, struct ids_error *err) {
    struct ids_rows rows;
    int more = 0, code = ids_rows_prepare(&rows, db, sum, sql, err);
    while (!code && (more = ids_rows_next(&rows, err)) > 0) code = read(context, &rows);
    ids_rows_done(&rows);
    return code ? code : more;
}
