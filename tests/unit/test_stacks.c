/* Sampled stacks without a Python: lines of code objects, texts of calls, slices of samples, and the heads of a file.
 * The tables of lines are those of Python's compiler for the functions in the comments. */
#include "collectors/common/other_threads.h"
#include "collectors/common/own_memory.h"
#include "collectors/common/python_code.h"
#include "collectors/common/python_source.h"
#include "collectors/common/python_threads.h"
#include "collectors/common/sampled_names.h"
#include "collectors/common/sampled_slices.h"
#include "collectors/common/sampling_pace.h"
#include "collectors/common/spells.h"
#include "collectors/common/thread_clock.h"
#include "collectors/common/thread_waits.h"
#include "collectors/common/xspace_lines.h"
#include "collectors/common/xspace_out.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- lines ------------------------------------------------------------------------------------------------------ */

static struct ids_python_location location(int first_line, int minor, uint32_t at, const char *lines, size_t size) {
    struct ids_python_code code = {
        .first_line = first_line, .lines = (unsigned char *)(uintptr_t)lines, .lines_size = size};
    return ids_python_code_location(&code, minor, at);
}

/* Entries: 1 unit on the first line without columns; 2 units 3 lines below, columns 8 to 17 (one line form 0 has the
 * same line, so the long form gives it); 1 unit of the short form on that line, columns 4 to 9; 1 unit of nowhere. */
START_TEST(lines_with_columns) {
    static const char lines[] = {(char)(0x80 | 13 << 3),
                                 0,
                                 (char)(0x80 | 14 << 3 | 1),
                                 6,
                                 1,
                                 9,
                                 18,
                                 (char)(0x80 | 0 << 3),
                                 0x45,
                                 (char)(0x80 | 11 << 3 | 7),
                                 2,
                                 7,
                                 (char)(0x80 | 15 << 3)};
    struct ids_python_location place = location(40, 11, 0, lines, sizeof lines);
    ck_assert_int_eq(place.line, 40);
    ck_assert_int_eq(place.column, -1);
    for (uint32_t at = 2; at <= 4; at += 2) {
        place = location(40, 12, at, lines, sizeof lines);
        ck_assert_int_eq(place.line, 43);
        ck_assert_int_eq(place.end_line, 44);
        ck_assert_int_eq(place.column, 8);
        ck_assert_int_eq(place.end_column, 17);
    }
    place = location(40, 13, 6, lines, sizeof lines);
    ck_assert_int_eq(place.line, 43);
    ck_assert_int_eq(place.column, 4);
    ck_assert_int_eq(place.end_column, 9);
    place = location(40, 14, 22, lines, sizeof lines); /* the last of eight units */
    ck_assert_int_eq(place.line, 44);
    ck_assert_int_eq(place.column, 2);
    ck_assert_int_eq(place.end_column, 7);
    ck_assert_int_eq(location(40, 14, 24, lines, sizeof lines).line, 0);
    ck_assert_int_eq(location(40, 14, 400, lines, sizeof lines).line, 0);
    ck_assert_int_eq(location(40, 14, 2, lines, 4).line, 43); /* cut: as far as it goes */
}
END_TEST

/* 3.10: 4 bytes on line 7, 2 without a line, 6 on line 5. 3.9: 4 bytes on line 7, 6 on line 9, the rest on line 8. */
START_TEST(lines_of_pairs) {
    static const char of_10[] = {4, 0, 2, -128, 6, -2}, of_9[] = {4, 2, 6, -1};
    ck_assert_int_eq(location(7, 10, 2, of_10, sizeof of_10).line, 7);
    ck_assert_int_eq(location(7, 10, 6, of_10, sizeof of_10).line, 5);
    ck_assert_int_eq(location(7, 10, 10, of_10, sizeof of_10).line, 5);
    ck_assert_int_eq(location(7, 9, 2, of_9, sizeof of_9).line, 7);
    ck_assert_int_eq(location(7, 9, 4, of_9, sizeof of_9).line, 9);
    ck_assert_int_eq(location(7, 9, 10, of_9, sizeof of_9).line, 8);
    ck_assert_int_eq(location(7, 9, 4, of_9, sizeof of_9).column, -1);
}
END_TEST

/* --- texts of calls --------------------------------------------------------------------------------------------- */

static const char *called(const char *text) {
    static char name[IDS_PYTHON_CALLED];
    return ids_python_called_in(text, strlen(text), name) ? name : "";
}

START_TEST(calls_by_their_text) {
    ck_assert_str_eq(called("gc.collect()"), "$gc collect");
    ck_assert_str_eq(called("len(x)"), "$builtins len");
    ck_assert_str_eq(called("train_step(x)"), "$<unknown> train_step"); /* the program's own, or imported */
    ck_assert_str_eq(called("lengths(x)"), "$<unknown> lengths");
    ck_assert_str_eq(called("self.state.dumps(\")\", f(1), [g(2)])"), "$self.state dumps");
    ck_assert_str_eq(called("open(path).read()"), "$<unknown> read");
    ck_assert_str_eq(called("rows[0].sort(key=lambda r: r[1])"), "$<unknown> sort");
    ck_assert_str_eq(called("', '.join(parts)"), "$<unknown> join");
    ck_assert_str_eq(called("json.dumps(\n    row,  # all of (it\n)"), "$json dumps");
    /* no calls, though calls lie in them */
    ck_assert_str_eq(called("-f(x)"), "");
    ck_assert_str_eq(called("a @ f(x)"), "");
    ck_assert_str_eq(called("f(x) + 1"), "");
    ck_assert_str_eq(called("(a, b)"), "");
    ck_assert_str_eq(called("handlers[0](x)"), "");
    ck_assert_str_eq(called("x)"), "");
    ck_assert_str_eq(called(""), "");
}
END_TEST

