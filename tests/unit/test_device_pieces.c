/* lib/model/device_pieces.h: events of devices that threads bring are put together in the order of time, wherever they
 * lay. */
#include "lib/model/device_pieces.h"
#include "tests/support/suite.h"

#include <string.h>

static struct ids_error err;

/* Every third event stays; of the others the first thread alone has those of device 1. */
static struct ids_events of_thread(int thread, size_t count) {
    struct ids_events events = {.at = calloc(count, sizeof *events.at), .count = count, .room = count};
    ck_assert_ptr_nonnull(events.at);
    for (size_t i = 0; i < count; i++) {
        events.at[i] = (struct ids_event){.start_ps = (int64_t)(2 * i) + thread,
                                          .track = (uint32_t)thread,
                                          .op = IDS_NONE,
                                          .kind = i % 3 ? IDS_KIND_OP : IDS_KIND_FLOW,
                                          .device = i % 3 ? (uint32_t)(!thread && i % 3 == 2) : IDS_NONE,
                                          .shape = IDS_NONE};
    }
    return events;
}

static void divide_and_join(size_t count) {
    struct ids_device_pieces pieces = {0};
    struct ids_trace *trace = calloc(1, sizeof *trace);
    trace->devices = calloc(2, sizeof *trace->devices);
    trace->device_count = trace->device_room = 2;
    for (int thread = 0; thread < 2; thread++) {
        struct ids_events events = of_thread(thread, count);
        size_t staying;
        ck_assert_int_eq(ids_device_pieces_divide(&pieces, 2, &events, &staying), 0);
        ck_assert_uint_eq(staying, (count + 2) / 3);
        ck_assert_uint_eq(events.kinds, IDS_KINDS(IDS_KIND_FLOW));
        for (size_t i = 0; i < staying; i++) ck_assert_int_eq(events.at[i].start_ps, (int64_t)(6 * i) + thread);
        free(events.at);
    }
    ck_assert_int_eq(ids_device_pieces_join(&pieces, trace, &err), 0);
    const struct ids_events *both = &trace->devices[0].activity, *one = &trace->devices[1].activity;
    ck_assert_uint_eq(both->count + one->count, 2 * count - 2 * ((count + 2) / 3));
    ck_assert_uint_eq(one->count, count / 3);
    for (size_t i = 0; i < one->count; i++) ck_assert_int_eq(one->at[i].start_ps, 2 * (3 * (int64_t)i + 2));
    for (size_t i = 1; i < both->count; i++) ck_assert_int_lt(both->at[i - 1].start_ps, both->at[i].start_ps);
    ck_assert_ptr_nonnull(ids_events_add(&trace->devices[1].activity)); /* they are arrays of malloc's */
    ids_trace_free(trace);
}

START_TEST(few_have_memory_of_their_own) {
    divide_and_join(30);
}
END_TEST

START_TEST(many_lie_together) {
    divide_and_join(2 * IDS_SLAB_LEAST_BYTES / sizeof(struct ids_event));
}
END_TEST

IDS_RUN_SUITE("device_pieces", few_have_memory_of_their_own, many_lie_together)
