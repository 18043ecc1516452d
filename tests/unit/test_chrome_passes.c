/* A JSON trace gives a sink the same calls in the same order whether it is read in two passes or at once, by one thread
 * or with one that takes elements apart ahead; and at once only where nothing behind the first event contradicts it. */
#include "lib/base/buffer.h"
#include "lib/base/parallel.h"
#include "lib/io/source.h"
#include "lib/model/format.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

extern const struct ids_format ids_chrome_trace_format;

/* ---- a sink that writes its calls down ---- */

struct record {
    struct ids_sink sink; /* first */
    struct ids_strings strings;
    char *text;
    size_t length, room;
    uint32_t planes, names, tracks;
    int fails_at; /* the number of the slice that is refused; 0: none */
    int pauses;   /* now and then, so that other threads come as far ahead as they may */
    int slices;
};

__attribute__((format(printf, 2, 3))) static void put(struct ids_sink *sink, const char *format, ...) {
    struct record *record = (struct record *)sink;
    va_list list;
    if (record->room - record->length < 4096)
        record->text = realloc(record->text, record->room = record->room * 2 + 8192);
    va_start(list, format);
    int length = vsnprintf(record->text + record->length, 4096, format, list);
    va_end(list);
    record->length += (size_t)(length < 4096 ? length : 4095);
}

static const char *text_of(struct ids_sink *sink, uint32_t text) {
    return ids_strings_z(sink->strings, text);
}

static void put_args(struct ids_sink *sink, const struct ids_arg *args, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct ids_arg *arg = &args[i];
        put(sink, " %s=", text_of(sink, arg->key));
        if (arg->type == IDS_VALUE_CHARS)
            put(sink, "'%.*s'", (int)(arg->length < 100 ? arg->length : 100), arg->chars);
        else if (arg->type == IDS_VALUE_TEXT)
            put(sink, "%s", text_of(sink, arg->text));
        else
            put(sink, "%d:%" PRId64, arg->type, arg->type == IDS_VALUE_NONE ? 0 : arg->i);
    }
    put(sink, "\n");
}

static int host(struct ids_sink *sink, const struct ids_host_info *info, struct ids_error *err) {
    (void)err;
    put(sink, "host %s %" PRId64 " %" PRId64 "\n", text_of(sink, info->name), info->base_ns, info->start_unix_ns);
    return 0;
}

static int plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane, struct ids_error *err) {
    (void)err;
    put(sink, "plane %s", text_of(sink, info->name));
    put_args(sink, info->args, info->arg_count);
    *ret_plane = ((struct record *)sink)->planes++;
    return 0;
}

static int name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name, struct ids_error *err) {
    (void)err;
    put(sink, "name %u %u:%s\n", info->plane, info->text, text_of(sink, info->text));
    *ret_name = ((struct record *)sink)->names++;
    return 0;
}

static int track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track, struct ids_error *err) {
    (void)err;
    put(sink, "track %u %s %" PRId64 "\n", info->plane, text_of(sink, info->name), info->id);
    *ret_track = ((struct record *)sink)->tracks++;
    return 0;
}

static int slice(struct ids_sink *sink, uint32_t on, const struct ids_slice *event, struct ids_error *err) {
    struct record *record = (struct record *)sink;
    if (++record->slices == record->fails_at) return ids_fail(err, IDS_LIMIT, "enough");
    if (record->pauses && record->slices < 6000 && record->slices % 1000 == 500)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    put(sink, "%u %d %u %" PRId64 " %" PRId64, on, event->form, event->name, event->start_ps, event->duration_ps);
    put_args(sink, event->args, event->arg_count);
    return 0;
}

static int track_end(struct ids_sink *sink, uint32_t on, struct ids_error *err) {
    (void)err;
    put(sink, "end %u\n", on);
    return 0;
}

static int diag(struct ids_sink *sink, const struct ids_diag *said, struct ids_error *err) {
    (void)err;
    put(sink, "%d %s %s %" PRId64 " %" PRIu64 "\n", said->severity, said->id, said->text, said->offset, said->count);
    return 0;
}

/* What reading gave, its failure at the end. 1: it has to begin again. */
static int read_text(const char *json, size_t length, int may_begin_again, unsigned jobs, int fails_at,
                     char **ret_text) {
    static const struct ids_sink_ops ops = {.host = host,
                                            .plane = plane,
                                            .name = name,
                                            .track = track,
                                            .slice = slice,
                                            .track_end = track_end,
                                            .diag = diag};
    struct record record = {.fails_at = fails_at, .pauses = jobs > 1};
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_source *source;
    record.sink = (struct ids_sink){
        .ops = &ops, .strings = &record.strings, .complete = 1, .may_begin_again = may_begin_again != 0};
    char *copy = malloc(length); /* so that the sanitizers see a read behind its end */
    memcpy(copy, json, length);
    ids_jobs_set(jobs, 1 << 20);
    ck_assert_int_eq(ids_source_memory(copy, length, &source, &err), 0);
    int code = ids_chrome_trace_format.read(source, &record.sink, &err);
    put(&record.sink, "%d %s, %d\n", code, err.text, record.sink.complete);
    ids_source_close(source);
    ids_strings_done(&record.strings);
    free(copy);
    *ret_text = record.text;
    return record.sink.begins_again;
}