/* A code of instructions that come from these columns of the first line, in a file of this text. */
struct columns {
    int from, to;
};

static const char *called_at(const char *text, const struct columns *of, size_t count, uint32_t number) {
    static char name[IDS_PYTHON_CALLED];
    char path[] = "/tmp/test_stacks_XXXXXX";
    unsigned char lines[64];
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    for (size_t i = 0; i < count; i++) {
        const unsigned char entry[] = {0x80 | 14 << 3, 0, 0, (unsigned char)(of[i].from + 1),
                                       (unsigned char)(of[i].to + 1)};
        memcpy(lines + i * sizeof entry, entry, sizeof entry);
    }
    struct ids_python_code code = {.first_line = 1, .file = path, .lines = lines, .lines_size = 5 * count};
    struct ids_python_sources sources = {0};
    if (!ids_python_called(&sources, &code, 2 * number, ids_python_code_location(&code, 11, 2 * number), name))
        name[0] = '\0';
    ids_python_sources_done(&sources);
    unlink(path);
    return name;
}

/* As Python 3.11 compiles it, and as 3.13 does: what is taken, the body on the same line, and what is given back. */
START_TEST(body_on_the_line_of_a_with) {
    static const char text[] = "with lock: return [s + x for s in ws]\n", two[] = "with a, lock as l: x + y\n",
                      with_call[] = "with open(p) as f: x + f.y\n", in_head[] = "with locks[k + 1]: x + y\n";
    static const struct columns whole[] = {{5, 9}, {0, 37}, {18, 37}, {19, 24}, {0, 37}},
                                of_item[] = {{5, 9}, {5, 9}, {18, 37}, {5, 9}},
                                of_two[] = {{5, 6}, {8, 12}, {16, 17}, {19, 24}, {8, 12}},
                                of_call[] = {{5, 12}, {0, 26}, {19, 26}, {0, 26}},
                                of_head[] = {{5, 10}, {11, 16}, {5, 17}, {19, 24}};
    ck_assert_str_eq(called_at(text, whole, 5, 1), "$<unknown> __enter__");
    ck_assert_str_eq(called_at(text, whole, 5, 2), "");
    ck_assert_str_eq(called_at(text, whole, 5, 3), "");
    ck_assert_str_eq(called_at(text, whole, 5, 4), "$<unknown> __exit__");
    ck_assert_str_eq(called_at(text, of_item, 4, 1), "$<unknown> __enter__");
    ck_assert_str_eq(called_at(text, of_item, 4, 2), "");
    ck_assert_str_eq(called_at(text, of_item, 4, 3), "$<unknown> __exit__");
    ck_assert_str_eq(called_at(two, of_two, 5, 1), "$<unknown> __enter__");
    ck_assert_str_eq(called_at(two, of_two, 5, 2), "");
    ck_assert_str_eq(called_at(two, of_two, 5, 3), "");
    ck_assert_str_eq(called_at(two, of_two, 5, 4), "$<unknown> __exit__");
    ck_assert_str_eq(called_at(with_call, of_call, 4, 0), "$builtins open");
    ck_assert_str_eq(called_at(with_call, of_call, 4, 1), ""); /* open() again, or what it gave: nobody can tell */
    ck_assert_str_eq(called_at(with_call, of_call, 4, 2), "");
    ck_assert_str_eq(called_at(with_call, of_call, 4, 3), "$<unknown> __exit__");
    ck_assert_str_eq(called_at(in_head, of_head, 4, 1), ""); /* an index, which takes nothing */
    ck_assert_str_eq(called_at(in_head, of_head, 4, 2), "$<unknown> __enter__");
    ck_assert_str_eq(called_at(in_head, of_head, 4, 3), "");
    ck_assert_str_eq(called_at("x = without + y\n", (struct columns[]){{0, 15}, {4, 15}}, 2, 1), "");
}
END_TEST

START_TEST(paths_by_their_owner) {
    int is_own;
    ck_assert_str_eq(ids_sampled_path("/home/u/p/train.py", "/home/u/p/", &is_own), "train.py");
    ck_assert_int_eq(is_own, 1);
    ck_assert_str_eq(ids_sampled_path("/home/u/q/train.py", "/home/u/p/", &is_own), "/home/u/q/train.py");
    ck_assert_int_eq(is_own, 0);
    ck_assert_str_eq(ids_sampled_path("/home/u/p/.venv/lib/python3.11/site-packages/jax/api.py", "/home/u/p/", &is_own),
                     "site-packages/jax/api.py");
    ck_assert_int_eq(is_own, 0);
    ck_assert_str_eq(ids_sampled_path("/usr/lib/python3.13/json/decoder.py", "/", &is_own),
                     "/lib/python3.13/json/decoder.py");
    ck_assert_str_eq(ids_sampled_path("/srv/train.py", "/", &is_own), "/srv/train.py");
}
END_TEST

/* --- slices ----------------------------------------------------------------------------------------------------- */

static struct ids_samples samples;

/* A stack of calls, the innermost first. */
static void sample(uint32_t number, int64_t when_ns, int depth, uint32_t inner, uint32_t outer) {
    static struct ids_python_stack stack;
    stack = (struct ids_python_stack){.pthread = 1, .depth = depth};
    stack.calls[0].code = depth == 1 ? outer : inner;
    stack.calls[1].code = outer;
    ids_samples_add(&samples, &stack, number, when_ns);
}

