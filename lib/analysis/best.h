/* best.h - the first so many of very many, by an order: the longest gaps, the largest transfers.
 *
 * Whenever twice as many as are kept are at hand, the second half goes, and with it every later one that comes behind
 * those that stay.
 */
#ifndef IDS_LIB_ANALYSIS_BEST_H
#define IDS_LIB_ANALYSIS_BEST_H

#include <stddef.h>
#include <stdint.h>

struct ids_best {
    size_t size, kept;                                /* of one in bytes, and how many stay */
    int (*order)(const void *one, const void *other); /* as qsort wants it */
    void *at;                                         /* ids_best_order leaves the first ones here, in order */
    size_t count, room;
    uint64_t seen;
    int is_cut; /* what comes behind the last of the kept ones is none */
};

/* Copies it. 0, or -1 when memory ran out. */
int ids_best_add(struct ids_best *best, const void *one);
void ids_best_order(struct ids_best *best);
void ids_best_done(struct ids_best *best);

#endif
