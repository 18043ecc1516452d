/* pb_wire.h - walking protobuf wire format inside a buffer, bounded and without allocation.
 *
 * Format: https://protobuf.dev/programming-guides/encoding/. A field is a varint tag (number << 3 | wire type) and a
 * value.
 *
 *   struct ids_pb pb = {bytes, bytes + length};
 *   struct ids_pb_field field;
 *   int more;
 *   while ((more = ids_pb_next(&pb, &field)) > 0) switch (field.number) { ... }
 *   if (more < 0) ... malformed at pb.at
 */
#ifndef IDS_LIB_WIRE_PB_WIRE_H
#define IDS_LIB_WIRE_PB_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ids_pb {
    const uint8_t *at, *end;
};

enum ids_pb_wire { IDS_PB_VARINT = 0, IDS_PB_FIXED64 = 1, IDS_PB_BYTES = 2, IDS_PB_FIXED32 = 5 };

struct ids_pb_field {
    uint32_t number;
    uint8_t wire;         /* enum ids_pb_wire */
    uint64_t value;       /* varint, fixed64, fixed32; the length for bytes */
    const uint8_t *bytes; /* bytes only */
};

/* Decodes a varint at pb->at. Returns 1; 0 when the buffer ends inside it; -1 when it is longer than 64 bits hold.
 * Inline by command: clang inlines nothing of this size that holds a loop, and a call for each tag and value takes
 * an eighth of a report. */
__attribute__((always_inline)) static inline int ids_pb_varint(struct ids_pb *pb, uint64_t *ret_value) {
    const uint8_t *at = pb->at;
    if (at < pb->end && *at < 0x80) { /* most are one byte */
        *ret_value = *at;
        pb->at = at + 1;
        return 1;
    }
    uint64_t value = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (pb->end - at >=
        10) { /* eight bytes at once: times are five to seven, ids that were drawn at random nine or ten */
        memcpy(&value, at, 8);
        uint64_t last = ~value & 0x8080808080808080u, upper; /* the lowest bit set marks the last byte */
        value &= last ^ (last - 1);                          /* all eight where it is none of these */
        value &= 0x7f7f7f7f7f7f7f7fu;
        upper = value & 0x7f007f007f007f00u, value = (value ^ upper) | upper >> 1;
        upper = value & 0x3fff00003fff0000u, value = (value ^ upper) | upper >> 2;
        upper = value & 0x0fffffff00000000u, value = (value ^ upper) | upper >> 4;
        if (last) {
            *ret_value = value;
            pb->at = at + (__builtin_ctzll(last) + 1) / 8;
            return 1;
        }
        unsigned tenth = at[8] < 0x80 ? 0 : at[9];
        if (tenth > 1) return -1;
        *ret_value = value | (uint64_t)(at[8] & 0x7f) << 56 | (uint64_t)tenth << 63;
        pb->at = at + 9 + (at[8] >= 0x80);
        return 1;
    }
#endif
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (at == pb->end) return 0;
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1) return -1;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_value = value;
            pb->at = at;
            return 1;
        }
    }
    return -1;
}

/* The next field: 1 and *ret_field, 0 at the end, -1 when malformed (pb->at then stands at the field's tag). Groups
 * (wire types 3 and 4), unknown wire types and field number 0 are malformed. */
static inline int ids_pb_next(struct ids_pb *pb, struct ids_pb_field *ret_field) {
    if (pb->at == pb->end) return 0;
    struct ids_pb at = *pb;
    uint64_t tag = *at.at;
    if (tag >= 8 && tag < 0x80)
        at.at++; /* fields 1 to 15 */
    else if (ids_pb_varint(&at, &tag) != 1 || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return -1;
    ret_field->number = (uint32_t)(tag >> 3);
    ret_field->wire = tag & 7;
    ret_field->bytes = NULL;
    switch (tag & 7) {
    case IDS_PB_VARINT:
        if (ids_pb_varint(&at, &ret_field->value) != 1) return -1;
        break;
    case IDS_PB_FIXED64:
        if (at.end - at.at < 8) return -1;
        memcpy(&ret_field->value, at.at, 8);
        at.at += 8;
        break;
    case IDS_PB_BYTES:
        if (ids_pb_varint(&at, &ret_field->value) != 1) return -1;
        if (ret_field->value > (uint64_t)(at.end - at.at)) return -1;
        ret_field->bytes = at.at;
        at.at += ret_field->value;
        break;
    case IDS_PB_FIXED32: {
        uint32_t word;
        if (at.end - at.at < 4) return -1;
        memcpy(&word, at.at, 4);
        ret_field->value = word;
        at.at += 4;
        break;
    }
    default:
        return -1;
    }
    pb->at = at.at;
    return 1;
}

static inline struct ids_pb ids_pb_inside(const struct ids_pb_field *field) {
    return (struct ids_pb){field->bytes, field->bytes + field->value};
}

#endif
