#include "lib/store/partial_cache.h"

#include "lib/store/cache_partials.h"
#include "lib/store/db.h"
#include "lib/store/events_cache.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 }; /* of a row */

/* The file as a run of its own, by whose identity it is kept. */
static struct ids_run_files alone(const struct ids_run_file *file) {
    const char *slash = strrchr(file->path, '/');
    return (struct ids_run_files){.path = file->path,
                                  .name = slash ? (char *)slash + 1 : file->path,
                                  .files = (struct ids_run_file *)file,
                                  .file_count = 1};
}

static int put_pieces(sqlite3 *db, const struct ids_buffer *bytes, struct ids_error *err) {
    sqlite3_stmt *insert = NULL;
    int code = sqlite3_prepare_v2(db, "INSERT INTO partial VALUES (?)", -1, &insert, NULL) ? ids_db_fail(db, err) : 0;
    for (size_t at = 0; at < bytes->length && !code; at += PIECE_BYTES) {
        size_t left = bytes->length - at;
        int failed =
            sqlite3_bind_blob(insert, 1, bytes->at + at, (int)(left < PIECE_BYTES ? left : PIECE_BYTES), SQLITE_STATIC);
        if (failed || sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert)) code = ids_db_fail(db, err);
    }
    sqlite3_finalize(insert);
    return code;
}

static int fill(const struct ids_events_entry *entry, const char *name, const struct ids_buffer *bytes,
                struct ids_error *err) {
    sqlite3 *db = NULL;
    struct ids_rows rows = {0};
    uint64_t unused = 0;
    int code = ids_db_create(entry->temporary, &db, err);
    if (code) return code;
    code = ids_db_exec(db,
                       "BEGIN; CREATE TABLE meta (id TEXT, value); CREATE TABLE property (id TEXT, value);"
                       "CREATE TABLE partial (bytes BLOB)",
                       err);
    if (!code) code = ids_rows_prepare(&rows, db, &unused, "INSERT INTO meta VALUES ('key', ?)", err);
    if (!code) ids_rows_put_text(&rows, entry->key);
    if (!code) code = ids_rows_insert(&rows, err);
    ids_rows_done(&rows);
    if (!code) code = ids_rows_prepare(&rows, db, &unused, "INSERT INTO property VALUES ('name', ?)", err);
    if (!code) ids_rows_put_text(&rows, name);
    if (!code) code = ids_rows_insert(&rows, err);
    ids_rows_done(&rows);
    if (!code) code = put_pieces(db, bytes, err);
    if (!code) code = ids_db_exec(db, "COMMIT", err);
    sqlite3_close(db);
    return code;
}

int ids_partial_cache_save(const struct ids_run_file *file, const struct ids_buffer *bytes, struct ids_error *err) {
    const struct ids_run_files run = alone(file);
    struct ids_events_entry entry;
    int code = ids_partial_entry_begin(&run, &entry, err);
    if (code) return code;
    code = fill(&entry, run.name, bytes, err);
    if (!code) code = ids_events_entry_commit(&entry, err);
    ids_events_entry_done(&entry);
    return code;
}

static int get_pieces(sqlite3 *db, struct ids_buffer *to, struct ids_error *err) {
    sqlite3_stmt *select = NULL;
    int step = 0;
    int code = sqlite3_prepare_v2(db, "SELECT bytes FROM partial ORDER BY rowid", -1, &select, NULL)
                   ? ids_db_fail(db, err)
                   : 0;
    while (!code && (step = sqlite3_step(select)) == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(select, 0);
        if (bytes) ids_buffer_put(to, bytes, (size_t)sqlite3_column_bytes(select, 0));
    }
    if (!code && step != SQLITE_DONE) code = ids_db_fail(db, err);
    sqlite3_finalize(select);
    return !code && to->failed ? ids_no_memory(err) : code;
}

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

int ids_partial_cache_load(const struct ids_run_file *file, struct ids_buffer *to, struct ids_error *err) {
    const struct ids_run_files run = alone(file);
    char *path = NULL, *key = NULL;
    sqlite3 *db = NULL;
    int code = ids_partial_entry_find(&run, &path, &key, err);
    if (!code) code = ids_db_open(path, IDS_DB_CACHED, &db, err);
    if (!code) code = check_key(db, key, err);
    if (!code) code = get_pieces(db, to, err);
    sqlite3_close(db);
    if (!code) ids_cache_mark_used(path);
    free(path);
    free(key);
    return code;
}
