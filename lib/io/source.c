#include "lib/io/source.h"

#include "lib/io/gunzip.h"
#include "lib/io/source_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* 98 MB from the page cache in windows of 100 bytes, minimum of five: 6.6 ms with reads of 64 KiB, 6.1 with 256
     * KiB, 6.6 with 512 KiB, 7.0 with 1 MiB (it leaves the second-level cache); read(2) alone is 3.1. */
    READ_BYTES = 256 << 10,
    /* After a jump: who indexes lines looks at a few bytes and jumps on. */
    JUMP_BYTES = 16 << 10,
    BUFFER_BYTES = IDS_SOURCE_WINDOW + READ_BYTES,
};

struct ids_source {
    char *path;
    int fd;                /* -1: the bytes are in memory */
    int is_beside;         /* fd is another source's */
    const uint8_t *memory; /* the caller's, or `owned` */
    uint8_t *owned;
    uint64_t size;
    int packed;      /* what is described above is gzip */
    uint8_t *buffer; /* of a file: bytes [buffer_at, buffer_at + buffer_length) */
    uint64_t buffer_at;
    size_t buffer_length;
    char cut[IDS_SOURCE_CUT_ROOM];
    uint64_t cut_at;
    char outer_cut[IDS_SOURCE_CUT_ROOM]; /* of the archive that it came out of */
    uint64_t outer_bytes;
};

static int source_new(const char *path, struct ids_source **ret_source, struct ids_error *err) {
    struct ids_source *source = calloc(1, sizeof *source);
    char *copy = strdup(path);
    if (!source || !copy) {
        free(source);
        free(copy);
        return ids_no_memory(err);
    }
    source->path = copy;
    source->fd = -1;
    *ret_source = source;
    return 0;
}

void ids_source_close(struct ids_source *source) {
    if (!source) return;
    if (source->fd >= 0 && !source->is_beside) close(source->fd);
    free(source->buffer);
    free(source->owned);
    free(source->path);
    free(source);
}

const char *ids_source_path(const struct ids_source *source) {
    return source->path;
}
uint64_t ids_source_size(const struct ids_source *source) {
    return source->size;
}
const char *ids_source_cut(const struct ids_source *source) {
    return source->cut[0] ? source->cut : source->outer_cut[0] ? source->outer_cut : NULL;
}

int ids_source_packed(const struct ids_source *source) {
    return source->packed;
}
uint64_t ids_source_cut_at(const struct ids_source *source) {
    return source->cut[0] ? source->cut_at : source->size;
}
void ids_source_set_cut(struct ids_source *source, const char *why, uint64_t at) {
    snprintf(source->cut, sizeof source->cut, "%s", why ? why : "");
    source->cut_at = at;
}
void ids_source_set_outer_cut(struct ids_source *source, const char *why) {
    snprintf(source->outer_cut, sizeof source->outer_cut, "%s", why);
}

void ids_source_set_outer_bytes(struct ids_source *source, uint64_t bytes) {
    source->outer_bytes = bytes;
}
uint64_t ids_source_outer_bytes(const struct ids_source *source) {
    return source->outer_bytes;
}

/* ---- opening ---- */

/* The source's bytes are now those of the spool. */
static int take_spool(struct ids_source *source, struct ids_spool *spool, struct ids_error *err) {
    int code = ids_spool_flush(spool, err);
    if (code) return code;
    if (source->fd >= 0) close(source->fd);
    free(source->owned);
    source->buffer_at = source->buffer_length = 0;
    source->size = ids_spool_size(spool);
    source->fd = spool->fd;
    source->memory = source->owned = NULL;
    if (spool->fd < 0) {
        source->memory = source->owned = spool->bytes;
        spool->bytes = NULL;
    }
    spool->fd = -1;
    ids_spool_done(spool);
    return 0;
}

/* Reads all of a pipe. */
static int open_spooled(struct ids_source *source, int fd, struct ids_error *err) {
    struct ids_spool spool = IDS_SPOOL_INIT;
    int code;
    for (;;) {
        uint8_t *at;
        size_t room;
        code = ids_spool_space(&spool, &at, &room, err);
        if (code) break;
        ssize_t n = read(fd, at, room);
        if (n == 0) break;
        if (n > 0) {
            ids_spool_added(&spool, (size_t)n);
        } else if (errno != EINTR) {
            code = ids_fail_system(err, "cannot read");
            break;
        }
    }
    if (!code) code = take_spool(source, &spool, err);
    ids_spool_done(&spool);
    return code;
}

