/* formats/xplane.c over files encoded here by hand, into a sink that writes down what it is told. Field numbers: tsl's
 * profiler/protobuf/xplane.proto. */
#include "lib/io/source.h"
#include "lib/model/format.h"
#include "lib/model/keys.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

extern const struct ids_format ids_xplane_format;

/* ---- a sink that writes down ---- */

struct recording {
    struct ids_sink sink; /* first */
    struct ids_strings strings;
    char *text;
    size_t length, room;
    uint32_t planes, tracks, names, slices;
    uint32_t name_texts[64];
    int calls, fail_at; /* the call that fails; 0 none */
};

static void say(struct recording *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct recording *log, const char *format, ...) {
    va_list args;
    if (log->room - log->length < 4096) log->text = realloc(log->text, log->room += 65536);
    va_start(args, format);
    log->length += (size_t)vsnprintf(log->text + log->length, 4096, format, args);
    va_end(args);
}

static int call(struct recording *log, struct ids_error *err) {
    return ++log->calls == log->fail_at ? ids_fail(err, IDS_LIMIT, "the sink is full") : 0;
}

static struct recording *of(struct ids_sink *sink) {
    return (struct recording *)sink;
}

/* " key=i:5" and the like; of long texts the length only. */
static void say_args(struct recording *log, const struct ids_arg *args, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct ids_arg *arg = &args[i];
        say(log, " %s=", ids_strings_z(&log->strings, arg->key));
        switch (arg->type) {
        case IDS_VALUE_INT:
            say(log, "i:%" PRId64, arg->i);
            break;
        case IDS_VALUE_UINT:
            say(log, "u:%" PRIu64, arg->u);
            break;
        case IDS_VALUE_REAL:
            say(log, "d:%g", arg->d);
            break;
        case IDS_VALUE_TEXT:
            say(log, "t:%s", ids_strings_z(&log->strings, arg->text));
            break;
        case IDS_VALUE_CHARS:
        case IDS_VALUE_BYTES:
            say(log, "%c:", arg->type == IDS_VALUE_CHARS ? 's' : 'b');
            if (arg->length > 40)
                say(log, "%u bytes", arg->length);
            else
                say(log, "%.*s", (int)arg->length, arg->chars);
            break;
        case IDS_VALUE_REF:
            say(log, "r:%" PRIu64, arg->u);
            break;
        default:
            say(log, "none");
            break;
        }
    }
    say(log, "\n");
}

static int log_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    say(of(sink), "host '%s' base %" PRId64 " start %" PRId64 "\n", ids_strings_z(sink->strings, host->name),
        host->base_ns, host->start_unix_ns);
    return call(of(sink), err);
}

static int log_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                     struct ids_error *err) {
    *ret_plane = of(sink)->planes++;
    say(of(sink), "plane %u '%s'", *ret_plane, ids_strings_z(sink->strings, plane->name));
    say_args(of(sink), plane->args, plane->arg_count);
    return call(of(sink), err);
}

static int log_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                    struct ids_error *err) {
    *ret_name = of(sink)->names++;
    of(sink)->name_texts[*ret_name % 64] = name->text ? name->text : name->display;
    say(of(sink), "name %u '%s' '%s'", name->plane, ids_strings_z(sink->strings, name->text),
        ids_strings_z(sink->strings, name->display));
    say_args(of(sink), name->args, name->arg_count);
    return call(of(sink), err);
}

static int log_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                     struct ids_error *err) {
    *ret_track = of(sink)->tracks++;
    say(of(sink), "line %u %" PRId64 " '%s'\n", track->plane, track->id, ids_strings_z(sink->strings, track->name));
    return call(of(sink), err);
}

static int log_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err) {
    of(sink)->slices++;
    say(of(sink), " %u: %" PRId64 "+%" PRId64 " %s", track, slice->start_ps, slice->duration_ps,
        ids_strings_z(sink->strings, of(sink)->name_texts[slice->name % 64]));
    say_args(of(sink), slice->args, slice->arg_count);
    return call(of(sink), err);
}

static int log_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err) {
    say(of(sink), "end %u\n", track);
    return call(of(sink), err);
}

static int log_hlo(struct ids_sink *sink, const struct ids_instruction_info *hlo, struct ids_error *err) {
    say(of(sink), "hlo %" PRIu64 " %s %s %s\n", hlo->program_id, ids_strings_z(sink->strings, hlo->module),
        ids_strings_z(sink->strings, hlo->name), ids_strings_z(sink->strings, hlo->opcode));
    return call(of(sink), err);
}

static int log_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    say(of(sink), "diag %d %s offset %" PRId64 " count %" PRIu64 "\n", diag->severity, diag->id, diag->offset,
        diag->count);
    return call(of(sink), err);
}

static int log_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    say(of(sink), "program %" PRIu64 " %s %zu\n", program->program_id, ids_strings_z(sink->strings, program->name),
        program->length);
    return call(of(sink), err);
}

static struct recording log_of;
static int wants_programs, wants_no_hlo;
static struct ids_error err;

static void clear_log(void) {
    ids_strings_done(&log_of.strings);
    free(log_of.text);
    log_of = (struct recording){0};
}

/* Reads the source into log_of; what ids_format.read said. */
static int read_source(struct ids_source *source, int fail_at) {
    const struct ids_sink_ops ops = {.host = log_host,
                                     .plane = log_plane,
                                     .name = log_name,
                                     .track = log_track,
                                     .slice = log_slice,
                                     .track_end = log_track_end,
                                     .hlo = wants_no_hlo ? NULL : log_hlo,
                                     .diag = log_diag,
                                     .program = wants_programs ? log_program : NULL};
    clear_log();
    log_of.fail_at = fail_at;
    ck_assert_int_eq(ids_keys_intern(&log_of.strings), 0);
    log_of.sink = (struct ids_sink){.ops = &ops, .strings = &log_of.strings, .complete = 1};
    say(&log_of, "%s", "");
    err = (struct ids_error)IDS_ERROR_INIT;
    int code = ids_xplane_format.read(source, &log_of.sink, &err);
    if (code) ck_assert_int_eq(code, err.code);
    return code;
}