static uint32_t names_of(void *context, const struct ids_sample_run *run, int64_t *ret_names) {
    (void)context;
    for (uint32_t i = 0; i < run->depth; i++) ret_names[i] = samples.calls[run->calls + run->depth - 1 - i].code;
    return run->depth;
}

static void expect_slice(const struct ids_sampled_slice *slice, int64_t name, int64_t start_ns, int64_t end_ns,
                         uint32_t depth, uint32_t count) {
    ck_assert_int_eq(slice->name, name);
    ck_assert_int_eq(slice->start_ns, start_ns);
    ck_assert_int_eq(slice->end_ns, end_ns);
    ck_assert_uint_eq(slice->depth, depth);
    ck_assert_uint_eq(slice->samples, count);
}

static void expect_samples(const struct ids_sampled_slice *slice, int64_t first_ns, int64_t last_ns) {
    ck_assert_int_eq(slice->first_ns, first_ns);
    ck_assert_int_eq(slice->last_ns, last_ns);
}

/* main(7) calls load(8), nothing, then step(9); samples 5 and 6 have no stack; after them main alone. */
START_TEST(slices_of_samples) {
    struct ids_sampled_slices slices = {0};
    const struct ids_sampled_time time = {.begin_ns = 1000, .end_ns = 1800, .count = 8};
    sample(0, 1000, 2, 8, 7);
    sample(1, 1100, 2, 8, 7);
    sample(2, 1200, 2, 8, 7);
    sample(3, 1300, 1, 0, 7);
    sample(4, 1420, 2, 9, 7);
    sample(7, 1700, 1, 0, 7);
    ck_assert_uint_eq(samples.thread_count, 1);
    ck_assert_uint_eq(samples.threads[0].count, 4);
    ck_assert_int_eq(ids_sampled_slices_make(&slices, &samples.threads[0], &time, names_of, NULL), 0);
    ck_assert_uint_eq(slices.count, 4);
    expect_slice(&slices.at[0], 7, 1000, 1470, 0, 1); /* as long as its stacks follow one another, and half a period */
    expect_slice(&slices.at[1], 8, 1000, 1250, 1, 3);
    expect_slice(&slices.at[2], 9, 1360, 1470, 1, 1);
    expect_slice(&slices.at[3], 7, 1650, 1800, 0, 1); /* the last sample's goes on to the end */
    expect_samples(&slices.at[0], 1300, 1300);        /* in the others something ran inside it */
    expect_samples(&slices.at[1], 1000, 1200);
    expect_samples(&slices.at[2], 1420, 1420);
    ids_sampled_slices_done(&slices);
    ids_samples_done(&samples);
}
END_TEST

/* In the third sample the thread is where it was, and has run in between: a slice of its own says so. What calls it
 * goes on. */
START_TEST(slices_of_wakes) {
    static struct ids_python_stack stack;
    struct ids_sampled_slices slices = {0};
    const struct ids_sampled_time time = {.begin_ns = 0, .end_ns = 400, .count = 4};
    sample(0, 50, 2, 8, 7);
    sample(1, 150, 2, 8, 7);
    stack = (struct ids_python_stack){.pthread = 1, .depth = 2, .woke = 1};
    stack.calls[0].code = 8;
    stack.calls[1].code = 7;
    ids_samples_add(&samples, &stack, 2, 250);
    sample(3, 350, 2, 8, 7);
    ck_assert_int_eq(ids_sampled_slices_make(&slices, &samples.threads[0], &time, names_of, NULL), 0);
    ck_assert_uint_eq(slices.count, 3);
    expect_slice(&slices.at[0], 7, 0, 400, 0, 0);
    expect_slice(&slices.at[1], 8, 0, 200, 1, 2);
    expect_slice(&slices.at[2], 8, 200, 400, 1, 2);
    ids_sampled_slices_done(&slices);
    ids_samples_done(&samples);
}
END_TEST

/* The thread waits for a core in load(8), and on into step(9); each has its part of it. The next wait begins where that
 * one has ended. One that has passed when the samples begin is none. */
START_TEST(waits_for_a_core) {
    struct ids_sampled_slices slices = {.wait_name = 99};
    const struct ids_sampled_time time = {.begin_ns = 0, .end_ns = 400, .count = 4};
    sample(0, 50, 2, 8, 7);
    ids_samples_wait(&samples, 0, (struct ids_core_wait){-30, -20});
    ids_samples_wait(&samples, 0, (struct ids_core_wait){60, 120});
    sample(1, 150, 2, 9, 7);
    ids_samples_wait(&samples, 0, (struct ids_core_wait){110, 140});
    ids_samples_wait(&samples, 1, (struct ids_core_wait){0, 10}); /* no such thread */
    sample(2, 250, 2, 9, 7);
    sample(3, 350, 1, 0, 7);
    ck_assert_int_eq(ids_sampled_slices_make(&slices, &samples.threads[0], &time, names_of, NULL), 0);
    ck_assert_uint_eq(slices.count, 6);
    expect_slice(&slices.at[0], 7, 0, 400, 0, 1);
    expect_slice(&slices.at[1], 8, 0, 100, 1, 1);
    expect_slice(&slices.at[2], 99, 60, 100, 2, 0);
    expect_slice(&slices.at[3], 9, 100, 300, 1, 2);
    expect_slice(&slices.at[4], 99, 100, 120, 2, 0);
    expect_slice(&slices.at[5], 99, 120, 140, 2, 0);
    ids_sampled_slices_done(&slices);
    ids_samples_done(&samples);
}
END_TEST

