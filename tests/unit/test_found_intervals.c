/* lib/model/found_intervals.c: each interval comes back as it was put, in few bytes. */
#include "lib/model/found_intervals.h"
#include "lib/model/trace.h"
#include "tests/support/suite.h"

static struct ids_found_intervals intervals;

static void put(const struct ids_found_interval *interval) {
    ck_assert_int_eq(ids_found_intervals_add(&intervals, interval), 0);
}

static void same(const struct ids_found_interval *got, const struct ids_found_interval *wanted) {
    ck_assert_ptr_nonnull(got);
    ck_assert_int_eq(got->from_ps, wanted->from_ps);
    ck_assert_int_eq(got->to_ps, wanted->to_ps);
    ck_assert_uint_eq(got->culprit, wanted->culprit);
    ck_assert_uint_eq(got->event, wanted->event);
    ck_assert_uint_eq(got->step, wanted->step);
    ck_assert_uint_eq(got->device, wanted->device);
    ck_assert_uint_eq(got->state, wanted->state);
    ck_assert_uint_eq(got->account, wanted->account);
    ck_assert_uint_eq(got->known, wanted->known);
}

/* The largest and the smallest of everything, an event before the last one, times that are no nanoseconds, and twice
 * the same. */
START_TEST(all_comes_back) {
    const struct ids_found_interval all[] = {
        {.from_ps = 5000, .to_ps = 9000, .culprit = 3, .event = 7, .step = 1, .state = 256, .account = 4},
        {.from_ps = 9000, .to_ps = 9001, .culprit = 3, .step = 1, .state = 256, .account = 4},
        {.from_ps = 9001, .to_ps = 10001, .culprit = 300, .event = 6, .step = 2, .state = 511, .account = 31},
        {INT64_MIN, INT64_MAX, UINT32_MAX - 1, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT16_MAX, UINT8_MAX, UINT8_MAX},
        {INT64_MAX, INT64_MAX, 0, 1, 0, 0, 0, 0, 0},
        {-5, -4, 0, 0, 0, 0, 0, 0, 1},
        {-5, -4, 0, 0, 0, 0, 0, 0, 1},
    };
    const size_t count = sizeof all / sizeof *all;
    for (size_t i = 0; i < count; i++) put(&all[i]);
    ck_assert_uint_eq(intervals.count, count);
    struct ids_found_cursor cursor = ids_found_cursor_over(&intervals, 1), third = cursor;
    for (size_t i = 0; i < count; i++) {
        same(ids_found_cursor_next(&cursor), &all[i]);
        if (i == 1) third = cursor;
    }
    ck_assert_ptr_null(ids_found_cursor_next(&cursor));
    same(ids_found_cursor_next(&third), &all[2]); /* a copy of a cursor is a place */
    ids_found_intervals_done(&intervals);
}
END_TEST

/* What devices waited for is known when all are swept. */
START_TEST(some_are_named_later) {
    struct ids_found_interval interval = {.to_ps = 1000};
    for (uint32_t i = 0; i < 4; i++) {
        interval.culprit = i % 2 ? IDS_NONE : i;
        put(&interval);
    }
    ck_assert_int_eq(ids_found_intervals_name(&intervals, 70), 0);
    ck_assert_int_eq(ids_found_intervals_name(&intervals, 71), 0);
    struct ids_found_cursor cursor = ids_found_cursor_over(&intervals, 1);
    const uint32_t wanted[] = {0, 70, 2, 71};
    for (size_t i = 0; i < 4; i++) ck_assert_uint_eq(ids_found_cursor_next(&cursor)->culprit, wanted[i]);
    ids_found_intervals_done(&intervals);
}
END_TEST

/* An import of a million events has room for them. */
START_TEST(in_few_bytes) {
    struct ids_found_interval interval = {.step = 1, .state = 256};
    for (uint32_t i = 0; i < 1000; i++) {
        interval.from_ps = interval.to_ps;
        interval.to_ps += (1 + i % 50) * 1000;
        interval.culprit = 200 + i % 7;
        interval.event = i + 1;
        interval.account = i % 2;
        put(&interval);
    }
    ck_assert_uint_lt(intervals.length, 1000 * 10);
    ids_found_intervals_done(&intervals);
}
END_TEST

static void put_of(struct ids_found_intervals *list, uint32_t device, uint32_t culprit, uint32_t event) {
    const struct ids_found_interval interval = {
        .from_ps = 1000 * device, .to_ps = 1000 * device + 7, .culprit = culprit, .event = event, .device = device};
    ck_assert_int_eq(ids_found_intervals_add(list, &interval), 0);
}

/* Devices that were swept at once: each list begins anew, and some know their culprits by numbers of their own. */
START_TEST(lists_follow_one_another) {
    static const uint32_t culprits[] = {9, 4};
    struct ids_found_intervals lists[5] = {{0}};
    put_of(&lists[1], 0, 1, 50);
    put_of(&lists[1], 0, IDS_NONE, 0);
    put_of(&lists[2], 1, IDS_NONE, 8);
    put_of(&lists[2], 1, 0, 9);
    lists[2].culprits = culprits;
    ck_assert_int_eq(ids_found_intervals_name(&lists[1], 1), 0);
    ck_assert_int_eq(ids_found_intervals_name(&lists[2], 0), 0);
    const struct ids_found_interval wanted[] = {
        {.to_ps = 7, .culprit = 1, .event = 50},
        {.to_ps = 7, .culprit = 1},
        {.from_ps = 1000, .to_ps = 1007, .culprit = 0, .event = 8, .device = 1},
        {.from_ps = 1000, .to_ps = 1007, .culprit = 9, .event = 9, .device = 1},
    };
    struct ids_found_cursor cursor = ids_found_cursor_over(lists, 5);
    for (size_t i = 0; i < 4; i++) same(ids_found_cursor_next(&cursor), &wanted[i]);
    ck_assert_ptr_null(ids_found_cursor_next(&cursor));
    ck_assert_ptr_null(ids_found_cursor_next(&cursor));
    cursor = ids_found_cursor_over(NULL, 0);
    ck_assert_ptr_null(ids_found_cursor_next(&cursor));
    for (size_t i = 0; i < 5; i++) ids_found_intervals_done(&lists[i]);
}
END_TEST

IDS_RUN_SUITE("found_intervals", all_comes_back, some_are_named_later, in_few_bytes, lists_follow_one_another)