static int read_bytes(const void *bytes, size_t length, int fail_at) {
    struct ids_source *source;
    ck_assert_int_eq(ids_source_memory(bytes, length, &source, &err), 0);
    int code = read_source(source, fail_at);
    ids_source_close(source);
    return code;
}

/* Reads and frees the space, and compares. */
static void expect(struct pb space, const char *wanted) {
    int code = read_bytes(space.at, space.length, 0);
    ck_assert_msg(!code, "%s", err.text);
    ck_assert_int_eq(log_of.sink.complete, 1);
    ck_assert_str_eq(log_of.text, wanted);
    pb_free(&space);
    clear_log();
}

static void expect_error(struct pb space, int code, const char *message) {
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), code);
    ck_assert_str_eq(err.text, message);
    pb_free(&space);
    clear_log();
}

/* ---- parts of a file ---- */

static struct pb event(int64_t metadata_id, int64_t offset_ps, int64_t duration_ps) {
    struct pb out = {0};
    pb_int(&out, 1, metadata_id);
    pb_int(&out, 2, offset_ps);
    pb_int(&out, 3, duration_ps);
    return out;
}

static struct pb line(int64_t id, const char *name, int64_t timestamp_ns) {
    struct pb out = {0};
    pb_int(&out, 1, id);
    pb_text(&out, 2, name);
    pb_int(&out, 3, timestamp_ns);
    return out;
}

static struct pb plane(int64_t id, const char *name) {
    struct pb out = {0};
    pb_int(&out, 1, id);
    pb_text(&out, 2, name);
    return out;
}

/* An entry of event_metadata (field 4) or stat_metadata (5) of a plane. */
static void metadata(struct pb *to, unsigned field, int64_t id, const char *name) {
    struct pb value = {0}, entry = {0};
    pb_int(&value, 1, id);
    pb_text(&value, 2, name);
    pb_int(&entry, 1, id);
    pb_message(&entry, 2, value);
    pb_message(to, field, entry);
}

static struct pb stat_int(int64_t key, int64_t value) {
    struct pb out = {0};
    pb_int(&out, 1, key);
    pb_int(&out, 4, value);
    return out;
}

static struct pb stat_text(int64_t key, unsigned field, const char *value) {
    struct pb out = {0};
    pb_int(&out, 1, key);
    pb_text(&out, field, value);
    return out;
}

static struct pb space_of(struct pb one_plane) {
    struct pb out = {0};
    pb_message(&out, 1, one_plane);
    return out;
}

/* ---- what a file says ---- */

START_TEST(a_whole_file) {
    struct pb space = {0}, host = plane(7, "/host:CPU"), python = line(11, "python", 3), call_event = event(1, 5, 20),
              name = {0}, entry = {0};
    pb_message(&call_event, 4, stat_int(1, -9));
    pb_message(&python, 4, call_event);
    pb_message(&python, 4, event(2, 40, 0));
    pb_message(&host, 3, python);
    pb_message(&host, 6, stat_text(2, 5, "TPU v6"));
    metadata(&host, 4, 1, "call");
    pb_int(&name, 1, 2); /* with a display name and a stat of its own */
    pb_text(&name, 2, "%moment = f32[] moment()");
    pb_text(&name, 4, "moment");
    pb_message(&name, 5, stat_int(1, 3));
    pb_int(&entry, 1, 2);
    pb_message(&entry, 2, name);
    pb_message(&host, 4, entry);
    metadata(&host, 5, 1, "size");
    metadata(&host, 5, 2, "device_type_string");
    pb_text(&space, 2, "it hurts"); /* 2 + 8 bytes */
    pb_text(&space, 3, "it itches");
    pb_message(&space, 1, host);
    pb_text(&space, 4, "vm-1");
    expect(space, "diag 1 xplane.profiler_error offset 2 count 1\n"
                  "diag 1 xplane.profiler_warning offset 12 count 1\n"
                  "host 'vm-1' base 0 start 0\n"
                  "plane 0 '/host:CPU' device_type_string=s:TPU v6\n"
                  "name 0 'call' ''\n"
                  "name 0 '%moment = f32[] moment()' 'moment' size=i:3\n"
                  "line 0 11 'python'\n"
                  " 0: 3005+20 call size=i:-9\n" /* 3 ns + 5 ps */
                  " 0: 3040+0 %moment = f32[] moment()\n"
                  "end 0\n");
}
END_TEST

START_TEST(ids_may_be_negative_and_repeat) {
    struct pb space = {0};
    for (int i = 0; i < 2; i++) { /* two planes of one id and name */
        struct pb host = plane(-1, "/host:CPU");
        for (int k = 0; k < 2; k++) { /* two lines of one id */
            struct pb thread = line(-6917529027641081856, k ? "b" : "a", 0);
            pb_message(&thread, 4, event(-3, k, 1));
            pb_message(&thread, 4, event(INT64_MIN, 10 + k, 1));
            pb_message(&host, 3, thread);
        }
        metadata(&host, 4, -3, i ? "second" : "first");
        metadata(&host, 4, INT64_MIN, "least");
        pb_message(&space, 1, host);
    }
    expect(space, "host '' base 0 start 0\n"
                  "plane 0 '/host:CPU'\nname 0 'first' ''\nname 0 'least' ''\n"
                  "line 0 -6917529027641081856 'a'\n 0: 0+1 first\n 0: 10+1 least\nend 0\n"
                  "line 0 -6917529027641081856 'b'\n 1: 1+1 first\n 1: 11+1 least\nend 1\n"
                  "plane 1 '/host:CPU'\nname 1 'second' ''\nname 1 'least' ''\n"
                  "line 1 -6917529027641081856 'a'\n 2: 0+1 second\n 2: 10+1 least\nend 2\n"
                  "line 1 -6917529027641081856 'b'\n 3: 1+1 second\n 3: 11+1 least\nend 3\n");
}
END_TEST

