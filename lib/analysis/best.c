#include "lib/analysis/best.h"

#include <stdlib.h>
#include <string.h>

static int grow(struct ids_best *best) {
    size_t most = 2 * best->kept, room = best->room ? 2 * best->room : 16;
    if (room > most) room = most;
    void *at = realloc(best->at, room * best->size);
    if (!at) return -1;
    best->at = at;
    best->room = room;
    return 0;
}

void ids_best_order(struct ids_best *best) {
    if (best->count) qsort(best->at, best->count, best->size, best->order);
    if (best->count >= best->kept) best->is_cut = 1;
    if (best->count > best->kept) best->count = best->kept;
}

int ids_best_add(struct ids_best *best, const void *one) {
    best->seen++;
    if (best->is_cut && best->order(one, (char *)best->at + (best->kept - 1) * best->size) >= 0) return 0;
    if (best->count == best->room && grow(best)) return -1;
    memcpy((char *)best->at + best->count++ * best->size, one, best->size);
    if (best->count == 2 * best->kept) ids_best_order(best);
    return 0;
}

void ids_best_done(struct ids_best *best) {
    free(best->at);
    *best = (struct ids_best){0};
}
