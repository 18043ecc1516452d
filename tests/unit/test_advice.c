/* analyzers/advice: what is said first, on how much it rests, and what is not said, over texts of formats/mini.c. */
#include "analyzers/adviser.h"
#include "lib/analysis/context.h"
#include "tests/support/advise_on.h"
#include "tests/support/suite.h"

#include <stdarg.h>

#define LITTLE "Too little was recorded"
#define WARM_UP "The first step is warm-up"

/* Three kernels in three steps, and 900 us in each that events of the host cover: that is enough, however few events
 * the device has. */
START_TEST(few_device_events_are_enough) {
    record("ccccc", 150, 20);
    ck_assert(first_is("host.compile"));
    ck_assert_ptr_null(about(LITTLE));
    ids_report_done(&report);
}
END_TEST

START_TEST(the_slowest_stage_of_input_is_named) {
    record("mmmmm", 150, 100);
    ck_assert(first_is("host.input"));
    /* Five in 4495us of work on a thread are 1112 a second; of 5110us the device waits for 4501, so that without
     * waiting it were five in 609us: 8213. */
    ck_assert_msg(evidence_has(0, "; the program needs 8213 a second of Iterator::Model::Map, and 1 thread gives 1112: "
                                  "8 times as many, or less work in each"),
                  "%s", report.advice[0].evidence);
    ids_report_done(&report);
    record("ggggg", 150, 100); /* Python */
    ck_assert_msg(
        evidence_has(0, "8 times as many workers (processes where Python computes: threads share its lock), or less"),
        "%s", report.advice[0].evidence);
    ids_report_done(&report);
    record("iiiii", 150, 100);
    ck_assert_msg(evidence_has(0, "; its stages only wait for others, which were not recorded"), "%s",
                  report.advice[0].evidence);
    ids_report_done(&report);
}
END_TEST

START_TEST(too_little_names_the_next_command) {
    record("cc", 150, 20); /* eight events */
    ck_assert_uint_eq(report.advice_count, 1);
    ck_assert_ptr_nonnull(about(LITTLE));
    ck_assert_ptr_nonnull(about("idsprof capture -k 20"));
    ids_report_done(&report);
}
END_TEST

/* Two steps of 1 ms, in which work that is launched begins 900 us (most of the step) or 400 us later. */
START_TEST(a_queue_counts_where_it_is_most_of_the_time) {
    for (int waits_us = 400; waits_us <= 900; waits_us += 500) {
        char text[4096];
        size_t length = (size_t)snprintf(text, sizeof text, "plane /device:GPU:0\nline 1 \"Stream #1\"\n");
        for (int step = 0; step < 2; step++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%dus %dus k correlation_id=%d\n",
                                       1000 * step + waits_us + 5, 995 - waits_us, step + 1);
        length += (size_t)snprintf(text + length, sizeof text - length, "plane /host:CPU\nline 9 t\n");
        for (int step = 0; step < 2; step++)
            length +=
                (size_t)snprintf(text + length, sizeof text - length,
                                 "%dus 900us train step_num=%d _r=1\n%dus 5us cudaLaunchKernel correlation_id=%d\n",
                                 1000 * step, step, 1000 * step, step + 1);
        for (int i = 0; i < 20; i++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%dus 0us cudaGetDevice\n", 10 + i);
        advise_on(text);
        ck_assert_int_eq(first_is("device.queue"), waits_us == 900);
        ck_assert_int_eq(about(LITTLE) != NULL, waits_us == 400);
        ids_report_done(&report);
    }
}
END_TEST

/* Without steps all devices have one window: what is said is of the one that computes, not of the first one, which
 * copies now and then. */
START_TEST(the_device_that_computes_decides) {
    char text[4096];
    size_t length = (size_t)snprintf(text, sizeof text, "plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 20; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 1us MemcpyD2D\n", 100 * i);
    length += (size_t)snprintf(text + length, sizeof text - length, "plane /device:GPU:1\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 20; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 99us k\n", 100 * i);
    advise_on(text);
    ck_assert(first_is("work.compute"));
    ids_report_done(&report);
}
END_TEST

START_TEST(a_single_time_is_said_to_be_one) {
    record("....c.....", 150, 400);
    ck_assert(first_is("host.compile"));
    ck_assert(evidence_has(0, "in 1 of 10 steps of this window (step 154)"));
    ck_assert_ptr_null(about(WARM_UP));
    ids_report_done(&report);
    record("..i...i...i...i.", 0, 400);
    ck_assert(first_is("host.input"));
    ck_assert(evidence_has(0, "in every 4th step"));
    ids_report_done(&report);
    record("i.........i.....", 0, 400);
    ck_assert(evidence_has(0, "in 2 of 16 steps (0 and 10)"));
    ids_report_done(&report);
    record("iiiiiiiiii", 0, 400);
    ck_assert(!evidence_has(0, " steps"));
    ids_report_done(&report);
}
END_TEST

START_TEST(warm_up_is_what_only_the_first_step_does) {
    record("c.........", 0, 400);
    const struct ids_advice *said = about(WARM_UP);
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said->what, "it compiles g"));
    ck_assert_int_eq(said->saves_ps, -1);
    ck_assert_ptr_null(about("keep shapes"));
    ids_report_done(&report);
    record("a.........", 0, 400);
    ck_assert_ptr_nonnull(about("uses for the first time cudaMalloc"));
    ids_report_done(&report);
    record("c.........", 150, 400); /* the program began long before: something is compiled anew */
    ck_assert_ptr_null(about(WARM_UP));
    ck_assert(first_is("host.compile"));
    ids_report_done(&report);
    record("c....c....", 0, 400); /* and again */
    ck_assert_ptr_null(about(WARM_UP));
    ck_assert(first_is("host.compile"));
    ids_report_done(&report);
    record("c...i.....", 0,
           400); /* another step is as long: reading the median helps, but the first step is not the odd one */
    ck_assert_ptr_null(about(WARM_UP));
    ids_report_done(&report);
    record("i.........", 0, 400); /* the first step is long, and input is no warm-up */
    ck_assert_ptr_null(about(WARM_UP));
    ck_assert(first_is("host.input"));
    ids_report_done(&report);
}
END_TEST

