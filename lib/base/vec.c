#include "lib/base/vec.h"

#include "lib/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of a large array the kernel may make huge pages: it is filled soon, and each small page costs a trap. */
enum { HUGE_LEAST_BYTES = 2 << 20 };

static void advise_huge(void *array, size_t bytes) {
#ifdef MADV_HUGEPAGE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)array & ~(page - 1);
    madvise((void *)from, (uintptr_t)array + bytes - from, MADV_HUGEPAGE);
#else
    (void)array, (void)bytes;
#endif
}

void *ids_vec_new(size_t count, size_t element_bytes) {
    void *array = count <= SIZE_MAX / element_bytes ? malloc(count * element_bytes) : NULL;
    if (!array && count) ids_memory_refused();
    if (array && count * element_bytes >= HUGE_LEAST_BYTES) advise_huge(array, count * element_bytes);
    return array;
}

void *ids_vec_expect(void *array, size_t *room, size_t count, size_t element_bytes) {
    if (count <= *room || count > SIZE_MAX / element_bytes) return array;
    void *larger = malloc(count * element_bytes);
    if (!larger) return array;
    free(array);
    *room = count;
    if (count * element_bytes >= HUGE_LEAST_BYTES) advise_huge(larger, count * element_bytes);
    return larger;
}

void *ids_vec_grow(void *array, size_t *room, size_t element_bytes) {
    /* A hundred thousand threads with an event each are no reason to hold room for sixteen of them. */
    size_t first = element_bytes > 64 ? 4 : 16, wanted = *room > 1 ? *room + *room / 2 : first;
    if (wanted <= *room || wanted > SIZE_MAX / element_bytes) return NULL;
    void *moved = realloc(array, wanted * element_bytes);
    if (!moved) {
        ids_memory_refused();
        return NULL;
    }
    *room = wanted;
    if (wanted * element_bytes >= HUGE_LEAST_BYTES) advise_huge(moved, wanted * element_bytes);
    return moved;
}
