/* lib/model/assemble.c: the events of one track put in order, with self times, parents, regions and sums. */
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/model/assemble.h"
#include "lib/model/event_order.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>

/* Names 0..5 are plain, FRAME is a Python frame's; an event of the kind OTHER is only counted. */
enum { A, B, C, D, E, FRAME, NAMES };

static struct ids_trace *trace;
static struct ids_assembly assembly;
static struct ids_error err;

static void begin(enum ids_track_role role) {
    if (!trace) {
        trace = calloc(1, sizeof *trace);
        static const char *const texts[NAMES] = {"A", "B", "C", "D", "E", "$f.py:1 f"};
        ids_intern_z(&trace->strings, "");
        for (uint32_t i = 0; i < NAMES; i++) {
            *IDS_PUSH(trace->names, trace->name_count, trace->name_room) = (struct ids_name){
                .text = ids_intern_z(&trace->strings, texts[i]), .kind = i == FRAME ? IDS_KIND_PYTHON : IDS_KIND_OTHER};
        }
    }
    *IDS_PUSH(trace->tracks, trace->track_count, trace->track_room) =
        (struct ids_track){.role = role, .first_ps = INT64_MAX, .last_ps = INT64_MIN};
}

static struct ids_track *track(void) {
    return &trace->tracks[trace->track_count - 1];
}

/* What the builder does with an event of the file. */
static struct ids_event *add(int64_t start_ps, int64_t duration_ps, uint32_t name, enum ids_kind kind) {
    struct ids_passing passing = {start_ps, duration_ps, name, IDS_NONE};
    struct ids_event *kept = NULL;
    if (start_ps < track()->first_ps) track()->first_ps = start_ps;
    if (start_ps + duration_ps > track()->last_ps) track()->last_ps = start_ps + duration_ps;
    if (kind != IDS_KIND_OTHER) {
        kept = IDS_PUSH(track()->events.at, track()->events.count, track()->events.room);
        *kept = (struct ids_event){.start_ps = start_ps,
                                   .end_ps = start_ps + duration_ps,
                                   .name = name,
                                   .kind = (uint8_t)kind,
                                   .op = IDS_NONE,
                                   .parent = IDS_NONE};
        track()->events.kinds |= IDS_KINDS(kind);
        passing.kept = (uint32_t)(track()->events.count - 1);
    }
    ck_assert_int_eq(ids_assembly_add(&assembly, &passing), 0);
    return kept;
}

static void finish(void) {
    ck_assert_int_eq(ids_assembly_finish(&assembly, trace, (uint32_t)trace->track_count - 1, &err), 0);
    ck_assert_uint_eq(assembly.count, 0);
}

static void done(void) {
    ids_assembly_done(&assembly);
    ids_trace_free(trace);
    trace = NULL;
}

static void expect(size_t index, uint32_t name, int64_t start_ps, int64_t end_ps, int64_t self_ps) {
    ck_assert_uint_lt(index, track()->events.count);
    const struct ids_event *event = &track()->events.at[index];
    ck_assert_msg(event->name == name && event->start_ps == start_ps && event->end_ps == end_ps &&
                      event->self_ps == self_ps,
                  "event %zu is %u [%lld,%lld] self %lld", index, event->name, (long long)event->start_ps,
                  (long long)event->end_ps, (long long)event->self_ps);
}

START_TEST(self_time_is_less_the_direct_children) {
    begin(IDS_TRACK_STREAM);
    add(0, 100, A, IDS_KIND_KERNEL);
    add(10, 30, B, IDS_KIND_KERNEL);
    add(20, 10, C, IDS_KIND_OTHER); /* counts, though it is not kept */
    add(50, 10, D, IDS_KIND_KERNEL);
    add(100, 0, E, IDS_KIND_KERNEL); /* a moment at the very end lies inside */
    finish();
    ck_assert_uint_eq(track()->events.count, 4);
    expect(0, A, 0, 100, 60); /* 100 - 30 - 10 */
    expect(1, B, 10, 40, 20); /* 30 - 10 */
    expect(2, D, 50, 60, 10);
    expect(3, E, 100, 100, 0);
    ck_assert_uint_eq(track()->overlaps, 0);
    done();
}
END_TEST

START_TEST(what_overlaps_partly_is_a_sibling) {
    begin(IDS_TRACK_STREAM);
    add(0, 10, A, IDS_KIND_KERNEL);
    add(5, 10, B, IDS_KIND_KERNEL); /* [5,15] sticks out of A */
    add(12, 2, C, IDS_KIND_KERNEL); /* inside B */
    add(15, 5, D, IDS_KIND_KERNEL); /* touches B */
    finish();
    expect(0, A, 0, 10, 10);
    expect(1, B, 5, 15, 8);
    expect(2, C, 12, 14, 2);
    expect(3, D, 15, 20, 5);
    ck_assert_uint_eq(track()->overlaps, 1);
    done();
}
END_TEST

