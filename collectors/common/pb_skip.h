/* pb_skip.h - stepping through protobuf in memory, field by field: as much as collectors need of it. Bounded,
 * without allocation. */
#ifndef IDS_COLLECTORS_COMMON_PB_SKIP_H
#define IDS_COLLECTORS_COMMON_PB_SKIP_H

#include <stddef.h>
#include <stdint.h>

struct ids_field {
    uint32_t number, wire;
    uint64_t value;       /* of varints; of the others 0 */
    const uint8_t *bytes; /* of length-delimited ones */
    size_t size;
};

/* Reads the field at *at. 1, and *at stands behind it; 0 at the end; -1 when malformed. */
static inline int ids_field_next(const uint8_t **at, const uint8_t *end, struct ids_field *field) {
    const uint8_t *p = *at;
    uint64_t numbers[2] = {0, 0}; /* the tag, the value or length */
    if (p == end) return 0;
    for (int i = 0; i < 2; i++) {
        unsigned shift = 0;
        if (i == 1 && (numbers[0] & 7) != 0 && (numbers[0] & 7) != 2) break;
        do {
            if (p == end || shift > 63) return -1;
            numbers[i] |= (uint64_t)(*p & 0x7f) << shift;
            shift += 7;
        } while (*p++ & 0x80);
    }
    *field = (struct ids_field){.number = (uint32_t)(numbers[0] >> 3), .wire = (uint32_t)(numbers[0] & 7)};
    if (!field->number || numbers[0] >> 32) return -1;
    switch (field->wire) {
    case 0:
        field->value = numbers[1];
        break;
    case 1:
    case 5:
        field->size = field->wire == 1 ? 8 : 4;
        break;
    case 2:
        if (numbers[1] > (uint64_t)(end - p)) return -1;
        field->size = (size_t)numbers[1];
        field->bytes = p;
        break;
    default:
        return -1;
    }
    if (field->size > (size_t)(end - p)) return -1;
    *at = p + field->size;
    return 1;
}

#endif
