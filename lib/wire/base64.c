#include "lib/wire/base64.h"

static int value_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ptrdiff_t ids_base64_read(const char *at, size_t length, unsigned char *ret_bytes) {
    if (length % 4) return -1;
    size_t padding = length && at[length - 1] == '=' ? 1 + (at[length - 2] == '=') : 0, count = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < length; i++) {
        int value = i < length - padding ? value_of(at[i]) : 0;
        if (value < 0) return -1;
        bits = bits << 6 | (unsigned)value;
        if (i % 4 < 3) continue;
        for (int shift = 16; shift >= 0; shift -= 8) ret_bytes[count++] = (unsigned char)(bits >> shift);
        bits = 0;
    }
    return (ptrdiff_t)(count - padding);
}
