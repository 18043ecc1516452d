/* pb_writer.h - protobuf wire format into a buffer, field by field. (pb_wire.h reads it.)
 *
 *   size_t message = ids_pb_open(&buffer, 4);
 *   ids_pb_put_uint(&buffer, 1, id);
 *   ids_pb_close(&buffer, message);
 *
 * A message inside another is written in place, its length put in when it is closed: so what is made this way fits in
 * memory. Format: https://protobuf.dev/programming-guides/encoding/
 */
#ifndef IDS_LIB_WIRE_PB_WRITER_H
#define IDS_LIB_WIRE_PB_WRITER_H

#include "lib/base/buffer.h"
#include "lib/wire/pb_wire.h"

enum { IDS_PB_VARINT_BYTES = 10 };

static inline size_t ids_pb_varint_size(uint64_t value) {
    return value ? (size_t)(63 - __builtin_clzll(value)) / 7 + 1 : 1;
}

static inline void ids_pb_put_varint(struct ids_buffer *buffer, uint64_t value) {
    unsigned char *to = (unsigned char *)ids_buffer_space(buffer, IDS_PB_VARINT_BYTES);
    if (!to) return;
    size_t length = 0;
    for (; value >= 0x80; value >>= 7) to[length++] = (unsigned char)(value | 0x80);
    to[length++] = (unsigned char)value;
    buffer->length += length;
}

static inline void ids_pb_put_tag(struct ids_buffer *buffer, uint32_t field, enum ids_pb_wire wire) {
    ids_pb_put_varint(buffer, (uint64_t)field << 3 | wire);
}

/* uint32, uint64, bool, enum; int32 and int64 converted (ten bytes when negative). */
static inline void ids_pb_put_uint(struct ids_buffer *buffer, uint32_t field, uint64_t value) {
    ids_pb_put_tag(buffer, field, IDS_PB_VARINT);
    ids_pb_put_varint(buffer, value);
}

/* fixed64, and the bits of a double. */
static inline void ids_pb_put_fixed64(struct ids_buffer *buffer, uint32_t field, uint64_t value) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(value >> 8 * i);
    ids_pb_put_tag(buffer, field, IDS_PB_FIXED64);
    ids_buffer_put(buffer, bytes, sizeof bytes);
}

static inline void ids_pb_put_double(struct ids_buffer *buffer, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    ids_pb_put_fixed64(buffer, field, bits);
}

static inline void ids_pb_put_bytes(struct ids_buffer *buffer, uint32_t field, const void *bytes, size_t length) {
    ids_pb_put_tag(buffer, field, IDS_PB_BYTES);
    ids_pb_put_varint(buffer, length);
    ids_buffer_put(buffer, bytes, length);
}

/* Opens a message; what is put until it is closed is inside it. Returns what ids_pb_close wants. */
static inline size_t ids_pb_open(struct ids_buffer *buffer, uint32_t field) {
    ids_pb_put_tag(buffer, field, IDS_PB_BYTES);
    ids_buffer_byte(buffer, 0); /* most lengths take one byte */
    return buffer->length;
}

void ids_pb_close_long(struct ids_buffer *buffer, size_t message);

static inline void ids_pb_close(struct ids_buffer *buffer, size_t message) {
    if (buffer->failed) return;
    size_t length = buffer->length - message;
    if (length < 0x80)
        buffer->at[message - 1] = (char)length;
    else
        ids_pb_close_long(buffer, message);
}

#endif
