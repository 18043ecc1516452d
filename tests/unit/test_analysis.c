/* lib/analysis: window, busy sets, gaps, the ledger, steps, groups, over texts of formats/mini.c. */
#include "lib/analysis/analysis.h"
#include "lib/analysis/balance.h"
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

/* The ledger's intervals of all devices, "host.input load [1000,1600)" a line, in microseconds where all are whole
 * ones, else picoseconds; those of one account, culprit and step that follow each other are one. */
static struct said {
    int64_t from_ps, to_ps;
    uint32_t busy, step, entry, number; /* number: of the interval */
    uint8_t account, known;
} said[256];
static size_t said_count, visited;
/* What the device of an interval did in it, as it came. */
static struct did {
    int64_t from_ps, to_ps;
    uint32_t busy;
    uint16_t state;
} did[256];

static int hear(void *context, const struct ids_ledger_interval *interval, struct ids_error *ignored) {
    (void)context;
    (void)ignored;
    struct said *last = said_count ? &said[said_count - 1] : NULL;
    ck_assert_int_lt(interval->from_ps, interval->to_ps);
    if (last && last->busy == interval->busy) ck_assert_int_eq(last->to_ps, interval->from_ps); /* without a hole */
    int same = last && last->busy == interval->busy && last->entry == interval->entry && last->entry != IDS_NONE &&
               last->step == interval->step && last->known == interval->known;
    if (same) {
        last->to_ps = interval->to_ps;
    } else {
        ck_assert_uint_lt(said_count, sizeof said / sizeof *said);
        said[said_count++] = (struct said){interval->from_ps, interval->to_ps,   interval->busy,    interval->step,
                                           interval->entry,   (uint32_t)visited, interval->account, interval->known};
    }
    ck_assert_uint_lt(visited, sizeof did / sizeof *did);
    did[visited++] = (struct did){interval->from_ps, interval->to_ps, interval->busy, interval->state};
    return 0;
}

static void hear_entry(void *context, size_t interval, uint32_t entry) {
    (void)context;
    for (size_t i = 0; i < said_count; i++) {
        if (said[i].number == interval) said[i].entry = entry;
    }
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
    if (!code) code = ids_steps_trim(&analysis, &err);
    said_count = visited = 0;
    if (!code) code = ids_ledger_make(&analysis, &(struct ids_ledger_visitor){hear, hear_entry, NULL}, NULL, &err);
    return code;
}

static void make(const char *text) {
    int code = make_with(text, IDS_WINDOW_RUN, 0, INT64_MAX);
    ck_assert_msg(!code, "%s", err.text);
}

/* When the device did one of these in its window, "[1,2) [5,9)" in picoseconds; ids_time_in has the same sum. */
static const char *shown(uint32_t busy, unsigned states) {
    static char text[512];
    int64_t end_ps = INT64_MIN, sum_ps = 0;
    text[0] = '\0';
    for (size_t i = 0; i < visited; i++) {
        if (did[i].busy != busy || !(did[i].state & states) || !(did[i].state & IDS_IS_IN_WINDOW)) continue;
        sum_ps += did[i].to_ps - did[i].from_ps;
        if (did[i].from_ps == end_ps) {
            *strrchr(text, ',') = '\0';
            snprintf(text + strlen(text), sizeof text - strlen(text), ",%lld)", (long long)did[i].to_ps);
        } else {
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%lld,%lld)", *text ? " " : "",
                     (long long)did[i].from_ps, (long long)did[i].to_ps);
        }
        end_ps = did[i].to_ps;
    }
    ck_assert_int_eq(ids_time_in(&analysis.busy[busy], states), sum_ps);
    return text;
}

/* The ledger of one device between two moments (all of it: 0 and INT64_MAX). */
static const char *ledger_of(uint32_t busy, int64_t from_ps, int64_t to_ps) {
    static char text[4096];
    int64_t unit = 1000000;
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < said_count; i++) {
        if (said[i].from_ps % 1000000 || said[i].to_ps % 1000000) unit = 1;
    }
    for (size_t i = 0; i < said_count; i++) {
        if (said[i].busy != busy || said[i].to_ps <= from_ps || said[i].from_ps >= to_ps) continue;
        const struct ids_ledger_entry *entry = &analysis.ledger.entries[said[i].entry];
        ck_assert_uint_eq(entry->account, said[i].account);
        const char *culprit = ids_strings_z(&analysis.ledger.texts, entry->culprit);
        const char *where = ids_strings_z(&analysis.ledger.texts, entry->where);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%s%s%s%s%s [%lld,%lld)%s",
                                   length ? "\n" : "", ids_account_id((enum ids_account)said[i].account),
                                   *culprit ? " " : "", culprit, *where ? " (" : "", where, *where ? ")" : "",
                                   (long long)(said[i].from_ps / unit), (long long)(said[i].to_ps / unit),
                                   said[i].known == IDS_INFERRED ? " inferred"
                                   : said[i].known               ? " unknown"
                                                                 : "");
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

/* ---- the ledger ---- */

/* k1 [0,1000] us, a gap of 1000 us, k2 [2000,3000] us. `host` is what the host did; k2 was launched where it says.
 * The ledger of the gap. */
static const char *gap_of(const char *host) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 1000us k1 correlation_id=1\n2000us 1000us k2 correlation_id=2\n"
        "plane /host:CPU\nline 9 python\n0us 1us cudaLaunchKernel correlation_id=1\n%s",
        host);
    make(text);
    ck_assert_uint_eq(analysis.busy[0].gap_count, 1);
    return ledger_of(0, 1000000000, 2000000000);
}

