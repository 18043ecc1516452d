/* own_memory.h - reads memory of this process that may be gone by now: an address without memory is an error, no crash.
 */
#ifndef IDS_COLLECTORS_COMMON_OWN_MEMORY_H
#define IDS_COLLECTORS_COMMON_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* 0 when all of it was read, else -1. One system call. */
int ids_own_memory(uintptr_t address, void *to, size_t size);

#endif