/* ---- traces ---- */

#define TRACE(metadata, events, more) "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" metadata events "{}]" more "}"
#define PROCESS(pid, name) "{\"ph\":\"M\",\"pid\":" #pid ",\"name\":\"process_name\",\"args\":{\"name\":\"" name "\"}},"
#define THREAD(pid, tid, name) \
    "{\"ph\":\"M\",\"pid\":" #pid ",\"tid\":" #tid ",\"name\":\"thread_name\",\"args\":{\"name\":\"" name "\"}},"
#define EVENT(pid, ts, more) \
    "{\"ph\":\"X\",\"pid\":" #pid ",\"tid\":7,\"ts\":" #ts ",\"dur\":1.5,\"name\":\"work\"" more "},"
#define NAMES PROCESS(1, "/device:GPU:0") THREAD(1, 7, "Stream #7(Compute)") PROCESS(2, "/host:CPU")
#define EVENTS EVENT(1, 1, ",\"args\":{\"k\":\"v\"}") EVENT(2, 3, "") EVENT(2, 2, "")

enum how { AT_ONCE, IN_TWO_PASSES, AGAIN };

static const struct {
    const char *what, *json;
    enum how how; /* where it may be read at once */
} traces[] = {
    {"names first", TRACE(NAMES, EVENTS, ""), AT_ONCE},
    {"an array", "[" NAMES EVENT(2, 3, "") "{}", AT_ONCE},
    {"no events", TRACE(NAMES, "", ""), AT_ONCE},
    {"no names", TRACE("", EVENTS, ""), IN_TWO_PASSES},
    {"names last", TRACE("", EVENTS, "") "", IN_TWO_PASSES},
    {"a name behind the events", TRACE(NAMES, EVENTS PROCESS(1, "/device:GPU:1"), ""), AGAIN},
    {"a name between the events", TRACE(NAMES, EVENTS THREAD(2, 7, "main") EVENTS, ""), AGAIN},
    {"a kernel first", TRACE(NAMES, EVENT(2, 1, ",\"cat\":\"kernel\"") EVENTS, ""), IN_TWO_PASSES},
    {"a kernel last", TRACE(NAMES, EVENTS EVENT(2, 9, ",\"cat\":\"kernel\""), ""), AGAIN},
    {"a call of the runtime", TRACE(NAMES, EVENTS EVENT(2, 9, ",\"cat\":\"cuda_runtime\""), ""), AT_ONCE},
    {"times since 1970", TRACE(NAMES, EVENT(2, 1700000000000000, "") EVENT(2, 1600000000000000, ""), ""),
     IN_TWO_PASSES},
    {"a late time since 1970", TRACE(NAMES, EVENTS EVENT(2, 1700000000000000, ""), ""), AGAIN},
    {"a property first", "{\"baseTimeNanoseconds\":5,\"traceEvents\":[" NAMES EVENTS "{}]}", AT_ONCE},
    {"a rank first", "{\"distributedInfo\":{\"rank\":3,\"world_size\":4},\"traceEvents\":[" NAMES EVENTS "{}]}",
     AT_ONCE},
    {"a rank last", TRACE(NAMES, EVENTS, ",\"distributedInfo\":{\"rank\":3}"), AGAIN},
    {"another member last", TRACE(NAMES, EVENTS, ",\"other\":{\"rank\":nan}"), AT_ONCE},
    {"of idsprof", "{\"otherData\":{\"written_by\":\"idsprof 1\"},\"traceEvents\":[" NAMES EVENTS "{}]}",
     IN_TWO_PASSES},
    {"broken values", TRACE(NAMES, EVENT(1, 01, "") EVENT(2, 4, ",\"args\":{\"a\":[01]}"), ""), AT_ONCE},
    {"pairs", TRACE(NAMES, "{\"ph\":\"E\",\"pid\":2,\"ts\":9},{\"ph\":\"B\",\"pid\":2,\"ts\":4,\"name\":\"a\"},", ""),
     AT_ONCE},
    {"a stray", TRACE(NAMES, "5," EVENTS, ""), AT_ONCE},
    {"no comma", TRACE(NAMES, EVENTS "{\"ph\":\"X\" \"pid\":1},", ""), AGAIN},
    {"no JSON at first", TRACE("x", EVENTS, ""), IN_TWO_PASSES},
    {"no list", "{\"a\":[]}", IN_TWO_PASSES},
    {"cut", "{\"traceEvents\":[" NAMES EVENTS "{\"ph\":\"X\",", AT_ONCE},
};

