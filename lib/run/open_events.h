/* open_events.h - from what a user calls a run to a database that holds all of its events. */
#ifndef IDS_LIB_RUN_OPEN_EVENTS_H
#define IDS_LIB_RUN_OPEN_EVENTS_H

#include "lib/events/query.h"
#include "lib/io/run_files.h"
#include "lib/report/report.h"
#include "lib/run/engine.h"

struct ids_opened_events {
    struct ids_engine *engine;
    char *path;  /* of the database */
    int64_t run; /* the number in there of the run that was asked for */
    /* NULL: the user's own database. Else it is in the cache, and is made of this run again where it is damaged. */
    const struct ids_run_files *source;
    struct ids_run_list list; /* what `source` is of, when it was looked for here */
};

/* `path` is a database, or a run (`name` chooses of several), which is imported into the cache unless it is there. Of a
 * database `name` must be NULL. The caller ends it with ids_events_done, also after a failure. */
int ids_events_open(struct ids_engine *engine, const char *path, const char *name, struct ids_opened_events *ret_events,
                    struct ids_error *err);
/* The same for one run: of a database too the one that `name` says, else the newest. */
int ids_events_open_run(struct ids_engine *engine, const char *path, const char *name,
                        struct ids_opened_events *ret_events, struct ids_error *err);
/* Those of a run of events->list, when they are a database's or in the cache already; else path stays NULL. */
int ids_events_at_hand(struct ids_engine *engine, const struct ids_run_files *run, struct ids_opened_events *events,
                       struct ids_error *err);
void ids_events_done(struct ids_opened_events *events);

int ids_events_query(struct ids_opened_events *events, struct ids_query **ret_query, struct ids_error *err);
/* The report that was stored with the rows, into an initialised, empty one. */
int ids_events_report(struct ids_opened_events *events, struct ids_report *report, struct ids_error *err);

#endif
