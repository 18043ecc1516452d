#include "formats/hlo_shape.h"

#include "formats/hlo_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SHAPE_DEPTH = 16 }; /* tuples in tuples; async ops have 3 */

/* Bits of an element by PrimitiveType (xla_data.proto); 0 for tokens and opaque values, -1 for what is not known. */
static int element_bits(uint64_t type) {
    /* clang-format off */
    static const int16_t bits[] = {
        [0] = -1,       /* invalid */
        [1] = 8,        /* pred */
        [2] = 8,   [3] = 16,  [4] = 32,  [5] = 64,  /* s8, s16, s32, s64 */
        [6] = 8,   [7] = 16,  [8] = 32,  [9] = 64,  /* u8, u16, u32, u64 */
        [10] = 16, [11] = 32, [12] = 64,            /* f16, f32, f64 */
        [13] = 0,  [14] = 0,                        /* tuple, opaque */
        [15] = 64, [16] = 16, [17] = 0,  [18] = 128, /* c64, bf16, token, c128 */
        [19] = 8,  [20] = 8,                        /* f8e5m2, f8e4m3fn */
        [21] = 4,  [22] = 4,                        /* s4, u4 */
        [23] = 8,  [24] = 8,  [25] = 8,             /* f8e4m3b11fnuz, f8e5m2fnuz, f8e4m3fnuz */
        [26] = 2,  [27] = 2,                        /* s2, u2 */
        [28] = 8,  [29] = 8,                        /* f8e4m3, f8e3m4 */
        [30] = 1,  [31] = 1,                        /* s1, u1 */
        [32] = 4,  [33] = 8,                        /* f4e2m1fn, f8e8m0fnu */
    };
    /* clang-format on */
    return type < sizeof bits / sizeof *bits ? bits[type] : -1;
}

/* Multiplies `count` by the dimensions in the field; 0 when one is not a size (dynamic) or the product is too large. */
static int multiply_dimensions(struct ids_pb dimensions, uint64_t *count) {
    while (dimensions.at < dimensions.end) {
        uint64_t size;
        if (ids_pb_varint(&dimensions, &size) != 1 || size > INT64_MAX) return 0;
        if (__builtin_mul_overflow(*count, size, count)) return 0;
    }
    return 1;
}

/* Bytes of a value of that shape, a tuple's parts together; -1 when unknown. */
static int64_t bytes_at(struct ids_pb shape, int depth) {
    struct ids_pb_field field;
    uint64_t type = 0, count = 1, total = 0;
    int more, known = 1;
    while ((more = ids_pb_next(&shape, &field)) > 0) {
        switch (ids_hlo_tag_of(&field)) {
        case HLO_SHAPE_ELEMENT:
            type = field.value;
            break;
        case HLO_SHAPE_DIMENSIONS:
            known &= multiply_dimensions(ids_pb_inside(&field), &count);
            break;
        case HLO_SHAPE_DIMENSION:
            known &= field.value <= INT64_MAX && !__builtin_mul_overflow(count, field.value, &count);
            break;
        case HLO_SHAPE_TUPLE: {
            int64_t part = depth < MAX_SHAPE_DEPTH ? bytes_at(ids_pb_inside(&field), depth + 1) : -1;
            known &= part >= 0 && !__builtin_add_overflow(total, (uint64_t)part, &total);
            break;
        }
        default:
            break;
        }
    }
    int bits = element_bits(type);
    uint64_t all_bits;
    if (more < 0 || !known || bits < 0) return -1;
    if (__builtin_mul_overflow(count, (uint64_t)bits, &all_bits) || all_bits > UINT64_MAX - 7) return -1;
    uint64_t own = (all_bits + 7) / 8;
    return __builtin_add_overflow(total, own, &total) || total > INT64_MAX ? -1 : (int64_t)total;
}

int64_t ids_hlo_shape_bytes(struct ids_pb shape) {
    return bytes_at(shape, 0);
}

/* ---- as text ---- */

/* By PrimitiveType, as HLO text calls them. */
static const char *const element_names[] = {
    NULL,   "pred",   "s8",       "s16", "s32",   "s64",           "u8",         "u16",        "u32",
    "u64",  "f16",    "f32",      "f64", "tuple", "opaque",        "c64",        "bf16",       "token",
    "c128", "f8e5m2", "f8e4m3fn", "s4",  "u4",    "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "s2",
    "u2",   "f8e4m3", "f8e3m4",   "s1",  "u1",    "f4e2m1fn",      "f8e8m0fnu",
};
enum { ELEMENT_TUPLE = 13, ELEMENT_NAMES = sizeof element_names / sizeof *element_names };

struct writing {
    char *text;
    size_t length;
};

static void put(struct writing *to, const char *piece) {
    size_t room = IDS_HLO_SHAPE_TEXT - 1 - to->length, length = strlen(piece);
    if (length > room) length = room;
    memcpy(to->text + to->length, piece, length);
    to->length += length;
}

static void put_number(struct writing *to, uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    put(to, digits);
}

static void put_dimensions(struct writing *to, struct ids_pb shape) {
    struct ids_pb_field field;
    uint64_t size;
    int some = 0;
    put(to, "[");
    while (ids_pb_next(&shape, &field) > 0) {
        if (ids_hlo_tag_of(&field) == HLO_SHAPE_DIMENSION) {
            if (some++) put(to, ",");
            put_number(to, field.value);
        } else if (ids_hlo_tag_of(&field) == HLO_SHAPE_DIMENSIONS) {
            struct ids_pb sizes = ids_pb_inside(&field);
            while (to->length < IDS_HLO_SHAPE_TEXT - 1 && sizes.at < sizes.end && ids_pb_varint(&sizes, &size) == 1) {
                if (some++) put(to, ",");
                put_number(to, size);
            }
        }
    }
    put(to, "]");
}

static void put_shape(struct writing *to, struct ids_pb shape, int depth) {
    struct ids_pb all = shape;
    struct ids_pb_field field;
    uint64_t type = 0;
    while (ids_pb_next(&all, &field) > 0) {
        if (ids_hlo_tag_of(&field) == HLO_SHAPE_ELEMENT) type = field.value;
    }
    if (type != ELEMENT_TUPLE) {
        put(to, type < ELEMENT_NAMES && element_names[type] ? element_names[type] : "?");
        if (type != 14 && type != 17) put_dimensions(to, shape); /* opaque values and tokens have none */
        return;
    }
    int some = 0;
    put(to, "(");
    while (depth < MAX_SHAPE_DEPTH && to->length < IDS_HLO_SHAPE_TEXT - 1 && ids_pb_next(&shape, &field) > 0) {
        if (ids_hlo_tag_of(&field) != HLO_SHAPE_TUPLE) continue;
        if (some++) put(to, ", ");
        put_shape(to, ids_pb_inside(&field), depth + 1);
    }
    put(to, ")");
}

size_t ids_hlo_shape_text(struct ids_pb shape, char text[IDS_HLO_SHAPE_TEXT]) {
    struct writing to = {text, 0};
    put_shape(&to, shape, 0);
    if (to.length == IDS_HLO_SHAPE_TEXT - 1) memcpy(text + to.length - 3, "...", 3);
    text[to.length] = '\0';
    return text[0] == '?' ? 0 : to.length;
}
