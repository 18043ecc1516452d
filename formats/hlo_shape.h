/* hlo_shape.h - shapes of HLO values (xla.ShapeProto): how many bytes, and as HLO text writes them. */
#ifndef IDS_FORMATS_HLO_SHAPE_H
#define IDS_FORMATS_HLO_SHAPE_H

#include "lib/wire/pb_wire.h"

/* Bytes of a value of that shape, a tuple's parts together; -1 when unknown. */
int64_t ids_hlo_shape_bytes(struct ids_pb shape);

/* "f32[256,256]", "(f32[2], s32[])", without layouts; a long one is cut and ends in "...". Returns the length; 0 when the shape is not
 * known. */
enum { IDS_HLO_SHAPE_TEXT = 128 };
size_t ids_hlo_shape_text(struct ids_pb shape, char text[IDS_HLO_SHAPE_TEXT]);

#endif
