#include "lib/hlo/element.h"

#include <stddef.h>

static const struct {
    const char *name;
    int bits;
} elements[] = {
    {NULL, -1},        {"pred", 8},       {"s8", 8},       {"s16", 16},      {"s32", 32},   {"s64", 64},
    {"u8", 8},         {"u16", 16},       {"u32", 32},     {"u64", 64},      {"f16", 16},   {"f32", 32},
    {"f64", 64},       {"tuple", 0},      {"opaque", 0},   {"c64", 64},      {"bf16", 16},  {"token", 0},
    {"c128", 128},     {"f8e5m2", 8},     {"f8e4m3fn", 8}, {"s4", 4},        {"u4", 4},     {"f8e4m3b11fnuz", 8},
    {"f8e5m2fnuz", 8}, {"f8e4m3fnuz", 8}, {"s2", 2},       {"u2", 2},        {"f8e4m3", 8}, {"f8e3m4", 8},
    {"s1", 1},         {"u1", 1},         {"f4e2m1fn", 4}, {"f8e8m0fnu", 8},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

const char *ids_hlo_element_name(uint32_t type) {
    return type < ELEMENTS ? elements[type].name : NULL;
}

int ids_hlo_element_bits(uint32_t type) {
    return type < ELEMENTS ? elements[type].bits : -1;
}

uint32_t ids_hlo_element_of(struct ids_text name) {
    for (uint32_t i = 1; i < ELEMENTS; i++) {
        if (ids_text_is(name, elements[i].name)) return i;
    }
    return 0;
}

int ids_hlo_element_bits_named(struct ids_text name) {
    uint32_t type = ids_hlo_element_of(name);
    if (type) return elements[type].bits;
    return ids_text_begins(name, "f8") ? 8 : -1; /* XLA adds 8-bit floats from release to release */
}

int64_t ids_hlo_element_bytes(uint64_t count, int bits) {
    uint64_t total;
    if (bits < 0 || __builtin_mul_overflow(count, (uint64_t)bits, &total) || total > UINT64_MAX - 7) return -1;
    return (int64_t)((total + 7) / 8);
}
