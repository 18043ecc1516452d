/* lib/model/builder.c: a trace under a bound is that of the first part of the run, and says so. */
#include "lib/io/temporary.h"
#include "lib/model/builder.h"
#include "lib/model/builder_parts.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static struct ids_error err;

enum { KERNELS = 1000 };

/* A kernel each 10 ps and a launch before it; 1 ps is the first moment. `host` NULL: it has no name. */
static char *profile(const char *host) {
    char *text = malloc(200 * KERNELS), *at = text;
    at += sprintf(at, "idsprof-mini 1\n");
    if (host) at += sprintf(at, "host %s\n", host);
    at += sprintf(at, "plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < KERNELS; i++) at += sprintf(at, "%d 5 k correlation_id=%d\n", 10 * i + 2, i + 1);
    at += sprintf(at, "plane /host:CPU\nline 1 main\n");
    for (int i = 0; i < KERNELS; i++) at += sprintf(at, "%d 1 cuLaunchKernel correlation_id=%d\n", 10 * i + 1, i + 1);
    return text;
}

static struct ids_builder *read(uint64_t most_bytes, int64_t until_ps) {
    struct ids_source *source;
    struct ids_builder *builder;
    char *text = profile(NULL);
    ck_assert_int_eq(ids_source_memory(text, strlen(text), &source, &err), 0);
    ck_assert_int_eq(ids_builder_new(&builder, &err), 0);
    ids_builder_bound(builder, most_bytes, until_ps);
    ck_assert_msg(!ids_mini_format.read(source, ids_builder_sink(builder), &err), "%s", err.text);
    ids_source_close(source);
    free(text);
    return builder;
}

enum { HOSTS = 4 };

/* The same on each of four hosts. */
static struct ids_builder *read_hosts(uint64_t most_bytes, ids_file_fn *make_file, uint64_t least_bytes) {
    struct ids_builder *builder;
    ck_assert_int_eq(ids_builder_new(&builder, &err), 0);
    ids_builder_bound(builder, most_bytes, INT64_MAX);
    ids_builder_put_far(builder, make_file, least_bytes);
    for (int h = 0; h < HOSTS; h++) {
        struct ids_source *source;
        char name[24], *text;
        snprintf(name, sizeof name, "host%d", h);
        text = profile(name);
        ck_assert_int_eq(ids_source_memory(text, strlen(text), &source, &err), 0);
        ck_assert_msg(!ids_mini_format.read(source, ids_builder_sink(builder), &err), "%s", err.text);
        ids_source_close(source);
        free(text);
    }
    return builder;
}

static struct ids_trace *finish(struct ids_builder *builder) {
    struct ids_trace *trace;
    ck_assert_msg(!ids_builder_finish(builder, &trace, &err), "%s", err.text);
    return trace;
}

/* Which launch made the device's event, as its index on the thread. */
static void check_hosts(const struct ids_trace *trace, struct ids_far *far) {
    ck_assert_uint_eq(trace->host_count, HOSTS);
    ck_assert_uint_eq(trace->device_count, HOSTS);
    for (uint32_t d = 0; d < HOSTS; d++) {
        const struct ids_device *device = &trace->devices[d];
        ck_assert_uint_eq(device->host, d);
        ck_assert_uint_eq(trace->hosts[d].first_device, d);
        ck_assert_uint_eq(device->activity.count, KERNELS);
        ck_assert_ptr_eq(device->activity.far, far);
        for (size_t i = 0; i < KERNELS; i++) {
            const struct ids_event *event = &device->activity.at[i], *launch = event->launch;
            ck_assert_int_eq(event->start_ps, 10 * (int64_t)i + 2);
            ck_assert_uint_eq(event->device, d);
            ck_assert_ptr_nonnull(launch);
            ck_assert_uint_eq(trace->tracks[launch->track].host, d);
            ck_assert_ptr_eq(launch, &trace->tracks[launch->track].events.at[i]);
        }
    }
}

static int files;
static int make_file(struct ids_error *error) {
    files++;
    return ids_temporary_file(error);
}

static int refuse_file(struct ids_error *error) {
    files++;
    return ids_fail(error, IDS_IO, "no room");
}

static int make_full_file(struct ids_error *error) {
    (void)error;
    files++;
    return open("/dev/full", O_RDWR);
}

static const struct ids_trace_diag *part_of(const struct ids_trace *trace) {
    for (size_t i = 0; i < trace->diag_count; i++) {
        if (!strcmp(trace->diags[i].id, "model.part")) return &trace->diags[i];
    }
    return NULL;
}

/* Ops and devices of the same name or number are others in another program and on another host. */
START_TEST(ops_of_programs_and_hosts) {
    static const char *const texts[] = {"host a", "host b"};
    struct ids_builder *builder;
    ck_assert_int_eq(ids_builder_new(&builder, &err), 0);
    for (int h = 0; h < 2; h++) {
        struct ids_source *source;
        char text[1000], *at = text;
        at += sprintf(at, "idsprof-mini 1\n%s\nplane /host:CPU\nline 1 main\n", texts[h]);
        for (int i = 0; i < 8; i++)
            at += sprintf(at, "%d 5 dot hlo_op=dot hlo_module=m%d device_ordinal=0\n", 10 * i, i % 4 / 2);
        ck_assert_int_eq(ids_source_memory(text, strlen(text), &source, &err), 0);
        ck_assert_msg(!ids_mini_format.read(source, ids_builder_sink(builder), &err), "%s", err.text);
        ids_source_close(source);
    }
    struct ids_trace *trace;
    ck_assert_msg(!ids_builder_finish(builder, &trace, &err), "%s", err.text);
    ck_assert_uint_eq(trace->device_count, 2);
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_events *activity = &trace->devices[d].activity;
        ck_assert_uint_eq(activity->count, 8);
        for (size_t i = 0; i < activity->count; i++) {
            const struct ids_op *op = &trace->ops[activity->at[i].op];
            const char *module = ids_trace_text(trace, trace->modules[op->module].name);
            ck_assert_msg(module[1] == (i % 4 < 2 ? '0' : '1'), "op %zu is of %s", i, module);
        }
    }
    ids_trace_free(trace);
}
END_TEST

