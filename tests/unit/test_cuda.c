/* The parts of collector B that are pure, under the sanitizers: records as CUPTI lays them out, cut and odd ones; names
 * of calls; what belongs to which call; occupancy. The whole of it is in tests/cuda. */
#include "collectors/cuda/buffers.h"
#include "collectors/cuda/calls.h"
#include "collectors/cuda/occupancy.h"
#include "collectors/cuda/records.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ids_cuda_records *records;

static void begin_records(void) {
    records = ids_cuda_records_new();
    ck_assert_ptr_nonnull(records);
}

static void done(void) {
    ids_cuda_records_free(records);
    records = NULL;
}

/* In a buffer of exactly `size` bytes, so that a read beyond it is found. */
static void add(const void *record, size_t size) {
    struct ids_cupti_record *copy = malloc(size);
    memcpy(copy, record, size);
    ids_cuda_records_add(records, copy, size);
    free(copy);
}

static struct ids_cupti_kernel kernel_of(const char *name, uint64_t start, uint64_t end, uint32_t correlation) {
    return (struct ids_cupti_kernel){.kind = IDS_CUPTI_CONCURRENT_KERNEL,
                                     .start = start,
                                     .end = end,
                                     .name = name,
                                     .correlation = correlation,
                                     .registers = 40,
                                     .grid = {1, 2, 3},
                                     .block = {4, 5, 6}};
}

static struct ids_cupti_call call_of(uint32_t kind, uint32_t function, uint64_t start, uint64_t end,
                                     uint32_t correlation) {
    return (struct ids_cupti_call){
        .kind = kind, .function = function, .start = start, .end = end, .correlation = correlation};
}

START_TEST(a_record_that_is_cut_is_left_out) {
    begin_records();
    struct ids_cupti_kernel kernel = kernel_of("k", 1, 2, 3);
    for (size_t size = 1; size < sizeof kernel; size++) add(&kernel, size);
    ck_assert_uint_eq(ids_cuda_records_counts(records).events, 0);
    ck_assert_uint_eq(ids_cuda_records_counts(records).unknown, sizeof kernel - 1);
    add(&kernel, sizeof kernel);
    ck_assert_uint_eq(ids_cuda_records_counts(records).events, 1);
    done();
}
END_TEST

START_TEST(activity_that_has_not_ended_is_counted) {
    begin_records();
    struct ids_cupti_kernel running = kernel_of("k", 5, 0, 1), unseen = kernel_of("k", 0, 0, 2),
                            ended = kernel_of("k", 5, 5, 3);
    add(&running, sizeof running);
    add(&unseen, sizeof unseen);
    add(&ended, sizeof ended);
    ck_assert_uint_eq(ids_cuda_records_counts(records).incomplete, 2);
    ck_assert_uint_eq(ids_cuda_records_counts(records).events, 1);
    done();
}
END_TEST

START_TEST(kinds_nobody_asked_for) {
    begin_records();
    uint32_t kinds[] = {0, 3, 9, 63, UINT32_MAX};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct ids_cupti_kernel record = kernel_of("k", 1, 2, 3);
        record.kind = kinds[i];
        add(&record, sizeof record);
    }
    ck_assert_uint_eq(ids_cuda_records_counts(records).unknown, 5);
    ck_assert_uint_eq(ids_cuda_records_counts(records).events, 0);
    done();
}
END_TEST

START_TEST(names_and_shapes_are_kept_once_and_copied) {
    begin_records();
    char name[IDS_CUDA_TEXT_LENGTH + 100];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    for (int i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof text, "kernel_%d", i % 1000);
        struct ids_cupti_kernel kernel = kernel_of(text, 1, 2, 3);
        kernel.grid[0] = i % 500;
        add(&kernel, sizeof kernel);
        memset(text, '?', sizeof text - 1); /* the module is unloaded */
    }
    struct ids_cupti_kernel nameless = kernel_of(NULL, 1, 2, 3), empty = kernel_of("", 1, 2, 3),
                            long_one = kernel_of(name, 1, 2, 3);
    add(&nameless, sizeof nameless);
    add(&empty, sizeof empty);
    add(&long_one, sizeof long_one);
    struct ids_cuda_counts counts = ids_cuda_records_counts(records);
    ck_assert_uint_eq(counts.events, 5003);
    ck_assert_uint_eq(counts.texts, 1001);
    ck_assert_uint_eq(counts.shapes, 500); /* 0 to 499; the last three have the one of 1 */
    const struct ids_cuda_event *event = ids_cuda_records_event(records, 4321);
    ck_assert_str_eq(ids_cuda_records_text(records, event->name), "kernel_321");
    ck_assert_int_eq(ids_cuda_records_shape(records, event->detail)->grid[0], 321);
    ck_assert_str_eq(ids_cuda_records_text(records, ids_cuda_records_event(records, 5000)->name), "");
    ck_assert_str_eq(ids_cuda_records_text(records, ids_cuda_records_event(records, 5001)->name), "");
    ck_assert_uint_eq(strlen(ids_cuda_records_text(records, ids_cuda_records_event(records, 5002)->name)),
                      IDS_CUDA_TEXT_LENGTH);
    done();
}
END_TEST

