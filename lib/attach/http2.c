#include "lib/attach/http2.h"

#include <inttypes.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS_MAX = 2, /* Profile, and Terminate beside it */
    CALL_BYTES = 8192,
    HEADERS_MAX = 64 << 10, /* bytes of header fields in all: a server that never ends them is none */
    STREAM_WINDOW = 1 << 20,
    CONNECTION_WINDOW = 4 << 20,
    STATUS_MAX = 1000,
    HTTP_OK = 200
};

struct call {
    char message[CALL_BYTES];
    size_t length, sent;
    int32_t stream;
};

struct ids_http2 {
    nghttp2_session *session;
    struct ids_answer *answer;
    struct ids_http2_state state;
    size_t header_bytes;
    struct call calls[CALLS_MAX];
    size_t call_count;
};

static int is_followed(const struct ids_http2 *http2, int32_t stream) {
    return http2->call_count && http2->calls[0].stream == stream;
}

static int fail_session(struct ids_http2 *http2, const char *what) {
    if (!http2->state.wrong) http2->state.wrong = what;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* ---- header fields ---- */

static int number_of(const uint8_t *text, size_t length) {
    int number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > STATUS_MAX) return STATUS_MAX;
        number = number * 10 + text[i] - '0';
    }
    return number;
}

static int hex_of(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* gRPC writes what is not printable as %XX. */
static void take_message(struct ids_http2_state *state, const uint8_t *text, size_t length) {
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < sizeof state->grpc_message; i++) {
        int is_coded = text[i] == '%' && i + 2 < length && hex_of(text[i + 1]) >= 0 && hex_of(text[i + 2]) >= 0;
        char c = (char)(is_coded ? hex_of(text[i + 1]) << 4 | hex_of(text[i + 2]) : text[i]);
        if (is_coded) i += 2;
        state->grpc_message[used++] = c ? c : ' ';
    }
    state->grpc_message[used] = '\0';
}

static int is_name(const uint8_t *name, size_t length, const char *expected) {
    return length == strlen(expected) && !memcmp(name, expected, length);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t length, uint8_t flags, void *self) {
    (void)session, (void)flags;
    struct ids_http2 *http2 = self;
    http2->header_bytes += name_length + length;
    if (http2->header_bytes > HEADERS_MAX) return fail_session(http2, "header fields without an end");
    if (!is_followed(http2, frame->hd.stream_id)) return 0;
    if (is_name(name, name_length, ":status")) http2->state.http_status = number_of(value, length);
    if (is_name(name, name_length, "grpc-status")) http2->state.grpc_status = number_of(value, length);
    if (is_name(name, name_length, "grpc-message")) take_message(&http2->state, value, length);
    return 0;
}

/* ---- frames ---- */

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *self) {
    (void)session;
    struct ids_http2 *http2 = self;
    if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK)) http2->state.is_greeted = 1;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        http2->state.is_going_away = 1;
        if (frame->goaway.error_code) http2->state.reset = frame->goaway.error_code;
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t length,
                   void *self) {
    (void)session, (void)flags;
    struct ids_http2 *http2 = self;
    if (!is_followed(http2, stream) || http2->state.http_status != HTTP_OK) return 0;
    return ids_answer_feed(http2->answer, bytes, length) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error_code, void *self) {
    (void)session;
    struct ids_http2 *http2 = self;
    if (!is_followed(http2, stream)) return 0;
    http2->state.is_answered = 1;
    if (error_code) http2->state.reset = error_code;
    return 0;
}

static ssize_t read_message(nghttp2_session *session, int32_t stream, uint8_t *buffer, size_t size, uint32_t *flags,
                            nghttp2_data_source *source, void *self) {
    (void)session, (void)stream, (void)self;
    struct call *call = source->ptr;
    size_t left = call->length - call->sent, part = left < size ? left : size;
    memcpy(buffer, call->message + call->sent, part);
    call->sent += part;
    if (call->sent == call->length) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)part;
}

/* ---- a session ---- */

static int open_session(struct ids_http2 *http2) {
    static const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                                      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW}};
    nghttp2_session_callbacks *callbacks;
    int failed = nghttp2_session_callbacks_new(&callbacks);
    if (failed) return failed;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    failed = nghttp2_session_client_new(&http2->session, callbacks, http2);
    nghttp2_session_callbacks_del(callbacks);
    if (!failed) failed = nghttp2_submit_settings(http2->session, NGHTTP2_FLAG_NONE, settings, 2);
    if (!failed)
        failed = nghttp2_session_set_local_window_size(http2->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
    return failed;
}

