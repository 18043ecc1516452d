#include "lib/hlo/shape.h"

#include "lib/base/intern.h"
#include "lib/fields/hlo.h"
#include "lib/hlo/element.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- bytes and fingerprints ---- */

/* The parts' bytes are known: they come behind the shape that they are parts of. */
static int64_t bytes_of(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape) {
    uint64_t count = 1, total = 0;
    if (shape->incomplete) return -1;
    for (uint32_t i = 0; i < shape->dimensions.count; i++) {
        int64_t size = module->numbers[shape->dimensions.first + i];
        if (size < 0 || __builtin_mul_overflow(count, (uint64_t)size, &count)) return -1;
    }
    for (uint32_t part = shape->first_part; part != IDS_HLO_NONE; part = module->shapes[part].next_part) {
        int64_t bytes = module->shapes[part].bytes;
        if (bytes < 0 || __builtin_add_overflow(total, (uint64_t)bytes, &total)) return -1;
    }
    int64_t own = ids_hlo_element_bytes(count, ids_hlo_element_bits(shape->element));
    return own < 0 || __builtin_add_overflow(total, (uint64_t)own, &total) || total > INT64_MAX ? -1 : (int64_t)total;
}

enum { VARINT_BYTES = 10 };

/* The dimensions enter as the bytes that protobuf packs them into, so that fingerprints stay those of earlier versions,
 * which baselines hold. */
static uint64_t hash_dimensions(const struct ids_hlo_module *module, struct ids_hlo_range dimensions) {
    unsigned char packed[64 * VARINT_BYTES];
    size_t length = 0;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < dimensions.count; i++) {
        uint64_t value = (uint64_t)module->numbers[dimensions.first + i];
        if (length > sizeof packed - VARINT_BYTES) { /* no array has so many */
            hash = ids_key_of(hash, ids_hash_bytes(packed, length));
            length = 0;
        }
        for (; value >= 0x80; value >>= 7) packed[length++] = (unsigned char)(value | 0x80);
        packed[length++] = (unsigned char)value;
    }
    return hash ? ids_key_of(hash, ids_hash_bytes(packed, length)) : ids_hash_bytes(packed, length);
}

static uint64_t fingerprint_of(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape) {
    uint64_t hash = 1;
    if (shape->element) hash = ids_key_of(ids_key_of(hash, HLO_SHAPE_ELEMENT), shape->element);
    if (shape->dimensions.count) hash = ids_key_of(hash, hash_dimensions(module, shape->dimensions));
    for (uint32_t part = shape->first_part; part != IDS_HLO_NONE; part = module->shapes[part].next_part)
        hash = ids_key_of(hash, module->shapes[part].fingerprint);
    return hash;
}

void ids_hlo_measure_shapes(struct ids_hlo_module *module) {
    for (size_t i = module->shape_count; i-- > 0;) {
        struct ids_hlo_shape *shape = &module->shapes[i];
        shape->bytes = bytes_of(module, shape);
        shape->fingerprint = fingerprint_of(module, shape);
    }
}

/* ---- as text ---- */

struct writing {
    const struct ids_hlo_module *module;
    char *text;
    size_t length;
    int with_layout;
};

static int is_full(const struct writing *to) {
    return to->length == IDS_HLO_SHAPE_TEXT - 1;
}

static void put(struct writing *to, const char *piece) {
    size_t room = IDS_HLO_SHAPE_TEXT - 1 - to->length, length = strlen(piece);
    if (length > room) length = room;
    memcpy(to->text + to->length, piece, length);
    to->length += length;
}

static void put_number(struct writing *to, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, (uint64_t)number);
    put(to, digits);
}

static void put_list(struct writing *to, struct ids_hlo_range range) {
    for (uint32_t i = 0; i < range.count && !is_full(to); i++) {
        if (i) put(to, ",");
        put_number(to, to->module->numbers[range.first + i]);
    }
}

/* {1,0:T(8,128)S(5)} */
static void put_layout(struct writing *to, const struct ids_hlo_layout *layout) {
    int has_more = layout->tiles.count || layout->element_bits || layout->memory_space;
    if (!layout->minor_to_major.count && !has_more) return;
    put(to, "{");
    put_list(to, layout->minor_to_major);
    if (has_more) put(to, ":");
    for (uint32_t i = 0; i < layout->tiles.count && !is_full(to); i++) {
        put(to, i ? "(" : "T(");
        put_list(to, to->module->tiles[layout->tiles.first + i]);
        put(to, ")");
    }
    if (layout->element_bits) {
        put(to, "E(");
        put_number(to, layout->element_bits);
        put(to, ")");
    }
    if (layout->memory_space) {
        put(to, "S(");
        put_number(to, layout->memory_space);
        put(to, ")");
    }
    put(to, "}");
}

static void put_shape(struct writing *to, uint32_t index) {
    const struct ids_hlo_shape *shape = &to->module->shapes[index];
    if (shape->element == IDS_HLO_TUPLE) {
        put(to, "(");
        for (uint32_t part = shape->first_part; part != IDS_HLO_NONE && !is_full(to);) {
            put_shape(to, part);
            part = to->module->shapes[part].next_part;
            if (part != IDS_HLO_NONE) put(to, ", ");
        }
        put(to, ")");
        return;
    }
    const char *name = ids_hlo_element_name(shape->element);
    put(to, name ? name : "?");
    if (shape->element == IDS_HLO_OPAQUE || shape->element == IDS_HLO_TOKEN) return; /* they have no dimensions */
    put(to, "[");
    put_list(to, shape->dimensions);
    put(to, "]");
    if (to->with_layout && shape->layout != IDS_HLO_NONE) put_layout(to, &to->module->layouts[shape->layout]);
}

void ids_hlo_shape_cut(char text[IDS_HLO_SHAPE_TEXT], size_t parts) {
    char end[48] = "...";
    if (parts) snprintf(end, sizeof end, "... of %zu arrays", parts);
    const size_t length = strlen(end);
    memcpy(&text[IDS_HLO_SHAPE_TEXT - 1 - length], end, length + 1);
}

static size_t count_parts(const struct ids_hlo_module *module, uint32_t shape) {
    size_t count = 0;
    for (uint32_t part = module->shapes[shape].first_part; part != IDS_HLO_NONE; part = module->shapes[part].next_part)
        count++;
    return count;
}

size_t ids_hlo_shape_text(const struct ids_hlo_module *module, uint32_t shape, int with_layout,
                          char text[IDS_HLO_SHAPE_TEXT]) {
    struct writing to = {module, text, 0, with_layout};
    if (shape != IDS_HLO_NONE) put_shape(&to, shape);
    text[to.length] = '\0';
    if (is_full(&to)) ids_hlo_shape_cut(text, count_parts(module, shape));
    return text[0] == '?' ? 0 : to.length;
}
