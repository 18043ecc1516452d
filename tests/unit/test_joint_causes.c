/* analyzers/joint_causes: a function that holds the device up in several ways is one piece, and unlike causes are
 * several. */
#include "lib/analysis/context.h"
#include "tests/support/advise_on.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define MICROSECOND INT64_C(1000000)
#define SEVERAL "One function holds the device up in several ways"

/* Steps of some rounds of 100 us. In each of them a kernel runs [0,30]; a function waits for it [25,60], and what it
 * does up to 65 would have been done before, had it not waited; and then a function launches the next kernel, which
 * begins at 100. So in each round 35 us are the wait's, and 35 us are dispatch or, from `queue_us` before 100 on, the
 * queue's. */
struct loop {
    const char *waits, *launches; /* functions of the program */
    const char *called; /* what the one that launches calls for 600 us before it does; NULL: nothing. The launch
                         * takes 100 us more then */
    const char *others; /* who launches in all rounds but each 4th, and waits for nothing; NULL: the same */
    int rounds, queue_us, on_cpu;
};
enum { STEPS = 6 };

static char text[1 << 15];
static size_t used;
static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    ck_assert_uint_lt(used, sizeof text);
}

static void put_device(const struct loop *loop, int rounds, int length) {
    put(loop->on_cpu ? "plane /host:CPU\nline 1 worker\n" : "plane /device:GPU:0\nline 1 \"Stream #1\"\n");
    for (int i = 0; i < rounds; i++) {
        if (loop->on_cpu)
            put("%dus 30us dot.1 hlo_op=dot.1 hlo_module=jit_grad run_id=%d\n", i * length, i + 1);
        else
            put("%dus 30us k correlation_id=%d\n", i * length, i + 1);
    }
    put(loop->on_cpu ? "line 9 python\n" : "plane /host:CPU\nline 9 python\n");
}

/* A call of grad, which launches in its last microsecond. */
static void put_launch(const struct loop *loop, int at, int length, int number) {
    put("%dus %dus PjitFunction(grad)\n", at, length);
    if (loop->on_cpu)
        put("%dus 1us \"CommonPjRtLoadedExecutable::Execute (jit_grad)\" run_id=%d\n", at + length - 1, number);
    else
        put("%dus 1us cudaLaunchKernel correlation_id=%d\n", at + length - 1, number);
}

static void advise_on_loop(const struct loop *loop) {
    const int rounds = STEPS * loop->rounds, length = loop->called ? 800 : 100, call_us = loop->called ? 135 : 35;
    used = 0;
    put_device(loop, rounds, length);
    put_launch(loop, 0, 1, 1);
    for (int step = 0; step < STEPS; step++)
        put("%dus %dus train step_num=%d _r=1\n", step * loop->rounds * length + (step ? 0 : 1),
            loop->rounds * length - (step ? 0 : 1), step);
    for (int i = 0; i + 1 < rounds; i++) {
        int at = i * length, next = at + length, is_other = loop->others && i % 4;
        if (loop->waits && !is_other)
            put("%dus 40us \"%s\"\n%dus 35us %s\n", at + 20, loop->waits, at + 25,
                loop->on_cpu ? "np.asarray(jax.Array)" : "cudaStreamSynchronize");
        put("%dus %dus \"%s\"\n", at + 61, length - 61, is_other ? loop->others : loop->launches);
        if (loop->called) put("%dus 600us \"%s\"\n", at + 65, loop->called);
        put_launch(loop, next - call_us, call_us - loop->queue_us, i + 2);
    }
    advise_on(text);
}

static size_t pieces_of(const char *account) {
    size_t count = 0;
    for (size_t i = 0; i < report.advice_count; i++)
        count += report.advice[i].account && !strcmp(report.advice[i].account, account);
    return count;
}

/* Of 24 rounds 23 have a gap: 23 / 6 of 70 us are won in a step, half of it by either account. */
START_TEST(one_function_is_one_piece) {
    advise_on_loop(
        &(struct loop){.waits = "$train.py:10 accumulate", .launches = "$train.py:10 accumulate", .rounds = 4});
    const struct ids_advice *advice = about(SEVERAL ": accumulate (train.py:10) - keep results on the device");
    ck_assert_msg(advice == &report.advice[0], "%s", report.advice[0].what);
    ck_assert_ptr_nonnull(strstr(advice->what, "; and put more under one jit"));
    ck_assert_msg(llabs(advice->saves_ps - 23 * 70 * MICROSECOND / STEPS) < 10 * MICROSECOND, "%lld",
                  (long long)advice->saves_ps);
    ck_assert_uint_eq(advice->part_count, 2);
    ck_assert_str_eq(advice->parts[0].account, advice->account);
    ck_assert(fabs(advice->parts[0].share + advice->parts[1].share - 1) < 1e-9);
    ck_assert(evidence_has(0, "; of it host."));
    ck_assert(evidence_has(0, "(grad, train.py:10)"));
    ck_assert_uint_eq(pieces_of("host.sync") + pieces_of("host.dispatch"), 1);
    ids_report_done(&report);
}
END_TEST

static void expect_apart(const struct loop *loop) {
    advise_on_loop(loop);
    ck_assert_ptr_null(about(SEVERAL));
    ck_assert_uint_eq(pieces_of("host.sync"), 1);
    ck_assert_uint_eq(pieces_of("host.dispatch"), 1);
    ids_report_done(&report);
}

/* Two functions; functions of one name in two files, and in one; and the one wait and the one launch of a step, which
 * stand in one function because the loop does. */