START_TEST(all_of_it) {
    int64_t until_ps;
    struct ids_trace *trace;
    struct ids_builder *builder = read(UINT64_MAX, INT64_MAX);
    ck_assert_int_eq(ids_builder_overflowed(builder, &until_ps), 0);
    ck_assert_int_eq(ids_builder_finish(builder, &trace, &err), 0);
    ck_assert_uint_eq(trace->devices[0].activity.count, KERNELS);
    ck_assert_ptr_null(part_of(trace));
    ids_trace_free(trace);
}
END_TEST

/* Up to 3,000 ps begin 300 kernels and their launches; all 2,000 events are counted. */
START_TEST(a_part) {
    struct ids_trace *trace;
    ck_assert_int_eq(ids_builder_finish(read(UINT64_MAX, 3000), &trace, &err), 0);
    ck_assert_uint_eq(trace->devices[0].activity.count, 300);
    ck_assert_ptr_nonnull(trace->devices[0].activity.at[299].launch);
    ck_assert_uint_eq(trace->event_count, 2 * KERNELS);
    const struct ids_trace_diag *part = part_of(trace);
    ck_assert_ptr_nonnull(part);
    ck_assert_uint_eq(part->count, 1400);
    ids_trace_free(trace);
}
END_TEST

/* Half of the bytes that all take: the part that is proposed fits, and is most of that half. */
START_TEST(too_much) {
    int64_t until_ps = 0, again_ps;
    struct ids_trace *trace;
    uint64_t all =
        2 * KERNELS * (uint64_t)sizeof(struct ids_event) + KERNELS * 24; /* and 24 a record of the open track */
    struct ids_builder *builder = read(all / 2, INT64_MAX);
    ck_assert_int_eq(ids_builder_overflowed(builder, &until_ps), 1);
    ids_builder_free(builder);
    ck_assert_int_gt(until_ps, 4000);
    ck_assert_int_lt(until_ps, 5000);
    builder = read(all / 2, until_ps);
    ck_assert_int_eq(ids_builder_overflowed(builder, &again_ps), 0);
    ck_assert_int_eq(ids_builder_finish(builder, &trace, &err), 0);
    ck_assert_uint_eq(trace->devices[0].activity.count, (size_t)(until_ps - 2 + 9) / 10);
    ids_trace_free(trace);
    /* A bound that nothing fits under leaves a trace without events. */
    builder = read(10, until_ps);
    ck_assert_int_eq(ids_builder_overflowed(builder, &again_ps), 1);
    ids_builder_free(builder);
    ck_assert_int_lt(again_ps, until_ps);
    ck_assert_int_eq(ids_builder_finish(read(10, INT64_MIN), &trace, &err), 0);
    ck_assert_uint_eq(trace->devices[0].activity.count, 0);
    ck_assert_uint_eq(trace->event_count, 2 * KERNELS);
    ids_trace_free(trace);
}
END_TEST

