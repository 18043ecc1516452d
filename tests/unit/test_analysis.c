/* lib/analysis: parameters, window, busy sets, gaps, groups, over texts of formats/mini.c. */
#include "lib/analysis/groups.h"
#include "tests/support/ledger_text.h"
#include "tests/support/suite.h"

/* ---- parameters and window ---- */

START_TEST(parameters) {
    struct ids_params params;
    ids_params_default(&params);
    ck_assert_int_eq(params.small_kernel_ps, 100000000); /* 0.1 ms */
    ck_assert_int_eq(ids_params_are_default(&params), 1);
    struct ids_params other[] = {params, params, params, params};
    other[0].window = IDS_WINDOW_DEVICE;
    other[1].from_ps = 1;
    other[2].to_ps = 1;
    other[3].small_kernel_ps = 1;
    for (int i = 0; i < 4; i++) ck_assert_int_eq(ids_params_are_default(&other[i]), 0);
}
END_TEST

#define TWO_GPUS                                                    \
    "plane /device:GPU:0\nline 1 \"Stream #1\"\n10 20 a\n50 10 b\n" \
    "plane /device:GPU:1\nline 1 \"Stream #1\"\n20 80 c\n"          \
    "plane /device:GPU:2\n" /* does nothing: it has no part in any mean */

static void expect_windows(int64_t start0, int64_t end0, int64_t start1, int64_t end1) {
    ck_assert_uint_eq(analysis.busy_count, 2);
    ck_assert_int_eq(analysis.busy[0].start_ps, start0);
    ck_assert_int_eq(analysis.busy[0].end_ps, end0);
    ck_assert_int_eq(analysis.busy[1].start_ps, start1);
    ck_assert_int_eq(analysis.busy[1].end_ps, end1);
    ck_assert_int_eq(ids_windows_total(&analysis), end0 - start0 + end1 - start1);
}

START_TEST(windows) {
    ck_assert_int_eq(make_with(TWO_GPUS, IDS_WINDOW_RUN, 0, INT64_MAX), 0);
    expect_windows(10, 100, 10, 100); /* first to last activity of all */
    ck_assert_int_eq(analysis.busy[1].first_ps, 20);
    ck_assert_int_eq(analysis.busy[0].last_ps, 60);
    ck_assert_uint_eq(analysis.busy[1].index, 1);
    ck_assert_int_eq(make_with(TWO_GPUS, IDS_WINDOW_DEVICE, 0, INT64_MAX), 0);
    expect_windows(10, 60, 20, 100);
    /* --from and --to count from the first activity, 10 */
    ck_assert_int_eq(make_with(TWO_GPUS, IDS_WINDOW_RUN, 15, 45), 0);
    expect_windows(25, 55, 25, 55);
    ck_assert_str_eq(shown(0, IDS_IS_BUSY), "[25,30) [50,55)");
    ck_assert_str_eq(shown(1, IDS_IS_BUSY), "[25,55)");
    ck_assert_int_eq(make_with(TWO_GPUS, IDS_WINDOW_DEVICE, 5, 60), 0);
    expect_windows(15, 60, 20, 70);
    ck_assert_int_eq(make_with(TWO_GPUS, IDS_WINDOW_DEVICE, 60, INT64_MAX), 0); /* GPU:0 is over by then */
    expect_windows(70, 70, 70, 100);
    ck_assert_int_eq(make_with(TWO_GPUS, IDS_WINDOW_STEPS, 0, INT64_MAX), 0); /* no steps: the run */
    expect_windows(10, 100, 10, 100);
    done();
}
END_TEST

START_TEST(empty_windows_are_refused) {
    static const int64_t table[][2] = {{50, 50}, {60, 40}, {91, INT64_MAX}, {0, 0}, {INT64_MAX, INT64_MAX}, {90, 90}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int code = make_with(TWO_GPUS, IDS_WINDOW_RUN, table[i][0], table[i][1]);
        int whole = table[i][0] == 90; /* the run's last moment, where nothing is cut */
        ck_assert_msg(code == (whole ? 0 : IDS_USAGE), "from %lld to %lld", (long long)table[i][0],
                      (long long)table[i][1]);
        if (!whole) ck_assert_ptr_nonnull(strstr(err.text, "window is empty"));
    }
    done();
}
END_TEST