START_TEST(launching_is_held_against_what_is_launched) {
    record("dddddddddd", 0, 800); /* 900 us to launch 800 */
    ck_assert(first_is("host.dispatch"));
    ck_assert_ptr_nonnull(about("Launching takes longer"));
    ids_report_done(&report);
    record("dddddddddd", 0, 1000);
    ck_assert(first_is("host.dispatch"));
    ck_assert_ptr_nonnull(about("between launches"));
    ids_report_done(&report);
}
END_TEST

/* Dispatch is 0.9 of 1 ms in most steps. */
START_TEST(what_few_steps_lose_stands_behind_what_most_lose) {
    record("ddddlddddddddddddddd", 0, 100); /* 1.5 ms in the mean, of one step: other steps may have none */
    ck_assert(first_is("host.dispatch"));
    ck_assert_str_eq(report.advice[1].account, "host.input");
    ck_assert_int_gt(report.advice[1].saves_ps, report.advice[0].saves_ps);
    ids_report_done(&report);
    record("dldddddddldddddddddd", 0, 100); /* the program does that, and did it again */
    ck_assert(first_is("host.input"));
    ids_report_done(&report);
    record("dddwwddddddddddddddd", 0, 100); /* 3 ms in the mean, of which 4.1 may be chance */
    ck_assert(first_is("host.dispatch"));
    ck_assert_str_eq(report.advice[1].culprit, "wait_for_core");
    ids_report_done(&report);
    record("dddwdddwdddwdddwdddw", 0, 100); /* every 4th step: other steps will have it too */
    ck_assert_str_eq(report.advice[0].culprit, "wait_for_core");
    ids_report_done(&report);
    record("dwddwdwwdddwddwdwddd", 0, 100); /* 10.5 ms, of which 6.7 may be chance: the rest is more than dispatch */
    ck_assert_str_eq(report.advice[0].culprit, "wait_for_core");
    ids_report_done(&report);
    record("ddddlddddddddddddddd", 0, 5000); /* most steps lose 0.9 of 5.9 ms: no quarter */
    ck_assert(first_is("host.input"));
    ids_report_done(&report);
}
END_TEST

START_TEST(an_op_is_worth_a_word_where_it_is_much_of_the_step) {
    record("iiiiiiiiii", 0, 20); /* k is all of the compute, and 2 % of the step */
    ck_assert_ptr_null(about("One op"));
    ids_report_done(&report);
    record("iiiiiiiiii", 0, 300); /* a quarter */
    ck_assert_ptr_null(about("One op"));
    ids_report_done(&report);
    record("iiiiiiiiii", 0, 900);
    ck_assert_ptr_nonnull(about("One op has most of the compute: k"));
    ids_report_done(&report);
}
END_TEST