START_TEST(before_a_launch_the_time_is_the_hosts) {
#define LATE "1990us 10us cudaLaunchKernel correlation_id=2\n"
#define DONE "host.dispatch cudaLaunchKernel [1990,2000)"
    /* what is recorded has its own time, and no more */
    ck_assert_str_eq(gap_of(LATE), "host.unknown [1000,1990) unknown\n" DONE);
    ck_assert_str_eq(gap_of("500us 995us backend_compile\n" LATE),
                     "host.compile backend_compile [1000,1495)\nhost.unknown [1495,1990) unknown\n" DONE);
    ck_assert_int_eq(analysis.ledger.entries[analysis.busy[0].gaps[0].entry].account,
                     IDS_HOST_COMPILE); /* equal: the first */
    ck_assert_str_eq(gap_of("1000us 494us backend_compile\n" LATE),
                     "host.compile backend_compile [1000,1494)\nhost.unknown [1494,1990) unknown\n" DONE);
    ck_assert_int_eq(analysis.ledger.entries[analysis.busy[0].gaps[0].entry].account,
                     IDS_HOST_UNKNOWN); /* the longest */
    ck_assert_str_eq(
        gap_of("1000us 300us trace_to_jaxpr\n1300us 690us XlaCompile:#module=jit_f#\n" LATE),
        "host.compile trace_to_jaxpr [1000,1300)\nhost.compile XlaCompile:#module=jit_f# [1300,1990)\n" DONE);
    ck_assert_str_eq(gap_of("1000us 990us DevicePut\n" LATE), "host.staging DevicePut [1000,1990)\n" DONE);
    ck_assert_str_eq(gap_of("1000us 990us data_loading\n" LATE), "host.input data_loading [1000,1990)\n" DONE);
    ck_assert_str_eq(gap_of("1000us 990us cudaMalloc\n" LATE), "host.runtime cudaMalloc [1000,1990)\n" DONE);
    ck_assert_str_eq(gap_of("1000us 990us checkpoint_save\n" LATE), "host.region checkpoint_save [1000,1990)\n" DONE);
    done();
}
END_TEST

START_TEST(python_is_the_programs_own_function) {
    ck_assert_str_eq(gap_of("1000us 990us \"$train.py:5 loop\"\n" LATE),
                     "host.python loop (train.py:5) [1000,1990)\n" DONE);
    /* what a library does for it is its own detail; what the library calls back is the program's again */
    ck_assert_str_eq(gap_of("900us 1100us \"$train.py:5 loop\"\n990us 910us \"$__init__.py:183 dumps\"\n1000us 900us "
                            "\"$encoder.py:183 encode\"\n"
                            "1200us 300us \"$mine.py:7 default\"\n1250us 50us \"$builtins len\"\n" LATE),
                     "host.python loop (train.py:5) [1000,1200)\nhost.python default (mine.py:7) [1200,1500)\n"
                     "host.python loop (train.py:5) [1500,1990)\n"
                     "host.dispatch cudaLaunchKernel (train.py:5 loop) [1990,2000)");
    /* input, waiting and compiling inside a function are told with the function as the place */
    ck_assert_str_eq(
        gap_of("1000us 985us \"$train.py:5 loop\"\n1000us 600us data_loading\n1100us 100us \"$mine.py:7 read\"\n"
               "1650us 100us backend_compile\n" LATE),
        "host.input data_loading (train.py:5 loop) [1000,1100)\nhost.input data_loading (mine.py:7 read) "
        "[1100,1200)\nhost.input data_loading (train.py:5 loop) [1200,1600)\nhost.python loop (train.py:5) "
        "[1600,1650)\nhost.compile backend_compile (train.py:5 loop) [1650,1750)\nhost.python loop (train.py:5) "
        "[1750,1985)\nhost.unknown [1985,1990) unknown\n" DONE);
    done();
}
END_TEST

START_TEST(whose_thread_counts) {
    /* a thread that has no part in the launch is not this launch's */
    ck_assert_str_eq(gap_of(LATE "line 10 other\n1000us 900us np.asarray(jax.Array)\n"),
                     "host.unknown [1000,1990) unknown\n" DONE);
    /* the thread that handed the work to the launching one */
    ck_assert_str_eq(
        gap_of("1000us 950us data_loading\n1950us 35us Queue _pt=3 _p=1\nline 10 worker\n1985us 15us Task "
               "_ct=3 _c=1\n" LATE),
        "host.input data_loading [1000,1950)\nhost.dispatch Queue [1950,1985)\nhost.dispatch Task [1985,2000)");
    /* the program's own thread, where the launching one does nothing known */
    ck_assert_str_eq(
        gap_of("line 10 main\n0us 1990us train step_num=1\n1000us 800us \"$train.py:5 loop\"\nline 11 autograd\n"
               "1900us 90us aten::mul\n" LATE),
        "host.python loop (train.py:5) [1000,1800)\nhost.unknown [1800,1900) unknown\n"
        "host.dispatch aten::mul [1900,1990)\n" DONE);
    done();
}
END_TEST

START_TEST(inside_and_behind_a_launch) {
    ck_assert_str_eq(gap_of("500us 10us cudaLaunchKernel correlation_id=2\n"),
                     "device.queue cudaLaunchKernel [1000,2000)");
    ck_assert_str_eq(gap_of("1000us 10us cudaLaunchKernel correlation_id=2\n"),
                     "host.dispatch cudaLaunchKernel [1000,1010)\ndevice.queue cudaLaunchKernel [1010,2000)");
    ck_assert_str_eq(gap_of("900us 300us aten::mul\n1100us 50us cudaLaunchKernel correlation_id=2\n"),
                     "host.dispatch aten::mul [1000,1150)\ndevice.queue aten::mul [1150,2000)");
    ck_assert_str_eq(gap_of(""), "device.unknown [1000,2000) unknown");
    /* one launch for both: a graph */
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 1us k1 correlation_id=1\n9us 1us k2 correlation_id=1\n"
         "plane /host:CPU\nline 9 t\n0us 1us cudaGraphLaunch correlation_id=1\n");
    ck_assert_str_eq(ledger_of(0, 0, INT64_MAX),
                     "work.compute k1 [0,1)\ndevice.in_program cudaGraphLaunch [1,9)\nwork.compute k2 [9,10)");
    done();
}
END_TEST

