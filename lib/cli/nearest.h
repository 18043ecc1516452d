/* nearest.h - what somebody who mistyped a word may have meant. */
#ifndef IDS_LIB_CLI_NEAREST_H
#define IDS_LIB_CLI_NEAREST_H

#include <stddef.h>

/* The i-th of the words that an option takes, NULL behind the last. '-' and '_' are the same letter in them. */
typedef const char *ids_choice_fn(int i);

/* Single-letter edits (insert, delete, change, swap neighbours) that make one word of the other. */
int ids_edit_distance(const char *a, const char *b);

/* Writes a question after the few words that come near, best first: "; did you mean 'steps.mean' or 'steps.median'?".
 * An empty text when none comes near. `before` stands in front of each word ("--" for options). Returns how many. */
int ids_nearest(const char *word, ids_choice_fn *choice, const char *before, char *buffer, size_t size);

#endif
