/* lib/io/stream.c: the content of an input from front to back. */
#include "lib/io/stream.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static struct ids_error err;

/* Byte `i` of every test input: no short period, so that chunks out of order are noticed. */
static uint8_t byte_at(uint64_t i) {
    return (uint8_t)((i * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

struct input {
    uint8_t *bytes;
    size_t length, room;
};

/* Adds a gzip member with the bytes [from, to) of the test input. */
static void add_member(struct input *input, uint64_t from, uint64_t to) {
    z_stream stream = {0};
    size_t length = (size_t)(to - from);
    uint8_t *bytes = malloc(length + 1);
    for (size_t i = 0; i < length; i++) bytes[i] = byte_at(from + i);
    ck_assert_int_eq(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t bound = deflateBound(&stream, length);
    input->bytes = realloc(input->bytes, input->length + bound);
    stream.next_in = bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = input->bytes + input->length;
    stream.avail_out = (uInt)bound;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    input->length += stream.total_out;
    deflateEnd(&stream);
    free(bytes);
}

static struct ids_source *source_of(const struct input *input) {
    struct ids_source *source = NULL;
    ck_assert_int_eq(ids_source_memory(input->bytes, input->length, &source, &err), 0);
    return source;
}

static struct ids_stream *open_stream(struct ids_source *source) {
    struct ids_stream *stream = NULL;
    err = (struct ids_error)IDS_ERROR_INIT;
    ck_assert_msg(ids_stream_open(source, &stream, &err) == 0, "%s", err.text);
    return stream;
}

/* Reads to the end, checks every byte, and returns how many there were. */
static uint64_t read_whole(struct ids_source *source) {
    struct ids_stream *stream = open_stream(source);
    uint64_t at = 0;
    for (;;) {
        uint8_t *bytes;
        size_t length;
        ck_assert_msg(ids_stream_next(stream, &bytes, &length, &err) == 0, "%s", err.text);
        if (!length) break;
        for (size_t i = 0; i < length; i++) {
            if (bytes[i] != byte_at(at + i)) ck_abort_msg("byte %llu", (unsigned long long)(at + i));
        }
        at += length;
    }
    uint8_t *bytes;
    size_t length = 1;
    ck_assert_int_eq(ids_stream_next(stream, &bytes, &length, &err), 0); /* the end stays the end */
    ck_assert_uint_eq(length, 0);
    ids_stream_close(stream);
    return at;
}

START_TEST(packed) {
    static const uint64_t lengths[] = {0, 1, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 4 << 18, 5 << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct input input = {0};
        add_member(&input, 0, lengths[i]);
        struct ids_source *source = source_of(&input);
        ck_assert_uint_eq(read_whole(source), lengths[i]);
        ck_assert_ptr_null(ids_source_cut(source));
        ck_assert_uint_eq(read_whole(source), lengths[i]); /* a second pass */
        ck_assert(ids_source_packed(source));
        ids_source_close(source);
        free(input.bytes);
    }
}
END_TEST

START_TEST(plain) {
    static uint8_t bytes[1000000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = byte_at(i);
    struct ids_source *source = source_of(&(struct input){bytes, sizeof bytes, 0});
    ck_assert_uint_eq(read_whole(source), sizeof bytes);
    ck_assert_uint_eq(read_whole(source), sizeof bytes);
    ids_source_close(source);
    source = source_of(&(struct input){bytes, 0, 0});
    ck_assert_uint_eq(read_whole(source), 0);
    ids_source_close(source);

    char path[] = "/tmp/idsprof-stream-XXXXXX"; /* a file, and one that shrinks */
    int fd = mkstemp(path);
    ck_assert_int_eq(write(fd, bytes, sizeof bytes), sizeof bytes);
    ck_assert_int_eq(ids_source_open(path, &source, &err), 0);
    unlink(path);
    ck_assert_uint_eq(read_whole(source), sizeof bytes);
    ck_assert_int_eq(ftruncate(fd, 300000), 0);
    close(fd);
    struct ids_stream *stream = open_stream(source);
    uint8_t *chunk;
    size_t length;
    int code;
    do {
        code = ids_stream_next(stream, &chunk, &length, &err);
    } while (!code && length);
    ck_assert_int_eq(code, IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "became shorter"));
    ids_stream_close(stream);
    ids_source_close(source);
}
END_TEST

START_TEST(an_unpacked_source) {
    struct input input = {0};
    add_member(&input, 0, 700000);
    struct ids_source *source = source_of(&input);
    ck_assert_int_eq(ids_source_unpack(source, &err), 0);
    ck_assert_uint_eq(read_whole(source), 700000);
    ids_source_close(source);
    free(input.bytes);
}
END_TEST

/* Members that end anywhere in a chunk are one content. */
START_TEST(members) {
    struct input input = {0};
    uint64_t at = 0;
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t next = at + i * i * 7 % 20011;
        add_member(&input, at, next);
        at = next;
    }
    input.bytes = realloc(input.bytes, input.length + 100000);
    struct ids_source *source = source_of(&input);
    ck_assert_uint_eq(read_whole(source), at);
    ck_assert_ptr_null(ids_source_cut(source));
    ids_source_close(source);

    memset(input.bytes + input.length, 0, 100000); /* zeros are padding */
    input.length += 100000;
    source = source_of(&input);
    ck_assert_uint_eq(read_whole(source), at);
    ck_assert_ptr_null(ids_source_cut(source));
    ids_source_close(source);

    input.bytes[input.length - 1] = 'x';
    source = source_of(&input);
    ck_assert_uint_eq(read_whole(source), at);
    ck_assert_ptr_nonnull(strstr(ids_source_cut(source), "not gzip"));
    ids_source_close(source);
    free(input.bytes);
}
END_TEST

START_TEST(cut_and_damaged) {
    struct input input = {0};
    add_member(&input, 0, 3000000);
    size_t whole = input.length;
    uint64_t last = 0;
    for (size_t cut = 3; cut < whole; cut += whole / 23) {
        input.length = cut;
        struct ids_source *source = source_of(&input);
        ck_assert_ptr_null(ids_source_cut(source)); /* nobody has looked yet */
        uint64_t length = read_whole(source);
        ck_assert_ptr_nonnull(strstr(ids_source_cut(source), "unexpected end"));
        ck_assert_uint_eq(ids_source_cut_at(source), length);
        ck_assert_uint_ge(length, last);
        last = length;
        ids_source_close(source);
    }
    ck_assert_uint_gt(last, 2000000); /* what came before the end is kept */
    input.length = whole;
    input.bytes[whole - 6] ^= 1; /* the checksum: the bytes are all there */
    struct ids_source *source = source_of(&input);
    ck_assert_uint_eq(read_whole(source), 3000000);
    ck_assert_ptr_nonnull(strstr(ids_source_cut(source), "the checksum is wrong"));
    input.bytes[whole - 6] ^= 1;
    ck_assert_uint_eq(read_whole(source), 3000000);
    ck_assert_ptr_null(ids_source_cut(source)); /* each pass says what it saw */
    ids_source_close(source);
    free(input.bytes);
}
END_TEST

/* Chunks that were taken stay as they are until they are given back, on any thread and with any number of them
 * taken. */
START_TEST(taken) {
    enum { CHUNKS = 23, LAST = 1000 };
    struct input input = {0};
    const uint64_t length = ((uint64_t)CHUNKS << 18) + LAST;
    uint8_t *content = malloc(length);
    add_member(&input, 0, length);
    for (uint64_t i = 0; i < length; i++) content[i] = byte_at(i);
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        struct ids_source *source = source_of(is_packed ? &input : &(struct input){content, length, 0});
        struct ids_stream *stream = open_stream(source);
        uint8_t *held[IDS_STREAM_TAKEN], *bytes;
        size_t got;
        for (uint64_t at = 0, number = 0; at < length; number++) {
            if (number >= IDS_STREAM_TAKEN) {
                const uint64_t first = (number - IDS_STREAM_TAKEN) << 18;
                const uint8_t *oldest = held[number % IDS_STREAM_TAKEN];
                for (uint64_t i = 0; i < 1 << 18; i += 997) ck_assert_uint_eq(oldest[i], byte_at(first + i));
                ids_stream_give_back(stream);
            }
            ck_assert_int_eq(ids_stream_take(stream, &held[number % IDS_STREAM_TAKEN], &got, &err), 0);
            ck_assert_uint_eq(got, number < CHUNKS ? 1 << 18 : LAST);
            at += got;
        }
        ck_assert_int_eq(ids_stream_take(stream, &bytes, &got, &err), 0);
        ck_assert_uint_eq(got, 0);
        for (int i = 0; i < IDS_STREAM_TAKEN; i++) ck_assert_ptr_ne(bytes, held[i]); /* it has its own room in front */
        ids_stream_close(stream);
        ids_source_close(source);
    }
    free(input.bytes);
    free(content);
}
END_TEST

static int thread_count(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *entry; (entry = readdir(tasks));) count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* The kernel takes a thread out of /proc a moment after the join. */
static void check_threads(int count) {
    for (int i = 0; i < 1000 && thread_count() != count; i++) usleep(1000);
    ck_assert_int_eq(thread_count(), count);
}

/* A reader that stops at any chunk leaves no thread, whether that was waiting for room, at work, or done. */
START_TEST(stopped_early) {
    struct input input = {0};
    add_member(&input, 0, 6 << 18);
    struct ids_source *source = source_of(&input);
    int before = thread_count();
    for (int reads = 0; reads < 60; reads++) {
        struct ids_stream *stream = open_stream(source);
        for (int i = 0; i < reads % 9; i++) {
            uint8_t *bytes;
            size_t length;
            ck_assert_int_eq(ids_stream_next(stream, &bytes, &length, &err), 0);
            if (reads % 2) usleep(300);
        }
        ids_stream_close(stream);
        check_threads(before);
    }
    ids_stream_close(NULL);
    ids_source_close(source);
    free(input.bytes);
}
END_TEST

/* 1 GiB of zeros in 1 MiB is over the ratio, which is said after 256 MiB; 100 MiB are let through. */
START_TEST(a_bomb) {
    IDS_NOT_UNDER_VALGRIND();
    static uint8_t zeros[1 << 20];
    for (int mebibytes = 100; mebibytes <= 1024; mebibytes += 924) {
        char path[] = "/tmp/idsprof-stream-XXXXXX";
        gzFile file = gzdopen(mkstemp(path), "wb1");
        for (int i = 0; i < mebibytes; i++) ck_assert_int_eq(gzwrite(file, zeros, sizeof zeros), sizeof zeros);
        gzclose(file);
        struct ids_source *source;
        ck_assert_int_eq(ids_source_open(path, &source, &err), 0);
        unlink(path);
        struct ids_stream *stream = open_stream(source);
        uint8_t *bytes;
        size_t length;
        uint64_t sum = 0;
        int code;
        do {
            code = ids_stream_next(stream, &bytes, &length, &err);
            if (!code) sum += length;
        } while (!code && length);
        if (mebibytes == 100) {
            ck_assert_int_eq(code, 0);
            ck_assert_uint_eq(sum, 100 << 20);
        } else {
            ck_assert_int_eq(code, IDS_LIMIT);
            ck_assert_ptr_nonnull(strstr(err.text, "200 times its size"));
            ck_assert_uint_le(sum, 257 << 20);
            ck_assert_uint_ge(sum, 255 << 20); /* what came before was given */
        }
        ids_stream_close(stream);
        ids_source_close(source);
    }
}
END_TEST

static void *feed(void *data) {
    int *fd = data;
    uint8_t byte;
    for (uint64_t i = 0; i < 100000; i++) {
        byte = byte_at(i);
        if (write(*fd, &byte, 1) != 1) break;
    }
    close(*fd);
    return NULL;
}

/* A pipe is read once, and can be streamed twice. */
START_TEST(a_pipe) {
    int ends[2];
    pthread_t thread;
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    pthread_create(&thread, NULL, feed, &ends[1]);
    struct ids_source *source;
    ck_assert_int_eq(ids_source_open("-", &source, &err), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(read_whole(source), 100000);
    ck_assert_uint_eq(read_whole(source), 100000);
    ids_source_close(source);
}
END_TEST

IDS_RUN_SUITE("stream", packed, plain, an_unpacked_source, members, cut_and_damaged, taken, stopped_early, a_bomb,
              a_pipe)
