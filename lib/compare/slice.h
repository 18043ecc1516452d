/* slice.h - the ops that a comparison is about, where it is not about whole steps: those of a scope, or of a
 * program. */
#ifndef IDS_LIB_COMPARE_SLICE_H
#define IDS_LIB_COMPARE_SLICE_H

#include "lib/compare/difference.h"
#include "lib/compare/items.h"

int ids_is_slice(const struct ids_compare_options *options);
/* What the slice is called: "layer1", "layer1 in jit_step". */
const char *ids_slice_name(const struct ids_compare_options *options, struct ids_report *texts);

/* Leaves only the items of the slice. */
void ids_slice_items(const struct ids_compare_options *options, struct ids_items *items);

#endif
