/* open_events.h - from a path that the user gave for a run to a database with all of its events. */
#ifndef IDS_LIB_RUN_OPEN_EVENTS_H
#define IDS_LIB_RUN_OPEN_EVENTS_H

#include "lib/events/query.h"
#include "lib/io/run_files.h"
#include "lib/report/report.h"
#include "lib/run/engine.h"

struct ids_opened_events {
    struct ids_engine *engine;
    char *path;  /* of the database */
    int64_t run; /* the number of the requested run in it */
    /* NULL: a database of the user. Otherwise the database is in the cache, and is made again from this run if it is
     * damaged. */
    const struct ids_run_files *source;
    int is_temporary;         /* the database goes with it */
    struct ids_run_list list; /* the list that `source` points into, if it was opened here */
};

/* `path` is a database, or a run, which is imported into the cache unless it is there already. `name` chooses one of
 * several runs; it must be NULL for a database. The caller calls ids_events_done, also after a failure. */
int ids_events_open(struct ids_engine *engine, const char *path, const char *name, struct ids_opened_events *ret_events,
                    struct ids_error *err);
/* The same for one run, in a database too: the run `name`, or the newest. */
int ids_events_open_run(struct ids_engine *engine, const char *path, const char *name,
                        struct ids_opened_events *ret_events, struct ids_error *err);
/* Opens the events of a run of events->list if they exist already, in a database or in the cache. Otherwise path
 * stays NULL. */
int ids_events_at_hand(struct ids_engine *engine, const struct ids_run_files *run, struct ids_opened_events *events,
                       struct ids_error *err);
/* A database without a run: what all have in common. */
int ids_events_open_empty(struct ids_engine *engine, struct ids_opened_events *ret_events, struct ids_error *err);
void ids_events_done(struct ids_opened_events *events);

int ids_events_query(struct ids_opened_events *events, struct ids_query **ret_query, struct ids_error *err);
/* The report that was stored with the rows, into an initialised, empty one. */
int ids_events_report(struct ids_opened_events *events, struct ids_report *report, struct ids_error *err);

#endif