START_TEST(of_equal_starts_the_longer_is_outside) {
    begin(IDS_TRACK_STREAM);
    add(0, 5, B, IDS_KIND_KERNEL);
    add(0, 10, A, IDS_KIND_KERNEL);
    add(0, 2, C, IDS_KIND_KERNEL);
    add(20, 4, D, IDS_KIND_KERNEL);
    add(20, 4, E, IDS_KIND_KERNEL); /* the same time: the first one of the file is outside */
    finish();
    expect(0, A, 0, 10, 5);
    expect(1, B, 0, 5, 3);
    expect(2, C, 0, 2, 2);
    expect(3, D, 20, 24, 0);
    expect(4, E, 20, 24, 4);
    done();
}
END_TEST

START_TEST(any_order_of_the_file_gives_the_same) {
    enum { COUNT = 300 };
    uint32_t random = 1;
    int64_t start[COUNT], duration[COUNT];
    int order[COUNT];
    for (int i = 0; i < COUNT; i++) { /* triples of nested events, [30i, 30i+20] with [+5,+15] with [+7,+8] */
        start[i] = i / 3 * 30 + (int64_t[]){0, 5, 7}[i % 3];
        duration[i] = (int64_t[]){20, 10, 1}[i % 3];
        order[i] = i;
    }
    for (int round = 0; round < 20; round++) {
        for (int i = COUNT - 1; i > 0; i--) {
            random = random * 1664525 + 1013904223;
            int k = (int)(random >> 8) % (i + 1), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
        /* Different numbers of events after one another: the buffers of one assembly serve many tracks. */
        int count = round % 2 ? COUNT : 30;
        begin(IDS_TRACK_STREAM);
        for (int i = 0; i < COUNT; i++) {
            if (order[i] < count) add(start[order[i]], duration[order[i]], (uint32_t)(order[i] % 3), IDS_KIND_KERNEL);
        }
        finish();
        ck_assert_int_eq((int)track()->events.count, count);
        for (int i = 0; i < count; i++) {
            expect((size_t)i, (uint32_t)(i % 3), start[i], start[i] + duration[i], (int64_t[]){10, 9, 1}[i % 3]);
        }
    }
    done();
}
END_TEST

START_TEST(records_follow_their_events) {
    begin(IDS_TRACK_HOST);
    add(30, 5, A, IDS_KIND_LAUNCH);
    add(10, 5, B, IDS_KIND_LAUNCH);
    add(20, 5, C, IDS_KIND_LAUNCH);
    add(60, 20, D, IDS_KIND_LAUNCH);
    add(55, 2, E, IDS_KIND_OTHER);
    add(40, 50, E, IDS_KIND_LAUNCH);
    finish();
    ck_assert_uint_eq(track()->events.count, 5);
    expect(0, B, 10, 15, 5);
    expect(1, C, 20, 25, 5);
    expect(2, A, 30, 35, 5);
    expect(3, E, 40, 90, 28);
    expect(4, D, 60, 80, 20);
    done();
}
END_TEST

START_TEST(a_cpu_op_may_outlast_its_event) {
    begin(IDS_TRACK_HOST);
    add(0, 10, A, IDS_KIND_OP)->end_ps = 100; /* its "end:" came at 100 */
    add(2, 3, B, IDS_KIND_OTHER);             /* waiting inside is its own time */
    add(6, 2, C, IDS_KIND_OP);                /* another op is not */
    add(6, 1, D, IDS_KIND_OP);                /* and is taken off once */
    finish();
    expect(0, A, 0, 100, 98);
    expect(1, C, 6, 8, 1);
    expect(2, D, 6, 7, 1);
    done();
}
END_TEST

/* "account name caller from" of each turn of the timeline; names are those of the events above. */
static const char *timeline(void) {
    static char text[1024];
    const struct ids_timeline *turns = &track()->timeline;
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < turns->count; i++) {
        const struct ids_doing *doing = &trace->doings[turns->doing[i]];
        const char *name = doing->name == IDS_NONE ? "" : ids_trace_text(trace, trace->names[doing->name].text);
        const char *caller = doing->caller == IDS_NONE ? "" : ids_trace_text(trace, trace->names[doing->caller].text);
        length += (size_t)snprintf(
            text + length, sizeof text - length, "%s%lld %s%s%s%s%s", i ? "; " : "", (long long)turns->from_ps[i],
            doing->account == IDS_NO_ACCOUNT ? "nothing" : ids_account_id((enum ids_account)doing->account),
            *name ? " " : "", name, *caller ? " in " : "", caller);
    }
    return text;
}

