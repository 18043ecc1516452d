/* watch.h - follows a folder into which a job records: which run is new there, and whole.
 *
 * Folders are looked at from time to time, because file systems of clusters tell nobody what another machine writes.
 */
#ifndef IDS_LIB_RUN_WATCH_H
#define IDS_LIB_RUN_WATCH_H

#include "lib/run/engine.h"

#include <stddef.h>
#include <stdint.h>

enum { IDS_WATCH_GIVEN = 64 };

/* Zeroed but for the path, which must outlive it. */
struct ids_watch {
    const char *path;
    uint64_t given[IDS_WATCH_GIVEN]; /* the identities of the runs that were given last: a window that a capture takes
                                      * away makes the one before it the newest again */
    size_t given_count;
    uint64_t seen;    /* that of the newest run at the last look */
    int64_t since_ns; /* since when it is so */
    int is_known;     /* `seen` was found unfinished: it is not read again before it changes */
};

/* Looks once. 1: the newest run was not given yet, and its files are whole; or they are not, and have not changed for
 * so long that nobody writes them any more. *ret_run is its path, the caller's to free. 0: there is nothing new. */
int ids_watch_look(struct ids_watch *watch, struct ids_engine *engine, char **ret_run, struct ids_error *err);

#endif
