#include "lib/store/summary.h"

#include "lib/io/unfinished.h"
#include "lib/store/db.h"
#include "lib/store/schema.sql.h"
#include "lib/store/summary_file.h"
#include "lib/store/summary_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef IDS_VERSION
#define IDS_VERSION "unknown"
#endif

struct writer {
    const struct ids_report *report;
    sqlite3 *db;
    int64_t run;
    uint64_t sum;
    struct ids_error *err;
};

static int write_meta(struct writer *writer, const char *id, const char *text, int64_t number) {
    struct ids_rows rows;
    uint64_t unused = 0;
    int is_sum = !strcmp(id, "checksum");
    int code = ids_rows_prepare(&rows, writer->db, is_sum ? &unused : &writer->sum,
                                "INSERT INTO meta VALUES (?1, ?, ?)", writer->err);
    if (code) return code;
    ids_rows_of_run(&rows, writer->run);
    ids_rows_put_text(&rows, id);
    if (text) {
        ids_rows_put_text(&rows, text);
    } else {
        ids_rows_put_int(&rows, number);
    }
    code = ids_rows_insert(&rows, writer->err);
    ids_rows_done(&rows);
    return code;
}

static int write_properties(struct writer *writer, struct ids_rows *rows) {
    int code = 0;
    for (size_t i = 0; !code && i < writer->report->property_count; i++) {
        const struct ids_property *property = &writer->report->properties[i];
        ids_rows_put_text(rows, property->id);
        ids_rows_put_text(rows, ids_summary_units[property->value.unit]);
        ids_rows_put_value(rows, property->value);
        code = ids_rows_insert(rows, writer->err);
    }
    return code;
}

static int write_metrics(struct writer *writer, struct ids_rows *rows) {
    int code = 0;
    for (size_t i = 0; !code && i < writer->report->metric_count; i++) {
        const struct ids_metric *metric = &writer->report->metrics[i];
        ids_rows_put_text(rows, metric->id);
        ids_rows_put_text(rows, metric->device);
        ids_rows_put_text(rows, ids_summary_units[metric->value.unit]);
        ids_rows_put_value(rows, metric->value);
        ids_rows_put_text(rows, metric->reason);
        ids_rows_put_text(rows, metric->rule);
        ids_rows_put_text(rows, ids_summary_grades[metric->grade]);
        code = ids_rows_insert(rows, writer->err);
    }
    return code;
}

enum { PARTS_ROOM = IDS_ADVICE_PARTS * 96 };

/* An object of JSON, which SQLite's json_each reads. Accounts have no letter that JSON escapes. NULL: no parts. */
static const char *parts_in_json(const struct ids_advice *advice, char text[PARTS_ROOM]) {
    size_t used = 0;
    for (size_t p = 0; p < advice->part_count; p++)
        used += (size_t)snprintf(text + used, PARTS_ROOM - used, "%s\"%.40s\":%.17g", p ? "," : "{",
                                 advice->parts[p].account, advice->parts[p].share);
    if (used) snprintf(text + used, PARTS_ROOM - used, "}");
    return used ? text : NULL;
}

static int write_advice(struct writer *writer, struct ids_rows *rows) {
    char parts[PARTS_ROOM]; /* as long as the row is not inserted */
    int code = 0;
    for (size_t i = 0; !code && i < writer->report->advice_count; i++) {
        const struct ids_advice *advice = &writer->report->advice[i];
        if (advice->saves_ps < 0) {
            ids_rows_put_null(rows);
        } else {
            ids_rows_put_int(rows, advice->saves_ps);
        }
        ids_rows_put_int(rows, advice->chance_ps);
        ids_rows_put_int(rows, advice->takes_ps);
        ids_rows_put_int(rows, advice->per_step);
        ids_rows_put_text(rows, advice->account);
        ids_rows_put_text(rows, advice->culprit);
        ids_rows_put_text(rows, advice->where);
        ids_rows_put_text(rows, advice->what);
        ids_rows_put_text(rows, advice->evidence);
        ids_rows_put_text(rows, advice->explain);
        ids_rows_put_text(rows, parts_in_json(advice, parts));
        code = ids_rows_insert(rows, writer->err);
    }
    return code;
}

