/* search.h - places in sorted arrays. */
#ifndef IDS_LIB_BASE_SEARCH_H
#define IDS_LIB_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of `count` items of `size` bytes, sorted by the int64_t that lies `offset` bytes into each, how many are below `key`,
 * or at most `key`: the place of the first that is not. `items` may be NULL where there are none. */
static inline size_t ids_count_below(const void *items, size_t count, size_t size, size_t offset, int64_t key) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t at;
        memcpy(&at, (const char *)items + middle * size + offset, sizeof at);
        if (at < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline size_t ids_count_up_to(const void *items, size_t count, size_t size, size_t offset, int64_t key) {
    return key == INT64_MAX ? count : ids_count_below(items, count, size, offset, key + 1);
}

/* The same of structs with such a member. */
#define IDS_COUNT_BELOW(items, count, member, key) \
    ids_count_below((items), (count), sizeof *(items), offsetof(__typeof__(*(items)), member), (key))
#define IDS_COUNT_UP_TO(items, count, member, key) \
    ids_count_up_to((items), (count), sizeof *(items), offsetof(__typeof__(*(items)), member), (key))

#endif