START_TEST(what_is_little_is_left_out) {
    char steps[128] = "iii";
    memset(steps + 3, '.', 57);
    record(steps, 0, 3000); /* 2.7 of 184 ms, the only piece */
    ck_assert_ptr_nonnull(about("waits for input"));
    ids_report_done(&report);
    memset(steps, 'd', 60);
    steps[0] = steps[1] = steps[2] = 'i';
    record(steps, 0, 3000); /* 2.7 of 235 ms, and there is more to say */
    ck_assert(first_is("host.dispatch"));
    ck_assert_ptr_null(about("waits for input"));
    ids_report_done(&report);
    memset(steps + 3, '.', 97);
    record(steps, 0, 3000); /* 2.7 of 305 ms */
    ck_assert_ptr_null(about("waits for input"));
    ids_report_done(&report);
}
END_TEST

START_TEST(time_outside_the_steps_is_said) {
    record_kernels(40, "", 9000); /* the steps are 4 of 9 ms */
    ck_assert_ptr_nonnull(about("Most of the window lies outside the steps"));
    ids_report_done(&report);
    record_kernels(40, "", 7000);
    ck_assert_ptr_null(about("outside the steps"));
    ids_report_done(&report);
}
END_TEST

/* 10 rounds of rpa.1 (30 us), big.1 (40 us) and rpa.2 (30 us), which computes the same as rpa.1: together they have
 * more. */
START_TEST(instances_of_one_op_are_one_piece) {
    static char text[1 << 14];
    static const char rpa[] =
        "\"%%rpa.%d = f32[8,128]{1,0} custom-call(f32[8,128]{1,0} %%p.%d), custom_call_target=tpu\"";
    static const char big[] = "\"%big.1 = f32[64,128]{1,0} fusion(f32[64,128]{1,0} %p.3), kind=kLoop, calls=%fc\"";
    char first[160], second[160];
    snprintf(first, sizeof first, rpa, 1, 1);
    snprintf(second, sizeof second, rpa, 2, 2);
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "plane /device:TPU:0\nmeta %s hlo_category=custom-call program_id=1\nmeta %s hlo_category=custom-call "
        "program_id=1\nmeta %s hlo_category=\"loop fusion\" program_id=1\nline 2 \"XLA Ops\"\n",
        first, second, big);
    for (int round = 0; round < 10; round++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%dus 30us %s\n%dus 40us %s\n%dus 30us %s\n",
                                 100 * round, first, 100 * round + 30, big, 100 * round + 70, second);
    advise_on(text);
    ck_assert_msg(about("most time has rpa.1 and 1 more like it") != NULL, "%s",
                  report.advice_count ? report.advice[0].what : "none");
    ck_assert_msg(evidence_has(0, "60.0 % of it these 2 ops"), "%s", report.advice[0].evidence);
    /* and so says the table of accounts */
    const struct ids_table *accounts = ids_report_find_table(&report, "accounts");
    ck_assert_str_eq(ids_table_text_at(accounts, 0, ids_table_column(accounts, "group")), "rpa.*");
    ck_assert_str_eq(ids_table_text_at(accounts, 0, ids_table_column(accounts, "culprit")), "big.1");
    ids_report_done(&report);
}
END_TEST

/* 30 rounds of 100 us: a kernel of 40, a copy to the device [40,80], one to the host from `to_host` of it to 100. */
static void copy(int to_host) {
    static char text[1 << 14];
    size_t used = (size_t)snprintf(text, sizeof text, "plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int round = 0; round < 30; round++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%dus 40us k\n%dus 40us MemcpyH2D\n", 100 * round,
                                 100 * round + 40);
    used += (size_t)snprintf(text + used, sizeof text - used, "line 2 \"Stream #2\"\n");
    for (int round = 0; round < 30; round++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%dus %dus MemcpyD2H\n", 100 * round + to_host,
                                 100 - to_host);
    advise_on(text);
}

START_TEST(copies_at_the_same_time_are_one_piece) {
    copy(50); /* 30 of 40 us both ways: 60 us of each 100 are copies */
    ck_assert(first_is("copy.h2d"));
    ck_assert_ptr_nonnull(about("Copies run both ways"));
    ck_assert_int_eq(report.advice[0].saves_ps, 30 * 60 * INT64_C(1000000));
    ck_assert_msg(evidence_has(0, "900.0 us both at once"), "%s", report.advice[0].evidence);
    ck_assert_ptr_null(about("Copies to the host"));
    ids_report_done(&report);
    copy(70); /* 10 of 40 us: apart */
    ck_assert_ptr_null(about("Copies run both ways"));
    ck_assert_int_eq(about("Copies to the device")->saves_ps, 30 * 40 * INT64_C(1000000));
    ck_assert_int_eq(about("Copies to the host")->saves_ps, 30 * 20 * INT64_C(1000000));
    ids_report_done(&report);
}
END_TEST

static char long_text[1 << 16];
static size_t long_used;
static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    long_used += (size_t)vsnprintf(long_text + long_used, sizeof long_text - long_used, format, arguments);
    va_end(arguments);
}

