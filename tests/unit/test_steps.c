/* lib/analysis: steps, over texts of formats/mini.c. */
#include "tests/support/ledger_text.h"
#include "tests/support/suite.h"

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

START_TEST(the_first_step_begins_behind_the_backlog_of_its_stream) {
    /* a batch is copied ahead on a stream of its own while the kernels of the step before are done: as with each later
     * step, the copy does not begin it */
    static const char host[] = "plane /host:CPU\nline 1 python\n0 50 train step_num=4 _r=1\n1 1 lc correlation_id=1\n"
                               "2 1 lk correlation_id=2\n90 50 train step_num=5 _r=1\n91 1 ld correlation_id=3\n"
                               "92 1 lm correlation_id=4\n";
    char text[1200];
    snprintf(text, sizeof text,
             "plane /device:GPU:0\nline 1 \"Stream #1\"\n5 20 q\n26 74 r\n101 60 k correlation_id=2\n"
             "170 60 m correlation_id=4\nline 2 \"Stream #2\"\n10 9 copy correlation_id=1\n95 9 copy correlation_id=3\n"
             "line 3 \"Stream #3\"\n20 100 other\n%s",
             host);
    make(text);
    const struct ids_steps *steps = &analysis.steps;
    ck_assert_int_eq(steps->source, IDS_STEPS_ANNOTATION);
    ck_assert_uint_eq(steps->count, 2);
    ck_assert_int_eq(steps->at[0].work_ps, 10);
    ck_assert_int_eq(steps->at[0].start_ps, 100);
    ck_assert_int_eq(steps->at[0].end_ps, 161);
    ck_assert_int_eq(steps->at[1].end_ps, 230);
    ck_assert_uint_eq(steps->launchless, 0);
    done();
    /* what it does most on is its stream: the backlog of the others runs beside it */
    snprintf(text, sizeof text,
             "plane /device:GPU:0\nline 1 \"Stream #1\"\n5 20 q\n26 74 k correlation_id=2\n"
             "170 60 m correlation_id=4\nline 2 \"Stream #2\"\n10 40 copied\n51 9 copy correlation_id=1\n"
             "95 9 copy correlation_id=3\n%s",
             host);
    make(text);
    ck_assert_int_eq(analysis.steps.at[0].start_ps, 26);
    done();
    /* nor does it end before it began */
    snprintf(text, sizeof text,
             "plane /device:GPU:0\nline 1 \"Stream #1\"\n5 200 q\n26 74 k correlation_id=2\n"
             "210 60 m correlation_id=4\n%s",
             host);
    make(text);
    for (size_t i = 0; i < analysis.steps.count; i++)
        ck_assert_int_le(analysis.steps.at[i].start_ps, analysis.steps.at[i].end_ps);
    done();
}
END_TEST

START_TEST(steps_of_a_few_kernels_that_have_a_launch_are_none) {
    /* most launches are missing: a step of 4 ps would be made of what took 100 on the host */
    static const char host[] = "plane /host:CPU\nline 1 python\n0 100 train step_num=4 _r=1\n90 1 l correlation_id=1\n"
                               "100 120 train step_num=5 _r=1\n";
    char text[800];
    snprintf(text, sizeof text,
             "plane /device:GPU:0\nline 1 \"Stream #1\"\n5 30 q\n120 4 k correlation_id=1\n130 4 r\n140 4 s\n%s", host);
    make(text);
    ck_assert_int_eq(analysis.steps.source, IDS_STEPS_NONE);
    ck_assert_uint_eq(analysis.steps.count, 0);
    ck_assert_int_eq(analysis.steps.is_launchless, 1);
    ck_assert_uint_eq(analysis.steps.marked, 2);
    done();
    /* as much as that may be of another program */
    snprintf(text, sizeof text,
             "plane /device:GPU:0\nline 1 \"Stream #1\"\n5 30 q\n120 4 k correlation_id=1\n130 40 r\n%s", host);
    make(text);
    ck_assert_uint_eq(analysis.steps.count, 1);
    done();
    /* many, and short beside what is known */
    snprintf(text, sizeof text,
             "plane /device:GPU:0\nline 1 \"Stream #1\"\n5 30 q\n120 40 k correlation_id=1\n170 1 r\n180 1 s\n%s",
             host);
    make(text);
    ck_assert_uint_eq(analysis.steps.count, 1);
    done();
    /* what was queued before is of no step, however long */
    snprintf(text, sizeof text,
             "plane /device:GPU:0\nline 1 \"Stream #1\"\n5 3 q\n120 4 k correlation_id=1\n130 1 r\n140 2 s\nline 2 "
             "\"Stream #2\"\n122 1 t\n%s",
             host);
    make(text);
    ck_assert_uint_eq(analysis.steps.count, 1);
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

IDS_RUN_SUITE("steps", steps_of_two_hosts_are_one, the_window_of_the_steps, a_number_that_comes_again_is_another_step,
              steps_through_links, steps_of_an_annotation_without_numbers, the_step_with_which_the_window_opened,
              a_step_annotation_without_a_number_is_a_region, chained_executions_are_counted_in_order,
              steps_that_end_before_they_begin_are_none, steps_that_did_not_run_yet_blur_nothing,
              the_first_step_begins_behind_the_backlog_of_its_stream,
              steps_of_a_few_kernels_that_have_a_launch_are_none, steps_of_a_line)
