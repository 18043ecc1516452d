/* nearly_late.h - who comes nearly as late as the late one: to mend that one alone wins little. */
#ifndef IDS_ANALYZERS_NEARLY_LATE_H
#define IDS_ANALYZERS_NEARLY_LATE_H

#include "analyzers/adviser.h"

/* How long a device waits for the piece's device, or for its host, because of what the piece is of. */
int64_t ids_waits_for_piece(const struct ids_adviser *adviser, const struct ids_piece *piece, size_t busy);

struct ids_nearly_late {
    const char *names; /* "host001", "host001 and 2 more"; of the report. NULL: nobody comes nearly as late */
    size_t hosts;      /* that they are of */
    int is_of_same;    /* they do as much of what the piece is of; else they come late for another cause */
    int64_t alone_ps;  /* what is won without them: the shortest wait of theirs */
};
/* Those who wait less than half as long as who waits longest, because they do as much before they come. */
struct ids_nearly_late ids_nearly_late_as(const struct ids_adviser *adviser, const struct ids_piece *piece);

#endif
