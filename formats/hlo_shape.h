/* hlo_shape.h - xla.ShapeProto into the graph of a program (lib/hlo). Programs repeat their shapes, so equal ones
 * are read once. */
#ifndef IDS_FORMATS_HLO_SHAPE_H
#define IDS_FORMATS_HLO_SHAPE_H

#include "lib/hlo/module.h"
#include "lib/wire/pb_wire.h"

struct ids_hlo_shapes {
    struct ids_hlo_module *module;
    int with_layouts;
    struct ids_keymap seen; /* of a message's bytes -> place in read + 1 */
    struct ids_hlo_read_shape {
        struct ids_pb bytes;
        uint32_t shape;
    } * read;
    size_t read_count, read_room;
};

/* 0, IDS_NOMEM or IDS_LIMIT. What is damaged or nested too deep is marked in the shape. */
int ids_hlo_shape_read(struct ids_hlo_shapes *shapes, struct ids_pb bytes, uint32_t *ret_shape, struct ids_error *err);
void ids_hlo_shapes_done(struct ids_hlo_shapes *shapes);

#endif
