#include "lib/hlo/multiplier.h"

#include "lib/hlo/element.h"

#include <string.h>

enum ids_multiplier ids_multiplier_of(uint32_t element) {
    const char *name = element ? ids_hlo_element_name(element) : NULL;
    if (!name) return IDS_BY_VECTOR;
    if (!strcmp(name, "bf16") || !strcmp(name, "f16")) return IDS_BY_BF16;
    if (!strcmp(name, "f32") || !strcmp(name, "c64")) return IDS_BY_F32;
    if (!strcmp(name, "f64") || !strcmp(name, "c128")) return IDS_BY_F64;
    if (!strncmp(name, "f8", 2)) return IDS_BY_F8;
    if (!strncmp(name, "f4", 2)) return IDS_BY_F4;
    return ids_hlo_element_bits(element) <= 8 ? IDS_BY_S8 : IDS_BY_VECTOR;
}

const char *ids_multiplier_name(enum ids_multiplier multiplier) {
    static const char *const names[] = {"vector", "f64", "f32", "bf16", "f8", "s8", "f4"};
    return names[multiplier];
}
