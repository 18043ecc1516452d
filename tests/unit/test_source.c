/* lib/io/source.c: bytes by offset out of files, gzip, pipes. */
#include "lib/io/source.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char path[128];

static void setup(void) {
    make_folder();
    snprintf(path, sizeof path, "%s/input", folder);
}

/* Byte `i` of every test input: no short period, so that a shifted window is noticed. */
static uint8_t byte_at(uint64_t i) {
    return (uint8_t)((i * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

static uint8_t *make_bytes(size_t length) {
    uint8_t *bytes = malloc(length + 1);
    for (size_t i = 0; i < length; i++) bytes[i] = byte_at(i);
    return bytes;
}

static void store(const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

/* One gzip member; the caller frees. */
static uint8_t *gzip(const uint8_t *bytes, size_t length, size_t *ret_length) {
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&stream, length);
    uint8_t *packed = malloc(room);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *ret_length = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static struct ids_error err;

static struct ids_source *open_source(const char *name) {
    struct ids_source *source = NULL;
    err = (struct ids_error)IDS_ERROR_INIT;
    ck_assert_msg(ids_source_open(name, &source, &err) == 0, "%s", err.text);
    return source;
}

static struct ids_source *open_unpacked(const char *name) {
    struct ids_source *source = open_source(name);
    ck_assert_msg(ids_source_unpack(source, &err) == 0, "%s", err.text);
    ck_assert(!ids_source_packed(source));
    return source;
}

static int unpack_fails(const char *name) {
    struct ids_source *source = open_source(name);
    int code = ids_source_unpack(source, &err);
    ck_assert_int_eq(code, err.code);
    ck_assert(ids_source_packed(source));
    ids_source_close(source);
    return code;
}

static int open_fails(const char *name) {
    struct ids_source *source = NULL;
    err = (struct ids_error)IDS_ERROR_INIT;
    int code = ids_source_open(name, &source, &err);
    ck_assert_ptr_null(source);
    ck_assert_int_eq(code, err.code);
    return code;
}

/* Reads the whole source in windows of different sizes and checks every byte. */
static void check_whole(struct ids_source *source, uint64_t size) {
    static const size_t needs[] = {1, 100, 4096, 300000, IDS_SOURCE_WINDOW};
    ck_assert_uint_eq(ids_source_size(source), size);
    uint64_t at = 0;
    for (unsigned i = 0; at < size; i++) {
        const uint8_t *bytes;
        size_t length, need = needs[i % 5];
        ck_assert_int_eq(ids_source_window(source, at, need, &bytes, &length, &err), 0);
        ck_assert(length >= need || at + length == size);
        size_t used = i % 3 ? length : (need < length ? need : length); /* also windows that overlap the last */
        for (size_t k = 0; k < used; k++) {
            if (bytes[k] != byte_at(at + k)) ck_abort_msg("byte %llu", (unsigned long long)(at + k));
        }
        at += used;
    }
}

START_TEST(a_file) {
    size_t length = 5000003;
    uint8_t *bytes = make_bytes(length), some[70000];
    store(bytes, length);
    struct ids_source *source = open_source(path);
    ck_assert_str_eq(ids_source_path(source), path);
    ck_assert_ptr_null(ids_source_cut(source));
    check_whole(source, length);
    for (unsigned i = 0; i < 300; i++) { /* jumps, forward and back */
        uint64_t at = (uint64_t)i * 7919 * 104729 % (length - 300000);
        const uint8_t *window;
        size_t got;
        ck_assert_int_eq(ids_source_window(source, at, i * 1000, &window, &got, &err), 0);
        ck_assert_uint_ge(got, i * 1000);
        ck_assert_int_eq(memcmp(window, bytes + at, got), 0);
        ck_assert_int_eq(ids_source_read(source, at + i, some, sizeof some - i, &err), 0);
        ck_assert_int_eq(memcmp(some, bytes + at + i, sizeof some - i), 0);
    }
    ids_source_close(source);
    free(bytes);
}
END_TEST

START_TEST(the_end) {
    uint8_t *bytes = make_bytes(10), some[10];
    const uint8_t *window;
    size_t got;
    store(bytes, 10);
    struct ids_source *sources[2] = {open_source(path)};
    ck_assert_int_eq(ids_source_memory(bytes, 10, &sources[1], &err), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ids_source_window(sources[i], 8, 100, &window, &got, &err), 0);
        ck_assert_uint_eq(got, 2);
        ck_assert_uint_eq(window[1], bytes[9]);
        ck_assert_int_eq(ids_source_window(sources[i], 10, 1, &window, &got, &err), 0);
        ck_assert_uint_eq(got, 0);
        ck_assert_int_eq(ids_source_window(sources[i], UINT64_MAX, 1, &window, &got, &err), 0);
        ck_assert_uint_eq(got, 0);
        ck_assert_int_eq(ids_source_window(sources[i], 0, IDS_SOURCE_WINDOW + 1, &window, &got, &err), IDS_LIMIT);
        ck_assert_int_eq(ids_source_read(sources[i], 0, some, 10, &err), 0);
        ck_assert_int_eq(memcmp(some, bytes, 10), 0);
        ck_assert_int_eq(ids_source_read(sources[i], 1, some, 10, &err), IDS_TRUNCATED);
        ck_assert_int_eq(ids_source_read(sources[i], 11, some, 0, &err), IDS_TRUNCATED);
        ck_assert_int_eq(ids_source_read(sources[i], 10, some, 0, &err), 0);
        ids_source_close(sources[i]);
    }
    ids_source_close(NULL);
    free(bytes);
}
END_TEST

START_TEST(an_empty_file) {
    const uint8_t *window;
    size_t got;
    store("", 0);
    struct ids_source *source = open_source(path);
    ck_assert_uint_eq(ids_source_size(source), 0);
    ck_assert_int_eq(ids_source_window(source, 0, 100, &window, &got, &err), 0);
    ck_assert_uint_eq(got, 0);
    ids_source_close(source);
}
END_TEST

START_TEST(refused) {
    ck_assert_int_eq(open_fails(path), IDS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.text, path));
    ck_assert_int_eq(open_fails(folder), IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "is a folder"));
    store("x", 1);
    ck_assert_int_eq(chmod(path, 0), 0);
    if (geteuid() == 0) ck_assert_int_eq(seteuid(65534), 0);
    int code = open_fails(path);
    if (getuid() == 0) ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(code, IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "Permission denied"));
}
END_TEST

