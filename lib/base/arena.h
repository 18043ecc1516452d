/* arena.h - memory that lives and dies together.
 *
 * For the dimension data of a trace (names, ops, strings): many small pieces, all freed at once.
 * ids_arena_alloc returns zeroed memory aligned for any type, or NULL when none can be had.
 */
#ifndef IDS_LIB_BASE_ARENA_H
#define IDS_LIB_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct ids_arena_block;
struct ids_arena {
    struct ids_arena_block *block;
    size_t bytes; /* asked of the system so far */
};

void ids_arena_done(struct ids_arena *arena);
void *ids_arena_alloc(struct ids_arena *arena, size_t bytes);
/* A copy of `length` bytes with a zero byte behind them. */
char *ids_arena_copy(struct ids_arena *arena, const char *text, size_t length);
/* As printf writes it. NULL when memory ran out. */
const char *ids_arena_print(struct ids_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *ids_arena_vprint(struct ids_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

#endif
