#include "lib/events/query.h"

#include "lib/events/sql_functions.h"
#include "lib/store/db.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct ids_query {
    sqlite3 *db;
    sqlite3_stmt *statement;
    char *path, *sql;
    struct ids_query_cached cached;    /* make NULL: a database of somebody else */
    uint64_t given;                    /* rows of the statement */
    int makings;                       /* how often it was made again */
    volatile sig_atomic_t interrupted; /* also while no database is open that SQLite could stop at */
    char refused[128];                 /* what the statement wanted and may not */
};

enum { MAX_CELL_BYTES = 64 << 20, MAX_MAKINGS = 3 };

int ids_is_database(const char *path) {
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic];
    struct stat status;
    /* Opening a pipe, even for a look, would take it away from who reads it next. */
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t length = pread(fd, head, sizeof head, 0);
    close(fd);
    return length == sizeof head && !memcmp(head, magic, sizeof head);
}

/* ---- the gate ---- */

static int is_one_of(const char *word, const char *const *words) {
    for (; word && *words; words++) {
        if (!strcasecmp(word, *words)) return 1;
    }
    return 0;
}

static int refuse(struct ids_query *query, const char *what, const char *name) {
    if (!*query->refused)
        snprintf(query->refused, sizeof query->refused, "%s%s%.64s", what, name ? " " : "", name ? name : "");
    return SQLITE_DENY;
}

static int may_pragma(struct ids_query *query, const char *name, const char *argument) {
    /* These tell of tables. */
    static const char *const telling[] = {"table_info",      "table_xinfo", "table_list",       "index_list",
                                          "index_info",      "index_xinfo", "foreign_key_list", "quick_check",
                                          "integrity_check", NULL};
    /* These tell of the file, and would set something if they had an argument. */
    static const char *const silent[] = {"user_version",   "application_id", "page_count",     "page_size",
                                         "freelist_count", "encoding",       "schema_version", NULL};
    if (is_one_of(name, telling) || (!argument && is_one_of(name, silent))) return SQLITE_OK;
    return refuse(query, "PRAGMA", name);
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *cause) {
    (void)database;
    (void)cause;
    struct ids_query *query = context;
    static const char *const loading[] = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", NULL};
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return is_one_of(second, loading) ? refuse(query, "the function", second) : SQLITE_OK;
    case SQLITE_PRAGMA:
        return may_pragma(query, first, second);
    case SQLITE_ATTACH:
        return refuse(query, "ATTACH", NULL);
    case SQLITE_DETACH:
        return refuse(query, "DETACH", NULL);
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return refuse(query, "a change of", first);
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return refuse(query, "a transaction", NULL);
    default:
        return refuse(query, "a change of the database", NULL);
    }
}

static void set_limits(sqlite3 *db) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 200);
    sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 500);
    sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 50);
    sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 250000);
    sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, 32);
    sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

/* Tables that are functions declare themselves when they are first used, which the gate would take for a change. No row
 * of them: the list of tables works out the columns of every view, which takes ten times as long as all else here. */
#if SQLITE_VERSION_NUMBER >= 3037000
#define TABLE_LIST "pragma_table_list, "
#else
#define TABLE_LIST ""
#endif
static const char opening[] =
    "PRAGMA temp_store=MEMORY; PRAGMA query_only=ON; SELECT 1 FROM sqlite_schema;"
    "SELECT 1 FROM json_each('[]'), json_tree('[]'), " TABLE_LIST "pragma_table_info('x') LIMIT 0";

static int open_database(struct ids_query *query, struct ids_error *err) {
    ids_db_count_memory();
    int code = ids_db_open(query->path, query->cached.make ? IDS_DB_CACHED : IDS_DB_GIVEN, &query->db, err);
    if (!code) {
        set_limits(query->db);
        code = ids_db_exec(query->db, opening, err);
        if (!code) code = ids_sql_functions_add(query->db, err);
    }
    if (!code) sqlite3_set_authorizer(query->db, authorize, query);
    return code ? ids_error_at(err, "'%s'", query->path) : 0;
}

static void close_database(struct ids_query *query) {
    sqlite3 *db = query->db;
    query->db = NULL; /* first: a signal that comes now finds nothing to interrupt */
    sqlite3_finalize(query->statement);
    query->statement = NULL;
    sqlite3_close(db);
}

/* ---- statements ---- */

static int fail(struct ids_query *query, struct ids_error *err) {
    int result = sqlite3_errcode(query->db);
    if (result == SQLITE_AUTH || (result == SQLITE_ERROR && *query->refused)) {
        return ids_fail(err, IDS_USAGE, "%s is not allowed: a query can only read",
                        *query->refused ? query->refused : "this");
    }
    switch (result) {
    case SQLITE_TOOBIG:
        return ids_fail(err, IDS_LIMIT, "%s (a value may have %d MiB)", sqlite3_errmsg(query->db),
                        MAX_CELL_BYTES >> 20);
    case SQLITE_READONLY:
        return ids_fail(err, IDS_USAGE, "a change of the database is not allowed: a query can only read");
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
        return ids_fail(err, IDS_USAGE, "%s", sqlite3_errmsg(query->db));
    default:
        return ids_db_fail(query->db, err);
    }
}

/* What is left behind a statement is blank or comments. */
static int is_blank(const char *sql) {
    for (;;) {
        while (isspace((unsigned char)*sql) || *sql == ';') sql++;
        if (!*sql) return 1;
        if (!strncmp(sql, "--", 2)) {
            sql += strcspn(sql, "\n");
        } else if (!strncmp(sql, "/*", 2)) {
            const char *end = strstr(sql + 2, "*/");
            if (!end) return 1;
            sql = end + 2;
        } else {
            return 0;
        }
    }
}

