/* Steps by the period of a program's executions (lib/analysis/period.h), over texts of formats/mini.c. */
#include "lib/analysis/analysis.h"
#include "lib/analysis/context.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdio.h>

static struct ids_trace *trace;
static struct ids_analysis analysis;
static char text[1 << 15];
static size_t length;

static void begin(void) {
    length = 0;
    *text = 0;
}

static void __attribute__((format(printf, 1, 2))) add(const char *format, ...) {
    va_list args;
    va_start(args, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    ck_assert_uint_lt(length, sizeof text);
}

static const struct ids_steps *steps_of_text(void) {
    struct ids_error err = IDS_ERROR_INIT;
    trace = mini_trace(text);
    analysis = (struct ids_analysis){.trace = trace};
    ids_params_default(&analysis.params);
    int code = ids_steps_make(&analysis, &err);
    if (!code) code = ids_busy_make(&analysis, &err);
    if (!code) code = ids_steps_trim(&analysis, &err);
    ck_assert_msg(!code, "%s", err.text);
    return &analysis.steps;
}

static void done(void) {
    ids_analysis_done(&analysis);
    ids_trace_free(trace);
}

static void no_steps(const char *why) {
    const struct ids_steps *steps = steps_of_text();
    ck_assert_int_eq(steps->source, IDS_STEPS_NONE);
    ck_assert_uint_eq(steps->count, 0);
    ck_assert_msg(strstr(steps->period.why, why) != NULL, "%s", steps->period.why);
    done();
}

static void some_steps(size_t count, const char *program) {
    const struct ids_steps *steps = steps_of_text();
    ck_assert_msg(steps->source == IDS_STEPS_PERIOD, "%s", steps->period.why);
    ck_assert_uint_eq(steps->count, count);
    ck_assert_str_eq(steps->period.program, program);
}

static void worker(void) {
    begin();
    add("plane /host:CPU\nline 1 worker\n");
}

/* An execution of a program of two ops on the CPU. */
static void execute(const char *program, int id, long from, long to) {
    add("%ld %ld a hlo_op=a.%s hlo_module=%s run_id=%d\n", from, (to - from) / 2, program, program, id);
    add("%ld %ld b hlo_op=b.%s hlo_module=%s run_id=%d\n", from + (to - from) / 2, to - from - (to - from) / 2, program,
        program, id);
}

/* Executions of 60 at these times. */
static void executions(const long *at, size_t count) {
    worker();
    for (size_t i = 0; i < count; i++) execute("jit_f", (int)i + 1, at[i], at[i] + 60);
}
#define EXECUTIONS(...) executions((const long[]){__VA_ARGS__}, sizeof(long[]){__VA_ARGS__} / sizeof(long))

START_TEST(from_end_to_end) {
    EXECUTIONS(1000, 1100, 1210, 1300, 1400);
    some_steps(4, "jit_f");
    const struct ids_steps *steps = &analysis.steps;
    const struct ids_device_step *own = steps->of_device[0].at;
    ck_assert_uint_eq(steps->of_device[0].count, 4);
    ck_assert_int_eq(own[0].from_ps, 1060);
    ck_assert_int_eq(own[0].to_ps, 1160);
    ck_assert_int_eq(own[1].to_ps, 1270);
    ck_assert_int_eq(own[3].to_ps, 1460);
    ck_assert_int_eq(steps->at[3].number, 3);
    ck_assert_int_eq(steps->at[1].sum_ps, 110);
    /* an event belongs to the step that it begins in, and the first execution to none */
    ck_assert_ptr_null(ids_step_of_device_event(&analysis, &trace->devices[0].activity.at[0]));
    ck_assert_ptr_eq(ids_step_of_device_event(&analysis, &trace->devices[0].activity.at[2]), &steps->at[0]);
    done();
}
END_TEST

START_TEST(what_is_recorded_wins) {
    EXECUTIONS(1000, 1100, 1210, 1300, 1400);
    add("line 2 python\n900 900 train step_num=0 _r=1\n");
    const struct ids_steps *steps = steps_of_text(); /* though nothing ties work to it */
    ck_assert_int_eq(steps->source, IDS_STEPS_NONE);
    done();
}
END_TEST

START_TEST(three_are_too_few) {
    EXECUTIONS(1000, 1100, 1200);
    no_steps("jit_f, which takes most time, ran 3 times, and 4 are needed");
    begin();
    add("plane /device:GPU:0\nline 1 \"Stream #1\"\n0 10 k\n10 10 k\n20 10 k\n30 10 k\n40 10 k\n");
    no_steps("no execution of a program is known");
}
END_TEST

START_TEST(requests_have_no_period) {
    EXECUTIONS(1000, 1100, 1900, 2000, 2450, 3900, 4000, 5200, 5500);
    no_steps("no period: 2 of 8 times");
    /* a third of the times may be other ones: a compilation, a checkpoint */
    EXECUTIONS(1000, 1100, 1205, 1900, 2000, 2100, 2195, 3900);
    no_steps("no period: 5 of 7");
    EXECUTIONS(1000, 1100, 1205, 1900, 2000, 2100, 2195, 2300, 3900);
    some_steps(8, "jit_f");
    done();
    /* of three times all */
    EXECUTIONS(1000, 1100, 1200, 1900);
    no_steps("no period: 2 of 3");
    EXECUTIONS(1000, 1100, 1200, 1349);
    some_steps(3, "jit_f");
    done();
    EXECUTIONS(1000, 1100, 1200, 1351);
    no_steps("no period");
}
END_TEST

START_TEST(groups_with_a_pause) {
    /* three executions, then a pause: micro-batches, or a pause each third step */
    EXECUTIONS(1000, 1100, 1200, 1500, 1600, 1700, 2000, 2100, 2200, 2500, 2600, 2700);
    no_steps("jit_f, which takes most time, runs in groups of 3 with a longer time after each");
    /* the window begins and ends within a group */
    EXECUTIONS(1200, 1500, 1600, 1700, 1800, 2100, 2200, 2300, 2400, 2700, 2800, 2900);
    no_steps("groups of 4");
    /* two pauses are no groups unless those are whole */
    EXECUTIONS(1000, 1100, 1200, 1300, 1600, 1700, 1800, 1900, 2200, 2300, 2400, 2500);
    no_steps("groups of 4");
    EXECUTIONS(1000, 1100, 1200, 1500, 1600, 1700, 1800, 2100, 2200, 2300, 2400);
    some_steps(10, "jit_f");
    done();
    EXECUTIONS(1000, 1100, 1200, 1500, 1600, 1700, 1800, 1900, 2200, 2300, 2400, 2700, 2800, 2900);
    some_steps(13, "jit_f");
    done();
}
END_TEST

/* `count` executions of jit_f, after each `every` of them one of another program. */
static void with_other(int count, int every, const char *other, long takes, int begin_with) {
    worker();
    for (int i = 0; i < count; i++) {
        execute("jit_f", i + 1, 1000 + 100 * i, 1060 + 100 * i);
        if ((i + begin_with) % every == every - 1) execute(other, 100 + i, 1062 + 100 * i, 1062 + 100 * i + takes);
    }
}

START_TEST(groups_with_another_program) {
    with_other(12, 1, "jit_other", 30, 0); /* once a step as well */
    some_steps(11, "jit_f");
    done();
    with_other(12, 4, "jit_update", 20, 0);
    no_steps("jit_f runs 4 times for each time that jit_update does");
    with_other(12, 4, "jit_update", 2, 2); /* however little it does, and wherever the window begins */
    no_steps("jit_f runs 4 times for each time that jit_update does");
    with_other(8, 4, "jit_update", 20, 0); /* two of them, and whole groups */
    no_steps("jit_f runs 4 times for each time that jit_update does");
    with_other(8, 4, "jit_update", 1, 0); /* less than a hundredth of the work may be anything */
    some_steps(7, "jit_f");
    done();
    with_other(11, 4, "jit_update", 20, 0); /* two of them, and the last group is not whole */
    some_steps(10, "jit_f");
    done();
    with_other(12, 12, "jit_eval", 30, 0);
    some_steps(11, "jit_f");
    done();
}
END_TEST

START_TEST(groups_of_a_program_as_hot) {
    /* jit_g takes most time, and jit_f runs twice for each of it */
    for (int hot = 0; hot < 2; hot++) {
        worker();
        for (int i = 0; i < 6; i++) {
            execute("jit_g", 50 + i, 1000 + 300 * i, 1150 + 300 * i);
            execute("jit_f", 2 * i + 1, 1150 + 300 * i, (hot ? 1200 : 1180) + 300 * i);
            execute("jit_f", 2 * i + 2, 1200 + 300 * i, (hot ? 1250 : 1230) + 300 * i);
        }
        if (hot) {
            no_steps("jit_f runs 2 times for each time that jit_g does");
        } else {
            some_steps(5, "jit_g");
            done();
        }
    }
}
END_TEST

START_TEST(compilations_of_one_function_are_one_program) {
    begin();
    add("plane /device:TPU:0\nmeta op hlo_category=\"loop fusion\" program_id=1\nline 1 \"XLA Modules\"\n");
    for (int i = 0; i < 5; i++) add("%d 80 jit_f(%d) run_id=%d\n", 100 * i, 7 + i % 2, i + 1);
    add("500 3 jit_g(9) run_id=9\n600 4 jit_g run_id=10\n"); /* after the last op nothing ran */
    add("line 2 \"XLA Ops\"\n");
    for (int i = 0; i < 5; i++) add("%d 79 op\n", 100 * i);
    some_steps(4, "jit_f");
    /* the last one ends with the window */
    ck_assert_int_eq(analysis.steps.of_device[0].at[3].to_ps, 479);
    ck_assert_int_eq(analysis.steps.of_device[0].at[2].to_ps, 380);
    done();
}
END_TEST

START_TEST(kernels_of_a_call_are_one_execution) {
    begin();
    add("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 3; k++) /* a loop on the device: the same op again and again */
            add("%d 10 k hlo_op=k hlo_module=jit_f correlation_id=%d\n", 100 * i + 20 * k, 10 * i + k + 1);
    }
    add("plane /host:CPU\nline 1 python\n");
    for (int i = 0; i < 5; i++) {
        add("%d 30 PjitFunction(f)\n", 100 * i - 50);
        for (int k = 0; k < 3; k++)
            add("%d 1 cuLaunchKernel correlation_id=%d\n", 100 * i - 45 + 5 * k, 10 * i + k + 1);
    }
    some_steps(4, "jit_f");
    ck_assert_int_eq(analysis.steps.of_device[0].at[0].from_ps, 50);
    ck_assert_int_eq(analysis.steps.of_device[0].at[0].to_ps, 150);
    done();
}
END_TEST

START_TEST(ops_tell_of_executions_that_nothing_else_tells_of) {
    for (int odd = 0; odd < 2; odd++) {
        begin();
        /* of an execution before the window */
        add("plane /device:GPU:0\nline 1 \"Stream #1\"\n-30 10 last hlo_op=last hlo_module=jit_f\n");
        for (int i = 0; i < 5; i++) {
            add("%d 10 first hlo_op=first hlo_module=jit_f\n", 100 * i);
            for (int k = 0; k < 3; k++) add("%d 5 loop hlo_op=loop hlo_module=jit_f\n", 100 * i + 20 + 10 * k);
            add("%d 10 last hlo_op=last hlo_module=jit_f\n", 100 * i + 60);
            for (int k = 0; k < 3 && odd; k++) add("%d 1 r hlo_op=r%d hlo_module=jit_f\n", 100 * i + 75, k + i % 2);
        }
        if (odd)
            add("600 1 r hlo_op=r9 hlo_module=jit_f\n610 1 r hlo_op=r8 hlo_module=jit_f\n620 1 r hlo_op=r7 "
                "hlo_module=jit_f\n"
                "630 1 r hlo_op=r6 hlo_module=jit_f\n");
        if (odd) { /* most ops ran another number of times: branches, and no one op tells */
            no_steps("no execution of a program is known");
        } else {
            some_steps(5, "jit_f");
            ck_assert_int_eq(analysis.steps.of_device[0].at[0].from_ps, -20);
            ck_assert_int_eq(analysis.steps.of_device[0].at[4].to_ps, 470);
            done();
        }
    }
}
END_TEST

static void on_device(int ordinal, const char *program, int first, int last, long at) {
    for (int i = first; i <= last; i++)
        add("%ld 60 op hlo_op=op hlo_module=%s run_id=%d device_ordinal=%d\n", at + 100 * i, program, i + 1, ordinal);
}

START_TEST(each_device_has_its_own) {
    worker();
    on_device(0, "jit_f", 0, 6, 1000);
    add("line 2 other\n");
    on_device(1, "jit_f", 1, 5, 1010); /* its recording began later */
    some_steps(6, "jit_f");
    const struct ids_steps *steps = &analysis.steps;
    ck_assert_uint_eq(steps->of_device[0].count, 6);
    ck_assert_uint_eq(steps->of_device[1].count, 4);
    ck_assert_uint_eq(steps->of_device[1].at[0].step, 1);
    ck_assert_int_eq(steps->of_device[1].at[0].from_ps, 1170);
    ck_assert_uint_eq(steps->at[0].devices, 1);
    ck_assert_uint_eq(steps->at[1].devices, 2);
    done();
    /* and the other way round: the device with most work began later */
    worker();
    on_device(0, "jit_f", 1, 6, 1000);
    add("line 2 other\n");
    on_device(1, "jit_f", 0, 5, 990);
    some_steps(6, "jit_f");
    ck_assert_uint_eq(analysis.steps.of_device[0].at[0].step, 1);
    ck_assert_uint_eq(analysis.steps.of_device[1].at[0].step, 0);
    done();
    /* stages of a pipeline */
    worker();
    on_device(0, "jit_stage0", 0, 6, 1000);
    add("line 2 other\n");
    on_device(1, "jit_stage1", 0, 6, 1070);
    some_steps(6, "jit_stage0");
    ck_assert_uint_eq(analysis.steps.at[0].devices, 2);
    done();
}
END_TEST

START_TEST(all_devices_that_work_have_the_period) {
    worker();
    on_device(0, "jit_f", 0, 6, 1000);
    add("line 2 other\n");
    for (int i = 0; i < 6; i++)
        add("%d 60 op hlo_op=op hlo_module=jit_f run_id=%d device_ordinal=1\n", 1000 + 120 * i, i + 1);
    no_steps("CPU#1: its programs have another period");
    worker();
    on_device(0, "jit_f", 0, 6, 1000);
    add("line 2 other\n1000 50 op hlo_op=op hlo_module=jit_g run_id=1 device_ordinal=1\n");
    no_steps("CPU#1: jit_g, which takes most time, ran 1 times");
    worker();
    on_device(0, "jit_f", 0, 6, 1000);
    /* nothing worth speaking of */
    add("line 2 other\n1000 3 op hlo_op=op hlo_module=jit_g run_id=1 device_ordinal=1\n");
    some_steps(6, "jit_f");
    ck_assert_uint_eq(analysis.steps.of_device[1].count, 0);
    ck_assert_uint_eq(analysis.steps.assigned, 7);
    ck_assert_uint_eq(analysis.steps.unassigned, 1);
    done();
}
END_TEST

IDS_RUN_SUITE("period", from_end_to_end, what_is_recorded_wins, three_are_too_few, requests_have_no_period,
              groups_with_a_pause, groups_with_another_program, groups_of_a_program_as_hot,
              compilations_of_one_function_are_one_program, kernels_of_a_call_are_one_execution,
              ops_tell_of_executions_that_nothing_else_tells_of, each_device_has_its_own,
              all_devices_that_work_have_the_period)