/* Thread 1 goes on with its stack, and not after a sample that did not see it; there is no thread 2. */
START_TEST(stacks_again) {
    sample(0, 1000, 2, 8, 7);
    ck_assert_int_eq(ids_samples_again(&samples, 0, 1, 1100), 0);
    ck_assert_int_eq(ids_samples_again(&samples, 0, 3, 1300), -1);
    ck_assert_int_eq(ids_samples_again(&samples, 1, 2, 1200), -1);
    ck_assert_uint_eq(samples.threads[0].count, 1);
    ck_assert_uint_eq(samples.threads[0].runs[0].last, 1);
    ck_assert_int_eq(samples.threads[0].runs[0].last_ns, 1100);
    ids_samples_done(&samples);
}
END_TEST

/* A thread that is new comes first in Python's list; one ends; the others are still who they were. */
START_TEST(threads_of_a_list) {
    struct ids_python_threads threads = {0};
    for (uintptr_t i = 0; i < 3; i++) ids_python_threads_at(&threads, i, 100 + i)->tid = 10 + i;
    ck_assert_uint_eq(threads.count, 3);
    ck_assert_uint_eq(ids_python_threads_at(&threads, 0, 99)->tid, 0);
    for (uintptr_t i = 0; i < 3; i++) ck_assert_uint_eq(ids_python_threads_at(&threads, 1 + i, 100 + i)->tid, 10 + i);
    ck_assert_uint_eq(threads.count, 4);
    ck_assert_uint_eq(ids_python_threads_at(&threads, 1, 102)->tid, 12); /* 100 and 101 have ended */
    ids_python_threads_end(&threads, 1);
    ck_assert_uint_eq(ids_python_threads_at(&threads, 1, 102)->tid, 0);
    for (size_t i = 2; i < IDS_PYTHON_THREADS; i++) ck_assert_ptr_nonnull(ids_python_threads_at(&threads, i, 1000 + i));
    ck_assert_ptr_null(ids_python_threads_at(&threads, IDS_PYTHON_THREADS, 5000)); /* a list that leads in a circle */
    ids_python_threads_done(&threads);
}
END_TEST

/* It has not run since; but it is read again after 64 samples, and so is one whose clock is unknown. */
START_TEST(threads_that_stand_still) {
    const struct ids_python_thread thread = {.tid = 7, .clock = {500, -1}, .read = 10},
                                   unknown = {.clock = {-1, -1}, .read = 10};
    ck_assert_int_eq(ids_python_thread_is_still(&thread, 500, 11), 1);
    ck_assert_int_eq(ids_python_thread_is_still(&thread, 501, 11), 0);
    ck_assert_int_eq(ids_python_thread_is_still(&thread, 500, 73), 1);
    ck_assert_int_eq(ids_python_thread_is_still(&thread, 500, 74), 0);
    ck_assert_int_eq(ids_python_thread_is_still(&unknown, -1, 11), 0);
    int64_t own_ns = ids_thread_cpu_ns((uint64_t)gettid()); /* at least that: the clock goes on */
    ck_assert_int_gt(own_ns, 0);
    ck_assert_int_ge(ids_thread_cpu_ns((uint64_t)gettid()), own_ns);
    ck_assert_int_eq(ids_thread_cpu_ns(0), -1);
    ck_assert_int_eq(ids_thread_cpu_ns(4194303), -1);
}
END_TEST

/* An interpreter whose threads begin while it is asked for the first one. */
static struct {
    uintptr_t own, first;
    int begin; /* so many more */
} interpreter;

static void *main_interpreter(void) {
    return &interpreter;
}

static void *first_thread(void *of) {
    ck_assert_ptr_eq(of, &interpreter);
    void *first = (void *)interpreter.first; /* NOLINT(performance-no-int-to-ptr) */
    if (interpreter.begin > 0) {
        interpreter.begin--;
        interpreter.first += 64;
    }
    return first;
}

START_TEST(threads_that_begin) {
    struct ids_python_layout layout = {.interpreter_threads = sizeof(uintptr_t), .main_interpreter = main_interpreter};
    char why[200];
    ck_assert_int_eq(ids_own_memory_open(why, sizeof why), 0);
    interpreter.own = 4096;
    interpreter.first = 8192;
    ck_assert_int_eq(ids_python_has_threads(&layout, first_thread), 1);
    interpreter.begin = 5;
    ck_assert_int_eq(ids_python_has_threads(&layout, first_thread), 1);
    ck_assert_int_eq(interpreter.begin, 0);
    interpreter.begin = INT32_MAX; /* it ends all the same */
    ck_assert_int_eq(ids_python_has_threads(&layout, first_thread), 0);
    interpreter.begin = 0;
    layout.interpreter_threads = 0; /* of another Python */
    ck_assert_int_eq(ids_python_has_threads(&layout, first_thread), 0);
}
END_TEST