START_TEST(values_of_stats) {
    struct pb host = plane(1, "/host:CPU"), thread = line(1, "t", 0), one = event(1, 0, 1), stat = {0};
    double ratio = 0.25;
    metadata(&host, 5, 1, "key");
    metadata(&host, 5, 2, "text by reference");
    metadata(&host, 5, -7, "negative");
    pb_int(&stat, 1, 1);
    pb_uint(&stat, 3, 18446744073709551615u); /* above INT64_MAX */
    pb_message(&one, 4, stat);
    stat = (struct pb){0};
    pb_int(&stat, 1, -7);
    pb_uint(&stat, 3, 9223372036854775808u);
    pb_message(&one, 4, stat);
    stat = (struct pb){0};
    pb_int(&stat, 1, 1);
    pb_fixed64(&stat, 2, &ratio);
    pb_message(&one, 4, stat);
    pb_message(&one, 4, stat_int(1, INT64_MIN));
    pb_message(&one, 4, stat_text(1, 5, "text"));
    pb_message(&one, 4, stat_text(1, 6, "bytes"));
    stat = (struct pb){0};
    pb_int(&stat, 1, 1);
    pb_int(&stat, 7, 2);
    pb_message(&one, 4, stat);
    stat = (struct pb){0};
    pb_int(&stat, 1, 1);
    pb_int(&stat, 7, 3); /* a text that the file does not hold */
    pb_message(&one, 4, stat);
    stat = (struct pb){0};
    pb_int(&stat, 1, 1);
    pb_message(&one, 4, stat);            /* no value */
    pb_message(&one, 4, stat_int(99, 5)); /* no name */
    pb_int(&one, 5, 12);
    pb_message(&thread, 4, one);
    pb_message(&host, 3, thread);
    metadata(&host, 4, 1, "e");
    expect(space_of(host),
           "host '' base 0 start 0\nplane 0 '/host:CPU'\nname 0 'e' ''\nline 0 1 't'\n"
           " 0: 0+1 e key=u:18446744073709551615 negative=u:9223372036854775808 key=d:0.25 key=i:-9223372036854775808"
           " key=s:text key=b:bytes key=t:text by reference key=r:3 key=none stat#99=i:5 num_occurrences=i:12\n"
           "end 0\n");
}
END_TEST

START_TEST(the_last_one_wins) {
    struct pb gpu = plane(1, "/device:GPU:0"), stream = line(4, "s", 2), kernel = event(9, 9, 9), stat = stat_int(9, 9);
    pb_uint(&stat, 3, 9);
    pb_int(&stat, 1, 8);
    pb_int(&stat, 4, 6); /* of several values */
    pb_message(&kernel, 4, stat);
    pb_int(&kernel, 1, 1);
    pb_int(&kernel, 2, 1);
    pb_int(&kernel, 3, 3);
    pb_message(&stream, 4, kernel);
    pb_message(&gpu, 3, stream);
    metadata(&gpu, 4, 1, "first");
    metadata(&gpu, 4, 1, "last"); /* of several names for one id */
    metadata(&gpu, 5, 8, "first");
    metadata(&gpu, 5, 8, "last");
    expect(space_of(gpu), "host '' base 0 start 0\nplane 0 '/device:GPU:0'\nname 0 'first' ''\nname 0 'last' ''\n"
                          "line 0 4 's'\n 0: 2001+3 last last=i:6\nend 0\n");
}
END_TEST

START_TEST(names_hold_for_their_plane_only) {
    struct pb space = {0}, first = plane(1, "/device:GPU:0"), second = plane(2, "/device:GPU:1"),
              stream = line(4, "s", 0), kernel = event(1, 0, 1);
    metadata(&first, 4, 1, "k");
    metadata(&first, 5, 8, "size");
    pb_message(&kernel, 4, stat_int(8, 6));
    pb_message(&stream, 4, kernel);
    pb_message(&second, 3, stream);
    pb_message(&space, 1, first);
    pb_message(&space, 1, second);
    expect(space,
           "host '' base 0 start 0\nplane 0 '/device:GPU:0'\nname 0 'k' ''\nplane 1 '/device:GPU:1'\nline 1 4 's'\n"
           "name 1 '' 'event 1 (name lost)'\n 0: 0+1 event 1 (name lost) stat#8=i:6\nend 0\n");
}
END_TEST

START_TEST(names_that_are_missing) {
    struct pb host = plane(1, "/host:CPU"), thread = line(1, "t", 0);
    pb_message(&thread, 4, event(5, 0, 1));
    pb_message(&thread, 4, event(-5, 1, 1));
    pb_message(&thread, 4, event(5, 2, 1)); /* one name for all of its events */
    pb_message(&host, 3, thread);
    expect(space_of(host), "host '' base 0 start 0\nplane 0 '/host:CPU'\nline 0 1 't'\n"
                           "name 0 '' 'event 5 (name lost)'\n 0: 0+1 event 5 (name lost)\n"
                           "name 0 '' 'event -5 (name lost)'\n 0: 1+1 event -5 (name lost)\n"
                           " 0: 2+1 event 5 (name lost)\nend 0\n");
}
END_TEST

static const char tables_log[] = "host '' base 0 start 0\nplane 0 '/device:GPU:0' size=i:1\nname 0 'k' ''\n"
                                 "line 0 4 's'\n 0: 2001+3 k size=i:6\nend 0\n";

