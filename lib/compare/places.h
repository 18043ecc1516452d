/* places.h - where the places of side a's program are in side b's.
 *
 * A layer that is put in shifts the numbers of all later ones (layer_2 becomes layer_3), and a line that is put in
 * those of all later lines. Both are told by what stands there: numbered scopes of one place, and lines of one file,
 * are put beside each other in order, such that the most ops have a counterpart. Where names say as much, names decide.
 */
#ifndef IDS_LIB_COMPARE_PLACES_H
#define IDS_LIB_COMPARE_PLACES_H

#include "lib/compare/items.h"

/* Sets `path` and `line` of all items. A scope that only side a has, and whose name another one bears in side b, is
 * called "old layer_1". Texts live in `texts`. 0, or -1 when memory ran out. */
int ids_places_find(struct ids_items *a, struct ids_items *b, struct ids_report *texts);

#endif
