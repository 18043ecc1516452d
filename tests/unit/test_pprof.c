/* Device memory profiles (formats/pprof.c), out of messages that are built here by hand: profile.proto of pprof. */
#include "lib/io/source.h"
#include "lib/model/builder.h"
#include "lib/model/format.h"
#include "lib/model/held.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

extern const struct ids_format ids_pprof_format, ids_xplane_format;

static struct pb profile;
static struct ids_error err;
static struct ids_trace *trace;
static uint64_t texts;

static uint64_t text(const char *text) {
    pb_text(&profile, 6, text);
    return texts++;
}

/* The types of values: a count, and bytes. */
static void begin(const char *unit) {
    profile = (struct pb){0};
    texts = 0;
    const int units[] = {2, 4};
    for (int i = 0; i < 2; i++) {
        struct pb type = {0};
        pb_int(&type, 1, 1 + 2 * i);
        pb_int(&type, 2, units[i]);
        pb_message(&profile, 1, type);
    }
    text("");
    text("allocations");
    text("count");
    text("space");
    text(unit);
}

static void label(struct pb *sample, uint64_t key, uint64_t value) {
    struct pb out = {0};
    pb_int(&out, 1, (int64_t)key);
    pb_int(&out, 2, (int64_t)value);
    pb_message(sample, 3, out);
}

static struct pb sample(int count, int bytes, int first, int second) {
    struct pb out = {0}, packed = {0};
    pb_varint(&packed, (uint64_t)first);
    if (second) pb_varint(&packed, (uint64_t)second);
    pb_message(&out, 1, packed);
    packed = (struct pb){0};
    pb_varint(&packed, (uint64_t)count);
    pb_varint(&packed, (uint64_t)bytes);
    pb_message(&out, 2, packed);
    return out;
}

static void location(int id, int function, int line) {
    struct pb out = {0}, of = {0};
    pb_int(&out, 1, id);
    pb_int(&of, 1, function);
    pb_int(&of, 2, line);
    pb_message(&out, 4, of);
    pb_message(&profile, 4, out);
}

static void function(int id, uint64_t name, uint64_t file) {
    struct pb out = {0};
    pb_int(&out, 1, id);
    pb_int(&out, 2, (int64_t)name);
    pb_int(&out, 4, (int64_t)file);
    pb_message(&profile, 5, out);
}

static int read_bytes(size_t length) {
    struct ids_source *source;
    struct ids_builder *builder;
    err = (struct ids_error)IDS_ERROR_INIT;
    trace = NULL;
    ck_assert_int_eq(ids_source_memory(profile.at, length, &source, &err), 0);
    ck_assert_int_eq(ids_builder_new(&builder, &err), 0);
    int code = ids_pprof_format.read(source, ids_builder_sink(builder), &err);
    if (!code) code = ids_builder_finish(builder, &trace, &err);
    if (code) ids_builder_free(builder);
    ids_source_close(source);
    return code;
}

static void end(void) {
    ids_trace_free(trace);
    trace = NULL;
    pb_free(&profile);
}

static int bid(const struct ids_format *format, size_t length) {
    int more = 0;
    return format->bid(profile.at, length, &more);
}

/* Two arrays of 4,096 bytes together on gpu:0, made by step (train.py:12), called by main (train.py:40); texts last. */
static void make(const char *unit) {
    begin(unit);
    struct pb one = sample(2, 4096, 1, 2);
    label(&one, 5, 6);
    label(&one, 7, 8);
    pb_message(&profile, 2, one);
    location(1, 1, 12);
    location(2, 2, 40);
    function(1, 9, 11);
    function(2, 10, 11);
    static const char *const names[] = {"device", "gpu:0", "kind", "buffer", "step", "main", "/home/me/train.py"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) text(names[i]);
}

