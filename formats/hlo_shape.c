#include "formats/hlo_shape.h"

#include "formats/hlo_tag.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

void ids_hlo_shapes_done(struct ids_hlo_shapes *shapes) {
    ids_keymap_done(&shapes->seen);
    free(shapes->read);
}

/* Adds a packed list, or one number of a list that is not, to a range that ends where the module's numbers do. */
static int add_numbers(struct ids_hlo_module *module, const struct ids_pb_field *field, struct ids_hlo_range *range,
                       uint8_t *incomplete, struct ids_error *err) {
    size_t before = module->number_count;
    int code = 0;
    if (!range->count) range->first = (uint32_t)before;
    if (range->first + range->count != before) { /* other fields lie between the parts of the list */
        *incomplete = 1;
        return 0;
    }
    if (field->wire == IDS_PB_VARINT) {
        code = ids_hlo_add_number(module, (int64_t)field->value, err);
    } else if (field->wire == IDS_PB_BYTES) {
        struct ids_pb list = ids_pb_inside(field);
        uint64_t number;
        while (!code && list.at < list.end) {
            if (ids_pb_varint(&list, &number) != 1) {
                *incomplete = 1;
                break;
            }
            code = ids_hlo_add_number(module, (int64_t)number, err);
        }
    }
    range->count += (uint32_t)(module->number_count - before);
    return code;
}

/* ---- layouts ---- */

static int read_tile(struct ids_hlo_module *module, struct ids_pb bytes, uint8_t *incomplete, struct ids_error *err) {
    struct ids_hlo_range tile = {(uint32_t)module->number_count, 0};
    struct ids_pb_field field;
    int code = 0;
    while (!code && ids_pb_next(&bytes, &field) > 0) {
        if (field.number == HLO_TILE_DIMENSIONS) code = add_numbers(module, &field, &tile, incomplete, err);
    }
    return code ? code : ids_hlo_add_tile(module, tile, err);
}

static int read_layout_field(struct ids_hlo_module *module, const struct ids_pb_field *field,
                             struct ids_hlo_layout *layout, uint8_t *incomplete, struct ids_error *err) {
    switch (ids_hlo_tag_of(field)) {
    case IDS_HLO_TAG(HLO_LAYOUT_MINOR_TO_MAJOR, BYTES):
    case IDS_HLO_TAG(HLO_LAYOUT_MINOR_TO_MAJOR, VARINT):
        return add_numbers(module, field, &layout->minor_to_major, incomplete, err);
    case IDS_HLO_TAG(HLO_LAYOUT_TILE, BYTES):
        if (!layout->tiles.count) layout->tiles.first = (uint32_t)module->tile_count;
        layout->tiles.count++;
        return read_tile(module, ids_pb_inside(field), incomplete, err);
    case IDS_HLO_TAG(HLO_LAYOUT_ELEMENT_BITS, VARINT):
        layout->element_bits = (int64_t)field->value;
        return 0;
    case IDS_HLO_TAG(HLO_LAYOUT_MEMORY_SPACE, VARINT):
        layout->memory_space = (int64_t)field->value;
        return 0;
    default:
        return 0;
    }
}

static int read_layout(struct ids_hlo_module *module, uint32_t shape, struct ids_pb bytes, struct ids_error *err) {
    struct ids_hlo_layout layout = {0};
    struct ids_pb_field field;
    uint8_t incomplete = 0;
    uint32_t index;
    int code = 0, more = 0;
    while (!code && (more = ids_pb_next(&bytes, &field)) > 0)
        code = read_layout_field(module, &field, &layout, &incomplete, err);
    if (!code) code = ids_hlo_add_layout(module, &index, err);
    if (code || more < 0 || incomplete) return code; /* without its layout the shape still has its size */
    module->layouts[index] = layout;
    module->shapes[shape].layout = index;
    return 0;
}

/* ---- shapes ---- */

