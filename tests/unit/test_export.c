/* lib/export: each format on small traces; the bytes are derived by hand. */
#include "lib/export/contents.h"
#include "lib/export/export.h"
#include "lib/export/gpu_details.h"
#include "lib/export/gzip.h"
#include "lib/io/source.h"
#include "lib/model/dump.h"
#include "lib/model/format.h"
#include "lib/wire/pb_wire.h"
#include "tests/support/memory_out.h"
#include "tests/support/sink_feed.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

extern const struct ids_format ids_xplane_format;

/* ---- formats ---- */

/* Two slices that overlap, one with args of each type, an instant, a counter and a flow. */
static void feed_on(struct ids_sink *sink, const char *plane, uint8_t is_xspace) {
    uint32_t gpu, name;
    OK(sink->ops->host(sink,
                       &(struct ids_host_info){.name = ids_intern_z(sink->strings, "box"),
                                               .start_unix_ns = 1700000000000000000,
                                               .is_xspace = is_xspace},
                       &err));
    const struct ids_arg plane_args[] = {{.key = IDS_KEY_CLOCK_RATE, .type = IDS_VALUE_UINT, .u = 5}};
    OK(sink->ops->plane(sink, &(struct ids_plane_info){ids_intern_z(sink->strings, plane), plane_args, 1}, &gpu, &err));
    const struct ids_arg shared[] = {{.key = IDS_KEY_FLOPS, .type = IDS_VALUE_INT, .i = 9},
                                     {.key = IDS_KEY_SIZE, .type = IDS_VALUE_INT, .i = 1}};
    const struct ids_name_info info = {.plane = gpu,
                                       .text = ids_intern_z(sink->strings, "%fusion = f32[]"),
                                       .display = ids_intern_z(sink->strings, "fusion"),
                                       .args = shared,
                                       .arg_count = 2};
    OK(sink->ops->name(sink, &info, &name, &err));
    uint32_t plain = put_name(sink, gpu, "a,\"b\"", NULL);
    uint32_t track = put_track(sink, gpu, "Stream", -3);
    const struct ids_arg args[] = {
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_UINT, .u = UINT64_MAX},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_REAL, .d = 0.5},
        {.key = IDS_KEY_NAME, .type = IDS_VALUE_TEXT, .text = IDS_KEY_MODULE},
        {.key = IDS_KEY_ROOT, .type = IDS_VALUE_NONE},
        {.key = IDS_KEY_SOURCE, .type = IDS_VALUE_REF, .u = 77},
        {.key = IDS_KEY_TF_OP, .type = IDS_VALUE_BYTES, .chars = "\1\2", .length = 2},
    };
    const struct ids_slice slice = {
        .start_ps = 1000000, .duration_ps = 2000001, .name = name, .args = args, .arg_count = 6};
    OK(sink->ops->slice(sink, track, &slice, &err));
    put_slice(sink, track, plain, 2000000, 4000000); /* overlaps */
    const struct ids_arg flow[] = {
        {.key = ids_intern_z(sink->strings, "id"), .type = IDS_VALUE_INT, .i = 4},
        {.key = ids_intern_z(sink->strings, "cat"), .type = IDS_VALUE_CHARS, .chars = "c", .length = 1}};
    put_event(sink, track, plain, IDS_FORM_FLOW_OUT, 2500000, flow, 2);
    put_event(sink, track, plain, IDS_FORM_INSTANT, 7000000, NULL, 0);
    const struct ids_arg values[] = {{.key = IDS_KEY_SIZE, .type = IDS_VALUE_INT, .i = 12}};
    put_event(sink, track, plain, IDS_FORM_COUNTER, 8000000, values, 1);
    OK(sink->ops->track_end(sink, track, &err));
}

static void feed(struct ids_sink *sink) {
    feed_on(sink, "/device:GPU:0", 0);
}

/* Calls of Python, each 2 us shorter than the one around it. */
static void feed_frames(struct ids_sink *sink, int depth) {
    uint32_t host;
    OK(sink->ops->plane(sink, &(struct ids_plane_info){.name = ids_intern_z(sink->strings, "/host:CPU")}, &host, &err));
    uint32_t call = put_name(sink, host, "$loop.py:7 load", NULL), track = put_track(sink, host, "python", 5);
    for (int i = 0; i < depth; i++) put_slice(sink, track, call, i * INT64_C(1000000), (depth - i) * INT64_C(2000000));
    OK(sink->ops->track_end(sink, track, &err));
}

