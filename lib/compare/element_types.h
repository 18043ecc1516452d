/* element_types.h - what types of numbers each layer computes in, on either side. */
#ifndef IDS_LIB_COMPARE_ELEMENT_TYPES_H
#define IDS_LIB_COMPARE_ELEMENT_TYPES_H

#include "lib/compare/match.h"

/* A scope, or the program of ops that no scope has, whose types are others on side b. */
struct ids_types_change {
    const char *where;
    const char *before, *after; /* "f32", "f32, bf16" */
    size_t count;               /* ops with a type that one side alone has */
};

/* Types of the arrays that ops make, without those of indices and masks. Of layers that both sides have; an op that the
 * compiler made (a conversion) counts to the one scope of its program in which ops came or went, if there is one alone,
 * else to the one whose types are others.
 * Texts live in `texts`, the changes until they are freed. 0, or -1 when memory ran out. */
int ids_types_changes(const struct ids_matches *ops, struct ids_report *texts, struct ids_types_change **ret_changes,
                      size_t *ret_count);

#endif
