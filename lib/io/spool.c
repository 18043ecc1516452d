#include "lib/io/spool.h"

#include "lib/io/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 64 << 10, TAIL_BYTES = 256 << 10, WINDOW_BYTES = 256 << 10 };
static const uint64_t MOST_BYTES = UINT64_C(64) << 30;

struct ids_spool {
    size_t memory_bytes;
    uint8_t *memory; /* bytes [0, memory_length) */
    size_t memory_length, memory_room;
    int fd; /* bytes [memory_length, memory_length + written); -1 until it is needed */
    uint64_t written;
    uint8_t *tail; /* what comes behind */
    size_t tail_length;
    uint8_t *window; /* bytes [window_at, window_at + window_length), for reading the file */
    uint64_t window_at;
    size_t window_length, window_room;
};

int ids_spool_new(size_t memory_bytes, struct ids_spool **ret_spool, struct ids_error *err) {
    struct ids_spool *spool = calloc(1, sizeof *spool);
    if (!spool) return ids_no_memory(err);
    spool->memory_bytes = memory_bytes;
    spool->fd = -1;
    *ret_spool = spool;
    return 0;
}

void ids_spool_free(struct ids_spool *spool) {
    if (!spool) return;
    if (spool->fd >= 0) close(spool->fd);
    free(spool->memory);
    free(spool->tail);
    free(spool->window);
    free(spool);
}

uint64_t ids_spool_length(const struct ids_spool *spool) {
    return spool->memory_length + spool->written + spool->tail_length;
}

void ids_spool_clear(struct ids_spool *spool) {
    spool->memory_length = spool->tail_length = spool->window_length = 0;
    spool->written = 0; /* the file is written over from its begin */
}

static int write_at(struct ids_spool *spool, const uint8_t *bytes, size_t length, struct ids_error *err) {
    if (spool->fd < 0 && (spool->fd = ids_temporary_file(err)) < 0) return err->code;
    while (length) {
        ssize_t n = pwrite(spool->fd, bytes, length, (off_t)spool->written);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ids_fail(err, IDS_IO, "cannot write a temporary file (TMPDIR): %s", strerror(errno));
        bytes += n;
        length -= (size_t)n;
        spool->written += (uint64_t)n;
    }
    return 0;
}

static int flush_tail(struct ids_spool *spool, struct ids_error *err) {
    size_t length = spool->tail_length;
    spool->tail_length = 0;
    return length ? write_at(spool, spool->tail, length, err) : 0;
}

/* Appends to memory what the budget lets; *ret_taken says how much. */
static int append_memory(struct ids_spool *spool, const void *bytes, size_t length, size_t *ret_taken,
                         struct ids_error *err) {
    *ret_taken = 0;
    if (spool->written || spool->tail_length) return 0;
    size_t left = spool->memory_bytes - spool->memory_length;
    if (length > left) length = left;
    if (length > spool->memory_room - spool->memory_length) {
        size_t room = spool->memory_room ? spool->memory_room : FIRST_BYTES;
        while (room - spool->memory_length < length) room *= 2;
        if (room > spool->memory_bytes) room = spool->memory_bytes;
        uint8_t *memory = realloc(spool->memory, room);
        if (!memory) return ids_no_memory(err);
        spool->memory = memory;
        spool->memory_room = room;
    }
    if (length) memcpy(spool->memory + spool->memory_length, bytes, length);
    spool->memory_length += length;
    *ret_taken = length;
    return 0;
}

int ids_spool_append(struct ids_spool *spool, const void *bytes, size_t length, struct ids_error *err) {
    if (length > MOST_BYTES - ids_spool_length(spool)) {
        return ids_fail(err, IDS_LIMIT, "more than the limit of %d GiB to be put aside", (int)(MOST_BYTES >> 30));
    }
    size_t taken;
    int code = append_memory(spool, bytes, length, &taken, err);
    length -= taken;
    if (code || !length) return code;
    const uint8_t *rest = (const uint8_t *)bytes + taken;
    if (!spool->tail && !(spool->tail = malloc(TAIL_BYTES))) return ids_no_memory(err);
    if (length > TAIL_BYTES - spool->tail_length && (code = flush_tail(spool, err))) return code;
    if (length > TAIL_BYTES) return write_at(spool, rest, length, err);
    memcpy(spool->tail + spool->tail_length, rest, length);
    spool->tail_length += length;
    return 0;
}

static int read_file(struct ids_spool *spool, uint64_t at, uint8_t *bytes, size_t length, struct ids_error *err) {
    while (length) {
        ssize_t n = pread(spool->fd, bytes, length, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            return ids_fail(err, IDS_IO, "cannot read a temporary file (TMPDIR): %s",
                            n ? strerror(errno) : "it shrank");
        }
        bytes += n;
        at += (uint64_t)n;
        length -= (size_t)n;
    }
    return 0;
}

/* Fills the window from `at` on with at least `length` bytes, and with more of the file while there is some. */
static int move_window(struct ids_spool *spool, uint64_t at, size_t length, struct ids_error *err) {
    int code = flush_tail(spool, err);
    if (code) return code;
    uint64_t end = ids_spool_length(spool);
    size_t wanted = length < WINDOW_BYTES ? WINDOW_BYTES : length;
    if (wanted > end - at) wanted = (size_t)(end - at);
    spool->window_length = 0;
    if (wanted > spool->window_room) {
        uint8_t *window = realloc(spool->window, wanted < WINDOW_BYTES ? WINDOW_BYTES : wanted);
        if (!window) return ids_no_memory(err);
        spool->window = window;
        spool->window_room = wanted < WINDOW_BYTES ? WINDOW_BYTES : wanted;
    }
    size_t from_memory = at < spool->memory_length ? (size_t)(spool->memory_length - at) : 0;
    if (from_memory > wanted) from_memory = wanted;
    if (from_memory) memcpy(spool->window, spool->memory + at, from_memory);
    code = read_file(spool, at + from_memory - spool->memory_length, spool->window + from_memory, wanted - from_memory,
                     err);
    if (code) return code;
    spool->window_at = at;
    spool->window_length = wanted;
    return 0;
}

int ids_spool_read(struct ids_spool *spool, uint64_t at, size_t length, const uint8_t **ret_bytes,
                   struct ids_error *err) {
    if (at + length <= spool->memory_length) {
        *ret_bytes = spool->memory ? spool->memory + at : (const uint8_t *)"";
        return 0;
    }
    if (at < spool->window_at || at + length > spool->window_at + spool->window_length) {
        int code = move_window(spool, at, length, err);
        if (code) return code;
    }
    *ret_bytes = spool->window + (at - spool->window_at);
    return 0;
}
