/* nearest.h - what somebody who mistyped a word may have meant. */
#ifndef IDS_CMD_NEAREST_H
#define IDS_CMD_NEAREST_H

#include "cmd/opt.h"

/* Single-letter edits (insert, delete, change, swap neighbours) that make one word of the other. */
int ids_edit_distance(const char *a, const char *b);

/* Writes the few words that come near, best first, as "'steps.mean', 'steps.median'"; an empty text when none does.
 * Returns how many. */
int ids_nearest(const char *word, ids_choice_fn *choice, char *buffer, size_t size);

#endif
