/* open_events.h - from what a user calls a run to a database that holds all of its events. */
#ifndef IDS_CMD_OPEN_EVENTS_H
#define IDS_CMD_OPEN_EVENTS_H

#include "lib/base/error.h"

#include <stdint.h>

/* `path` is a database, or a run (`name` chooses of several), which is imported into the cache unless it is there. *ret_database is the
 * caller's to free. */
int ids_open_events(const char *path, const char *name, char **ret_database, struct ids_error *err);

/* The same for one run, whose number in there is *ret_run: of a database too the one that `name` says, else the newest. */
int ids_open_events_of_run(const char *path, const char *name, char **ret_database, int64_t *ret_run,
                           struct ids_error *err);

#endif
