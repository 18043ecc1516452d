/* analyzers/waste_advice and on_waste of analyzers/advice: each kind of waste is said where it is a good part of the
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
    {"replicated", "A collective exchanges what every device has already"},
    {"gathered", "An all-gather brings whole arrays of which each device uses a slice"},
    {"reduced", "An all-reduce sums whole arrays of which each device uses a slice"},
    {"layout", "Arrays are only copied or transposed"},
    {"convert", "Arrays are only converted to another dtype"},
    {"padding", "Arrays are only padded"},
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
        ck_assert_int_eq(advice->saves_ps, strcmp(kinds[i].waste, "repeated") ? -1 : INT64_C(10000000));
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

/* What the platform has no fused kernel for, and words of another framework. */
START_TEST(words_fit) {
    ck_assert_ptr_null(ids_waste_remedy(IDS_WASTE_ATTENTION, IDS_JAX, IDS_DEVICE_CPU).problem);
    ck_assert_ptr_nonnull(ids_waste_remedy(IDS_WASTE_ATTENTION, IDS_JAX, IDS_DEVICE_TPU).problem);
    ck_assert_ptr_nonnull(
        strstr(ids_waste_remedy(IDS_WASTE_ATTENTION, IDS_PYTORCH, IDS_DEVICE_GPU).remedy, "torch.nn.functional"));
    ck_assert_ptr_nonnull(
        strstr(ids_waste_remedy(IDS_WASTE_RECOMPUTED, IDS_PYTORCH, IDS_DEVICE_GPU).remedy, "torch.utils.checkpoint"));
    for (int w = 1; w < IDS_WASTE_COUNT; w++)
        ck_assert_ptr_nonnull(ids_waste_remedy((enum ids_waste)w, IDS_PYTORCH, IDS_DEVICE_GPU).remedy);
}
END_TEST

IDS_RUN_SUITE("waste_advice", each_kind_is_said, little_is_not_said, savings_are_told_in_order, words_fit)
