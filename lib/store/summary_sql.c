#include "lib/store/summary_sql.h"

#include <sqlite3.h>

const char *const ids_summary_units[IDS_UNITS] = {
    [IDS_UNIT_NONE] = "text",     [IDS_UNIT_COUNT] = "count", [IDS_UNIT_TIME] = "time_ps",
    [IDS_UNIT_BYTES] = "bytes",   [IDS_UNIT_RATIO] = "ratio", [IDS_UNIT_RATE] = "bytes_per_s",
    [IDS_UNIT_NUMBER] = "number", [IDS_UNIT_TRUTH] = "truth", [IDS_UNIT_FLOPS] = "flop_per_s",
};
static const char *const unit_types[] = {
    [IDS_UNIT_NONE] = "TEXT",     [IDS_UNIT_COUNT] = "INTEGER", [IDS_UNIT_TIME] = "INTEGER",
    [IDS_UNIT_BYTES] = "INTEGER", [IDS_UNIT_RATIO] = "REAL",    [IDS_UNIT_RATE] = "REAL",
    [IDS_UNIT_NUMBER] = "REAL",   [IDS_UNIT_TRUTH] = "INTEGER", [IDS_UNIT_FLOPS] = "REAL",
};
const char *const ids_summary_grades[IDS_SUMMARY_GRADES] = {
    [IDS_GRADE_NONE] = NULL, [IDS_GRADE_GOOD] = "good", [IDS_GRADE_WARN] = "warn", [IDS_GRADE_BAD] = "bad"};
const char *const ids_summary_severities[IDS_SUMMARY_SEVERITIES] = {"note", "warning", "damage"};

/* Comments end at a newline. */
static void append_comment(sqlite3_str *sql, const char *before, const char *text) {
    sqlite3_str_appendf(sql, " -- %s%s", before, *before ? ", " : "");
    for (; text && *text; text++) sqlite3_str_appendchar(sql, 1, *text == '\n' ? ' ' : *text);
    sqlite3_str_appendall(sql, "\n");
}

char *ids_summary_create_table(const struct ids_table_def *def) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "CREATE TABLE \"report_%w\" (", def->id);
    append_comment(sql, "", def->definition ? def->definition : def->title);
    sqlite3_str_appendall(sql, "    \"run\" INTEGER NOT NULL, -- run.id\n");
    for (int i = 0; i < def->column_count; i++) {
        const struct ids_column_def *column = &def->columns[i];
        sqlite3_str_appendf(sql, "    \"%w\" %s%s", column->id, unit_types[column->unit],
                            i + 1 < def->column_count ? "," : "");
        append_comment(sql, column->unit == IDS_UNIT_NONE ? "" : ids_summary_units[column->unit], column->title);
    }
    sqlite3_str_appendall(sql, ")");
    return sqlite3_str_finish(sql);
}

char *ids_summary_insert_row(const struct ids_table_def *def) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "INSERT INTO \"report_%w\" VALUES (?1", def->id);
    for (int i = 0; i < def->column_count; i++) sqlite3_str_appendall(sql, ",?");
    sqlite3_str_appendall(sql, ")");
    return sqlite3_str_finish(sql);
}
