/* json_window.c - the window over a stream of JSON. */
#include "formats/json_window.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELEMENT_LIMIT = 64 << 20, /* bytes of one event, or of a member beside the list that is read */
    BUFFER_BYTES = 1 << 20,
};

uint64_t ids_json_window_offset(const struct ids_json_window *window, const char *at) {
    return window->offset + (uint64_t)(at - window->at);
}

static int grow(struct ids_json_window *window, size_t room, struct ids_error *err) {
    if (room <= window->room) return 0;
    if (room < window->room * 2) room = window->room * 2;
    if (room < BUFFER_BYTES) room = BUFFER_BYTES;
    char *buffer = realloc(window->buffer, room);
    if (!buffer) return ids_no_memory(err);
    window->buffer = buffer;
    window->room = room;
    return 0;
}

static int next_bytes(struct ids_json_window *window, int keeps, uint8_t **ret_bytes, size_t *ret_length,
                      struct ids_error *err) {
    int code = keeps ? ids_stream_take(window->stream, ret_bytes, ret_length, err)
                     : ids_stream_next(window->stream, ret_bytes, ret_length, err);
    window->scan.whole = !*ret_length;
    return code;
}

/* What is not used yet, which is little, goes in front of the next bytes where they lie. */
static int read_on_in_place(struct ids_json_window *window, size_t rest, struct ids_error *err) {
    uint8_t *bytes;
    size_t length = 0;
    if (rest) memcpy(window->rest, window->scan.at, rest);
    window->offset = ids_json_window_offset(window, window->scan.at);
    int code = next_bytes(window, window->keeps, &bytes, &length, err);
    if (code) return code;
    window->at = (char *)bytes - rest;
    if (rest) memcpy(bytes - rest, window->rest, rest);
    window->scan.at = window->at;
    window->scan.end = window->at + rest + length;
    return 0;
}

/* An element that spans many chunks is gathered in a buffer. Each time the buffer at least doubles (or reaches the end
 * of the file), because looking at the element again for each chunk would take quadratic time. */
static int read_on_in_buffer(struct ids_json_window *window, size_t rest, struct ids_error *err) {
    const uint64_t offset = ids_json_window_offset(window, window->scan.at);
    const int is_kept = window->at == window->buffer;
    const size_t kept_at = is_kept ? (size_t)(window->scan.at - window->buffer) : 0;
    int code = grow(window, kept_at + rest, err);
    if (code) return code;
    memmove(window->buffer, is_kept ? window->buffer + kept_at : window->scan.at, rest);
    size_t used = rest;
    do {
        uint8_t *bytes;
        size_t length = 0;
        code = next_bytes(window, 0, &bytes, &length, err);
        if (!code && length) code = grow(window, used + length, err);
        if (code) return code;
        if (length) memcpy(window->buffer + used, bytes, length);
        used += length;
    } while (!window->scan.whole && used < rest * 2);
    window->at = window->buffer;
    window->offset = offset;
    window->scan.at = window->buffer;
    window->scan.end = window->buffer + used;
    return 0;
}

int ids_json_window_read_on(struct ids_json_window *window, struct ids_error *err) {
    size_t rest = (size_t)(window->scan.end - window->scan.at);
    if (rest > ELEMENT_LIMIT) {
        return ids_fail(err, IDS_LIMIT,
                        "an element of traceEvents, or a member beside it, of more than %d MiB (offset %" PRIu64 ")",
                        ELEMENT_LIMIT >> 20, ids_json_window_offset(window, window->scan.at));
    }
    return ids_json_window_gathers(window) ? read_on_in_buffer(window, rest, err) : read_on_in_place(window, rest, err);
}

int ids_json_window_gathers(const struct ids_json_window *window) {
    return window->scan.end - window->scan.at > IDS_STREAM_HEADROOM;
}

int ids_json_window_open(struct ids_json_window *window, struct ids_source *source, struct ids_error *err) {
    window->at = window->rest;
    window->offset = 0;
    window->keeps = 0;
    window->scan = (struct ids_json_scan){window->rest, window->rest, 0, NULL, NULL};
    return ids_stream_open(source, &window->stream, err);
}

int ids_json_window_drain(struct ids_json_window *window, struct ids_error *err) {
    uint8_t *bytes;
    size_t length = 1;
    int code = 0;
    while (!code && length) code = ids_stream_next(window->stream, &bytes, &length, err);
    return code;
}

void ids_json_window_close(struct ids_json_window *window) {
    ids_stream_close(window->stream);
    window->stream = NULL;
}

void ids_json_window_done(struct ids_json_window *window) {
    free(window->buffer);
}
