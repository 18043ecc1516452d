/* timeline.h - a picture of a run (lib/analysis/picture.h) as the JSON that timeline.js draws.
 *
 * Times are whole numbers of `unit_ps` since `zero`, which is what times in tables count from. A lane is columns of
 * numbers: `gap` from the end of the mark before, `time`, and `what`, an index of the columns of `what`; of many that
 * are merged it is -1 less the account, and the next of `count`, `busy` and `lead` (thousandths) are theirs.
 * `track` of a row and `zero_ps` are of the database of events, which `idsprof view --live` asks for what is merged.
 */
#ifndef IDS_LIB_REPORT_HTML_TIMELINE_H
#define IDS_LIB_REPORT_HTML_TIMELINE_H

#include "lib/analysis/picture.h"

#include <stdio.h>

struct ids_timeline_page {
    const struct ids_picture *picture;
    const char *missing; /* why there is none, in words for a person; NULL: there is one */
    const char *extract; /* the command that gives every event, without its --from and --to */
};

/* `page` is a struct ids_timeline_page. Errors of `out` are the caller's to look at. */
int ids_timeline_write(void *page, FILE *out, struct ids_error *err);

#endif
