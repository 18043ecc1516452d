/* lib/model/partial_rows.c: what was written comes back, and numbers that name nothing do not. */
#include "lib/model/partial_rows.h"
#include "tests/support/suite.h"

enum { ROWS = 3 };

static int read_back(struct ids_event *events, const uint64_t *counts) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_event back[ROWS] = {0};
    struct ids_buffer bytes = {0};
    ids_partial_put(&bytes, &ids_partial_thread_event, events, sizeof *events, ROWS);
    struct ids_partial_reader reader = {.at = (const uint8_t *)bytes.at,
                                        .end = (const uint8_t *)bytes.at + bytes.length};
    memcpy(reader.count_of, counts, sizeof reader.count_of);
    int code = ids_partial_get(&reader, &ids_partial_thread_event, back, sizeof *back, ROWS, &err);
    if (!code) ck_assert_ptr_eq(reader.at, reader.end);
    if (!code) ck_assert_mem_eq(back, events, sizeof back);
    /* One byte less is never enough. */
    struct ids_partial_reader less = {.at = (const uint8_t *)bytes.at,
                                      .end = (const uint8_t *)bytes.at + bytes.length - 1};
    memcpy(less.count_of, counts, sizeof less.count_of);
    memset(back, 0, sizeof back);
    ck_assert_int_ne(ids_partial_get(&less, &ids_partial_thread_event, back, sizeof *back, ROWS, &err), 0);
    ids_buffer_done(&bytes);
    return code;
}

static void make(struct ids_event events[ROWS]) {
    memset(events, 0, ROWS * sizeof *events);
    for (int i = 0; i < ROWS; i++) {
        events[i].start_ps = -5 + 1000000000000 * i;
        events[i].end_ps = events[i].start_ps + 70 * i;
        events[i].self_ps = 60 * i;
        events[i].produces = 0x123456789abcdef0u * (unsigned)i;
        events[i].value = -i;
        events[i].call = (uint32_t)i;
        events[i].name = (uint32_t)i;
        events[i].op = i == 1 ? IDS_NONE : (uint32_t)i;
        events[i].parent = events[i].device = IDS_NONE;
    }
}

START_TEST(events_come_back) {
    uint64_t counts[IDS_PARTIAL_KINDS] = {0};
    struct ids_event events[ROWS];
    make(events);
    counts[IDS_PARTIAL_NAME] = counts[IDS_PARTIAL_OP] = ROWS;
    counts[IDS_PARTIAL_CALL] = ROWS - 1; /* from 1: 2 is the last */
    counts[IDS_PARTIAL_TRACK] = 1;
    ck_assert_int_eq(read_back(events, counts), 0);
}
END_TEST

/* The bytes of moments that come and go by some thousand of a unit. */
static size_t bytes_of_times(int64_t unit_ps) {
    enum { TIMES = 200 };
    struct ids_counter_sample samples[TIMES] = {{0}}, back[TIMES] = {{0}};
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_buffer bytes = {0};
    for (int i = 0; i < TIMES; i++) samples[i].at_ps = (i * 1000 - 3000 + i * i * 7919 % 5003) * unit_ps;
    ids_partial_put(&bytes, &ids_partial_counter_sample, samples, sizeof *samples, TIMES);
    struct ids_partial_reader reader = {.at = (const uint8_t *)bytes.at,
                                        .end = (const uint8_t *)bytes.at + bytes.length};
    ck_assert_int_eq(ids_partial_get(&reader, &ids_partial_counter_sample, back, sizeof *back, TIMES, &err), 0);
    ck_assert_ptr_eq(reader.at, reader.end);
    ck_assert_mem_eq(back, samples, sizeof back);
    size_t length = bytes.length;
    ids_buffer_done(&bytes);
    return length;
}

/* The unit itself takes two bytes. */
START_TEST(whole_nanoseconds_are_short) {
    ck_assert_uint_le(bytes_of_times(1000), bytes_of_times(1) + 2);
    ck_assert_uint_le(bytes_of_times(999), bytes_of_times(1) + 2);
}
END_TEST

START_TEST(numbers_are_of_something) {
    static const enum ids_partial_kind kinds[] = {IDS_PARTIAL_NAME, IDS_PARTIAL_OP, IDS_PARTIAL_CALL,
                                                  IDS_PARTIAL_TRACK};
    struct ids_event events[ROWS];
    make(events);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t counts[IDS_PARTIAL_KINDS] = {0};
        counts[IDS_PARTIAL_NAME] = counts[IDS_PARTIAL_OP] = ROWS;
        counts[IDS_PARTIAL_CALL] = ROWS - 1;
        counts[IDS_PARTIAL_TRACK] = 1;
        counts[kinds[k]]--;
        ck_assert_msg(read_back(events, counts) == IDS_CORRUPT, "kind %zu", k);
    }
}
END_TEST

