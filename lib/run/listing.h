/* listing.h - the runs below some paths with the figures that tell them apart, in an order. */
#ifndef IDS_LIB_RUN_LISTING_H
#define IDS_LIB_RUN_LISTING_H

#include "lib/base/arena.h"
#include "lib/io/run_files.h"
#include "lib/report/report.h"
#include "lib/run/engine.h"
#include "lib/run/run_label.h"

struct ids_format;

/* One run. A report of one is closed before the next is opened, so the figures are copied out. */
struct ids_listed_run {
    const struct ids_run_files *run;
    size_t order; /* in which it was found */
    const char *devices, *device_kind, *state, *reason;
    const char *kept; /* why the window was kept, NULL: nobody judged it */
    struct ids_run_label label;
    const struct ids_format *format, *also; /* to which the names of its files belong; NULL none */
    struct ids_value hosts, bytes, events, steps, window, device_count;
};

struct ids_listing {
    struct ids_engine *engine;
    struct ids_arena arena;     /* of texts */
    struct ids_run_list *lists; /* one for each path that could be looked at */
    size_t list_count;
    struct ids_listed_run *entries;
    size_t count, room;
    int failed; /* a path or a run could not be read, which was noted or stands in its entry */
};

/* What a list can be sorted by: the i-th name, NULL behind the last. */
const char *ids_listing_order(int i);

/* `newest`: only so many runs, 0 all. `order`: of ids_listing_order, -1 as they were found. The paths must outlive the
 * listing, which is the caller's to end, also after a failure. */
int ids_listing_make(struct ids_engine *engine, char *const *paths, int path_count, int64_t newest, int order,
                     int is_descending, struct ids_listing *ret_listing, struct ids_error *err);
void ids_listing_done(struct ids_listing *listing);

#endif
