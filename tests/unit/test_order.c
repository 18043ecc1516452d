/* What puts events in order: run_merge.h, event_order.h, device_pieces.h, against a sort that is known to be stable;
 * and nth.h, which finds a rank without one. */
#include "lib/base/nth.h"
#include "lib/base/run_merge.h"
#include "lib/base/vec.h"
#include "lib/model/device_pieces.h"
#include "lib/model/event_order.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static uint32_t seed;

static uint32_t any(uint32_t below) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

struct thing {
    int key, number;
};

static int thing_before(const struct thing *a, const struct thing *b) {
    return a->key < b->key;
}

IDS_DEFINE_RUN_MERGE(merge_things, struct thing, thing_before)

/* Keys in order, of which one in `late` is any other one. */
static void fill(struct thing *things, int count, uint32_t late) {
    for (int i = 0; i < count; i++) things[i] = (struct thing){any(late) ? i / 3 : (int)any(60), i};
}

START_TEST(late_ones_come_to_their_place) {
    enum { MOST = 300 };
    for (seed = 1; seed < (uint32_t)ids_some_of(3000, 60); seed++) {
        uint32_t first = seed, lates[] = {1, 2, 8, 9, 30, 1000};
        struct thing here[MOST], there[MOST], *at = here, *spare = there;
        int count = (int)any(MOST), seen[MOST] = {0};
        fill(at, count, lates[any(6)]);
        merge_things(&at, &spare, (size_t)count);
        ck_assert_ptr_ne(at, spare);
        for (int i = 0; i < count; i++) {
            ck_assert_int_eq(seen[at[i].number]++, 0);
            if (!i) continue;
            ck_assert_int_le(at[i - 1].key, at[i].key);
            if (at[i - 1].key == at[i].key) ck_assert_int_lt(at[i - 1].number, at[i].number);
        }
        seed = first;
    }
}
END_TEST

/* `value` is the place before. */
static void check_events(const struct ids_events *events, int with_ends) {
    for (size_t i = 1; i < events->count; i++) {
        const struct ids_event *a = &events->at[i - 1], *b = &events->at[i];
        ck_assert_int_le(a->start_ps, b->start_ps);
        if (a->start_ps != b->start_ps) continue;
        if (with_ends) ck_assert_int_ge(a->end_ps, b->end_ps);
        if (!with_ends || a->end_ps == b->end_ps) ck_assert_int_lt(a->value, b->value);
    }
}

static struct ids_event event_at(int64_t start_ps, int64_t number) {
    return (struct ids_event){.start_ps = start_ps, .end_ps = start_ps + any(4), .value = number};
}

START_TEST(few_or_many_events_out_of_order) {
    enum { MOST = 400 };
    struct ids_error err = IDS_ERROR_INIT;
    for (seed = 1; seed < (uint32_t)ids_some_of(1000, 30); seed++) {
        uint32_t first = seed, spread = any(2) ? 4 : 200;
        struct ids_events events = {0};
        for (uint32_t i = any(MOST); i; i--) {
            struct ids_event *event = IDS_PUSH(events.at, events.count, events.room);
            *event = event_at((int64_t)events.count + any(spread), (int64_t)events.count);
        }
        ck_assert_int_eq(ids_events_sort(&events, &err), 0);
        check_events(&events, 1);
        free(events.at);
        seed = first;
    }
}
END_TEST

/* Pieces come one after the other; of events that begin together those of the piece that came first are first. */
START_TEST(pieces_of_a_device_are_merged) {
    struct ids_error err = IDS_ERROR_INIT;
    for (seed = 1; seed < (uint32_t)ids_some_of(1000, 30); seed++) {
        uint32_t first = seed;
        struct ids_device devices[2] = {0};
        struct ids_trace trace = {.devices = devices, .device_count = 2};
        struct ids_device_pieces pieces = {0};
        size_t counts[2] = {0, 0};
        int64_t number = 0;
        for (uint32_t p = any(9); p; p--) {
            struct ids_events events = {0};
            uint32_t device = any(2);
            int64_t at_ps = 0;
            for (uint32_t i = any(20); i; i--, counts[device]++)
                *IDS_PUSH(events.at, events.count, events.room) = event_at(at_ps += any(3), number++);
            ck_assert_int_eq(ids_device_pieces_add(&pieces, device, IDS_LIST_ACTIVITY, &events), 0);
        }
        ck_assert_int_eq(ids_device_pieces_join(&pieces, &trace, &err), 0);
        for (int d = 0; d < 2; d++) {
            ck_assert_uint_eq(devices[d].activity.count, counts[d]);
            check_events(&devices[d].activity, 0);
            free(devices[d].activity.at);
        }
        seed = first;
    }
}
END_TEST

START_TEST(kinds_are_known_with_the_parents) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_event at[] = {{.kind = IDS_KIND_SYNC, .end_ps = 4},
                             {.kind = IDS_KIND_NAMED, .annotation = 1, .end_ps = 2}};
    struct ids_events events = {.at = at, .count = 2, .kinds = IDS_KINDS(IDS_KIND_OP)};
    const struct ids_events unknown = {.at = at, .count = 2};
    ck_assert_int_eq(ids_events_set_parents(&events, &err), 0);
    ck_assert(events.kinds == (IDS_KINDS(IDS_KIND_SYNC) | IDS_KINDS(IDS_KIND_NAMED) | IDS_KINDS(IDS_KIND_ANNOTATED)));
    struct ids_cursor cursor = ids_cursor_over_kinds(&events, IDS_KINDS(IDS_KIND_ANNOTATED));
    ck_assert_ptr_eq(ids_cursor_next(&cursor), at);
    cursor = ids_cursor_over_kinds(&events, IDS_KINDS(IDS_KIND_INPUT) | IDS_KINDS(IDS_KIND_OP));
    ck_assert_ptr_null(ids_cursor_next(&cursor));
    cursor = ids_cursor_over_kinds(&unknown, IDS_KINDS(IDS_KIND_INPUT));
    ck_assert_ptr_eq(ids_cursor_next(&cursor), at);
}
END_TEST

static int smaller(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

START_TEST(a_rank_is_that_of_a_sort) {
    enum { MOST = 200 };
    for (seed = 1; seed < (uint32_t)ids_some_of(5000, 100); seed++) {
        uint32_t first = seed, count = 1 + any(any(2) ? 8 : MOST), below = any(2) ? 3 : 1000, n = any(count);
        int64_t numbers[MOST + 1], sorted[MOST + 1];
        for (uint32_t i = 0; i < count; i++) numbers[i] = sorted[i] = (int64_t)any(below) - 1;
        qsort(sorted, count, sizeof *sorted, smaller);
        ck_assert_int_eq(ids_nth(numbers, count, n), sorted[n]);
        qsort(numbers, count, sizeof *numbers, smaller);
        ck_assert_mem_eq(numbers, sorted, count * sizeof *sorted);
        seed = first;
    }
}
END_TEST

IDS_RUN_SUITE("order", late_ones_come_to_their_place, few_or_many_events_out_of_order, pieces_of_a_device_are_merged,
              kinds_are_known_with_the_parents, a_rank_is_that_of_a_sort)