START_TEST(a_short_gap_is_the_price_of_a_launch) {
    /* 20 us and less is short, whatever Python or region is around; a wait for the device stays one */
#define SHORT(host)                                                                                               \
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 5us k1 correlation_id=1\n25us 5us k2 correlation_id=2\n" \
         "plane /host:CPU\nline 9 t\n0us 1us cudaLaunchKernel correlation_id=1\n" host                            \
         "24us 1us cudaLaunchKernel correlation_id=2\n")
    SHORT("0us 30us \"$train.py:5 loop\"\n");
    ck_assert_str_eq(
        ledger_of(0, 5000000, 25000000),
        "host.dispatch loop (train.py:5) [5,24)\nhost.dispatch cudaLaunchKernel (train.py:5 loop) [24,25)");
    SHORT("0us 24us log_metrics\n");
    ck_assert_str_eq(ledger_of(0, 5000000, 24000000), "host.dispatch log_metrics [5,24)");
    SHORT("6us 10us cudaMalloc\n");
    ck_assert_str_eq(ledger_of(0, 5000000, 24000000),
                     "host.unknown [5,6) unknown\nhost.runtime cudaMalloc [6,16)\nhost.unknown [16,24) unknown");
    done();
}
END_TEST

START_TEST(launching_after_a_wait_is_the_waits) {
    /* The gap begins while the host waits for the device: what it takes to launch again is the wait's doing. */
    ck_assert_str_eq(gap_of("500us 1400us cudaStreamSynchronize\n1900us 100us aten::mul\n" LATE),
                     "host.sync cudaStreamSynchronize [1000,2000)");
    /* but no longer than the wait had lasted when the gap began: 300 us after its end */
    ck_assert_str_eq(gap_of("700us 800us cudaStreamSynchronize\n1500us 500us aten::mul\n" LATE),
                     "host.sync cudaStreamSynchronize [1000,1800)\nhost.dispatch aten::mul [1800,2000)");
    /* nor is Python of its own */
    ck_assert_str_eq(gap_of("100us 1000us cudaStreamSynchronize\n1100us 890us \"$train.py:5 loop\"\n" LATE),
                     "host.sync cudaStreamSynchronize [1000,1100)\nhost.python loop (train.py:5) [1100,1990)\n"
                     "host.sync cudaStreamSynchronize [1990,2000)");
    /* nor is a wait that begins later */
    ck_assert_str_eq(
        gap_of("1000us 100us aten::add\n1100us 750us cudaStreamSynchronize\n1850us 150us aten::mul\n" LATE),
        "host.dispatch aten::add [1000,1100)\nhost.sync cudaStreamSynchronize [1100,1850)\n"
        "host.dispatch aten::mul [1850,2000)");
    done();
}
END_TEST

START_TEST(first_use_is_the_runtimes) {
    /* 0.2 ms and 50 times the median of its kind (4 us), and the first: a module is loaded in the call */
#define USES "1910us 4us aten::mul\n1920us 4us aten::mul\n1930us 4us aten::mul\n1940us 4us aten::mul\n"
#define USED                                                                                                       \
    "host.dispatch aten::mul [1910,1914)\nhost.unknown [1914,1920) unknown\nhost.dispatch aten::mul [1920,1924)\n" \
    "host.unknown [1924,1930) unknown\nhost.dispatch aten::mul [1930,1934)\nhost.unknown [1934,1940) unknown\n"    \
    "host.dispatch aten::mul [1940,1944)\nhost.unknown [1944,1990) unknown\n"
    ck_assert_str_eq(gap_of("1000us 200us aten::mul\n" USES LATE),
                     "host.runtime aten::mul [1000,1200)\nhost.unknown [1200,1910) unknown\n" USED DONE);
    ck_assert_str_eq(gap_of("1000us 199us aten::mul\n" USES LATE),
                     "host.dispatch aten::mul [1000,1199)\nhost.unknown [1199,1910) unknown\n" USED DONE);
    /* after others of its kind it is no first use: a busy host makes calls long */
    ck_assert_str_eq(gap_of("10us 4us aten::mul\n20us 4us aten::mul\n30us 4us aten::mul\n40us 4us aten::mul\n"
                            "1000us 200us aten::mul\n" LATE),
                     "host.dispatch aten::mul [1000,1200)\nhost.unknown [1200,1990) unknown\n" DONE);
    done();
}
END_TEST