static int write_diags(struct writer *writer, struct ids_rows *rows) {
    int code = 0;
    for (size_t i = 0; !code && i < writer->report->diag_count; i++) {
        const struct ids_report_diag *diag = &writer->report->diags[i];
        ids_rows_put_text(rows, ids_summary_severities[diag->severity]);
        ids_rows_put_text(rows, diag->id);
        ids_rows_put_text(rows, diag->text);
        if (diag->offset < 0) {
            ids_rows_put_null(rows);
        } else {
            ids_rows_put_int(rows, diag->offset);
        }
        ids_rows_put_int(rows, (int64_t)diag->count);
        code = ids_rows_insert(rows, writer->err);
    }
    return code;
}

static int write_table_list(struct writer *writer, struct ids_rows *rows) {
    int code = 0;
    for (size_t i = 0; !code && i < writer->report->table_count; i++) {
        const struct ids_table *table = &writer->report->tables[i];
        ids_rows_put_text(rows, table->id);
        ids_rows_put_text(rows, table->def->title);
        ids_rows_put_int(rows, (int64_t)table->row_count);
        ids_rows_put_int(rows, table->rows_left_out);
        code = ids_rows_insert(rows, writer->err);
    }
    return code;
}

static int write_fixed(struct writer *writer, const char *sql, int (*write)(struct writer *, struct ids_rows *)) {
    struct ids_rows rows;
    int code = ids_rows_prepare(&rows, writer->db, &writer->sum, sql, writer->err);
    if (!code) ids_rows_of_run(&rows, writer->run);
    if (!code) code = write(writer, &rows);
    ids_rows_done(&rows);
    return code;
}

static int write_rows(struct writer *writer, const struct ids_table *table, struct ids_rows *rows) {
    const struct ids_value *cell = table->cells;
    for (size_t row = 0; row < table->row_count; row++) {
        for (int i = 0; i < table->def->column_count; i++, cell++) {
            const struct ids_column_def *column = &table->def->columns[i];
            if (!cell->missing && cell->unit != column->unit) {
                return ids_fail(writer->err, IDS_USAGE, "column '%s' holds %s, not %s", column->id,
                                ids_summary_units[cell->unit], ids_summary_units[column->unit]);
            }
            ids_rows_put_value(rows, *cell);
        }
        int code = ids_rows_insert(rows, writer->err);
        if (code) return code;
    }
    return 0;
}

static int write_table(struct writer *writer, const struct ids_table *table) {
    char *insert = ids_summary_insert_row(table->def);
    struct ids_rows rows = {0};
    int code =
        insert ? ids_rows_prepare(&rows, writer->db, &writer->sum, insert, writer->err) : ids_no_memory(writer->err);
    if (!code) ids_rows_of_run(&rows, writer->run);
    if (!code) code = write_rows(writer, table, &rows);
    ids_rows_done(&rows);
    sqlite3_free(insert);
    return code ? ids_error_at(writer->err, "table '%s'", table->id) : 0;
}

/* Everything of one run, into tables that are there. */
static int write_run(struct writer *writer, const char *key) {
    int code = write_meta(writer, "key", key, 0);
    if (!code) code = write_meta(writer, "program", "idsprof " IDS_VERSION, 0);
    if (!code) code = write_meta(writer, "complete", NULL, writer->report->complete);
    if (!code) code = write_fixed(writer, "INSERT INTO property VALUES (?1,?,?,?)", write_properties);
    if (!code) code = write_fixed(writer, "INSERT INTO metric VALUES (?1,?,?,?,?,?,?,?)", write_metrics);
    if (!code) code = write_fixed(writer, "INSERT INTO advice VALUES (?1,?,?,?,?,?,?,?,?,?,?,?)", write_advice);
    if (!code) code = write_fixed(writer, "INSERT INTO diag VALUES (?1,?,?,?,?,?)", write_diags);
    if (!code) code = write_fixed(writer, "INSERT INTO report_table VALUES (?1,?,?,?,?)", write_table_list);
    for (size_t i = 0; !code && i < writer->report->table_count; i++)
        code = write_table(writer, &writer->report->tables[i]);
    return code ? code : write_meta(writer, "checksum", NULL, (int64_t)writer->sum);
}

