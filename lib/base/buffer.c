#include "lib/base/buffer.h"

#include "lib/base/memory.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_BYTES = 256 };

void ids_buffer_done(struct ids_buffer *buffer) {
    free(buffer->at);
    *buffer = (struct ids_buffer){0};
}

int ids_buffer_grow(struct ids_buffer *buffer, size_t more) {
    if (buffer->failed) return -1;
    size_t room = buffer->room ? buffer->room : FIRST_BYTES;
    while (room - buffer->length < more) {
        if (room > SIZE_MAX / 2) {
            buffer->failed = 1;
            return -1;
        }
        room *= 2;
    }
    char *at = realloc(buffer->at, room);
    if (!at) {
        ids_memory_refused();
        buffer->failed = 1;
        return -1;
    }
    buffer->at = at;
    buffer->room = room;
    return 0;
}