START_TEST(a_rare_long_call_is_a_first_use) {
    /* of 50 calls one: another module is loaded; of 49 it is not rare */
    char text[4096] = "";
    size_t length = 0;
    for (int i = 0; i < 49; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 4us aten::mul\n", 10 + 10 * i);
    const char *without_first = strchr(text, '\n') + 1;
    snprintf(text + length, sizeof text - length, "1000us 200us aten::mul\n" LATE);
    ck_assert_str_eq(gap_of(text), "host.runtime aten::mul [1000,1200)\nhost.unknown [1200,1990) unknown\n" DONE);
    ck_assert_str_eq(gap_of(without_first),
                     "host.dispatch aten::mul [1000,1200)\nhost.unknown [1200,1990) unknown\n" DONE);
    done();
}
END_TEST

START_TEST(two_moments_are_one_wait) {
    /* the runtime marks the begin and the end of its wait, and a link ties them: it waits between them */
#define FIRST "1000us 1us CommonPjRtBuffer::Await _pt=0 _p=5\n"
#define SECOND "1900us 1us CommonPjRtBuffer::Await _ct=0 _c=5\n"
    ck_assert_str_eq(gap_of("900us 1090us \"$train.py:5 loop\"\n" FIRST SECOND LATE),
                     "host.sync CommonPjRtBuffer::Await (train.py:5 loop) [1000,1901)\n"
                     "host.python loop (train.py:5) [1901,1990)\n" DONE);
    /* without the link the thread does something else between two waits */
    ck_assert_str_eq(
        gap_of("900us 1090us \"$train.py:5 loop\"\n" FIRST "1900us 1us CommonPjRtBuffer::Await _ct=0 _c=6\n" LATE),
        "host.sync CommonPjRtBuffer::Await (train.py:5 loop) [1000,1001)\n"
        "host.python loop (train.py:5) [1001,1900)\n"
        "host.sync CommonPjRtBuffer::Await (train.py:5 loop) [1900,1901)\n"
        "host.python loop (train.py:5) [1901,1990)\n" DONE);
    /* a built-in function that the program called gives the wait its name */
    ck_assert_str_eq(
        gap_of("900us 1090us \"$train.py:5 loop\"\n950us 1035us \"$numpy asarray\"\n" FIRST SECOND LATE),
        "host.sync asarray (train.py:5 loop) [1000,1901)\nhost.python loop (train.py:5) [1901,1990)\n" DONE);
    done();
}
END_TEST

START_TEST(a_pool_thread_puts_data) {
    /* while the program waits for it, and after the launch: the device waits for the data that device_put gave to a
     * pool thread */
#define POOL                                                                                                \
    "line 10 pool\n1200us 0us ThreadpoolListener::StartRegion _ct=15 _c=7\n1210us 590us \"H2D Dispatch\"\n" \
    "1850us 0us ThreadpoolListener::StopRegion\n"
#define PUT                                                                                                           \
    "1000us 100us \"$api.py:2035 device_put\"\n1010us 80us shard_args\n1050us 0us ThreadpoolListener::Record _pt=15 " \
    "_p=7\n"
    ck_assert_str_eq(
        gap_of("900us 1090us \"$train.py:5 loop\"\n" PUT "1150us 800us \"$api.py:2479 block_until_ready\"\n" LATE POOL),
        "host.staging device_put (train.py:5 loop) [1000,1100)\nhost.python loop (train.py:5) [1100,1150)\n"
        "host.sync block_until_ready (train.py:5 loop) [1150,1210)\n"
        "host.staging device_put (train.py:5 loop) [1210,1800)\n"
        "host.sync block_until_ready (train.py:5 loop) [1800,1950)\n"
        "host.python loop (train.py:5) [1950,1990)\n" DONE);
    ck_assert_str_eq(
        gap_of("900us 1090us \"$train.py:5 loop\"\n" PUT "1110us 10us cudaLaunchKernel correlation_id=2\n" POOL),
        "host.staging device_put (train.py:5 loop) [1000,1100)\nhost.python loop (train.py:5) [1100,1110)\n"
        "host.dispatch cudaLaunchKernel (train.py:5 loop) [1110,1120)\n"
        "device.queue cudaLaunchKernel (train.py:5 loop) [1120,1210)\n"
        "host.staging device_put (train.py:5 loop) [1210,1800)\n"
        "device.queue cudaLaunchKernel (train.py:5 loop) [1800,2000)");
    done();
}
END_TEST

START_TEST(between_frames_python_runs) {
    /* a function that was called before the recording began has no frame: what it calls has */
    ck_assert_str_eq(gap_of("0us 900us \"$train.py:9 before\"\n1000us 100us \"$train.py:5 load\"\n1800us 190us "
                            "\"$train.py:7 step\"\n" LATE),
                     "host.python load (train.py:5) [1000,1100)\nhost.python [1100,1800) inferred\n"
                     "host.python step (train.py:7) [1800,1990)\n" DONE);
    /* of a short gap that is the price of the launch */
    SHORT("0us 6us \"$train.py:5 load\"\n20us 4us \"$train.py:7 step\"\n");
    ck_assert_str_eq(ledger_of(0, 5000000, 25000000),
                     "host.dispatch load (train.py:5) [5,6)\nhost.dispatch cudaLaunchKernel [6,20)\n"
                     "host.dispatch step (train.py:7) [20,24)\nhost.dispatch cudaLaunchKernel [24,25)");
    done();
}
END_TEST

START_TEST(told_compilations_have_a_place) {
    /* jax.monitoring tells of the function, the thread who called it; where the thread shows another function, what
     * was told counts */
#define TOLD "plane /host:jax.monitoring\nline 4711 MainThread\n1100us 400us jax.compile(f) _ct=7701 _c=3\n"
#define COMPILES(of)                                                                                       \
    "900us 1090us \"$train.py:5 loop\"\n1000us 700us PjitFunction(" of ")\n1150us 300us backend_compile\n" \
    "1500us 0us jax.monitoring _pt=7701 _p=3\n"
    ck_assert_str_eq(gap_of(COMPILES("f") LATE TOLD),
                     "host.compile f (train.py:5 loop) [1000,1700)\nhost.python loop (train.py:5) [1700,1990)\n" DONE);
    ck_assert_str_eq(gap_of(COMPILES("g") LATE TOLD),
                     "host.compile g (train.py:5 loop) [1000,1100)\nhost.compile f [1100,1500)\n"
                     "host.compile g (train.py:5 loop) [1500,1700)\nhost.python loop (train.py:5) [1700,1990)\n" DONE);
    done();
}
END_TEST

START_TEST(a_host_that_does_not_record_is_the_profilers) {
    /* both windows are the run's [0,1000]; b's file goes from 400 to 700 */
    make("host a start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n0us 1000us k1 correlation_id=1\n"
         "plane /host:CPU\nline 9 t\n0us 1us cudaLaunchKernel correlation_id=1\n"
         "host b start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n600us 100us k1 correlation_id=1\n"
         "plane /host:CPU\nline 9 t\n400us 200us cudaLaunchKernel correlation_id=1\n");
    ck_assert_str_eq(ledger_of(1, 0, INT64_MAX),
                     "profiler recording not open [0,400)\nhost.dispatch cudaLaunchKernel [400,600)\n"
                     "work.compute k1 [600,700)\nprofiler recording not open [700,1000)");
    done();
}
END_TEST

START_TEST(calls_that_compile_are_compiling) {
    /* tracing and lowering leave no event of their own without the Python tracer */
    ck_assert_str_eq(gap_of("1000us 1000us PjitFunction(f)\n1200us 300us backend_compile\n" LATE),
                     "host.compile f [1000,2000)");
    done();
}
END_TEST

START_TEST(what_runs_counts_before_what_waits) {
    /* compute before collectives before copies; a loop's time is its body's */
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 10us k1\nline 2 \"Stream #2\"\n5us 20us "
         "ncclDevKernel_AllReduce_x\n"
         "line 3 \"Stream #3\"\n8us 30us MemcpyH2D\n");
    ck_assert_str_eq(ledger_of(0, 0, INT64_MAX),
                     "work.compute k1 [0,10)\ncomm.transfer ncclDevKernel_AllReduce_x [10,25) "
                     "inferred\ncopy.h2d MemcpyH2D [25,38)");
    done();
}
END_TEST

