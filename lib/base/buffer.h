/* buffer.h - bytes that grow, for writers that make a piece of output before they hand it on.
 *
 * Memory that cannot be had is remembered in `failed` and what is put after that is dropped, so that a writer looks
 * once, where it hands the bytes on.
 */
#ifndef IDS_LIB_BASE_BUFFER_H
#define IDS_LIB_BASE_BUFFER_H

#include <stddef.h>
#include <string.h>

struct ids_buffer {
    char *at;
    size_t length, room;
    int failed;
};

void ids_buffer_done(struct ids_buffer *buffer);
/* Makes room for `more` bytes behind the last. 0, or -1 when memory ran out, now or before. */
int ids_buffer_grow(struct ids_buffer *buffer, size_t more);

/* Where `length` more bytes can be written, NULL when memory ran out; add to `length` what was written. */
static inline char *ids_buffer_space(struct ids_buffer *buffer, size_t length) {
    if (length > buffer->room - buffer->length && ids_buffer_grow(buffer, length)) return NULL;
    return buffer->at + buffer->length;
}

static inline void ids_buffer_put(struct ids_buffer *buffer, const void *bytes, size_t length) {
    char *to = ids_buffer_space(buffer, length);
    if (!to || !length) return;
    memcpy(to, bytes, length);
    buffer->length += length;
}

static inline void ids_buffer_byte(struct ids_buffer *buffer, char byte) {
    char *to = ids_buffer_space(buffer, 1);
    if (!to) return;
    *to = byte;
    buffer->length++;
}

/* A literal, without its zero byte. */
#define IDS_BUFFER_PUT(buffer, literal) ids_buffer_put((buffer), (literal), sizeof(literal) - 1)

#endif
