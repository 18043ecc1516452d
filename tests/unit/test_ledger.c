/* lib/analysis: the ledger, who waits for whom, and what is advised then, over texts of formats/mini.c. */
#include "lib/analysis/balance.h"
#include "lib/analysis/booking.h"
#include "lib/base/parallel.h"
#include "tests/support/ledger_text.h"
#include "tests/support/suite.h"

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
    /* what a library does for it is told beside it; what the library calls back is the program's again */
    ck_assert_str_eq(
        gap_of("900us 1100us \"$train.py:5 loop\"\n990us 910us \"$__init__.py:183 dumps\"\n1000us 900us "
               "\"$encoder.py:183 encode\"\n"
               "1200us 300us \"$mine.py:7 default\"\n1250us 50us \"$builtins len\"\n" LATE),
        "host.python loop (train.py:5, mostly in dumps) [1000,1200)\nhost.python default (mine.py:7) [1200,1500)\n"
        "host.python loop (train.py:5, mostly in dumps) [1500,1990)\n"
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
    /* of a short gap that is the price of the launch; not a function that launches nothing */
    SHORT("0us 6us \"$train.py:5 load\"\n20us 4us \"$train.py:7 step\"\n");
    ck_assert_str_eq(ledger_of(0, 5000000, 25000000),
                     "host.dispatch load (train.py:5) [5,6)\nhost.dispatch cudaLaunchKernel [6,20)\n"
                     "host.python step (train.py:7) [20,24)\nhost.dispatch cudaLaunchKernel [24,25)");
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
    /* both windows are the run's [0,1000]; of b's file, from 600 to 700, nobody knows whether it was recorded longer */
    make("host a start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n0us 1000us k1 correlation_id=1\n"
         "plane /host:CPU\nline 9 t\n0us 1us cudaLaunchKernel correlation_id=1\n"
         "host b start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n600us 100us k1 "
         "correlation_id=1\n");
    ck_assert_str_eq(ledger_of(1, 0, INT64_MAX),
                     "profiler recording not open [0,600)\nwork.compute k1 [600,700)\nprofiler recording not open "
                     "[700,1000)");
    done();
}
END_TEST

START_TEST(a_host_has_the_time_that_it_was_recorded_in) {
    /* the run's window is [0,1000]; b's file goes from 400 to 750. Its launch takes many times as long as its other
     * call. */
    make("host a start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n0us 1000us k1 correlation_id=1\n"
         "plane /host:CPU\nline 9 t\n0us 1us cudaLaunchKernel correlation_id=1\n"
         "host b start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n600us 100us k1 correlation_id=1\n"
         "plane /host:CPU\nline 9 t\n400us 200us cudaLaunchKernel correlation_id=1\n749us 1us cudaGetLastError\n");
    ck_assert_str_eq(ledger_of(1, 0, INT64_MAX),
                     "host.runtime cudaLaunchKernel [400,600)\nwork.compute k1 [600,700)\nhost.unknown [700,749) "
                     "unknown\nhost.dispatch cudaGetLastError [749,750)");
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
    /* GPU:1 computes 60 of 65 us, GPU:0 waits 40 us for it: were it as fast, a step would be 40 us shorter */
    struct ids_report report;
    make_steps("11111");
    const struct ids_advice *first = advice_of(&report);
    ck_assert_str_eq(first->account, "comm.wait");
    ck_assert_str_eq(first->culprit, "GPU:1");
    ck_assert_str_eq(first->where, "work.compute");
    ck_assert_int_eq(first->saves_ps, 40000000);
    ck_assert_ptr_nonnull(strstr(first->evidence, "; a device waits 20.00 us in the mean"));
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
    /* k computes 91 us of 100, and launching it takes the rest; with 87 us that is more than a tenth, and first */
    struct ids_report report;
    for (int us = 87; us <= 91; us += 4) {
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

/* ---- what is held at a time ---- */

static size_t held_at_most;

/* Where devices are swept, those behind them that have gaps are counted, and what is summed up is let go. */
static int count_held(struct ids_analysis *of, uint32_t from, uint32_t to, struct ids_error *error) {
    size_t held = 0;
    (void)error;
    for (size_t b = from; b < of->busy_count; b++) held += of->busy[b].gap_count > 0;
    if (held > held_at_most) held_at_most = held;
    for (uint32_t b = from; b < to; b++) of->busy[b].gap_count = 0;
    return 0;
}

/* 32 devices with a gap each. Two threads have four parts each, so 4 devices a part; four parts are booked at a
 * time. */
START_TEST(gaps_of_few_devices_are_held) {
    enum { DEVICES = 32, AT_A_TIME = 16 };
    static char text[8192];
    size_t used = 0;
    for (int d = 0; d < DEVICES; d++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "plane /device:GPU:%d\nline 1 \"Stream #1\"\n0us 10us k1\n20us 10us k2\n", d);
    trace = mini_trace(text);
    analysis = (struct ids_analysis){.trace = trace};
    ids_params_default(&analysis.params);
    ck_assert_int_eq(ids_steps_make(&analysis, &err), 0);
    ck_assert_int_eq(ids_busy_make(&analysis, &err), 0);
    ck_assert_int_eq(ids_steps_trim(&analysis, &err), 0);
    held_at_most = 0;
    ids_jobs_set(2, 0);
    ck_assert_msg(!ids_ledger_make(&analysis, NULL, count_held, &err), "%s", err.text);
    ids_jobs_set(1, 0);
    ck_assert_uint_eq(analysis.busy_count, DEVICES);
    ck_assert_uint_eq(held_at_most, AT_A_TIME);
    done();
}
END_TEST

IDS_RUN_SUITE("ledger", before_a_launch_the_time_is_the_hosts, python_is_the_programs_own_function, whose_thread_counts,
              inside_and_behind_a_launch, a_short_gap_is_the_price_of_a_launch, launching_after_a_wait_is_the_waits,
              first_use_is_the_runtimes, a_rare_long_call_is_a_first_use, two_moments_are_one_wait,
              a_pool_thread_puts_data, between_frames_python_runs, told_compilations_have_a_place,
              a_host_that_does_not_record_is_the_profilers, a_host_has_the_time_that_it_was_recorded_in,
              calls_that_compile_are_compiling, what_runs_counts_before_what_waits, the_last_to_come_is_waited_for,
              late_is_who_did_more, who_waits_for_whom, more_work_than_the_others_is_advised_on,
              compute_is_said_first_where_it_is_nearly_all, gaps_of_a_tpu, every_account_has_its_words,
              gaps_of_few_devices_are_held)
