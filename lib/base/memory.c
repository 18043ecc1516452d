#include "lib/base/memory.h"

#include <stdatomic.h>

static atomic_int ran_out;

void ids_memory_refused(void) {
    atomic_store_explicit(&ran_out, 1, memory_order_relaxed);
}

int ids_memory_ran_out(void) {
    return atomic_load_explicit(&ran_out, memory_order_relaxed);
}
