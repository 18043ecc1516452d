/* lib/model: clocks, clock_tie, collective_runs, replica_groups; lib/analysis: meetings. Hosts are made here, with an
 * all-reduce a step; a step takes 10 ms, more or less, and the clocks of the hosts are anywhere. */
#include "lib/analysis/meetings.h"
#include "lib/hlo/replica_groups.h"
#include "lib/model/clocks.h"

#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char text[1 << 16];
static size_t length;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int added = vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    ck_assert_int_ge(added, 0);
    length += (size_t)added;
    ck_assert_uint_lt(length, sizeof text);
}

static struct ids_trace *trace_of_text(void) {
    struct ids_trace *trace = mini_trace(text);
    length = 0;
    return trace;
}

/* A number from 0 to below `limit` that looks like chance, and is the same in each run. */
static int64_t scatter(int n, int64_t limit) {
    return (int64_t)(ids_key_of((uint64_t)n, 4711) % (uint64_t)limit);
}

/* When the n-th all-reduce ends, on a clock that all share: no two steps are alike. */
static int64_t end_ns(int n) {
    return 10000000 * (int64_t)(n + 1) + scatter(n, 3500000);
}

struct shape {
    int64_t clock_ns;  /* what its clock is ahead */
    int first, last;   /* which all-reduces it recorded */
    int lost;          /* this one, and every 5th after it, is missing; 0 none */
    int64_t jitter_ns; /* how far its ends are off, at most, to either side */
    double drift;      /* how much faster its clock runs */
    int64_t late_ns;   /* how long it waits in each */
    int even;          /* 1: all steps take the same time */
    int64_t start_unix_ns;
    const char *kernel;
};

