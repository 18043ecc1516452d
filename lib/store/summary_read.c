/* summary_read.c - a summary's file back into a report, checked by its sum; summary.c writes it. */
#include "lib/store/db.h"
#include "lib/store/summary.h"
#include "lib/store/summary_file.h"
#include "lib/store/summary_sql.h"

#include <stdlib.h>
#include <string.h>

static int index_of(const char *name, const char *const *names, int count) {
    for (int i = 0; i < count; i++) {
        if (name == names[i] || (name && names[i] && !strcmp(name, names[i]))) return i;
    }
    return -1;
}

struct reader {
    struct ids_report *report;
    sqlite3 *db;
    int64_t run;
    uint64_t sum;
    const struct ids_table_def *(*find_table)(const char *id);
    struct checked *checked; /* tables of this file that are as they should be; NULL: not kept */
    struct ids_error *err;
};

enum { CHECKED_ROOM = 64 };
struct checked {
    const struct ids_table_def *at[CHECKED_ROOM];
    size_t count;
};

static int was_checked(const struct reader *reader, const struct ids_table_def *def) {
    for (size_t i = 0; reader->checked && i < reader->checked->count; i++) {
        if (reader->checked->at[i] == def) return 1;
    }
    return 0;
}

enum { MAX_PROPERTIES = 1000 }; /* setting one looks at all others */

static int damaged(struct reader *reader, const char *what) {
    return ids_fail(reader->err, IDS_CORRUPT, "damaged summary: %s", what);
}

/* A text that must be there; "" and a failure that sticks when it is not. */
static const char *get_name(struct ids_rows *rows) {
    const char *text = ids_rows_get_text(rows);
    if (!text && !rows->failed) rows->failed = SQLITE_MISMATCH;
    return text ? text : "";
}

/* The index of the next column's text in `names`; 0 and a failure that sticks when it is not one of them. */
static int get_index(struct ids_rows *rows, const char *const *names, int count) {
    int index = index_of(ids_rows_get_text(rows), names, count);
    if (index < 0 && !rows->failed) rows->failed = SQLITE_MISMATCH;
    return index < 0 ? 0 : index;
}

static int read_property(struct reader *reader, struct ids_rows *rows) {
    const char *id = get_name(rows);
    int unit = get_index(rows, ids_summary_units, IDS_UNITS);
    ids_report_property(reader->report, id, ids_rows_get_value(rows, (enum ids_unit)unit));
    return reader->report->property_count > MAX_PROPERTIES ? damaged(reader, "too many properties") : 0;
}

static int read_metric(struct reader *reader, struct ids_rows *rows) {
    const char *id = get_name(rows);
    const char *device = ids_rows_get_text(rows);
    int unit = get_index(rows, ids_summary_units, IDS_UNITS);
    struct ids_value value = ids_rows_get_value(rows, (enum ids_unit)unit);
    struct ids_metric *metric = ids_report_metric(reader->report, id, device, value);
    const char *reason = ids_rows_get_text(rows), *rule = ids_rows_get_text(rows);
    if (reason) metric->reason = ids_report_text(reader->report, "%s", reason);
    if (rule) ids_report_rule(reader->report, metric, "%s", rule);
    metric->grade = (enum ids_grade)get_index(rows, ids_summary_grades, IDS_SUMMARY_GRADES);
    return 0;
}

static void get_parts(struct ids_report *report, const char *text, struct ids_advice *advice) {
    char account[64];
    double share;
    int length;
    while (text && advice->part_count < IDS_ADVICE_PARTS &&
           sscanf(text, "%*1[{,]\"%63[^\"]\":%lf%n", account, &share, &length) == 2) {
        advice->parts[advice->part_count++] = (struct ids_advice_part){ids_report_text(report, "%s", account), share};
        text += length;
    }
}

