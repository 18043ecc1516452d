#include "lib/store/cache_bytes.h"

#include "lib/store/db.h"

#include <string.h>

enum {
    PIECE_BYTES = 1 << 20, /* of a row */
    SQL_BYTES = 256,
};

/* ---- writing ---- */

static int make_tables(sqlite3 *db, const char *table, struct ids_error *err) {
    char sql[SQL_BYTES];
    /* Large pages: each is a call of the system when it is read. */
    sqlite3_snprintf(sizeof sql, sql,
                     "PRAGMA page_size=16384; BEGIN; CREATE TABLE meta (id TEXT, value);"
                     "CREATE TABLE property (id TEXT, value); CREATE TABLE \"%w\" (bytes BLOB)",
                     table);
    return ids_db_exec(db, sql, err);
}

static int put_text(sqlite3 *db, const char *sql, const char *text, struct ids_error *err) {
    struct ids_rows rows;
    uint64_t unused = 0;
    int code = ids_rows_prepare(&rows, db, &unused, sql, err);
    if (!code) ids_rows_put_text(&rows, text);
    if (!code) code = ids_rows_insert(&rows, err);
    ids_rows_done(&rows);
    return code;
}

static int put_pieces(sqlite3 *db, const char *table, const struct ids_buffer *bytes, struct ids_error *err) {
    sqlite3_stmt *insert = NULL;
    char sql[SQL_BYTES];
    sqlite3_snprintf(sizeof sql, sql, "INSERT INTO \"%w\" VALUES (?)", table);
    int code = sqlite3_prepare_v2(db, sql, -1, &insert, NULL) ? ids_db_fail(db, err) : 0;
    for (size_t at = 0; at < bytes->length && !code; at += PIECE_BYTES) {
        size_t left = bytes->length - at;
        int failed =
            sqlite3_bind_blob(insert, 1, bytes->at + at, (int)(left < PIECE_BYTES ? left : PIECE_BYTES), SQLITE_STATIC);
        if (failed || sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert)) code = ids_db_fail(db, err);
    }
    sqlite3_finalize(insert);
    return code;
}

int ids_cache_bytes_write(const struct ids_events_entry *entry, const char *table, const char *run,
                          const struct ids_buffer *bytes, struct ids_error *err) {
    sqlite3 *db = NULL;
    int code = ids_db_create(entry->temporary, &db, err);
    if (code) return code;
    code = make_tables(db, table, err);
    if (!code) code = put_text(db, "INSERT INTO meta VALUES ('key', ?)", entry->key, err);
    if (!code) code = put_text(db, "INSERT INTO property VALUES ('name', ?)", run, err);
    if (!code) code = put_pieces(db, table, bytes, err);
    if (!code) code = ids_db_exec(db, "COMMIT", err);
    sqlite3_close(db);
    return code;
}

/* ---- reading ---- */

static int check_key(sqlite3 *db, const char *key, struct ids_error *err) {
    struct ids_rows rows;
    uint64_t unused = 0;
    int code = ids_rows_prepare(&rows, db, &unused, "SELECT value FROM meta WHERE id = 'key'", err);
    if (code) return code;
    int more = ids_rows_next(&rows, err);
    const char *found = more > 0 ? ids_rows_get_text(&rows) : NULL;
    if (more < 0)
        code = more;
    else if (!found || strcmp(found, key) != 0)
        code = ids_fail(err, IDS_NOT_FOUND, "the cache has another state of the file");
    ids_rows_done(&rows);
    return code;
}

/* Straight to where it is wanted: a value of a row would be a copy. */
static int get_piece(sqlite3 *db, const char *table, int64_t row, struct ids_buffer *to, struct ids_error *err) {
    sqlite3_blob *piece = NULL;
    int code = sqlite3_blob_open(db, "main", table, "bytes", row, 0, &piece) ? ids_db_fail(db, err) : 0;
    int bytes = code ? 0 : sqlite3_blob_bytes(piece);
    char *at = bytes ? ids_buffer_space(to, (size_t)bytes) : NULL;
    if (bytes && !at) code = ids_no_memory(err);
    if (at && sqlite3_blob_read(piece, at, bytes, 0)) code = ids_db_fail(db, err);
    if (at && !code) to->length += (size_t)bytes;
    sqlite3_blob_close(piece);
    return code;
}

static int get_pieces(sqlite3 *db, const char *table, struct ids_buffer *to, struct ids_error *err) {
    sqlite3_stmt *select = NULL;
    char sql[SQL_BYTES];
    int step = 0;
    sqlite3_snprintf(sizeof sql, sql, "SELECT rowid FROM \"%w\" ORDER BY rowid", table);
    int code = sqlite3_prepare_v2(db, sql, -1, &select, NULL) ? ids_db_fail(db, err) : 0;
    while (!code && (step = sqlite3_step(select)) == SQLITE_ROW)
        code = get_piece(db, table, sqlite3_column_int64(select, 0), to, err);
    if (!code && step != SQLITE_DONE) code = ids_db_fail(db, err);
    sqlite3_finalize(select);
    return code;
}

int ids_cache_bytes_read(const char *path, const char *table, const char *key, struct ids_buffer *to,
                         struct ids_error *err) {
    sqlite3 *db = NULL;
    int code = ids_db_open(path, IDS_DB_CACHED, &db, err);
    if (!code) code = ids_db_exec(db, "PRAGMA cache_size=4", err); /* no page is wanted twice */
    if (!code) code = check_key(db, key, err);
    if (!code) code = get_pieces(db, table, to, err);
    sqlite3_close(db);
    return code;
}
