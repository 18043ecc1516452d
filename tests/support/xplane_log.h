/* xplane_log.h - files of XPlane's format encoded by hand, field by field, and a sink that writes down what
 * formats/xplane.c makes of them. Field numbers: tsl's profiler/protobuf/xplane.proto. */
#ifndef IDS_TESTS_SUPPORT_XPLANE_LOG_H
#define IDS_TESTS_SUPPORT_XPLANE_LOG_H

#include "lib/io/source.h"
#include "lib/model/format.h"
#include "lib/model/keys.h"
#include "tests/support/pb_encode.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static inline void say(struct recording *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void say(struct recording *log, const char *format, ...) {
    va_list args;
    if (log->room - log->length < 4096) log->text = realloc(log->text, log->room += 65536);
    va_start(args, format);
    log->length += (size_t)vsnprintf(log->text + log->length, 4096, format, args);
    va_end(args);
}

static inline int call(struct recording *log, struct ids_error *err) {
    return ++log->calls == log->fail_at ? ids_fail(err, IDS_LIMIT, "the sink is full") : 0;
}

static inline struct recording *of(struct ids_sink *sink) {
    return (struct recording *)sink;
}

/* " key=i:5" and the like; of long texts the length only. */
static inline void say_args(struct recording *log, const struct ids_arg *args, size_t count) {
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

static inline int log_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    say(of(sink), "host '%s' base %" PRId64 " start %" PRId64 "\n", ids_strings_z(sink->strings, host->name),
        host->base_ns, host->start_unix_ns);
    return call(of(sink), err);
}

static inline int log_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                            struct ids_error *err) {
    *ret_plane = of(sink)->planes++;
    say(of(sink), "plane %u '%s'", *ret_plane, ids_strings_z(sink->strings, plane->name));
    say_args(of(sink), plane->args, plane->arg_count);
    return call(of(sink), err);
}

static inline int log_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                           struct ids_error *err) {
    *ret_name = of(sink)->names++;
    of(sink)->name_texts[*ret_name % 64] = name->text ? name->text : name->display;
    say(of(sink), "name %u '%s' '%s'", name->plane, ids_strings_z(sink->strings, name->text),
        ids_strings_z(sink->strings, name->display));
    say_args(of(sink), name->args, name->arg_count);
    return call(of(sink), err);
}

static inline int log_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                            struct ids_error *err) {
    *ret_track = of(sink)->tracks++;
    say(of(sink), "line %u %" PRId64 " '%s'\n", track->plane, track->id, ids_strings_z(sink->strings, track->name));
    return call(of(sink), err);
}

static inline int log_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice,
                            struct ids_error *err) {
    of(sink)->slices++;
    say(of(sink), " %u: %" PRId64 "+%" PRId64 " %s", track, slice->start_ps, slice->duration_ps,
        ids_strings_z(sink->strings, of(sink)->name_texts[slice->name % 64]));
    say_args(of(sink), slice->args, slice->arg_count);
    return call(of(sink), err);
}

static inline int log_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err) {
    say(of(sink), "end %u\n", track);
    return call(of(sink), err);
}

static inline int log_hlo(struct ids_sink *sink, const struct ids_instruction_info *hlo, struct ids_error *err) {
    say(of(sink), "hlo %" PRIu64 " %s %s %s\n", hlo->program_id, ids_strings_z(sink->strings, hlo->module),
        ids_strings_z(sink->strings, hlo->name), ids_strings_z(sink->strings, hlo->opcode));
    return call(of(sink), err);
}

static inline int log_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    say(of(sink), "diag %d %s offset %" PRId64 " count %" PRIu64 "\n", diag->severity, diag->id, diag->offset,
        diag->count);
    return call(of(sink), err);
}

static inline int log_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    say(of(sink), "program %" PRIu64 " %s %zu\n", program->program_id, ids_strings_z(sink->strings, program->name),
        program->length);
    return call(of(sink), err);
}

static struct recording log_of;
static int wants_programs, wants_no_hlo;
static struct ids_error err;

static inline void clear_log(void) {
    ids_strings_done(&log_of.strings);
    free(log_of.text);
    log_of = (struct recording){0};
}

/* Reads the source into log_of; what ids_format.read said. */
static inline int read_source(struct ids_source *source, int fail_at) {
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

static inline int read_bytes(const void *bytes, size_t length, int fail_at) {
    struct ids_source *source;
    ck_assert_int_eq(ids_source_memory(bytes, length, &source, &err), 0);
    int code = read_source(source, fail_at);
    ids_source_close(source);
    return code;
}

/* Reads and frees the space, and compares. */
static inline void expect(struct pb space, const char *wanted) {
    int code = read_bytes(space.at, space.length, 0);
    ck_assert_msg(!code, "%s", err.text);
    ck_assert_int_eq(log_of.sink.complete, 1);
    ck_assert_str_eq(log_of.text, wanted);
    pb_free(&space);
    clear_log();
}

static inline void expect_error(struct pb space, int code, const char *message) {
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), code);
    ck_assert_str_eq(err.text, message);
    pb_free(&space);
    clear_log();
}

/* ---- parts of a file ---- */

static inline struct pb event(int64_t metadata_id, int64_t offset_ps, int64_t duration_ps) {
    struct pb out = {0};
    pb_int(&out, 1, metadata_id);
    pb_int(&out, 2, offset_ps);
    pb_int(&out, 3, duration_ps);
    return out;
}

static inline struct pb line(int64_t id, const char *name, int64_t timestamp_ns) {
    struct pb out = {0};
    pb_int(&out, 1, id);
    pb_text(&out, 2, name);
    pb_int(&out, 3, timestamp_ns);
    return out;
}

static inline struct pb plane(int64_t id, const char *name) {
    struct pb out = {0};
    pb_int(&out, 1, id);
    pb_text(&out, 2, name);
    return out;
}

/* An entry of event_metadata (field 4) or stat_metadata (5) of a plane. */
static inline void metadata(struct pb *to, unsigned field, int64_t id, const char *name) {
    struct pb value = {0}, entry = {0};
    pb_int(&value, 1, id);
    pb_text(&value, 2, name);
    pb_int(&entry, 1, id);
    pb_message(&entry, 2, value);
    pb_message(to, field, entry);
}

static inline struct pb stat_int(int64_t key, int64_t value) {
    struct pb out = {0};
    pb_int(&out, 1, key);
    pb_int(&out, 4, value);
    return out;
}

static inline struct pb stat_text(int64_t key, unsigned field, const char *value) {
    struct pb out = {0};
    pb_int(&out, 1, key);
    pb_text(&out, field, value);
    return out;
}

static inline struct pb space_of(struct pb one_plane) {
    struct pb out = {0};
    pb_message(&out, 1, one_plane);
    return out;
}

#endif