/* The host of what names none is "file". */
static int open_format(const char *name, int only_used, struct ids_out *out, struct ids_export **ret_export) {
    const struct ids_export_params params = {.host = "file", .only_used = only_used};
    const struct ids_export_format *format = ids_export_format_find(name);
    ck_assert_ptr_nonnull(format);
    return format->open(out, &params, ret_export, &err);
}

/* What is deeper than any program's calls counts for the last call that has a line. */
START_TEST(folded) {
    struct memory_out out = {.out = {memory_write}};
    struct ids_export *export;
    OK(open_format("folded", 0, &out.out, &export));
    feed_frames(&export->sink, 5000);
    OK(export->finish(export, &err));
    ids_buffer_byte(&out.bytes, '\0');
    const char *text = (const char *)out.bytes.at, *first = "python;load (loop.py:7) 2\n";
    ck_assert_int_eq(strncmp(text, first, strlen(first)), 0);
    size_t lines = 0;
    for (const char *at = text; *at; at++) lines += *at == '\n';
    ck_assert_uint_eq(lines, 1000);
    const char *last = strrchr(text, ' ');
    ck_assert_str_eq(last, " 8002\n");
    ids_export_free(export);
    ids_buffer_done(&out.bytes);
}
END_TEST

START_TEST(chrome) {
    struct memory_out out = {.out = {memory_write}};
    struct ids_export *export;
    OK(open_format("chrome", 0, &out.out, &export));
    feed(&export->sink);
    OK(export->finish(export, &err));
    ids_buffer_byte(&out.bytes, '\0');
    ck_assert_str_eq(
        out.bytes.at,
        "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1073741824,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream\",\"id\":-3}},"
        "\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1073741824,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1073741824,\"ts\":1,\"dur\":2.000001,\"name\":\"fusion\",\"args\":{"
        "\"size\":18446744073709551615,\"size #2\":0.5,\"name\":\"module\",\"_r\":null,\"source\":\"ref:77\","
        "\"tf_op\":\"base64:AQI=\",\"flops\":9,\"long_name\":\"%fusion = f32[]\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1073741825,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream\",\"lane_of\":"
        "1073741824}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1073741825,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1073741825,\"ts\":2,\"dur\":4,\"name\":\"a,\\\"b\\\"\"},\n"
        "{\"ph\":\"s\",\"pid\":1,\"tid\":1073741824,\"ts\":2.5,\"name\":\"a,\\\"b\\\"\",\"id\":4,\"cat\":\"c\","
        "\"args\":{}},\n"
        "{\"ph\":\"i\",\"pid\":1,\"tid\":1073741824,\"ts\":7,\"name\":\"a,\\\"b\\\"\"},\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1073741824,\"ts\":8,\"name\":\"a,\\\"b\\\"\",\"args\":{\"size\":12}}\n"
        "],\n\"otherData\":{\"written_by\":\"idsprof " IDS_VERSION "\",\"host\":\"box\",\"planes\":["
        "{\"pid\":1,\"name\":\"/device:GPU:0\",\"stats\":[{\"clock_rate\":5}]}]}}\n");
    ck_assert_uint_eq(export->events, 5);
    ids_export_free(export);
    ids_buffer_done(&out.bytes);
}
END_TEST

START_TEST(csv) {
    struct memory_out out = {.out = {memory_write}};
    struct ids_export *export;
    OK(open_format("csv", 0, &out.out, &export));
    feed(&export->sink);
    OK(export->finish(export, &err));
    ids_buffer_byte(&out.bytes, '\0');
    ck_assert_str_eq(
        out.bytes.at,
        "host,plane,track,track_id,form,name,start_ps,duration_ps,args\r\n"
        "box,/device:GPU:0,Stream,-3,slice,fusion,1000000,2000001,\"{\"\"size\"\":18446744073709551615,"
        "\"\"size #2\"\":0.5,\"\"name\"\":\"\"module\"\",\"\"_r\"\":null,\"\"source\"\":\"\"ref:77\"\","
        "\"\"tf_op\"\":\"\"base64:AQI=\"\",\"\"flops\"\":9,\"\"long_name\"\":\"\"%fusion = f32[]\"\"}\"\r\n"
        "box,/device:GPU:0,Stream,-3,slice,\"a,\"\"b\"\"\",2000000,4000000,{}\r\n"
        "box,/device:GPU:0,Stream,-3,flow_out,\"a,\"\"b\"\"\",2500000,0,\"{\"\"id\"\":4,\"\"cat\"\":\"\"c\"\"}\"\r\n"
        "box,/device:GPU:0,Stream,-3,instant,\"a,\"\"b\"\"\",7000000,0,{}\r\n"
        "box,/device:GPU:0,Stream,-3,counter,\"a,\"\"b\"\"\",8000000,0,\"{\"\"size\"\":12}\"\r\n");
    ids_export_free(export);
    ids_buffer_done(&out.bytes);
}
END_TEST

