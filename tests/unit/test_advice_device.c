/* analyzers/advice: what is said of kernels, clocks, and what a device has, over texts of formats/mini.c. */
#include "tests/support/advise_on.h"
#include "tests/support/suite.h"

START_TEST(many_small_kernels_are_said) {
    record_kernels(40, "", 4000);
    ck_assert_ptr_nonnull(about("Many small kernels"));
    ids_report_done(&report);
    record_kernels(9, "", 4000); /* below ten a step */
    ck_assert_ptr_null(about("Many small kernels"));
    ids_report_done(&report);
}
END_TEST

START_TEST(what_keeps_small_kernels_apart_is_evidence) {
    kernel_name = "k hlo_op=s.1 hlo_module=m program_id=1";
    plane_stats = "\nhlo module=m name=s.1 opcode=sine program=1 split=reduction";
    record_kernels(40, "", 4000);
    plane_stats = "", kernel_name = "k";
    const struct ids_advice *small = about("Many small kernels");
    ck_assert_ptr_nonnull(small);
    ck_assert_msg(strstr(small->evidence, "could fuse are kept apart by: reduction (100.0 % of") != NULL, "%s",
                  small->evidence);
    ids_report_done(&report);
}
END_TEST

START_TEST(low_occupancy_is_said_where_the_device_computes) {
    record_kernels(40, "kernel_details=\"regs:8 occ_pct:50\"", 4000);
    ck_assert_ptr_nonnull(about("Low occupancy"));
    ids_report_done(&report);
    record_kernels(40, "kernel_details=\"regs:8 occ_pct:51\"", 4000);
    ck_assert_ptr_null(about("Low occupancy"));
    ids_report_done(&report);
    record_kernels(12, "kernel_details=\"regs:8 occ_pct:50\"", 4000); /* 240 us of each ms */
    ck_assert_ptr_null(about("Low occupancy"));
    ids_report_done(&report);
}
END_TEST

/* Of an A100, whose 40 kernels a step are all alike. */
static const char *device_stats = "device_vendor=Nvidia core_count=108 compute_cap_major=8 compute_cap_minor=0";
static void occupancy_of(const char *kernel, const char *details) {
    static char stats[256];
    plane_stats = device_stats;
    kernel_name = kernel;
    snprintf(stats, sizeof stats, "kernel_details=\"%s\"", details);
    record_kernels(40, stats, 4000);
    plane_stats = "";
    kernel_name = "k";
}

START_TEST(what_limits_the_occupancy_is_said) {
    static const struct {
        const char *kernel, *details, *said;
    } cases[] = {
        {"k", "regs:128 shm:0 grid:2160,1,1 block:256,1,1", "limited by registers (128 a thread)"},
        {"k", "regs:32 shm:65536 grid:2160,1,1 block:256,1,1", "limited by shared memory (65.54 kB a block)"},
        {"k", "regs:32 shm:0 grid:2160,1,1 block:1024,1,1", NULL}, /* 100 % */
        {"k", "regs:16 shm:0 grid:34560,1,1 block:32,1,1", "limited by the number of blocks (of 32,1,1 threads)"},
        {"k", "regs:32 shm:0 grid:54,1,1 block:256,1,1", "limited by the grid (54,1,1)"},
        {"k", "regs:128 shm:0 grid:54,1,1 block:256,1,1", "limited by the grid (54,1,1)"},
        {"cudnn::bn_bw_1C11_kernel_new<float>", "regs:128 shm:0 grid:2160,1,1 block:256,1,1", NULL}, /* a library's */
        {"volta_dgemm_64x64_nn", "regs:128 shm:0 grid:2160,1,1 block:256,1,1", NULL},
        {"ampere_sgemm_128x64_nn", "regs:128 shm:0 grid:2160,1,1 block:256,1,1", NULL}, /* its tiles lie in registers */
        {"ampere_fp16_s16816gemm_fp16", "regs:128 shm:0 grid:2160,1,1 block:256,1,1", NULL}, /* hides it otherwise */
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "regs:96 shm:0 grid:24,1,1 block:512,1,1", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        occupancy_of(cases[i].kernel, cases[i].details);
        const struct ids_advice *said = about("Low occupancy");
        ck_assert_msg(!said == !cases[i].said, "%s: %s", cases[i].details, said ? said->what : "nothing");
        if (said) ck_assert_msg(strstr(said->what, cases[i].said) != NULL, "%s", said->what);
        ids_report_done(&report);
    }
}
END_TEST