START_TEST(events_count_where_they_begin) {
    make_with("plane /device:GPU:0\nline 1 \"Stream #1\"\n0 10 a\n5 10 b\n20 10 c\n30 0 moment\n", IDS_WINDOW_RUN, 5,
              20);
    struct ids_cursor cursor = ids_busy_cursor(&analysis.busy[0], &trace->devices[0].activity);
    ck_assert_str_eq(ids_event_name(trace, ids_cursor_next(&cursor)), "b"); /* a began before */
    ck_assert_ptr_null(ids_cursor_next(&cursor));                           /* c begins at the very end */
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0 10 a\n10 0 moment\n");
    cursor = ids_busy_cursor(&analysis.busy[0], &trace->devices[0].activity);
    ck_assert_str_eq(ids_event_name(trace, ids_cursor_next(&cursor)), "a");
    ck_assert_str_eq(ids_event_name(trace, ids_cursor_next(&cursor)), "moment"); /* nobody cut there */
    ck_assert_int_eq(ids_end_in_window(&analysis.busy[0], &trace->devices[0].activity.at[0]), 10);
    done();
}
END_TEST

START_TEST(no_device_at_all) {
    make("plane /host:CPU\nline 1 t\n0 10 x\n");
    ck_assert_uint_eq(analysis.busy_count, 0);
    ck_assert_int_eq(analysis.start_ps, analysis.end_ps);
    ck_assert_ptr_nonnull(strstr(ids_no_activity_reason(&analysis), "no event of a device"));
    make("plane /device:GPU:0\n");
    ck_assert_ptr_nonnull(strstr(ids_no_activity_reason(&analysis), "every device plane is empty"));
    trace->complete = 0;
    ck_assert_ptr_nonnull(strstr(ids_no_activity_reason(&analysis), "the file is cut"));
    done();
}
END_TEST

START_TEST(times_at_the_far_ends_do_not_overflow) {
    /* 2^61 ps are 2305843009213693952; what lies beyond is left out and said */
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n-2305843009213693952 1 a\n2305843009213693951 1 "
         "b\n2305843009213693952 1 c\n"
         "-2305843009213693953 1 d\n9000000000000000000 1000000000000000000 e\n"
         "plane /device:GPU:1\nline 1 \"Stream #1\"\n0 1 f\n"
         "plane /device:GPU:2\nline 1 \"Stream #1\"\n0 1 g\n");
    ck_assert_uint_eq(trace->devices[0].activity.count, 2);
    ck_assert_uint_eq(diag_count(trace, "model.time_range"), 3);
    ck_assert_int_eq(ids_time_in(&analysis.busy[0], IDS_IS_BUSY), 2);
    ck_assert_int_eq(analysis.busy[0].end_ps - analysis.busy[0].start_ps, INT64_C(1) << 62);
    ck_assert_int_eq(ids_windows_total(&analysis), INT64_MAX); /* 3 · 2^62 is too much */
    done();
}
END_TEST

/* ---- busy time by what was done ---- */

START_TEST(streams_are_united) {
    make("plane /device:GPU:0\n"
         "line 1 \"Stream #1\"\n0 40 gemm\n60 10 gemm\n"
         "line 2 \"Stream #2\"\n20 30 ncclDevKernel_AllReduce_Sum_f32\n"
         "line 3 \"Stream #3\"\n45 10 MemcpyH2D\n65 20 MemcpyD2H\n90 10 Memset\n");
    ck_assert_int_eq(ids_time_in_both(&analysis.busy[0], IDS_IS_COLLECTIVE, IDS_IS_COMPUTE), 20);
    ck_assert_str_eq(shown(0, IDS_IS_BUSY), "[0,55) [60,85) [90,100)");
    ck_assert_str_eq(shown(0, IDS_IS_WORKING), "[0,55) [60,85) [90,100)");
    ck_assert_str_eq(shown(0, IDS_IS_COMPUTE), "[0,40) [60,70)");
    ck_assert_str_eq(shown(0, IDS_IS_COLLECTIVE), "[20,50)");
    ck_assert_str_eq(shown(0, IDS_IS_COPY), "[45,55) [65,85) [90,100)");
    ck_assert_str_eq(shown(0, IDS_IS_H2D), "[45,55)");
    ck_assert_str_eq(shown(0, IDS_IS_D2H), "[65,85)");
    done();
}
END_TEST