/* Perfetto: each event's type, time, track and legacy phase, in the order of the packets. */
static void say_event(struct ids_pb event, uint64_t timestamp, char *text, size_t room) {
    struct ids_pb_field field;
    uint64_t type = 0, track = 0, phase = 0, bound = 0;
    int64_t value = 0;
    unsigned annotations = 0;
    while (ids_pb_next(&event, &field) > 0) {
        if (field.number == 9) type = field.value;
        if (field.number == 11) track = field.value;
        if (field.number == 4) annotations++;
        if (field.number == 30) value = (int64_t)field.value;
        if (field.number != 6) continue;
        struct ids_pb legacy = ids_pb_inside(&field);
        while (ids_pb_next(&legacy, &field) > 0) {
            if (field.number == 2) phase = field.value;
            if (field.number == 6) bound = field.value;
        }
    }
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%llu@%llu/%llu", (unsigned long long)type,
             (unsigned long long)(timestamp - 1700000000000000000u), (unsigned long long)track);
    used = strlen(text);
    if (annotations) snprintf(text + used, room - used, "#%u", annotations);
    used = strlen(text);
    if (phase) snprintf(text + used, room - used, "%c%llu", (char)phase, (unsigned long long)bound);
    used = strlen(text);
    snprintf(text + used, room - used, type == 4 ? "=%lld " : " ", (long long)value);
}

START_TEST(perfetto) {
    struct memory_out out = {.out = {memory_write}};
    struct ids_export *export;
    char text[1024] = "";
    unsigned descriptors = 0, interned = 0;
    OK(open_format("perfetto", 0, &out.out, &export));
    feed(&export->sink);
    OK(export->finish(export, &err));
    struct ids_pb trace = {(const uint8_t *)out.bytes.at, (const uint8_t *)out.bytes.at + out.bytes.length};
    struct ids_pb_field field;
    int more;
    while ((more = ids_pb_next(&trace, &field)) > 0) {
        ck_assert_uint_eq(field.number, 1);
        struct ids_pb packet = ids_pb_inside(&field);
        uint64_t timestamp = 0;
        while ((more = ids_pb_next(&packet, &field)) > 0) {
            if (field.number == 8) timestamp = field.value;
            if (field.number == 10) ck_assert_uint_eq(field.value, 1);
            descriptors += field.number == 60;
            interned += field.number == 12;
            if (field.number == 11) say_event(ids_pb_inside(&field), timestamp, text, sizeof text);
        }
        ck_assert_int_eq(more, 0);
    }
    ck_assert_int_eq(more, 0);
    /* Tracks: 1 the thread, 2 its second lane, 3 the counter. The first slice has six args, two shared ones (flops and
     * the long name; size is its own), and its exact start and duration, since 2,000,001 ps is no whole number of ns;
     * it ends at 3,000 ns, when the instant comes or at the end. The flow is bound to it by id 4. */
    ck_assert_str_eq(text, "1@1000/1#10 1@2000/2 0@2500/1#2s4 3@7000/1 4@8000/3=12 2@3000/1 2@6000/2 ");
    ck_assert_uint_eq(descriptors, 4);
    ck_assert_uint_ge(interned, 1);
    ck_assert_uint_eq(export->events, 5);
    ids_export_free(export);
    ids_buffer_done(&out.bytes);
}
END_TEST