static int read_advice(struct reader *reader, struct ids_rows *rows) {
    struct ids_advice advice = {.saves_ps = ids_rows_get_int(rows, -1)};
    advice.chance_ps = ids_rows_get_int(rows, 0);
    advice.takes_ps = ids_rows_get_int(rows, 0);
    advice.per_step = ids_rows_get_int(rows, 0) != 0;
    advice.account = ids_rows_get_text(rows);
    advice.culprit = ids_rows_get_text(rows);
    advice.where = ids_rows_get_text(rows);
    advice.what = ids_rows_get_text(rows);
    advice.evidence = ids_rows_get_text(rows);
    advice.explain = ids_rows_get_text(rows);
    get_parts(reader->report, ids_rows_get_text(rows), &advice);
    ids_report_advice(reader->report, &advice);
    return 0;
}

static int read_diag(struct reader *reader, struct ids_rows *rows) {
    int severity = get_index(rows, ids_summary_severities, IDS_SUMMARY_SEVERITIES);
    const char *id = get_name(rows), *text = ids_rows_get_text(rows);
    int64_t offset = ids_rows_get_int(rows, -1);
    ids_report_diag(reader->report, severity, id, text, offset, (uint64_t)ids_rows_get_int(rows, 0));
    return 0;
}

/* Makes the table, still empty: rows are read when all tables are known, in the order in which they were written. */
static int read_table_entry(struct reader *reader, struct ids_rows *rows) {
    const char *id = get_name(rows);
    const struct ids_table_def *def = reader->find_table(id);
    if (!def) return ids_fail(reader->err, IDS_NOT_FOUND, "a summary with the table '%s', which is not known", id);
    if (ids_report_find_table(reader->report, id)) return damaged(reader, "a table is listed twice");
    struct ids_table *table = ids_report_table(reader->report, def);
    get_name(rows); /* the title, for people; it is the definition's */
    ids_rows_get_int(rows, 0);
    table->rows_left_out = ids_rows_get_int(rows, 0);
    return 0;
}

static int read_fixed(struct reader *reader, const char *sql, int (*read)(struct reader *, struct ids_rows *)) {
    struct ids_rows rows;
    int more;
    int code = ids_rows_prepare(&rows, reader->db, &reader->sum, sql, reader->err);
    if (!code) ids_rows_of_run(&rows, reader->run);
    while (!code && (more = ids_rows_next(&rows, reader->err)) != 0) code = more < 0 ? more : read(reader, &rows);
    ids_rows_done(&rows);
    return code;
}

/* The value of the entry `id` of meta, which has to come next in the sum. */
static int read_meta(struct reader *reader, const char *id, enum ids_unit unit, struct ids_value *ret_value) {
    struct ids_rows rows;
    uint64_t unused = 0;
    uint64_t *sum = strcmp(id, "checksum") != 0 ? &reader->sum : &unused;
    int code = ids_rows_prepare(&rows, reader->db, sum, "SELECT * FROM meta WHERE run = ?1 AND id = ?2", reader->err);
    if (!code) ids_rows_of_run(&rows, reader->run);
    if (!code && sqlite3_bind_text(rows.statement, 2, id, -1, SQLITE_STATIC) != SQLITE_OK)
        code = ids_db_fail(reader->db, reader->err);
    int more = code ? code : ids_rows_next(&rows, reader->err);
    if (more < 0) code = more;
    if (!code && !more) code = damaged(reader, "it was not written to the end");
    if (!code) {
        get_name(&rows);
        struct ids_value value = ids_rows_get_value(&rows, unit);
        if (unit == IDS_UNIT_NONE && !value.missing) value.text = ids_report_text(reader->report, "%s", value.text);
        if (rows.failed || value.missing) code = damaged(reader, id);
        *ret_value = value;
    }
    ids_rows_done(&rows);
    return code;
}