static void advise_on_what_was_put(void) {
    advise_on(long_text);
    long_used = 0;
}

enum { ROUNDS = 20 };

/* A device that computes `own` of each round of 65 us and is idle to its collective, which begins at `own + idle` of it
 * and ends at 65; in every 2nd round the other two are taken. */
static void put_rank(int ordinal, int own, int idle, int own_of_second, int idle_of_second) {
    put("plane /device:GPU:%d\nline 1 \"Stream #1\"\n", ordinal);
    for (int i = 0; i < ROUNDS; i++) {
        int work = i % 2 ? own_of_second : own, came = work + (i % 2 ? idle_of_second : idle);
        put("%dus %dus k\n%dus %dus ncclDevKernel_AllReduce_x\n", 65 * i, work, 65 * i + came, 65 - came);
    }
}

/* GPU:0 computes 30 us and waits 30; GPU:1 computes 20 us, stands idle 40 and waits for nobody: it decides, though
 * it computes less. */
START_TEST(who_waits_less_decides) {
    put_rank(0, 30, 0, 30, 0);
    put_rank(1, 20, 40, 20, 40);
    advise_on_what_was_put();
    ck_assert(first_is("device.unknown"));
    ck_assert_int_eq(report.advice[0].saves_ps, ROUNDS * 40 * INT64_C(1000000));
    ck_assert_msg(evidence_has(0, "of GPU:1"), "%s", report.advice[0].evidence);
    ids_report_done(&report);
}
END_TEST

/* In one round GPU:0 stands idle for 30 us and GPU:1 waits for it; in the next one GPU:1 does so for 40 us. GPU:1
 * decides, which would win its own 40 us and the 30 us of the other. */
START_TEST(what_others_did_is_won_too) {
    put_rank(0, 20, 30, 20, 0);
    put_rank(1, 20, 0, 20, 40);
    advise_on_what_was_put();
    ck_assert(first_is("device.unknown"));
    ck_assert_int_eq(report.advice[0].saves_ps, ROUNDS / 2 * 70 * INT64_C(1000000));
    ids_report_done(&report);
}
END_TEST

/* The same as the_device_that_computes_decides, the other way round. */
START_TEST(the_first_of_equal_devices_may_decide) {
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < ROUNDS; i++) put("%dus 99us k\n", 100 * i);
    put("plane /device:GPU:1\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < ROUNDS; i++) put("%dus 1us MemcpyD2D\n", 100 * i);
    advise_on_what_was_put();
    ck_assert(first_is("work.compute"));
    ids_report_done(&report);
}
END_TEST