/* XSpace: read again, the dump is that of what was fed. */
START_TEST(xspace) {
    struct memory_out out = {.out = {memory_write}};
    struct ids_export *export;
    struct ids_dump *before, *after;
    struct ids_dump_totals wanted, got;
    struct ids_source *source;
    OK(ids_dump_new(&before, &err));
    feed_on(ids_dump_sink(before), "/host:CPU", 1);
    ids_dump_totals(before, &wanted);
    OK(open_format("xplane", 0, &out.out, &export));
    feed_on(&export->sink, "/host:CPU", 1);
    OK(export->finish(export, &err));
    ck_assert_uint_eq(export->losses[0].count, 3); /* instant, counter, flow */
    OK(ids_source_memory(out.bytes.at, out.bytes.length, &source, &err));
    OK(ids_dump_new(&after, &err));
    OK(ids_xplane_format.read(source, ids_dump_sink(after), &err));
    ids_dump_totals(after, &got);
    ck_assert_uint_eq(got.events, 5);
    ck_assert_uint_eq(got.hash, wanted.hash);
    ids_source_close(source);
    ids_dump_free(before);
    ids_dump_free(after);
    ids_export_free(export);
    ids_buffer_done(&out.bytes);
}
END_TEST

/* What was no XSpace: a device's moments have a line of their own, and the wall clock a plane. */
START_TEST(xspace_of_another) {
    struct memory_out out = {.out = {memory_write}};
    struct ids_export *export;
    struct ids_dump *after;
    struct ids_dump_totals got;
    struct ids_source *source;
    OK(open_format("xplane", 0, &out.out, &export));
    feed(&export->sink);
    OK(export->finish(export, &err));
    OK(ids_source_memory(out.bytes.at, out.bytes.length, &source, &err));
    OK(ids_dump_new(&after, &err));
    OK(ids_xplane_format.read(source, ids_dump_sink(after), &err));
    ids_dump_totals(after, &got);
    ck_assert_uint_eq(got.events, 5);
    ck_assert_uint_eq(got.lines, 2);
    ck_assert_uint_eq(got.planes, 2);
    ck_assert_ptr_nonnull(memmem(out.bytes.at, out.bytes.length, "Task Environment", 16));
    ck_assert_ptr_nonnull(memmem(out.bytes.at, out.bytes.length, "\x12\x07moments", 9));
    ids_source_close(source);
    ids_dump_free(after);
    ids_export_free(export);
    ids_buffer_done(&out.bytes);
}
END_TEST

static struct ids_text text_of(const char *text) {
    return (struct ids_text){text, (uint32_t)strlen(text)};
}