static int fail_library(int failed, struct ids_error *err) {
    if (failed == NGHTTP2_ERR_NOMEM) return ids_no_memory(err);
    return ids_fail(err, IDS_IO, "HTTP/2: %s", nghttp2_strerror(failed));
}

int ids_http2_new(struct ids_http2 **ret_http2, struct ids_answer *answer, struct ids_error *err) {
    struct ids_http2 *http2 = calloc(1, sizeof *http2);
    if (!http2) return ids_no_memory(err);
    http2->answer = answer;
    http2->state.grpc_status = IDS_GRPC_NONE;
    int failed = open_session(http2);
    if (failed) {
        ids_http2_free(http2);
        return fail_library(failed, err);
    }
    *ret_http2 = http2;
    return 0;
}

void ids_http2_free(struct ids_http2 *http2) {
    if (!http2) return;
    nghttp2_session_del(http2->session);
    free(http2);
}

static nghttp2_nv field(const char *name, const char *value) {
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .value = (uint8_t *)(uintptr_t)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value)};
}

int ids_http2_call(struct ids_http2 *http2, const char *authority, const char *path, uint64_t timeout_ms,
                   const void *message, size_t length, struct ids_error *err) {
    char timeout[32];
    if (http2->call_count == CALLS_MAX) return ids_fail(err, IDS_LIMIT, "more than %d calls", CALLS_MAX);
    if (length > CALL_BYTES) return ids_fail(err, IDS_LIMIT, "a request of more than %d bytes", CALL_BYTES);
    struct call *call = &http2->calls[http2->call_count];
    memcpy(call->message, message, length);
    call->length = length;
    uint64_t seconds = timeout_ms / 1000 + 1; /* gRPC allows eight digits */
    snprintf(timeout, sizeof timeout, "%" PRIu64 "S", seconds);
    const nghttp2_nv fields[] = {field(":method", "POST"),       field(":scheme", "http"),
                                 field(":path", path),           field(":authority", authority),
                                 field("te", "trailers"),        field("content-type", "application/grpc"),
                                 field("grpc-timeout", timeout), field("user-agent", "idsprof/" IDS_VERSION)};
    nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = read_message};
    int32_t stream =
        nghttp2_submit_request(http2->session, NULL, fields, sizeof fields / sizeof *fields, &provider, NULL);
    if (stream < 0) return fail_library(stream, err);
    call->stream = stream;
    http2->call_count++;
    return 0;
}

static const char *words_of(ssize_t failed) {
    switch (failed) {
    case NGHTTP2_ERR_NOMEM:
        return "no memory for what it sends";
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC:
    case NGHTTP2_ERR_PROTO:
        return "bytes that are no HTTP/2";
    case NGHTTP2_ERR_FLOODED:
        return "more control frames than any server needs";
    default:
        return "frames that HTTP/2 does not allow";
    }
}

int ids_http2_feed(struct ids_http2 *http2, const uint8_t *bytes, size_t length) {
    struct ids_http2_state *state = &http2->state;
    size_t room = sizeof state->head - state->head_length, part = length < room ? length : room;
    memcpy(state->head + state->head_length, bytes, part);
    state->head_length += part;
    ssize_t taken = nghttp2_session_mem_recv(http2->session, bytes, length);
    if (taken >= 0) return 0;
    if (!state->wrong && taken != NGHTTP2_ERR_CALLBACK_FAILURE) state->wrong = words_of(taken);
    return -1;
}

size_t ids_http2_output(struct ids_http2 *http2, const uint8_t **ret_bytes) {
    struct ids_http2_state *state = &http2->state;
    ssize_t length = nghttp2_session_mem_send(http2->session, ret_bytes);
    if (length > 0) return (size_t)length;
    /* A peer that breaks the rules was sent GOAWAY, after which the library wants nothing of it any more. */
    if (!nghttp2_session_want_read(http2->session) && !state->is_answered && !state->is_going_away && !state->wrong)
        state->wrong = words_of(NGHTTP2_ERR_PROTO);
    return 0;
}

const struct ids_http2_state *ids_http2_state(const struct ids_http2 *http2) {
    return &http2->state;
}