START_TEST(waits_are_busy_but_do_not_work) {
    /* TPU: copy-done waits; what the loop's body does is what the loop does */
    make("plane /device:TPU:0\n"
         "meta while.1 hlo_category=while program_id=1\n"
         "meta f hlo_category=\"loop fusion\" program_id=1\n"
         "meta done hlo_category=copy-done program_id=1\n"
         "meta ar hlo_category=all-reduce program_id=1\n"
         "meta \"%copy-start.1 = (f32[8]{0:S(5)}, f32[8]{0})\" hlo_category=copy-start program_id=1\n"
         "line 1 \"XLA Ops\"\n0 100 while.1\n0 30 f\n30 20 done\n50 40 ar\n"
         "line 2 \"Async XLA Ops\"\n5 60 \"%copy-start.1 = (f32[8]{0:S(5)}, f32[8]{0})\"\n");
    ck_assert_str_eq(shown(0, IDS_IS_BUSY), "[0,100)");
    ck_assert_str_eq(shown(0, IDS_IS_WORKING), "[0,30) [50,100)");
    ck_assert_str_eq(shown(0, IDS_IS_COMPUTE), "[0,30) [90,100)");
    ck_assert_str_eq(shown(0, IDS_IS_COLLECTIVE), "[50,90)");
    ck_assert_str_eq(shown(0, IDS_IS_ASYNC_COPY), "[5,65)");
    ck_assert_str_eq(shown(0, IDS_IS_D2H), "[5,65)");
    ck_assert_str_eq(shown(0, IDS_IS_COPY), "");
    /* CPU: an op waits where its thread is in a rendezvous, and only that thread */
    make("plane /host:CPU\n"
         "line 1 t1\n0 100 a hlo_op=a hlo_module=m run_id=1\n40 30 Rendezvous\n"
         "line 2 t2\n200 50 b hlo_op=b hlo_module=m run_id=1\n"
         "line 3 t3\n210 10 Rendezvous\n");
    ck_assert_str_eq(shown(0, IDS_IS_BUSY), "[0,100) [200,250)");
    ck_assert_str_eq(shown(0, IDS_IS_WORKING), "[0,40) [70,100) [200,250)");
    done();
}
END_TEST

