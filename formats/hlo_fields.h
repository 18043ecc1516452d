/* hlo_fields.h - field numbers of xla.HloProto and what lies in it (xla/service/hlo.proto, xla_data.proto), with their wire types: as
 * they stand in a file, so that a field of another type is passed over. Those that any reader of HLO here looks at. */
#ifndef IDS_FORMATS_HLO_FIELDS_H
#define IDS_FORMATS_HLO_FIELDS_H

#include "lib/wire/pb_wire.h"

#define IDS_HLO_TAG(number, wire) ((number) << 3 | IDS_PB_##wire)
static inline uint32_t ids_hlo_tag_of(const struct ids_pb_field *field) {
    return field->number << 3 | field->wire;
}

enum {
    HLO_PROTO_MODULE = IDS_HLO_TAG(1, BYTES),

    HLO_MODULE_NAME = IDS_HLO_TAG(1, BYTES),
    HLO_MODULE_COMPUTATION = IDS_HLO_TAG(3, BYTES),
    HLO_MODULE_STACK_FRAMES = IDS_HLO_TAG(17, BYTES),

    HLO_COMPUTATION_INSTRUCTION = IDS_HLO_TAG(2, BYTES),
    HLO_COMPUTATION_ID = IDS_HLO_TAG(5, VARINT),
    HLO_COMPUTATION_IS_FUSION = IDS_HLO_TAG(7, VARINT),

    HLO_INSTRUCTION_NAME = IDS_HLO_TAG(1, BYTES),
    HLO_INSTRUCTION_OPCODE = IDS_HLO_TAG(2, BYTES),
    HLO_INSTRUCTION_SHAPE = IDS_HLO_TAG(3, BYTES),
    HLO_INSTRUCTION_METADATA = IDS_HLO_TAG(7, BYTES),
    HLO_INSTRUCTION_CALL_TARGET = IDS_HLO_TAG(28, BYTES),
    HLO_INSTRUCTION_ID = IDS_HLO_TAG(35, VARINT),
    HLO_INSTRUCTION_OPERANDS = IDS_HLO_TAG(36, BYTES), /* packed ids */
    HLO_INSTRUCTION_OPERAND = IDS_HLO_TAG(36, VARINT),
    HLO_INSTRUCTION_CALLED = IDS_HLO_TAG(38, BYTES), /* packed ids */
    HLO_INSTRUCTION_CALLED_ONE = IDS_HLO_TAG(38, VARINT),
    HLO_INSTRUCTION_GROUP = IDS_HLO_TAG(49, BYTES),
    HLO_INSTRUCTION_SOURCE_TARGET = IDS_HLO_TAG(52, BYTES),
    HLO_INSTRUCTION_DEVICE_LIST = IDS_HLO_TAG(87, BYTES),

    HLO_SHAPE_ELEMENT = IDS_HLO_TAG(2, VARINT),
    HLO_SHAPE_DIMENSIONS = IDS_HLO_TAG(3, BYTES), /* packed */
    HLO_SHAPE_DIMENSION = IDS_HLO_TAG(3, VARINT),
    HLO_SHAPE_TUPLE = IDS_HLO_TAG(4, BYTES),
};

#endif
