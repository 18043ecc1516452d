/* collectors/common/xspace_out.h, against bytes written by hand and against the reader of the wire format. Field
 * numbers: tsl's profiler/protobuf/xplane.proto. */
#include "collectors/common/xspace_out.h"
#include "lib/wire/pb_wire.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];
static unsigned char *bytes; /* of the file */
static size_t size;

static struct ids_xspace_out *begin(const char *before, int64_t max_bytes) {
    char why[128] = "";
    snprintf(path, sizeof path, "/tmp/test_xspace_out.XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, before, strlen(before)), (ssize_t)strlen(before));
    close(file);
    struct ids_xspace_out *out = ids_xspace_open(path, max_bytes, why, sizeof why);
    ck_assert_msg(out != NULL, "%s", why);
    return out;
}

static struct ids_xspace_written end(struct ids_xspace_out *out) {
    char why[128] = "";
    struct ids_xspace_written written;
    ck_assert_msg(!ids_xspace_close(out, &written, why, sizeof why), "%s", why);
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(size + 1);
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    fclose(file);
    unlink(path);
    return written;
}

/* The fields of one number in a message, one after the other: 0 when there is no further one. */
static int next(struct ids_pb *pb, uint32_t number, struct ids_pb_field *field) {
    int more;
    while ((more = ids_pb_next(pb, field)) > 0) {
        if (field->number == number) return 1;
    }
    ck_assert_int_eq(more, 0);
    return 0;
}

static struct ids_pb all(void) {
    return (struct ids_pb){bytes, bytes + size};
}

START_TEST(by_hand) {
    /* One plane, one line, one event of 3 ns that begins 2 ns after the base, one stat. */
    struct ids_xspace_out *out = begin("", 0);
    ids_xspace_plane_begin(out, 7, "P");
    ids_xspace_line_begin(out, 9, "L", 100);
    ids_xspace_event_begin(out, ids_xspace_name(out, "e"), 102, 105);
    ids_xspace_int(out, "k", 5);
    ids_xspace_event_end(out);
    struct ids_xspace_written written = end(out);
    static const char expected[] = "\x0a\xb8\x80\x80\x80\x00" /* plane: 56 bytes, in five that hold its length */
                                   "\x08\x07\x12\x01P"
                                   "\x1a\x97\x80\x80\x80\x00" /* line: 23 bytes */
                                   "\x08\x09\x12\x01L\x18\x64"
                                   "\x22\x0e\x08\x01\x10\xd0\x0f\x18\xb8\x17" /* event: 2000 ps, 3000 ps */
                                   "\x22\x04\x08\x01\x20\x05"
                                   "\x22\x09\x08\x01\x12\x05\x08\x01\x12\x01\x65"  /* 1: "e" */
                                   "\x2a\x09\x08\x01\x12\x05\x08\x01\x12\x01\x6b"; /* 1: "k" */
    ck_assert_uint_eq(size, sizeof expected - 1);
    ck_assert_mem_eq(bytes, expected, size);
    ck_assert_int_eq(written.events, 1);
    ck_assert_int_eq(written.drops, 0);
    ck_assert_int_eq(written.bytes, (int64_t)size);
    free(bytes);
}
END_TEST

START_TEST(after_what_is_there) {
    struct ids_xspace_out *out = begin("\x22\x04host", 0); /* hostnames: "host" */
    ids_xspace_raw(out, "\x22\x01x", 3);
    ids_xspace_plane_begin(out, 1, "a");
    ids_xspace_uint(out, "number", UINT64_MAX);
    ids_xspace_double(out, "half", 0.5);
    ids_xspace_text(out, "word", "text");
    ids_xspace_plane_begin(out, 2, "b"); /* ends the one before */
    end(out);
    ck_assert_mem_eq(bytes, "\x22\x04host\x22\x01x", 9);
    struct ids_pb pb = all(), plane;
    struct ids_pb_field field, stat;
    ck_assert(next(&pb, 1, &field));
    plane = ids_pb_inside(&field);
    const char *const stats[] = {"\x08\x01\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                                 "\x08\x02\x11\x00\x00\x00\x00\x00\x00\xe0\x3f", "\x08\x03\x2a\x04text"};
    const size_t sizes[] = {13, 11, 8};
    for (int i = 0; i < 3; i++) {
        ck_assert(next(&plane, 6, &stat));
        ck_assert_uint_eq(stat.value, sizes[i]);
        ck_assert_mem_eq(stat.bytes, stats[i], sizes[i]);
    }
    ck_assert(next(&pb, 1, &field));
    ck_assert(!next(&pb, 1, &field));
    free(bytes);
}
END_TEST

/* More than the buffer holds, so that lengths are put in on the disk. */
START_TEST(many_events) {
    enum { EVENTS = 5000 };
    struct ids_xspace_out *out = begin("", 0);
    ids_xspace_plane_begin(out, 1, "plane");
    for (int line = 0; line < 2; line++) {
        ids_xspace_line_begin(out, line, "line", 1000);
        for (int i = 0; i < EVENTS; i++) {
            char name[32];
            snprintf(name, sizeof name, "event %d", i % 1000);
            ids_xspace_event_begin(out, ids_xspace_name(out, name), 1000 + i, 1000 + i + line);
            ids_xspace_int(out, "number", i);
        }
    }
    struct ids_xspace_written written = end(out);
    ck_assert_int_eq(written.events, 2 * EVENTS);
    struct ids_pb pb = all(), plane, line, event;
    struct ids_pb_field field, line_field, event_field, part;
    ck_assert(next(&pb, 1, &field));
    plane = ids_pb_inside(&field);
    for (int l = 0; l < 2; l++) {
        ck_assert(next(&plane, 3, &line_field));
        line = ids_pb_inside(&line_field);
        for (int i = 0; i < EVENTS; i++) {
            ck_assert(next(&line, 4, &event_field));
            event = ids_pb_inside(&event_field);
            ck_assert(next(&event, 1, &part));
            ck_assert_uint_eq(part.value, (uint64_t)(i % 1000) + 1);
            ck_assert(next(&event, 2, &part));
            ck_assert_uint_eq(part.value, (uint64_t)i * 1000);
            ck_assert(next(&event, 3, &part));
            ck_assert_uint_eq(part.value, (uint64_t)l * 1000);
        }
        ck_assert(!next(&line, 4, &event_field));
    }
    int names = 0;
    while (next(&plane, 4, &part)) names++;
    ck_assert_int_eq(names, 1000);
    free(bytes);
}
END_TEST

START_TEST(limits) {
    static char text[2 * IDS_XSPACE_TEXT];
    memset(text, 'x', sizeof text - 1);
    struct ids_xspace_out *out = begin("", 4000);
    ids_xspace_plane_begin(out, 1, "plane");
    ids_xspace_line_begin(out, 1, "line", 0);
    int64_t name = ids_xspace_name(out, "name");
    for (int i = 0; i < 10000; i++) {
        ids_xspace_event_begin(out, name, i, i + 1);
        ids_xspace_event_end(out);
    }
    struct ids_xspace_written written = end(out);
    ck_assert_int_eq(written.events + written.drops, 10000);
    ck_assert_int_gt(written.events, 100);
    ck_assert_uint_le(size, 4000);
    free(bytes);

    /* A text is cut, an event takes what stats fit, and a name too many has a name. */
    out = begin("", 0);
    ids_xspace_plane_begin(out, 1, "plane");
    ids_xspace_line_begin(out, 1, "line", 0);
    ids_xspace_event_begin(out, ids_xspace_name(out, text), 0, 1);
    for (int i = 0; i < 8; i++) ids_xspace_text(out, "text", text);
    ids_xspace_event_end(out);
    for (int i = 0; i <= IDS_XSPACE_NAMES; i++) {
        char number[32];
        snprintf(number, sizeof number, "%d", i);
        name = ids_xspace_name(out, number);
    }
    ck_assert_int_eq(name, IDS_XSPACE_NAMES + 1);
    ck_assert_int_eq(ids_xspace_name(out, "one more"), name);
    ck_assert_int_eq(ids_xspace_name(out, "0"), 2);
    written = end(out);
    ck_assert_int_eq(written.events, 1);
    struct ids_pb pb = all();
    struct ids_pb_field field, stat;
    ck_assert(next(&pb, 1, &field));
    pb = ids_pb_inside(&field);
    ck_assert(next(&pb, 3, &field));
    pb = ids_pb_inside(&field);
    ck_assert(next(&pb, 4, &field));
    pb = ids_pb_inside(&field);
    int stats = 0;
    while (next(&pb, 4, &stat)) stats++;
    ck_assert_int_eq(stats, 3); /* of 4 KiB each, in 16 KiB */
    free(bytes);
}
END_TEST

START_TEST(programs) {
    struct ids_xspace_out *out = begin("", 0);
    ids_xspace_plane_begin(out, 1, "/host:metadata");
    ids_xspace_program(out, 300, "jit_f", "module", 6);
    end(out);
    struct ids_pb pb = all();
    struct ids_pb_field field;
    ck_assert(next(&pb, 1, &field));
    pb = ids_pb_inside(&field);
    ck_assert(next(&pb, 4, &field));
    /* key 300; value: id 300, name, stats { metadata_id 1, bytes: an HloProto whose field 1 is the module } */
    static const char entry[] = "\x08\xac\x02\x12\x1d\x08\xac\x02\x12\x0a"
                                "jit_f(300)"
                                "\x2a\x0c\x08\x01\x32\x08\x0a\x06"
                                "module";
    ck_assert_uint_eq(field.value, sizeof entry - 1);
    ck_assert_mem_eq(field.bytes, entry, sizeof entry - 1);
    free(bytes);
}
END_TEST

START_TEST(errors) {
    char why[128] = "";
    ck_assert(!ids_xspace_open("/nonexistent/file", 0, why, sizeof why));
    ck_assert(strstr(why, "/nonexistent/file") && strstr(why, "No such file"));
    struct ids_xspace_out *out = ids_xspace_open("/dev/full", 0, why, sizeof why);
    ck_assert(out != NULL);
    ids_xspace_plane_begin(out, 1, "plane");
    ids_xspace_line_begin(out, 1, "line", 0);
    for (int i = 0; i < 100000; i++) {
        ids_xspace_event_begin(out, ids_xspace_name(out, "name"), i, i);
        ids_xspace_event_end(out);
    }
    ck_assert_int_eq(ids_xspace_close(out, NULL, why, sizeof why), -1);
    ck_assert(strstr(why, "No space left"));
    /* without a writer, out of place: nothing happens */
    ids_xspace_plane_begin(NULL, 1, "plane");
    ids_xspace_int(NULL, "key", 1);
    ids_xspace_event_end(NULL);
    out = begin("", 0);
    ids_xspace_line_begin(out, 1, "no plane", 0);
    ids_xspace_event_begin(out, 1, 0, 1);
    ids_xspace_int(out, "key", 1);
    ids_xspace_program(out, 1, "p", "m", 1);
    end(out);
    ck_assert_uint_eq(size, 0);
    free(bytes);
}
END_TEST

IDS_RUN_SUITE("xspace_out", by_hand, after_what_is_there, many_events, limits, programs, errors)
