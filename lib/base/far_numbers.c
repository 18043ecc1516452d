#include "lib/base/far_numbers.h"

#include "lib/base/memory.h"
#include "lib/base/vec.h"

#include <stdlib.h>

/* The last piece is full: the next one begins. */
static int begin_piece(struct ids_far_numbers *numbers) {
    int64_t **piece = IDS_PUSH(numbers->pieces, numbers->piece_count, numbers->piece_room);
    if (!piece) return -1;
    *piece = ids_far_keep(numbers->far, numbers->last, IDS_FAR_PIECE_MOST * sizeof *numbers->last);
    numbers->last = NULL;
    numbers->last_count = numbers->last_room = 0;
    return 0;
}

int ids_far_numbers_grow(struct ids_far_numbers *numbers) {
    if (numbers->last_room == IDS_FAR_PIECE_MOST && begin_piece(numbers)) return -1;
    size_t room = numbers->last_room ? numbers->last_room * 2 : 16;
    int64_t *grown = realloc(numbers->last, room * sizeof *grown);
    if (!grown) {
        ids_memory_refused();
        return -1;
    }
    numbers->last = grown;
    numbers->last_room = room;
    return 0;
}

const int64_t *ids_far_numbers_piece(const struct ids_far_numbers *numbers, size_t piece, size_t *ret_count) {
    if (piece > numbers->piece_count) return NULL;
    int is_last = piece == numbers->piece_count;
    const int64_t *at = is_last ? numbers->last : numbers->pieces[piece];
    *ret_count = is_last ? numbers->last_count : IDS_FAR_PIECE_MOST;
    if (ids_far_has(numbers->far, at)) ids_far_turn(numbers->far, IDS_FAR_PIECE_MOST * sizeof *at);
    return at;
}

void ids_far_numbers_done(struct ids_far_numbers *numbers) {
    for (size_t i = 0; i < numbers->piece_count; i++)
        if (!ids_far_has(numbers->far, numbers->pieces[i])) free(numbers->pieces[i]);
    free(numbers->pieces);
    free(numbers->last);
    *numbers = (struct ids_far_numbers){0};
}