/* Where in the SQL the error is, or -1; older SQLite does not say it. */
static int error_offset(sqlite3 *db) {
#if SQLITE_VERSION_NUMBER >= 3038000
    return sqlite3_error_offset(db);
#else
    (void)db;
    return -1;
#endif
}

static int prepare(struct ids_query *query, struct ids_error *err) {
    const char *tail = NULL, *sql = query->sql;
    *query->refused = '\0';
    sqlite3_finalize(query->statement);
    query->statement = NULL;
    if (sqlite3_prepare_v2(query->db, sql, -1, &query->statement, &tail) != SQLITE_OK) {
        int offset = error_offset(query->db);
        int code = fail(query, err);
        if (code == IDS_USAGE && offset >= 0 && !*query->refused)
            return ids_fail(err, IDS_USAGE, "%s (at character %d: %.40s)", sqlite3_errmsg(query->db), offset + 1,
                            sql + offset);
        return code;
    }
    if (!query->statement) return ids_fail(err, IDS_USAGE, "no SQL");
    if (!is_blank(tail))
        return ids_fail(err, IDS_USAGE, "one statement at a time; this follows the first: %.40s", tail);
    if (!sqlite3_stmt_readonly(query->statement))
        return ids_fail(err, IDS_USAGE, "a change of the database is not allowed: a query can only read");
    return 0;
}

static int step(struct ids_query *query, struct ids_error *err) {
    int result = sqlite3_step(query->statement);
    if (result == SQLITE_ROW) return 1;
    return result == SQLITE_DONE ? 0 : fail(query, err);
}

/* ---- a cached database that is damaged ---- */

/* The rows that were given are passed over: all that they were made of was as it was written, so that they come
 * again. */
static int go_on(struct ids_query *query, struct ids_error *err) {
    int code = open_database(query, err), more = 1;
    if (!code && query->sql) code = prepare(query, err);
    for (uint64_t i = 0; !code && more > 0 && i < query->given; i++) more = step(query, err);
    return more < 0 ? more : code;
}

/* What `code` becomes. It is evicted (IDS_NOT_FOUND) or damaged; what else failed would fail again. */
static int make_again(struct ids_query *query, int code, struct ids_error *err) {
    while ((code == IDS_CORRUPT || code == IDS_NOT_FOUND) && query->cached.make && query->makings++ < MAX_MAKINGS) {
        close_database(query);
        code = query->cached.make(query->cached.context, err);
        if (!code && query->interrupted) code = ids_fail(err, IDS_IO, "interrupted");
        if (!code) code = go_on(query, err);
    }
    return code;
}

/* ---- */

static int query_open(const char *path, const struct ids_query_cached *cached, struct ids_query **ret_query,
                      struct ids_error *err) {
    struct ids_query *query = calloc(1, sizeof *query);
    if (!query) return ids_no_memory(err);
    if (cached) query->cached = *cached;
    query->path = strdup(path);
    int code = query->path ? make_again(query, open_database(query, err), err) : ids_no_memory(err);
    if (code) {
        ids_query_free(query);
        return code;
    }
    *ret_query = query;
    return 0;
}

int ids_query_open(const char *path, struct ids_query **ret_query, struct ids_error *err) {
    return query_open(path, NULL, ret_query, err);
}

int ids_query_open_cached(const struct ids_query_cached *cached, struct ids_query **ret_query, struct ids_error *err) {
    return query_open(cached->path, cached, ret_query, err);
}

int ids_query_prepare(struct ids_query *query, const char *sql, struct ids_error *err) {
    free(query->sql);
    query->given = 0;
    query->sql = strdup(sql);
    return query->sql ? make_again(query, prepare(query, err), err) : ids_no_memory(err);
}

int ids_query_columns(const struct ids_query *query) {
    return sqlite3_column_count(query->statement);
}

const char *ids_query_column(const struct ids_query *query, int column) {
    const char *name = sqlite3_column_name(query->statement, column);
    return name ? name : "";
}

int ids_query_next(struct ids_query *query, struct ids_error *err) {
    int more = step(query, err);
    if (more < 0) {
        int code = make_again(query, more, err);
        more = code ? code : step(query, err);
    }
    query->given += more > 0;
    return more;
}

struct ids_cell ids_query_cell(const struct ids_query *query, int column) {
    struct ids_cell cell = {.type = IDS_CELL_NULL};
    switch (sqlite3_column_type(query->statement, column)) {
    case SQLITE_INTEGER:
        cell.type = IDS_CELL_INT;
        cell.i = sqlite3_column_int64(query->statement, column);
        break;
    case SQLITE_FLOAT:
        cell.type = IDS_CELL_REAL;
        cell.d = sqlite3_column_double(query->statement, column);
        break;
    case SQLITE_TEXT:
        cell.type = IDS_CELL_TEXT;
        cell.bytes = (const char *)sqlite3_column_text(query->statement, column);
        cell.length = (size_t)sqlite3_column_bytes(query->statement, column);
        break;
    case SQLITE_BLOB:
        cell.type = IDS_CELL_BLOB;
        cell.bytes = sqlite3_column_blob(query->statement, column);
        cell.length = (size_t)sqlite3_column_bytes(query->statement, column);
        break;
    default:
        break;
    }
    if (!cell.bytes) cell.length = 0;
    return cell;
}

void ids_query_interrupt(struct ids_query *query) {
    query->interrupted = 1;
    if (query->db) sqlite3_interrupt(query->db);
}

void ids_query_free(struct ids_query *query) {
    if (!query) return;
    close_database(query);
    free(query->path);
    free(query->sql);
    free(query);
}