START_TEST(a_file_that_shrinks) {
    size_t length = 4 << 20;
    uint8_t *bytes = make_bytes(length), some[16];
    const uint8_t *window;
    size_t got;
    store(bytes, length);
    struct ids_source *source = open_source(path);
    ck_assert_int_eq(ids_source_window(source, 0, 10, &window, &got, &err), 0);
    ck_assert_int_eq(truncate(path, 3 << 20), 0);
    ck_assert_int_eq(ids_source_window(source, (4 << 20) - 100, 10, &window, &got, &err), IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "became shorter"));
    ck_assert_int_eq(ids_source_read(source, (4 << 20) - 100, some, sizeof some, &err), IDS_IO);
    ck_assert_int_eq(ids_source_read(source, 7, some, sizeof some, &err), 0); /* what is there can still be read */
    ck_assert_int_eq(memcmp(some, bytes + 7, sizeof some), 0);
    ids_source_close(source);
    free(bytes);
}
END_TEST

/* ---- gzip ---- */

START_TEST(packed_members) {
    size_t length = 3000000, first, second;
    uint8_t *bytes = make_bytes(length);
    uint8_t *a = gzip(bytes, 1000000, &first), *b = gzip(bytes + 1000000, 2000000, &second);
    uint8_t *both = calloc(1, first + second + 100);
    memcpy(both, a, first);
    memcpy(both + first, b, second);
    store(both, first + second);
    struct ids_source *source = open_unpacked(path);
    ck_assert_ptr_null(ids_source_cut(source));
    check_whole(source, length);
    ids_source_close(source);

    store(both, first + second + 100); /* padding of zeros is fine */
    source = open_unpacked(path);
    ck_assert_ptr_null(ids_source_cut(source));
    ck_assert_uint_eq(ids_source_size(source), length);
    ids_source_close(source);

    both[first + second] = 'x'; /* other bytes are said */
    store(both, first + second + 1);
    source = open_unpacked(path);
    ck_assert_ptr_nonnull(strstr(ids_source_cut(source), "not gzip"));
    check_whole(source, length);
    ids_source_close(source);
    free(a);
    free(b);
    free(both);
    free(bytes);
}
END_TEST

START_TEST(packed_and_cut) {
    size_t length = 200000, packed_length;
    uint8_t *bytes = make_bytes(length), *packed = gzip(bytes, length, &packed_length);
    uint64_t last = 0;
    for (size_t cut = 3; cut < packed_length; cut += 4999) {
        store(packed, cut);
        struct ids_source *source = open_unpacked(path);
        ck_assert_ptr_nonnull(ids_source_cut(source));
        ck_assert_ptr_nonnull(strstr(ids_source_cut(source), "unexpected end"));
        ck_assert_uint_ge(ids_source_size(source), last);
        last = ids_source_size(source);
        check_whole(source, last);
        ids_source_close(source);
    }
    ck_assert_uint_gt(last, length / 2); /* what came before the end is kept */
    free(bytes);
    free(packed);
}
END_TEST

