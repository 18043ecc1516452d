#include "lib/base/vec.h"

#include "lib/base/memory.h"

#include <stdint.h>
#include <stdlib.h>

void *ids_vec_grow(void *array, size_t *room, size_t element_bytes) {
    size_t wanted = *room ? *room + *room / 2 : 16;
    if (wanted <= *room || wanted > SIZE_MAX / element_bytes) return NULL;
    void *moved = realloc(array, wanted * element_bytes);
    if (moved)
        *room = wanted;
    else
        ids_memory_refused();
    return moved;
}
