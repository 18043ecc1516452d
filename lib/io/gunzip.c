#include "lib/io/gunzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    READ_BYTES = 256 << 10,
    /* Real traces unpack to 15..20 times their size, deflate can do 1,032. Small outputs may have any ratio. */
    MAX_RATIO = 200,
    FREE_BYTES = 256 << 20,
};

struct ids_gunzip {
    const struct ids_source *source;
    z_stream stream;
    uint64_t taken;    /* bytes of the source read so far */
    uint64_t unpacked; /* bytes given out */
    int ended;
    char cut[IDS_SOURCE_CUT_ROOM];
    size_t at, length; /* [at, length) of bytes are not yet used */
    uint8_t bytes[READ_BYTES];
};

int ids_gunzip_new(const struct ids_source *source, struct ids_gunzip **ret_gunzip, struct ids_error *err) {
    enum { GZIP_ONLY = 15 + 16 }; /* zlib.h, inflateInit2 */
    struct ids_gunzip *gunzip = malloc(sizeof *gunzip);
    if (!gunzip) return ids_fail(err, IDS_NOMEM, "gzip: no memory to unpack");
    memset(gunzip, 0, offsetof(struct ids_gunzip, bytes));
    gunzip->source = source;
    if (inflateInit2(&gunzip->stream, GZIP_ONLY) != Z_OK) {
        free(gunzip);
        return ids_fail(err, IDS_NOMEM, "gzip: no memory to unpack");
    }
    *ret_gunzip = gunzip;
    return 0;
}

void ids_gunzip_free(struct ids_gunzip *gunzip) {
    if (!gunzip) return;
    inflateEnd(&gunzip->stream);
    free(gunzip);
}

const char *ids_gunzip_cut(const struct ids_gunzip *gunzip) {
    return gunzip->cut[0] ? gunzip->cut : NULL;
}

/* Makes sure of `need` bytes (1 to 3), unless the input ends. */
static int fill(struct ids_gunzip *gunzip, size_t need, struct ids_error *err) {
    size_t kept = gunzip->length - gunzip->at, got;
    if (kept >= need) return 0;
    memmove(gunzip->bytes, gunzip->bytes + gunzip->at, kept);
    gunzip->at = 0;
    gunzip->length = kept;
    int code = ids_source_copy(gunzip->source, gunzip->taken, gunzip->bytes + kept, READ_BYTES - kept, &got, err);
    if (code) return code;
    gunzip->length += got;
    gunzip->taken += got;
    return 0;
}

static void end_with(struct ids_gunzip *gunzip, const char *why) {
    gunzip->ended = 1;
    if (!why) return;
    snprintf(gunzip->cut, sizeof gunzip->cut, "gzip: %s (offset %llu)", why,
             (unsigned long long)(gunzip->taken - (gunzip->length - gunzip->at)));
}

/* After a member: another one, zeros as padding (gzip(1), tapes), or the end; other bytes are said. */
static int next_member(struct ids_gunzip *gunzip, struct ids_error *err) {
    for (;;) {
        int code = fill(gunzip, 3, err);
        if (code) return code;
        if (ids_looks_gzip(gunzip->bytes + gunzip->at, gunzip->length - gunzip->at)) {
            inflateReset(&gunzip->stream);
            return 0;
        }
        if (gunzip->at == gunzip->length) break;
        if (gunzip->bytes[gunzip->at]) {
            end_with(gunzip, "bytes behind the end that are not gzip");
            return 0;
        }
        gunzip->at++;
    }
    end_with(gunzip, NULL);
    return 0;
}

static int check_ratio(const struct ids_gunzip *gunzip, struct ids_error *err) {
    uint64_t unpacked = gunzip->unpacked;
    if (unpacked <= FREE_BYTES || unpacked / MAX_RATIO <= gunzip->taken) return 0;
    return ids_fail(err, IDS_LIMIT, "gzip: unpacks to more than %d times its size (%llu bytes from %llu): refused",
                    MAX_RATIO, (unsigned long long)unpacked, (unsigned long long)gunzip->taken);
}

/* One call of inflate into bytes[*length .. room). */
static int step(struct ids_gunzip *gunzip, uint8_t *bytes, size_t room, size_t *length, struct ids_error *err) {
    z_stream *stream = &gunzip->stream;
    stream->next_in = gunzip->bytes + gunzip->at;
    stream->avail_in = (uInt)(gunzip->length - gunzip->at);
    stream->next_out = bytes + *length;
    stream->avail_out = (uInt)(room - *length);
    uInt offered = stream->avail_out;
    int state = inflate(stream, Z_NO_FLUSH);
    gunzip->at = gunzip->length - stream->avail_in;
    gunzip->unpacked += offered - stream->avail_out;
    *length += offered - stream->avail_out;
    if (state == Z_MEM_ERROR) return ids_fail(err, IDS_NOMEM, "gzip: no memory to unpack");
    if (state == Z_STREAM_END) return next_member(gunzip, err);
    if (state != Z_OK && state != Z_BUF_ERROR) end_with(gunzip, stream->msg ? stream->msg : "damaged");
    return 0;
}

int ids_gunzip_read(struct ids_gunzip *gunzip, uint8_t *bytes, size_t room, size_t *ret_length, struct ids_error *err) {
    enum { PIECE = 1 << 30 }; /* zlib counts in unsigned int */
    size_t length = 0;
    while (length < room && !gunzip->ended) {
        int code = fill(gunzip, 1, err);
        if (!code) code = check_ratio(gunzip, err);
        if (code) return code;
        if (gunzip->at == gunzip->length) {
            end_with(gunzip, "unexpected end");
            break;
        }
        size_t piece = room - length > PIECE ? length + PIECE : room;
        code = step(gunzip, bytes, piece, &length, err);
        if (code) return code;
    }
    *ret_length = length;
    return 0;
}