START_TEST(tables_may_stand_before_or_behind) {
    for (int before = 0; before < 2; before++) {
        struct pb gpu = {0}, stream = line(4, "s", 2), kernel = event(1, 1, 3);
        pb_message(&kernel, 4, stat_int(8, 6));
        pb_message(&stream, 4, kernel);
        if (before) {
            pb_message(&gpu, 6, stat_int(8, 1));
            metadata(&gpu, 4, 1, "k");
            metadata(&gpu, 5, 8, "size");
        }
        pb_message(&gpu, 3, stream);
        if (!before) {
            metadata(&gpu, 5, 8, "size");
            metadata(&gpu, 4, 1, "k");
            pb_message(&gpu, 6, stat_int(8, 1));
        }
        pb_text(&gpu, 2, "/device:GPU:0"); /* a name that comes last */
        expect(space_of(gpu), tables_log);
    }
}
END_TEST

START_TEST(fields_may_come_in_any_order) {
    struct pb gpu = {0}, stream = {0}, kernel = {0}, stat = {0}, entry = {0}, value = {0};
    pb_int(&stat, 4, 6);
    pb_int(&stat, 1, 8);
    pb_message(&kernel, 4, stat);
    pb_int(&kernel, 3, 3);
    pb_int(&kernel, 2, 1);
    pb_int(&kernel, 1, 1);
    pb_message(&stream, 4, kernel); /* events before the line's own fields */
    pb_int(&stream, 3, 2);
    pb_text(&stream, 2, "s");
    pb_int(&stream, 1, 4);
    pb_message(&gpu, 3, stream);
    pb_text(&value, 2, "k");
    pb_message(&entry, 2, value); /* the value before its key */
    pb_int(&entry, 1, 1);
    pb_message(&gpu, 4, entry);
    pb_message(&gpu, 6, stat_int(8, 1));
    metadata(&gpu, 5, 8, "size");
    pb_text(&gpu, 2, "/device:GPU:0");
    expect(space_of(gpu), tables_log);
}
END_TEST

/* A field of each wire type, with a number that no message of the schema has. */
static void unknown_fields(struct pb *to) {
    pb_uint(to, 200, 1u << 31);
    pb_fixed64(to, 201, "abcdefgh");
    pb_bytes(to, 202, "\x08\xff\xff", 3); /* looks malformed, but nobody looks */
    pb_fixed32(to, 14, "abcd");           /* its tag is one byte, as the known ones' are */
}

START_TEST(unknown_fields_are_passed_over) {
    struct pb space = {0}, gpu = {0}, stream = {0}, kernel = {0}, stat = {0}, entry = {0}, value = {0};
    unknown_fields(&stat);
    pb_int(&stat, 1, 8);
    pb_int(&stat, 4, 6);
    unknown_fields(&stat);
    pb_int(&kernel, 1, 1);
    unknown_fields(&kernel);
    pb_int(&kernel, 2, 1);
    pb_int(&kernel, 3, 3);
    pb_message(&kernel, 4, stat);
    unknown_fields(&kernel);
    unknown_fields(&stream);
    pb_int(&stream, 1, 4);
    pb_text(&stream, 2, "s");
    pb_int(&stream, 3, 2);
    pb_text(&stream, 11, "display name");
    pb_message(&stream, 4, kernel);
    unknown_fields(&stream);
    unknown_fields(&gpu);
    pb_int(&gpu, 1, 77);
    pb_text(&gpu, 2, "/device:GPU:0");
    pb_message(&gpu, 3, stream);
    unknown_fields(&value);
    pb_text(&value, 2, "k");
    pb_text(&value, 3, "metadata");
    unknown_fields(&entry);
    pb_int(&entry, 1, 1);
    pb_message(&entry, 2, value);
    pb_message(&gpu, 4, entry);
    metadata(&gpu, 5, 8, "size");
    pb_message(&gpu, 6, stat_int(8, 1));
    unknown_fields(&gpu);
    pb_text(&space, 9, "a message of a later schema");
    pb_message(&space, 1, gpu);
    expect(space, tables_log);
}
END_TEST

START_TEST(a_known_field_of_another_type_is_unknown) {
    struct pb gpu = {0}, stream = line(4, "s", 2), kernel = event(1, 1, 3), stat = stat_int(8, 6);
    pb_text(&stat, 4, "no number");
    pb_int(&stat, 5, 1);
    pb_fixed64(&stat, 3, "abcdefgh");
    pb_message(&kernel, 4, stat);
    pb_fixed32(&kernel, 2, "abcd");
    pb_text(&kernel, 1, "no number");
    pb_int(&kernel, 4, 1);
    pb_message(&stream, 4, kernel);
    pb_int(&stream, 4, 1);
    pb_text(&stream, 1, "no number");
    pb_int(&stream, 2, 1);
    pb_text(&gpu, 2, "/device:GPU:0");
    pb_int(&gpu, 2, 1);
    pb_int(&gpu, 3, 1);
    pb_message(&gpu, 3, stream);
    metadata(&gpu, 5, 8, "size");
    metadata(&gpu, 4, 1, "k");
    pb_message(&gpu, 6, stat_int(8, 1));
    expect(space_of(gpu), tables_log);
}
END_TEST

/* ---- clocks ---- */

