/* element.h - the types of elements of HLO's arrays, by number (PrimitiveType of xla_data.proto) and as HLO text calls
 * them. */
#ifndef IDS_LIB_HLO_ELEMENT_H
#define IDS_LIB_HLO_ELEMENT_H

#include "lib/base/intern.h"

enum { IDS_HLO_TUPLE = 13, IDS_HLO_OPAQUE = 14, IDS_HLO_TOKEN = 17 };

/* NULL for a number that is not known. */
const char *ids_hlo_element_name(uint32_t type);
/* Bits of an element: 0 of tokens and opaque values, -1 unknown. */
int ids_hlo_element_bits(uint32_t type);
/* The same by name. */
int ids_hlo_element_bits_named(struct ids_text name);
/* The number of a name, 0 for one that is not known. */
uint32_t ids_hlo_element_of(struct ids_text name);
/* Bytes of `count` elements, which lie without gaps; -1 unknown, or too many. */
int64_t ids_hlo_element_bytes(uint64_t count, int bits);

#endif
