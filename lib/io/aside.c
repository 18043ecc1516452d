#include "lib/io/aside.h"

#include "lib/io/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 64 << 10, TAIL_BYTES = 256 << 10, WINDOW_BYTES = 256 << 10 };
static const uint64_t MOST_BYTES = UINT64_C(64) << 30;

struct ids_aside {
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

int ids_aside_new(size_t memory_bytes, struct ids_aside **ret_aside, struct ids_error *err) {
    struct ids_aside *aside = calloc(1, sizeof *aside);
    if (!aside) return ids_no_memory(err);
    aside->memory_bytes = memory_bytes;
    aside->fd = -1;
    *ret_aside = aside;
    return 0;
}

void ids_aside_free(struct ids_aside *aside) {
    if (!aside) return;
    if (aside->fd >= 0) close(aside->fd);
    free(aside->memory);
    free(aside->tail);
    free(aside->window);
    free(aside);
}

uint64_t ids_aside_length(const struct ids_aside *aside) {
    return aside->memory_length + aside->written + aside->tail_length;
}

void ids_aside_clear(struct ids_aside *aside) {
    aside->memory_length = aside->tail_length = aside->window_length = 0;
    aside->written = 0; /* the file is written over from its begin */
}

static int write_at(int fd, uint64_t at, const uint8_t *bytes, size_t length, struct ids_error *err) {
    while (length) {
        ssize_t n = pwrite(fd, bytes, length, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ids_fail_system(err, "cannot write a temporary file (TMPDIR)");
        bytes += n;
        at += (uint64_t)n;
        length -= (size_t)n;
    }
    return 0;
}

static int write_more(struct ids_aside *aside, const uint8_t *bytes, size_t length, struct ids_error *err) {
    if (aside->fd < 0 && (aside->fd = ids_temporary_file(err)) < 0) return err->code;
    int code = write_at(aside->fd, aside->written, bytes, length, err);
    if (!code) aside->written += length;
    return code;
}

static int flush_tail(struct ids_aside *aside, struct ids_error *err) {
    size_t length = aside->tail_length;
    aside->tail_length = 0;
    return length ? write_more(aside, aside->tail, length, err) : 0;
}

/* Appends to memory what the budget lets; *ret_taken says how much. */
static int append_memory(struct ids_aside *aside, const void *bytes, size_t length, size_t *ret_taken,
                         struct ids_error *err) {
    *ret_taken = 0;
    if (aside->written || aside->tail_length) return 0;
    size_t left = aside->memory_bytes - aside->memory_length;
    if (length > left) length = left;
    if (length > aside->memory_room - aside->memory_length) {
        size_t room = aside->memory_room ? aside->memory_room : FIRST_BYTES;
        while (room - aside->memory_length < length) room *= 2;
        if (room > aside->memory_bytes) room = aside->memory_bytes;
        uint8_t *memory = realloc(aside->memory, room);
        if (!memory) return ids_no_memory(err);
        aside->memory = memory;
        aside->memory_room = room;
    }
    if (length) memcpy(aside->memory + aside->memory_length, bytes, length);
    aside->memory_length += length;
    *ret_taken = length;
    return 0;
}

int ids_aside_append(struct ids_aside *aside, const void *bytes, size_t length, struct ids_error *err) {
    if (length > MOST_BYTES - ids_aside_length(aside)) {
        return ids_fail(err, IDS_LIMIT, "more than the limit of %d GiB to be put aside", (int)(MOST_BYTES >> 30));
    }
    size_t taken;
    int code = append_memory(aside, bytes, length, &taken, err);
    length -= taken;
    if (code || !length) return code;
    const uint8_t *rest = (const uint8_t *)bytes + taken;
    if (!aside->tail && !(aside->tail = malloc(TAIL_BYTES))) return ids_no_memory(err);
    if (length > TAIL_BYTES - aside->tail_length && (code = flush_tail(aside, err))) return code;
    if (length > TAIL_BYTES) return write_more(aside, rest, length, err);
    memcpy(aside->tail + aside->tail_length, rest, length);
    aside->tail_length += length;
    return 0;
}

static int read_at(int fd, uint64_t at, uint8_t *bytes, size_t length, struct ids_error *err) {
    while (length) {
        ssize_t n = pread(fd, bytes, length, (off_t)at);
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

/* What of `length` bytes at `at` lies in one piece: in memory, in the file or behind it. `ret_at` is NULL for the
 * file. */
static size_t piece(const struct ids_aside *aside, uint64_t at, size_t length, uint8_t **ret_at) {
    uint64_t file_end = aside->memory_length + aside->written, end;
    if (at < aside->memory_length) {
        *ret_at = aside->memory + at;
        end = aside->memory_length;
    } else if (at < file_end) {
        *ret_at = NULL;
        end = file_end;
    } else {
        *ret_at = aside->tail + (at - file_end);
        return length;
    }
    return length < end - at ? length : (size_t)(end - at);
}

int ids_aside_copy(const struct ids_aside *aside, uint64_t at, size_t length, void *bytes, struct ids_error *err) {
    for (uint8_t *to = bytes; length;) {
        uint8_t *from;
        size_t n = piece(aside, at, length, &from);
        int code = from ? 0 : read_at(aside->fd, at - aside->memory_length, to, n, err);
        if (code) return code;
        if (from) memcpy(to, from, n);
        to += n;
        at += n;
        length -= n;
    }
    return 0;
}

int ids_aside_patch(struct ids_aside *aside, uint64_t at, const void *bytes, size_t length, struct ids_error *err) {
    if (at < aside->window_at + aside->window_length && at + length > aside->window_at) aside->window_length = 0;
    for (const uint8_t *from = bytes; length;) {
        uint8_t *to;
        size_t n = piece(aside, at, length, &to);
        int code = to ? 0 : write_at(aside->fd, at - aside->memory_length, from, n, err);
        if (code) return code;
        if (to) memcpy(to, from, n);
        from += n;
        at += n;
        length -= n;
    }
    return 0;
}

/* Fills the window from `at` on with at least `length` bytes, and with more of what is there. */
static int move_window(struct ids_aside *aside, uint64_t at, size_t length, struct ids_error *err) {
    uint64_t end = ids_aside_length(aside);
    size_t wanted = length < WINDOW_BYTES ? WINDOW_BYTES : length;
    if (wanted > end - at) wanted = (size_t)(end - at);
    aside->window_length = 0;
    if (wanted > aside->window_room) {
        uint8_t *window = realloc(aside->window, wanted < WINDOW_BYTES ? WINDOW_BYTES : wanted);
        if (!window) return ids_no_memory(err);
        aside->window = window;
        aside->window_room = wanted < WINDOW_BYTES ? WINDOW_BYTES : wanted;
    }
    int code = ids_aside_copy(aside, at, wanted, aside->window, err);
    if (code) return code;
    aside->window_at = at;
    aside->window_length = wanted;
    return 0;
}

int ids_aside_read(struct ids_aside *aside, uint64_t at, size_t length, const uint8_t **ret_bytes,
                   struct ids_error *err) {
    if (at + length <= aside->memory_length) {
        *ret_bytes = aside->memory ? aside->memory + at : (const uint8_t *)"";
        return 0;
    }
    if (at < aside->window_at || at + length > aside->window_at + aside->window_length) {
        int code = move_window(aside, at, length, err);
        if (code) return code;
    }
    *ret_bytes = aside->window + (at - aside->window_at);
    return 0;
}
