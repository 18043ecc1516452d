#include "lib/events/run_db.h"

#include "lib/events/event_findings.h"
#include "lib/events/event_rows.h"
#include "lib/events/views.sql.h"
#include "lib/model/relay.h"
#include "lib/store/db.h"
#include "lib/store/summary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ids_run_db {
    sqlite3 *db;
    char *path;
    int fd; /* of the same file */
    struct ids_event_pages pages;
    struct ids_finding_pages findings_pages;
    size_t held_most;
    struct ids_row_numbers numbers;
    struct ids_finding_numbers findings;
    struct ids_event_rows *rows; /* of the run at hand */
    struct ids_relay *relay;     /* the thread that makes them */
    int64_t origin_unix_ns;
    const char *step_source; /* static; NULL: no steps */
    int has_left_out;
    int64_t left_out;
};

/* Not synced page by page: ids_run_db_sync does so once. Locks end with a transaction, as row_pages.h wants it. */
static const char settings[] = "PRAGMA page_size=16384; PRAGMA synchronous=OFF; PRAGMA cache_size=-16384; "
                               "PRAGMA secure_delete=OFF; PRAGMA temp_store=MEMORY; PRAGMA locking_mode=NORMAL; BEGIN";

enum { HELD_BYTES = 128 << 20 };

static int make_all(struct ids_run_db *db, const struct ids_table_def *const *tables, size_t count,
                    struct ids_error *err) {
    int code = ids_db_exec(db->db, settings, err);
    if (!code) code = ids_event_tables(db->db, db->fd, &db->pages, err);
    if (!code) code = ids_findings_tables(db->db, db->fd, &db->findings_pages, err);
    return code ? code : ids_summary_tables(db->db, tables, count, err);
}

int ids_run_db_create(const char *path, const struct ids_table_def *const *tables, size_t count,
                      struct ids_run_db **ret_db, struct ids_error *err) {
    struct ids_run_db *db = calloc(1, sizeof *db);
    if (!db) return ids_no_memory(err);
    db->fd = -1;
    db->held_most = HELD_BYTES;
    db->path = strdup(path);
    int code = db->path ? ids_db_create(path, &db->db, err) : ids_no_memory(err);
    if (!code) db->fd = open(path, O_RDWR | O_CLOEXEC);
    if (!code && db->fd < 0) code = ids_fail_system(err, "cannot open '%s'", path);
    if (!code) code = make_all(db, tables, count, err);
    if (code) {
        ids_run_db_free(db);
        return code;
    }
    *ret_db = db;
    return 0;
}

int ids_run_db_begin(struct ids_run_db *db, struct ids_strings *strings, struct ids_sink **ret_sink,
                     struct ids_error *err) {
    db->findings.run = ++db->numbers.run;
    db->findings.first_host = db->numbers.host + 1;
    db->findings.first_track = db->numbers.track + 1;
    db->findings.first_name = db->numbers.name + 1;
    db->findings.first_event = db->numbers.event + 1;
    db->step_source = NULL;
    db->has_left_out = 0;
    int code = ids_event_rows_new(db->db, &db->pages, strings, &db->numbers, db->held_most, &db->rows, err);
    if (!code) code = ids_relay_new(ids_event_rows_sink(db->rows), &db->relay, err);
    if (!code) *ret_sink = ids_relay_sink(db->relay);
    return code;
}

static int finish_rows(void *rows, struct ids_error *err) {
    return ids_event_rows_finish(rows, err);
}

void ids_run_db_end_events(struct ids_run_db *db) {
    ids_relay_end(db->relay, finish_rows, db->rows);
}

void ids_run_db_give_up(struct ids_run_db *db) {
    ids_relay_free(db->relay);
    ids_event_rows_free(db->rows);
    db->relay = NULL;
    db->rows = NULL;
}

/* Afterwards the tables are the caller's thread's again, and table event has the rows of the run. */
static int wait_for_rows(struct ids_run_db *db, struct ids_error *err) {
    if (!db->relay) return 0; /* was done */
    int code = ids_relay_wait(db->relay, err);
    db->origin_unix_ns = ids_event_rows_origin(db->rows);
    ids_run_db_give_up(db);
    return code;
}