START_TEST(the_last_to_come_is_waited_for) {
    /* GPU:1 comes 30 us later, because its host was in the loader */
    make("host a start_unix_ns=1000000000\n"
         "plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 10us k correlation_id=1\n10us 50us ncclDevKernel_AllReduce_x "
         "correlation_id=2\n"
         "plane /device:GPU:1\nline 1 \"Stream #1\"\n0us 10us k correlation_id=3\n40us 20us ncclDevKernel_AllReduce_x "
         "correlation_id=4\n"
         "plane /host:CPU\nline 9 t\n0us 1us cudaLaunchKernel correlation_id=1\n1us 1us cudaLaunchKernel "
         "correlation_id=2\n"
         "2us 1us cudaLaunchKernel correlation_id=3\n5us 34us data_loading\n39us 1us cudaLaunchKernel "
         "correlation_id=4\n");
    ck_assert_str_eq(ledger_of(0, 0, INT64_MAX),
                     "work.compute k [0,10)\ncomm.wait GPU:1 (host.input data_loading) [10,40)\n"
                     "comm.transfer ncclDevKernel_AllReduce_x [40,60)");
    ck_assert_str_eq(ledger_of(1, 0, INT64_MAX),
                     "work.compute k [0,10)\nhost.input data_loading [10,39)\nhost.dispatch cudaLaunchKernel [39,40)\n"
                     "comm.transfer ncclDevKernel_AllReduce_x [40,60)");
    done();
}
END_TEST

START_TEST(late_is_who_did_more) {
    /* GPU:1 was in the loader first, and computes while it is waited for, as long as GPU:0 did: it is late because
     * of the loader */
    make(
        "host a start_unix_ns=1000000000\n"
        "plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 10us k correlation_id=1\n10us 10us ncclDevKernel_AllReduce_x "
        "correlation_id=2\n"
        "20us 100us k correlation_id=3\n120us 40us ncclDevKernel_AllReduce_x correlation_id=4\n"
        "plane /device:GPU:1\nline 1 \"Stream #1\"\n0us 10us k correlation_id=5\n10us 10us ncclDevKernel_AllReduce_x "
        "correlation_id=6\n"
        "50us 100us m correlation_id=7\n150us 10us ncclDevKernel_AllReduce_x correlation_id=8\n"
        "plane /host:CPU\nline 9 t\n0us 1us cudaLaunchKernel correlation_id=1\n1us 1us cudaLaunchKernel "
        "correlation_id=2\n"
        "2us 1us cudaLaunchKernel correlation_id=3\n3us 1us cudaLaunchKernel correlation_id=4\n4us 1us "
        "cudaLaunchKernel correlation_id=5\n"
        "5us 1us cudaLaunchKernel correlation_id=6\n6us 43us data_loading\n49us 1us cudaLaunchKernel correlation_id=7\n"
        "50us 1us cudaLaunchKernel correlation_id=8\n");
    ck_assert_str_eq(ledger_of(0, 20000000, INT64_MAX),
                     "work.compute k [20,120)\ncomm.wait GPU:1 (host.input data_loading) [120,150)\n"
                     "comm.transfer ncclDevKernel_AllReduce_x [150,160)");
    done();
}
END_TEST

/* Steps of 65 us on two devices; the digit says which of them computes 60 us, the other one 20 us and waits 40 us
 * for it. */
static void make_steps(const char *late) {
    char text[8192], host[4096] = "";
    size_t length = 0, host_length = 0;
    for (int device = 0; device < 2; device++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "plane /device:GPU:%d\nline 1 \"Stream #1\"\n",
                                   device);
        for (int step = 0; late[step]; step++) {
            int id = 1 + 2 * (16 * device + step), work_us = late[step] == '0' + device ? 60 : 20;
            length += (size_t)snprintf(
                text + length, sizeof text - length,
                "%dus %dus k correlation_id=%d\n%dus %dus ncclDevKernel_AllReduce_x correlation_id=%d\n", 65 * step,
                work_us, id, 65 * step + work_us, 65 - work_us, id + 1);
        }
    }
    for (int step = 0; late[step]; step++) {
        host_length += (size_t)snprintf(host + host_length, sizeof host - host_length,
                                        "%dus 50us train step_num=%d _r=1\n", 65 * step, step);
        for (int launch = 0; launch < 4; launch++)
            host_length += (size_t)snprintf(host + host_length, sizeof host - host_length,
                                            "%dus 0us cudaLaunchKernel correlation_id=%d\n", 65 * step,
                                            1 + 2 * (16 * (launch / 2) + step) + launch % 2);
    }
    snprintf(text + length, sizeof text - length, "plane /host:CPU\nline 9 t\n%s", host);
    make(text);
}

START_TEST(who_waits_for_whom) {
    struct ids_balance balance;
    make_steps("1101");
    ck_assert_uint_eq(analysis.steps.count, 4);
    ck_assert_int_eq(ids_balance_make(&analysis, &balance, &err), 0);
    ck_assert_uint_eq(balance.straggler, 1);
    ck_assert_int_eq(balance.of_device[1].caused_ps, 120000000);
    ck_assert_int_eq(balance.of_device[1].suffered_ps, 40000000);
    ck_assert_int_eq(balance.of_device[0].caused_ps, 40000000);
    ck_assert_int_eq(balance.of_device[0].suffered_ps, 120000000);
    ck_assert_int_eq(balance.waited_ps, 160000000);
    ck_assert_uint_eq(balance.steps, 4);
    ck_assert_uint_eq(balance.of_device[1].steps, 3);
    ck_assert_int_eq(ids_balance_is_steady(&balance), 1);
    ids_balance_done(&balance);
    make_steps("1010");
    ck_assert_int_eq(ids_balance_make(&analysis, &balance, &err), 0);
    ck_assert_uint_eq(balance.of_device[balance.straggler].steps, 2);
    ck_assert_int_eq(ids_balance_is_steady(&balance), 0);
    ids_balance_done(&balance);
    /* nobody waits, or nothing of a step: no straggler, no step */
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 10us k\nplane /device:GPU:1\nline 1 \"Stream #1\"\n0us 10us "
         "k\n");
    ck_assert_int_eq(ids_balance_make(&analysis, &balance, &err), 0);
    ck_assert_uint_eq(balance.straggler, IDS_NONE);
    ids_balance_done(&balance);
    done();
}
END_TEST

