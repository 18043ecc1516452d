/* renumbered.h - numbered scopes that side b calls otherwise. */
#ifndef IDS_LIB_COMPARE_RENUMBERED_H
#define IDS_LIB_COMPARE_RENUMBERED_H

#include "lib/compare/match.h"

/* Layers of one kind. */
struct ids_renumbered {
    const char *before, *after; /* "layer_2 to layer_11" and "layer_3 to layer_12"; "layer_2, layer_3" and the like */
    size_t count;
    int is_in_order; /* others shifted them; else they changed places */
};

/* Without them "layer_3" would be taken for the same one on both sides. The caller frees *ret_found. 0, or -1 when
 * memory ran out. */
int ids_renumbered_find(const struct ids_matches *ops, struct ids_report *texts, struct ids_renumbered **ret_found,
                        size_t *ret_count);

#endif