START_TEST(what_lives_and_where_it_was_made) {
    make("bytes");
    ck_assert_int_gt(bid(&ids_pprof_format, profile.length), bid(&ids_xplane_format, profile.length));
    ck_assert_int_eq(read_bytes(profile.length), 0);
    ck_assert_uint_eq(trace->held_count, 1);
    const struct ids_held *held = trace->held;
    ck_assert_int_eq(held->info.bytes, 4096);
    ck_assert_int_eq(held->info.count, 2);
    ck_assert_str_eq(ids_trace_text(trace, held->info.device), "gpu:0");
    ck_assert_str_eq(ids_trace_text(trace, held->info.kind), "buffer");
    ck_assert_uint_eq(held->info.frame_count, 2);
    const struct ids_held_frame *frames = trace->held_frames + held->first_frame;
    ck_assert_str_eq(ids_trace_text(trace, frames[0].function), "step");
    ck_assert_str_eq(ids_trace_text(trace, frames[0].file), "/home/me/train.py");
    ck_assert_int_eq(frames[0].line, 12);
    ck_assert_str_eq(ids_trace_text(trace, frames[1].function), "main");
    ck_assert_int_eq(frames[1].line, 40);
    end();
}
END_TEST

START_TEST(other_units_are_refused) {
    make("nanoseconds");
    ck_assert_int_eq(read_bytes(profile.length), IDS_UNSUPPORTED);
    ck_assert_str_eq(err.text, "a pprof profile that counts nanoseconds, not bytes");
    end();
}
END_TEST

/* A stack that leads nowhere, in circles or too deep; a sample without bytes; numbers below 0. */
START_TEST(odd_samples) {
    begin("bytes");
    struct pb one = sample(1, 100, 77, 1), deep = {0}, packed = {0}, none = {0};
    pb_message(&profile, 2, one);
    for (int i = 0; i < 200; i++) pb_varint(&packed, 1);
    pb_message(&deep, 1, packed);
    packed = (struct pb){0};
    pb_varint(&packed, 3);
    pb_varint(&packed, 50);
    pb_message(&deep, 2, packed);
    pb_message(&profile, 2, deep);
    pb_int(&none, 2, 5); /* a count alone */
    pb_message(&profile, 2, none);
    none = (struct pb){0};
    packed = (struct pb){0};
    pb_varint(&packed, 1);
    pb_varint(&packed, UINT64_MAX);
    pb_message(&none, 2, packed);
    pb_message(&profile, 2, none);
    location(1, 1, 12);
    function(1, 99, 98); /* texts that are not there */
    ck_assert_int_eq(read_bytes(profile.length), 0);
    ck_assert_uint_eq(trace->held_count, 2);
    ck_assert_uint_eq(trace->held[0].info.frame_count, 1);
    ck_assert_uint_eq(trace->held[1].info.frame_count, IDS_HELD_STACK);
    ck_assert_int_eq(trace->held[1].info.bytes, 50);
    ck_assert_uint_eq(trace->diag_count, 1);
    ck_assert_str_eq(trace->diags[0].id, "pprof.sample");
    ck_assert_uint_eq(trace->diags[0].count, 2);
    end();
}
END_TEST

/* Cut anywhere it is read as far as it goes, or refused with a reason; it is never taken for an XSpace. */
START_TEST(cut_anywhere) {
    make("bytes");
    size_t whole = profile.length;
    for (size_t length = 1; length < whole; length++) {
        int code = read_bytes(length);
        ck_assert_msg(!code || err.text[0], "%zu", length);
        if (!code) ids_trace_free(trace);
        trace = NULL;
    }
    end();
}
END_TEST

START_TEST(what_it_does_not_take) {
    profile = (struct pb){0};
    struct pb plane = {0};
    pb_int(&plane, 1, 1);
    pb_text(&plane, 2, "/device:GPU:0");
    pb_message(&profile, 1, plane);
    ck_assert_int_eq(bid(&ids_pprof_format, profile.length), 0);
    end();
    profile = (struct pb){0};
    pb_text(&profile, 1, "");
    ck_assert_int_eq(bid(&ids_pprof_format, profile.length), 0);
    ck_assert_int_ne(read_bytes(profile.length), 0);
    end();
}
END_TEST

IDS_RUN_SUITE("pprof", what_lives_and_where_it_was_made, other_units_are_refused, odd_samples, cut_anywhere,
              what_it_does_not_take)
