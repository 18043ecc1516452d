/* far_numbers.h - millions of numbers that are kept one after the other, and gone through in that order: in pieces, of
 * which all but the last may lie far (far.h).
 *
 *   struct ids_far_numbers numbers = {.far = far_or_NULL};
 *   if (ids_far_numbers_add(&numbers, 7)) return ids_no_memory(err);
 *   for (size_t piece = 0, count; (at = ids_far_numbers_piece(&numbers, piece, &count)); piece++)
 *       for (size_t i = 0; i < count; i++) use(at[i]);
 *   ids_far_numbers_done(&numbers);
 */
#ifndef IDS_LIB_BASE_FAR_NUMBERS_H
#define IDS_LIB_BASE_FAR_NUMBERS_H

#include "lib/base/far.h"

enum { IDS_FAR_PIECE_MOST = 1 << 15 };

struct ids_far_numbers {
    struct ids_far *far; /* NULL: all lie in memory */
    int64_t *last;       /* the piece that grows */
    size_t last_count, last_room;
    int64_t **pieces; /* IDS_FAR_PIECE_MOST numbers each */
    size_t piece_count, piece_room;
};

/* Room for at least one more in the last piece. 0, or -1 when memory ran out. */
int ids_far_numbers_grow(struct ids_far_numbers *numbers);
/* 0, or -1 when memory ran out. */
static inline int ids_far_numbers_add(struct ids_far_numbers *numbers, int64_t number) {
    if (numbers->last_count == numbers->last_room && ids_far_numbers_grow(numbers)) return -1;
    numbers->last[numbers->last_count++] = number;
    return 0;
}
/* The numbers of a piece, in the order in which they were added; NULL behind the last one. */
const int64_t *ids_far_numbers_piece(const struct ids_far_numbers *numbers, size_t piece, size_t *ret_count);
void ids_far_numbers_done(struct ids_far_numbers *numbers);

#endif
