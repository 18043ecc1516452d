/* lib/analysis: window, busy sets, gaps with their causes, steps, groups, over texts of formats/mini.c. */
#include "lib/analysis/context.h"
#include "lib/analysis/groups.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdio.h>

static struct ids_trace *trace;
static struct ids_analysis analysis;
static struct ids_error err;

static void done(void) {
    ids_analysis_done(&analysis);
    ids_trace_free(trace);
    analysis = (struct ids_analysis){0};
    trace = NULL;
}

/* What ids_analyze makes before the analyzers run. */
static int make_with(const char *text, enum ids_window_mode window, int64_t from_ps, int64_t to_ps) {
    if (trace) done();
    trace = mini_trace(text);
    analysis = (struct ids_analysis){.trace = trace};
    ids_params_default(&analysis.params);
    analysis.params.window = window;
    analysis.params.from_ps = from_ps;
    analysis.params.to_ps = to_ps;
    int code = ids_steps_make(&analysis, &err);
    if (!code) code = ids_busy_make(&analysis, &err);
    if (!code) code = ids_gaps_make(&analysis, &err);
    return code;
}

static void make(const char *text) {
    int code = make_with(text, IDS_WINDOW_RUN, 0, INT64_MAX);
    ck_assert_msg(!code, "%s", err.text);
}

/* "[1,2) [5,9)" in picoseconds */
static const char *shown(const struct ids_spans *set) {
    static char text[512];
    text[0] = '\0';
    for (size_t i = 0; i < set->count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%lld,%lld)", i ? " " : "",
                 (long long)set->at[i].start_ps, (long long)set->at[i].end_ps);
    }
    return text;
}

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
    ck_assert_str_eq(shown(&analysis.busy[0].busy), "[25,30) [50,55)");
    ck_assert_str_eq(shown(&analysis.busy[1].busy), "[25,55)");
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
    ck_assert_ptr_nonnull(strstr(ids_no_activity_reason(&analysis), "no device plane"));
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
    ck_assert_int_eq(ids_spans_total(&analysis.busy[0].busy), 2);
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
    const struct ids_busy *busy = &analysis.busy[0];
    ck_assert_str_eq(shown(&busy->busy), "[0,55) [60,85) [90,100)");
    ck_assert_str_eq(shown(&busy->working), "[0,55) [60,85) [90,100)");
    ck_assert_str_eq(shown(&busy->compute), "[0,40) [60,70)");
    ck_assert_str_eq(shown(&busy->collective), "[20,50)");
    ck_assert_str_eq(shown(&busy->copy), "[45,55) [65,85) [90,100)");
    ck_assert_str_eq(shown(&busy->h2d), "[45,55)");
    ck_assert_str_eq(shown(&busy->d2h), "[65,85)");
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
    const struct ids_busy *busy = &analysis.busy[0];
    ck_assert_str_eq(shown(&busy->busy), "[0,100)");
    ck_assert_str_eq(shown(&busy->working), "[0,30) [50,100)");
    ck_assert_str_eq(shown(&busy->compute), "[0,30) [90,100)");
    ck_assert_str_eq(shown(&busy->collective), "[50,90)");
    ck_assert_str_eq(shown(&busy->async_copy), "[5,65)");
    ck_assert_str_eq(shown(&busy->d2h), "[5,65)");
    ck_assert_str_eq(shown(&busy->copy), "");
    /* CPU: an op waits where its thread is in a rendezvous, and only that thread */
    make("plane /host:CPU\n"
         "line 1 t1\n0 100 a hlo_op=a hlo_module=m run_id=1\n40 30 Rendezvous\n"
         "line 2 t2\n200 50 b hlo_op=b hlo_module=m run_id=1\n"
         "line 3 t3\n210 10 Rendezvous\n");
    ck_assert_str_eq(shown(&analysis.busy[0].busy), "[0,100) [200,250)");
    ck_assert_str_eq(shown(&analysis.busy[0].working), "[0,40) [70,100) [200,250)");
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
    ck_assert_uint_eq(analysis.gap_count, sizeof table / sizeof *table);
    for (size_t i = 0; i < analysis.gap_count; i++) {
        const struct ids_gap *gap = &analysis.gaps[i];
        ck_assert_uint_eq(gap->busy, table[i].busy);
        ck_assert_int_eq(gap->start_ps, table[i].start);
        ck_assert_int_eq(gap->end_ps, table[i].end);
        ck_assert_ptr_eq(gap->previous, table[i].previous ? activity(trace, table[i].busy, table[i].previous) : NULL);
        ck_assert_ptr_eq(gap->next, table[i].next ? activity(trace, table[i].busy, table[i].next) : NULL);
        ck_assert_int_eq(gap->cause, IDS_NOT_RECORDED); /* there is no launch */
    }
    ck_assert_int_eq(
        make_with("plane /device:GPU:0\nline 1 \"Stream #1\"\n0 10 a\n30 10 b\n50 10 c\n", IDS_WINDOW_RUN, 15, 45), 0);
    ck_assert_uint_eq(analysis.gap_count, 2);
    ck_assert_int_eq(analysis.gaps[0].start_ps, 15); /* cut at the window */
    ck_assert_int_eq(analysis.gaps[1].end_ps, 45);
    ck_assert_ptr_eq(analysis.gaps[1].next, activity(trace, 0, "c")); /* known, though it is outside */
    done();
}
END_TEST

