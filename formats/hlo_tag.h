/* hlo_tag.h - a field's number with its wire type, as it stands in the file, so that a field of another type is
 * passed over. */
#ifndef IDS_FORMATS_HLO_TAG_H
#define IDS_FORMATS_HLO_TAG_H

#include "lib/fields/hlo.h"
#include "lib/wire/pb_wire.h"

#define IDS_HLO_TAG(number, wire) ((uint32_t)(number) << 3 | IDS_PB_##wire)
static inline uint32_t ids_hlo_tag_of(const struct ids_pb_field *field) {
    return field->number << 3 | field->wire;
}

#endif