START_TEST(times_of_lines_count_from_the_session) {
    struct pb space = {0}, gpu = plane(1, "/device:TPU:0"), task = plane(2, "Task Environment"),
              host = plane(3, "/host:CPU");
    struct pb zero = line(1, "zero", 0), some = line(2, "some", 212990), thread = line(3, "thread", 1);
    pb_message(&zero, 4, event(1, 7, 1));
    pb_message(&some, 4, event(1, 7, 1));
    pb_message(&thread, 4, event(1, -3000, 1)); /* an event before its line */
    pb_message(&gpu, 3, zero);
    pb_message(&gpu, 3, some);
    pb_message(&host, 3, thread);
    metadata(&task, 5, 1, "profile_start_time");
    pb_message(&task, 6, stat_int(1, 1700000000000000123));
    pb_message(&space, 1, gpu);
    pb_message(&space, 1, task);
    pb_message(&space, 1, host);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_ptr_nonnull(strstr(log_of.text, "host '' base 0 start 1700000000000000123\n"));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 7+1 "));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 1: 212990007+1 "));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 2: -2000+1 "));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(times_of_lines_may_count_from_1970) {
    struct pb space = {0}, gpu = plane(1, "/device:GPU:0"), task = plane(2, "Task Environment");
    struct pb first = line(1, "first", 1700000000000000500), earlier = line(2, "earlier", 1700000000000000499);
    pb_message(&first, 4, event(1, 7, 1));
    pb_message(&earlier, 4, event(1, 7, 1));
    pb_message(&gpu, 3, first);
    pb_message(&gpu, 3, earlier);
    metadata(&task, 5, 1, "profile_start_time");
    pb_message(&task, 6, stat_int(1, 5));
    pb_message(&space, 1, gpu);
    pb_message(&space, 1, task);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    /* The lines' own clock is surer than the session's start. */
    ck_assert_ptr_nonnull(strstr(log_of.text, "host '' base 1700000000000000500 start 1700000000000000500\n"));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 7+1 "));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 1: -993+1 "));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(events_out_of_time_are_left_out) {
    struct pb gpu = plane(1, "/device:GPU:0"), first = line(1, "s", 1700000000000000500),
              second = line(2, "s", INT64_MIN), third = line(3, "s", 1700000000000000501);
    pb_message(&first, 4, event(1, 7, 1));
    pb_message(&second, 4, event(1, 7, 1));        /* before all time */
    pb_message(&third, 4, event(1, INT64_MAX, 1)); /* 1 ns more than there is */
    pb_message(&third, 4, event(1, 9, 1));
    pb_message(&gpu, 3, first);
    pb_message(&gpu, 3, second);
    pb_message(&gpu, 3, third);
    metadata(&gpu, 4, 1, "k");
    expect(space_of(gpu),
           "host '' base 1700000000000000500 start 1700000000000000500\nplane 0 '/device:GPU:0'\nname 0 'k' ''\n"
           "line 0 1 's'\n 0: 7+1 k\nend 0\nline 0 2 's'\nend 1\nline 0 3 's'\n 2: 1009+1 k\nend 2\n"
           "diag 2 xplane.time_range offset -1 count 2\n");
}
END_TEST

/* ---- large records ---- */

/* A stat with a text of that many bytes. */
static struct pb long_stat(size_t length) {
    struct pb out = {0};
    char *text = malloc(length);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', length);
    pb_int(&out, 1, 8);
    pb_bytes(&out, 5, text, length);
    free(text);
    return out;
}

START_TEST(records_longer_than_a_window) {
    enum { LONG = IDS_SOURCE_WINDOW + 4321 };
    struct pb gpu = plane(1, "/device:GPU:0"), stream = line(4, "s", 0), name = {0}, entry = {0};
    for (int i = 0; i < 40; i++) { /* long ones between short ones, around the window's edge too */
        struct pb one = event(1, i, 1);
        size_t length = i % 4 == 1 ? LONG : i % 4 == 3 ? (size_t)IDS_SOURCE_WINDOW - 20 + (size_t)i : 100;
        pb_message(&one, 4, long_stat(length));
        pb_message(&stream, 4, one);
    }
    pb_message(&gpu, 3, stream);
    pb_text(&name, 2, "k");
    pb_message(&name, 5, long_stat(LONG + 1));
    pb_int(&entry, 1, 1);
    pb_message(&entry, 2, name);
    pb_message(&gpu, 4, entry);
    pb_message(&gpu, 6, long_stat(LONG + 2));
    metadata(&gpu, 5, 8, "size");
    struct pb space = space_of(gpu);

    char path[] = "/tmp/idsprof-xplane-XXXXXX", wanted[64];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, space.at, space.length), (ssize_t)space.length);
    struct ids_source *source;
    ck_assert_int_eq(ids_source_open(path, &source, &err), 0);
    int code = read_source(source, 0);
    ck_assert_msg(!code, "%s", err.text);
    ids_source_close(source);
    unlink(path);
    close(fd);
    ck_assert_uint_eq(log_of.slices, 40);
    snprintf(wanted, sizeof wanted, "plane 0 '/device:GPU:0' size=s:%d bytes\n", LONG + 2);
    ck_assert_ptr_nonnull(strstr(log_of.text, wanted));
    snprintf(wanted, sizeof wanted, "name 0 'k' '' size=s:%d bytes\n", LONG + 1);
    ck_assert_ptr_nonnull(strstr(log_of.text, wanted));
    for (int i = 0; i < 40; i++) {
        int length = i % 4 == 1 ? LONG : i % 4 == 3 ? IDS_SOURCE_WINDOW - 20 + i : 100;
        snprintf(wanted, sizeof wanted, " 0: %d+1 k size=s:%d bytes\n", i, length);
        ck_assert_ptr_nonnull(strstr(log_of.text, wanted));
    }
    char *from_file = log_of.text; /* memory gives the same */
    log_of.text = NULL;
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_str_eq(log_of.text, from_file);
    free(from_file);
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(a_record_above_the_limit_is_left_out) {
    /* A sparse file, so that no disk is filled: a plane whose last name claims, and has, 513 MiB. */
    const uint64_t huge = UINT64_C(513) << 20;
    struct pb gpu = plane(1, "/device:GPU:0"), stream = line(4, "s", 0), head = {0};
    pb_message(&stream, 4, event(1, 0, 1));
    pb_message(&gpu, 3, stream);
    metadata(&gpu, 4, 1, "k");
    pb_varint(&gpu, 4 << 3 | 2);
    pb_varint(&gpu, huge);
    pb_varint(&head, 1 << 3 | 2);
    pb_varint(&head, gpu.length + huge);
    size_t offset = head.length + gpu.length;
    pb_raw(&head, gpu.at, gpu.length);
    pb_free(&gpu);
    char path[] = "/tmp/idsprof-xplane-XXXXXX", wanted[96];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, head.at, head.length), (ssize_t)head.length);
    ck_assert_int_eq(ftruncate(fd, (off_t)(offset + huge)), 0);
    struct ids_source *source;
    ck_assert_int_eq(ids_source_open(path, &source, &err), 0);
    int code = read_source(source, 0);
    ck_assert_msg(!code, "%s", err.text);
    ids_source_close(source);
    unlink(path);
    close(fd);
    snprintf(wanted, sizeof wanted, "diag 2 xplane.record_limit offset %zu count 1\n", offset);
    ck_assert_ptr_nonnull(strstr(log_of.text, wanted));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 0+1 k\n"));
    pb_free(&head);
    clear_log();
}
END_TEST