/* Ops of a TPU, 40 of 20 us in each of 4 ms, and samples of throttling. */
static void record_clock(const char *scale, int throttled) {
    static char text[1 << 16];
    static const char op[] = "\"%a.1 = f32[8]{0} fusion(f32[8]{0} %p.1)\"";
    size_t length = (size_t)snprintf(text, sizeof text,
                                     "plane /device:TPU:0\nmeta %s hlo_category=\"loop fusion\" program_id=1\n"
                                     "line 2 \"XLA Ops\"\n",
                                     op);
    for (int i = 0; i < 160; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 20us %s \"Time Scale Multiplier=%s\"\n",
                                   25 * i, op, scale);
    length += (size_t)snprintf(text + length, sizeof text - length, "line 3 _counters_\n");
    for (int i = 0; i < 100; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 0us \"Throttle\" Throttle=%d\n", 30 * i,
                                   i < throttled);
    advise_on(text);
}

START_TEST(a_clock_that_is_held_back_is_said) {
    record_clock("0.97", 5);
    ck_assert_ptr_nonnull(about("clock is held back"));
    ck_assert_ptr_nonnull(about("device is throttled"));
    ids_report_done(&report);
    record_clock("0.99", 4);
    ck_assert_ptr_null(about("clock is held back"));
    ck_assert_ptr_null(about("device is throttled"));
    ids_report_done(&report);
}
END_TEST

/* Kernels of 20 us each 40 us, and an op on the CPU in so many us of the idle 20. */
static void record_host_op(int us) {
    static char text[1 << 16];
    size_t length = (size_t)snprintf(text, sizeof text, "plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 60; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 20us k\n", 40 * i);
    length += (size_t)snprintf(text + length, sizeof text - length, "plane /host:CPU\nline 9 worker\n");
    for (int i = 0; us && i < 59; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "%dus %dus dot.1 hlo_op=dot.1 hlo_module=jit_host program_id=3 run_id=%d "
                                   "device_ordinal=0\n",
                                   40 * i + 15, us + 5, i + 1);
    advise_on(text);
}

START_TEST(ops_on_the_host_are_said) {
    record_host_op(2);
    ck_assert_ptr_nonnull(about("on the host's CPU"));
    ck_assert_ptr_nonnull(strstr(about("on the host's CPU")->what, "(most: dot.1 of jit_host)"));
    ids_report_done(&report);
    record_host_op(1);
    ck_assert_ptr_null(about("on the host's CPU"));
    ids_report_done(&report);
}
END_TEST

START_TEST(matrix_units_that_are_missed_are_said) {
    occupancy_of("ampere_sgemm_128x64_nn", "regs:32 shm:0 grid:2160,1,1 block:1024,1,1");
    ck_assert_ptr_nonnull(about("beside the matrix units"));
    ids_report_done(&report);
    occupancy_of("cutlass_80_tensorop_s1688gemm", "regs:32 shm:0 grid:2160,1,1 block:1024,1,1");
    ck_assert_ptr_null(about("beside the matrix units"));
    ids_report_done(&report);
}
END_TEST

