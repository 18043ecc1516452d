#include "lib/base/slab.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_BYTES ((size_t)2 << 20)

struct ids_slab {
    void *mapped;
    char *at; /* where the first huge page of it begins */
    size_t bytes, taken;
    atomic_size_t users;   /* arrays, and who takes */
    atomic_uint on_page[]; /* arrays that lie on each huge page, and on what the last one is of it */
};

struct ids_slab *ids_slab_new(size_t bytes) {
    size_t pages = bytes / HUGE_BYTES + 1;
    struct ids_slab *slab = calloc(1, sizeof *slab + pages * sizeof *slab->on_page);
    void *at =
        slab ? mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (at == MAP_FAILED) {
        free(slab);
        return NULL;
    }
    slab->mapped = at;
    slab->at = (char *)at + (-(uintptr_t)at & (HUGE_BYTES - 1));
    slab->bytes = bytes;
#ifdef MADV_HUGEPAGE
    madvise(slab->at, bytes, MADV_HUGEPAGE); /* what the last page has more than that stays unused, and small */
#endif
    slab->users = 1;
    return slab;
}

static size_t page_of(const struct ids_slab *slab, const char *at) {
    return (size_t)(at - slab->at) / HUGE_BYTES;
}

void *ids_slab_take(struct ids_slab *slab, size_t bytes) {
    char *at = slab->at + slab->taken;
    for (size_t page = page_of(slab, at); bytes && page <= page_of(slab, at + bytes - 1); page++)
        atomic_fetch_add(&slab->on_page[page], 1);
    atomic_fetch_add(&slab->users, 1);
    slab->taken += bytes;
    return at;
}

static void give_back(struct ids_slab *slab, size_t page) {
    size_t from = page * HUGE_BYTES, left = slab->bytes - from;
    madvise(slab->at + from, left < HUGE_BYTES ? left : HUGE_BYTES, MADV_DONTNEED);
}

void ids_slab_drop(struct ids_slab *slab, void *taken, size_t bytes) {
    char *at = taken;
    for (size_t page = page_of(slab, at); bytes && page <= page_of(slab, at + bytes - 1); page++)
        if (atomic_fetch_sub(&slab->on_page[page], 1) == 1) give_back(slab, page);
    ids_slab_close(slab);
}

void ids_slab_close(struct ids_slab *slab) {
    if (atomic_fetch_sub(&slab->users, 1) > 1) return;
    munmap(slab->mapped, slab->bytes + HUGE_BYTES);
    free(slab);
}
