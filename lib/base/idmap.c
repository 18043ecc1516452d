#include "lib/base/idmap.h"

#include <stdlib.h>
#include <string.h>

/* Ids below this go into the array: 1 MiB at most, for a file that has a single id of half a million. */
enum { DENSE_IDS = 1 << 18 };

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

static int set_dense(struct ids_idmap *map, uint64_t id, uint32_t value) {
    if (id >= map->dense_room) {
        size_t room = map->dense_room ? map->dense_room : 64;
        while (room <= id) room *= 2;
        uint32_t *dense = realloc(map->dense, room * sizeof *dense);
        if (!dense) return -1;
        memset(dense + map->dense_room, 0, (room - map->dense_room) * sizeof *dense);
        map->dense = dense;
        map->dense_room = room;
    }
    map->dense[id] = value + 1;
    return 0;
}

int ids_idmap_set(struct ids_idmap *map, uint64_t id, uint32_t value) {
    if (id < DENSE_IDS) return set_dense(map, id, value);
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
