#include "lib/report/html/packed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    GZIP = 15 + 16, /* zlib's largest window, and a header of gzip */
    LEVEL = 4,      /* a timeline: 5 % more than level 6 leaves, in a quarter of the time */
    MEMORY = 8,
    CHUNK = 3 * 8192, /* whole groups of base64, so that only the last one is padded */
};

struct packed {
    FILE *out;
    z_stream stream;
    size_t used;
    unsigned char bytes[CHUNK];
};

void ids_base64_write(const unsigned char *bytes, size_t length, FILE *out) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < length; at += 3) {
        size_t left = length - at;
        unsigned group = (unsigned)bytes[at] << 16;
        if (left > 1) group |= (unsigned)bytes[at + 1] << 8;
        if (left > 2) group |= bytes[at + 2];
        const char four[4] = {letters[group >> 18], letters[group >> 12 & 63],
                              left > 1 ? letters[group >> 6 & 63] : '=', left > 2 ? letters[group & 63] : '='};
        fwrite(four, 1, sizeof four, out);
    }
}

/* Compresses what the stream was given; writes each chunk that is full, and the last one at the end. */
static void pump(struct packed *packed, int how) {
    int ended = 0;
    do {
        packed->stream.next_out = packed->bytes + packed->used;
        packed->stream.avail_out = (uInt)(CHUNK - packed->used);
        ended = deflate(&packed->stream, how) == Z_STREAM_END;
        packed->used = CHUNK - packed->stream.avail_out;
        if (packed->used < CHUNK && !ended) break;
        ids_base64_write(packed->bytes, packed->used, packed->out);
        packed->used = 0;
    } while (!ended);
}

static ssize_t write_packed(void *own, const char *bytes, size_t length) {
    struct packed *packed = own;
    packed->stream.next_in = (unsigned char *)(uintptr_t)bytes;
    packed->stream.avail_in = (uInt)length; /* stdio writes blocks of kilobytes */
    pump(packed, Z_NO_FLUSH);
    return ferror(packed->out) ? 0 : (ssize_t)length;
}

static int close_packed(void *own) {
    struct packed *packed = own;
    packed->stream.avail_in = 0;
    pump(packed, Z_FINISH);
    deflateEnd(&packed->stream);
    free(packed);
    return 0;
}

FILE *ids_packed_open(FILE *out) {
    static const cookie_io_functions_t calls = {.write = write_packed, .close = close_packed};
    struct packed *packed = calloc(1, sizeof *packed);
    if (!packed) return NULL;
    packed->out = out;
    FILE *file = NULL;
    if (deflateInit2(&packed->stream, LEVEL, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK) {
        file = fopencookie(packed, "w", calls);
        if (!file) deflateEnd(&packed->stream);
    }
    if (!file) free(packed);
    return file;
}

int ids_packed_close(FILE *packed, struct ids_error *err) {
    if (!packed) return ids_no_memory(err);
    fclose(packed); /* errors are those of the stream behind it, whose owner looks */
    return 0;
}
