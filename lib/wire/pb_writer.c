#include "lib/wire/pb_writer.h"

/* A length of more than one byte: the message moves up. */
void ids_pb_close_long(struct ids_buffer *buffer, size_t message) {
    size_t length = buffer->length - message, more = ids_pb_varint_size(length) - 1;
    if (!ids_buffer_space(buffer, more)) return;
    memmove(buffer->at + message + more, buffer->at + message, length);
    buffer->length += more;
    unsigned char *to = (unsigned char *)buffer->at + message - 1;
    for (; length >= 0x80; length >>= 7) *to++ = (unsigned char)(length | 0x80);
    *to = (unsigned char)length;
}
