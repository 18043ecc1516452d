/* pb_encode.h - writes protobuf wire format, for tests that need messages nobody's library would make. It shares no
 * code with the reader. Format: https://protobuf.dev/programming-guides/encoding/ */
#ifndef IDS_TESTS_SUPPORT_PB_ENCODE_H
#define IDS_TESTS_SUPPORT_PB_ENCODE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pb {
    uint8_t *at;
    size_t length;
};

static inline void pb_raw(struct pb *to, const void *bytes, size_t length) {
    to->at = realloc(to->at, to->length + length + 1);
    if (!to->at) abort();
    if (length) memcpy(to->at + to->length, bytes, length);
    to->length += length;
}

static inline void pb_varint(struct pb *to, uint64_t value) {
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        pb_raw(to, &byte, 1);
        value >>= 7;
    } while (value);
}

static inline void pb_int(struct pb *to, unsigned field, int64_t value) {
    pb_varint(to, field << 3);
    pb_varint(to, (uint64_t)value);
}

static inline void pb_uint(struct pb *to, unsigned field, uint64_t value) {
    pb_varint(to, field << 3);
    pb_varint(to, value);
}

static inline void pb_fixed64(struct pb *to, unsigned field, const void *eight_bytes) {
    pb_varint(to, field << 3 | 1);
    pb_raw(to, eight_bytes, 8);
}

static inline void pb_fixed32(struct pb *to, unsigned field, const void *four_bytes) {
    pb_varint(to, field << 3 | 5);
    pb_raw(to, four_bytes, 4);
}

static inline void pb_bytes(struct pb *to, unsigned field, const void *bytes, size_t length) {
    pb_varint(to, field << 3 | 2);
    pb_varint(to, length);
    pb_raw(to, bytes, length);
}

static inline void pb_text(struct pb *to, unsigned field, const char *text) {
    pb_bytes(to, field, text, strlen(text));
}

static inline void pb_free(struct pb *message) {
    free(message->at);
    *message = (struct pb){0};
}

/* Adds `inside` as a message and frees it. */
static inline void pb_message(struct pb *to, unsigned field, struct pb inside) {
    pb_bytes(to, field, inside.at ? (const void *)inside.at : "", inside.length);
    free(inside.at);
}

#endif
