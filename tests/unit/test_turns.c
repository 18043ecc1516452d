/* lib/analysis/booking.c: turns of a thread beside a gap are summed up, by blocks of them too, and the ledger is the
 * one that is made of single intervals. Over texts of formats/mini.c. */
#include "lib/analysis/analysis.h"
#include "lib/analysis/context.h"
#include "lib/analysis/strip.h"
#include "lib/analysis/turn_sums.h"
#include "lib/base/parallel.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct ids_error err = IDS_ERROR_INIT;

/* ---- a program whose loop turns while all devices wait ---- */

enum { DEVICES = 3, STEPS = 8, CALLS = 200 };

static uint32_t state;

static int some(int most) {
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % most;
}

struct text {
    char *at;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *text, const char *format, ...) {
    enum { LINE_BYTES = 256 };
    va_list values;
    text->at = realloc(text->at, text->used + LINE_BYTES);
    ck_assert_ptr_nonnull(text->at);
    va_start(values, format);
    text->used += (size_t)vsnprintf(text->at + text->used, LINE_BYTES, format, values);
    va_end(values);
}

/* An event of a line. */
#define put(text, from_ns, length_ns, ...)                                         \
    do {                                                                           \
        say(text, "%lldns %lldns ", (long long)(from_ns), (long long)(length_ns)); \
        say(text, __VA_ARGS__);                                                    \
        say(text, "\n");                                                           \
    } while (0)

static void take(struct text *text, struct text *rest) {
    text->at = realloc(text->at, text->used + rest->used + 1);
    ck_assert_ptr_nonnull(text->at);
    memcpy(text->at + text->used, rest->at, rest->used + 1);
    text->used += rest->used;
    free(rest->at);
    *rest = (struct text){0};
}

static struct program {
    int functions; /* so many, which a loop calls one after the other */
    int has_long_calls;
    int has_library;  /* some calls do what they do in a library */
    int has_launcher; /* another thread, with a loop of its own of the same functions, launches */
    int64_t last_ns;  /* how long the last step's work takes: the window's length, and that of the strip's cells */
} program;

/* load() calls its functions again and again. Returns when it ends. */
static int64_t put_loop(struct text *text, int64_t now_ns, int step) {
    struct text calls = {0};
    const int64_t began_ns = now_ns;
    for (int call = 0; call < CALLS; call++) {
        int64_t length_ns = 100 + some(800), from_ns = now_ns + 50 + some(300);
        if (program.has_long_calls && !some(12)) length_ns = 15000 + some(1000) * 50;
        if (step == 2 && call == CALLS / 4) length_ns = 90000; /* the longest, and two in one block that follow it */
        if (step == 2 && (call == CALLS / 2 || call == CALLS / 2 + 4)) length_ns = 80000 + call;
        put(&calls, from_ns, length_ns, "\"$read.py:%d part%d\"", 7 + call % program.functions,
            call % program.functions);
        if (program.has_library && !some(9)) put(&calls, from_ns + 20, length_ns / 2, "\"$builtins len\"");
        now_ns += 400 + length_ns;
    }
    put(text, began_ns, now_ns - began_ns, "\"$read.py:5 load\"");
    take(text, &calls);
    return now_ns;
}

/* A kernel and a collective on each device. Returns when they end. */
static int64_t put_work(struct text *launches, struct text *devices, int64_t now_ns, int step) {
    const int64_t end_ns = now_ns + (step + 1 < STEPS ? 30000 : program.last_ns);
    for (int d = 0; d < DEVICES; d++) {
        const int id = 1 + 2 * (DEVICES * step + d);
        const int64_t at_ns = now_ns + 10 + d * 1000, work_ns = at_ns + 300 + d * 700;
        put(launches, at_ns, 200, "cudaLaunchKernel correlation_id=%d", id);
        put(launches, at_ns + 400, 200, "cudaLaunchKernel correlation_id=%d", id + 1);
        put(&devices[d], work_ns, 4000, "k correlation_id=%d", id);
        put(&devices[d], work_ns + 5000, end_ns - work_ns - 5000, "ncclDevKernel_AllReduce_x correlation_id=%d",
            id + 1);
    }
    return end_ns;
}

