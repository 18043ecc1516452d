#include "lib/base/idmap.h"

#include <stdlib.h>
#include <string.h>

/* Ids below DENSE_IDS go into the array, but it stays within DENSE_SHARE places for each id that it holds: thousands of
 * maps may each hold a few ids out of many (the names of each of 8,000 processes). */
enum { DENSE_IDS = 1 << 18, DENSE_FIRST = 64, DENSE_SHARE = 16 };

static size_t slot_of(uint64_t id, size_t room) {
    uint64_t hash = id * 0x9e3779b97f4a7c15u;
    return (size_t)(hash ^ hash >> 32) & (room - 1);
}

void ids_idmap_done(struct ids_idmap *map) {
    free(map->dense);
    free(map->slots);
    *map = (struct ids_idmap){0};
}

static void place(struct ids_idmap_slot *slots, size_t room, uint64_t id, uint32_t stored, size_t *count) {
    size_t at = slot_of(id, room);
    while (slots[at].value && slots[at].id != id) at = (at + 1) & (room - 1);
    if (!slots[at].value) ++*count;
    slots[at] = (struct ids_idmap_slot){id, stored};
}

static size_t dense_room_for(const struct ids_idmap *map, uint64_t id) {
    size_t room = map->dense_room ? map->dense_room : DENSE_FIRST;
    while (room <= id) room *= 2;
    return room;
}

static int is_dense(const struct ids_idmap *map, uint64_t id) {
    if (id < map->dense_room) return 1;
    if (id >= DENSE_IDS) return 0;
    size_t room = dense_room_for(map, id);
    return room <= DENSE_FIRST || room <= DENSE_SHARE * (map->dense_count + map->slot_count);
}

static void put_dense(struct ids_idmap *map, uint64_t id, uint32_t stored) {
    map->dense_count += !map->dense[id];
    map->dense[id] = stored;
}

/* Ids that were too few for the array before move into it. */
static int grow_dense(struct ids_idmap *map, size_t room) {
    uint32_t *dense = realloc(map->dense, room * sizeof *dense);
    if (!dense) return -1;
    memset(dense + map->dense_room, 0, (room - map->dense_room) * sizeof *dense);
    map->dense = dense;
    map->dense_room = room;
    for (size_t i = 0; i < map->slot_room; i++) {
        const struct ids_idmap_slot *slot = &map->slots[i];
        if (slot->value && slot->id < room && !dense[slot->id]) put_dense(map, slot->id, slot->value);
    }
    return 0;
}

int ids_idmap_set(struct ids_idmap *map, uint64_t id, uint32_t value) {
    if (is_dense(map, id)) {
        if (id >= map->dense_room && grow_dense(map, dense_room_for(map, id))) return -1;
        put_dense(map, id, value + 1);
        return 0;
    }
    if (map->slot_count * 2 >= map->slot_room) {
        size_t room = map->slot_room ? map->slot_room * 2 : 64;
        struct ids_idmap_slot *slots = calloc(room, sizeof *slots);
        if (!slots) return -1;
        size_t count = 0;
        for (size_t i = 0; i < map->slot_room; i++) {
            if (map->slots[i].value) place(slots, room, map->slots[i].id, map->slots[i].value, &count);
        }
        free(map->slots);
        map->slots = slots;
        map->slot_room = room;
    }
    place(map->slots, map->slot_room, id, value + 1, &map->slot_count);
    return 0;
}

uint32_t ids_idmap_get_sparse(const struct ids_idmap *map, uint64_t id) {
    for (size_t at = slot_of(id, map->slot_room); map->slots[at].value; at = (at + 1) & (map->slot_room - 1)) {
        if (map->slots[at].id == id) return map->slots[at].value - 1;
    }
    return IDS_IDMAP_NONE;
}