/* The file's table is the one that we would make. Otherwise its columns changed since, or it is not a table at all. */
static int check_table(struct reader *reader, const struct ids_table_def *def) {
    struct ids_rows rows;
    uint64_t unused = 0;
    if (was_checked(reader, def)) return 0;
    char *wanted = ids_summary_create_table(def);
    if (!wanted) return ids_no_memory(reader->err);
    int code =
        ids_rows_prepare(&rows, reader->db, &unused,
                         "SELECT sql FROM sqlite_schema WHERE type='table' AND name='report_' || ?", reader->err);
    if (!code) {
        sqlite3_bind_text(rows.statement, 1, def->id, -1, SQLITE_STATIC);
        int more = ids_rows_next(&rows, reader->err);
        const char *found = more > 0 ? ids_rows_get_text(&rows) : NULL;
        if (more < 0) {
            code = more;
        } else if (!found || strcmp(found, wanted) != 0) {
            code = ids_fail(reader->err, IDS_NOT_FOUND, "a summary whose table '%s' has other columns", def->id);
        }
    }
    ids_rows_done(&rows);
    sqlite3_free(wanted);
    if (!code && reader->checked && reader->checked->count < CHECKED_ROOM)
        reader->checked->at[reader->checked->count++] = def;
    return code;
}

static int read_cells(struct reader *reader, struct ids_table *table, struct ids_rows *rows, struct ids_value *cells) {
    const struct ids_table_def *def = table->def;
    int more;
    while ((more = ids_rows_next(rows, reader->err)) > 0) {
        for (int i = 0; i < def->column_count; i++) cells[i] = ids_rows_get_value(rows, def->columns[i].unit);
        ids_report_row(reader->report, table, cells);
    }
    return more;
}

static int read_table(struct reader *reader, struct ids_table *table) {
    struct ids_rows rows = {0};
    struct ids_value *cells = calloc((size_t)table->def->column_count, sizeof *cells);
    char *sql = sqlite3_mprintf("SELECT * FROM \"report_%w\" WHERE run = ?1 ORDER BY rowid", table->id);
    int code = cells && sql ? check_table(reader, table->def) : ids_no_memory(reader->err);
    if (!code) code = ids_rows_prepare(&rows, reader->db, &reader->sum, sql, reader->err);
    if (!code) ids_rows_of_run(&rows, reader->run);
    if (!code) code = read_cells(reader, table, &rows, cells);
    ids_rows_done(&rows);
    sqlite3_free(sql);
    free(cells);
    return code;
}

static int check_version(struct reader *reader) {
    struct ids_rows rows;
    uint64_t unused = 0;
    int code = ids_rows_prepare(&rows, reader->db, &unused, "PRAGMA user_version", reader->err);
    int more = code ? code : ids_rows_next(&rows, reader->err);
    int64_t version = more > 0 ? ids_rows_get_int(&rows, -1) : -1;
    ids_rows_done(&rows);
    if (more < 0) return more;
    if (version == IDS_SCHEMA_VERSION) return 0;
    return ids_fail(reader->err, IDS_NOT_FOUND, "a summary of schema %lld, not %d", (long long)version,
                    IDS_SCHEMA_VERSION);
}

/* The entries of meta that come first. */
static int read_head(struct reader *reader, const char *key) {
    struct ids_value stored, program, complete = {0};
    int code = check_version(reader);
    if (!code) code = read_meta(reader, "key", IDS_UNIT_NONE, &stored);
    if (!code && key && strcmp(stored.text, key) != 0)
        code = ids_fail(reader->err, IDS_NOT_FOUND, "a summary of something else");
    if (!code) code = read_meta(reader, "program", IDS_UNIT_NONE, &program);
    if (!code) code = read_meta(reader, "complete", IDS_UNIT_COUNT, &complete);
    if (!code) reader->report->complete = complete.i != 0;
    return code;
}

