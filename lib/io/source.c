#include "lib/io/source.h"

#include "lib/io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    /* 98 MB from the page cache in windows of 100 bytes, minimum of five: 6.6 ms with reads of 64 KiB, 6.1 with 256 KiB,
     * 6.6 with 512 KiB, 7.0 with 1 MiB (it leaves the second-level cache); read(2) alone is 3.1. */
    READ_BYTES = 256 << 10,
    /* After a jump: who indexes lines looks at a few bytes and jumps on. */
    JUMP_BYTES = 16 << 10,
    BUFFER_BYTES = IDS_SOURCE_WINDOW + READ_BYTES,

    SPOOL_MEMORY_BYTES = 64 << 20,
    SPOOL_FIRST_BYTES = 1 << 20,
    /* Real traces unpack to 15..20 times their size, deflate can do 1,032. Small outputs may have any ratio. */
    GZIP_MAX_RATIO = 200,
    GZIP_FREE_BYTES = 256 << 20,
};
/* An endless pipe must not fill the disk. */
static const uint64_t SPOOL_MAX_BYTES = UINT64_C(64) << 30;

struct ids_source {
    char *path;
    int fd;                /* -1: the bytes are in memory */
    const uint8_t *memory; /* the caller's, or `owned` */
    uint8_t *owned;
    uint64_t size;
    uint8_t *buffer; /* of a file: bytes [buffer_at, buffer_at + buffer_length) */
    uint64_t buffer_at;
    size_t buffer_length;
    char cut[128];
};

static int source_new(const char *path, struct ids_source **ret_source, struct ids_error *err) {
    struct ids_source *source = calloc(1, sizeof *source);
    char *copy = strdup(path);
    if (!source || !copy) {
        free(source);
        free(copy);
        return ids_fail(err, IDS_NOMEM, "no memory for an input");
    }
    source->path = copy;
    source->fd = -1;
    *ret_source = source;
    return 0;
}

void ids_source_close(struct ids_source *source) {
    if (!source) return;
    if (source->fd >= 0) close(source->fd);
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
    return source->cut[0] ? source->cut : NULL;
}

/* ---- a spool: bytes that come in order, kept in memory, and in an unlinked file when they are many ---- */

struct spool {
    uint8_t *bytes; /* everything so far, or (fd >= 0) what is not yet written */
    size_t length, room;
    int fd;
    uint64_t written;
};