static const struct ids_advice *advice_of(struct ids_report *report) {
    struct ids_params params;
    ids_params_default(&params);
    ids_report_init(report);
    ck_assert_int_eq(ids_analyze(trace, &params, report, &err), 0);
    ck_assert_uint_gt(report->advice_count, 0);
    return &report->advice[0];
}

START_TEST(more_work_than_the_others_is_advised_on) {
    /* GPU:1 computes 60 of 65 us, GPU:0 waits 40 us for it: with even work a step is 20 us shorter */
    struct ids_report report;
    make_steps("11111");
    const struct ids_advice *first = advice_of(&report);
    ck_assert_str_eq(first->account, "comm.wait");
    ck_assert_str_eq(first->culprit, "GPU:1");
    ck_assert_str_eq(first->where, "work.compute");
    ck_assert_int_eq(first->saves_ps, 20000000);
    ck_assert_ptr_nonnull(strstr(first->evidence, "(steady: GPU:1 comes last in 5 of 5 steps)"));
    ids_report_done(&report);
    make_steps("101010");
    first = advice_of(&report);
    ck_assert_str_eq(first->account, "comm.wait");
    ck_assert_ptr_nonnull(strstr(first->evidence, "changing"));
    ids_report_done(&report);
    done();
}
END_TEST

START_TEST(compute_is_said_first_where_it_is_nearly_all) {
    /* k computes 91 us of 100, and launching it takes the rest; with 89 us that comes first */
    struct ids_report report;
    for (int us = 89; us <= 91; us += 2) {
        char text[4096], host[2048] = "";
        size_t length = 0, host_length = 0;
        length += (size_t)snprintf(text, sizeof text, "plane /device:GPU:0\nline 1 \"Stream #1\"\n");
        for (int i = 0; i <= 20; i++) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%dus %dus k correlation_id=%d\n", 100 * i,
                                       us, i + 1);
            host_length += (size_t)snprintf(host + host_length, sizeof host - host_length,
                                            "%dus 1us cudaLaunchKernel correlation_id=%d\n", 100 * i - 1, i + 1);
        }
        snprintf(text + length, sizeof text - length, "plane /host:CPU\nline 9 t\n%s", host);
        make(text);
        ck_assert_str_eq(advice_of(&report)->account, us == 91 ? "work.compute" : "host.unknown");
        ids_report_done(&report);
        done();
    }
}
END_TEST

START_TEST(gaps_of_a_tpu) {
    make("plane /device:TPU:0\n"
         "meta f hlo_category=\"loop fusion\" program_id=1\nmeta \"%copy-start.1 = (f32[8]{0:S(5)}, f32[8]{0})\" "
         "hlo_category=copy-start program_id=1\n"
         "line 1 \"XLA Modules\"\n0us 100us jit_f(1) _ct=12 _c=1\n200us 50us jit_f(1) _ct=12 _c=2\n"
         "line 2 \"XLA Ops\"\n0us 10us f\n30us 10us f\n60us 40us f\n200us 50us f\n"
         "line 3 \"XLA TraceMe\"\n40us 10us barrier-cores\n10us 15us dependency-wait\n"
         "line 4 \"Async XLA Ops\"\n100us 50us \"%copy-start.1 = (f32[8]{0:S(5)}, f32[8]{0})\"\n"
         "plane /host:CPU\nline 9 t\n0us 1us DoEnqueueProgram _pt=12 _p=1\n1us 1us DoEnqueueProgram _pt=12 _p=2\n");
    ck_assert_uint_eq(analysis.busy[0].gap_count, 3);
    ck_assert_str_eq(ledger_of(0, 10000000, 30000000), "device.in_program jit_f(1) [10,30)");
    ck_assert_str_eq(ledger_of(0, 40000000, 60000000),
                     "comm.wait barrier-cores [40,50)\ndevice.in_program jit_f(1) [50,60)");
    ck_assert_str_eq(ledger_of(0, 100000000, 200000000),
                     "copy.d2h copy-start.1 (jit_f) [100,150)\ndevice.queue DoEnqueueProgram [150,200)");
    done();
}
END_TEST

START_TEST(every_account_has_its_words) {
    for (int i = 0; i < IDS_ACCOUNT_COUNT; i++) {
        ck_assert_int_eq(ids_account_of_id(ids_account_id((enum ids_account)i)), i);
        ck_assert_ptr_nonnull(ids_account_title((enum ids_account)i));
        ck_assert_ptr_nonnull(ids_account_meaning((enum ids_account)i));
        ck_assert_int_eq(ids_account_is_host((enum ids_account)i),
                         !strncmp(ids_account_id((enum ids_account)i), "host.", 5));
    }
    ck_assert_int_eq(ids_account_of_id("host"), IDS_NO_ACCOUNT);
    ck_assert_str_eq(ids_account_id(IDS_NO_ACCOUNT), "");
}
END_TEST

/* ---- steps ---- */