/* A thread whose state leads to the end of memory, or nowhere, though its frames were known the last time. */
START_TEST(threads_that_have_ended) {
    static const struct ids_python_layout layout = {.minor = 13, .thread_id = 8, .thread_frame = 24};
    static unsigned char frames[512];
    static struct ids_python_stack stack;
    struct ids_python_codes codes = {0};
    char why[200];
    ck_assert_int_eq(ids_own_memory_open(why, sizeof why), 0);
    const uintptr_t leads_to[] = {UINTPTR_MAX, UINTPTR_MAX - 127, UINTPTR_MAX - 4096, 8, 0};
    for (size_t i = 0; i < sizeof leads_to / sizeof *leads_to; i++) {
        uintptr_t state[IDS_PYTHON_THREAD / sizeof(uintptr_t)] = {0};
        state[3] = leads_to[i];
        struct ids_python_guess guess = {.frames = (uintptr_t)frames, .frames_size = sizeof frames};
        ck_assert_int_eq(ids_python_stack_read(&layout, &codes, (uintptr_t)state, 0, &guess, &stack), 0);
        ck_assert_int_eq(stack.depth, 0);
    }
    ids_python_codes_done(&codes);
}
END_TEST

/* Pieces of memory by one call, by either way; one that is not there is all that is needed to fail. */
START_TEST(pieces_of_memory) {
    char why[200], first[4], second[3];
    ck_assert_int_eq(ids_own_memory_open(why, sizeof why), 0);
    struct ids_own_piece pieces[] = {{(uintptr_t) "abcd", first, 4}, {(uintptr_t) "xyz", second, 3}};
    ck_assert_int_eq(ids_own_memory_pieces(pieces, 2), 0);
    ck_assert_int_eq(memcmp(first, "abcd", 4), 0);
    ck_assert_int_eq(memcmp(second, "xyz", 3), 0);
    pieces[1].from = 8;
    ck_assert_int_eq(ids_own_memory_pieces(pieces, 2), -1);
    ck_assert_int_eq(ids_own_memory_pieces(pieces, IDS_OWN_PIECES + 1), -1);
}
END_TEST

/* Four samples in the first 100 ns, and two in the 400 ns after them. */
START_TEST(dense_samples) {
    struct ids_sampled_slices slices = {0};
    const struct ids_sampled_time time = {
        .begin_ns = 1000, .end_ns = 1500, .dense_end_ns = 1100, .count = 6, .dense = 4};
    const struct ids_sampled_time all_dense = {.begin_ns = 0, .end_ns = 90, .dense_end_ns = 90, .count = 9, .dense = 9};
    const struct ids_sampled_time none_dense = {.begin_ns = 0, .end_ns = 90, .count = 9};
    ck_assert_int_eq(ids_sampled_period(&time, 1099), 25);
    ck_assert_int_eq(ids_sampled_period(&time, 1100), 200);
    ck_assert_int_eq(ids_sampled_period(&all_dense, 90), 10);
    ck_assert_int_eq(ids_sampled_period(&none_dense, 5), 10);
    sample(1, 1040, 2, 8, 7); /* alone: half a dense period on either side */
    sample(4, 1300, 1, 0, 7); /* and half of the other period */
    ck_assert_int_eq(ids_sampled_slices_make(&slices, &samples.threads[0], &time, names_of, NULL), 0);
    expect_slice(&slices.at[1], 8, 1028, 1052, 1, 1);
    expect_slice(&slices.at[2], 7, 1200, 1400, 0, 1);
    ids_sampled_slices_done(&slices);
    ids_samples_done(&samples);
}
END_TEST

/* main(7), which calls load(8) in between: the samples of main itself. */
START_TEST(samples_of_a_slice) {
    struct ids_sampled_slices slices = {0};
    const struct ids_sampled_time time = {.begin_ns = 0, .end_ns = 300, .count = 3};
    sample(0, 50, 1, 0, 7);
    sample(1, 150, 2, 8, 7);
    sample(2, 250, 1, 0, 7);
    ck_assert_int_eq(ids_sampled_slices_make(&slices, &samples.threads[0], &time, names_of, NULL), 0);
    expect_slice(&slices.at[0], 7, 0, 300, 0, 2);
    expect_samples(&slices.at[0], 50, 250);
    expect_samples(&slices.at[1], 150, 150);
    ids_sampled_slices_done(&slices);
    ids_samples_done(&samples);
}
END_TEST

static int64_t first_period(int64_t rate, int64_t past_ns) {
    return ids_sampling_period(rate, past_ns, (struct ids_sampling_last){1000000, 1});
}

/* 16 times as often for 4 ms, 4 times for 40 ms; at most 8,000 and 2,000 a second, unless more was asked for; then as
 * often as was asked for. Until 0.2 s have passed a sample may cost what it will. */
START_TEST(periods) {
    ck_assert_int_eq(first_period(500, 0), 125000);
    ck_assert_int_eq(first_period(500, 3999999), 125000);
    ck_assert_int_eq(first_period(500, 4000000), 500000);
    ck_assert_int_eq(first_period(500, 40000000), 2000000);
    ck_assert_int_eq(first_period(500, 199999999), 2000000);
    ck_assert_int_eq(first_period(1000, 0), 125000);
    ck_assert_int_eq(first_period(5000, 5000000), 200000);
    ck_assert_int_eq(first_period(10000, 0), 100000);
    ck_assert_int_eq(first_period(1, 0), 62500000);
}
END_TEST

/* Later it may cost 10 us; one of 15 us comes after one and a half periods, a dearer one after two at most. While
 * nothing runs it is twice that. */
START_TEST(periods_by_cost) {
    const int64_t late_ns = 200000000, cost_ns[] = {0, 10000, 15000, 20000, 900000};
    const int64_t period_ns[] = {2000000, 2000000, 3000000, 4000000, 4000000};
    for (size_t i = 0; i < sizeof cost_ns / sizeof *cost_ns; i++) {
        ck_assert_int_eq(ids_sampling_period(500, late_ns, (struct ids_sampling_last){cost_ns[i], 0}), period_ns[i]);
        ck_assert_int_eq(ids_sampling_period(500, late_ns, (struct ids_sampling_last){cost_ns[i], 1}),
                         2 * period_ns[i]);
    }
}
END_TEST