/* To be freed. */
static char *text_of_program(void) {
    struct text text = {0}, launcher = {0}, devices[DEVICES] = {0};
    int64_t now_ns = 100000;
    state = (uint32_t)program.last_ns;
    say(&text, "host a start_unix_ns=1000000000\nplane /host:CPU\nline 9 t\n");
    say(&launcher, "line 10 launcher\n");
    for (int d = 0; d < DEVICES; d++) say(&devices[d], "plane /device:GPU:%d\nline 1 \"Stream #1\"\n", d);
    for (int step = 0; step < STEPS; step++) {
        const int64_t began_ns = now_ns;
        now_ns = put_loop(&text, now_ns, step);
        if (program.has_launcher) {
            int64_t end_ns = put_loop(&launcher, began_ns, step);
            if (end_ns > now_ns) now_ns = end_ns;
            put(&text, now_ns + 1, 5, "Queue _pt=3 _p=%d", step + 1);
            put(&launcher, now_ns + 8, 5000, "Task _ct=3 _c=%d", step + 1);
        }
        /* each second step begins amid the loop */
        const int64_t mark_ns = began_ns + (step % 2 ? (now_ns - began_ns) / 3 : -20);
        put(&text, mark_ns, now_ns - mark_ns + 6000, "train step_num=%d _r=1", step);
        now_ns = put_work(program.has_launcher ? &launcher : &text, devices, now_ns, step) - 20000;
    }
    if (program.has_launcher) take(&text, &launcher);
    free(launcher.at);
    for (int d = 0; d < DEVICES; d++) take(&text, &devices[d]);
    return text.at;
}

/* ---- its ledger in words ---- */

static size_t heard;

static int hear(void *context, const struct ids_ledger_interval *interval, struct ids_error *ignored) {
    (void)context;
    (void)interval;
    (void)ignored;
    heard++;
    return 0;
}

static void hear_entry(void *context, uint32_t busy, size_t interval, uint32_t entry) {
    (void)context;
    (void)busy;
    (void)interval;
    (void)entry;
}

static void say_entries(FILE *to, const struct ids_ledger *ledger) {
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        fprintf(to, "%zu %s %s (%s) %llu longest %lld at %lld on %u squares %.17g steps %zu recorded %s\n", e,
                ids_account_id((enum ids_account)entry->account), ids_strings_z(&ledger->texts, entry->culprit),
                ids_strings_z(&ledger->texts, entry->where), (unsigned long long)entry->intervals,
                (long long)entry->longest_ps, (long long)entry->longest_at_ps, entry->longest_device, entry->squares,
                (size_t)entry->recurs.steps, ids_strings_z(&ledger->texts, entry->recorded));
        for (int known = 0; known < IDS_KNOWN_COUNT; known++) fprintf(to, " %lld", (long long)entry->time_ps[known]);
        fprintf(to, " in window %lld cause %u awaited %u\n", (long long)entry->in_window_ps, entry->cause,
                entry->awaited);
    }
    for (size_t s = 0; s < ledger->share_count; s++) {
        const struct ids_entry_share *share = &ledger->shares[s];
        fprintf(to, "share %u %u %lld behind %lld %u queued %lld %lld\n", share->device, share->entry,
                (long long)share->ps, (long long)share->behind_ps, share->behind, (long long)share->queued_ps[0],
                (long long)share->queued_ps[1]);
    }
}

