/* page_sides.h - the timelines of the two sides of a comparison, for a page. */
#ifndef IDS_CMD_PAGE_SIDES_H
#define IDS_CMD_PAGE_SIDES_H

#include "lib/analysis/params.h"
#include "lib/analysis/picture.h"
#include "lib/report/html/page.h"
#include "lib/report/html/timeline.h"
#include "lib/run/engine.h"

enum { IDS_PAGE_SIDES = 2 };

struct ids_page_sides {
    struct ids_picture pictures[IDS_PAGE_SIDES];
    struct ids_timeline_page timelines[IDS_PAGE_SIDES];
    struct ids_page_block blocks[IDS_PAGE_SIDES]; /* timeline_a, timeline_b */
    struct ids_error why[IDS_PAGE_SIDES];         /* there is none */
    char extract[IDS_PAGE_SIDES][8192];
};

/* Reads the newest run at each path again, because reports in the cache have no picture. A side without one says why;
 * a path of NULL is a side that is no profile. The caller ends it in any case. Fails only when memory ran out. */
int ids_page_sides_read(struct ids_engine *engine, const char *const paths[IDS_PAGE_SIDES],
                        const struct ids_params *params, struct ids_page_sides *ret_sides, struct ids_error *err);
void ids_page_sides_done(struct ids_page_sides *sides);

#endif