/* A step as long as a period: each tenth of it is seen in 5 to 15 of 100 samples, and samples come as often as they
 * should. */
START_TEST(periods_by_chance) {
    enum { SAMPLES = 10000, PERIOD = 2000000, PARTS = 10 };
    uint32_t random = 2463534242u;
    int64_t now_ns = 0;
    int seen[PARTS] = {0};
    for (int i = 0; i < SAMPLES; i++) {
        int64_t next_ns = ids_sampling_next(PERIOD, &random);
        ck_assert_int_ge(next_ns, PERIOD / 2);
        ck_assert_int_lt(next_ns, PERIOD + PERIOD / 2);
        now_ns += next_ns;
        seen[now_ns % PERIOD / (PERIOD / PARTS)]++;
    }
    ck_assert_int_ge(now_ns / SAMPLES, (int64_t)PERIOD / 100 * 99);
    ck_assert_int_le(now_ns / SAMPLES, (int64_t)PERIOD / 100 * 101);
    for (int part = 0; part < PARTS; part++) {
        ck_assert_int_ge(seen[part], SAMPLES / 20);
        ck_assert_int_le(seen[part], SAMPLES * 3 / 20);
    }
}
END_TEST

/* --- threads without Python ------------------------------------------------------------------------------------- */

static int is_second(const void *context, uint64_t tid) {
    (void)context;
    return tid == 2;
}

/* Thread 1 ran 10 more and waited 5; 2 is left out; 3 is new, and ran 7; 4 has the number of one that has ended. */
START_TEST(times_of_others) {
    const struct ids_other_threads before = {.count = 3, .at = {{1, 100, 10}, {2, 50, 50}, {4, 500, 0}}},
                                   now = {.count = 4, .at = {{1, 110, 15}, {2, 90, 90}, {3, 7, 0}, {4, 3, 1}}};
    struct ids_thread_times sum = ids_other_threads_since(&before, &now, is_second, NULL);
    ck_assert_int_eq(sum.ran_ns, 17);
    ck_assert_int_eq(sum.waited_ns, 5);
}
END_TEST

START_TEST(schedstat_of_a_thread) {
    int64_t ran_ns = 0, waited_ns = 0;
    ck_assert_int_eq(ids_schedstat_parse("1200 34 5\n", &ran_ns, &waited_ns), 1);
    ck_assert_int_eq(ran_ns, 1200);
    ck_assert_int_eq(waited_ns, 34);
    static const char *const wrong[] = {"", "x", "12", "12 x", "99999999999999999999 1 1", "1 9999999999999999999 1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(ids_schedstat_parse(wrong[i], &ran_ns, &waited_ns), 0);
}
END_TEST

/* It woke: of 2000 ns it ran 10 and waited for a core for 200. It did not where it ran for most of the time, or would
 * have, where it did not run at all, and where its clock is not known. */
START_TEST(wakes_of_a_thread) {
    const struct ids_thread_clock before = {100, 50, 1000}, unknown = {-1, -1, 0}, woke = {110, 250, 3000},
                                  ran = {1200, 50, 3000}, waited = {200, 1050, 3000}, slept = {100, 50, 3000};
    ck_assert_int_eq(ids_thread_woke_between(&before, &woke), 1);
    ck_assert_int_eq(ids_thread_woke_between(&before, &ran), 0);
    ck_assert_int_eq(ids_thread_woke_between(&before, &waited), 0);
    ck_assert_int_eq(ids_thread_woke_between(&before, &slept), 0);
    ck_assert_int_eq(ids_thread_woke_between(&unknown, &woke), 0);
}
END_TEST

/* Of 2000 ns the thread ran 600 and waited 400. A wait that is counted with its end, or after a sample that took 334
 * us, is more than the clocks allow between the two samples: it is cut to that. */
START_TEST(waits_within_the_clocks) {
    const struct ids_thread_clock before = {100, 50, 1000}, now = {700, 450, 3000}, late = {700, 334450, 3000},
                                  busy = {2150, 334450, 3000};
    struct ids_core_wait wait = ids_core_wait_between(&before, &now, 0);
    ck_assert_int_eq(wait.start_ns, 1800); /* 2000 - 400 and half of the rest behind it */
    ck_assert_int_eq(wait.end_ns, 2200);
    wait = ids_core_wait_between(&before, &now, 1);
    ck_assert_int_eq(wait.start_ns, 2000);
    ck_assert_int_eq(wait.end_ns, 2400);
    for (int is_seen = 0; is_seen < 2; is_seen++) {
        wait = ids_core_wait_between(&before, &late, is_seen);
        ck_assert_int_eq(wait.end_ns - wait.start_ns, 1400);
        ck_assert_int_ge(wait.start_ns, before.at_ns);
        ck_assert_int_le(wait.end_ns, now.at_ns);
        wait = ids_core_wait_between(&before, &busy, is_seen);
        ck_assert_int_eq(wait.end_ns, wait.start_ns);
    }
}
END_TEST

static void *run_until_told(void *told) {
    while (!atomic_load((atomic_int *)told)) continue;
    return NULL;
}

/* What the kernel says of a thread that runs: more each time. */
START_TEST(threads_that_run) {
    static struct ids_other_threads before, now;
    atomic_int told = 0;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run_until_told, &told), 0);
    while (!ids_other_threads_read(&before, 1)) continue;
    ck_assert_int_eq(ids_other_threads_read(&before, 1), 1);
    int is_known = before.count > 0; /* a kernel without CONFIG_SCHED_INFO says nothing */
    for (int64_t ran_ns = 0; is_known && ran_ns < 1000000;) {
        usleep(1000);
        ids_other_threads_forget(&now);
        ck_assert_int_eq(ids_other_threads_read(&now, SIZE_MAX), 1);
        ck_assert_int_ge((int64_t)now.count, 2);
        ran_ns = ids_other_threads_since(&before, &now, is_second, NULL).ran_ns;
    }
    atomic_store(&told, 1);
    pthread_join(thread, NULL);
}
END_TEST