/* f32 on the Tensor Cores of a V100: not as it is, but as f16. A P100 has none. */
START_TEST(cores_for_half_are_said) {
    const char *a100 = device_stats;
    device_stats = "device_vendor=Nvidia core_count=80 compute_cap_major=7 compute_cap_minor=0 memory_size=17000000000";
    occupancy_of("volta_sgemm_128x64_nn", "regs:122 shm:0 grid:2160,1,1 block:128,1,1");
    const struct ids_advice *said = about("beside the matrix units");
    ck_assert_ptr_nonnull(said);
    ck_assert_msg(strstr(said->what, "f16") && !strstr(said->what, "tensorfloat32"), "%s", said->what);
    ck_assert_msg(strstr(said->what, "up to 8.0 times as much: 125 TFLOP/s instead of 15.7") != NULL, "%s", said->what);
    ck_assert_msg(strstr(said->what, "computes most of the time") && !strstr(said->what, "No remedy"), "%s",
                  said->what);
    ck_assert_str_eq(said->explain, "work.compute");
    ck_assert_ptr_null(about("Low occupancy"));
    ids_report_done(&report);
    device_stats = "device_vendor=Nvidia core_count=56 compute_cap_major=6 compute_cap_minor=0";
    occupancy_of("maxwell_sgemm_128x64_nn", "regs:122 shm:0 grid:2160,1,1 block:128,1,1");
    ck_assert_ptr_null(about("beside the matrix units"));
    ids_report_done(&report);
    device_stats = a100;
}
END_TEST

/* Ten times 100 us: attention 50 us, of which a kernel of the user's has all, and an MLP of 50 us that computes 2e9
 * operations and moves 1e6 bytes: on a TPU of 100 TFLOP/s and 1000 GB/s 20 us of the 50. So 30 of 100 us are lost, all
 * by the MLP, of half of the time. */
static void layers_of_a_tpu(const char *peaks) {
    static char text[1 << 14];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        "plane /device:TPU:0 %s\n"
        "meta k.1 hlo_category=custom-call program_id=1 flops=0 bytes_accessed=0 tf_op=\"jit(f)/my_attn/pallas_call\"\n"
        "meta d.2 hlo_category=\"convolution fusion\" program_id=1 flops=2000000000 bytes_accessed=1000000 "
        "tf_op=\"jit(f)/the_mlp/dot_general\"\n"
        "line 2 \"XLA Ops\"\n",
        peaks);
    for (int i = 0; i < 10; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%dus 50us k.1\n%dus 50us d.2\n", i * 100, i * 100 + 50);
    advise_on(text);
}

START_TEST(what_bounds_the_layers_is_said) {
    layers_of_a_tpu("peak_teraflops_per_second=100.0 peak_hbm_bw_gigabytes_per_second=1000.0");
    const struct ids_advice *advice = about("computes nearly all of the time");
    ck_assert_ptr_nonnull(advice);
    ck_assert_ptr_nonnull(strstr(advice->what, "50.0 % my_attn (attention): what most of it computes and moves is not "
                                               "known; 50.0 % the_mlp (MLP): compute-bound, 40.0 TFLOP/s (40.0 % of "
                                               "peak), 20.0 GB/s of memory (2.0 % of peak)"));
    ck_assert_ptr_null(strstr(advice->what, "--peak-flops"));
    advice = about("at their roofline");
    ck_assert_ptr_nonnull(advice);
    ck_assert_ptr_nonnull(strstr(advice->what, "would be 30.0 % shorter; 100.0 % of that time is lost by d.2"));
    ck_assert_int_eq(advice->saves_ps, -1); /* what only wastes is told apart, and may be the same time */
    ids_report_done(&report);
}
END_TEST

/* Without peaks rates are said, how to have shares, and nothing of losses. */
START_TEST(layers_without_peaks_have_rates) {
    layers_of_a_tpu("");
    const struct ids_advice *advice = about("computes nearly all of the time");
    ck_assert_ptr_nonnull(advice);
    ck_assert_ptr_nonnull(strstr(advice->what, "the_mlp (MLP): 40.0 TFLOP/s, 20.0 GB/s of memory. --device-kind"));
    ck_assert_ptr_null(about("at their roofline"));
    ids_report_done(&report);
}
END_TEST

/* Ten times 100 us: 40 us of a product in mlp, and 60 us of a fusion, of which softmax has 3/4 and mlp 1/4. Both
 * layers' times are estimated, by 15 of 55 us and all of it; softmax has no rate, and mlp that of its product. */