/* What a device and a thread have of their own lies in the same bytes. */
START_TEST(shapes_are_of_devices) {
    static const uint32_t shapes[] = {4, 5, 6};
    struct ids_event events[ROWS], back[ROWS] = {0};
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_buffer bytes = {0};
    make(events);
    for (int i = 0; i < ROWS; i++) {
        events[i].call = 0;
        events[i].shape = (uint32_t)i;
        events[i].device = 0;
        events[i].in_graph = 1;
    }
    ids_partial_put(&bytes, &ids_partial_device_event, events, sizeof *events, ROWS);
    struct ids_partial_reader reader = {.at = (const uint8_t *)bytes.at,
                                        .end = (const uint8_t *)bytes.at + bytes.length};
    for (int i = 0; i < IDS_PARTIAL_KINDS; i++) reader.count_of[i] = ROWS;
    struct ids_partial_reader less = reader;
    ck_assert_int_eq(ids_partial_get(&reader, &ids_partial_device_event, back, sizeof *back, ROWS, &err), 0);
    ck_assert_mem_eq(back, events, sizeof back);
    less.count_of[IDS_PARTIAL_SHAPE] = ROWS - 1;
    ck_assert_int_eq(ids_partial_get(&less, &ids_partial_device_event, back, sizeof *back, ROWS, &err), IDS_CORRUPT);
    ids_buffer_done(&bytes);
    struct ids_partial_moves moves = {0};
    moves.map[IDS_PARTIAL_SHAPE] = shapes;
    ids_partial_renumber(&moves, &ids_partial_thread_event, events, sizeof *events, ROWS);
    ck_assert_uint_eq(events[1].shape, 1);
    ids_partial_renumber(&moves, &ids_partial_device_event, events, sizeof *events, ROWS);
    ck_assert_uint_eq(events[1].shape, 5);
}
END_TEST

START_TEST(times_and_enums_are_in_range) {
    uint64_t counts[IDS_PARTIAL_KINDS];
    struct ids_event events[ROWS];
    for (int i = 0; i < IDS_PARTIAL_KINDS; i++) counts[i] = ROWS;
    make(events);
    events[1].end_ps = events[1].start_ps - 1;
    ck_assert_int_eq(read_back(events, counts), IDS_CORRUPT);
    make(events);
    events[2].end_ps = INT64_MAX;
    ck_assert_int_eq(read_back(events, counts), IDS_CORRUPT);
    make(events);
    events[0].self_ps = -1;
    ck_assert_int_eq(read_back(events, counts), IDS_CORRUPT);
    make(events);
    events[0].kind = IDS_KIND_COUNT;
    ck_assert_int_eq(read_back(events, counts), IDS_CORRUPT);
    make(events);
    events[2].annotation = 2;
    ck_assert_int_eq(read_back(events, counts), IDS_CORRUPT);
}
END_TEST

START_TEST(numbers_follow_those_before) {
    static const uint32_t ops[] = {7, 8, 9};
    struct ids_event events[ROWS];
    make(events);
    struct ids_partial_moves moves = {.shift_ps = 100, .link = 5};
    moves.map[IDS_PARTIAL_OP] = ops;
    moves.first[IDS_PARTIAL_NAME] = 10;
    moves.first[IDS_PARTIAL_CALL] = 20;
    ids_partial_renumber(&moves, &ids_partial_thread_event, events, sizeof *events, ROWS);
    ck_assert_int_eq(events[0].start_ps, 95);
    ck_assert_int_eq(events[2].end_ps - events[2].start_ps, 140);
    ck_assert_uint_eq(events[0].produces, 0); /* none stays none */
    ck_assert_uint_eq(events[1].produces, 0x123456789abcdef0u + 5);
    ck_assert_uint_eq(events[0].op, 7);
    ck_assert_uint_eq(events[1].op, IDS_NONE);
    ck_assert_uint_eq(events[2].name, 12);
    ck_assert_uint_eq(events[0].call, 0);
    ck_assert_uint_eq(events[2].call, 22);
}
END_TEST

IDS_RUN_SUITE("partial", events_come_back, whole_nanoseconds_are_short, numbers_are_of_something, shapes_are_of_devices,
              times_and_enums_are_in_range, numbers_follow_those_before)