/* The host's recording begins 900 us after the device's: nobody is to blame for that, and nothing would be won. */
START_TEST(a_recording_that_is_not_open_is_no_cost) {
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n0us 10us k\n");
    for (int i = 0; i < 30; i++) put("%dus 10us k correlation_id=%d\n", 1000 + 10 * i, i + 1);
    put("plane /host:CPU\nline 9 t\n");
    for (int i = 0; i < 30; i++) put("%dus 1us cudaLaunchKernel correlation_id=%d\n", 910 + i, i + 1);
    advise_on_what_was_put();
    ck_assert_ptr_null(about("The profiler itself"));
    ids_report_done(&report);
    /* Of two hosts the second, whose device computes most and so decides, records the last 300 us of 1300 alone. */
    put("host a start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n0us 10us k correlation_id=1\n"
        "1290us 10us k correlation_id=2\nplane /host:CPU\nline 9 t\n0us 1us cudaLaunchKernel correlation_id=1\n"
        "1288us 1us cudaLaunchKernel correlation_id=2\n"
        "host b start_unix_ns=1000000000\nplane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 30; i++) put("%dus 10us k correlation_id=%d\n", 1000 + 10 * i, i + 1);
    put("plane /host:CPU\nline 9 t\n");
    for (int i = 0; i < 30; i++) put("%dus 1us cudaLaunchKernel correlation_id=%d\n", 960 + i, i + 1);
    advise_on_what_was_put();
    ck_assert_ptr_null(about("The profiler itself"));
    ids_report_done(&report);
}
END_TEST

/* Rank 0 decides: idle for 45 us of every round that is not a second one, and for 39 us of those; in these rank 2
 * computes for 41 us, for which ranks 1 and 3 wait 36 us and rank 0 waits 1 us: 10 * (1 + 36 + 36) / 4 = 182.5 us in
 * the mean. Of rank 0's own time that can win no more than its compute, 10 * (5 + 1) us, and its waiting, 10 us. */
START_TEST(even_work_wins_no_more_than_there_is) {
    put_rank(0, 5, 45, 1, 39);
    put_rank(1, 5, 0, 5, 0);
    put_rank(2, 5, 0, 41, 0);
    put_rank(3, 5, 0, 5, 0);
    advise_on_what_was_put();
    const struct ids_advice *advice = about("Devices wait for one that has more work");
    ck_assert_ptr_nonnull(advice);
    ck_assert_int_eq(advice->saves_ps, 70 * INT64_C(1000000));
    ids_report_done(&report);
}
END_TEST

/* Two devices, 10 steps; the second one takes 80 us where the first takes 30, by the same op, by another one more,
 * or by another one alone. */
enum pair { SAME, ONE_MORE, ANOTHER };
static void put_pair(enum pair kind) {
    for (int device = 0; device < 2; device++) {
        put("plane /device:GPU:%d\nline %d \"Stream #1\"\n", device, device + 1);
        for (int i = 0, at = 0; i < 10; i++, at += 100) {
            int op_us = device && kind != ONE_MORE ? 80 : 30;
            put("%dus %dus k hlo_op=dot.%d hlo_module=jit_f program_id=1 correlation_id=%d\n", at, op_us,
                device && kind == ANOTHER ? 2 : 1, i + 1);
            if (device && kind == ONE_MORE)
                put("%dus 50us k2 hlo_op=dot.2 hlo_module=jit_f program_id=1 correlation_id=%d\n", at + 30, i + 1);
            put("%dus %dus ncclDevKernel_AllReduce hlo_op=all-reduce.1 hlo_module=jit_f program_id=1 "
                "correlation_id=%d\n",
                at + (device ? 80 : 30), device ? 15 : 65, i + 1);
        }
    }
    put("hlo module=jit_f program=1 name=dot.1 opcode=dot fingerprint=1\n"
        "hlo module=jit_f program=1 name=dot.2 opcode=dot fingerprint=2\n"
        "hlo module=jit_f program=1 name=all-reduce.1 opcode=all-reduce\n");
}

START_TEST(who_does_the_same_has_no_more_work) {
    put_pair(SAME);
    advise_on_what_was_put();
    ck_assert_ptr_nonnull(about("takes longer for the same work"));
    ck_assert_ptr_null(about("more work than"));
    ids_report_done(&report);
    for (enum pair kind = ONE_MORE; kind <= ANOTHER; kind++) {
        put_pair(kind);
        advise_on_what_was_put();
        ck_assert_ptr_null(about("the same work"));
        ck_assert_ptr_nonnull(about("more work than"));
        ids_report_done(&report);
    }
}
END_TEST

/* 30 rounds in which the host waits 50 us for the device, in the first 20 of them inside a function of the program. */
START_TEST(a_culprit_with_a_place_takes_what_has_none) {
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 30; i++) put("%dus 50us k correlation_id=%d\n", 100 * i, i + 1);
    put("plane /host:CPU\nline 9 t\n");
    for (int i = 0; i < 30; i++) {
        put("%dus 1us cudaLaunchKernel correlation_id=%d\n", 100 * i - 1, i + 1);
        if (i < 20) put("%dus 95us \"$train.py:7 step\"\n", 100 * i + 1);
        put("%dus 94us cudaStreamSynchronize\n", 100 * i + 2);
    }
    advise_on_what_was_put();
    size_t pieces = 0;
    for (size_t i = 0; i < report.advice_count; i++)
        pieces += report.advice[i].account && !strcmp(report.advice[i].account, "host.sync");
    ck_assert_uint_eq(pieces, 1);
    ck_assert_str_eq(report.advice[0].where, "train.py:7 step");
    ck_assert_int_ge(report.advice[0].saves_ps, 29 * 45 * INT64_C(1000000));
    ids_report_done(&report);
}
END_TEST

/* 200 rounds in which a call of f of 20 us launches an op of 10 us; one of the calls takes 3 ms. */
START_TEST(a_call_that_is_held_up_does_not_speak_for_all) {
    enum { CALLS = 200, HELD_UP = 20, CALL_US = 20, LONG_US = 3000 };
    put("plane /host:CPU\nline 1 worker\n");
    for (int i = 0, at = 0; i < CALLS; i++) {
        at += i == HELD_UP ? LONG_US : CALL_US;
        put("%dus 10us dot.1 hlo_op=dot.1 hlo_module=jit_f run_id=%d\n", at, i + 1);
        at += 10;
    }
    put("line 2 python\n");
    for (int i = 0, at = 0; i < CALLS; i++) {
        int call_us = i == HELD_UP ? LONG_US : CALL_US;
        put("%dus %dus PjitFunction(f)\n%dus 5us \"CommonPjRtLoadedExecutable::Execute (jit_f)\" run_id=%d\n", at,
            call_us, at + call_us - 5, i + 1);
        at += call_us + 10;
    }
    advise_on_what_was_put();
    ck_assert(first_is("host.dispatch"));
    ck_assert_ptr_nonnull(strstr(report.advice[0].what, "put more under one jit"));
    ck_assert(!report.advice[0].where || !strstr(report.advice[0].where, "held up"));
    ck_assert_int_lt(report.advice[0].saves_ps, 25 * INT64_C(1000000)); /* 20 us, and not 35, of a round */
    ids_report_done(&report);
}
END_TEST