START_TEST(fused_layers_are_estimated) {
    static char text[1 << 14];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        "plane /device:GPU:0\n"
        "hlo module=jit_f program=1 name=dot.1 opcode=dot flops=4000000000 bytes_accessed=4000000 "
        "op_name=\"jit(f)/mlp/dot_general\"\n"
        "hlo module=jit_f program=1 name=fusion.2 opcode=fusion flops=600000000 bytes_accessed=6000000 "
        "op_name=\"jit(f)/softmax/exp\" part=\"jit(f)/softmax/exp\" share=0.75 part=\"jit(f)/mlp/add\" share=0.25\n"
        "line 1 \"Stream #1(Kernel)\"\n");
    for (int i = 0; i < 10; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "%dus 40us k1 hlo_op=dot.1 hlo_module=jit_f program_id=1\n"
                               "%dus 60us k2 hlo_op=fusion.2 hlo_module=jit_f program_id=1\n",
                               i * 100, i * 100 + 40);
    advise_on(text);
    const struct ids_advice *advice = about("computes nearly all of the time");
    ck_assert_ptr_nonnull(advice);
    ck_assert_msg(strstr(advice->what, "By layer: about 55.0 % mlp (MLP): 100 TFLOP/s, 100 GB/s of memory; about "
                                       "45.0 % softmax: mostly fused with other layers. ") != NULL,
                  "%s", advice->what);
    ids_report_done(&report);
}
END_TEST

/* What helps with compute is said, beside it or apart, or that nothing is known to help. */
START_TEST(compute_ends_with_a_remedy_or_says_so) {
    layers_of_a_tpu("");
    const struct ids_advice *advice = about("computes nearly all of the time");
    ck_assert_ptr_nonnull(advice);
    ck_assert_msg(strstr(advice->what, ". No remedy is known: --explain work.compute lists its ops") != NULL, "%s",
                  advice->what);
    ids_report_done(&report);
    layers_of_a_tpu("peak_teraflops_per_second=100.0 peak_hbm_bw_gigabytes_per_second=1000.0");
    ck_assert_ptr_nonnull(about("at their roofline"));
    ck_assert_ptr_null(strstr(about("computes nearly all of the time")->what, "No remedy"));
    ids_report_done(&report);
}
END_TEST

/* Thirty times 100 us: an MLP of 60 us, and a collective of 40 us in the scope sync. What a device waits there for its
 * peers is no layer's compute: all of it is the MLP's. */
START_TEST(collectives_are_no_layers_compute) {
    static char text[1 << 14];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        "plane /device:TPU:0 peak_teraflops_per_second=100.0 peak_hbm_bw_gigabytes_per_second=1000.0\n"
        "meta d.2 hlo_category=\"convolution fusion\" program_id=1 flops=2000000000 bytes_accessed=1000000 "
        "tf_op=\"jit(f)/the_mlp/dot_general\"\n"
        "meta all-reduce.1 hlo_category=all-reduce program_id=1 flops=0 bytes_accessed=1000 "
        "tf_op=\"jit(f)/sync/psum\"\n"
        "line 2 \"XLA Ops\"\n");
    for (int i = 0; i < 30; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%dus 60us d.2\n%dus 40us all-reduce.1\n", i * 100,
                               i * 100 + 60);
    advise_on(text);
    const struct ids_advice *advice = about("computes most of the time");
    ck_assert_ptr_nonnull(advice);
    ck_assert_msg(strstr(advice->what, "By layer: 100.0 % the_mlp (MLP): ") != NULL, "%s", advice->what);
    ck_assert_msg(!strstr(advice->what, "sync"), "%s", advice->what);
    ids_report_done(&report);
}
END_TEST

IDS_RUN_SUITE("advice_device", many_small_kernels_are_said, what_keeps_small_kernels_apart_is_evidence,
              low_occupancy_is_said_where_the_device_computes, what_limits_the_occupancy_is_said,
              a_clock_that_is_held_back_is_said, ops_on_the_host_are_said, matrix_units_that_are_missed_are_said,
              cores_for_half_are_said, what_bounds_the_layers_is_said, layers_without_peaks_have_rates,
              fused_layers_are_estimated, compute_ends_with_a_remedy_or_says_so, collectives_are_no_layers_compute)
