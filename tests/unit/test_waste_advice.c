/* analyzers/waste_advice and analyzers/advise_on_waste: each kind of waste is said where it is a good part of the
 * time and of enough executions, and not elsewhere. */
#include "analyzers/waste_advice.h"
#include "lib/analysis/analysis.h"
#include "lib/analysis/context.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdio.h>

static const int64_t MICROSECOND = 1000000;
static struct ids_report report;

static void advise_on(const char *text) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_params params;
    struct ids_trace *trace = mini_trace(text);
    ids_params_default(&params);
    ids_report_init(&report);
    ck_assert_int_eq(ids_analyze(trace, &params, &report, &err), 0);
    ids_trace_free(trace);
}

static const struct ids_advice *about(const char *words) {
    for (size_t i = 0; i < report.advice_count; i++) {
        if (strstr(report.advice[i].what, words)) return &report.advice[i];
    }
    return NULL;
}

/* 30 steps of 100 us on a GPU: big.1, in the first `runs` of them w.1 of this kind for `wasted` us, then a gap of
 * `idle` us, of which nothing is recorded. */
static void record_with(const char *waste, int runs, int wasted, int idle) {
    static char text[1 << 14];
    size_t used = (size_t)snprintf(text, sizeof text, "plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int round = 0; round < 30; round++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%dus %dus k hlo_op=big.1 hlo_module=m program_id=1\n"
                                 "%dus %dus k hlo_op=%s hlo_module=m program_id=1\n",
                                 100 * round, 100 - idle - wasted, 100 * round + 100 - idle - wasted, wasted,
                                 round < runs ? "w.1" : "other.1");
    snprintf(text + used, sizeof text - used,
             "hlo module=m name=big.1 opcode=fusion program=1 fingerprint=1\n"
             "hlo module=m name=w.1 opcode=fusion program=1 fingerprint=2 op_name=jit(f)/mlp/sin waste=%s "
             "waste_why=\"shown by x\"\n",
             waste);
    advise_on(text);
}

static const struct {
    const char *waste, *says;
} kinds[] = {
    {"recomputed", "The forward pass is computed again for the backward pass"},
    {"repeated", "The program computes the same twice"},
    {"constant", "The program computes in each call what never changes"},
    {"invariant", "A loop computes in each round what it does not change"},
    {"replicated", "A collective exchanges what every device has already"},
    {"gathered", "An all-gather brings whole arrays of which each device uses a slice"},
    {"reduced", "An all-reduce sums whole arrays of which each device uses a slice"},
    {"layout", "Arrays are only copied or transposed"},
    {"convert", "Arrays are only converted to another dtype"},
    {"padding", "Arrays are only padded"},
    {"wide", "The program computes in float64"},
    {"attention", "Attention writes its scores to memory"},
    {"serial", "Asynchronous copies or collectives are waited for as soon as they begin"},
};

START_TEST(each_kind_is_said) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        record_with(kinds[i].waste, 30, 10, 0);
        const struct ids_advice *advice = about(kinds[i].says);
        ck_assert_msg(advice != NULL, "nothing is said of %s", kinds[i].waste);
        ck_assert_msg(strstr(advice->what, ": w.1 (jit(f)/mlp/sin) - ") != NULL, "%s", advice->what);
        ck_assert_str_eq(advice->evidence,
                         "10.00 us a step on a device, 10.0 % of device time, 30 executions; shown by x");
        int is_proven = !strcmp(kinds[i].waste, "repeated") || !strcmp(kinds[i].waste, "constant");
        ck_assert_int_eq(advice->saves_ps, is_proven ? INT64_C(10000000) : -1);
        ids_report_done(&report);
    }
}
END_TEST

START_TEST(little_is_not_said) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        record_with(kinds[i].waste, 30, 1, 0); /* 1 % of the time */
        ck_assert_ptr_null(about(kinds[i].says));
        ids_report_done(&report);
        record_with(kinds[i].waste, 10, 10, 0); /* in 10 executions, a third of the steps */
        ck_assert_ptr_null(about(kinds[i].says));
        ids_report_done(&report);
    }
}
END_TEST

/* Of a loop's rounds one is needed: how many there are, says what could be won. */
START_TEST(all_rounds_but_one) {
    record_with("invariant waste_rounds=5", 30, 10, 0);
    ck_assert_ptr_nonnull(about("A loop computes in each round"));
    ck_assert_int_eq(about("A loop computes in each round")->saves_ps, 8 * MICROSECOND);
    ids_report_done(&report);
}
END_TEST