START_TEST(at_once) {
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        char *wanted, *got;
        const size_t length = strlen(traces[i].json);
        ck_assert_int_eq(read_text(traces[i].json, length, 0, 1, 0, &wanted), 0);
        int again = read_text(traces[i].json, length, 1, 1, 0, &got);
        ck_assert_msg(again == (traces[i].how == AGAIN), "%s: %s", traces[i].what, again ? "again" : "not again");
        if (!again) ck_assert_msg(!strcmp(got, wanted), "%s:\n%s\nnot\n%s", traces[i].what, got, wanted);
        free(wanted);
        free(got);
    }
}
END_TEST

/* Ones that fill many chunks of a stream, of a million bytes and more. */
static char *long_trace(unsigned kind, size_t *ret_length) {
    enum { ROOM = 6 << 20, WANTED = 3 << 20 };
    char *json = malloc(ROOM);
    size_t used = (size_t)snprintf(json, ROOM, "{\"traceEvents\":[%s", NAMES);
    for (unsigned i = 0; used < WANTED; i++) {
        unsigned filler = kind == 1 && i % 50 == 0 ? 5 + i % 7 * 9000 /* longer than what goes in front of a chunk */
                          : kind == 2 && i % 700 == 20 ? 400000 + i   /* than a chunk */
                                                       : i * 2654435761u >> 26;
        if (kind == 3 && i % 100 < 90) {
            used += (size_t)snprintf(json + used, ROOM - used, "{},");
            continue;
        }
        used += (size_t)snprintf(
            json + used, ROOM - used,
            "{\"ph\":\"X\",\"pid\":%u,\"tid\":7,\"ts\":%u,\"dur\":%s,\"name\":\"n%u\",\"args\":{\"i\":%u,"
            "\"f\":\"%*s\"}},",
            1 + i % 2, i,
            kind == 4 && i == 9000    ? "0x1"
            : kind == 5 && i % 8 == 7 ? "01"
                                      : "2.25",
            i % 13, i, (int)filler, "");
    }
    if (kind != 6) used += (size_t)snprintf(json + used, ROOM - used, "{}],\"last\":[%s]}", kind == 7 ? "01" : "1");
    *ret_length = used;
    return json;
}

/* Another thread unpacks it, over the chunks that were given back. The caller frees. */
static char *pack(const char *json, size_t length, size_t *ret_length) {
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&stream, length);
    char *packed = malloc(room);
    stream.next_in = (Bytef *)(uintptr_t)json;
    stream.avail_in = (uInt)length;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *ret_length = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

START_TEST(ahead) {
    IDS_NOT_UNDER_VALGRIND();
    for (unsigned kind = 0; kind < 8; kind++) {
        size_t length, packed_length;
        char *wanted, *got, *json = long_trace(kind, &length), *packed = pack(json, length, &packed_length);
        for (int fails_at = 0; fails_at < 9000; fails_at += 4000) {
            read_text(json, length, 0, 1, fails_at, &wanted);
            if (!fails_at) ck_assert_int_gt((int)strlen(wanted), 1000);
            for (int way = 0; way < 3; way++) {
                const int once = way > 0, is_packed = way < 2;
                int again =
                    read_text(is_packed ? packed : json, is_packed ? packed_length : length, once, 3, fails_at, &got);
                ck_assert_int_eq(again, once && (kind == 4 || strstr(wanted, "enough")));
                if (!again) ck_assert_msg(!strcmp(got, wanted), "kind %u, once %d, packed %d", kind, once, is_packed);
                free(got);
            }
            free(wanted);
        }
        free(packed);
        free(json);
    }
}
END_TEST

/* Keys that are known again by their marks, which are more than the reader has places for. */
START_TEST(many_keys) {
    enum { KEYS = 200, ROOM = 1 << 20 };
    char *got, *json = malloc(ROOM), wanted[64];
    size_t used = (size_t)snprintf(json, ROOM, "{\"traceEvents\":[%s", NAMES);
    for (unsigned i = 0; i < 3 * KEYS; i++) /* of each three in a row: the second is seen again, the third known */
        used += (size_t)snprintf(json + used, ROOM - used,
                                 "{\"ph\":\"X\",\"pid\":2,\"tid\":%u,\"ts\":%u,\"args\":{\"k%u\":\"v%u\"}},", i % 20, i,
                                 i / 3, i);
    used += (size_t)snprintf(json + used, ROOM - used, "{}]}");
    ck_assert_int_eq(read_text(json, used, 0, 1, 0, &got), 0);
    for (unsigned i = 0; i < 3 * KEYS; i++) {
        snprintf(wanted, sizeof wanted, " k%u='v%u'\n", i / 3, i);
        ck_assert_msg(strstr(got, wanted) != NULL, "no%s", wanted);
    }
    free(got);
    free(json);
}
END_TEST

IDS_RUN_SUITE("chrome_passes", at_once, ahead, many_keys)