START_TEST(frames_leave_a_timeline_and_no_records) {
    begin(IDS_TRACK_HOST);
    add(0, 100, FRAME, IDS_KIND_OTHER);
    add(10, 20, FRAME, IDS_KIND_OTHER); /* a call of itself changes nothing */
    add(12, 5, A, IDS_KIND_SYNC);
    add(13, 1, FRAME, IDS_KIND_OTHER); /* called by what waits: the wait goes on */
    add(210, 10, FRAME, IDS_KIND_OTHER);
    add(220, 10, FRAME, IDS_KIND_OTHER); /* touches the one before */
    add(300, 0, FRAME, IDS_KIND_OTHER);  /* a moment is no time */
    finish();
    ck_assert_uint_eq(track()->events.count, 1);
    expect(0, A, 12, 17, 4);
    ck_assert_str_eq(timeline(),
                     "0 host.python $f.py:1 f in $f.py:1 f; 12 host.sync A in $f.py:1 f; 17 host.python $f.py:1 f in "
                     "$f.py:1 f; 100 nothing; 210 host.python $f.py:1 f in $f.py:1 f; 230 nothing");
    begin(IDS_TRACK_STREAM); /* a device has no doings, whatever its names say */
    add(0, 10, FRAME, IDS_KIND_OTHER);
    finish();
    ck_assert_uint_eq(track()->events.count, 0);
    ck_assert_uint_eq(track()->timeline.count, 0);
    done();
}
END_TEST

START_TEST(regions_are_made_of_two_moments) {
    begin(IDS_TRACK_HOST);
    add(5, 0, A, IDS_KIND_REGION_STOP); /* began before the recording */
    add(10, 0, B, IDS_KIND_REGION_START);
    add(20, 0, C, IDS_KIND_REGION_START); /* a task in a task */
    add(22, 1, D, IDS_KIND_SYNC);
    add(30, 0, A, IDS_KIND_REGION_STOP);
    add(40, 0, A, IDS_KIND_REGION_STOP);
    add(40, 0, E, IDS_KIND_REGION_START);
    add(41, 9, D, IDS_KIND_OTHER); /* the track's last moment is 50 */
    finish();
    ck_assert_uint_eq(track()->events.count, 4);
    expect(0, B, 10, 40, 0);
    expect(1, C, 20, 30, 0);
    expect(2, D, 22, 23, 1);
    expect(3, E, 40, 50, 0); /* never stopped: to the end of the recording */
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(track()->events.at[i].kind, i == 2 ? IDS_KIND_SYNC : IDS_KIND_REGION);
    done();
}
END_TEST

/* Whatever else there is on the thread: launches, compilations, both. */
START_TEST(regions_know_what_lies_in_them) {
    for (int with = 1; with < 4; with++) {
        begin(IDS_TRACK_HOST);
        add(0, 100, A, IDS_KIND_NAMED);
        if (with & 1) add(10, 5, B, IDS_KIND_LAUNCH);
        if (with & 2) add(20, 5, C, IDS_KIND_COMPILE);
        add(110, 10, D, IDS_KIND_NAMED);
        finish();
        const struct ids_events *events = &track()->events;
        ck_assert_uint_eq(events->at[0].launches, (with & 1) != 0);
        ck_assert_uint_eq(events->at[0].compiles, (with & 2) != 0);
        ck_assert_uint_eq(events->at[events->count - 1].launches, 0);
        ck_assert_uint_eq(events->at[events->count - 1].compiles, 0);
        done();
    }
}
END_TEST

static const struct ids_aggregate *sum_of(uint32_t of_track, uint32_t name) {
    const struct ids_aggregate *found = NULL;
    for (size_t i = 0; i < trace->aggregate_count; i++) {
        const struct ids_aggregate *sum = &trace->aggregates[i];
        if (sum->track != of_track || sum->name != name) continue;
        ck_assert_ptr_null(found); /* one for each track and name */
        found = sum;
    }
    ck_assert_ptr_nonnull(found);
    return found;
}