static void spool_done(struct spool *spool) {
    free(spool->bytes);
    if (spool->fd >= 0) close(spool->fd);
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

static int spool_flush(struct spool *spool, struct ids_error *err) {
    if (write_whole(spool->fd, spool->bytes, spool->length)) {
        return ids_fail(err, IDS_IO, "cannot write a temporary file (TMPDIR): %s", strerror(errno));
    }
    spool->written += spool->length;
    spool->length = 0;
    return 0;
}

/* Makes sure that at least one byte can be added at bytes + length. */
static int spool_space(struct spool *spool, struct ids_error *err) {
    if (spool->length < spool->room) return 0;
    if (spool->written + spool->length >= SPOOL_MAX_BYTES) {
        return ids_fail(err, IDS_LIMIT, "more than the limit of %llu GiB of unpacked input",
                        (unsigned long long)(SPOOL_MAX_BYTES >> 30));
    }
    if (spool->fd < 0 && spool->room == SPOOL_MEMORY_BYTES) {
        spool->fd = ids_temporary_file(err);
        if (spool->fd < 0) return err->code;
        int code = spool_flush(spool, err);
        if (code) return code;
        uint8_t *smaller = realloc(spool->bytes, SPOOL_FIRST_BYTES);
        if (smaller) spool->bytes = smaller;
        spool->room = SPOOL_FIRST_BYTES;
        return 0;
    }
    if (spool->fd >= 0) return spool_flush(spool, err);
    size_t room = spool->room ? spool->room * 2 : SPOOL_FIRST_BYTES;
    uint8_t *bytes = realloc(spool->bytes, room);
    if (!bytes) return ids_fail(err, IDS_NOMEM, "no memory for %zu bytes of unpacked input", room);
    spool->bytes = bytes;
    spool->room = room;
    return 0;
}

/* The source takes over what the spool holds. */
static int spool_hand_over(struct spool *spool, struct ids_source *source, struct ids_error *err) {
    if (spool->fd >= 0) {
        int code = spool_flush(spool, err);
        if (code) return code;
        source->fd = spool->fd;
        source->size = spool->written;
        spool->fd = -1;
        return 0;
    }
    source->memory = source->owned = spool->bytes;
    source->size = spool->length;
    *spool = (struct spool){.fd = -1};
    return 0;
}

/* ---- input that cannot seek, or is packed ---- */

struct input {
    int fd;
    uint8_t *bytes; /* READ_BYTES of room; [at, length) are not yet used */
    size_t at, length;
    uint64_t total; /* read so far */
};

/* Reads on until there are at least `need` bytes (1 or 2) or the input ends. */
static int input_fill(struct input *input, size_t need, struct ids_error *err) {
    if (input->length - input->at >= need) return 0;
    memmove(input->bytes, input->bytes + input->at, input->length - input->at);
    input->length -= input->at;
    input->at = 0;
    while (input->length < need) {
        ssize_t n = read(input->fd, input->bytes + input->length, READ_BYTES - input->length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ids_fail(err, IDS_IO, "cannot read: %s", strerror(errno));
        if (n == 0) break;
        input->length += (size_t)n;
        input->total += (uint64_t)n;
    }
    return 0;
}

/* RFC 1952: two magic bytes and the only method there is. */
static int looks_gzip(const struct input *input) {
    const uint8_t *head = input->bytes + input->at;
    return input->length - input->at >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}

static int copy_through(struct input *input, struct spool *spool, struct ids_error *err) {
    for (;;) {
        int code = input_fill(input, 1, err);
        if (!code && input->at == input->length) return 0;
        if (!code) code = spool_space(spool, err);
        if (code) return code;
        size_t n = input->length - input->at;
        if (n > spool->room - spool->length) n = spool->room - spool->length;
        memcpy(spool->bytes + spool->length, input->bytes + input->at, n);
        spool->length += n;
        input->at += n;
    }
}

static int check_ratio(const struct input *input, const struct spool *spool, struct ids_error *err) {
    uint64_t unpacked = spool->written + spool->length;
    if (unpacked <= GZIP_FREE_BYTES || unpacked / GZIP_MAX_RATIO <= input->total) return 0;
    return ids_fail(err, IDS_LIMIT, "gzip: unpacks to more than %d times its size (%llu bytes from %llu): refused",
                    GZIP_MAX_RATIO, (unsigned long long)unpacked, (unsigned long long)input->total);
}

static void set_cut(struct ids_source *source, const struct input *input, const char *why) {
    snprintf(source->cut, sizeof source->cut, "gzip: %s (offset %llu)", why,
             (unsigned long long)(input->total - (input->length - input->at)));
}

/* After a member: 1 when another one follows. Zero bytes at the end are padding (gzip(1), tapes); other bytes are said. */
static int next_member(struct input *input, struct ids_source *source, int *ret_more, struct ids_error *err) {
    *ret_more = 0;
    for (;;) {
        int code = input_fill(input, 3, err);
        if (code) return code;
        if (looks_gzip(input)) {
            *ret_more = 1;
            return 0;
        }
        if (input->at == input->length) return 0;
        if (input->bytes[input->at]) break;
        input->at++;
    }
    set_cut(source, input, "bytes behind the end that are not gzip");
    return 0;
}

/* Unpacks every member. A damaged or missing tail is the source's `cut`, not a failure. */
static int inflate_members(z_stream *stream, struct input *input, struct spool *spool, struct ids_source *source,
                           struct ids_error *err) {
    for (;;) {
        int code = input_fill(input, 1, err);
        if (!code) code = spool_space(spool, err);
        if (!code) code = check_ratio(input, spool, err);
        if (code) return code;
        if (input->at == input->length) {
            set_cut(source, input, "unexpected end");
            return 0;
        }
        stream->next_in = input->bytes + input->at;
        stream->avail_in = (uInt)(input->length - input->at);
        stream->next_out = spool->bytes + spool->length;
        stream->avail_out = (uInt)(spool->room - spool->length);
        int state = inflate(stream, Z_NO_FLUSH);
        input->at = input->length - stream->avail_in;
        spool->length = spool->room - stream->avail_out;
        if (state == Z_MEM_ERROR) return ids_fail(err, IDS_NOMEM, "gzip: no memory to unpack");
        if (state == Z_STREAM_END) {
            int more;
            code = next_member(input, source, &more, err);
            if (code || !more) return code;
            inflateReset(stream);
        } else if (state != Z_OK && state != Z_BUF_ERROR) {
            set_cut(source, input, stream->msg ? stream->msg : "damaged");
            return 0;
        }
    }
}

static int unpack(struct input *input, struct spool *spool, struct ids_source *source, struct ids_error *err) {
    z_stream stream = {0};
    enum { GZIP_ONLY = 15 + 16 }; /* zlib.h, inflateInit2 */
    if (inflateInit2(&stream, GZIP_ONLY) != Z_OK) return ids_fail(err, IDS_NOMEM, "gzip: no memory to unpack");
    int code = inflate_members(&stream, input, spool, source, err);
    inflateEnd(&stream);
    return code;
}

/* ---- opening ---- */

/* Reads all of a file that is packed or cannot seek. */
static int open_spooled(struct ids_source *source, int fd, struct ids_error *err) {
    struct spool spool = {.fd = -1};
    struct input input = {.fd = fd, .bytes = malloc(READ_BYTES)};
    int code;
    if (!input.bytes) return ids_fail(err, IDS_NOMEM, "no memory for an input");
    code = input_fill(&input, 3, err);
    if (!code && looks_gzip(&input)) {
        code = unpack(&input, &spool, source, err);
    } else if (!code) {
        code = copy_through(&input, &spool, err);
    }
    if (!code) code = spool_hand_over(&spool, source, err);
    free(input.bytes);
    spool_done(&spool);
    return code;
}

/* A regular file that is not gzip is read in place. Returns 1 for such a file. */
static int reads_in_place(int fd, const struct stat *status) {
    uint8_t head[3];
    if (!S_ISREG(status->st_mode) || lseek(fd, 0, SEEK_CUR) != 0) return 0;
    return pread(fd, head, sizeof head, 0) < 3 || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8;
}

static int open_fd(struct ids_source *source, int fd, struct ids_error *err) {
    struct stat status;
    if (fstat(fd, &status)) return ids_fail(err, IDS_IO, "cannot read: %s", strerror(errno));
    if (S_ISDIR(status.st_mode)) return ids_fail(err, IDS_IO, "is a folder, not a file");
    if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && fd != STDIN_FILENO)) {
        return ids_fail(err, IDS_IO, "is a device, not a file");
    }
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* twice the kernel's read-ahead; no harm where it does nothing */
    if (!reads_in_place(fd, &status)) return open_spooled(source, fd, err);
    source->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (source->fd < 0) return ids_fail(err, IDS_IO, "cannot read: %s", strerror(errno));
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
        code = ids_fail(err, errno == ENOENT ? IDS_NOT_FOUND : IDS_IO, "cannot open: %s", strerror(errno));
    } else {
        code = open_fd(source, fd, err);
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
    return 0;
}

/* ---- reading ---- */

/* Fills bytes[*length ..] up to `wanted` from the file. A file that ends before the size it had at opening has shrunk. */
static int read_at(const struct ids_source *source, uint64_t offset, uint8_t *bytes, size_t *length, size_t wanted,
                   struct ids_error *err) {
    while (*length < wanted) {
        uint64_t at = offset + *length;
        ssize_t n = pread(source->fd, bytes + *length, wanted - *length, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            return ids_fail(err, IDS_IO, "cannot read: %s (offset %llu)", strerror(errno), (unsigned long long)at);
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
        if (!source->buffer) return ids_fail(err, IDS_NOMEM, "no memory for a read buffer");
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
