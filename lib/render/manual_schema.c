/* The page idsprof-schema(5): what the comments in the SQL of a database say. */
#include "lib/events/query.h"
#include "lib/render/manual.h"

#include <stdlib.h>
#include <string.h>

struct noun {
    char *name, *sql;
};

static char *copy_cell(struct ids_cell cell) {
    return cell.type == IDS_CELL_TEXT ? strndup(cell.bytes, cell.length) : NULL;
}

/* The comment of the line that defines a column: `name TYPE, -- comment` in a table, `... AS name, -- comment` in a
 * view. */
static int put_column(FILE *out, const struct noun *noun, const char *column, struct ids_error *err) {
    size_t width = strlen(column);
    const char *line = noun->sql, *next;
    for (; line; line = next) {
        const char *end = strchr(line, '\n'), *comment = strstr(line, "-- ");
        next = end ? end + 1 : NULL;
        if (!comment || (end && comment > end)) continue;
        const char *word = line + strspn(line, " \"");
        const char *as = comment - 1;
        while (as > line && strchr(" ,\"", as[-1])) as--;
        int names = !strncmp(word, column, width) && strchr(" ,\"", word[width]) && line != noun->sql;
        names |= (size_t)(as - line) >= width + 4 && !strncmp(as - width, column, width) &&
                 !strncmp(as - width - 4, " AS ", 4);
        if (!names) continue;
        char *text = end ? strndup(comment + 3, (size_t)(end - comment - 3)) : strdup(comment + 3);
        if (!text) return ids_no_memory(err);
        fprintf(out, ".It Va %s\n", column);
        ids_manual_text(out, text);
        free(text);
        return 0;
    }
    return ids_fail(err, IDS_UNSUPPORTED, "%s.%s is not documented: no comment behind it in the SQL", noun->name,
                    column);
}

static int put_noun(FILE *out, struct ids_query *query, const struct noun *noun, struct ids_error *err) {
    const char *comment = strstr(noun->sql, "-- "), *end = strchr(noun->sql, '\n');
    char *sql = NULL;
    if (!comment || !end || comment > end)
        return ids_fail(err, IDS_UNSUPPORTED, "%s is not documented: no comment in its first line", noun->name);
    char *text = strndup(comment + 3, (size_t)(end - comment - 3));
    if (!text || asprintf(&sql, "SELECT name FROM pragma_table_info('%s')", noun->name) < 0) {
        free(text);
        return ids_no_memory(err);
    }
    fprintf(out, ".Ss %s\n", noun->name);
    ids_manual_text(out, text);
    fputs(".Bl -tag -width Ds -compact\n", out);
    int more, code = ids_query_prepare(query, sql, err);
    while (!code && (more = ids_query_next(query, err)) != 0) {
        char *column = more > 0 ? copy_cell(ids_query_cell(query, 0)) : NULL;
        code = more < 0 ? more : column ? put_column(out, noun, column, err) : ids_no_memory(err);
        free(column);
    }
    fputs(".El\n", out);
    free(text);
    free(sql);
    return code;
}