START_TEST(steps_of_two_hosts_are_one) {
    make("host a start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n100 50 ka0 correlation_id=1\n200 "
         "50 ka1 "
         "correlation_id=2\n500 10 kax correlation_id=3\n"
         "plane /host:CPU\nline 1 python\n0 10 train step_num=7 _r=1\n2 1 la0 correlation_id=1\n10 10 train step_num=8 "
         "_r=1\n"
         "12 1 la1 correlation_id=2\n40 10 train step_num=9 _r=1\n60 1 lax correlation_id=3\n"
         "host b start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n90 50 kb0 correlation_id=1\n220 "
         "60 kb1 "
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
    /* 7: from its annotation on a (0) and b (5) to the end of its work on a (150) and b (140), where 8 begins; 8: to
     * its last end on a (250) and b (280) */
    ck_assert_int_eq(steps->at[0].number, 7);
    ck_assert_int_eq(steps->at[0].start_ps, 0);
    ck_assert_int_eq(steps->at[0].end_ps, 150);
    ck_assert_int_eq(steps->at[0].work_ps, 90);
    ck_assert_int_eq(steps->at[0].last_ps, 150);
    ck_assert_uint_eq(steps->at[0].devices, 2);
    ck_assert_int_eq(steps->at[0].sum_ps, 150 + 135);
    ck_assert_int_eq(steps->at[0].slowest_ps, 150);
    ck_assert_str_eq(trace->devices[steps->at[0].slowest].label, trace->devices[0].label);
    ck_assert_int_eq(steps->at[0].host_start_ps, 0);
    ck_assert_int_eq(steps->at[0].host_end_ps, 15);
    ck_assert_int_eq(steps->at[1].number, 8);
    ck_assert_int_eq(steps->at[1].start_ps, 140);
    ck_assert_int_eq(steps->at[1].end_ps, 280);
    ck_assert_int_eq(steps->at[1].sum_ps, 100 + 140);
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
    ck_assert_uint_eq(analysis.steps.count, 2);         /* a loop that was run twice */
    ck_assert_int_eq(analysis.steps.at[0].end_ps, 110); /* where its work ends: the next one was annotated before */
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
    ck_assert_int_eq(analysis.steps.at[0].start_ps, 0); /* with its annotation */
    ck_assert_int_eq(analysis.steps.at[0].work_ps, 100);
    ck_assert_uint_eq(analysis.steps.assigned, 1);
    ck_assert_uint_eq(analysis.steps.unassigned, 1);
    done();
}
END_TEST

START_TEST(steps_of_an_annotation_without_numbers) {
    static const char devices[] =
        "plane /device:GPU:0\nline 1 \"Stream #1\"\n100 10 k1 correlation_id=1\n200 10 k2 correlation_id=2\n"
        "300 10 k3 correlation_id=3\nplane /host:CPU\nline 1 python\n";
    char text[1024];
    const struct ids_steps *steps = &analysis.steps;
    /* "train" is around all work, once an iteration; "layer" lies in it, and nothing is launched in "logging" */
    snprintf(text, sizeof text,
             "%s0 900 epoch\n6 2 layer\n0 10 train\n1 4 layer\n2 1 l1 correlation_id=1\n12 2 logging\n"
             "20 10 train\n21 4 layer\n22 1 l2 correlation_id=2\n32 2 logging\n"
             "40 10 train\n41 4 layer\n42 1 l3 correlation_id=3\n52 2 logging\n60 2 logging\n",
             devices);
    make(text);
    ck_assert_int_eq(steps->source, IDS_STEPS_ANNOTATION);
    ck_assert_str_eq(ids_trace_text(trace, steps->name), "train");
    ck_assert_uint_eq(steps->count, 3);
    ck_assert_int_eq(steps->at[2].number, 2);
    ck_assert_int_eq(steps->at[1].work_ps, 200);
    ck_assert_ptr_eq(ids_step_of_device_event(&analysis, activity(trace, 0, "k3")), &steps->at[2]);
    /* a third of the work lies outside of it: no loop's body */
    snprintf(text, sizeof text,
             "%s0 10 train\n2 1 l1 correlation_id=1\n20 10 train\n22 1 l2 correlation_id=2\n30 9 train\n"
             "42 1 l3 correlation_id=3\n",
             devices);
    make(text);
    ck_assert_int_eq(steps->source, IDS_STEPS_NONE);
    /* twice is no loop */
    snprintf(text, sizeof text,
             "%s0 10 train\n2 1 l1 correlation_id=1\n20 30 train\n22 1 l2 correlation_id=2\n42 1 l3 correlation_id=3\n",
             devices);
    make(text);
    ck_assert_int_eq(steps->source, IDS_STEPS_NONE);
    done();
}
END_TEST

START_TEST(the_step_with_which_the_window_opened) {
    static const char devices[] =
        "plane /device:GPU:0\nline 1 \"Stream #1\"\n100 400 k1 correlation_id=1\n500 10 k2 correlation_id=2\n"
        "600 10 k3 correlation_id=3\nplane /host:CPU\nline 1 python\n";
    static const char marks[] =
        "22 1 l1 correlation_id=1\n42 1 l2 correlation_id=2\n62 1 l3 correlation_id=3\n"
        "40 10 train step_num=5 _r=1\n60 10 train step_num=6 _r=1\n20 10 train step_num=4 _r=1\n";
    const struct ids_steps *steps = &analysis.steps;
    char text[1024];
    snprintf(text, sizeof text, "%s10 0 idsprof.opened\n%s", devices, marks);
    make(text);
    ck_assert_uint_eq(steps->count, 2);
    ck_assert_int_eq(steps->has_left_out, 1);
    ck_assert_int_eq(steps->left_out, 4);
    ck_assert_int_eq(steps->at[0].number, 5);
    ck_assert_int_eq(steps->at[1].number, 6);
    ck_assert_ptr_null(ids_step_of_device_event(&analysis, activity(trace, 0, "k1")));
    ck_assert_ptr_null(ids_step_of_host_event(&analysis, on_host(trace, "l1")));
    /* a program that annotates its input first: the window opened with that */
    snprintf(text, sizeof text, "%s10 0 idsprof.opened\n12 2 fetch step_num=4 _r=1\n%s", devices, marks);
    make(text);
    ck_assert_uint_eq(steps->count, 3);
    ck_assert_int_eq(steps->has_left_out, 0);
    /* and another one in the middle of the window tells nothing of the first step */
    snprintf(text, sizeof text, "%s35 0 idsprof.opened\n%s", devices, marks);
    make(text);
    ck_assert_uint_eq(steps->count, 3);
    /* of two steps none is left out */
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n100 400 k1 correlation_id=1\n500 10 k2 correlation_id=2\nplane "
         "/host:CPU\n"
         "line 1 python\n10 0 idsprof.opened\n20 10 train step_num=4 _r=1\n22 1 l1 correlation_id=1\n40 10 train "
         "step_num=5 _r=1\n"
         "42 1 l2 correlation_id=2\n");
    ck_assert_uint_eq(steps->count, 2);
    ck_assert_int_eq(steps->has_left_out, 0);
    done();
}
END_TEST

START_TEST(a_step_annotation_without_a_number_is_a_region) {
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n100 10 k1 correlation_id=1\n200 10 k2 correlation_id=2\n300 10 k3 "
         "correlation_id=3\n"
         "plane /host:CPU\nline 1 python\n0 10 train _r=1\n2 1 l1 correlation_id=1\n20 10 train _r=1\n22 1 l2 "
         "correlation_id=2\n"
         "40 10 train _r=1\n42 1 l3 correlation_id=3\n"
         /* a root of the runtime's is none */
         "line 2 executor\n0 10 RunGraph _r=1\n");
    ck_assert_int_eq(analysis.steps.source, IDS_STEPS_ANNOTATION);
    ck_assert_uint_eq(analysis.steps.count, 3);
    done();
}
END_TEST