/* ---- HLO protos ---- */

START_TEST(hlo_protos_are_read) {
    /* HloProto{hlo_module{name, computations{name, instructions{name, opcode}}}} */
    struct pb instruction = {0}, computation = {0}, module = {0}, proto = {0};
    pb_text(&instruction, 1, "dot.1");
    pb_text(&instruction, 2, "dot");
    pb_text(&computation, 1, "main");
    pb_message(&computation, 2, instruction);
    pb_text(&module, 1, "jit_f");
    pb_message(&module, 3, computation);
    pb_message(&proto, 1, module);
    static const struct {
        const char *name;
        int64_t key;
        const char *wanted;
    } table[] = {
        {"jit_f(123)", 9, "hlo 123 jit_f dot.1 dot\n"}, /* the number in the name is what events call it */
        {"jit_f", 9, "hlo 9 jit_f dot.1 dot\n"},
        {"jit_f()", 9, "hlo 9 jit_f dot.1 dot\n"},
        {"jit_f(12x)", 9, "hlo 9 jit_f dot.1 dot\n"},
        {"123)", 9, "hlo 9 jit_f dot.1 dot\n"},
        {"jit_f(18446744073709551615)", 9, "hlo 18446744073709551615 jit_f dot.1 dot\n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pb programs = plane(1, "/host:metadata"), name = {0}, entry = {0}, stat = {0};
        pb_int(&stat, 1, 5);
        pb_bytes(&stat, 6, proto.at, proto.length);
        pb_text(&name, 2, table[i].name);
        pb_message(&name, 5, stat);
        pb_int(&entry, 1, table[i].key);
        pb_message(&entry, 2, name);
        pb_message(&programs, 4, entry);
        metadata(&programs, 5, 5, i % 2 ? "hlo_proto" : "Hlo Proto");
        struct pb space = space_of(programs);
        ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
        ck_assert_msg(strstr(log_of.text, table[i].wanted) != NULL, "'%s': %s", table[i].name, log_of.text);
        pb_free(&space);
    }
    pb_free(&proto);
    clear_log();
}
END_TEST

/* A sink that wants whole programs gets them under the same ids, and one that wants no instructions has them not
 * parsed: what is no HLO is then no matter. */
START_TEST(programs_are_handed_on) {
    struct pb meta = {0}, plane = {0}, space = {0}, stat = {0};
    pb_int(&stat, 1, 5);
    pb_bytes(&stat, 6, "\xff\xff", 2);
    pb_text(&meta, 2, "jit_f(123)");
    pb_message(&meta, 5, stat);
    struct pb entry = {0};
    pb_int(&entry, 1, 9);
    pb_message(&entry, 2, meta);
    pb_text(&plane, 2, "/p");
    pb_message(&plane, 4, entry);
    metadata(&plane, 5, 5, "hlo_proto");
    pb_message(&space, 1, plane);
    wants_programs = wants_no_hlo = 1;
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    wants_programs = wants_no_hlo = 0;
    ck_assert_ptr_nonnull(strstr(log_of.text, "program 123 jit_f(123) 2\n"));
    ck_assert_ptr_null(strstr(log_of.text, "diag"));
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_ptr_null(strstr(log_of.text, "program 123"));
    ck_assert_ptr_nonnull(strstr(log_of.text, "diag 1 xplane.hlo"));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(a_damaged_hlo_proto_is_only_noted) {
    struct pb programs = plane(1, "/host:metadata"), name = {0}, entry = {0};
    pb_text(&name, 2, "jit_f(1)");
    pb_message(&name, 5, stat_text(5, 6, "\x0a\x7fno"));
    pb_int(&entry, 1, 1);
    pb_message(&entry, 2, name);
    pb_message(&programs, 4, entry);
    metadata(&programs, 5, 5, "hlo_proto");
    struct pb thread = line(1, "t", 0);
    pb_message(&thread, 4, event(1, 0, 1));
    pb_message(&programs, 3, thread);
    struct pb space = space_of(programs);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_ptr_nonnull(strstr(log_of.text, "diag 1 xplane.hlo offset 22 count 1\n"));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 0+1 jit_f(1)\n"));
    pb_free(&space);
    clear_log();
}
END_TEST

/* ---- damage ---- */

/* Two planes of two lines of two events, with tables behind the lines. `ends` gets where each event ends, and `whole`
 * where each plane does. */
static struct pb sample(size_t ends[8], size_t whole[2]) {
    struct pb space = {0};
    for (int p = 0; p < 2; p++) {
        struct pb one = plane(p, "/host:CPU");
        size_t in_plane[4];
        for (int l = 0; l < 2; l++) {
            struct pb thread = line(l, "thread", 1000);
            size_t in_line[2];
            for (int e = 0; e < 2; e++) {
                struct pb item = event(1, 1000 * e, 300);
                pb_message(&item, 4, stat_text(1, 5, "value"));
                pb_message(&thread, 4, item);
                in_line[e] = thread.length;
            }
            size_t length = thread.length;
            pb_message(&one, 3, thread);
            for (int e = 0; e < 2; e++) in_plane[l * 2 + e] = one.length - length + in_line[e];
        }
        metadata(&one, 4, 1, "call");
        metadata(&one, 5, 1, "key");
        size_t length = one.length;
        pb_message(&space, 1, one);
        for (int e = 0; e < 4; e++) ends[p * 4 + e] = space.length - length + in_plane[e];
        whole[p] = space.length;
    }
    return space;
}

START_TEST(a_file_cut_at_any_byte_keeps_its_whole_events) {
    size_t ends[8], whole[2];
    struct pb space = sample(ends, whole);
    for (size_t length = 0; length <= space.length; length++) {
        /* In memory of exactly that size, so that a byte read too many is seen. */
        uint8_t *cut = malloc(length ? length : 1);
        memcpy(cut, space.at, length);
        int code = read_bytes(cut, length, 0);
        uint32_t kept = 0;
        for (int i = 0; i < 8; i++) kept += ends[i] <= length;
        int complete = length == whole[0] || length == whole[1];
        if (!length) {
            ck_assert_int_eq(code, IDS_CORRUPT); /* no file at all */
        } else {
            ck_assert_msg(code == (kept ? 0 : IDS_TRUNCATED), "cut at %zu: %d '%s'", length, code, err.text);
            ck_assert_int_eq(log_of.slices, kept);
            if (!code) ck_assert_int_eq(log_of.sink.complete, complete);
            ck_assert_int_eq(strstr(log_of.text, "xplane.truncated") != NULL, !code && !complete);
        }
        free(cut);
    }
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(a_cut_file_says_where) {
    size_t ends[8], whole[2];
    struct pb space = sample(ends, whole);
    char wanted[128];
    ck_assert_int_eq(read_bytes(space.at, ends[4] + 1, 0), 0); /* the second plane's second event has a byte */
    ck_assert_ptr_nonnull(strstr(log_of.text, "count 5\n"));
    ck_assert_int_eq(read_bytes(space.at, ends[0] - 1, 0), IDS_TRUNCATED);
    snprintf(wanted, sizeof wanted, "the file is cut at %zu bytes, before its first whole event", ends[0] - 1);
    ck_assert_str_eq(err.text, wanted);
    ck_assert_int_eq(read_bytes(space.at, 1, 0), IDS_TRUNCATED);
    ck_assert_str_eq(err.text, "the file ends before its first plane");
    pb_free(&space);
    clear_log();
}
END_TEST

/* One changed byte may make another profile, but it never makes idsprof read beyond, hang or say something else. */
START_TEST(any_byte_may_be_anything) {
    size_t ends[8], whole[2];
    struct pb space = sample(ends, whole);
    static const uint8_t values[] = {0x00, 0x01, 0x03, 0x0a, 0x7f, 0x80, 0xff};
    int corrupt = 0, sound = 0;
    for (size_t at = 0; at < space.length; at++) {
        uint8_t was = space.at[at];
        for (size_t v = 0; v < sizeof values; v++) {
            space.at[at] = values[v];
            int code = read_bytes(space.at, space.length, 0);
            ck_assert_msg(code == 0 || code == IDS_CORRUPT || code == IDS_TRUNCATED, "byte %zu = %u: %s", at, values[v],
                          err.text);
            if (code) ck_assert_uint_gt(strlen(err.text), 0);
            corrupt += code == IDS_CORRUPT;
            sound += code == 0;
        }
        space.at[at] = was;
    }
    ck_assert_int_gt(corrupt, 100);
    ck_assert_int_gt(sound, 100);
    pb_free(&space);
    clear_log();
}
END_TEST

/* A plane "p" (offset 2: 12 01 'p') whose line holds `bytes`, and 30 more fields behind it, so that no end of the
 * file is near. */
static struct pb line_with(const char *bytes, size_t length) {
    struct pb one = {0};
    pb_text(&one, 2, "p");
    pb_bytes(&one, 3, bytes, length);
    for (int i = 0; i < 30; i++) pb_int(&one, 1, 1);
    return space_of(one);
}

START_TEST(corrupt_files_say_where) {
    /* The line's bytes begin at 7: 0a LL 12 01 p 1a LL. */
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } table[] = {
        {"\x08\x01\x0b", 3, "plane 0 ('p'): line 0: unknown wire type (offset 9)"},
        {"\x08\x01\x00\x01", 4, "plane 0 ('p'): line 0: field number out of range (offset 9)"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11,
         "plane 0 ('p'): line 0: varint longer than 64 bits (offset 7)"},
        {"\x08\x01\x18\x80", 4, "plane 0 ('p'): line 0: field runs past the end of its message (offset 9)"},
        {"\x08\x01\x22\x03\x08\x01", 6,
         "plane 0 ('p'): line 0: declared length runs past the end of its message (offset 9)"},
        {"\x08\x01\x22\x05\x08\x01", 6,
         "plane 0 ('p'): line 0: declared length runs past the end of its message (offset 9)"},
        {"\x08\x01\x22\xff\xff\xff\xff\x0f\x08\x01", 10,
         "plane 0 ('p'): line 0: declared length above 2 GiB (offset 9)"},
        {"\x08\x01\x0d\x01\x02", 5, "plane 0 ('p'): line 0: field runs past the end of its message (offset 9)"},
        {"\x22\x02\x08\x80", 4, "plane 0 ('p'): line 0: malformed event (offset 9)"},          /* half a varint */
        {"\x22\x04\x08\x01\x10\x80", 6, "plane 0 ('p'): line 0: malformed event (offset 11)"}, /* its second field */
        {"\x22\x04\x08\x01\x0b\x0c", 6, "plane 0 ('p'): line 0: malformed event (offset 11)"}, /* a group */
        {"\x22\x04\x08\x01\x22\x05", 6,
         "plane 0 ('p'): line 0: malformed event (offset 11)"}, /* a stat longer than its event */
        {"\x22\x05\x08\x01\x22\x01\x80", 7, "plane 0 ('p'): line 0: malformed stat (offset 11)"},
        {"\x22\x05\x08\x01\x22\x01\x11", 7,
         "plane 0 ('p'): line 0: malformed stat (offset 11)"}, /* a double without bytes */
        {"\x22\x06\x08\x01\x22\x02\x2a\x09", 8, "plane 0 ('p'): line 0: malformed stat (offset 11)"},
        {"\x22\x06\x08\x01\x22\x02\x38\x80", 8, "plane 0 ('p'): line 0: malformed stat (offset 11)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pb space = line_with(table[i].bytes, table[i].length);
        int code = read_bytes(space.at, space.length, 0);
        ck_assert_msg(code == IDS_CORRUPT && !strcmp(err.text, table[i].message), "%zu: %d '%s'", i, code, err.text);
        pb_free(&space);
    }
    clear_log();
}
END_TEST

START_TEST(corrupt_tables) {
    static const struct {
        unsigned field;
        const char *bytes;
        size_t length;
        const char *message;
    } table[] = {
        {4, "\x08", 1, "plane 0 ('p'): malformed metadata entry (offset 7)"},
        {5, "\x0b", 1, "plane 0 ('p'): malformed metadata entry (offset 7)"},
        {4, "\x12\x02\x12\x05", 4, "plane 0 ('p'): malformed event metadata (offset 7)"},
        {4, "\x12\x03\x2a\x01\x80", 5, "plane 0 ('p'): malformed stat (offset 7)"},
        {5, "\x12\x02\x12\x05", 4, "plane 0 ('p'): malformed stat metadata (offset 7)"},
        {6, "\x08\x80", 2, "plane 0 ('p'): malformed stat (offset 7)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pb one = {0};
        pb_text(&one, 2, "p");
        pb_bytes(&one, table[i].field, table[i].bytes, table[i].length);
        struct pb space = space_of(one);
        int code = read_bytes(space.at, space.length, 0);
        ck_assert_msg(code == IDS_CORRUPT && !strcmp(err.text, table[i].message), "%zu: %d '%s'", i, code, err.text);
        pb_free(&space);
    }
    clear_log();
}
END_TEST

START_TEST(what_is_no_space) {
    struct pb space = {0};
    expect_error(space, IDS_CORRUPT, "an XSpace without planes");
    pb_text(&space, 4, "a host and nothing else");
    expect_error(space, IDS_CORRUPT, "an XSpace without planes");
    space = (struct pb){0};
    pb_int(&space, 1, 5);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), IDS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.text, "not an XSpace"));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(what_the_sink_says_is_handed_on) {
    size_t ends[8], whole[2];
    struct pb space = sample(ends, whole);
    pb_text(&space, 2, "an error, so that a diag is among the calls");
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    int calls = log_of.calls;
    ck_assert_int_eq(calls, 22); /* diag, host, 2 × (plane, name, 2 × (track, 2 slices, end)) */
    for (int i = 1; i <= calls; i++) {
        ck_assert_int_eq(read_bytes(space.at, space.length, i), IDS_LIMIT);
        ck_assert_int_eq(log_of.calls, i); /* no call after that */
        ck_assert_ptr_nonnull(strstr(err.text, "the sink is full"));
    }
    /* The seventh of a file cut behind its first event is the diag, after host, plane, track, lost name, slice, end. */
    ck_assert_int_eq(read_bytes(space.at, ends[0], 7), IDS_LIMIT);
    pb_free(&space);
    clear_log();
}
END_TEST

/* ---- what it takes for its own ---- */

static int bid(const char *bytes, size_t length) {
    int more = 0;
    return ids_xplane_format.bid((const uint8_t *)bytes, length, &more);
}

START_TEST(bids) {
    ck_assert_int_eq(bid("", 0), 0);
    ck_assert_int_eq(bid("\x0a\x06\x08\x01\x12\x02/h", 8), 90);
    ck_assert_int_eq(bid("\x0a\x80\x80\x80\x01\x08\x01\x12\x02/h", 11),
                     90); /* a long plane, of which this is the head */
    ck_assert_int_eq(bid("\x0a\x06\x08\x01\x12\x02xh", 8), 40);
    ck_assert_int_eq(bid("\x0a\x04\x08\x01\x12\x00", 6), 40); /* the empty name */
    ck_assert_int_eq(bid("\x0a\x02\x08\x01", 4), 10);
    ck_assert_int_eq(bid("\x22\x03vm1", 5), 20);
    ck_assert_int_eq(bid("\x0a\x03\x78\x01\x00", 5), 0);         /* field 15 is in no plane */
    ck_assert_int_eq(bid("\x08\x01", 2), 0);                     /* a number */
    ck_assert_int_eq(bid("\x2a\x01x", 3), 0);                    /* field 5 */
    ck_assert_int_eq(bid("\x0a\xff\xff\xff\xff\x0f\x08", 7), 0); /* 4 GiB */
    ck_assert_int_eq(bid("{\"traceEvents\":[", 16), 0);
    ck_assert_int_eq(bid("idsprof-mini 1\n", 15), 0);
    ck_assert_int_eq(bid("\x1f\x8b\x08\x00", 4), 0);
    ck_assert_int_eq(bid("SQLite format 3", 16), 0);
}
END_TEST

IDS_RUN_SUITE("xplane", a_whole_file, ids_may_be_negative_and_repeat, values_of_stats, the_last_one_wins,
              names_hold_for_their_plane_only, names_that_are_missing, tables_may_stand_before_or_behind,
              fields_may_come_in_any_order, unknown_fields_are_passed_over, a_known_field_of_another_type_is_unknown,
              times_of_lines_count_from_the_session, times_of_lines_may_count_from_1970,
              events_out_of_time_are_left_out, records_longer_than_a_window, a_record_above_the_limit_is_left_out,
              hlo_protos_are_read, programs_are_handed_on, a_damaged_hlo_proto_is_only_noted,
              a_file_cut_at_any_byte_keeps_its_whole_events, a_cut_file_says_where, any_byte_may_be_anything,
              corrupt_files_say_where, corrupt_tables, what_is_no_space, what_the_sink_says_is_handed_on, bids)
