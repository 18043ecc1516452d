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

/* Pieces that lie apart, by one call of the system: a call costs as much as what it reads. */
enum { IDS_OWN_PIECES = 4 };
struct ids_own_piece {
    uintptr_t from;
    void *to;
    size_t size;
};
/* 0 when all of all pieces was read, else -1. */
int ids_own_memory_pieces(const struct ids_own_piece *pieces, int count);

#endif
