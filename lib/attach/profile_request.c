#include "lib/attach/profile_request.h"

#include "lib/wire/pb_writer.h"

enum { PREFIX_BYTES = 5, OPTIONS_VERSION = 1 };

/* Field numbers of ProfileRequest, ProfileOptions and TerminateRequest. */
enum { REQUEST_DURATION = 1, REQUEST_OPTIONS = 4, REQUEST_ROOT, REQUEST_SESSION, REQUEST_HOST, REQUEST_EMIT = 9 };
enum {
    OPTIONS_HOST_LEVEL = 2,
    OPTIONS_DEVICE_LEVEL,
    OPTIONS_PYTHON_LEVEL,
    OPTIONS_VERSION_FIELD,
    OPTIONS_HLO = 7,
    OPTIONS_DURATION = 9,
    OPTIONS_MUST_START = 13
};
enum { TERMINATE_SESSION = 1 };

static void put_text(struct ids_buffer *buffer, uint32_t field, const char *text) {
    ids_pb_put_bytes(buffer, field, text, strlen(text));
}

static size_t open_prefix(struct ids_buffer *buffer) {
    ids_buffer_put(buffer, "\0\0\0\0\0", PREFIX_BYTES);
    return buffer->length;
}

static void close_prefix(struct ids_buffer *buffer, size_t start) {
    if (buffer->failed) return;
    size_t length = buffer->length - start;
    for (int i = 0; i < 4; i++) buffer->at[start - 1 - (size_t)i] = (char)(length >> 8 * i);
}

void ids_profile_request_put(struct ids_buffer *buffer, const struct ids_profile_request *request) {
    size_t start = open_prefix(buffer);
    ids_pb_put_uint(buffer, REQUEST_DURATION, request->duration_ms); /* older servers look here, newer ones below */
    size_t options = ids_pb_open(buffer, REQUEST_OPTIONS);
    ids_pb_put_uint(buffer, OPTIONS_VERSION_FIELD, OPTIONS_VERSION);
    ids_pb_put_uint(buffer, OPTIONS_HOST_LEVEL, request->host_level);
    ids_pb_put_uint(buffer, OPTIONS_DEVICE_LEVEL, request->device_level);
    ids_pb_put_uint(buffer, OPTIONS_PYTHON_LEVEL, request->python_level);
    ids_pb_put_uint(buffer, OPTIONS_HLO, 1);
    ids_pb_put_uint(buffer, OPTIONS_DURATION, request->duration_ms);
    ids_pb_put_uint(buffer, OPTIONS_MUST_START, 1);
    ids_pb_close(buffer, options);
    put_text(buffer, REQUEST_ROOT, request->root);
    put_text(buffer, REQUEST_SESSION, request->session);
    put_text(buffer, REQUEST_HOST, request->host);
    ids_pb_put_uint(buffer, REQUEST_EMIT, 1);
    close_prefix(buffer, start);
}

void ids_terminate_request_put(struct ids_buffer *buffer, const char *session) {
    size_t start = open_prefix(buffer);
    put_text(buffer, TERMINATE_SESSION, session);
    close_prefix(buffer, start);
}
