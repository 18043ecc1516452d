/* report_watch.h - `report --watch`: the report again, whenever a window is whole. */
#ifndef IDS_CMD_REPORT_WATCH_H
#define IDS_CMD_REPORT_WATCH_H

#include "lib/base/error.h"

/* Prints the report of the run at that path. */
typedef int ids_report_once_fn(const void *options, const char *path, struct ids_error *err);

/* Until it is interrupted, which is its proper end, or nobody reads any more. */
int ids_report_watch(const char *folder, int no_cache, ids_report_once_fn *once, const void *options,
                     struct ids_error *err);

#endif