int ids_run_db_put_findings(struct ids_run_db *db, const struct ids_trace *trace, const struct ids_findings *findings,
                            struct ids_report *report, struct ids_error *err) {
    uint64_t lost = 0;
    db->step_source = findings->step_source;
    db->has_left_out = findings->has_left_out;
    db->left_out = findings->left_out;
    int code = wait_for_rows(db, err);
    if (!code)
        code =
            ids_findings_put(db->db, &db->findings_pages, db->pages.event, trace, findings, &db->findings, &lost, err);
    if (!code && lost)
        ids_report_diag(report, IDS_WARNING, "store.finding_without_event",
                        "activities that count in the figures, but have no row because many events are alike", -1,
                        lost);
    return code;
}

static const char *property(const struct ids_report *report, const char *id) {
    for (size_t i = 0; i < report->property_count; i++) {
        const struct ids_property *property = &report->properties[i];
        if (!strcmp(property->id, id) && property->value.unit == IDS_UNIT_NONE && !property->value.missing)
            return property->value.text;
    }
    return "";
}

static int put_run(struct ids_run_db *db, const struct ids_report *report, struct ids_error *err) {
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(db->db, "INSERT INTO run VALUES (?,?,?,?,?,?,?,?)", -1, &insert, NULL) != SQLITE_OK)
        return ids_db_fail(db->db, err);
    sqlite3_bind_int64(insert, 1, db->numbers.run);
    sqlite3_bind_text(insert, 2, property(report, "name"), -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, property(report, "path"), -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, property(report, "format"), -1, SQLITE_STATIC);
    sqlite3_bind_int(insert, 5, report->complete);
    if (db->origin_unix_ns) sqlite3_bind_int64(insert, 6, db->origin_unix_ns);
    if (db->has_left_out) sqlite3_bind_int64(insert, 7, db->left_out);
    sqlite3_bind_text(insert, 8, db->step_source, -1, SQLITE_STATIC);
    sqlite3_step(insert);
    return sqlite3_finalize(insert) == SQLITE_OK ? 0 : ids_db_fail(db->db, err);
}

int ids_run_db_end(struct ids_run_db *db, const struct ids_report *report, const char *key, struct ids_error *err) {
    int code = wait_for_rows(db, err);
    if (!code) code = put_run(db, report, err);
    return code ? code : ids_summary_put(db->db, db->numbers.run, report, key, err);
}

int ids_run_db_finish(struct ids_run_db *db, struct ids_error *err) {
    char end[96];
    /* 'idsp': what a file of ours is known by */
    snprintf(end, sizeof end, "PRAGMA application_id=0x69647370; PRAGMA user_version=%d; COMMIT", IDS_SCHEMA_VERSION);
    int code = ids_event_pages_finish(&db->pages, err);
    if (!code) code = ids_finding_pages_show(&db->findings_pages, err);
    if (!code) code = ids_db_exec(db->db, ids_views_sql, err);
    if (!code && db->numbers.run > 1) code = ids_summary_index(db->db, err);
    if (!code) code = ids_db_exec(db->db, end, err);
    if (!code && sqlite3_close(db->db) != SQLITE_OK) code = ids_db_fail(db->db, err);
    if (!code) db->db = NULL;
    return code;
}

int ids_run_db_sync(struct ids_run_db *db, struct ids_error *err) {
    return fsync(db->fd) ? ids_fail_system(err, "cannot write '%s'", db->path) : 0;
}

void ids_run_db_hold(struct ids_run_db *db, size_t bytes) {
    db->held_most = bytes;
}

int64_t ids_run_db_events(const struct ids_run_db *db) {
    return db->numbers.event;
}

void ids_run_db_free(struct ids_run_db *db) {
    if (!db) return;
    ids_run_db_give_up(db);
    ids_event_pages_free(&db->pages);
    ids_finding_pages_free(&db->findings_pages);
    sqlite3_close(db->db);
    if (db->fd >= 0) close(db->fd);
    free(db->path);
    free(db);
}
