/* lib/model/builder.c: a trace under a bound is that of the first part of the run, and says so. */
#include "lib/model/builder.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>

static struct ids_error err;

enum { KERNELS = 1000 };

/* A kernel each 10 ps and a launch before it; 1 ps is the first moment. */
static char *profile(void) {
    char *text = malloc(200 * KERNELS), *at = text;
    at += sprintf(at, "idsprof-mini 1\nplane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < KERNELS; i++) at += sprintf(at, "%d 5 k correlation_id=%d\n", 10 * i + 2, i + 1);
    at += sprintf(at, "plane /host:CPU\nline 1 main\n");
    for (int i = 0; i < KERNELS; i++) at += sprintf(at, "%d 1 cuLaunchKernel correlation_id=%d\n", 10 * i + 1, i + 1);
    return text;
}

static struct ids_builder *read(uint64_t most_bytes, int64_t until_ps) {
    struct ids_source *source;
    struct ids_builder *builder;
    char *text = profile();
    ck_assert_int_eq(ids_source_memory(text, strlen(text), &source, &err), 0);
    ck_assert_int_eq(ids_builder_new(&builder, &err), 0);
    ids_builder_bound(builder, most_bytes, until_ps);
    ck_assert_msg(!ids_mini_format.read(source, ids_builder_sink(builder), &err), "%s", err.text);
    ids_source_close(source);
    free(text);
    return builder;
}

static const struct ids_trace_diag *part_of(const struct ids_trace *trace) {
    for (size_t i = 0; i < trace->diag_count; i++) {
        if (!strcmp(trace->diags[i].id, "model.part")) return &trace->diags[i];
    }
    return NULL;
}

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

IDS_RUN_SUITE("builder", all_of_it, a_part, too_much)
