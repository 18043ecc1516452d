/* own_memory.h - reads memory of this process that may be gone by now: an address without memory is an error, no crash.
 *
 * By process_vm_readv, which containers may forbid though the process reads itself, else by /proc/self/mem. */
#ifndef IDS_COLLECTORS_COMMON_OWN_MEMORY_H
#define IDS_COLLECTORS_COMMON_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Finds out by which way this process can read. 0, or -1 with the reason and what to do. Comes before the first read,
 * and before the first one of a forked child. */
int ids_own_memory_open(char *why, size_t why_size);

/* 0 when all of it was read, else -1. One system call. */
int ids_own_memory(uintptr_t address, void *to, size_t size);

#endif
