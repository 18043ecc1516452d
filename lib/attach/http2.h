/* http2.h - a client's side of HTTP/2 without TLS, and of gRPC's calls on it: bytes in, bytes out, no socket.
 *
 *   ids_http2_new(&http2, &answer, &err);
 *   ids_http2_call(http2, "host:9012", "/package.Service/Method", 5000, message, length, &err);
 *   while ((length = ids_http2_output(http2, &bytes))) ... send them
 *   ids_http2_feed(http2, received, count)
 *
 * Frames, header compression and flow control are libnghttp2's. Only the first call's answer is read.
 */
#ifndef IDS_LIB_ATTACH_HTTP2_H
#define IDS_LIB_ATTACH_HTTP2_H

#include "lib/attach/answer.h"
#include "lib/base/error.h"

enum { IDS_GRPC_MESSAGE_BYTES = 256, IDS_GRPC_NONE = -1, IDS_HTTP2_HEAD_BYTES = 24 };

struct ids_http2_state {
    int is_greeted;    /* the server sent its settings: it speaks HTTP/2 */
    int is_answered;   /* the call has come to its end */
    int http_status;   /* 0: none yet */
    int grpc_status;   /* IDS_GRPC_NONE: none */
    uint32_t reset;    /* error code of HTTP/2 with which the server ended the call or the connection */
    int is_going_away; /* it takes no calls any more */
    const char *wrong; /* what it did that no server may; NULL */
    char grpc_message[IDS_GRPC_MESSAGE_BYTES];
    uint8_t head[IDS_HTTP2_HEAD_BYTES]; /* the first bytes that came: what speaks another protocol shows itself there */
    size_t head_length;
};

struct ids_http2;

/* `answer` is fed with the body; it is the caller's. */
int ids_http2_new(struct ids_http2 **ret_http2, struct ids_answer *answer, struct ids_error *err);
void ids_http2_free(struct ids_http2 *http2);
/* `message` is copied. The first call is the one that is followed; another one's answer is thrown away. */
int ids_http2_call(struct ids_http2 *http2, const char *authority, const char *path, uint64_t timeout_ms,
                   const void *message, size_t length, struct ids_error *err);
/* 0, or -1: the connection is of no use any more; `wrong` of its state says why, or that of the answer, or who writes
 * the answer knows. */
int ids_http2_feed(struct ids_http2 *http2, const uint8_t *bytes, size_t length);
/* What is to be sent next, 0: nothing. It stays valid until the next call of this. Then `wrong` may be set, too. */
size_t ids_http2_output(struct ids_http2 *http2, const uint8_t **ret_bytes);
const struct ids_http2_state *ids_http2_state(const struct ids_http2 *http2);

#endif