static int read_shape(const struct ids_hlo_shapes *shapes, struct ids_pb bytes, int depth, uint32_t *ret_shape,
                      struct ids_error *err);

static int read_part(const struct ids_hlo_shapes *shapes, uint32_t shape, uint32_t *last, struct ids_pb bytes,
                     int depth, struct ids_error *err) {
    struct ids_hlo_module *module = shapes->module;
    uint32_t part;
    if (depth == IDS_HLO_SHAPE_DEPTH) {
        module->shapes[shape].incomplete = 1;
        return 0;
    }
    int code = read_shape(shapes, bytes, depth + 1, &part, err);
    if (code) return code;
    *(*last == IDS_HLO_NONE ? &module->shapes[shape].first_part : &module->shapes[*last].next_part) = part;
    *last = part;
    return 0;
}

static int read_shape_field(const struct ids_hlo_shapes *shapes, uint32_t shape, uint32_t *last,
                            const struct ids_pb_field *field, int depth, struct ids_error *err) {
    struct ids_hlo_module *module = shapes->module;
    struct ids_hlo_shape *to = &module->shapes[shape];
    switch (ids_hlo_tag_of(field)) {
    case IDS_HLO_TAG(HLO_SHAPE_ELEMENT, VARINT):
        to->element = field->value > UINT8_MAX ? UINT8_MAX : (uint8_t)field->value;
        return 0;
    case IDS_HLO_TAG(HLO_SHAPE_DIMENSIONS, BYTES):
    case IDS_HLO_TAG(HLO_SHAPE_DIMENSIONS, VARINT):
        return add_numbers(module, field, &to->dimensions, &to->incomplete, err);
    case IDS_HLO_TAG(HLO_SHAPE_TUPLE, BYTES):
        return read_part(shapes, shape, last, ids_pb_inside(field), depth, err);
    case IDS_HLO_TAG(HLO_SHAPE_LAYOUT, BYTES):
        return shapes->with_layouts ? read_layout(module, shape, ids_pb_inside(field), err) : 0;
    default:
        return 0;
    }
}

static int read_shape(const struct ids_hlo_shapes *shapes, struct ids_pb bytes, int depth, uint32_t *ret_shape,
                      struct ids_error *err) {
    struct ids_pb_field field;
    uint32_t last = IDS_HLO_NONE;
    int more;
    int code = ids_hlo_add_shape(shapes->module, ret_shape, err);
    if (code) return code;
    while ((more = ids_pb_next(&bytes, &field)) > 0) {
        code = read_shape_field(shapes, *ret_shape, &last, &field, depth, err);
        if (code) return code;
    }
    if (more < 0) shapes->module->shapes[*ret_shape].incomplete = 1;
    return 0;
}

int ids_hlo_shape_read(struct ids_hlo_shapes *shapes, struct ids_pb bytes, uint32_t *ret_shape, struct ids_error *err) {
    size_t length = (size_t)(bytes.end - bytes.at);
    uint64_t *place = ids_keymap_at(&shapes->seen, ids_key_of(ids_hash_bytes(bytes.at, length), length));
    if (!place) return ids_no_memory(err);
    if (*place) {
        const struct ids_hlo_read_shape *before = &shapes->read[*place - 1];
        *ret_shape = before->shape;
        if ((size_t)(before->bytes.end - before->bytes.at) == length && !memcmp(before->bytes.at, bytes.at, length))
            return 0;
        return read_shape(shapes, bytes, 0, ret_shape, err);
    }
    int code = read_shape(shapes, bytes, 0, ret_shape, err);
    if (code) return code;
    struct ids_hlo_read_shape *read = IDS_PUSH(shapes->read, shapes->read_count, shapes->read_room);
    if (!read) return ids_no_memory(err);
    *read = (struct ids_hlo_read_shape){bytes, *ret_shape};
    *place = shapes->read_count;
    return 0;
}
