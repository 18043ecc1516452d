/* idmap.h - a map from 64-bit ids to small numbers, for ids that are mostly dense but may be anything (a file's
 * metadata ids: 1, 2, 3 in most files, negative or random in some). */
#ifndef IDS_LIB_BASE_IDMAP_H
#define IDS_LIB_BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct ids_idmap_slot {
    uint64_t id;
    uint32_t value; /* + 1; 0 is free */
};

struct ids_idmap {
    uint32_t *dense; /* value + 1 by id, for ids below dense_room */
    size_t dense_room, dense_count;
    struct ids_idmap_slot *slots;
    size_t slot_count, slot_room;
};

#define IDS_IDMAP_NONE UINT32_MAX

void ids_idmap_done(struct ids_idmap *map);
/* Sets or replaces. `value` is below UINT32_MAX. Returns 0, or -1 when memory ran out. */
int ids_idmap_set(struct ids_idmap *map, uint64_t id, uint32_t value);
uint32_t ids_idmap_get_sparse(const struct ids_idmap *map, uint64_t id);

static inline uint32_t ids_idmap_get(const struct ids_idmap *map, uint64_t id) {
    if (id < map->dense_room) return map->dense[id] - 1; /* a free place gives IDS_IDMAP_NONE */
    return map->slots ? ids_idmap_get_sparse(map, id) : IDS_IDMAP_NONE;
}

#endif
