/* fuzz_http2.c - what a server answers `capture --attach`: frames of HTTP/2, gRPC's message in them, the answer of the
 * profiler service in that, and the words for what is wrong with it.
 *
 * The first byte says in what pieces the rest comes. An answer must not depend on that.
 */
#include "lib/attach/http2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20, OUTPUT_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

struct result {
    uint64_t written, sum;
    int dead;
    struct ids_http2_state state;
    int whole;
    const char *wrong;
};

static int write_nowhere(void *self, const uint8_t *bytes, size_t length) {
    struct result *result = self;
    result->written += length;
    for (size_t i = 0; i < length; i++) result->sum = result->sum * 31 + bytes[i];
    return 0;
}

static void drain(struct ids_http2 *http2) {
    const uint8_t *output;
    size_t sum = 0;
    for (size_t length; (length = ids_http2_output(http2, &output));) {
        sum += length;
        if (sum > OUTPUT_MAX) abort(); /* more than any input of 64 kB asks for */
    }
}

static struct result talk(const uint8_t *bytes, size_t length, size_t piece) {
    struct result result = {0};
    struct ids_answer answer = {.write = write_nowhere, .self = &result, .limit = LIMIT};
    struct ids_http2 *http2;
    struct ids_error err = IDS_ERROR_INIT;
    if (ids_http2_new(&http2, &answer, &err)) abort();
    if (ids_http2_call(http2, "host:1", "/a.B/C", 1000, "\0\0\0\0\0", 5, &err)) abort();
    drain(http2);
    for (size_t at = 0; !result.dead && at < length; at += piece) {
        result.dead = ids_http2_feed(http2, bytes + at, length - at < piece ? length - at : piece);
        if (!result.dead) drain(http2);
    }
    result.state = *ids_http2_state(http2);
    result.whole = ids_answer_is_whole(&answer);
    result.wrong = answer.wrong;
    if (result.written != answer.bytes || result.written > LIMIT) abort();
    if (strlen(result.state.grpc_message) >= IDS_GRPC_MESSAGE_BYTES) abort();
    ids_http2_free(http2);
    return result;
}

static int is_broken(const struct ids_http2_state *state) {
    return state->reset || state->is_going_away || state->wrong;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (!length) return 0;
    struct result whole = talk(bytes + 1, length - 1, length);
    struct result pieces = talk(bytes + 1, length - 1, (size_t)bytes[0] + 1);
    /* How much came before an end by force depends on when that end could be sent. */
    if (whole.dead || pieces.dead || is_broken(&whole.state) || is_broken(&pieces.state)) return 0;
    if (whole.written != pieces.written || whole.sum != pieces.sum || whole.whole != pieces.whole ||
        whole.state.grpc_status != pieces.state.grpc_status || whole.state.is_answered != pieces.state.is_answered) {
        fprintf(stderr, "fuzz_http2: the answer depends on the pieces it comes in\n");
        abort();
    }
    return 0;
}