/* 20 of 100 us are computed twice, and 30 or 10 us the device waits. */
START_TEST(savings_are_told_in_order) {
    record_with("repeated", 30, 20, 10);
    const struct ids_advice *twice = about("computes the same twice"), *waits = about("The device does nothing");
    ck_assert_ptr_nonnull(twice);
    ck_assert_ptr_nonnull(waits);
    ck_assert(twice < waits && twice->saves_ps == 20 * MICROSECOND);
    ids_report_done(&report);
    record_with("repeated", 30, 20, 30);
    twice = about("computes the same twice"), waits = about("The device does nothing");
    ck_assert(twice && waits && waits < twice && twice->saves_ps == 20 * MICROSECOND);
    ids_report_done(&report);
}
END_TEST

/* Each kind takes 20 of 100 us, whether its saving is proved or not, and 10 or 30 us the device waits. */
START_TEST(what_is_not_proved_stands_by_its_time) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int idle = 10; idle <= 30; idle += 20) {
            record_with(kinds[i].waste, 30, 20, idle);
            const struct ids_advice *wasted = about(kinds[i].says), *waits = about("The device does nothing");
            ck_assert_msg(wasted && waits, "%s: not said", kinds[i].waste);
            ck_assert_msg((wasted < waits) == (idle < 20), "%s beside %d us", kinds[i].waste, idle);
            ids_report_done(&report);
        }
    }
}
END_TEST

/* Of 95 us of compute 20 or 25 are such: from a quarter on they are what to look at, before which ops have most
 * time. */
START_TEST(waste_that_is_much_of_the_compute_comes_first) {
    for (int wasted = 20; wasted <= 25; wasted += 5) {
        record_with("convert", 30, wasted, 5);
        const struct ids_advice *converts = about("Arrays are only converted"),
                                *computes = about("The device computes nearly all");
        ck_assert(converts && computes);
        ck_assert_int_eq(converts < computes, wasted == 25);
        ids_report_done(&report);
    }
}
END_TEST

/* Of 100 us 85 are computed, and of them 20 or 40 by what only wastes: 45 left are less than half. */
START_TEST(waste_is_no_compute) {
    record_with("convert", 30, 20, 15);
    ck_assert_ptr_nonnull(about("The device computes most of the time"));
    ids_report_done(&report);
    record_with("convert", 30, 40, 15);
    ck_assert_ptr_null(about("The device computes most of the time"));
    ids_report_done(&report);
}
END_TEST

/* What moves shows what helps: a copy within one layout, and numbers that are made complex. */
START_TEST(words_go_by_what_moves) {
    static const struct {
        enum ids_waste waste;
        const char *why, *says;
    } cases[] = {
        {IDS_WASTE_LAYOUT, "f32[8,8]{1,0} -> f32[8,8]{1,0}, of x, for dot.1", "copied as they are"},
        {IDS_WASTE_LAYOUT, "f32[8,8]{1,0} -> f32[8,8]{1,0}", "copied as they are"},
        {IDS_WASTE_LAYOUT, "f32[8]{0} -> f32[8]{0}, of argument x, as the program's result",
         "because a program returns"},
        {IDS_WASTE_LAYOUT, "f32[8]{0} -> f32[8]{0}, of argument x, for dot.1", "!returns"},
        {IDS_WASTE_LAYOUT, "f32[8]{0} -> f32[8]{0}, of dot.1, as the program's result", "!returns"},
        {IDS_WASTE_LAYOUT, "f32[8,8]{1,0} -> f32[8,8]{1,0:T(8,128)}, of x", "copied or transposed"},
        {IDS_WASTE_LAYOUT, "f32[8,8]{1,0} -> f32[8,8]{0,1}, of x", "copied or transposed"},
        {IDS_WASTE_LAYOUT, "", "copied or transposed"},
        {IDS_WASTE_CONVERT, "f32[8]{0} -> c64[8]{0}, of x, for fft.0", "Real arrays"},
        {IDS_WASTE_CONVERT, "f64[8]{0} -> c128[8]{0}", "Real arrays"},
        {IDS_WASTE_CONVERT, "f32[8]{0} -> bf16[8]{0}, of c64[1]", "another dtype"},
        {IDS_WASTE_CONVERT, "f32[8]{0} -> f64[8]{0}, of argument p['w'], for dot.1", "converted to float64"},
        {IDS_WASTE_CONVERT, "f64[8]{0} -> f32[8]{0}, of x", "another dtype"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ids_remedy said = ids_waste_remedy(cases[i].waste, cases[i].why, IDS_JAX, IDS_DEVICE_CPU);
        int is_not = *cases[i].says == '!';
        int has = strstr(said.problem, cases[i].says + is_not) != NULL;
        ck_assert_msg(has != is_not, "%s: %s", cases[i].why, said.problem);
    }
}
END_TEST

/* Two devices, on which psum.1 runs half of the time and nothing beside it. `waste`: what is wasted by it. */
static void record_collective(const char *waste) {
    static char text[1 << 15];
    size_t used = 0;
    for (int d = 0; d < 2; d++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "plane /device:TPU:%d\nmeta big.1 hlo_category=\"loop fusion\" program_id=1\n"
                                 "meta psum.1 hlo_category=all-reduce program_id=1\nline 1 \"XLA Modules\"\n"
                                 "0us 3000us m(1)\nline 2 \"XLA Ops\"\n",
                                 d);
        for (int i = 0; i < 30; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%dus 50us big.1\n%dus 50us psum.1\n", 100 * i,
                                     100 * i + 50);
    }
    snprintf(text + used, sizeof text - used,
             "hlo module=m name=psum.1 opcode=all-reduce program=1 fingerprint=2 waste_why=proof waste=%s\n", waste);
    advise_on(text);
}

