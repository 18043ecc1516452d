/* engine.h - what all functions that open runs share: callbacks for progress and notes, and the open database.
 *
 * The engine prints nothing and never exits. It reports to its caller through callbacks, each of which may be NULL.
 * They run on the thread that called the engine.
 */
#ifndef IDS_LIB_RUN_ENGINE_H
#define IDS_LIB_RUN_ENGINE_H

#include "lib/base/error.h"

struct ids_summaries;
struct ids_redactor;

/* Tells that SQL of a foreign database (its views) runs, which may take any time. */
enum ids_engine_sql {
    IDS_SQL_BEGINS,
    IDS_SQL_ENDS,
    IDS_SQL_PAUSES, /* the engine does work of its own in between */
    IDS_SQL_GOES_ON,
};

struct ids_engine_calls {
    /* Work that takes a while: "reading host.xplane.pb (99 MB)"; NULL when it is done. */
    void (*progress)(void *own, const char *what);
    /* One line without a newline: what was left out, and why. */
    void (*note)(void *own, const char *text);
    /* This temporary file is being written; remove it if the program is killed. "" when the file is finished.
     * Signals are blocked during a call with a name. */
    void (*filling)(void *own, const char *path);
    void (*sql)(void *own, enum ids_engine_sql what);
    /* Whether a file (or an archive) may be opened: 0, or a code and the reason. A run with one that may not is left
     * out. */
    int (*may_open)(void *own, const char *path, struct ids_error *err);
};

struct ids_engine {
    const struct ids_engine_calls *calls; /* NULL: silence */
    void *own;                            /* the first argument of each of them */
    int no_cache;                         /* read runs again, and cache nothing */
    struct ids_redactor *redactor;        /* what reads a run reads it as others may see it; NULL: as it is */
    struct ids_summaries *summaries;      /* of the database that was read last */
};

void ids_engine_done(struct ids_engine *engine);

/* ---- for the engine's files ---- */

void ids_engine_progress(const struct ids_engine *engine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ids_engine_progress_end(const struct ids_engine *engine);
void ids_engine_note(const struct ids_engine *engine, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ids_engine_filling(const struct ids_engine *engine, const char *path);
void ids_engine_sql(const struct ids_engine *engine, enum ids_engine_sql what);
int ids_engine_may_open(const struct ids_engine *engine, const char *path, struct ids_error *err);

#endif