START_TEST(every_event_is_in_a_sum) {
    begin(IDS_TRACK_HOST);
    add(0, 10, A, IDS_KIND_OTHER);
    add(2, 3, B, IDS_KIND_OTHER);
    add(20, 4, A, IDS_KIND_SYNC);
    add(30, 0, A, IDS_KIND_OTHER);
    finish();
    begin(IDS_TRACK_HOST);
    add(0, 7, A, IDS_KIND_OTHER);
    finish();
    const struct ids_aggregate *sum = sum_of(0, A);
    ck_assert_uint_eq(sum->count, 3);
    ck_assert_int_eq(sum->sum_ps, 14);
    ck_assert_int_eq(sum->self_ps, 11); /* 10 - 3 + 4 + 0 */
    ck_assert_int_eq(sum->min_ps, 0);
    ck_assert_int_eq(sum->max_ps, 10);
    ck_assert_int_eq(sum_of(0, B)->self_ps, 3);
    ck_assert_uint_eq(sum_of(1, A)->count, 1);
    ck_assert_int_eq(sum_of(1, A)->min_ps, 7);
    ck_assert_uint_eq(trace->aggregate_count, 3);
    done();
}
END_TEST

START_TEST(records_are_sorted_stably) {
    struct ids_event made[] = {
        {.start_ps = 30, .end_ps = 40, .name = 0}, {.start_ps = 10, .end_ps = 20, .name = 1},
        {.start_ps = 10, .end_ps = 50, .name = 2}, {.start_ps = 10, .end_ps = 20, .name = 3},
        {.start_ps = -5, .end_ps = 0, .name = 4},  {.start_ps = 40, .end_ps = 41, .name = 5},
        {.start_ps = 30, .end_ps = 40, .name = 6},
    };
    static const uint32_t wanted[] = {4, 2, 1, 3, 0, 6, 5};
    enum { COUNT = sizeof made / sizeof *made };
    struct ids_events events = {0};
    ck_assert_int_eq(ids_events_sort(&events, &err), 0); /* none */
    for (size_t i = 0; i < COUNT; i++) *IDS_PUSH(events.at, events.count, events.room) = made[i];
    for (int twice = 0; twice < 2; twice++) {
        ck_assert_int_eq(ids_events_sort(&events, &err), 0);
        ck_assert_uint_eq(events.count, COUNT);
        for (size_t i = 0; i < COUNT; i++) ck_assert_uint_eq(events.at[i].name, wanted[i]);
    }
    *IDS_PUSH(events.at, events.count, events.room) = made[0]; /* its room is what it says */
    free(events.at);
}
END_TEST

/* Three records that each go where the next one was, twice: not only pairs change places. */
START_TEST(records_go_round) {
    static const int64_t starts_ps[] = {20, 30, 10, 50, 60, 40};
    static const uint32_t wanted[] = {2, 0, 1, 5, 3, 4};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    struct ids_events events = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        *IDS_PUSH(events.at, events.count, events.room) = (struct ids_event){.start_ps = starts_ps[i], .name = i};
    ck_assert_int_eq(ids_events_sort(&events, &err), 0);
    for (size_t i = 0; i < COUNT; i++) ck_assert_uint_eq(events.at[i].name, wanted[i]);
    free(events.at);
}
END_TEST

START_TEST(parents_are_the_innermost_around) {
    struct ids_event at[] = {
        {.start_ps = 0, .end_ps = 100},  /* 0 */
        {.start_ps = 10, .end_ps = 40},  /* 1 in 0 */
        {.start_ps = 10, .end_ps = 20},  /* 2 in 1 */
        {.start_ps = 20, .end_ps = 40},  /* 3 in 1, to its very end */
        {.start_ps = 35, .end_ps = 60},  /* 4 sticks out of 1 and 3: in 0 */
        {.start_ps = 50, .end_ps = 55},  /* 5 in 4 */
        {.start_ps = 90, .end_ps = 110}, /* 6 sticks out of 0 */
        {.start_ps = 120, .end_ps = 121},
    };
    static const uint32_t wanted[] = {IDS_NONE, 0, 1, 1, 0, 4, IDS_NONE, IDS_NONE};
    struct ids_events events = {.at = at, .count = sizeof at / sizeof *at, .room = sizeof at / sizeof *at};
    ck_assert_int_eq(ids_events_set_parents(&events, &err), 0);
    for (size_t i = 0; i < events.count; i++)
        ck_assert_msg(at[i].parent == wanted[i], "event %zu lies in %u", i, at[i].parent);
}
END_TEST

IDS_RUN_SUITE("assemble", self_time_is_less_the_direct_children, what_overlaps_partly_is_a_sibling,
              of_equal_starts_the_longer_is_outside, any_order_of_the_file_gives_the_same, records_follow_their_events,
              a_cpu_op_may_outlast_its_event, frames_leave_a_timeline_and_no_records, regions_are_made_of_two_moments,
              regions_know_what_lies_in_them, every_event_is_in_a_sum, records_are_sorted_stably, records_go_round,
              parents_are_the_innermost_around)