static int look_whether_packed(struct ids_source *source, struct ids_error *err) {
    uint8_t head[3];
    size_t length;
    int code = ids_source_copy(source, 0, head, sizeof head, &length, err);
    source->packed = !code && ids_looks_gzip(head, length);
    return code;
}

static int open_fd(struct ids_source *source, int fd, struct ids_error *err) {
    struct stat status;
    if (fstat(fd, &status)) return ids_fail_system(err, "cannot read");
    if (S_ISDIR(status.st_mode)) return ids_fail(err, IDS_IO, "is a folder, not a file");
    if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && fd != STDIN_FILENO)) {
        return ids_fail(err, IDS_IO, "is a device, not a file");
    }
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* twice the kernel's read-ahead; no harm where it does nothing */
    /* Standard input may be a file of which somebody has read a part. */
    if (!S_ISREG(status.st_mode) || lseek(fd, 0, SEEK_CUR) != 0) return open_spooled(source, fd, err);
    source->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (source->fd < 0) return ids_fail_system(err, "cannot read");
    source->size = (uint64_t)status.st_size;
    return 0;
}

int ids_source_open(const char *path, struct ids_source **ret_source, struct ids_error *err) {
    int is_stdin = !strcmp(path, "-");
    struct ids_source *source = NULL;
    int code = source_new(is_stdin ? "standard input" : path, &source, err);
    if (code) return code;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int is_absent = errno == ENOENT;
        code = ids_fail_system(err, "cannot open");
        if (is_absent) code = err->code = IDS_NOT_FOUND;
    } else {
        code = open_fd(source, fd, err);
        if (!code) code = look_whether_packed(source, err);
        if (!is_stdin) close(fd);
    }
    if (code) {
        ids_error_at(err, is_stdin ? "%s" : "'%s'", source->path);
        ids_source_close(source);
        return code;
    }
    *ret_source = source;
    return 0;
}

int ids_source_memory(const void *bytes, size_t length, struct ids_source **ret_source, struct ids_error *err) {
    int code = source_new("memory", ret_source, err);
    if (code) return code;
    (*ret_source)->memory = bytes;
    (*ret_source)->size = length;
    (*ret_source)->packed = ids_looks_gzip(bytes, length);
    return 0;
}

int ids_source_beside(const struct ids_source *source, struct ids_source **ret_source, struct ids_error *err) {
    int code = source_new(source->path, ret_source, err);
    if (code) return code;
    struct ids_source *beside = *ret_source;
    beside->fd = source->fd;
    beside->is_beside = 1;
    beside->memory = source->memory;
    beside->size = source->size;
    beside->packed = source->packed;
    return 0;
}

int ids_source_of_spool(const char *path, struct ids_spool *spool, struct ids_source **ret_source,
                        struct ids_error *err) {
    struct ids_source *source = NULL;
    int code = source_new(path, &source, err);
    if (!code) code = take_spool(source, spool, err);
    if (!code) code = look_whether_packed(source, err);
    ids_spool_done(spool);
    if (code) {
        ids_source_close(source);
        return code;
    }
    *ret_source = source;
    return 0;
}

/* ---- reading ---- */

/* Fills bytes[*length ..] up to `wanted` from the file. A file that ends before the size it had at opening has
 * shrunk. */
static int read_at(const struct ids_source *source, uint64_t offset, uint8_t *bytes, size_t *length, size_t wanted,
                   struct ids_error *err) {
    while (*length < wanted) {
        uint64_t at = offset + *length;
        ssize_t n = pread(source->fd, bytes + *length, wanted - *length, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            return ids_fail_system(err, "cannot read at offset %llu", (unsigned long long)at);
        }
        if (n == 0) {
            return ids_fail(err, IDS_IO, "became shorter while it was read (%llu bytes at first, now %llu)",
                            (unsigned long long)source->size, (unsigned long long)at);
        }
        *length += (size_t)n;
    }
    return 0;
}

/* Moves the buffer to `offset`, keeping what it holds from there on, and reads at least `need` bytes. */
static int move_buffer(struct ids_source *source, uint64_t offset, size_t need, struct ids_error *err) {
    if (!source->buffer) {
        source->buffer = malloc(BUFFER_BYTES);
        if (!source->buffer) return ids_no_memory(err);
    }
    size_t kept = 0;
    size_t ahead = JUMP_BYTES;
    if (offset >= source->buffer_at && offset - source->buffer_at <= source->buffer_length) {
        size_t skip = (size_t)(offset - source->buffer_at);
        kept = source->buffer_length - skip;
        memmove(source->buffer, source->buffer + skip, kept);
        ahead = READ_BYTES;
    }
    source->buffer_at = offset;
    source->buffer_length = kept;
    size_t wanted = kept + ahead > need ? kept + ahead : need;
    if (wanted > BUFFER_BYTES) wanted = BUFFER_BYTES;
    if (wanted > source->size - offset) wanted = (size_t)(source->size - offset);
    return read_at(source, offset, source->buffer, &source->buffer_length, wanted, err);
}