/* k1 [0,1000] us, a gap of 1000 us, k2 [2000,3000] us. `host` is what the host did; k2 was launched where it says. */
static enum ids_cause cause_of(const char *host) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 1000us k1 correlation_id=1\n2000us 1000us k2 correlation_id=2\n"
        "plane /host:CPU\nline 9 python\n0us 1us launch1 correlation_id=1\n%s",
        host);
    make(text);
    ck_assert_uint_eq(analysis.gap_count, 1);
    return (enum ids_cause)analysis.gaps[0].cause;
}

START_TEST(causes_of_a_late_launch) {
#define LATE "1990us 1us launch2 correlation_id=2\n"
    ck_assert_int_eq(cause_of(LATE), IDS_LATE_NOT_RECORDED);
    /* 990 us lie between the gap's start and the launch: half of it decides */
    ck_assert_int_eq(cause_of("1000us 495us backend_compile\n" LATE), IDS_LATE_COMPILE);
    const struct ids_event *evidence = ids_gap_evidence(&analysis, &analysis.gaps[0]);
    ck_assert_ptr_eq(evidence, on_host(trace, "backend_compile"));
    ck_assert_int_eq(cause_of("1000us 494us backend_compile\n" LATE), IDS_LATE_NOT_RECORDED);
    ck_assert_ptr_null(ids_gap_evidence(&analysis, &analysis.gaps[0]));
    ck_assert_int_eq(cause_of("500us 995us backend_compile\n" LATE),
                     IDS_LATE_COMPILE); /* only its part in the gap counts */
    ck_assert_int_eq(cause_of("500us 994us backend_compile\n" LATE), IDS_LATE_NOT_RECORDED);
    ck_assert_int_eq(cause_of("1000us 300us trace_to_jaxpr\n1300us 300us XlaCompile:#x#\n" LATE),
                     IDS_LATE_COMPILE); /* together */
    ck_assert_int_eq(cause_of("1000us 600us DevicePut\n" LATE), IDS_LATE_STAGING);
    ck_assert_int_eq(cause_of("1000us 600us np.asarray(jax.Array)\n" LATE), IDS_LATE_SYNC);
    ck_assert_int_eq(cause_of("1000us 600us data_loading\n" LATE), IDS_LATE_INPUT);
    ck_assert_int_eq(cause_of("1000us 600us \"$train.py:5 loop\"\n" LATE), IDS_LATE_PYTHON);
    ck_assert_int_eq(cause_of("1000us 900us \"$train.py:5 loop\"\n1000us 600us data_loading\n" LATE), IDS_LATE_INPUT);
    /* whose time, on another thread: a sync there is not this launch's; staging is the whole host's */
    ck_assert_int_eq(cause_of(LATE "line 10 other\n1000us 900us np.asarray(jax.Array)\n"), IDS_LATE_NOT_RECORDED);
    ck_assert_int_eq(cause_of(LATE "line 10 other\n1000us 900us DevicePut\n"), IDS_LATE_STAGING);
    /* the thread that handed the work to the launching one counts */
    ck_assert_int_eq(cause_of("1000us 900us data_loading\n1950us 1us Queue _pt=3 _p=1\nline 10 worker\n1985us 9us Task "
                              "_ct=3 _c=1\n" LATE),
                     IDS_LATE_INPUT);
    done();
}
END_TEST