/* ---- calls ---- */

static int name_call(uint32_t domain, uint32_t function, const char **name) {
    static const char *const names[] = {NULL,
                                        "cudaLaunchKernel_v7000",
                                        "cudaLaunchKernel_ptsz_v7000",
                                        "cuMemcpyHtoDAsync_v2",
                                        "cuLaunchKernel_ptsz",
                                        "cudaStreamBeginCapture_v10000",
                                        "cudaStreamEndCapture_v10000",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuMemcpyHtoDAsync_v2_ptsz",
                                        ""};
    (void)domain;
    if (function >= sizeof names / sizeof *names) return 1;
    *name = names[function];
    return 0;
}

static int name_nothing(uint32_t domain, uint32_t function, const char **name) {
    (void)domain, (void)function, (void)name;
    return IDS_CUPTI_UNKNOWN;
}

START_TEST(names_of_calls) {
    struct ids_cupti cupti = {.function_name = name_call}, silent = {.function_name = name_nothing}, old = {0};
    static const struct {
        uint32_t function;
        const char *name;
    } table[] = {{0, "CUDA runtime call 0"}, {1, "cudaLaunchKernel"},    {2, "cudaLaunchKernel"},
                 {3, "cuMemcpyHtoDAsync"},   {4, "cuLaunchKernel"},      {7, "cuDevicePrimaryCtxRetain"},
                 {8, "cuMemcpyHtoDAsync"},   {9, "CUDA runtime call 9"}, {77, "CUDA runtime call 77"}};
    char text[64];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ids_cuda_call_name(&cupti, IDS_CUPTI_DOMAIN_RUNTIME, table[i].function, text, sizeof text);
        ck_assert_str_eq(text, table[i].name);
    }
    ids_cuda_call_name(&silent, IDS_CUPTI_DOMAIN_DRIVER, 5, text, sizeof text);
    ck_assert_str_eq(text, "CUDA driver call 5");
    ids_cuda_call_name(&old, IDS_CUPTI_DOMAIN_DRIVER, 5, text, sizeof text);
    ck_assert_str_eq(text, "CUDA driver call 5");
}
END_TEST

START_TEST(launches_that_are_not_on_a_device_yet) {
    begin_records();
    struct ids_cupti cupti = {.function_name = name_call};
    struct ids_cupti_call calls[] = {call_of(IDS_CUPTI_RUNTIME, 1, 10, 20, 1), call_of(IDS_CUPTI_RUNTIME, 1, 30, 40, 2),
                                     call_of(IDS_CUPTI_RUNTIME, 7, 50, 60, 3), /* launches nothing */
                                     call_of(IDS_CUPTI_RUNTIME, 1, 500, 510, 4)};
    struct ids_cupti_kernel first = kernel_of("k", 100, 200, 1), second = kernel_of("k", 200, 300, 2);
    for (size_t i = 0; i < 4; i++) add(&calls[i], sizeof calls[i]);
    ck_assert_int_eq(ids_cuda_missing(&cupti, records, 400), 2);
    add(&second, sizeof second);
    ck_assert_int_eq(ids_cuda_missing(&cupti, records, 400), 1);
    add(&first, sizeof first);
    ck_assert_int_eq(ids_cuda_missing(&cupti, records, 400), 0);
    ck_assert_int_eq(ids_cuda_missing(&cupti, records, 500), 1);
    done();
}
END_TEST

