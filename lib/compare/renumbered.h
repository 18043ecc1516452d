/* renumbered.h - numbered scopes that side b calls otherwise. */
#ifndef IDS_LIB_COMPARE_RENUMBERED_H
#define IDS_LIB_COMPARE_RENUMBERED_H

#include "lib/compare/structure.h"

/* Layers that others shifted ("layer_2 to layer_11" are "layer_3 to layer_12"), or that changed places ("layer_2,
 * layer_3" are "layer_3, layer_2"), each kind as a row. Without it "layer_3" would be taken for the same one on both
 * sides. 0, or -1 when memory ran out. */
int ids_tell_renumbered(const struct ids_matches *ops, struct ids_report *texts, struct ids_structure *structure);

#endif