/* 30 rounds of a matrix product of 60 us and of a copy of 40 us in between. */
START_TEST(an_op_that_only_moves_is_named) {
    put("plane /device:TPU:0\nmeta copy.1 hlo_category=\"data formatting\" program_id=1\nmeta dot.1 "
        "hlo_category=convolution program_id=1\n"
        "line 2 \"XLA Ops\"\n");
    for (int i = 0; i < 30; i++) put("%dus 60us dot.1\n%dus 40us copy.1\n", 100 * i, 100 * i + 60);
    advise_on_what_was_put();
    ck_assert_ptr_nonnull(about("An op that only moves data takes a good part of the step: copy.1"));
    ids_report_done(&report);
    put("plane /device:TPU:0\nmeta copy.1 hlo_category=\"data formatting\" program_id=1\nline 2 \"XLA Ops\"\n");
    for (int i = 0; i < 30; i++) put("%dus 100us copy.1\n", 100 * i);
    advise_on_what_was_put();
    ck_assert_ptr_nonnull(about("most time has copy.1, which only moves data"));
    ck_assert_ptr_null(about("An op that only moves data")); /* said already */
    ids_report_done(&report);
}
END_TEST

/* 30 rounds of 100 us: compute, a copy to the device, and the rest without work. Compute is told where it is half of
 * the round and more than the rest; no remedy of it is known, and it stands behind what
 * saves more than 5 us. */
START_TEST(compute_that_is_most_of_the_step_is_told) {
    static const struct {
        int compute_us, copy_us, at; /* at: which piece it is, -1 none */
    } cases[] = {{85, 8, 2}, {89, 4, 1}, {80, 15, 1}, {75, 13, 2}, {51, 25, 2}, {50, 25, -1}, {45, 30, -1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
        for (int i = 0; i < 31; i++) {
            put("%dus %dus k hlo_op=dot.1 hlo_module=jit_f\n", 100 * i, cases[c].compute_us);
            if (i < 30) put("%dus %dus MemcpyH2D\n", 100 * i + cases[c].compute_us, cases[c].copy_us);
        }
        advise_on_what_was_put();
        const struct ids_advice *computes = about("The device computes most of the time");
        ck_assert_int_eq(computes ? (int)(computes - report.advice) : -1, cases[c].at);
        if (computes) ck_assert_ptr_nonnull(strstr(computes->what, "most time has dot.1"));
        if (computes) ck_assert_ptr_null(about("One op has most of the compute")); /* said already */
        ids_report_done(&report);
    }
}
END_TEST

/* GPU:0 computes 95 of 100 us, GPU:1 20: "the device" would be neither. */
START_TEST(of_several_devices_it_is_said_which_computes) {
    for (int device = 0; device < 2; device++) {
        put("plane /device:GPU:%d\nline 1 \"Stream #1\"\n", device);
        for (int i = 0; i < 31; i++) put("%dus %dus k hlo_op=dot.1 hlo_module=jit_f\n", 100 * i, device ? 20 : 95);
    }
    advise_on_what_was_put();
    ck_assert_ptr_nonnull(about("GPU:0 computes nearly all of the time"));
    ids_report_done(&report);
}
END_TEST

/* 30 rounds of 100 us: a matrix product, a copy of 35 us, and 25 or 45 us without work. */
START_TEST(an_op_that_only_moves_stands_by_its_time) {
    for (int idle_us = 25; idle_us <= 45; idle_us += 20) {
        int dot_us = 65 - idle_us;
        put("plane /device:TPU:0\nmeta copy.1 hlo_category=\"data formatting\" program_id=1\nmeta dot.1 "
            "hlo_category=convolution program_id=1\n"
            "line 2 \"XLA Ops\"\n");
        for (int i = 0; i < 30; i++) put("%dus %dus dot.1\n%dus 35us copy.1\n", 100 * i, dot_us, 100 * i + dot_us);
        advise_on_what_was_put();
        const struct ids_advice *moves = about("An op that only moves data"), *waits = about("The device does nothing");
        ck_assert(moves && waits);
        ck_assert_int_eq(moves < waits, idle_us == 25);
        ids_report_done(&report);
    }
}
END_TEST

/* Steps of 1 ms, after a first one of 6 ms with which the window opened, or not. */
static void record_long_first_step(int opens) {
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int k = 0; k < 50; k++) put("%dus 90us k correlation_id=%d\n", (k < 10 ? 0 : 5000) + 100 * k, k + 1);
    put("plane /host:CPU\nline 9 t\n%s", opens ? "0us 0us idsprof.opened\n" : "");
    for (int step = 0; step < 5; step++)
        put("%dus %dus train step_num=%d _r=1\n", step ? 5000 + 1000 * step : 1, step ? 1000 : 5999, step);
    for (int k = 0; k < 50; k++)
        put("%dus 0us cudaLaunchKernel correlation_id=%d\n", (k < 10 ? 0 : 5000) + 100 * k, k + 1);
    advise_on_what_was_put();
}