/* Kineto's words become those of XLA's tracers; what Kineto does not say is not said. */
START_TEST(gpu_details) {
    struct ids_strings strings = {0};
    struct ids_buffer text = {0};
    enum ids_gpu_work work;
    OK(ids_keys_intern(&strings));
    const struct ids_arg kernel[] = {
        {.key = IDS_KEY_REGISTERS_PER_THREAD, .type = IDS_VALUE_INT, .i = 38},
        {.key = IDS_KEY_SHARED_MEMORY, .type = IDS_VALUE_INT, .i = 0},
        {.key = IDS_KEY_GRID, .type = IDS_VALUE_CHARS, .chars = "[8, 1,1]", .length = 8},
        {.key = IDS_KEY_BLOCK, .type = IDS_VALUE_CHARS, .chars = "[256,1,1]", .length = 9},
        {.key = IDS_KEY_ACHIEVED_OCCUPANCY, .type = IDS_VALUE_INT, .i = 50},
    };
    const struct ids_arg bytes[] = {{.key = IDS_KEY_BYTES, .type = IDS_VALUE_INT, .i = 4096}};
    const struct ids_arg done[] = {{.key = IDS_KEY_KERNEL_DETAILS, .type = IDS_VALUE_CHARS, .chars = "x", .length = 1}};
    const struct {
        const char *name;
        const struct ids_arg *args;
        uint32_t arg_count, key;
        unsigned work;
        const char *text;
    } cases[] = {
        {"gemm", kernel, 5, IDS_KEY_KERNEL_DETAILS, IDS_GPU_KERNEL,
         "regs:38 static_shared:0 grid:8,1,1 block:256,1,1 occ_pct:50"},
        {"gemm", NULL, 0, IDS_KEY_KERNEL_DETAILS, IDS_GPU_KERNEL, "stream:7"},
        {"gemm", done, 1, 0, IDS_GPU_KERNEL, ""},
        {"Memcpy HtoD (Pageable -> Device)", bytes, 1, IDS_KEY_MEMCPY_DETAILS, IDS_GPU_H2D,
         "kind_src:pageable kind_dst:device size:4096"},
        {"Memcpy DtoH", bytes, 1, IDS_KEY_MEMCPY_DETAILS, IDS_GPU_D2H, "size:4096"},
        {"Memset (Device)", bytes, 1, IDS_KEY_MEMSET_DETAILS, IDS_GPU_SET, "num_bytes:4096"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ids_slice slice = {.args = cases[i].args, .arg_count = cases[i].arg_count};
        ck_assert_uint_eq(
            ids_gpu_details(&strings, &(struct ids_key_spellings){0}, text_of(cases[i].name), 7, &slice, &text, &work),
            cases[i].key);
        ids_buffer_byte(&text, '\0');
        ck_assert_str_eq(text.at, cases[i].text);
        ck_assert_uint_eq(work, cases[i].work);
    }
    int64_t number;
    ck_assert(ids_gpu_stream_number(text_of("stream 7 "), &number) && number == 7);
    ck_assert(ids_gpu_stream_number(text_of("thread 12"), &number) && number == 12);
    ck_assert(ids_gpu_stream_number(text_of("Stream #9(q)"), &number) && number == 9);
    ck_assert(ids_gpu_stream_number(text_of("Stream #-1(Device 0)"), &number) && number == -1);
    ck_assert(!ids_gpu_stream_number(text_of("stream 7 (gpu_user_annotation)"), &number));
    ck_assert(!ids_gpu_stream_number(text_of("stream x"), &number) &&
              !ids_gpu_stream_number(text_of("stream "), &number));
    text.length = 0;
    ids_gpu_stream_name(7, IDS_GPU_KERNEL | IDS_GPU_H2D | IDS_GPU_SET, &text);
    ids_buffer_byte(&text, '\0');
    ck_assert_str_eq(text.at, "Stream #7(Kernel,MemcpyH2D,Memset)");
    ids_buffer_done(&text);
    ids_strings_done(&strings);
}
END_TEST

/* Names without an event go, unless they hold a program. */
START_TEST(xspace_only_used) {
    struct memory_out out = {.out = {memory_write}};
    struct ids_export *export;
    OK(open_format("xplane", 1, &out.out, &export));
    struct ids_sink *sink = &export->sink;
    uint32_t plane = put_plane(sink, "/p"), id;
    uint32_t used = put_name(sink, plane, "is used", NULL);
    put_name(sink, plane, "is not", NULL);
    const struct ids_arg hlo = {.key = IDS_KEY_HLO_PROTO, .type = IDS_VALUE_BYTES, .chars = "HLO", .length = 3};
    const struct ids_name_info program = {
        .plane = plane, .text = ids_intern_z(sink->strings, "program"), .args = &hlo, .arg_count = 1, .id = 7};
    OK(sink->ops->name(sink, &program, &id, &err));
    put_slice(sink, put_track(sink, plane, "t", 1), used, 5, 6);
    OK(export->finish(export, &err));
    ck_assert_ptr_nonnull(memmem(out.bytes.at, out.bytes.length, "is used", 7));
    ck_assert_ptr_null(memmem(out.bytes.at, out.bytes.length, "is not", 6));
    ck_assert_ptr_nonnull(memmem(out.bytes.at, out.bytes.length, "\x08\x07\x12\x07program", 11)); /* under its own id */
    ck_assert_ptr_nonnull(memmem(out.bytes.at, out.bytes.length, "HLO", 3));
    ids_export_free(export);
    ids_buffer_done(&out.bytes);
}
END_TEST

/* ---- programs ---- */

struct kept_files {
    struct ids_program_files files; /* first */
    struct memory_out out;
    char names[512];
    int refuse;
};

static int take_kept(struct ids_program_files *files, const char *name, const void *bytes, size_t length,
                     struct ids_error *error) {
    struct kept_files *kept = (struct kept_files *)files;
    if (kept->refuse) return ids_fail(error, IDS_USAGE, "there already");
    strncat(kept->names, name, sizeof kept->names - strlen(kept->names) - 1);
    strncat(kept->names, "|", sizeof kept->names - strlen(kept->names) - 1);
    return kept->out.out.write(&kept->out.out, bytes, length, error);
}

START_TEST(programs) {
    struct kept_files kept = {.files = {take_kept}, .out = {.out = {memory_write}}};
    struct ids_export *export;
    OK(ids_programs_new(&kept.files, NULL, 0, &export, &err));
    struct ids_sink *sink = &export->sink;
    ck_assert_ptr_null(sink->ops->hlo); /* instructions are not parsed for it */
    const struct {
        const char *name;
        uint64_t id;
    } given[] = {{"jit_f(7)", 7}, {"jit_f(7)", 8}, {"../a\n\xff", 1}, {"", UINT64_MAX}};
    for (size_t i = 0; i < 4; i++) {
        const struct ids_program program = {ids_intern_z(sink->strings, given[i].name), given[i].id, "xy", 2};
        OK(sink->ops->program(sink, &program, &err));
    }
    ck_assert_str_eq(kept.names, "jit_f(7).hlo_proto.pb|jit_f(7)(8).hlo_proto.pb|_._a__(1).hlo_proto.pb|"
                                 "(18446744073709551615).hlo_proto.pb|");
    ck_assert_uint_eq(kept.out.bytes.length, 8);
    ck_assert_uint_eq(export->events, 4);
    kept.refuse = 1;
    const struct ids_program program = {0, 1, "xy", 2};
    ck_assert_int_eq(sink->ops->program(sink, &program, &err), IDS_USAGE);
    ids_export_free(export);
    ids_buffer_done(&kept.out.bytes);
}
END_TEST

/* ---- gzip, contents, failures ---- */

START_TEST(gzip) {
    const size_t lengths[] = {0, 1, 262143, 262144, 262145, 5000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct memory_out out = {.out = {memory_write}};
        struct ids_gzip *packer;
        unsigned char *bytes = malloc(lengths[i] + 1), *back = malloc(lengths[i] + 1);
        ck_assert(bytes && back);
        for (size_t b = 0; b < lengths[i]; b++) bytes[b] = (unsigned char)(b * b >> 7);
        OK(ids_gzip_new(&out.out, &packer, &err));
        for (size_t at = 0; at < lengths[i]; at += 100003) {
            size_t left = lengths[i] - at;
            OK(ids_gzip_out(packer)->write(ids_gzip_out(packer), bytes + at, left < 100003 ? left : 100003, &err));
        }
        OK(ids_gzip_finish(packer, &err));
        ids_gzip_free(packer);
        z_stream stream = {.next_in = (unsigned char *)out.bytes.at, .avail_in = (unsigned)out.bytes.length};
        stream.next_out = back;
        stream.avail_out = (unsigned)lengths[i] + 1;
        ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
        ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END); /* one member, its sums right */
        ck_assert_uint_eq(stream.avail_in, 0);
        ck_assert_uint_eq(stream.total_out, lengths[i]);
        ck_assert_mem_eq(back, bytes, lengths[i]);
        inflateEnd(&stream);
        free(bytes);
        free(back);
        ids_buffer_done(&out.bytes);
    }
}
END_TEST