START_TEST(proof_replaces_the_piece_of_its_collective) {
    record_collective("none");
    ck_assert_ptr_nonnull(about("Collectives run and nothing computes"));
    const int64_t whole_ps = about("Collectives run and nothing computes")->saves_ps;
    ids_report_done(&report);
    record_collective("replicated");
    ck_assert_ptr_nonnull(about("what every device has already"));
    ck_assert_ptr_eq(about("what every device has already"), &report.advice[0]);
    ck_assert_int_eq(report.advice[0].saves_ps, whole_ps);
    ck_assert_ptr_null(about("Collectives run and nothing computes"));
    ids_report_done(&report);
    record_collective("reduced");
    ck_assert_int_eq(report.advice[0].saves_ps, whole_ps / 2);
    ids_report_done(&report);
    record_collective("gathered"); /* how much less a slice would take, nothing proves */
    ck_assert_ptr_nonnull(about("Collectives run and nothing computes"));
    ids_report_done(&report);
}
END_TEST

/* What the platform has no fused kernel for, and words of another framework. */
START_TEST(words_fit) {
    ck_assert_ptr_null(ids_waste_remedy(IDS_WASTE_ATTENTION, NULL, IDS_JAX, IDS_DEVICE_CPU).problem);
    ck_assert_ptr_nonnull(ids_waste_remedy(IDS_WASTE_ATTENTION, NULL, IDS_JAX, IDS_DEVICE_TPU).problem);
    ck_assert_ptr_null(ids_waste_remedy(IDS_WASTE_TRANSPOSED, NULL, IDS_JAX, IDS_DEVICE_GPU).problem);
    ck_assert_ptr_nonnull(ids_waste_remedy(IDS_WASTE_TRANSPOSED, NULL, IDS_JAX, IDS_DEVICE_CPU).problem);
    ck_assert_ptr_nonnull(
        strstr(ids_waste_remedy(IDS_WASTE_ATTENTION, NULL, IDS_PYTORCH, IDS_DEVICE_GPU).remedy, "torch.nn.functional"));
    ck_assert_ptr_nonnull(strstr(ids_waste_remedy(IDS_WASTE_RECOMPUTED, NULL, IDS_PYTORCH, IDS_DEVICE_GPU).remedy,
                                 "torch.utils.checkpoint"));
    for (int w = 1; w < IDS_WASTE_COUNT; w++) {
        enum ids_device_kind platform = w == IDS_WASTE_TRANSPOSED ? IDS_DEVICE_CPU : IDS_DEVICE_GPU;
        ck_assert_ptr_nonnull(ids_waste_remedy((enum ids_waste)w, NULL, IDS_PYTORCH, platform).remedy);
    }
}
END_TEST

IDS_RUN_SUITE("waste_advice", waste_is_no_compute, waste_that_is_much_of_the_compute_comes_first, each_kind_is_said,
              little_is_not_said, all_rounds_but_one, savings_are_told_in_order, what_is_not_proved_stands_by_its_time,
              words_go_by_what_moves, proof_replaces_the_piece_of_its_collective, words_fit)
