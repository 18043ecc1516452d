/* query.h - runs a user's SQL over a file of unknown origin. The SQL can only read.
 *
 * The file is opened read-only and immutable. A statement may use SELECT, all functions but those that load code (those
 * of sql_functions.h too), and pragmas that describe tables. Views of the file run, but only with harmless functions;
 * its triggers never run. Values, statements, depths, time and memory are limited (db_limit.h). No other database may
 * be open when the first is opened by ids_query_open. */
#ifndef IDS_LIB_EVENTS_QUERY_H
#define IDS_LIB_EVENTS_QUERY_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct ids_query;

enum ids_cell_type { IDS_CELL_NULL, IDS_CELL_INT, IDS_CELL_REAL, IDS_CELL_TEXT, IDS_CELL_BLOB };

/* Valid until the next row. */
struct ids_cell {
    enum ids_cell_type type;
    int64_t i;
    double d;
    const char *bytes; /* text and blobs; may hold zero bytes */
    size_t length;
};

/* 1 when the file begins as a SQLite database does. */
int ids_is_database(const char *path);

int ids_query_open(const char *path, struct ids_query **ret_query, struct ids_error *err);

/* A database in the cache, which can be made again under the same name. If it turns out to be damaged or gone, even
 * in the middle of a query, it is made again, the statement runs again, and the rows continue after the last one. */
struct ids_query_cached {
    const char *path;
    int (*make)(void *context, struct ids_error *err);
    void *context;
};
int ids_query_open_cached(const struct ids_query_cached *cached, struct ids_query **ret_query, struct ids_error *err);
/* Prepares one statement. IDS_USAGE if it is not allowed, or not SQL. */
int ids_query_prepare(struct ids_query *query, const char *sql, struct ids_error *err);
int ids_query_columns(const struct ids_query *query);
const char *ids_query_column(const struct ids_query *query, int column);
/* 1 and a row, 0 at the end, or a code. */
int ids_query_next(struct ids_query *query, struct ids_error *err);
struct ids_cell ids_query_cell(const struct ids_query *query, int column);
/* Makes a running ids_query_next fail; may be called by a signal handler. */
void ids_query_interrupt(struct ids_query *query);
void ids_query_free(struct ids_query *query);

#endif
