/* recomputed.h - in which layer what the forward pass computed is computed again, for the backward pass. */
#ifndef IDS_LIB_COMPARE_RECOMPUTED_H
#define IDS_LIB_COMPARE_RECOMPUTED_H

#include "lib/compare/match.h"

/* An op of the forward pass that is computed again. */
int ids_item_is_recomputed(const struct ids_item *item);

/* The innermost scope in which most of the ops of a program (side b's name) are that one side computes again and the
 * other does not. *ret_layer: NULL where they are in several; lives in `texts`. 0, or -1 when memory ran out. */
int ids_recomputed_layer(const struct ids_matches *ops, const char *program, struct ids_report *texts,
                         const char **ret_layer);

#endif