START_TEST(the_step_that_opens_the_window_is_not_outside) {
    record_long_first_step(1);
    ck_assert_int_eq(ids_report_find_property(&report, "steps.left_out")->i, 0);
    ck_assert_ptr_null(about("outside the steps"));
    ids_report_done(&report);
    record_long_first_step(0);
    ck_assert_ptr_null(about("outside the steps")); /* it is a step as the others */
    ids_report_done(&report);
}
END_TEST

/* 30 rounds of a kernel of 5 us, each launched by a call of 15 us; then 30 of 2 us beside 10 of 1000 us. */
START_TEST(small_kernels_are_no_advice_where_fusing_wins_little) {
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 30; i++) put("%dus 5us k correlation_id=%d\n", 20 * i + 15, i + 1);
    put("plane /host:CPU\nline 9 t\n");
    for (int i = 0; i < 30; i++) put("%dus 15us cudaLaunchKernel correlation_id=%d\n", 20 * i, i + 1);
    advise_on_what_was_put();
    ck_assert_ptr_nonnull(about("Launching takes longer"));
    ck_assert_ptr_null(about("Many small kernels"));
    ids_report_done(&report);
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 30; i++) put("%dus 2us k\n", 2 * i);
    for (int i = 0; i < 10; i++) put("%dus 1000us large\n", 60 + 1000 * i);
    advise_on_what_was_put();
    ck_assert_ptr_null(about("Many small kernels"));
    ids_report_done(&report);
    for (int large_us = 999; large_us < 1001; large_us++) { /* the median kernel is graded good from 1 ms on */
        put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
        for (int i = 0; i < 90; i++) put("%dus 50us k\n", 50 * i);
        for (int i = 0; i < 10; i++) put("%dus %dus large\n", 4500 + 1010 * i, large_us);
        advise_on_what_was_put();
        ck_assert_int_eq(about("Many small kernels") != NULL, large_us < 1000);
        ids_report_done(&report);
    }
}
END_TEST

/* Four rounds of `ops` ops of 2 us, the last `others` of another compiled program than the first ones; `runs` of these
 * rounds are a step, which is annotated. */
static void record_program(int ops, int others, int runs) {
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 4 * ops; i++)
        put("%dus 2us k.%d hlo_op=k.%d hlo_module=jit_%s correlation_id=%d\n", 2 * i, i % ops, i % ops,
            i % ops < ops - others ? "step" : "other", i / ops + 1);
    put("plane /host:CPU\nline 9 t\n");
    for (int round = 0; round < 4; round++) {
        if (round % runs == 0) put("%dus %dus train step_num=%d _r=1\n", 2 * ops * round, 2 * ops * runs, round / runs);
        put("%dus 1us cudaLaunchKernel correlation_id=%d\n", 2 * ops * round, round + 1);
    }
    advise_on_what_was_put();
}

START_TEST(ops_of_a_large_program_cannot_be_jitted_more) {
    static const struct {
        int ops, others, runs, is_one;
    } programs[] = {
        {140, 40, 1, 1},                /* it is large */
        {139, 40, 1, 0}, {50, 5, 1, 1}, /* or the whole step, but for little */
        {50, 6, 1, 0},   {50, 5, 2, 0}, /* not one that runs twice in it */
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        record_program(programs[i].ops, programs[i].others, programs[i].runs);
        ck_assert_int_eq(about("within one compiled program (jit_step)") != NULL, programs[i].is_one);
        ck_assert_int_eq(about("jit larger functions") != NULL, !programs[i].is_one);
        ids_report_done(&report);
    }
}
END_TEST