/* Reads in the order in which write_all writes, so that the sums agree. */
static int read_all(struct reader *reader, const char *key) {
    struct ids_value checksum = {0};
    int code = read_head(reader, key);
    if (!code) code = read_fixed(reader, "SELECT * FROM property WHERE run = ?1 ORDER BY rowid", read_property);
    if (!code) code = read_fixed(reader, "SELECT * FROM metric WHERE run = ?1 ORDER BY rowid", read_metric);
    if (!code) code = read_fixed(reader, "SELECT * FROM advice WHERE run = ?1 ORDER BY rowid", read_advice);
    if (!code) code = read_fixed(reader, "SELECT * FROM diag WHERE run = ?1 ORDER BY rowid", read_diag);
    if (!code) code = read_fixed(reader, "SELECT * FROM report_table WHERE run = ?1 ORDER BY rowid", read_table_entry);
    for (size_t i = 0; !code && i < reader->report->table_count; i++)
        code = read_table(reader, &reader->report->tables[i]);
    if (!code) code = read_meta(reader, "checksum", IDS_UNIT_COUNT, &checksum);
    if (!code && (uint64_t)checksum.i != reader->sum) code = damaged(reader, "its checksum is wrong");
    return code ? code : ids_report_check(reader->report, reader->err);
}

/* What read_all left in `report` when it failed is of no use. */
static int end_reading(const char *path, int code, struct ids_report *report, struct ids_error *err) {
    if (!code) return 0;
    if (report->out_of_memory) ids_no_memory(err); /* a text that it lacks looks like another one in the file */
    ids_report_done(report);
    ids_report_init(report);
    return ids_error_at(err, "'%s'", path);
}

int ids_summary_read_from(const char *path, enum ids_db_origin origin, int64_t run, const char *key,
                          const struct ids_table_def *(*find_table)(const char *id), struct ids_report *report,
                          struct ids_error *err) {
    struct reader reader = {.report = report, .run = run, .find_table = find_table, .err = err};
    int code = ids_db_open(path, origin, &reader.db, err);
    if (!code) code = read_all(&reader, key);
    sqlite3_close(reader.db);
    return end_reading(path, code, report, err);
}

struct ids_summaries {
    sqlite3 *db;
    char *path;
    struct checked checked;
};

int ids_summaries_open(const char *path, struct ids_summaries **ret_summaries, struct ids_error *err) {
    struct ids_summaries *summaries = calloc(1, sizeof *summaries);
    if (!summaries) return ids_no_memory(err);
    summaries->path = strdup(path);
    int code = summaries->path ? ids_db_open(path, IDS_DB_GIVEN, &summaries->db, err) : ids_no_memory(err);
    if (code) {
        ids_summaries_close(summaries);
        return ids_error_at(err, "'%s'", path);
    }
    *ret_summaries = summaries;
    return 0;
}

int ids_summaries_read(struct ids_summaries *summaries, int64_t run,
                       const struct ids_table_def *(*find_table)(const char *id), struct ids_report *report,
                       struct ids_error *err) {
    struct reader reader = {.report = report,
                            .db = summaries->db,
                            .run = run,
                            .find_table = find_table,
                            .checked = &summaries->checked,
                            .err = err};
    ids_db_begin_time();
    return end_reading(summaries->path, read_all(&reader, NULL), report, err);
}

const char *ids_summaries_path(const struct ids_summaries *summaries) {
    return summaries->path;
}

void ids_summaries_close(struct ids_summaries *summaries) {
    if (!summaries) return;
    sqlite3_close(summaries->db);
    free(summaries->path);
    free(summaries);
}

int ids_summary_read_run(const char *path, int64_t run, const char *key,
                         const struct ids_table_def *(*find_table)(const char *id), struct ids_report *report,
                         struct ids_error *err) {
    return ids_summary_read_from(path, IDS_DB_GIVEN, run, key, find_table, report, err);
}

int ids_summary_read(const char *path, const char *key, const struct ids_table_def *(*find_table)(const char *id),
                     struct ids_report *report, struct ids_error *err) {
    return ids_summary_read_run(path, 1, key, find_table, report, err);
}

int ids_summary_check_key(const char *path, const char *key, struct ids_error *err) {
    struct ids_report report;
    struct reader reader = {.report = &report, .run = 1, .err = err};
    ids_report_init(&report);
    int code = ids_db_open(path, IDS_DB_CACHED, &reader.db, err);
    if (!code) code = read_head(&reader, key);
    sqlite3_close(reader.db);
    if (code && report.out_of_memory) code = ids_no_memory(err);
    ids_report_done(&report);
    return code;
}
