/* cause_places.h - which entries of the host are one function of the program, or one call in it, and where that
 * stands. */
#ifndef IDS_LIB_COMPARE_CAUSE_PLACES_H
#define IDS_LIB_COMPARE_CAUSE_PLACES_H

#include "lib/compare/cause_entries.h"

/* A function with another name, and a call that took the place of another in a function, go into one entry each, which
 * says so; a function in another file says it too. Then each entry gets the place that its cause is told by, and
 * whether that is an old one. Before any are put together otherwise. 0, or -1 when memory ran out. */
int ids_find_places(struct ids_entries *entries);

#endif