START_TEST(unlike_causes_are_several_pieces) {
    expect_apart(&(struct loop){.waits = "$train.py:20 log_loss", .launches = "$train.py:10 accumulate", .rounds = 4});
    expect_apart(
        &(struct loop){.waits = "$actor/train.py:10 update", .launches = "$critic/train.py:10 update", .rounds = 4});
    expect_apart(&(struct loop){.waits = "$train.py:10 __call__", .launches = "$train.py:50 __call__", .rounds = 4});
    expect_apart(&(struct loop){.waits = "$train.py:10 main", .launches = "$train.py:10 main", .rounds = 1});
}
END_TEST

/* Another function waits for each launch: the waits come first, for without them the host would launch ahead. On a CPU
 * it is not ahead of anybody, and of one wait a step nothing is said. */
START_TEST(a_wait_between_launches_comes_first) {
    struct loop loop = {.waits = "$train.py:20 log_loss", .launches = "$train.py:10 accumulate"};
    for (int at = 0; at < 3; at++) {
        loop.on_cpu = at == 1;
        loop.rounds = at == 2 ? 1 : 12;
        advise_on_loop(&loop);
        ck_assert_uint_eq(pieces_of("host.sync"), 1);
        ck_assert_uint_eq(pieces_of("host.dispatch"), 1);
        const struct ids_advice *advice = about("launches a little and waits for it, again and again");
        ck_assert_msg((advice != NULL) == (at == 0), "%d: %s", at, report.advice[0].what);
        const char *wait = at ? "" : strstr(advice->what, "first take the wait out of the loop: ");
        ck_assert_ptr_nonnull(wait);
        ck_assert_msg(at || strstr(wait, "(train.py:20 log_loss), once every n steps"), "%s", wait);
        ck_assert_msg(at || strstr(wait, "; and put more under one jit"), "%s", wait);
        ids_report_done(&report);
    }
}
END_TEST

/* What the function calls for 600 us, and nothing is launched in it, has a remedy of its own. */
START_TEST(what_it_calls_is_another_cause) {
    advise_on_loop(&(struct loop){.waits = "$train.py:10 accumulate",
                                  .launches = "$train.py:10 accumulate",
                                  .called = "$json/decoder.py:300 decode",
                                  .rounds = 4});
    ck_assert(first_is("host.python"));
    ck_assert_uint_eq(report.advice[0].part_count, 0);
    ck_assert_msg(llabs(report.advice[0].saves_ps - 23 * 600 * MICROSECOND / STEPS) < 50 * MICROSECOND, "%lld",
                  (long long)report.advice[0].saves_ps);
    ids_report_done(&report);
}
END_TEST

/* A GPU that has nothing to do because the host waited shows how late work begins: the wait's, 15 of 70 us. Where
 * nobody waits, it is the launches'. */
START_TEST(a_queue_of_an_idle_gpu_is_who_let_it_run_dry) {
    advise_on_loop(&(struct loop){
        .waits = "$train.py:10 accumulate", .launches = "$train.py:10 accumulate", .rounds = 4, .queue_us = 15});
    ck_assert_msg(about(SEVERAL) == &report.advice[0], "%s", report.advice[0].what);
    ck_assert_msg(evidence_has(0, "device.queue 21.4 %"), "%s", report.advice[0].evidence);
    ck_assert_uint_eq(pieces_of("device.queue"), 0);
    ids_report_done(&report);
    advise_on_loop(&(struct loop){.launches = "$train.py:10 accumulate", .rounds = 4, .queue_us = 15});
    ck_assert_msg(about("Launching takes longer than what is launched") == &report.advice[0], "%s",
                  report.advice[0].what);
    ck_assert_msg(evidence_has(0, "device.queue "), "%s", report.advice[0].evidence);
    ck_assert_uint_eq(pieces_of("device.queue"), 0);
    ids_report_done(&report);
    advise_on_loop(&(struct loop){.waits = "$train.py:10 accumulate",
                                  .launches = "$train.py:10 accumulate",
                                  .called = "$json/decoder.py:300 decode",
                                  .rounds = 4,
                                  .queue_us = 100});
    ck_assert_msg(pieces_of("device.queue") == 1, "%s", report.advice[0].evidence);
    ids_report_done(&report);
}
END_TEST

/* On a CPU each program is handed to a thread: fewer launches save that too. */
START_TEST(a_queue_of_a_cpu_is_the_launchers) {
    advise_on_loop(&(struct loop){.waits = "$train.py:10 accumulate",
                                  .launches = "$train.py:10 accumulate",
                                  .rounds = 4,
                                  .queue_us = 15,
                                  .on_cpu = 1});
    const struct ids_advice *advice = about(SEVERAL ": accumulate (train.py:10)");
    ck_assert_msg(advice == &report.advice[0], "%s", report.advice[0].what);
    ck_assert_uint_eq(advice->part_count, 3);
    ck_assert_msg(evidence_has(0, "device.queue 21.4 %"), "%s", advice->evidence); /* 15 of 70 us */
    ck_assert_uint_eq(pieces_of("host.sync") + pieces_of("host.dispatch") + pieces_of("device.queue"), 1);
    ids_report_done(&report);
}
END_TEST

/* In 3 of 12 rounds a function waits and launches, which is 70 us each; in the others another one launches, 70 us each:
 * to take a seventh of dispatch away for the first one says less than the whole. */
START_TEST(a_larger_account_stays_whole) {
    expect_apart(&(struct loop){.waits = "$train.py:10 accumulate",
                                .launches = "$train.py:10 accumulate",
                                .others = "$train.py:30 update",
                                .rounds = 12});
}
END_TEST

IDS_RUN_SUITE("joint_causes", one_function_is_one_piece, unlike_causes_are_several_pieces,
              a_wait_between_launches_comes_first, what_it_calls_is_another_cause,
              a_queue_of_an_idle_gpu_is_who_let_it_run_dry, a_queue_of_a_cpu_is_the_launchers,
              a_larger_account_stays_whole)