START_TEST(contents) {
    struct ids_contents all;
    OK(ids_contents_init(&all, &err));
    feed(&all.sink);
    const struct ids_program program = {0, 9, "xyz", 3};
    OK(all.sink.ops->program(&all.sink, &program, &err));
    ck_assert_uint_eq(all.events, 5);
    ck_assert_uint_eq(all.track_count, 1);
    ck_assert_uint_eq(all.tracks[0].events, 5);
    ck_assert_int_eq(all.tracks[0].id, -3);
    ck_assert_uint_eq(all.programs[0].bytes, 3);
    ids_contents_done(&all);
}
END_TEST

/* An output that refuses: each format hands the error on, at the latest when it ends. */
START_TEST(full) {
    for (int format = 0; format < ids_export_format_count; format++) {
        struct memory_out out = {.out = {memory_write}, .limit = 20};
        struct ids_export *export;
        OK(open_format(ids_export_formats[format]->name, 0, &out.out, &export));
        feed(&export->sink);
        feed_frames(&export->sink, 1);
        ck_assert_int_eq(export->finish(export, &err), IDS_IO);
        ck_assert_str_eq(err.text, "full");
        ids_export_free(export);
        ids_buffer_done(&out.bytes);
    }
    struct memory_out out = {.out = {memory_write}, .limit = 5};
    struct ids_gzip *packer;
    OK(ids_gzip_new(&out.out, &packer, &err));
    ck_assert_int_eq(ids_gzip_finish(packer, &err), IDS_IO);
    ids_gzip_free(packer);
    ids_buffer_done(&out.bytes);
}
END_TEST

IDS_RUN_SUITE("export", folded, chrome, csv, perfetto, xspace, xspace_of_another, gpu_details, xspace_only_used,
              programs, gzip, contents, full)