/* A section of the nouns that the condition over sqlite_schema chooses. */
static int put_nouns(FILE *out, struct ids_query *query, const char *title, const char *about, const char *which,
                     struct ids_error *err) {
    struct noun *nouns = NULL;
    size_t count = 0;
    char *sql = NULL;
    enum { NOUNS = 200 };
    nouns = calloc(NOUNS, sizeof *nouns);
    if (!nouns ||
        asprintf(&sql, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND %s ORDER BY rowid", which) < 0) {
        free(nouns);
        return ids_no_memory(err);
    }
    int more = 0, code = ids_query_prepare(query, sql, err);
    while (!code && count < NOUNS && (more = ids_query_next(query, err)) > 0) {
        nouns[count] = (struct noun){copy_cell(ids_query_cell(query, 0)), copy_cell(ids_query_cell(query, 1))};
        if (!nouns[count].name || !nouns[count].sql) code = ids_no_memory(err);
        count++;
    }
    if (!code && more < 0) code = more;
    fprintf(out, ".Sh %s\n%s", title, about);
    for (size_t i = 0; i < count && !code; i++) code = put_noun(out, query, &nouns[i], err);
    for (size_t i = 0; i < count; i++) {
        free(nouns[i].name);
        free(nouns[i].sql);
    }
    free(nouns);
    free(sql);
    return code;
}

static const char introduction[] =
    ".\\\" Made by `idsprof dump --schema FILE` from the comments in the SQL of a database. Do not edit.\n"
    ".Dd November 21, 2026\n"
    ".Dt IDSPROF-SCHEMA 5\n"
    ".Os\n"
    ".Sh NAME\n"
    ".Nm idsprof-schema\n"
    ".Nd the tables and views of a database that idsprof import writes\n"
    ".Sh DESCRIPTION\n"
    "A database of\n"
    ".Xr idsprof-import 1\n"
    "is a plain SQLite file;\n"
    ".Xr idsprof-query 1\n"
    "asks the same of a run.\n"
    "The views are stable and made for questions: a view for each noun, a row for\n"
    "each event, names instead of numbers.\n"
    "The tables below them are how it is stored, and may change with\n"
    ".Ql PRAGMA user_version .\n"
    ".Pp\n"
    "Times are integer picoseconds, in columns that end in\n"
    ".Va _ps ;\n"
    "views count them from the origin of the run.\n"
    "Unsigned numbers above 2^63 are two's complement.\n"
    "NULL is\n"
    ".Dq not known .\n"
    "The database itself has this text as the comments of its SQL, which\n"
    ".Ql idsprof query RUN \\-\\-schema\n"
    "and\n"
    ".Ql .schema\n"
    "of\n"
    ".Xr sqlite3 1\n"
    "print.\n";

static const char in_a_lake[] = ".Sh IN A LAKE\n"
                                ".Ql python \\-m idsprof.lake\n"
                                "writes the views, the tables of the report and\n"
                                ".Va run , property , metric , advice , diag\n"
                                "and\n"
                                ".Va account\n"
                                "as Parquet.\n"
                                "The column\n"
                                ".Va run\n"
                                "is there the key of a run, and each view has\n"
                                ".Va run\n"
                                "and\n"
                                ".Va host .\n"
                                "The column\n"
                                ".Va value\n"
                                "of\n"
                                ".Va stats , counter_stats , counters , metric\n"
                                "and\n"
                                ".Va property\n"
                                "is text.\n"
                                ".Pp\n"
                                "All text is UTF-8 without NUL.\n"
                                "A value of the type bytes, and text that is anything else, is written as DuckDB\n"
                                "prints a BLOB: printable ASCII as it is, and other bytes, quotes and backslashes\n"
                                "as\n"
                                ".Ql \\exHH .\n"
                                "In DuckDB\n"
                                ".Ql CAST(value AS BLOB)\n"
                                "gives the bytes of such a value back; in SQLite it is a blob.\n"
                                "A name of a host that takes more than 200 bytes in a URL is cut in\n"
                                ".Va host ,\n"
                                "and ends with\n"
                                ".Ql ~\n"
                                "and eight digits;\n"
                                ".Va hosts.name\n"
                                "has it whole.\n";

int ids_manual_schema(const char *database, FILE *out, struct ids_error *err) {
    struct ids_query *query;
    int code = ids_query_open(database, &query, err);
    if (code) return code;
    fputs(introduction, out);
    code = put_nouns(out, query, "VIEWS FOR QUESTIONS", "", "type = 'view'", err);
    if (!code)
        code = put_nouns(out, query, "TABLES AS THEY ARE STORED", "",
                         "type = 'table' AND (name NOT LIKE 'report@_%' ESCAPE '@' OR name = "
                         "'report_table')",
                         err);
    if (!code)
        code = put_nouns(out, query, "TABLES OF THE REPORT",
                         "What\n.Xr idsprof-report 1\nprints, table by table; see\n.Xr idsprof-metrics 7 .\n"
                         "Times count from the run's first activity on a device.\n",
                         "type = 'table' AND name LIKE 'report@_%' ESCAPE '@' AND name <> 'report_table'", err);
    if (!code) fputs(in_a_lake, out);
    if (!code)
        fputs(".Sh SEE ALSO\n.Xr idsprof 1 ,\n.Xr idsprof-import 1 ,\n.Xr idsprof-query 1 ,\n.Xr sqlite3 1 ,\n"
              ".Xr idsprof-metrics 7\n",
              out);
    ids_query_free(query);
    return code;
}
