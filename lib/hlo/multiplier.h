/* multiplier.h - which units of a device compute an op: the vector unit, or those that multiply matrices, by the type
 * of what they multiply. */
#ifndef IDS_LIB_HLO_MULTIPLIER_H
#define IDS_LIB_HLO_MULTIPLIER_H

#include <stdint.h>

enum ids_multiplier {
    IDS_BY_VECTOR,
    IDS_BY_F64,
    IDS_BY_F32,
    IDS_BY_BF16, /* and f16 */
    IDS_BY_F8,
    IDS_BY_S8,
    IDS_BY_F4,
    IDS_MULTIPLIERS
};

/* By the type of what an op multiplies (element.h); 0 and types that no unit multiplies: the vector unit. */
enum ids_multiplier ids_multiplier_of(uint32_t element);
/* "vector", "bf16" */
const char *ids_multiplier_name(enum ids_multiplier multiplier);

#endif