START_TEST(packed_and_damaged) {
    size_t length = 200000, packed_length;
    uint8_t *bytes = make_bytes(length), *packed = gzip(bytes, length, &packed_length);
    packed[packed_length - 6] ^= 1; /* the checksum: the bytes are all there */
    store(packed, packed_length);
    struct ids_source *source = open_unpacked(path);
    ck_assert_ptr_nonnull(strstr(ids_source_cut(source), "the checksum is wrong"));
    check_whole(source, length);
    ids_source_close(source);
    memset(packed + packed_length / 2, 0xff, 100);
    store(packed, packed_length);
    source = open_unpacked(path);
    ck_assert_ptr_nonnull(ids_source_cut(source));
    ck_assert_uint_lt(ids_source_size(source), length + 100000);
    ids_source_close(source);
    store("\x1f\x8b\x08\xff", 4);
    source = open_unpacked(path);
    ck_assert_ptr_nonnull(ids_source_cut(source));
    ck_assert_uint_eq(ids_source_size(source), 0);
    ids_source_close(source);
    free(bytes);
    free(packed);
}
END_TEST

/* Until it is unpacked, the bytes are those of the file; a look at the content does not change that. */
START_TEST(packed_until_asked_for) {
    size_t length = 600000, packed_length, got;
    uint8_t *bytes = make_bytes(length), *packed = gzip(bytes, length, &packed_length), head[5000];
    store(packed, packed_length);
    struct ids_source *source = open_source(path);
    ck_assert(ids_source_packed(source));
    ck_assert_int_eq(ids_source_head(source, head, sizeof head, &got, &err), 0);
    ck_assert_uint_eq(got, sizeof head);
    ck_assert_int_eq(memcmp(head, bytes, got), 0);
    ck_assert(ids_source_packed(source));
    ck_assert_uint_eq(ids_source_size(source), packed_length);
    const uint8_t *window;
    ck_assert_int_eq(ids_source_window(source, 0, 3, &window, &got, &err), 0);
    ck_assert_int_eq(memcmp(window, packed, 3), 0);
    ck_assert_int_eq(ids_source_copy(source, packed_length - 7, head, sizeof head, &got, &err), 0);
    ck_assert_uint_eq(got, 7);
    ck_assert_int_eq(memcmp(head, packed + packed_length - 7, 7), 0);
    ck_assert_int_eq(ids_source_unpack(source, &err), 0);
    check_whole(source, length); /* and not what the window held before */
    ck_assert_int_eq(ids_source_unpack(source, &err), 0);
    check_whole(source, length);
    ck_assert_int_eq(ids_source_copy(source, length, head, 1, &got, &err), 0);
    ck_assert_uint_eq(got, 0);
    ids_source_close(source);

    store(packed, 100); /* so short that the look at the head meets the end */
    source = open_source(path);
    ck_assert_int_eq(ids_source_head(source, head, sizeof head, &got, &err), 0);
    ck_assert_uint_lt(got, 100);
    ck_assert_int_eq(memcmp(head, bytes, got), 0);
    ck_assert_ptr_nonnull(strstr(ids_source_cut(source), "unexpected end"));
    ck_assert_uint_eq(ids_source_cut_at(source), got);
    ids_source_close(source);

    store(bytes, 10);
    source = open_source(path);
    ck_assert(!ids_source_packed(source));
    ck_assert_int_eq(ids_source_head(source, head, sizeof head, &got, &err), 0);
    ck_assert_uint_eq(got, 10);
    ck_assert_int_eq(ids_source_unpack(source, &err), 0); /* nothing to do */
    check_whole(source, 10);
    ids_source_close(source);
    free(bytes);
    free(packed);
}
END_TEST

START_TEST(two_magic_bytes_are_not_gzip) {
    store("\x1f\x8b text", 7);
    struct ids_source *source = open_source(path);
    ck_assert_uint_eq(ids_source_size(source), 7);
    ids_source_close(source);
}
END_TEST

/* 300 MiB of zeros in 300 KiB: over the ratio. 100 MiB are let through, in a temporary file. */
START_TEST(a_bomb) {
    IDS_NOT_UNDER_VALGRIND();
    static uint8_t zeros[1 << 20];
    for (int mebibytes = 100; mebibytes <= 300; mebibytes += 200) {
        gzFile file = gzopen(path, "wb6");
        ck_assert_ptr_nonnull(file);
        for (int i = 0; i < mebibytes; i++) ck_assert_int_eq(gzwrite(file, zeros, sizeof zeros), sizeof zeros);
        gzclose(file);
        if (mebibytes == 300) {
            ck_assert_int_eq(unpack_fails(path), IDS_LIMIT);
            ck_assert_ptr_nonnull(strstr(err.text, "200 times its size"));
        } else {
            struct ids_source *source = open_unpacked(path);
            ck_assert_uint_eq(ids_source_size(source), 100 << 20);
            ids_source_close(source);
        }
    }
}
END_TEST

