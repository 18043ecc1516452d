/* query.h - SQL that a user gives, over a file that anybody may have made: it can read, and nothing else.
 *
 * The file is opened read-only and as one that cannot change. What a statement may do is a list: SELECT, functions but
 * those that load code, and pragmas that tell about tables. Views of the file run, but with harmless functions only;
 * its triggers never do. Values, statements and depths have limits, and so have time and memory (db_limit.h). No
 * other database may be open when the first is opened by ids_query_open. */
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

/* A database that the cache keeps, and that can be made again under the same name. Where it turns out to be damaged or
 * gone, also when a part of the rows was given already, it is made again, the statement is asked anew, and the rows
 * go on behind the last one. */
struct ids_query_cached {
    const char *path;
    int (*make)(void *context, struct ids_error *err);
    void *context;
};
int ids_query_open_cached(const struct ids_query_cached *cached, struct ids_query **ret_query, struct ids_error *err);
/* One statement. What it may not do, and what is no SQL, is IDS_USAGE. */
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
