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

/* So many bytes behind a message may be looked at where that is said: its numbers are then read without asking where it
 * ends. */
enum { IDS_PB_SLACK = 16 };

/* The varint at `at`, where ten bytes may be looked at. What is behind it, or NULL when it is longer than 64 bits hold.
 * Inline by command, as the next one: a call for each tag and value takes an eighth of a report. */
__attribute__((always_inline)) static inline const uint8_t *ids_pb_number(const uint8_t *at, uint64_t *ret_value) {
    uint64_t value = *at;
    if (value < 0x80) { /* most are one byte */
        *ret_value = value;
        return at + 1;
    }
    if (at[1] < 0x80) { /* most numbers of names are two */
        *ret_value = (value & 0x7f) | (uint64_t)at[1] << 7;
        return at + 2;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* eight bytes at once: times are five to seven, ids that were drawn at random nine or ten */
    memcpy(&value, at, 8);
    uint64_t last = ~value & 0x8080808080808080u, upper; /* the lowest bit set marks the last byte */
    value &= last ^ (last - 1);                          /* all eight where it is none of these */
    value &= 0x7f7f7f7f7f7f7f7fu;
    upper = value & 0x7f007f007f007f00u, value -= upper >> 1;
    upper = value & 0x3fff00003fff0000u, value = (value ^ upper) | upper >> 2;
    upper = value & 0x0fffffff00000000u, value = (value ^ upper) | upper >> 4;
    *ret_value = value;
    if (last) return at + (__builtin_ctzll(last) >> 3) + 1;
    unsigned tenth = at[8] < 0x80 ? 0 : at[9];
    if (tenth > 1) return NULL;
    *ret_value = value | (uint64_t)(at[8] & 0x7f) << 56 | (uint64_t)tenth << 63;
    return at + 9 + (at[8] >= 0x80);
#else
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (shift == 63 && *at > 1) return NULL;
        value |= (uint64_t)(*at & 0x7f) << shift;
        if (*at++ < 0x80) break;
    }
    *ret_value = value;
    return at;
#endif
}

/* The varint at `at`, where the buffer ends within ten bytes: its length; 0 when that is inside it; -1. */
__attribute__((noinline)) static int ids_pb_short_varint(const uint8_t *at, const uint8_t *end, uint64_t *ret_value) {
    uint8_t bytes[10] = {0};
    size_t length = (size_t)(end - at);
    for (size_t i = 0; i < length; i++) bytes[i] = at[i];
    const uint8_t *behind = ids_pb_number(bytes, ret_value);
    return !behind ? -1 : behind > bytes + length ? 0 : (int)(behind - bytes);
}

/* Decodes a varint at pb->at. Returns 1; 0 when the buffer ends inside it; -1 when it is longer than 64 bits hold. */
__attribute__((always_inline)) static inline int ids_pb_varint(struct ids_pb *pb, uint64_t *ret_value) {
    const uint8_t *at = pb->at;
    uint64_t value;
    if (pb->end - at < 10) {
        if (at < pb->end && *at < 0x80) {
            *ret_value = *at;
            pb->at = at + 1;
            return 1;
        }
        int length = ids_pb_short_varint(at, pb->end, &value);
        if (length <= 0) return length;
        *ret_value = value;
        pb->at = at + length;
        return 1;
    }
    at = ids_pb_number(at, ret_value);
    if (!at) return -1;
    pb->at = at;
    return 1;
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