int ids_source_window(struct ids_source *source, uint64_t offset, size_t need, const uint8_t **ret_bytes,
                      size_t *ret_length, struct ids_error *err) {
    if (need > IDS_SOURCE_WINDOW) {
        return ids_fail(err, IDS_LIMIT, "a window of %zu bytes (limit %d)", need, IDS_SOURCE_WINDOW);
    }
    if (offset > source->size) offset = source->size;
    if (need > source->size - offset) need = (size_t)(source->size - offset);
    if (source->fd < 0) {
        *ret_bytes = source->memory ? source->memory + offset : (const uint8_t *)"";
        *ret_length = (size_t)(source->size - offset);
        return 0;
    }
    if (offset < source->buffer_at || offset - source->buffer_at > source->buffer_length ||
        need > source->buffer_length - (size_t)(offset - source->buffer_at)) {
        int code = move_buffer(source, offset, need, err);
        if (code) return code;
    }
    size_t skip = (size_t)(offset - source->buffer_at);
    *ret_bytes = source->buffer ? source->buffer + skip : (const uint8_t *)"";
    *ret_length = source->buffer_length - skip;
    return 0;
}

int ids_source_read(struct ids_source *source, uint64_t offset, void *bytes, size_t length, struct ids_error *err) {
    if (offset > source->size || length > source->size - offset) {
        return ids_fail(err, IDS_TRUNCATED, "the input ends at %llu, %zu bytes at %llu were expected",
                        (unsigned long long)source->size, length, (unsigned long long)offset);
    }
    if (!length) return 0;
    if (source->fd < 0) {
        memcpy(bytes, source->memory + offset, length);
        return 0;
    }
    if (offset >= source->buffer_at && offset - source->buffer_at <= source->buffer_length &&
        length <= source->buffer_length - (size_t)(offset - source->buffer_at)) {
        memcpy(bytes, source->buffer + (offset - source->buffer_at), length);
        return 0;
    }
    size_t done = 0;
    return read_at(source, offset, bytes, &done, length, err);
}

int ids_source_copy(const struct ids_source *source, uint64_t offset, void *bytes, size_t room, size_t *ret_length,
                    struct ids_error *err) {
    *ret_length = 0;
    if (offset >= source->size) return 0;
    if (room > source->size - offset) room = (size_t)(source->size - offset);
    if (source->fd >= 0) return read_at(source, offset, bytes, ret_length, room, err);
    memcpy(bytes, source->memory + offset, room);
    *ret_length = room;
    return 0;
}

/* ---- gzip ---- */

int ids_source_head(struct ids_source *source, uint8_t *head, size_t room, size_t *ret_length, struct ids_error *err) {
    if (!source->packed) return ids_source_copy(source, 0, head, room, ret_length, err);
    struct ids_gunzip *gunzip;
    int code = ids_gunzip_new(source, &gunzip, err);
    if (code) return code;
    code = ids_gunzip_read(gunzip, head, room, ret_length, err);
    if (!code && *ret_length < room) ids_source_set_cut(source, ids_gunzip_cut(gunzip), *ret_length);
    ids_gunzip_free(gunzip);
    return code;
}

static int unpack_into(struct ids_gunzip *gunzip, struct ids_spool *spool, struct ids_error *err) {
    for (;;) {
        uint8_t *at;
        size_t room, length;
        int code = ids_spool_space(spool, &at, &room, err);
        if (!code) code = ids_gunzip_read(gunzip, at, room, &length, err);
        if (code) return code;
        ids_spool_added(spool, length);
        if (length < room) return 0;
    }
}

int ids_source_unpack(struct ids_source *source, struct ids_error *err) {
    if (!source->packed) return 0;
    struct ids_spool spool = IDS_SPOOL_INIT;
    struct ids_gunzip *gunzip;
    int code = ids_gunzip_new(source, &gunzip, err);
    if (code) return code;
    code = unpack_into(gunzip, &spool, err);
    if (!code) code = take_spool(source, &spool, err);
    if (!code) {
        source->packed = 0;
        ids_source_set_cut(source, ids_gunzip_cut(gunzip), source->size);
    }
    ids_gunzip_free(gunzip);
    ids_spool_done(&spool);
    return code;
}
