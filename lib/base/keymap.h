/* keymap.h - a hash from a 64-bit key to a 64-bit value, for joins (a link id and the event that bears it). */
#ifndef IDS_LIB_BASE_KEYMAP_H
#define IDS_LIB_BASE_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

struct ids_keymap_slot {
    uint64_t key, value; /* key 0 is free */
};

struct ids_keymap {
    struct ids_keymap_slot *slots;
    size_t count, room;
};

void ids_keymap_done(struct ids_keymap *map);
/* Where the search for a key begins, in so many slots. */
static inline size_t ids_keymap_place(size_t room, uint64_t key) {
    return (size_t)(key ^ key >> 32) & (room - 1);
}
/* Makes room for so many more keys at once. 0, or -1 when memory ran out. */
int ids_keymap_reserve(struct ids_keymap *map, size_t more);
/* Adds a key unless it is there. Returns 1 when added, 0 when it was there (its value stays), -1 when memory ran out.
 * Key 0 means "none" and is never stored. */
int ids_keymap_add(struct ids_keymap *map, uint64_t key, uint64_t value);
/* Where the value of a key is kept, 0 for a key that was not there yet; NULL when memory ran out, and for key 0.
 * Valid until the next add. */
uint64_t *ids_keymap_at(struct ids_keymap *map, uint64_t key);
/* Asks the memory for what ids_keymap_get and ids_keymap_add of the key look at, where it is known some time before. A
 * large map lies in no cache, and who does not wait for one key after the other takes half the time. */
static inline void ids_keymap_expect(const struct ids_keymap *map, uint64_t key) {
    if (map->room) __builtin_prefetch(&map->slots[ids_keymap_place(map->room, key)]);
}
/* 1 and *ret_value when there, else 0. */
int ids_keymap_get(const struct ids_keymap *map, uint64_t key, uint64_t *ret_value);

/* A key out of two numbers; never 0. Two pairs give the same key by chance only (2^-64 a pair). */
static inline uint64_t ids_key_of(uint64_t a, uint64_t b) {
    uint64_t key = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 29) + b;
    key = (key ^ key >> 32) * 0x94d049bb133111ebu;
    key ^= key >> 31;
    return key ? key : 1;
}

#endif
