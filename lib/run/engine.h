/* engine.h - what everything that opens a run shares: whom it tells how far it is, and what it keeps open.
 *
 * The engine prints nothing and ends no program. Whoever calls it says in four calls what is to become of words; each
 * of them may be NULL, and then nobody hears. They come on the thread that called the engine.
 */
#ifndef IDS_LIB_RUN_ENGINE_H
#define IDS_LIB_RUN_ENGINE_H

#include "lib/base/error.h"

struct ids_summaries;

/* Where SQL runs that stands in somebody else's database (its views), which may take any time. */
enum ids_engine_sql {
    IDS_SQL_BEGINS,
    IDS_SQL_ENDS,
    IDS_SQL_PAUSES, /* in the midst of it work of our own is done */
    IDS_SQL_GOES_ON,
};

struct ids_engine_calls {
    /* Work that takes a while: "reading host.xplane.pb (99 MB)"; NULL when it is done. */
    void (*progress)(void *own, const char *what);
    /* One line, without an end: what was left out, and why. */
    void (*note)(void *own, const char *text);
    /* This temporary file is being filled and has to go if the program is ended; "" when there is none any more.
     * Signals are blocked while it is called with a name. */
    void (*filling)(void *own, const char *path);
    void (*sql)(void *own, enum ids_engine_sql what);
};

struct ids_engine {
    const struct ids_engine_calls *calls; /* NULL: silence */
    void *own;                            /* the first argument of each of them */
    int no_cache;                         /* runs are read anew, and nothing is kept */
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

#endif
