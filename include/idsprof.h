/* idsprof.h - the engine of idsprof as a library: open a run, have its report as JSON, ask SQL of its events.
 *
 *   cc program.c $(pkg-config --cflags --libs idsprof)
 *
 * Texts are UTF-8 and end with a zero byte. What a call returns belongs to the run or query that it came from and lives
 * until that is closed, unless it says less. The library prints nothing, ends no program and installs no signal
 * handler. One thread at a time may be in it. A path is used again by later calls, and is not kept open between
 * them. The JSON has the schema that `idsprof report --json` has; tables and views are those of idsprof-schema(5). */
#ifndef IDSPROF_H
#define IDSPROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IDSPROF_API __attribute__((visibility("default")))

/* What a call that can fail returns. The numbers stay what they are; new ones may come. */
enum idsprof_code {
    IDSPROF_OK = 0,
    IDSPROF_NO_MEMORY = -1,
    IDSPROF_IO = -2,          /* the system refused */
    IDSPROF_CORRUPT = -3,     /* the bytes contradict the format */
    IDSPROF_TRUNCATED = -4,   /* the file ends too early for anything to be kept */
    IDSPROF_UNSUPPORTED = -5, /* no format that is known */
    IDSPROF_LIMIT = -6,       /* a named limit would be passed */
    IDSPROF_USAGE = -7,       /* asked for what does not exist; SQL that is none, or that writes */
    IDSPROF_NOT_FOUND = -8    /* nothing there */
};

struct idsprof_error {
    int code;       /* enum idsprof_code */
    char text[512]; /* what failed, where, why; one line */
};

/* Zeroed it means what NULL means in its place. */
struct idsprof_options {
    size_t size;     /* sizeof(struct idsprof_options), so that fields can be added */
    const char *run; /* the run's name where there are several; NULL: the newest */
    int no_cache;    /* the report is read anew and not kept; rows of events are kept in the cache all the same */
    /* What work is going on, NULL when it is done; and what was left out of a folder. Either may be NULL. They are
     * called by the thread that called the library and must not call it. */
    void (*progress)(void *own, const char *what);
    void (*note)(void *own, const char *text);
    void *own;
    int64_t
        sql_limit_ms; /* CPU time that one statement may take, for views of others may never end; 0: 60,000; -1: any */
};

typedef struct idsprof_run idsprof_run;
typedef struct idsprof_query idsprof_query;

/* "0.1.0" */
IDSPROF_API const char *idsprof_version(void);

/* A profile, a folder or archive of them, or a database that `idsprof import` wrote. Finds the run and reads nothing of
 * it yet. `options` and `err` may be NULL. */
IDSPROF_API int idsprof_open(const char *path, const struct idsprof_options *options, idsprof_run **ret_run,
                             struct idsprof_error *err);
/* The report, as `idsprof report --json` prints it. */
IDSPROF_API int idsprof_report_json(idsprof_run *run, const char **ret_json, struct idsprof_error *err);
/* One statement over the run's events, which are imported into the cache first unless they are there; so it needs a
 * cache, and no standard input. In a database of several runs the column `run` chooses. Queries end before their
 * run. */
IDSPROF_API int idsprof_query_open(idsprof_run *run, const char *sql, idsprof_query **ret_query,
                                   struct idsprof_error *err);
IDSPROF_API void idsprof_close(idsprof_run *run);

enum idsprof_type { IDSPROF_NULL, IDSPROF_INTEGER, IDSPROF_REAL, IDSPROF_TEXT, IDSPROF_BLOB };

/* A cell; `bytes` is valid until the next row. */
struct idsprof_value {
    enum idsprof_type type;
    int64_t integer;
    double real;
    const char *bytes; /* of texts and blobs; may hold zero bytes */
    size_t length;
};

IDSPROF_API int idsprof_query_columns(const idsprof_query *query);
IDSPROF_API const char *idsprof_query_column(const idsprof_query *query, int column);
/* 1: there is a row; 0: there is none any more, and never again; else an enum idsprof_code. */
IDSPROF_API int idsprof_query_next(idsprof_query *query, struct idsprof_error *err);
IDSPROF_API struct idsprof_value idsprof_query_value(const idsprof_query *query, int column);
IDSPROF_API void idsprof_query_close(idsprof_query *query);

#ifdef __cplusplus
}
#endif

#endif
