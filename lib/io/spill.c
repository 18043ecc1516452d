#include "lib/io/spill.h"

#include "lib/io/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 64 << 10, TAIL_BYTES = 256 << 10, WINDOW_BYTES = 256 << 10 };
static const uint64_t MOST_BYTES = UINT64_C(64) << 30;

struct ids_spill {
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

int ids_spill_new(size_t memory_bytes, struct ids_spill **ret_spill, struct ids_error *err) {
    struct ids_spill *spill = calloc(1, sizeof *spill);
    if (!spill) return ids_no_memory(err);
    spill->memory_bytes = memory_bytes;
    spill->fd = -1;
    *ret_spill = spill;
    return 0;
}

void ids_spill_free(struct ids_spill *spill) {
    if (!spill) return;
    if (spill->fd >= 0) close(spill->fd);
    free(spill->memory);
    free(spill->tail);
    free(spill->window);
    free(spill);
}

uint64_t ids_spill_length(const struct ids_spill *spill) {
    return spill->memory_length + spill->written + spill->tail_length;
}

void ids_spill_clear(struct ids_spill *spill) {
    spill->memory_length = spill->tail_length = spill->window_length = 0;
    spill->written = 0; /* the file is written over from its begin */
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

static int write_more(struct ids_spill *spill, const uint8_t *bytes, size_t length, struct ids_error *err) {
    if (spill->fd < 0 && (spill->fd = ids_temporary_file(err)) < 0) return err->code;
    int code = write_at(spill->fd, spill->written, bytes, length, err);
    if (!code) spill->written += length;
    return code;
}

static int flush_tail(struct ids_spill *spill, struct ids_error *err) {
    size_t length = spill->tail_length;
    spill->tail_length = 0;
    return length ? write_more(spill, spill->tail, length, err) : 0;
}

/* Appends to memory what the budget lets; *ret_taken says how much. */
static int append_memory(struct ids_spill *spill, const void *bytes, size_t length, size_t *ret_taken,
                         struct ids_error *err) {
    *ret_taken = 0;
    if (spill->written || spill->tail_length) return 0;
    size_t left = spill->memory_bytes - spill->memory_length;
    if (length > left) length = left;
    if (length > spill->memory_room - spill->memory_length) {
        size_t room = spill->memory_room ? spill->memory_room : FIRST_BYTES;
        while (room - spill->memory_length < length) room *= 2;
        if (room > spill->memory_bytes) room = spill->memory_bytes;
        uint8_t *memory = realloc(spill->memory, room);
        if (!memory) return ids_no_memory(err);
        spill->memory = memory;
        spill->memory_room = room;
    }
    if (length) memcpy(spill->memory + spill->memory_length, bytes, length);
    spill->memory_length += length;
    *ret_taken = length;
    return 0;
}

int ids_spill_append(struct ids_spill *spill, const void *bytes, size_t length, struct ids_error *err) {
    if (length > MOST_BYTES - ids_spill_length(spill)) {
        return ids_fail(err, IDS_LIMIT, "more than the limit of %d GiB to be spilled to disk", (int)(MOST_BYTES >> 30));
    }
    size_t taken;
    int code = append_memory(spill, bytes, length, &taken, err);
    length -= taken;
    if (code || !length) return code;
    const uint8_t *rest = (const uint8_t *)bytes + taken;
    if (!spill->tail && !(spill->tail = malloc(TAIL_BYTES))) return ids_no_memory(err);
    if (length > TAIL_BYTES - spill->tail_length && (code = flush_tail(spill, err))) return code;
    if (length > TAIL_BYTES) return write_more(spill, rest, length, err);
    memcpy(spill->tail + spill->tail_length, rest, length);
    spill->tail_length += length;
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
static size_t piece(const struct ids_spill *spill, uint64_t at, size_t length, uint8_t **ret_at) {
    uint64_t file_end = spill->memory_length + spill->written, end;
    if (at < spill->memory_length) {
        *ret_at = spill->memory + at;
        end = spill->memory_length;
    } else if (at < file_end) {
        *ret_at = NULL;
        end = file_end;
    } else {
        *ret_at = spill->tail + (at - file_end);
        return length;
    }
    return length < end - at ? length : (size_t)(end - at);
}

int ids_spill_copy(const struct ids_spill *spill, uint64_t at, size_t length, void *bytes, struct ids_error *err) {
    for (uint8_t *to = bytes; length;) {
        uint8_t *from;
        size_t n = piece(spill, at, length, &from);
        int code = from ? 0 : read_at(spill->fd, at - spill->memory_length, to, n, err);
        if (code) return code;
        if (from) memcpy(to, from, n);
        to += n;
        at += n;
        length -= n;
    }
    return 0;
}

int ids_spill_patch(struct ids_spill *spill, uint64_t at, const void *bytes, size_t length, struct ids_error *err) {
    if (at < spill->window_at + spill->window_length && at + length > spill->window_at) spill->window_length = 0;
    for (const uint8_t *from = bytes; length;) {
        uint8_t *to;
        size_t n = piece(spill, at, length, &to);
        int code = to ? 0 : write_at(spill->fd, at - spill->memory_length, from, n, err);
        if (code) return code;
        if (to) memcpy(to, from, n);
        from += n;
        at += n;
        length -= n;
    }
    return 0;
}

/* Fills the window from `at` on with at least `length` bytes, and with more of what is there. */
static int move_window(struct ids_spill *spill, uint64_t at, size_t length, struct ids_error *err) {
    uint64_t end = ids_spill_length(spill);
    size_t wanted = length < WINDOW_BYTES ? WINDOW_BYTES : length;
    if (wanted > end - at) wanted = (size_t)(end - at);
    spill->window_length = 0;
    if (wanted > spill->window_room) {
        uint8_t *window = realloc(spill->window, wanted < WINDOW_BYTES ? WINDOW_BYTES : wanted);
        if (!window) return ids_no_memory(err);
        spill->window = window;
        spill->window_room = wanted < WINDOW_BYTES ? WINDOW_BYTES : wanted;
    }
    int code = ids_spill_copy(spill, at, wanted, spill->window, err);
    if (code) return code;
    spill->window_at = at;
    spill->window_length = wanted;
    return 0;
}

int ids_spill_read(struct ids_spill *spill, uint64_t at, size_t length, const uint8_t **ret_bytes,
                   struct ids_error *err) {
    if (at + length <= spill->memory_length) {
        *ret_bytes = spill->memory ? spill->memory + at : (const uint8_t *)"";
        return 0;
    }
    if (at < spill->window_at || at + length > spill->window_at + spill->window_length) {
        int code = move_window(spill, at, length, err);
        if (code) return code;
    }
    *ret_bytes = spill->window + (at - spill->window_at);
    return 0;
}
