#include "lib/base/vec.h"

#include "lib/base/memory.h"

#include <stdint.h>
#include <stdlib.h>

void *ids_vec_grow(void *array, size_t *room, size_t element_bytes) {
    /* A hundred thousand threads with an event each are no reason to hold room for sixteen of them. */
    size_t first = element_bytes > 64 ? 4 : 16, wanted = *room ? *room + *room / 2 : first;
    if (wanted <= *room || wanted > SIZE_MAX / element_bytes) return NULL;
    void *moved = realloc(array, wanted * element_bytes);
    if (moved)
        *room = wanted;
    else
        ids_memory_refused();
    return moved;
}