static void say_accounts(FILE *to, const struct ids_analysis *analysis) {
    const struct ids_ledger *ledger = &analysis->ledger;
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        for (size_t d = 0; d < analysis->busy_count; d++) {
            fprintf(to, "%d %lld %lld", a, (long long)ledger->in_window[d].ps[a], (long long)ledger->idle[d].ps[a]);
            for (size_t s = ledger->first_step[d]; s < ledger->first_step[d + 1]; s++)
                fprintf(to, " %lld", (long long)ledger->in_step[s].ps[a]);
            fprintf(to, "\n");
        }
        for (size_t i = 0; i < ledger->longest[a].count; i++) {
            const struct ids_ledger_interval *at = &ledger->longest[a].at[i];
            fprintf(to, "longest %d %u %u [%lld,%lld)\n", a, at->busy, at->entry, (long long)at->from_ps,
                    (long long)at->to_ps);
        }
    }
    for (size_t d = 0; d < analysis->busy_count; d++) {
        fprintf(to, "%s\n", ledger->strips + d * (IDS_STRIP_CELLS + 1));
        for (size_t g = 0; g < analysis->busy[d].gap_count; g++) fprintf(to, " %u", analysis->busy[d].gaps[g].entry);
        fprintf(to, "\n");
    }
}

/* To be freed. Its intervals are heard of where `single`, so that nothing is summed up. */
static char *ledger_of(const char *text, int single, unsigned jobs) {
    const struct ids_ledger_visitor visitor = {.interval = hear, .entry = hear_entry};
    struct ids_trace *trace = mini_trace(text);
    struct ids_analysis analysis = {.trace = trace};
    char *words = NULL;
    size_t length = 0;
    ids_params_default(&analysis.params);
    ck_assert_int_eq(ids_steps_make(&analysis, &err), 0);
    ck_assert_int_eq(ids_busy_make(&analysis, &err), 0);
    ck_assert_int_eq(ids_steps_trim(&analysis, &err), 0);
    heard = 0;
    ids_jobs_set(jobs, 0);
    ck_assert_msg(!ids_ledger_make(&analysis, single ? &visitor : NULL, NULL, &err), "%s", err.text);
    ids_jobs_set(1, 0);
    ck_assert_uint_eq(analysis.steps.count, STEPS);
    ck_assert_uint_eq(analysis.busy_count, DEVICES);
    FILE *to = open_memstream(&words, &length);
    ck_assert_ptr_nonnull(to);
    say_entries(to, &analysis.ledger);
    say_accounts(to, &analysis);
    fclose(to);
    ids_analysis_done(&analysis);
    ids_trace_free(trace);
    return words;
}

/* How long both begin alike, to the begin of a line. */
static size_t same_length(const char *a, const char *b) {
    size_t line = 0, i = 0;
    for (; a[i] && a[i] == b[i]; i++) {
        if (a[i] == '\n') line = i + 1;
    }
    return a[i] == b[i] ? i : line;
}

static void assert_same(struct program of) {
    program = of;
    char *text = text_of_program(), *single = ledger_of(text, 1, 1);
    ck_assert_uint_gt(heard, DEVICES * STEPS * CALLS); /* all of them wait for all of the loop */
    for (unsigned jobs = 1; jobs < 4; jobs++) {
        char *summed_up = ledger_of(text, 0, jobs);
        size_t same = same_length(summed_up, single);
        ck_assert_msg(!summed_up[same] && !single[same], "%u jobs: %.150s, not %.150s", jobs, summed_up + same,
                      single + same);
        free(summed_up);
    }
    free(single);
    free(text);
}

START_TEST(sums_of_turns_are_those_of_intervals) {
    static const int64_t last_ns[] = {30000, 2000000, 20000000, 27000000, 60000000, 300000000};
    for (size_t i = 0; i < sizeof last_ns / sizeof *last_ns; i++) {
        assert_same((struct program){.functions = 1, .last_ns = last_ns[i]});
        assert_same((struct program){.functions = 1, .has_long_calls = 1, .last_ns = last_ns[i]});
        assert_same((struct program){.functions = 3, .has_long_calls = 1, .last_ns = last_ns[i]});
        assert_same((struct program){.functions = 2, .has_library = 1, .last_ns = last_ns[i]});
        assert_same((struct program){.functions = 2, .has_long_calls = 1, .has_launcher = 1, .last_ns = last_ns[i]});
        assert_same((struct program){.functions = IDS_BLOCK_DOINGS, .has_long_calls = 1, .last_ns = last_ns[i]});
    }
}
END_TEST

/* ---- blocks ---- */