/* Far or near, the trace is the same; one file serves all hosts, and none is made for little. */
START_TEST(hosts_lie_far) {
    const uint64_t host_bytes = 2 * KERNELS * sizeof(struct ids_event);
    struct ids_trace *trace = finish(read_hosts(UINT64_MAX, make_file, 1));
    ck_assert_ptr_nonnull(trace->far);
    check_hosts(trace, trace->far);
    ck_assert_uint_ge(ids_far_bytes(trace->far), HOSTS * host_bytes);
    ck_assert_int_eq(files, 1);
    ids_trace_free(trace);
    trace = finish(read_hosts(UINT64_MAX, make_file, HOSTS * 2 * host_bytes));
    ck_assert_ptr_null(trace->far);
    check_hosts(trace, NULL);
    ck_assert_int_eq(files, 1);
    ids_trace_free(trace);
}
END_TEST

/* What lies far is no memory: a bound that one host fits under and two do not is no bound for four. */
START_TEST(what_lies_far_is_not_held) {
    const uint64_t bound = 2 * KERNELS * sizeof(struct ids_event) * 3 / 2;
    int64_t until_ps;
    struct ids_builder *builder = read_hosts(bound, NULL, 1);
    ck_assert_int_eq(ids_builder_overflowed(builder, &until_ps), 1);
    ids_builder_free(builder);
    builder = read_hosts(bound, make_file, 1);
    ck_assert_int_eq(ids_builder_overflowed(builder, &until_ps), 0);
    struct ids_trace *trace = finish(builder);
    check_hosts(trace, trace->far);
    ids_trace_free(trace);
}
END_TEST

/* Without a file, and with one that has no room, all stays in memory and under its bound; the disk is asked once. */
START_TEST(without_room_hosts_are_held) {
    const uint64_t bound = 2 * KERNELS * sizeof(struct ids_event) * 3 / 2;
    ids_file_fn *const makers[] = {refuse_file, make_full_file};
    for (int i = 0; i < 2; i++) {
        int64_t until_ps;
        files = 0;
        struct ids_trace *trace = finish(read_hosts(UINT64_MAX, makers[i], 1));
        check_hosts(trace, NULL);
        ck_assert_int_eq(files, 1);
        ids_trace_free(trace);
        struct ids_builder *builder = read_hosts(bound, makers[i], 1);
        ck_assert_int_eq(ids_builder_overflowed(builder, &until_ps), 1);
        ids_builder_free(builder);
    }
}
END_TEST

/* A list that lies far and grows moves to memory. */
START_TEST(a_far_list_may_grow) {
    struct ids_trace *trace = finish(read_hosts(UINT64_MAX, make_file, 1));
    struct ids_events *activity = &trace->devices[1].activity;
    const struct ids_event last = {.start_ps = 5};
    struct ids_event *added = ids_events_add(activity);
    ck_assert_ptr_nonnull(added);
    *added = last;
    ck_assert_ptr_null(activity->far);
    ck_assert_uint_eq(activity->count, KERNELS + 1);
    for (size_t i = 0; i < KERNELS; i++) ck_assert_int_eq(activity->at[i].start_ps, 10 * (int64_t)i + 2);
    ck_assert_ptr_nonnull(ids_events_add(activity));
    ids_trace_free(trace);
}
END_TEST

