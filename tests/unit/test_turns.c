/* lib/analysis/booking.c: turns of a thread beside a gap are summed up, by blocks of them too, and the ledger is the
 * one that is made of single intervals. Over texts of formats/mini.c. */
#include "lib/analysis/analysis.h"
#include "lib/analysis/context.h"
#include "lib/analysis/strip.h"
#include "lib/analysis/turn_sums.h"
#include "lib/base/parallel.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdio.h>

static struct ids_error err = IDS_ERROR_INIT;

/* ---- a program whose loop turns while all devices wait ---- */

enum { DEVICES = 3, STEPS = 8, CALLS = 160, TEXT_BYTES = 1 << 20 };

static uint32_t state;

static int some(int most) {
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % most;
}

static size_t put_line(char *text, size_t used, int64_t from_ns, int64_t length_ns, const char *rest) {
    return used + (size_t)snprintf(text + used, TEXT_BYTES - used, "%lldns %lldns %s\n", (long long)from_ns,
                                   (long long)length_ns, rest);
}

/* In each step load() calls one of so many functions again and again; some calls are long. */
static char *program(int functions, int long_ones) {
    char *text = malloc(TEXT_BYTES), *rest[DEVICES] = {0}, line[128];
    size_t used = 0, of[DEVICES] = {0};
    int64_t now_ns = 1000;
    ck_assert_ptr_nonnull(text);
    state = 7;
    used += (size_t)snprintf(text, TEXT_BYTES, "host a start_unix_ns=1000000000\nplane /host:CPU\nline 9 t\n");
    for (int d = 0; d < DEVICES; d++) {
        rest[d] = malloc(TEXT_BYTES);
        ck_assert_ptr_nonnull(rest[d]);
        of[d] = (size_t)snprintf(rest[d], TEXT_BYTES, "plane /device:GPU:%d\nline 1 \"Stream #1\"\n", d);
    }
    for (int step = 0; step < STEPS; step++) {
        const int64_t began_ns = now_ns;
        char *host = malloc(TEXT_BYTES);
        size_t host_used = 0;
        ck_assert_ptr_nonnull(host);
        for (int call = 0; call < CALLS; call++) {
            int64_t length_ns = 100 + some(800);
            if (long_ones && !some(30)) length_ns = 20000 + some(4) * 10000;
            if (call == CALLS / 2 && step % 2) length_ns = 50000;
            snprintf(line, sizeof line, "\"$read.py:%d part%d\"", 7 + call % functions, call % functions);
            host_used = put_line(host, host_used, now_ns + 50 + some(300), length_ns, line);
            now_ns += 400 + length_ns;
        }
        used = put_line(text, used, began_ns, now_ns - began_ns, "\"$train.py:5 load\"");
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s", host);
        free(host);
        snprintf(line, sizeof line, "train step_num=%d _r=1", step);
        used = put_line(text, used, began_ns - 10, now_ns - began_ns + 6000, line);
        const int64_t end_ns = now_ns + 30000;
        for (int d = 0; d < DEVICES; d++) {
            for (int kernel = 0; kernel < 2; kernel++) {
                int id = 1 + 2 * (DEVICES * step + d) + kernel;
                const int64_t at_ns = now_ns + 10 + d * 1000 + kernel * 400, work_ns = at_ns + 300 + d * 700;
                snprintf(line, sizeof line, "cudaLaunchKernel correlation_id=%d", id);
                used = put_line(text, used, at_ns, 200, line);
                snprintf(line, sizeof line, "%s correlation_id=%d", kernel ? "ncclDevKernel_AllReduce_x" : "k", id);
                of[d] = kernel ? put_line(rest[d], of[d], work_ns + 5000, end_ns - work_ns - 5000, line)
                               : put_line(rest[d], of[d], work_ns, 4000, line);
            }
        }
        now_ns = end_ns - 20000; /* the loop goes on while devices work */
    }
    for (int d = 0; d < DEVICES; d++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s", rest[d]);
        free(rest[d]);
    }
    ck_assert_uint_lt(used, TEXT_BYTES - 1);
    return text;
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

static void hear_entry(void *context, size_t interval, uint32_t entry) {
    (void)context;
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
    const struct ids_ledger_visitor visitor = {hear, hear_entry, NULL};
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

static void assert_same(int functions, int long_ones) {
    char *text = program(functions, long_ones), *single = ledger_of(text, 1, 1);
    ck_assert_uint_gt(heard, DEVICES * STEPS * CALLS); /* all of them wait for all of the loop */
    for (unsigned jobs = 1; jobs < 4; jobs++) {
        char *summed_up = ledger_of(text, 0, jobs);
        ck_assert_str_eq(summed_up, single);
        free(summed_up);
    }
    free(single);
    free(text);
}

START_TEST(sums_of_turns_are_those_of_intervals) {
    assert_same(1, 0);
    assert_same(1, 1);
    assert_same(3, 1);
    assert_same(IDS_BLOCK_DOINGS, 1); /* too many with the loop itself */
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