struct reader {
    _Atomic int64_t tid;
    atomic_int ends;
    int pipe[2];
};

static void *read_pipe(void *context) {
    struct reader *reader = context;
    char byte;
    atomic_store(&reader->tid, (int64_t)gettid());
    return read(reader->pipe[0], &byte, 1) == 1 ? context : NULL;
}

/* One waits for what comes through a pipe, and this one runs. A kernel may hide it (no CONFIG_HAVE_ARCH_TRACEHOOK). */
START_TEST(threads_that_read) {
    const struct ids_python_gil gil = {0, 0};
    struct reader reader = {.tid = 0};
    pthread_t thread;
    void *has_read = NULL;
    int is_known = !access("/proc/self/syscall", R_OK);
    ck_assert_int_eq(pipe(reader.pipe), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_pipe, &reader), 0);
    while (!atomic_load(&reader.tid)) usleep(100);
    uint64_t tid = (uint64_t)atomic_load(&reader.tid);
    for (int i = 0; is_known && i < 10000 && ids_thread_waits_for(&gil, tid) != IDS_THREAD_READS; i++) usleep(1000);
    if (is_known) ck_assert_int_eq(ids_thread_waits_for(&gil, tid), IDS_THREAD_READS);
    ck_assert_int_ne(ids_thread_waits_for(&gil, (uint64_t)gettid()), IDS_THREAD_WAITS_FOR_GIL);
    ck_assert_int_eq(ids_thread_waits_for(&gil, 0), IDS_THREAD_WAITS_NOT);
    ck_assert_int_eq(write(reader.pipe[1], "x", 1), 1);
    pthread_join(thread, &has_read);
    ck_assert_ptr_eq(has_read, &reader);
    ids_thread_waits_done();
    for (int end = 0; end < 2; end++) close(reader.pipe[end]);
}
END_TEST

static void *sleep_long(void *context) {
    struct reader *reader = context;
    atomic_store(&reader->tid, (int64_t)gettid());
    for (struct timespec left = {5, 0}; !atomic_load(&reader->ends) && nanosleep(&left, &left);) {
    }
    return context;
}

static void *spin(void *context) {
    struct reader *reader = context;
    atomic_store(&reader->tid, (int64_t)gettid());
    while (!atomic_load(&reader->ends)) {
    }
    return context;
}

static void do_nothing(int signal) {
    (void)signal;
}

/* What one does that is in no call, or in one that only lets time pass. */
static void expect_waits(void *(*does)(void *), enum ids_thread_waits expected) {
    const struct ids_python_gil gil = {0, 0};
    struct reader reader = {.tid = 0};
    pthread_t thread;
    if (access("/proc/self/syscall", R_OK)) return;
    signal(SIGUSR2, do_nothing);
    ck_assert_int_eq(pthread_create(&thread, NULL, does, &reader), 0);
    while (!atomic_load(&reader.tid)) usleep(100);
    uint64_t tid = (uint64_t)atomic_load(&reader.tid);
    enum ids_thread_waits waits = IDS_THREAD_WAITS_NOT;
    for (int i = 0; i < 1000 && waits != expected; i++, usleep(1000)) waits = ids_thread_waits_for(&gil, tid);
    atomic_store(&reader.ends, 1);
    pthread_kill(thread, SIGUSR2);
    pthread_join(thread, NULL);
    ids_thread_waits_done();
    ck_assert_int_eq(waits, expected);
}

START_TEST(threads_that_sleep) {
    expect_waits(sleep_long, IDS_THREAD_SLEEPS);
    expect_waits(spin, IDS_THREAD_RUNS);
}
END_TEST

static const char *told(const char *called, enum ids_thread_waits waits) {
    static char text[IDS_SAMPLED_NAME];
    const char *name = ids_sampled_told(called, waits, text);
    return name ? name : "";
}

/* The words of a call are the program's, who may call sleep as it likes; what they say already is not said again. */
START_TEST(calls_by_what_the_kernel_says) {
    ck_assert_str_eq(told("$builtins nap", IDS_THREAD_SLEEPS), "$builtins nap (sleeps)");
    ck_assert_str_eq(told("$libc usleep", IDS_THREAD_SLEEPS), "$libc usleep (sleeps)");
    ck_assert_str_eq(told("$time sleep", IDS_THREAD_SLEEPS), "$time sleep");
    ck_assert_str_eq(told(NULL, IDS_THREAD_SLEEPS), "$<unknown> sleep");
    ck_assert_str_eq(told("$pickle load", IDS_THREAD_READS), "$pickle load (reads)");
    ck_assert_str_eq(told("$sock recv_into", IDS_THREAD_READS), "$sock recv_into");
    ck_assert_str_eq(told("$f readline", IDS_THREAD_READS), "$f readline");
    ck_assert_str_eq(told(NULL, IDS_THREAD_READS), "$io read");
    ck_assert_str_eq(told("$buf read", IDS_THREAD_RUNS), "$buf read (does not wait)");
    ck_assert_str_eq(told("$time sleep", IDS_THREAD_RUNS), "$time sleep (awake)");
    ck_assert_str_eq(told("$buf read", IDS_THREAD_WAITS_NOT), "$buf read"); /* a kernel that does not say it */
    ck_assert_str_eq(told("$json dumps", IDS_THREAD_RUNS), "$json dumps");
    ck_assert_str_eq(told("$<unknown> __enter__", IDS_THREAD_READS), "$<unknown> __enter__");
    ck_assert_str_eq(told(NULL, IDS_THREAD_RUNS), "");
}
END_TEST