START_TEST(what_counts_as_a_kernel) {
    make("hlo module=m name=cp.1 opcode=copy-start\n"
         "plane /device:GPU:0\nline 1 \"Stream #1\"\n0 1 gemm\n2 1 MemcpyH2D\n4 1 Memset\n6 1 "
         "ncclDevKernel_AllReduce_x\n"
         "plane /device:TPU:0\n"
         "meta f hlo_category=\"loop fusion\" program_id=1\nmeta w hlo_category=while program_id=1\n"
         "meta ars hlo_category=all-reduce-start program_id=1\nmeta ar hlo_category=all-reduce program_id=1\n"
         "meta cd hlo_category=copy-done program_id=1\nmeta in hlo_category=infeed program_id=1\n"
         "line 1 \"XLA Ops\"\n0 1 f\n2 1 w\n4 1 ars\n6 1 ar\n8 1 cd\n10 1 in\n12 1 bare\n"
         "line 2 \"XLA TraceMe\"\n20 1 barrier-cores\n");
    static const struct {
        size_t device;
        const char *name;
        int is;
    } table[] = {{0, "gemm", 1}, {0, "MemcpyH2D", 0}, {0, "Memset", 0}, {0, "ncclDevKernel_AllReduce_x", 1},
                 {1, "f", 1},    {1, "w", 0},         {1, "ars", 0},    {1, "ar", 1},
                 {1, "cd", 0},   {1, "in", 0},        {1, "bare", 1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(ids_is_kernel(trace, activity(trace, table[i].device, table[i].name)) == table[i].is, "%s",
                      table[i].name);
    }
    ck_assert_int_eq(ids_is_kernel(trace, &trace->devices[1].waits.at[0]), 0);
    done();
}
END_TEST

/* ---- gaps ---- */

START_TEST(gaps_and_their_neighbours) {
    make("plane /device:GPU:0\n"
         "line 1 \"Stream #1\"\n0 10 a\n30 10 c\n35 0 moment\n90 5 d\n"
         "line 2 \"Stream #2\"\n5 10 b\n60 0 alone\n"
         "plane /device:GPU:1\nline 1 \"Stream #1\"\n20 30 e\n");
    static const struct {
        uint32_t busy;
        int64_t start, end;
        const char *previous, *next;
    } table[] = {{0, 15, 30, "b", "c"}, /* b outlasts a */
                 {0, 40, 90, "c", "d"}, /* a moment is no activity */
                 {1, 0, 20, NULL, "e"}, /* from the window's edge */
                 {1, 50, 95, "e", NULL}};
    ck_assert_uint_eq(analysis.busy[0].gap_count, 2);
    ck_assert_uint_eq(analysis.busy[1].gap_count, 2);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct ids_gap *gap = &analysis.busy[table[i].busy].gaps[i % 2];
        ck_assert_int_eq(gap->start_ps, table[i].start);
        ck_assert_int_eq(gap->end_ps, table[i].end);
        ck_assert_ptr_eq(gap->previous, table[i].previous ? activity(trace, table[i].busy, table[i].previous) : NULL);
        ck_assert_ptr_eq(gap->next, table[i].next ? activity(trace, table[i].busy, table[i].next) : NULL);
        /* there is no launch; at the end of the window nothing comes next */
        ck_assert_int_eq(analysis.ledger.entries[gap->entry].account,
                         gap->next ? IDS_DEVICE_UNKNOWN : IDS_HOST_UNKNOWN);
    }
    ck_assert_int_eq(
        make_with("plane /device:GPU:0\nline 1 \"Stream #1\"\n0 10 a\n30 10 b\n50 10 c\n", IDS_WINDOW_RUN, 15, 45), 0);
    ck_assert_uint_eq(analysis.busy[0].gap_count, 2);
    const struct ids_gap *gaps = analysis.busy[0].gaps;
    ck_assert_int_eq(gaps[0].start_ps, 15); /* cut at the window */
    ck_assert_int_eq(gaps[1].end_ps, 45);
    ck_assert_ptr_eq(gaps[1].next, activity(trace, 0, "c")); /* known, though it is outside */
    done();
}
END_TEST

/* ---- groups ---- */

START_TEST(groups_of_events) {
    struct ids_groups groups = {0};
    struct ids_event a1 = {.start_ps = 0, .self_ps = 4, .value = 100}, a2 = {.start_ps = 5, .self_ps = 20, .value = -1},
                     b = {.start_ps = 1, .self_ps = 30, .value = 7}, c = {.start_ps = 2, .self_ps = 1, .value = 0};
    ck_assert_int_eq(ids_groups_add(&groups, 10, &a1, 6), 0);
    ck_assert_int_eq(ids_groups_add(&groups, 20, &b, 30), 0);
    ck_assert_int_eq(ids_groups_add(&groups, 10, &a2, 9), 0); /* cut by the window: self time is not longer than it */
    ck_assert_int_eq(ids_groups_add(&groups, 30, &c, 15), 0);
    ids_groups_sort_by_total(&groups);
    ck_assert_uint_eq(groups.count, 3);
    const struct ids_group *group = &groups.at[1]; /* b 30, a 15 of two, c 15 of one */
    ck_assert_int_eq(groups.at[0].first->start_ps, b.start_ps);
    ck_assert_int_eq(group->first->start_ps, a1.start_ps);
    ck_assert_int_eq(groups.at[2].first->start_ps, c.start_ps);
    ck_assert_uint_eq(group->count, 2);
    ck_assert_int_eq(group->total_ps, 15);
    ck_assert_int_eq(group->self_ps, 13); /* 4 + 9 */
    ck_assert_int_eq(group->min_ps, 6);
    ck_assert_int_eq(group->max_ps, 9);
    ck_assert_int_eq(group->value, 100);
    ck_assert_int_eq(group->value_max, 100);
    ck_assert_uint_eq(group->unknown_values, 1);
    ids_groups_sort_by_self(&groups);
    ck_assert_int_eq(groups.at[2].first->start_ps, c.start_ps);
    ids_groups_done(&groups);
    /* equal in time and count: by the first event's start, then its track, then its name */
    struct ids_event tied[] = {{.start_ps = 5, .track = 1, .name = 2},
                               {.start_ps = 5, .track = 1, .name = 1},
                               {.start_ps = 5, .track = 0, .name = 9},
                               {.start_ps = 4, .track = 9, .name = 9}};
    for (uint64_t i = 0; i < 4; i++) ck_assert_int_eq(ids_groups_add(&groups, i + 1, &tied[i], 10), 0);
    ids_groups_sort_by_total(&groups);
    for (size_t i = 0; i < 4; i++) ck_assert_int_eq(groups.at[i].first->name, tied[3 - i].name);
    ids_groups_done(&groups);
}
END_TEST

