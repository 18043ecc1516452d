/* family.h - which family an op or a kernel belongs to, from the whole words of its names. */
#ifndef IDS_LIB_HLO_FAMILY_H
#define IDS_LIB_HLO_FAMILY_H

/* "matrix product", "convolution", "fusion", "collective", "copy" ...; "other" when nothing tells. `category` is an HLO
 * opcode or a device's own word; it and `event_class` may be NULL. */
const char *ids_family_of(const char *name, const char *category, const char *event_class);

#endif