START_TEST(causes_after_an_early_launch) {
    ck_assert_int_eq(cause_of("500us 1us launch2 correlation_id=2\n"), IDS_QUEUE);
    ck_assert_int_eq(cause_of("1000us 1us launch2 correlation_id=2\n"),
                     IDS_QUEUE); /* at the gap's very start: not late */
    ck_assert_int_eq(cause_of("1001us 1us launch2 correlation_id=2\n"), IDS_LATE_NOT_RECORDED);
    ck_assert_int_eq(cause_of(""), IDS_NOT_RECORDED);
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 1us k1 correlation_id=1\n9us 1us k2 correlation_id=1\n"
         "12us 1us ncclDevKernel_AllReduce_x correlation_id=2\n"
         "plane /host:CPU\nline 9 t\n0us 1us graph correlation_id=1\n1us 1us launch correlation_id=2\n");
    ck_assert_int_eq(analysis.gaps[0].cause, IDS_IN_PROGRAM); /* one launch for both */
    ck_assert_int_eq(analysis.gaps[1].cause, IDS_COLLECTIVE_WAIT);
    /* small kernels launched one after the other */
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 5us k1 correlation_id=1\n20us 5us k2 correlation_id=2\n"
         "plane /host:CPU\nline 9 t\n0us 1us l1 correlation_id=1\n19us 1us l2 correlation_id=2\n");
    ck_assert_int_eq(analysis.gaps[0].cause, IDS_LATE_LAUNCH_BOUND);
    done();
}
END_TEST

START_TEST(causes_on_a_tpu) {
    make("plane /device:TPU:0\n"
         "meta f hlo_category=\"loop fusion\" program_id=1\nmeta \"%copy-start.1 = (f32[8]{0:S(5)}, f32[8]{0})\" "
         "hlo_category=copy-start program_id=1\n"
         "line 1 \"XLA Modules\"\n0us 100us jit_f(1) _ct=12 _c=1\n200us 50us jit_f(1) _ct=12 _c=2\n"
         "line 2 \"XLA Ops\"\n0us 10us f\n30us 10us f\n60us 40us f\n200us 50us f\n"
         "line 3 \"XLA TraceMe\"\n40us 10us barrier-cores\n10us 15us dependency-wait\n"
         "line 4 \"Async XLA Ops\"\n100us 50us \"%copy-start.1 = (f32[8]{0:S(5)}, f32[8]{0})\"\n"
         "plane /host:CPU\nline 9 t\n0us 0us DoEnqueueProgram _pt=12 _p=1\n1us 1us DoEnqueueProgram _pt=12 _p=2\n");
    ck_assert_uint_eq(analysis.gap_count, 3);
    ck_assert_int_eq(analysis.gaps[0].cause, IDS_IN_PROGRAM);      /* [10,30] in the module; a dependency */
    ck_assert_int_eq(analysis.gaps[1].cause, IDS_COLLECTIVE_WAIT); /* [40,60]: the barrier has half of it */
    ck_assert_int_eq(analysis.gaps[2].cause, IDS_TRANSFER_WAIT);   /* [100,200]: the copy has half of it */
    done();
}
END_TEST

START_TEST(every_cause_has_its_name) {
    for (int i = 0; i < IDS_CAUSE_COUNT; i++) {
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(ids_cause_name((enum ids_cause)i), ids_cause_name((enum ids_cause)k));
        ck_assert_int_eq(!strncmp(ids_cause_name((enum ids_cause)i), "host late", 9), IDS_IS_HOST_LATE(i));
    }
    ck_assert_str_eq(ids_cause_name(IDS_CAUSE_COUNT), "not recorded");
}
END_TEST

/* ---- steps ---- */