/* ---- all of it ---- */

START_TEST(a_report_of_everything) {
    struct ids_report report;
    struct ids_params params;
    ids_params_default(&params);
    trace = mini_trace("plane /device:GPU:0\nline 1 \"Stream #1\"\n0 60 k\n80 -5 n\n100 20 k\n");
    ids_report_init(&report);
    ck_assert_int_eq(ids_analyze(trace, &params, &report, &err), 0);
    ck_assert_int_eq(report.complete, 1);
    ck_assert_uint_eq(report.diag_count, 1);
    ck_assert_str_eq(report.diags[0].id, "model.negative_duration");
    ck_assert_ptr_nonnull(ids_report_find(&report, "device.busy", NULL));
    ids_report_done(&report);
    params.from_ps = 500;
    ids_report_init(&report);
    ck_assert_int_eq(ids_analyze(trace, &params, &report, &err), IDS_USAGE);
    ids_report_done(&report);
    ids_trace_free(trace);
    trace = NULL;
    ck_assert_ptr_null(ids_analyzer_find("no such section"));
    ck_assert_ptr_nonnull(ids_analyzer_find(ids_analyzers[0]->name));
}
END_TEST

START_TEST(culprits_beyond_number_are_others) {
    struct ids_ledger ledger = {0};
    const struct ids_text none = {"", 0}, late = {"late", 4};
    ck_assert_uint_eq(ids_intern_z(&ledger.texts, ""), 0);
    for (int i = 0; i < IDS_LEDGER_ENTRIES; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "k%d", i);
        ck_assert_int_eq(
            ids_ledger_entry_of(&ledger, IDS_WORK_COMPUTE, (struct ids_text){name, (uint32_t)length}, none), i);
    }
    int64_t others = ids_ledger_entry_of(&ledger, IDS_WORK_COMPUTE, late, none);
    ck_assert_str_eq(ids_strings_z(&ledger.texts, ledger.entries[others].culprit), IDS_LEDGER_OTHERS);
    ck_assert_int_eq(ids_ledger_entry_of(&ledger, IDS_WORK_COMPUTE, (struct ids_text){"later", 5}, late), others);
    ck_assert_int_eq(ids_ledger_entry_of(&ledger, IDS_WORK_COMPUTE, (struct ids_text){"k7", 2}, none), 7);
    /* another account has its own */
    int64_t python = ids_ledger_entry_of(&ledger, IDS_HOST_PYTHON, late, none);
    ck_assert_str_eq(ids_strings_z(&ledger.texts, ledger.entries[python].culprit), "late");
    ids_ledger_done(&ledger);
}
END_TEST

IDS_RUN_SUITE("analysis", parameters, windows, empty_windows_are_refused, events_count_where_they_begin,
              no_device_at_all, times_at_the_far_ends_do_not_overflow, streams_are_united,
              waits_are_busy_but_do_not_work, what_counts_as_a_kernel, gaps_and_their_neighbours, groups_of_events,
              a_report_of_everything, culprits_beyond_number_are_others)
