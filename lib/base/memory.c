#include "lib/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_int ran_out;

void ids_memory_refused(void) {
    atomic_store_explicit(&ran_out, 1, memory_order_relaxed);
}

int ids_memory_ran_out(void) {
    return atomic_load_explicit(&ran_out, memory_order_relaxed);
}

#ifdef __GLIBC__
#include <malloc.h>
#endif

void ids_memory_give_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void ids_memory_give_back_large(void) {
    enum { LARGE_BYTES = 4 << 20, KEPT_BYTES = 4 << 20 };
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES); /* a host is made in what the one before was */
#endif
}