START_TEST(steps_of_two_hosts_are_one) {
    make("host a start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n100 50 ka0 correlation_id=1\n200 50 ka1 "
         "correlation_id=2\n500 10 kax correlation_id=3\n"
         "plane /host:CPU\nline 1 python\n0 10 train step_num=7 _r=1\n2 1 la0 correlation_id=1\n10 10 train step_num=8 "
         "_r=1\n"
         "12 1 la1 correlation_id=2\n40 10 train step_num=9 _r=1\n60 1 lax correlation_id=3\n"
         "host b start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n90 50 kb0 correlation_id=1\n220 60 kb1 "
         "correlation_id=2\n400 5 kby\n"
         "plane /host:CPU\nline 1 python\n5 10 train step_num=7 _r=1\n7 1 lb0 correlation_id=1\n15 10 train step_num=8 "
         "_r=1\n"
         "17 1 lb1 correlation_id=2\n30 5 evaluate step_num=7 _r=1\n");
    const struct ids_steps *steps = &analysis.steps;
    ck_assert_int_eq(steps->source, IDS_STEPS_ANNOTATION);
    ck_assert_str_eq(ids_trace_text(trace, steps->name), "train"); /* what most are called */
    ck_assert_uint_eq(steps->count, 2);
    ck_assert_uint_eq(steps->without_work, 1); /* 9 */
    ck_assert_uint_eq(steps->assigned, 4);
    ck_assert_uint_eq(steps->unassigned, 2); /* kax was launched outside of steps, kby by nobody known */
    /* 7: from b's first event to the first of step 8; 8: to its last end, on b */
    ck_assert_int_eq(steps->at[0].number, 7);
    ck_assert_int_eq(steps->at[0].start_ps, 90);
    ck_assert_int_eq(steps->at[0].end_ps, 200);
    ck_assert_int_eq(steps->at[0].last_ps, 150);
    ck_assert_int_eq(steps->at[0].host_start_ps, 0);
    ck_assert_int_eq(steps->at[0].host_end_ps, 15);
    ck_assert_int_eq(steps->at[1].number, 8);
    ck_assert_int_eq(steps->at[1].start_ps, 200);
    ck_assert_int_eq(steps->at[1].end_ps, 280);
    ck_assert_ptr_eq(ids_step_of_device_event(&analysis, activity(trace, 1, "kb0")), &steps->at[0]);
    ck_assert_ptr_eq(ids_step_of_device_event(&analysis, activity(trace, 0, "ka1")), &steps->at[1]);
    ck_assert_ptr_null(ids_step_of_device_event(&analysis, activity(trace, 0, "kax")));
    ck_assert_ptr_null(ids_step_of_device_event(&analysis, activity(trace, 1, "kby")));
    ck_assert_ptr_eq(ids_step_of_host_event(&analysis, on_host(trace, "lb1")), &steps->at[1]);
    ck_assert_ptr_null(ids_step_of_host_event(&analysis, on_host(trace, "lax")));
    ck_assert_ptr_null(ids_step_of_host_event(&analysis, on_host(trace, "evaluate")));
    /* --window steps: from the first step's first device event to the last step's end */
    done();
}
END_TEST

START_TEST(the_window_of_the_steps) {
    static const char text[] =
        "plane /device:GPU:0\nline 1 \"Stream #1\"\n50 10 warmup\n100 50 k correlation_id=1\n900 50 after\n"
        "plane /host:CPU\nline 1 python\n0 10 train step_num=0 _r=1\n2 1 l correlation_id=1\n";
    ck_assert_int_eq(make_with(text, IDS_WINDOW_STEPS, 0, INT64_MAX), 0);
    ck_assert_int_eq(analysis.start_ps, 100);
    ck_assert_int_eq(analysis.end_ps, 150);
    ck_assert_int_eq(make_with(text, IDS_WINDOW_STEPS, 70, INT64_MAX), 0); /* from 50 + 70 */
    ck_assert_int_eq(analysis.start_ps, 120);
    done();
}
END_TEST

START_TEST(a_number_that_comes_again_is_another_step) {
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n100 10 k1 correlation_id=1\n200 10 k2 correlation_id=2\n"
         "plane /host:CPU\nline 1 python\n0 10 train step_num=0 _r=1\n2 1 l1 correlation_id=1\n50 10 train step_num=0 "
         "_r=1\n"
         "52 1 l2 correlation_id=2\n");
    ck_assert_uint_eq(analysis.steps.count, 2); /* a loop that was run twice */
    ck_assert_int_eq(analysis.steps.at[0].end_ps, 200);
    ck_assert_int_eq(analysis.steps.at[1].number, 0);
    done();
}
END_TEST