/* Three steps that only dispatch, and their executions on a worker, of which links lead to the first step; `more`:
 * of each op. */
static void chained(const char *call, const char *more) {
    char text[2048];
    int length = snprintf(text, sizeof text, "plane /host:CPU\nline 1 python\n");
    for (int i = 0; i < 3; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%d 10 train step_num=%d _r=1\n%d 8 PjitFunction(f)\n%d 7 PjitFunction(f)\n%d 2 %s\n",
                           20 * i, i, 20 * i + 1, 20 * i + 1, 20 * i + 3, call);
    length += snprintf(text + length, sizeof text - (size_t)length,
                       "6 1 Record _pt=15 _p=1\nline 2 w1\n90 0 ThreadpoolListener::StartRegion "
                       "_ct=15 _c=1\n");
    for (int i = 0; i < 3; i++)
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "%d 90 op hlo_op=op hlo_module=jit_f", 100 * i + 100),
            length += snprintf(text + length, sizeof text - (size_t)length, *more ? " %s=%d\n" : "\n", more, 7 + i);
    snprintf(text + length, sizeof text - (size_t)length, "500 0 ThreadpoolListener::StopRegion\n");
    make(text);
}

START_TEST(chained_executions_are_counted_in_order) {
    /* by the runtime's call, and by the jitted function's where a jaxlib calls its own otherwise */
    static const char *const calls[] = {"CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice",
                                        "SomeExecutable::Run"};
    for (int c = 0; c < 2; c++) {
        chained(calls[c], "run_id");
        ck_assert_int_eq(analysis.steps.source, IDS_STEPS_ANNOTATION);
        ck_assert_uint_eq(analysis.steps.count, 3);
        ck_assert_int_eq(analysis.steps.at[1].work_ps, 200);
        ck_assert_int_eq(analysis.steps.at[2].work_ps, 300);
    }
    /* without a run's number nothing tells them apart: no long step is made of them */
    chained(calls[0], "");
    ck_assert_int_eq(analysis.steps.source, IDS_STEPS_NONE);
    ck_assert_uint_eq(analysis.steps.count, 0);
    ck_assert_uint_eq(analysis.steps.marked, 3);
    ck_assert_uint_eq(analysis.steps.blurred, 2);
    ck_assert_ptr_null(ids_step_of_device_event(&analysis, &trace->devices[0].activity.at[0]));
    done();
}
END_TEST

START_TEST(steps_that_end_before_they_begin_are_none) {
    /* two loops with the same numbers: the first step's work of the second loop comes last */
    make("plane /device:GPU:0\nline 1 \"Stream #1\"\n100 10 k1 correlation_id=1\n110 10 k2 correlation_id=2\n120 10 k3 "
         "correlation_id=3\n"
         "130 10 k4 correlation_id=4\n200 10 k5 correlation_id=5\nplane /host:CPU\nline 1 python\n"
         "0 5 train step_num=0 _r=1\n1 1 l1 correlation_id=1\n10 5 train step_num=1 _r=1\n11 1 l2 correlation_id=2\n"
         "20 5 train step_num=2 _r=1\n21 1 l3 correlation_id=3\n30 5 train step_num=3 _r=1\n31 1 l4 correlation_id=4\n"
         "line 2 other\n50 9 train step_num=0 _r=1\n51 1 l5 correlation_id=5\n");
    ck_assert_int_eq(analysis.steps.source, IDS_STEPS_NONE);
    ck_assert_uint_eq(analysis.steps.marked, 4);
    ck_assert_uint_eq(analysis.steps.blurred, 3);
    done();
}
END_TEST

START_TEST(steps_that_did_not_run_yet_blur_nothing) {
    make(
        "plane /device:GPU:0\nline 1 \"Stream #1\"\n100 10 k1 correlation_id=1\nplane /host:CPU\nline 1 python\n"
        "0 5 train step_num=0 _r=1\n1 1 l1 correlation_id=1\n10 5 train step_num=1 _r=1\n11 1 l2 correlation_id=2\n"
        "20 5 train step_num=2 _r=1\n21 1 l3 correlation_id=3\n30 5 train step_num=3 _r=1\n31 1 l4 correlation_id=4\n");
    ck_assert_int_eq(analysis.steps.source, IDS_STEPS_ANNOTATION);
    ck_assert_uint_eq(analysis.steps.count, 1);
    ck_assert_uint_eq(analysis.steps.without_work, 3);
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
              waits_are_busy_but_do_not_work, what_counts_as_a_kernel, gaps_and_their_neighbours,
              before_a_launch_the_time_is_the_hosts, python_is_the_programs_own_function, whose_thread_counts,
              inside_and_behind_a_launch, a_short_gap_is_the_price_of_a_launch, launching_after_a_wait_is_the_waits,
              first_use_is_the_runtimes, a_rare_long_call_is_a_first_use, two_moments_are_one_wait,
              a_pool_thread_puts_data, between_frames_python_runs, told_compilations_have_a_place,
              a_host_that_does_not_record_is_the_profilers, calls_that_compile_are_compiling,
              what_runs_counts_before_what_waits, the_last_to_come_is_waited_for, late_is_who_did_more,
              who_waits_for_whom, more_work_than_the_others_is_advised_on, compute_is_said_first_where_it_is_nearly_all,
              gaps_of_a_tpu, every_account_has_its_words, steps_of_two_hosts_are_one, the_window_of_the_steps,
              a_number_that_comes_again_is_another_step, steps_through_links, steps_of_an_annotation_without_numbers,
              the_step_with_which_the_window_opened, a_step_annotation_without_a_number_is_a_region,
              chained_executions_are_counted_in_order, steps_that_end_before_they_begin_are_none,
              steps_that_did_not_run_yet_blur_nothing, steps_of_a_line, groups_of_events, a_report_of_everything,
              culprits_beyond_number_are_others)
