#include "lib/io/spool.h"

#include "lib/io/temporary.h"
#include "lib/io/unpack_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MEMORY_BYTES = 64 << 20,
    FIRST_BYTES = 1 << 20,
};
static const uint64_t MAX_BYTES = UINT64_C(64) << 30;

void ids_spool_done(struct ids_spool *spool) {
    free(spool->bytes);
    if (spool->fd >= 0) close(spool->fd);
    *spool = (struct ids_spool)IDS_SPOOL_INIT;
}

uint64_t ids_spool_size(const struct ids_spool *spool) {
    return spool->written + spool->length;
}

static int write_whole(int fd, const uint8_t *bytes, size_t length) {
    while (length) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

int ids_spool_flush(struct ids_spool *spool, struct ids_error *err) {
    if (spool->fd < 0) return 0;
    if (write_whole(spool->fd, spool->bytes, spool->length)) {
        return ids_fail_system(err, "cannot write a temporary file (TMPDIR)");
    }
    spool->written += spool->length;
    spool->length = 0;
    return 0;
}

/* From memory into a file; a small buffer is left. */
static int spill(struct ids_spool *spool, struct ids_error *err) {
    spool->fd = ids_temporary_file(err);
    if (spool->fd < 0) return err->code;
    int code = ids_spool_flush(spool, err);
    if (code) return code;
    uint8_t *smaller = realloc(spool->bytes, FIRST_BYTES);
    if (smaller) spool->bytes = smaller;
    spool->room = FIRST_BYTES;
    return 0;
}

static int grow(struct ids_spool *spool, struct ids_error *err) {
    size_t room = spool->room ? spool->room * 2 : FIRST_BYTES;
    uint8_t *bytes = realloc(spool->bytes, room);
    if (!bytes) return ids_fail(err, IDS_NOMEM, "out of memory for %zu bytes of input", room);
    spool->bytes = bytes;
    spool->room = room;
    return 0;
}

int ids_spool_space(struct ids_spool *spool, uint8_t **ret_at, size_t *ret_room, struct ids_error *err) {
    int code = 0;
    if (spool->length == spool->room) {
        uint64_t most = ids_unpack_limit() > MAX_BYTES ? ids_unpack_limit() : MAX_BYTES;
        if (ids_spool_size(spool) >= most) {
            code =
                ids_fail(err, IDS_LIMIT, "more than the limit of %llu GiB of input", (unsigned long long)(most >> 30));
            (void)ids_hint(err, "--max-unpacked SIZE allows more");
            return code;
        }
        code = spool->fd >= 0                ? ids_spool_flush(spool, err)
               : spool->room == MEMORY_BYTES ? spill(spool, err)
                                             : grow(spool, err);
    }
    if (code) return code;
    *ret_at = spool->bytes + spool->length;
    *ret_room = spool->room - spool->length;
    return 0;
}

void ids_spool_added(struct ids_spool *spool, size_t length) {
    spool->length += length;
}

int ids_spool_add(struct ids_spool *spool, const void *bytes, size_t length, struct ids_error *err) {
    const uint8_t *from = bytes;
    while (length) {
        uint8_t *at = NULL;
        size_t room = 0;
        int code = ids_spool_space(spool, &at, &room, err);
        if (code) return code;
        if (room > length) room = length;
        memcpy(at, from, room);
        ids_spool_added(spool, room);
        from += room;
        length -= room;
    }
    return 0;
}
