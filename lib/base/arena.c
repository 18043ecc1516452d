#include "lib/base/arena.h"

#include "lib/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 4 * 1024, BLOCK_BYTES = 64 * 1024, ALIGN = 16 };

struct ids_arena_block {
    struct ids_arena_block *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char data[];
};

void ids_arena_done(struct ids_arena *arena) {
    struct ids_arena_block *block = arena->block;
    while (block) {
        struct ids_arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->block = NULL;
    arena->bytes = 0;
}

void *ids_arena_alloc(struct ids_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct ids_arena_block *block = arena->block;
    if (!block || block->size - block->used < bytes) {
        /* Most arenas hold little, and what is zeroed takes memory. */
        size_t usual = arena->bytes < FIRST_BYTES   ? FIRST_BYTES
                       : arena->bytes < BLOCK_BYTES ? arena->bytes
                                                    : BLOCK_BYTES;
        size_t size = bytes > usual ? bytes : usual;
        block = calloc(1, sizeof *block + size);
        if (!block) {
            ids_memory_refused();
            return NULL;
        }
        block->size = size;
        arena->bytes += size;
        /* A piece bigger than a block gets its own, behind the current one, whose rest stays in use. */
        if (arena->block && bytes > BLOCK_BYTES) {
            block->next = arena->block->next;
            arena->block->next = block;
        } else {
            block->next = arena->block;
            arena->block = block;
        }
    }
    void *piece = block->data + block->used;
    block->used += bytes;
    return piece;
}

char *ids_arena_copy(struct ids_arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX) return NULL;
    char *copy = ids_arena_alloc(arena, length + 1);
    if (!copy) return NULL;
    if (length) memcpy(copy, text, length);
    return copy; /* the arena's memory is zeroed, so the end is there already */
}

const char *ids_arena_vprint(struct ids_arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : ids_arena_alloc(arena, (size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

const char *ids_arena_print(struct ids_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = ids_arena_vprint(arena, format, args);
    va_end(args);
    return text;
}
