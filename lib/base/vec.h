/* vec.h - growing an array by one, with the growth and the overflow check in one place.
 *
 *   struct thing *things = NULL; size_t count = 0, room = 0;
 *   struct thing *next = IDS_PUSH(things, count, room);
 *   if (!next) return ids_fail(err, IDS_NOMEM, "...");
 *
 * The new element is not zeroed. The array stays valid when memory runs out.
 */
#ifndef IDS_LIB_BASE_VEC_H
#define IDS_LIB_BASE_VEC_H

#include <stddef.h>

/* An array with room for so many, not zeroed; NULL when memory ran out. */
void *ids_vec_new(size_t count, size_t element_bytes);
/* Room for so many in an array that has no elements yet, where that many are likely to come: it need not be copied as
 * it grows. The array, another one, or the same where there is no memory for it. */
void *ids_vec_expect(void *array, size_t *room, size_t count, size_t element_bytes);
/* Makes room for at least one more element: the array, moved or not, or NULL when memory ran out. */
void *ids_vec_grow(void *array, size_t *room, size_t element_bytes);

/* The address of a new last element, or NULL. */
#define IDS_PUSH(array, count, room)                                                     \
    __extension__({                                                                      \
        __typeof__(array) grown_ = (array);                                              \
        if ((count) == (room)) grown_ = ids_vec_grow((array), &(room), sizeof *(array)); \
        if (grown_) (array) = grown_;                                                    \
        grown_ ? &(array)[(count)++] : NULL;                                             \
    })

#endif