/* ---- more than memory takes: a temporary file without a name ---- */

static void store_large(size_t *ret_length) {
    size_t length = 70 << 20, packed_length;
    uint8_t *bytes = make_bytes(length), *packed = gzip(bytes, length, &packed_length);
    store(packed, packed_length);
    free(bytes);
    free(packed);
    *ret_length = length;
}

START_TEST(large_gzip_in_a_temporary_file) {
    IDS_NOT_UNDER_VALGRIND();
    size_t length;
    store_large(&length);
    setenv("TMPDIR", folder, 1);
    struct ids_source *source = open_unpacked(path);
    check_whole(source, length);
    ids_source_close(source);
}
END_TEST

START_TEST(no_room_for_the_temporary_file) {
    IDS_NOT_UNDER_VALGRIND();
    size_t length;
    store_large(&length);
    setenv("TMPDIR", "/nowhere", 1);
    ck_assert_int_eq(unpack_fails(path), IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "'/nowhere'"));
    setenv("TMPDIR", folder, 1);
    struct rlimit limit = {1 << 20, RLIM_INFINITY}, before;
    getrlimit(RLIMIT_FSIZE, &before);
    limit.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = unpack_fails(path);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(code, IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "File too large"));
}
END_TEST

/* ---- pipes ---- */

struct feed {
    int fd;
    const uint8_t *bytes;
    size_t length, piece;
};

static void *feed_pipe(void *data) {
    struct feed *feed = data;
    if (feed->fd < 0) feed->fd = open(path, O_WRONLY); /* a FIFO: waits for the reader */
    for (size_t at = 0; at < feed->length;) {
        size_t n = feed->length - at < feed->piece ? feed->length - at : feed->piece;
        ssize_t written = write(feed->fd, feed->bytes + at, n);
        if (written <= 0) break;
        at += (size_t)written;
    }
    close(feed->fd);
    return NULL;
}

static struct ids_source *open_stdin(const uint8_t *bytes, size_t length, size_t piece) {
    int ends[2], saved = dup(STDIN_FILENO);
    pthread_t thread;
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    struct feed feed = {ends[1], bytes, length, piece};
    pthread_create(&thread, NULL, feed_pipe, &feed);
    struct ids_source *source = open_source("-");
    pthread_join(thread, NULL);
    dup2(saved, STDIN_FILENO);
    close(saved);
    return source;
}

START_TEST(standard_input) {
    size_t length = 500000, packed_length;
    uint8_t *bytes = make_bytes(length), *packed = gzip(bytes, length, &packed_length);
    struct ids_source *source = open_stdin(bytes, length, 7000);
    ck_assert_str_eq(ids_source_path(source), "standard input");
    check_whole(source, length);
    ids_source_close(source);
    source = open_stdin(packed, packed_length, 1); /* gzip that comes a byte at a time */
    ck_assert_uint_eq(ids_source_size(source), packed_length);
    ck_assert_int_eq(ids_source_unpack(source, &err), 0);
    ck_assert_ptr_null(ids_source_cut(source));
    check_whole(source, length);
    ids_source_close(source);
    source = open_stdin(bytes, 0, 1);
    ck_assert_uint_eq(ids_source_size(source), 0);
    ids_source_close(source);
    free(bytes);
    free(packed);
}
END_TEST

START_TEST(standard_input_from_a_file) {
    uint8_t *bytes = make_bytes(100000);
    store(bytes, 100000);
    int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    dup2(fd, STDIN_FILENO);
    struct ids_source *source = open_source("-");
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(fd);
    check_whole(source, 100000);
    ids_source_close(source);
    free(bytes);
}
END_TEST

START_TEST(a_fifo) {
    uint8_t *bytes = make_bytes(300000);
    pthread_t thread;
    struct feed feed = {-1, bytes, 300000, 65536};
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    pthread_create(&thread, NULL, feed_pipe, &feed);
    struct ids_source *source = open_source(path);
    pthread_join(thread, NULL);
    check_whole(source, 300000);
    ids_source_close(source);
    free(bytes);
}
END_TEST

IDS_RUN_FIXTURE("source", setup, remove_folder, a_file, the_end, an_empty_file, refused, a_file_that_shrinks,
                packed_members, packed_and_cut, packed_and_damaged, packed_until_asked_for,
                two_magic_bytes_are_not_gzip, a_bomb, large_gzip_in_a_temporary_file, no_room_for_the_temporary_file,
                standard_input, standard_input_from_a_file, a_fifo)
