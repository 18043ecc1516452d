#include "lib/base/keymap.h"

#include <stdlib.h>

void ids_keymap_done(struct ids_keymap *map) {
    free(map->slots);
    *map = (struct ids_keymap){0};
}

static size_t find(const struct ids_keymap_slot *slots, size_t room, uint64_t key) {
    size_t at = ids_keymap_place(room, key);
    while (slots[at].key && slots[at].key != key) at = (at + 1) & (room - 1);
    return at;
}

static int move(struct ids_keymap *map, size_t room) {
    struct ids_keymap_slot *slots = calloc(room, sizeof *slots);
    if (!slots) return -1;
    for (size_t i = 0; i < map->room; i++) {
        if (map->slots[i].key) slots[find(slots, room, map->slots[i].key)] = map->slots[i];
    }
    free(map->slots);
    map->slots = slots;
    map->room = room;
    return 0;
}

/* Room for one more key. */
static int grow(struct ids_keymap *map) {
    return map->count * 2 >= map->room ? move(map, map->room ? map->room * 2 : 256) : 0;
}

int ids_keymap_reserve(struct ids_keymap *map, size_t more) {
    size_t room = map->room ? map->room : 256;
    while (room / 2 < map->count + more) {
        if (room > SIZE_MAX / 2) return -1;
        room *= 2;
    }
    return room > map->room ? move(map, room) : 0;
}

int ids_keymap_add(struct ids_keymap *map, uint64_t key, uint64_t value) {
    if (!key) return 0;
    if (grow(map)) return -1;
    size_t at = find(map->slots, map->room, key);
    if (map->slots[at].key) return 0;
    map->slots[at] = (struct ids_keymap_slot){key, value};
    map->count++;
    return 1;
}

uint64_t *ids_keymap_at(struct ids_keymap *map, uint64_t key) {
    if (!key || grow(map)) return NULL;
    struct ids_keymap_slot *slot = &map->slots[find(map->slots, map->room, key)];
    map->count += !slot->key;
    slot->key = key;
    return &slot->value;
}

int ids_keymap_get(const struct ids_keymap *map, uint64_t key, uint64_t *ret_value) {
    if (!map->room || !key) return 0;
    size_t at = find(map->slots, map->room, key);
    if (!map->slots[at].key) return 0;
    *ret_value = map->slots[at].value;
    return 1;
}