/* Turns of these lengths, in picoseconds, by doings that come one after the other. */
static void fill(struct ids_timeline *timeline, size_t count, uint32_t doings, int64_t length_ps) {
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(ids_timeline_turn(timeline, (int64_t)i * length_ps, 1 + (uint32_t)i % doings), 0);
}

START_TEST(a_block_has_sums_without_its_last_turn) {
    struct ids_timeline timeline = {0};
    struct ids_turn_sums sums = {0};
    fill(&timeline, 2 * IDS_BLOCK_TURNS, 2, 10);
    timeline.from_ps[5] += 3; /* turn 4 takes 13, and turn 5 takes 7 */
    ids_turn_sums_begin(&sums, &timeline);
    const struct ids_turn_block *block = ids_turn_block_at(&sums, 0, INT64_MAX);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq(block->count, 2);
    ck_assert_uint_eq(block->at[0].doing, 1);
    ck_assert_uint_eq(block->at[0].turns, IDS_BLOCK_TURNS / 2);
    ck_assert_int_eq(block->at[0].ps, IDS_BLOCK_TURNS / 2 * 10 + 3);
    ck_assert_uint_eq(block->at[0].longest, 4);
    ck_assert_uint_eq(block->at[1].turns, IDS_BLOCK_TURNS / 2 - 1);
    ck_assert_int_eq(block->at[1].ps, (IDS_BLOCK_TURNS / 2 - 1) * 10 - 3);
    ck_assert_uint_eq(block->at[1].longest, 1);
    ck_assert_int_eq(block->longest_ps, 13);
    ck_assert_uint_eq(block->long_ones, 0);
    /* one that begins elsewhere, that does not end in time, whose last turn has no end */
    ck_assert_ptr_null(ids_turn_block_at(&sums, 1, INT64_MAX));
    ck_assert_ptr_null(ids_turn_block_at(&sums, 0, IDS_BLOCK_TURNS * 10 - 1));
    ck_assert_ptr_eq(ids_turn_block_at(&sums, 0, IDS_BLOCK_TURNS * 10), block);
    ck_assert_ptr_null(ids_turn_block_at(&sums, IDS_BLOCK_TURNS, INT64_MAX));
    ids_turn_sums_begin(&sums, &timeline);
    ck_assert_ptr_eq(ids_turn_block_at(&sums, 0, INT64_MAX), block); /* it stays */
    ids_turn_sums_begin(&sums, NULL);
    ck_assert_ptr_null(sums.at);
    ids_timeline_done(&timeline);
}
END_TEST

START_TEST(few_doings_and_long_turns) {
    struct ids_timeline timeline = {0}, other = {0}, twice = {0};
    struct ids_turn_sums sums = {0};
    fill(&timeline, IDS_BLOCK_TURNS + 1, IDS_BLOCK_DOINGS + 1, 10);
    ids_turn_sums_begin(&sums, &timeline);
    ck_assert_ptr_null(ids_turn_block_at(&sums, 0, INT64_MAX));
    fill(&other, IDS_BLOCK_TURNS + 1, IDS_BLOCK_DOINGS, INT64_C(20000000));
    ids_turn_sums_begin(&sums, &other);
    const struct ids_turn_block *block = ids_turn_block_at(&sums, 0, INT64_MAX);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq(block->count, IDS_BLOCK_DOINGS);
    ck_assert_uint_eq(block->long_ones, UINT32_MAX >> 1);
    /* the same twice in a row is one interval */
    fill(&twice, IDS_BLOCK_TURNS + 1, 2, 10);
    twice.doing[8] = twice.doing[7];
    ids_turn_sums_begin(&sums, &twice);
    ck_assert_ptr_null(ids_turn_block_at(&sums, 0, INT64_MAX));
    ids_turn_sums_done(&sums);
    ids_timeline_done(&timeline);
    ids_timeline_done(&other);
    ids_timeline_done(&twice);
}
END_TEST

IDS_RUN_SUITE("turns", sums_of_turns_are_those_of_intervals, a_block_has_sums_without_its_last_turn,
              few_doings_and_long_turns)