/* A part of the only plane, behind as many threads, with a thread of as many events that are only counted. */
static struct ids_builder *read_part(struct ids_sink *sink, uint32_t plane, size_t before, uint32_t name, int events) {
    struct ids_sink *part;
    const struct ids_track_info info = {.plane = plane};
    uint32_t track;
    ck_assert_int_eq(sink->parts->begin(sink, plane, before, &part, &err), 0);
    ck_assert_int_eq(part->ops->track(part, &info, &track, &err), 0);
    for (int i = 0; i < events; i++) {
        const struct ids_slice slice = {.start_ps = 10 * i, .duration_ps = 5, .name = name};
        ck_assert_int_eq(part->ops->slice(part, track, &slice, &err), 0);
    }
    ck_assert_int_eq(part->ops->track_end(part, track, &err), 0);
    sink->parts->end(part);
    return (struct ids_builder *)part;
}

/* Of as many events each thread has one sum. */
static void check_sums(const struct ids_trace *trace, const uint64_t *counts, size_t count) {
    ck_assert_uint_eq(trace->aggregate_count, count);
    for (uint32_t t = 0; t < count; t++) {
        ck_assert_uint_eq(trace->aggregates[t].track, t);
        ck_assert_uint_eq(trace->aggregates[t].count, counts[t]);
    }
}

/* What a part has read with serves the next one, and is let go before what parts have is taken over. */
START_TEST(parts_read_in_the_same_memory) {
    static const uint64_t counts[] = {3000, 2000};
    struct ids_builder *builder, *parts[2];
    int taken;
    ck_assert_int_eq(ids_builder_new(&builder, &err), 0);
    struct ids_sink *sink = ids_builder_sink(builder);
    const struct ids_host_info host = {0};
    const struct ids_plane_info info = {.name = ids_intern_z(sink->strings, "/host:CPU")};
    uint32_t plane, name;
    ck_assert_int_eq(sink->ops->host(sink, &host, &err), 0);
    ck_assert_int_eq(sink->ops->plane(sink, &info, &plane, &err), 0);
    const struct ids_name_info inner = {.plane = plane, .text = ids_intern_z(sink->strings, "inner")};
    ck_assert_int_eq(sink->ops->name(sink, &inner, &name, &err), 0);
    parts[0] = read_part(sink, plane, 0, name, 3000);
    struct ids_assembly *left = builder->idle_of_parts[0];
    ck_assert_ptr_nonnull(left);
    const struct ids_passing *memory = left->at;
    ck_assert_uint_ge(left->room, 3000);
    ck_assert_ptr_null(left->aggregate_of_name); /* its numbers are of the first part's sums */
    parts[1] = read_part(sink, plane, 1, name, 2000);
    left = builder->idle_of_parts[0];
    ck_assert_ptr_nonnull(left);
    ck_assert_ptr_eq(left->at, memory);
    ck_assert_ptr_null(builder->idle_of_parts[1]);
    ck_assert_int_eq(sink->parts->take(sink, &parts[1]->sink, &taken, &err), 0);
    ck_assert_int_eq(taken, 0); /* its threads would have the numbers of those before them */
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sink->parts->take(sink, &parts[i]->sink, &taken, &err), 0);
        ck_assert_int_eq(taken, 1);
        ck_assert_ptr_null(builder->idle_of_parts[0]);
        sink->parts->free(&parts[i]->sink);
    }
    struct ids_trace *trace = finish(builder);
    check_sums(trace, counts, 2);
    ids_trace_free(trace);
}
END_TEST

IDS_RUN_SUITE("builder", ops_of_programs_and_hosts, all_of_it, a_part, too_much, hosts_lie_far,
              what_lies_far_is_not_held, without_room_hosts_are_held, a_far_list_may_grow,
              parts_read_in_the_same_memory)