static void put_host(int number, const struct shape *shape) {
    put("host h%d", number);
    if (shape->start_unix_ns) put(" start_unix_ns=%" PRId64, shape->start_unix_ns);
    put("\nplane /device:GPU:0\nline 1 \"Stream #1(Kernel)\"\n");
    for (int n = shape->first; n <= shape->last; n++) {
        if (shape->lost && n % 5 == shape->lost % 5) continue;
        int64_t true_ns = shape->even ? 10000000 * (int64_t)(n + 1) : end_ns(n);
        int64_t jitter_ns = shape->jitter_ns ? scatter(n + 1000, 2 * shape->jitter_ns) - shape->jitter_ns : 0;
        int64_t at_ns = true_ns + shape->clock_ns + jitter_ns + (int64_t)(shape->drift * (double)true_ns);
        put("%" PRId64 "ns 300us gemm\n", at_ns - 8000000);
        put("%" PRId64 "ns %" PRId64 "ns %s\n", at_ns - 200000 - shape->late_ns, 200000 + shape->late_ns,
            shape->kernel ? shape->kernel : "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    }
}

static const struct ids_clock *clock_of(const struct ids_trace *trace, size_t host) {
    ck_assert_uint_lt(host, trace->host_count);
    return &trace->hosts[host].clock;
}

/* --- by collectives ---------------------------------------------------------------------------------------------- */

START_TEST(hosts_are_brought_together_whatever_their_clocks_say) {
    static const int64_t clocks_ns[] = {0, 300000000, -7000000000, 123456789, 86400000000000, -5, 999, 1000000007};
    static const int counts[] = {2, 4, 8};
    for (size_t c = 0; c < 3; c++) {
        for (int h = 0; h < counts[c]; h++) put_host(h, &(struct shape){.clock_ns = clocks_ns[h], .last = 9});
        struct ids_trace *trace = trace_of_text();
        ck_assert_uint_eq(trace->clock_count, 1);
        for (int h = 0; h < counts[c]; h++) {
            const struct ids_clock *clock = clock_of(trace, (size_t)h);
            ck_assert_int_eq(clock->method, h ? IDS_CLOCK_COLLECTIVES : IDS_CLOCK_REFERENCE);
            ck_assert_int_eq(clock->offset_ps, -1000 * clocks_ns[h]);
            ck_assert_int_eq(trace->hosts[h].shift_ps, -1000 * clocks_ns[h]);
            ck_assert_int_eq(clock->residual_ps, 0);
            ck_assert_uint_eq(clock->matched, h ? 10 : 0);
            ck_assert_int_eq(trace->devices[h].activity.at[1].end_ps, 1000 * end_ns(0));
        }
        ck_assert_uint_eq(diag_count(trace, "clocks.residual") + diag_count(trace, "clocks.apart"), 0);
        ids_trace_free(trace);
    }
}
END_TEST

/* Threads, modules and extents of tracks move too. */
START_TEST(everything_of_a_host_is_moved) {
    put_host(0, &(struct shape){.last = 5});
    put_host(1, &(struct shape){.clock_ns = 40000000, .last = 5});
    put("plane /host:CPU\nline 9 python\n45ms 1ms train step_num=3\n");
    struct ids_trace *trace = trace_of_text();
    ck_assert_int_eq(on_host(trace, "train")->start_ps, 5000000000);
    ck_assert_int_eq(on_host(trace, "train")->end_ps, 6000000000);
    const struct ids_track *track = &trace->tracks[trace->track_count - 1];
    ck_assert_int_eq(track->first_ps, 5000000000);
    ck_assert_int_eq(track->last_ps, 6000000000);
    ids_trace_free(trace);
}
END_TEST

START_TEST(counts_may_differ) {
    static const struct shape seconds[] = {
        {.clock_ns = 55000000, .first = 4, .last = 15},            /* its window opened later */
        {.clock_ns = 55000000, .first = 3, .last = 8},             /* and closed earlier */
        {.clock_ns = 55000000, .last = 11, .lost = 2},             /* it lost some */
        {.clock_ns = 55000000, .first = 1, .last = 14, .lost = 3}, /* both */
        {.clock_ns = 55000000, .first = 9, .last = 25, .late_ns = 1000000},
    };
    for (size_t s = 0; s < sizeof seconds / sizeof *seconds; s++) {
        put_host(0, &(struct shape){.last = 11, .jitter_ns = 3000});
        put_host(1, &seconds[s]);
        struct ids_trace *trace = trace_of_text();
        const struct ids_clock *clock = clock_of(trace, 1);
        ck_assert_msg(clock->method == IDS_CLOCK_COLLECTIVES, "%zu: %s", s,
                      ids_clock_method_name((enum ids_clock_method)clock->method));
        ck_assert_msg(llabs(clock->offset_ps + 55000000000) <= 3000000, "%zu: %" PRId64, s, clock->offset_ps);
        ck_assert_int_le(clock->residual_ps, 6000000);
        ids_trace_free(trace);
    }
}
END_TEST

/* Steps that are all alike fit at many offsets; their numbers say which is right. */
START_TEST(steps_say_which_collective_is_which) {
    for (int h = 0; h < 2; h++) {
        int64_t clock_ns = h ? 3000000 : 0;
        put_host(h, &(struct shape){.clock_ns = clock_ns, .first = 4 * h, .last = 7 + 4 * h, .even = 1});

        put("plane /host:CPU\nline 9 python\n");
        for (int n = 4 * h; n <= 7 + 4 * h; n++)
            put("%" PRId64 "ns 9ms train step_num=%d\n", 10000000 * (int64_t)n + clock_ns, n);
        put("line 10 launches\n");
        for (int n = 4 * h; n <= 7 + 4 * h; n++)
            put("%" PRId64 "ns 1us launch correlation_id=%d\n", 10000000 * (int64_t)n + clock_ns + 1000000, 100 + n);
        put("plane /device:GPU:1\nline 1 \"Stream #1(Kernel)\"\n");
        for (int n = 4 * h; n <= 7 + 4 * h; n++)
            put("%" PRId64 "ns 200us ncclDevKernel_AllReduce_Sum correlation_id=%d\n",
                10000000 * (int64_t)n + clock_ns + 8000000, 100 + n);
    }
    struct ids_trace *trace = trace_of_text();
    ck_assert_int_eq(clock_of(trace, 1)->offset_ps, -3000000000);
    ck_assert_uint_eq(clock_of(trace, 1)->matched, 4);
    ids_trace_free(trace);
}
END_TEST

START_TEST(a_drift_is_named_and_part_of_the_residual) {
    put_host(0, &(struct shape){.last = 99});
    put_host(1, &(struct shape){.clock_ns = -77000000, .last = 99, .drift = 50e-6});
    struct ids_trace *trace = trace_of_text();
    const struct ids_clock *clock = clock_of(trace, 1);
    ck_assert_int_eq(clock->method, IDS_CLOCK_COLLECTIVES);
    ck_assert_double_eq_tol(clock->drift, 50e-6, 1e-6);
    ck_assert_uint_eq(clock->matched, 100);
    /* 50 us a second over one second, taken out in the middle */
    ck_assert_int_ge(clock->residual_ps, 24000000);
    ck_assert_int_le(clock->residual_ps, 27000000);
    ids_trace_free(trace);
}
END_TEST

START_TEST(a_residual_above_the_shortest_collective_is_a_warning) {
    put_host(0, &(struct shape){.last = 19});
    put_host(1, &(struct shape){.last = 19, .jitter_ns = 400000});
    struct ids_trace *trace = trace_of_text();
    ck_assert_int_eq(clock_of(trace, 1)->method, IDS_CLOCK_COLLECTIVES);
    ck_assert_int_eq(clock_of(trace, 1)->shortest_ps, 200000000);
    ck_assert_int_gt(clock_of(trace, 1)->residual_ps, 200000000);
    ck_assert_uint_eq(diag_count(trace, "clocks.residual"), 1);
    ids_trace_free(trace);
    put_host(0, &(struct shape){.last = 19});
    put_host(1, &(struct shape){.last = 19, .jitter_ns = 90000});
    trace = trace_of_text();
    ck_assert_uint_eq(diag_count(trace, "clocks.residual"), 0);
    ids_trace_free(trace);
}
END_TEST

/* Stages of a pipeline: the first and the last have nothing in common. */
START_TEST(hosts_meet_through_others) {
    put_host(0, &(struct shape){.last = 9, .kernel = "ncclDevKernel_SendRecv_a"});
    put_host(1, &(struct shape){.clock_ns = 1000000, .last = 9, .kernel = "ncclDevKernel_SendRecv_b"});
    put_host(2, &(struct shape){.clock_ns = 5000000, .last = 9, .kernel = "ncclDevKernel_SendRecv_a"});
    put("line 2 \"Stream #2(Kernel)\"\n");
    for (int n = 0; n < 10; n++) put("%" PRId64 "ns 200us ncclDevKernel_SendRecv_b\n", end_ns(n) + 5000000 - 200000);
    struct ids_trace *trace = trace_of_text();
    ck_assert_uint_eq(trace->clock_count, 1);
    ck_assert_int_eq(clock_of(trace, 1)->offset_ps, -1000000000);
    ck_assert_int_eq(clock_of(trace, 2)->offset_ps, -5000000000);
    ids_trace_free(trace);
}
END_TEST

/* --- without
 * -------------------------------------------------------------------------------------------------------- */

START_TEST(without_common_collectives_hosts_stay_apart) {
    put_host(0, &(struct shape){.clock_ns = 1000, .last = 9});
    put_host(1, &(struct shape){.clock_ns = 123456789, .last = 9, .kernel = "softmax"});
    put_host(2, &(struct shape){.clock_ns = 5000, .last = 9}); /* this one has them */
    struct ids_trace *trace = trace_of_text();
    ck_assert_uint_eq(trace->clock_count, 2);
    ck_assert_int_eq(clock_of(trace, 1)->method, IDS_CLOCK_APART);
    ck_assert_uint_eq(clock_of(trace, 1)->number, 1);
    ck_assert_uint_eq(clock_of(trace, 2)->number, 0);
    ck_assert(!ids_on_one_clock(trace, &trace->devices[0], &trace->devices[1]));
    ck_assert_int_eq(ids_clock_doubt_ps(trace, &trace->devices[0], &trace->devices[1]), -1);
    ck_assert_int_eq(ids_clock_doubt_ps(trace, &trace->devices[0], &trace->devices[2]), 0);
    /* each begins with its own first work */
    ck_assert_int_eq(trace->devices[1].activity.at[0].start_ps, trace->devices[0].activity.at[0].start_ps);
    ck_assert_uint_eq(diag_count(trace, "clocks.apart"), 1);
    ids_trace_free(trace);
}
END_TEST

/* Each host ran something of that name, but not together: intervals differ. */
START_TEST(what_does_not_fit_is_no_match) {
    put("host a\nplane /device:GPU:0\nline 1 \"Stream #1(Kernel)\"\n");
    for (int64_t n = 0; n < 12; n++) put("%" PRId64 "ns 20us ncclDevKernel_AllReduce\n", n * 10000000 + n * n * 777777);
    put("host b\nplane /device:GPU:0\nline 1 \"Stream #1(Kernel)\"\n");
    for (int64_t n = 0; n < 9; n++) put("%" PRId64 "ns 20us ncclDevKernel_AllReduce\n", n * 17000000 - n * n * 555555);
    struct ids_trace *trace = trace_of_text();
    ck_assert_int_eq(clock_of(trace, 1)->method, IDS_CLOCK_APART);
    ids_trace_free(trace);
}
END_TEST

START_TEST(recorded_clocks_count_where_they_fit) {
    static const struct {
        int64_t start_ns;
        int method;
        int64_t shift_ps;
    } table[] = {
        {1700000000050000000, IDS_CLOCK_RECORDED, 50000000000},
        {1700000000000000000, IDS_CLOCK_RECORDED, 0},
        {1700000009000000000, IDS_CLOCK_APART, 0}, /* nothing of it overlaps: not of one run */
        {1710000000000000000, IDS_CLOCK_APART, 0}, /* months later */
        {0, IDS_CLOCK_APART, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        put_host(0, &(struct shape){.last = 9, .start_unix_ns = 1700000000000000000, .kernel = "gemm2"});
        put_host(1, &(struct shape){.last = 9, .start_unix_ns = table[i].start_ns, .kernel = "gemm2"});
        struct ids_trace *trace = trace_of_text();
        ck_assert_msg(clock_of(trace, 1)->method == table[i].method, "%zu: %s", i,
                      ids_clock_method_name((enum ids_clock_method)clock_of(trace, 1)->method));
        ck_assert_int_eq(trace->hosts[1].shift_ps, table[i].shift_ps);
        ck_assert_int_eq(clock_of(trace, 1)->offset_ps * !clock_of(trace, 1)->number, 0);
        ck_assert_uint_eq(trace->clock_count, table[i].method == IDS_CLOCK_APART ? 2 : 1);
        ids_trace_free(trace);
    }
}
END_TEST

/* Recorded clocks are wrong by 20 ms; collectives know better, and say by how much. */
START_TEST(collectives_overrule_recorded_clocks) {
    put_host(0, &(struct shape){.last = 9, .start_unix_ns = 1700000000000000000});
    put_host(1, &(struct shape){.clock_ns = 20000000, .last = 9, .start_unix_ns = 1700000000000000000});
    struct ids_trace *trace = trace_of_text();
    ck_assert_int_eq(clock_of(trace, 1)->method, IDS_CLOCK_COLLECTIVES);
    ck_assert_int_eq(clock_of(trace, 1)->offset_ps, -20000000000);
    ck_assert_int_eq(trace->origin_unix_ns, 1700000000000000000);
    ids_trace_free(trace);
}
END_TEST

/* Replica groups of as many devices as the host has: every host has its own, at any time. */
START_TEST(collectives_within_a_host_tie_nothing) {
    for (int h = 0; h < 2; h++) {
        put("host h%d\nhlo module=jit_f name=all-reduce.1 opcode=all-reduce program=7 groups=\"{{0,1}}\"\n", h);
        for (int d = 0; d < 2; d++) {
            put("plane /device:GPU:%d\nline 1 \"Stream #1(Kernel)\"\n", d);
            for (int n = 0; n < 9; n++)
                put("%" PRId64 "ns 20us ncclKernel hlo_op=all-reduce.1 hlo_module=jit_f program_id=7\n",
                    end_ns(n) + h * 4000000);
        }
    }
    struct ids_trace *trace = trace_of_text();
    ck_assert_int_eq(clock_of(trace, 1)->method, IDS_CLOCK_APART);
    ids_trace_free(trace);
}
END_TEST

/* --- replica groups
 * ------------------------------------------------------------------------------------------------ */

static struct ids_text of(const char *chars) {
    return (struct ids_text){chars, (uint32_t)strlen(chars)};
}

START_TEST(replica_groups_are_read) {
    static const struct {
        const char *text;
        uint64_t members, group_of_0, group_of_5;
    } table[] = {
        {"{{0,1},{2,3}}", 4, 1, 0},
        {"{{0,2,4,6},{1,3,5,7}}", 8, 1, 2},
        {"{{0},{5}}", 2, 1, 2},
        {"[2,4]<=[8]", 8, 1, 2},
        {"[4,2]<=[8]", 8, 1, 3},
        {"[4,2]<=[2,4]T(1,0)", 8, 1, 2}, /* {0,4},{1,5},{2,6},{3,7} */
        {"[2,4]<=[4,2]T(1,0)", 8, 1, 2}, /* {0,2,4,6},{1,3,5,7} */
        {"[1,8]<=[2,2,2]T(2,0,1)", 8, 1, 1},
        {"{}", 0, 0, 0},
        {"", 0, 0, 0},
        {"[0, 1, 2, 3]", 0, 0, 0}, /* Kineto's ranks */
        {"[2,4]<=[9]", 0, 0, 0},
        {"[2,4]<=[2,4]T(1,1)", 0, 0, 0},
        {"[2,4]<=[8", 0, 0, 0},
        {"[99999999999,2]<=[8]", 0, 0, 0},
        {"{{0,1", 1, 1, 0}, /* cut: the number at the end may go on */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(ids_replica_groups_members(of(table[i].text)) == table[i].members, "%s", table[i].text);
        ck_assert_msg(ids_replica_group_of(of(table[i].text), 0) == table[i].group_of_0, "%s", table[i].text);
        ck_assert_msg(ids_replica_group_of(of(table[i].text), 5) == table[i].group_of_5, "%s", table[i].text);
    }
}
END_TEST

/* --- meetings
 * ------------------------------------------------------------------------------------------------------ */

/* The events of a meeting, at most three, in the order of devices. */
static size_t guests_of(const struct ids_trace *trace, const struct ids_meetings *meetings,
                        const struct ids_meeting *meeting, const struct ids_event **ret_events) {
    size_t count = 0;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_events *activity = &trace->devices[d].activity;
        for (size_t i = 0; i < activity->count; i++) {
            if (ids_meeting_of_event(meetings, &activity->at[i]) != meeting) continue;
            if (count < 3) ret_events[count] = &activity->at[i];
            count++;
        }
    }
    return count;
}

START_TEST(who_came_last_is_known) {
    struct ids_error err = IDS_ERROR_INIT;
    put_host(0, &(struct shape){.last = 4, .late_ns = 500000});
    put_host(1, &(struct shape){.clock_ns = 9000000000, .first = 2, .last = 6}); /* comes last to each */
    put_host(2, &(struct shape){.clock_ns = -55, .last = 6, .late_ns = 100000});
    struct ids_trace *trace = trace_of_text();
    struct ids_meetings meetings;
    ck_assert_int_eq(ids_meetings_of(trace, &meetings, &err), 0);
    ck_assert_uint_eq(meetings.count, 7);
    for (size_t m = 0; m < meetings.count; m++) {
        const struct ids_meeting *meeting = &meetings.at[m];
        ck_assert_uint_eq(meeting->count, m < 2 || m > 4 ? 2 : 3);
        ck_assert_uint_eq(meeting->last_device, m < 2 ? 2 : 1);
        ck_assert_int_eq(meeting->all_ps, meeting->last_ps);
        ck_assert_int_eq(meeting->doubt_ps, 0);
        const struct ids_event *guests[3];
        ck_assert_uint_eq(guests_of(trace, &meetings, meeting, guests), meeting->count);
        for (size_t i = 0; i < meeting->count; i++) {
            ck_assert_int_eq(guests[i]->end_ps, 1000 * end_ns((int)m));
            if (guests[i]->device == meeting->last_device) ck_assert_int_eq(guests[i]->start_ps, meeting->last_ps);
        }
    }
    ck_assert_ptr_null(ids_meeting_of_event(&meetings, &trace->devices[0].activity.at[0])); /* a gemm */
    ids_meetings_done(&meetings);
    ids_trace_free(trace);
}
END_TEST

/* Two groups of two on one host: each meets its own, though all run at the same time. */
START_TEST(groups_meet_apart) {
    struct ids_error err = IDS_ERROR_INIT;
    put("host h\nhlo module=jit_f name=all-reduce.1 opcode=all-reduce program=7 groups=\"{{0,2},{1,3}}\"\n");
    for (int d = 0; d < 4; d++) {
        put("plane /device:GPU:%d\nline 1 \"Stream #1(Kernel)\"\n", d);
        put("%dus 50us ncclKernel hlo_op=all-reduce.1 hlo_module=jit_f program_id=7\n", 100 + d);
    }
    struct ids_trace *trace = trace_of_text();
    struct ids_meetings meetings;
    ck_assert_int_eq(ids_meetings_of(trace, &meetings, &err), 0);
    ck_assert_uint_eq(meetings.count, 2);
    for (size_t m = 0; m < 2; m++) {
        ck_assert_uint_eq(meetings.at[m].count, 2);
        const struct ids_event *guests[3];
        ck_assert_uint_eq(guests_of(trace, &meetings, &meetings.at[m], guests), 2);
        ck_assert_uint_eq(guests[1]->device, guests[0]->device + 2);
        ck_assert_uint_eq(meetings.at[m].last_device, guests[1]->device);
    }
    ids_meetings_done(&meetings);
    ids_trace_free(trace);
}
END_TEST

IDS_RUN_SUITE("clocks", hosts_are_brought_together_whatever_their_clocks_say, everything_of_a_host_is_moved,
              counts_may_differ, steps_say_which_collective_is_which, a_drift_is_named_and_part_of_the_residual,
              a_residual_above_the_shortest_collective_is_a_warning, hosts_meet_through_others,
              without_common_collectives_hosts_stay_apart, what_does_not_fit_is_no_match,
              recorded_clocks_count_where_they_fit, collectives_overrule_recorded_clocks,
              collectives_within_a_host_tie_nothing, replica_groups_are_read, who_came_last_is_known, groups_meet_apart)