START_TEST(launches_of_a_capture_and_failed_ones_are_not_awaited) {
    begin_records();
    struct ids_cupti cupti = {.function_name = name_call};
    struct ids_cupti_call begin = call_of(IDS_CUPTI_RUNTIME, 5, 10, 11, 1),
                          inside = call_of(IDS_CUPTI_RUNTIME, 1, 20, 21, 2),
                          end = call_of(IDS_CUPTI_RUNTIME, 6, 30, 31, 3),
                          failed = call_of(IDS_CUPTI_RUNTIME, 1, 40, 41, 4);
    failed.result = 700;
    add(&begin, sizeof begin);
    add(&inside, sizeof inside);
    add(&end, sizeof end);
    add(&failed, sizeof failed);
    ck_assert_int_eq(ids_cuda_missing(&cupti, records, 100), 0);
    struct ids_cupti_call after = call_of(IDS_CUPTI_RUNTIME, 1, 50, 51, 5);
    add(&after, sizeof after);
    ck_assert_int_eq(ids_cuda_missing(&cupti, records, 100), 1);
    done();
}
END_TEST

START_TEST(what_belongs_together) {
    begin_records();
    struct ids_cupti_call call = call_of(IDS_CUPTI_RUNTIME, 1, 10, 20, 7);
    struct ids_cupti_kernel kernel = kernel_of("k", 100, 200, 7);
    struct ids_cupti_marker begin = {
        .kind = IDS_CUPTI_MARKER, .flags = IDS_CUPTI_MARKER_START, .timestamp = 5, .id = 3, .name = "r"};
    struct ids_cupti_marker ends[] = {
        {.kind = IDS_CUPTI_MARKER, .flags = IDS_CUPTI_MARKER_END, .timestamp = 2, .id = 3},
        {.kind = IDS_CUPTI_MARKER, .flags = IDS_CUPTI_MARKER_END, .timestamp = 90, .id = 3},
        {.kind = IDS_CUPTI_MARKER, .flags = IDS_CUPTI_MARKER_END, .timestamp = 9, .id = 4},
        {.kind = IDS_CUPTI_MARKER, .flags = IDS_CUPTI_MARKER_END, .timestamp = 50, .id = 3}};
    struct ids_cuda_links links;
    add(&kernel, sizeof kernel);
    add(&call, sizeof call);
    add(&begin, sizeof begin);
    for (size_t i = 0; i < 4; i++) add(&ends[i], sizeof ends[i]);
    ck_assert_int_eq(ids_cuda_links_make(&links, records), 0);
    size_t at = ids_cuda_links_of(&links, 7);
    ck_assert_uint_eq(at, 0);
    ck_assert_uint_eq(links.count, 2);
    ck_assert_uint_eq(ids_cuda_links_of(&links, 8), links.count);
    ck_assert_uint_eq(ids_cuda_links_of(&links, 0), links.count);
    ck_assert(ids_cuda_links_called(&links, records, 7, 10));
    ck_assert(!ids_cuda_links_called(&links, records, 7, 9));
    ck_assert_uint_eq(ids_cuda_links_range_end(&links, ids_cuda_records_event(records, 2)), 50);
    ids_cuda_links_free(&links);
    done();
}
END_TEST

/* ---- occupancy, by hand: an A100 has 2,048 threads, 32 blocks, 65,536 registers and 164 KiB of shared memory a
 * multiprocessor ---- */

START_TEST(occupancy) {
    static const struct ids_cuda_multiprocessor a100 = {8,
                                                        108,
                                                        166912,
                                                        {.warp = 32,
                                                         .threads = 2048,
                                                         .threads_per_block = 1024,
                                                         .blocks = 32,
                                                         .registers = 65536,
                                                         .registers_per_block = 65536,
                                                         .shared = 167936,
                                                         .shared_per_block = 49152,
                                                         .shared_reserved = 1024}};
    struct ids_cuda_multiprocessor unknown = a100, old = a100;
    unknown.of.registers = 0;
    old.major = 6;
    /* 255 registers take 8,160 of a warp, as 8,192: 2 warps in a quarter's 16,384, 8 in all: 256 threads */
    ck_assert_double_eq(ids_occupancy(&a100, 255, 0, 0, 256).percent, 12.5);
    /* 1,024 threads of 65 registers: 2,304 a warp, 7 in a quarter, 28: no whole block of 32 warps */
    ck_assert_double_eq(ids_occupancy(&a100, 65, 0, 0, 1024).percent, 0);
    /* 48 KiB and 1 KiB for the driver: 3 blocks in 164 KiB */
    ck_assert_double_eq(ids_occupancy(&a100, 16, 49152, 0, 256).percent, 37.5);
    /* more than an opt-in allows */
    ck_assert_double_eq(ids_occupancy(&a100, 16, 0, 167000, 256).percent, 0);
    ck_assert_double_eq(ids_occupancy(&a100, 16, 0, 0, 2048).percent, 0);
    ck_assert_double_eq(ids_occupancy(&a100, 16, -1, 0, 256).percent, 0);
    ck_assert_double_eq(ids_occupancy(&unknown, 16, 0, 0, 256).percent, 0);
    ck_assert_double_eq(ids_occupancy(&old, 16, 0, 0, 256).percent, 0);
    ck_assert_double_eq(ids_occupancy(&a100, 16, 0, 0, INT64_C(1) << 62).percent, 0);
}
END_TEST