START_TEST(steps_through_links) {
    make("plane /host:CPU\n"
         "line 1 python\n0 10 train step_num=3 _r=1\n5 1 Record _pt=15 _p=1\n"
         "line 2 w1\n20 0 ThreadpoolListener::StartRegion _ct=15 _c=1\n25 1 Record2 _pt=15 _p=2\n30 0 "
         "ThreadpoolListener::StopRegion\n"
         "line 3 w2\n90 0 ThreadpoolListener::StartRegion _ct=15 _c=2\n100 10 op hlo_op=op hlo_module=m run_id=1\n"
         "120 0 ThreadpoolListener::StopRegion\n"
         /* a circle of links, which must not be followed for ever */
         "line 4 w3\n200 20 A _ct=7 _c=1\n205 1 B _pt=7 _p=2\n"
         "line 5 w4\n200 20 C _ct=7 _c=2\n205 1 D _pt=7 _p=1\n210 5 op2 hlo_op=op2 hlo_module=m run_id=2\n");
    ck_assert_ptr_eq(activity(trace, 0, "op")->launch, on_host(trace, "Record2"));
    ck_assert_uint_eq(analysis.steps.count, 1);
    ck_assert_int_eq(analysis.steps.at[0].number, 3);
    ck_assert_int_eq(analysis.steps.at[0].start_ps, 100);
    ck_assert_uint_eq(analysis.steps.assigned, 1);
    ck_assert_uint_eq(analysis.steps.unassigned, 1);
    done();
}
END_TEST

START_TEST(steps_of_a_line) {
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0 10 a\n100 10 b\n250 10 c\n320 5 d\n"
         "line 2 Steps\n0 100 11\n100 150 12\n250 60 13\n"
         "plane /host:CPU\nline 1 python\n0 10 train step_num=0 _r=1\n"); /* the line knows better */
    const struct ids_steps *steps = &analysis.steps;
    ck_assert_int_eq(steps->source, IDS_STEPS_MARKER);
    ck_assert_uint_eq(steps->count, 3);
    ck_assert_int_eq(steps->at[1].number, 12);
    ck_assert_int_eq(steps->at[1].end_ps, 250);
    ck_assert_int_eq(steps->at[2].end_ps, 310);
    ck_assert_ptr_eq(ids_step_of_device_event(&analysis, activity(trace, 0, "b")),
                     &steps->at[1]); /* at its very start */
    ck_assert_ptr_eq(ids_step_of_device_event(&analysis, activity(trace, 0, "c")), &steps->at[2]);
    ck_assert_ptr_null(ids_step_of_device_event(&analysis, activity(trace, 0, "d")));
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0 10 a\n");
    ck_assert_int_eq(analysis.steps.source, IDS_STEPS_NONE);
    ck_assert_uint_eq(analysis.steps.count, 0);
    ck_assert_ptr_null(ids_step_of_device_event(&analysis, activity(trace, 0, "a")));
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
    ck_assert_ptr_eq(groups.at[0].first, &b);
    ck_assert_ptr_eq(group->first, &a1);
    ck_assert_ptr_eq(groups.at[2].first, &c);
    ck_assert_uint_eq(group->count, 2);
    ck_assert_int_eq(group->total_ps, 15);
    ck_assert_int_eq(group->self_ps, 13); /* 4 + 9 */
    ck_assert_int_eq(group->min_ps, 6);
    ck_assert_int_eq(group->max_ps, 9);
    ck_assert_int_eq(group->value, 100);
    ck_assert_int_eq(group->value_max, 100);
    ck_assert_uint_eq(group->unknown_values, 1);
    ids_groups_sort_by_self(&groups);
    ck_assert_ptr_eq(groups.at[2].first, &c);
    ids_groups_done(&groups);
    /* equal in time and count: by the first event's start, then its track, then its name */
    struct ids_event tied[] = {{.start_ps = 5, .track = 1, .name = 2},
                               {.start_ps = 5, .track = 1, .name = 1},
                               {.start_ps = 5, .track = 0, .name = 9},
                               {.start_ps = 4, .track = 9, .name = 9}};
    for (uint64_t i = 0; i < 4; i++) ck_assert_int_eq(ids_groups_add(&groups, i + 1, &tied[i], 10), 0);
    ids_groups_sort_by_total(&groups);
    for (size_t i = 0; i < 4; i++) ck_assert_ptr_eq(groups.at[i].first, &tied[3 - i]);
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

IDS_RUN_SUITE("analysis", parameters, windows, empty_windows_are_refused, events_count_where_they_begin,
              no_device_at_all, times_at_the_far_ends_do_not_overflow, streams_are_united,
              waits_are_busy_but_do_not_work, what_counts_as_a_kernel, gaps_and_their_neighbours,
              causes_of_a_late_launch, causes_after_an_early_launch, causes_on_a_tpu, every_cause_has_its_name,
              steps_of_two_hosts_are_one, the_window_of_the_steps, a_number_that_comes_again_is_another_step,
              steps_through_links, steps_of_a_line, groups_of_events, a_report_of_everything)