static int make_tables(sqlite3 *db, const struct ids_table_def *const *tables, size_t count, struct ids_error *err) {
    int code = ids_db_exec(db, ids_schema_sql, err);
    for (size_t i = 0; !code && i < count; i++) {
        char *create = ids_summary_create_table(tables[i]);
        code = create ? ids_db_exec(db, create, err) : ids_no_memory(err);
        sqlite3_free(create);
        if (code) ids_error_at(err, "table '%s'", tables[i]->id);
    }
    return code;
}

int ids_summary_tables(sqlite3 *db, const struct ids_table_def *const *tables, size_t count, struct ids_error *err) {
    return make_tables(db, tables, count, err);
}

int ids_summary_index(sqlite3 *db, struct ids_error *err) {
    static const char indexes[] = "SELECT group_concat('CREATE INDEX \"' || name || '_run\" ON \"' || name || '\" "
                                  "(run)', ';') FROM sqlite_schema WHERE type = 'table' AND (name GLOB 'report_*' OR "
                                  "name IN ('meta', 'property', 'metric', 'advice', 'diag'))";
    sqlite3_stmt *statement = NULL;
    char *sql = NULL;
    if (sqlite3_prepare_v2(db, indexes, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        sql = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    int code = sql ? ids_db_exec(db, sql, err) : ids_db_fail(db, err);
    sqlite3_free(sql);
    return code;
}

int ids_summary_put(sqlite3 *db, int64_t run, const struct ids_report *report, const char *key, struct ids_error *err) {
    struct writer writer = {.report = report, .db = db, .run = run, .err = err};
    return write_run(&writer, key);
}

static int write_file(struct writer *writer, const char *key) {
    const struct ids_report *report = writer->report;
    const struct ids_table_def **tables = calloc(report->table_count + 1, sizeof *tables);
    if (!tables) return ids_no_memory(writer->err);
    for (size_t i = 0; i < report->table_count; i++) tables[i] = report->tables[i].def;
    int code = ids_db_exec(writer->db, "BEGIN", writer->err);
    if (!code) code = make_tables(writer->db, tables, report->table_count, writer->err);
    free(tables);
    if (!code) code = write_run(writer, key);
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA user_version=%d; COMMIT", IDS_SCHEMA_VERSION);
    return code ? code : ids_db_exec(writer->db, pragma, writer->err);
}

/* Fills an empty file, of which nothing is synced. */
static int fill(const struct ids_report *report, const char *key, const char *path, struct ids_error *err) {
    struct writer writer = {.report = report, .run = 1, .err = err};
    int code = ids_db_create(path, &writer.db, err);
    if (code) return code;
    code = write_file(&writer, key);
    /* Nothing is left to be written after COMMIT; a failing close would only be a statement not finalized. */
    sqlite3_close(writer.db);
    return code;
}

int ids_summary_open_beside(const char *path, char **ret_name, struct ids_error *err) {
    char *stem;
    if (asprintf(&stem, "%s.tmp-", path) < 0) return ids_no_memory(err);
    int file = ids_unfinished_open(stem, ret_name, err);
    free(stem);
    return file;
}

int ids_summary_write(const struct ids_report *report, const char *key, const char *path, struct ids_error *err) {
    struct stat status;
    char *name = NULL;
    if (!stat(path, &status) && !S_ISREG(status.st_mode))
        return ids_fail(err, IDS_IO, "'%s': not a regular file", path);
    int fd = ids_summary_open_beside(path, &name, err);
    int code = fd < 0 ? fd : fill(report, key, name, err);
    if (!code && fsync(fd)) code = ids_fail_system(err, "cannot write");
    if (!code && rename(name, path)) code = ids_fail_system(err, "cannot rename");
    if (fd >= 0) close(fd);
    if (code && name) unlink(name);
    free(name);
    return code ? ids_error_at(err, "'%s'", path) : 0;
}