/* ---- buffers ---- */

START_TEST(buffers_go_round) {
    struct ids_cuda_buffers buffers = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct ids_cuda_full full;
    uint8_t *taken[IDS_CUDA_BUFFERS];
    ck_assert_int_eq(ids_cuda_buffers_take(&buffers), 0);
    for (int i = 0; i < IDS_CUDA_BUFFERS; i++) ck_assert_ptr_nonnull(taken[i] = ids_cuda_buffers_give(&buffers));
    ck_assert_ptr_null(ids_cuda_buffers_give(&buffers));
    ck_assert_uint_eq(buffers.refused, 1);
    ck_assert_uint_eq(ids_cuda_buffers_out(&buffers), IDS_CUDA_BUFFERS);
    ids_cuda_buffers_come(&buffers, taken[3], 8);
    ids_cuda_buffers_come(&buffers, taken[1], 16);
    ids_cuda_buffers_come(&buffers, taken[2], 0);               /* empty: free at once */
    ids_cuda_buffers_come(&buffers, taken[0] + 8, 8);           /* none of ours */
    ids_cuda_buffers_come(&buffers, (uint8_t *)&full, 8);       /* nor that */
    ids_cuda_buffers_come(&buffers, taken[4], (size_t)1 << 40); /* more than a buffer holds: not read */
    ck_assert_uint_eq(ids_cuda_buffers_out(&buffers), IDS_CUDA_BUFFERS - 4);
    ck_assert_int_eq(ids_cuda_buffers_next(&buffers, 1, &full), 1);
    ck_assert_ptr_eq(full.at, taken[3]);
    ids_cuda_buffers_back(&buffers, &full);
    ck_assert_int_eq(ids_cuda_buffers_next(&buffers, 0, &full), 1);
    ck_assert_uint_eq(full.valid, 16);
    ids_cuda_buffers_back(&buffers, &full);
    ck_assert_int_eq(ids_cuda_buffers_next(&buffers, 0, &full), 0);
    ids_cuda_buffers_end(&buffers);
    ck_assert_int_eq(ids_cuda_buffers_next(&buffers, 1, &full), 0);
    /* What CUPTI did not give back stays where it is in the next window, and is not handed out twice. */
    ck_assert_int_eq(ids_cuda_buffers_take(&buffers), 0);
    ck_assert_uint_eq(ids_cuda_buffers_out(&buffers), IDS_CUDA_BUFFERS - 4);
    for (int i = 0; i < 4; i++) ck_assert_ptr_ne(ids_cuda_buffers_give(&buffers), taken[0]);
    ck_assert_ptr_null(ids_cuda_buffers_give(&buffers));
    /* Between windows none is given out, and what comes back then is of no window. */
    ids_cuda_buffers_release(&buffers);
    ck_assert_ptr_nonnull(buffers.memory);
    ids_cuda_buffers_come(&buffers, taken[0], 8);
    ids_cuda_buffers_come(&buffers, taken[1], 0);
    ck_assert_ptr_null(ids_cuda_buffers_give(&buffers));
    ck_assert_int_eq(ids_cuda_buffers_take(&buffers), 0);
    ck_assert_int_eq(ids_cuda_buffers_next(&buffers, 0, &full), 0);
    ck_assert_ptr_eq(ids_cuda_buffers_give(&buffers), taken[0]);
    ck_assert_ptr_eq(ids_cuda_buffers_give(&buffers), taken[1]);
    for (int i = 0; i < IDS_CUDA_BUFFERS; i++) ids_cuda_buffers_come(&buffers, taken[i], 0);
    ids_cuda_buffers_release(&buffers);
    ck_assert_ptr_null(buffers.memory);
}
END_TEST

IDS_RUN_SUITE("cuda", a_record_that_is_cut_is_left_out, activity_that_has_not_ended_is_counted, kinds_nobody_asked_for,
              names_and_shapes_are_kept_once_and_copied, names_of_calls, launches_that_are_not_on_a_device_yet,
              launches_of_a_capture_and_failed_ones_are_not_awaited, what_belongs_together, occupancy, buffers_go_round)