/* Each round two kernels, launched at once, begin 60 us later; until then the host launches the second one. */
START_TEST(a_host_that_runs_ahead_is_no_evidence) {
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 30; i++)
        put("%dus 20us a correlation_id=%d\n%dus 20us b correlation_id=%d\n", 100 * i + 60, 2 * i + 1, 100 * i + 80,
            2 * i + 2);
    put("plane /host:CPU\nline 9 t\n");
    for (int i = 0; i < 30; i++)
        put("%dus 1us cudaLaunchKernel correlation_id=%d\n%dus 50us cudaLaunchKernel correlation_id=%d\n", 100 * i,
            2 * i + 1, 100 * i + 2, 2 * i + 2);
    advise_on_what_was_put();
    ck_assert(first_is("device.queue"));
    ck_assert_ptr_null(strstr(report.advice[0].evidence, "meanwhile"));
    ids_report_done(&report);
}
END_TEST

START_TEST(a_tracer_that_makes_python_longer_is_named) {
    put("plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < 30; i++) put("%dus 10us k correlation_id=%d\n", 1000 * i + 990, i + 1);
    put("plane /host:CPU\nline 9 t\n");
    for (int i = 0; i < 30; i++)
        put("%dus 980us \"$train.py:7 load\"\n%dus 1us cudaLaunchKernel correlation_id=%d\n", 1000 * i, 1000 * i + 985,
            i + 1);
    advise_on_what_was_put();
    ck_assert(first_is("host.python"));
    ck_assert_ptr_nonnull(strstr(report.advice[0].evidence, "Python's tracer makes it longer"));
    ids_report_done(&report);
}
END_TEST

/* Idle for 45 us of each round is now rank 0 and now rank 1. */
START_TEST(who_changes_from_step_to_step_is_no_one_rank) {
    put_rank(0, 5, 45, 5, 0);
    put_rank(1, 5, 0, 5, 45);
    put_rank(2, 5, 0, 5, 0);
    advise_on_what_was_put();
    int is_said = 0;
    for (size_t i = 0; i < report.advice_count; i++)
        is_said |= report.advice[i].where && strstr(report.advice[i].where, "changing ranks");
    ck_assert(is_said);
    ids_report_done(&report);
    put_rank(0, 5, 45, 5, 45);
    put_rank(1, 5, 0, 5, 0);
    put_rank(2, 5, 0, 5, 0);
    advise_on_what_was_put();
    for (size_t i = 0; i < report.advice_count; i++)
        ck_assert(!report.advice[i].where || !strstr(report.advice[i].where, "changing ranks"));
    ids_report_done(&report);
}
END_TEST

/* Where a line stands, a word or a comma ends it: "(f, x.py:8)". */
START_TEST(a_line_of_a_place) {
    ids_report_init(&report);
    ck_assert_str_eq(ids_say_line(&report, "x.py:8, in float"), ", x.py:8");
    ck_assert_str_eq(ids_say_line(&report, "x.py:8, mostly in v.std"), ", x.py:8");
    ck_assert_str_eq(ids_say_line(&report, "x.py:8 step"), ", x.py:8");
    ck_assert_str_eq(ids_say_line(&report, "x.py:8"), ", x.py:8");
    ck_assert_str_eq(ids_say_line(&report, NULL), "");
    ids_report_done(&report);
}
END_TEST

IDS_RUN_SUITE("advice", compute_that_is_most_of_the_step_is_told, of_several_devices_it_is_said_which_computes,
              few_device_events_are_enough, the_slowest_stage_of_input_is_named, too_little_names_the_next_command,
              a_queue_counts_where_it_is_most_of_the_time, the_device_that_computes_decides,
              a_single_time_is_said_to_be_one, warm_up_is_what_only_the_first_step_does,
              launching_is_held_against_what_is_launched, what_few_steps_lose_stands_behind_what_most_lose,
              a_call_that_is_held_up_does_not_speak_for_all, an_op_is_worth_a_word_where_it_is_much_of_the_step,
              what_is_little_is_left_out, time_outside_the_steps_is_said, the_step_that_opens_the_window_is_not_outside,
              instances_of_one_op_are_one_piece, copies_at_the_same_time_are_one_piece, who_waits_less_decides,
              what_others_did_is_won_too, the_first_of_equal_devices_may_decide,
              a_recording_that_is_not_open_is_no_cost, even_work_wins_no_more_than_there_is,
              who_does_the_same_has_no_more_work, a_culprit_with_a_place_takes_what_has_none,
              an_op_that_only_moves_is_named, an_op_that_only_moves_stands_by_its_time,
              ops_of_a_large_program_cannot_be_jitted_more, a_host_that_runs_ahead_is_no_evidence,
              a_tracer_that_makes_python_longer_is_named, who_changes_from_step_to_step_is_no_one_rank,
              small_kernels_are_no_advice_where_fusing_wins_little, a_line_of_a_place)