/* --- what a file says of its threads ---------------------------------------------------------------------------- */

START_TEST(lines_of_a_file) {
    char path[] = "/tmp/test_stacks.XXXXXX", why[128];
    close(mkstemp(path));
    struct ids_xspace_out *out = ids_xspace_open(path, 0, why, sizeof why);
    ids_xspace_plane_begin(out, 1, "/device:GPU:0");
    ids_xspace_line_begin(out, 7, "Stream", 0);
    ids_xspace_line_end(out);
    ids_xspace_plane_end(out);
    ids_xspace_plane_begin(out, 2, "/host:CPU");
    ids_xspace_line_begin(out, -2437763698095703031, "python", 0);
    ids_xspace_event_begin(out, ids_xspace_name(out, "e"), 1, 2);
    ids_xspace_event_end(out);
    ids_xspace_line_end(out);
    ids_xspace_line_begin(out, 12, "pool", 0);
    ids_xspace_line_end(out);
    ids_xspace_plane_end(out);
    ids_xspace_plane_begin(out, 3, "Task Environment");
    ids_xspace_uint(out, "profile_stop_time", 5);
    ids_xspace_uint(out, "profile_start_time", 1795402972464357717u);
    ids_xspace_plane_end(out);
    ck_assert_int_eq(ids_xspace_close(out, NULL, why, sizeof why), 0);
    struct ids_xspace_lines lines;
    ck_assert_int_eq(ids_xspace_lines_read(path, &lines), 0);
    ck_assert_int_eq(lines.zero_ns, 1795402972464357717);
    ck_assert_int_eq(ids_xspace_lines_have(&lines, (uint64_t)-2437763698095703031), 1);
    ck_assert_int_eq(ids_xspace_lines_have(&lines, 12), 1);
    ck_assert_int_eq(ids_xspace_lines_have(&lines, 7), 0); /* of a device */
    ids_xspace_lines_done(&lines);
    ck_assert_int_eq(truncate(path, 60), 0); /* a file that was cut */
    ck_assert_int_eq(ids_xspace_lines_read(path, &lines), 0);
    ids_xspace_lines_done(&lines);
    unlink(path);
    ck_assert_int_eq(ids_xspace_lines_read(path, &lines), -1);
}
END_TEST

/* A spell is what a run did when at least half of the run lies in it, on that thread; the last ones are kept. */
START_TEST(spells_of_a_run) {
    static const struct ids_sample_run run = {.first_ns = 1000, .last_ns = 2000},
                                       moment = {.first_ns = 700, .last_ns = 700};
    char names[IDS_SPELLS_AT_ONCE][IDS_SPELL_NAME];
    ids_spells_forget();
    ck_assert_uint_eq(ids_spells_of(1, &run, names), 0);
    ids_spells_add(1, 600, 1499, "$a.py:1 collect garbage");
    ck_assert_uint_eq(ids_spells_of(1, &run, names), 0);
    ck_assert_uint_eq(ids_spells_of(1, &moment, names), 1);
    ck_assert_str_eq(names[0], "$a.py:1 collect garbage");
    ids_spells_add(2, 1000, 2000, "$b.py:2 collect garbage");
    ck_assert_uint_eq(ids_spells_of(1, &run, names), 0);
    ids_spells_add(1, 1500, 9000, "$c.py:3 await fetch");
    ids_spells_add(1, 1500, 9000, "$asyncio poll");
    ids_spells_add(1, 1000, 2000, "$d.py:4 await beyond");
    ck_assert_uint_eq(ids_spells_of(1, &run, names), 2);
    ck_assert_str_eq(names[0], "$c.py:3 await fetch");
    ck_assert_str_eq(names[1], "$asyncio poll");
    for (int i = 0; i < 100; i++) ids_spells_add(3, 0, 9000, "$e.py:5 collect garbage");
    ck_assert_uint_eq(ids_spells_of(1, &run, names), 0);
    ck_assert_uint_eq(ids_spells_of(3, &run, names), 1); /* the same one is said once */
    ids_spells_forget();
    ck_assert_uint_eq(ids_spells_of(3, &run, names), 0);
}
END_TEST

IDS_RUN_SUITE("stacks", lines_with_columns, lines_of_pairs, calls_by_their_text, body_on_the_line_of_a_with,
              paths_by_their_owner, slices_of_samples, slices_of_wakes, wakes_of_a_thread, dense_samples,
              samples_of_a_slice, waits_for_a_core, stacks_again, threads_of_a_list, threads_that_stand_still,
              threads_that_begin, threads_that_have_ended, pieces_of_memory, periods, periods_by_cost,
              periods_by_chance, times_of_others, schedstat_of_a_thread, waits_within_the_clocks, threads_that_run,
              threads_that_read, threads_that_sleep, calls_by_what_the_kernel_says, lines_of_a_file, spells_of_a_run)
