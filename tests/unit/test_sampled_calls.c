/* lib/model: sampled_calls. A call is an event's where samples saw both together, and no other call more. */
#include "lib/model/account.h"
#include "lib/model/sampled_calls.h"
#include "lib/model/trace.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

/* What samples see, and what the thread's events show: indices of doings, which are names too. */
enum {
    NOTHING,
    LAUNCH,
    OTHER_LAUNCH,
    WAIT,
    STEP,
    OTHER_LINE,
    READ,
    NO_CALL,
    NO_CALL_BELOW,
    SYNC,
    BY_NAME,
    MAIN,
    MAIN_BELOW,
    HASH,
    HASH_IN_SELF,
    HASH_READS,
    PART,
    COUNT
};

static struct ids_trace trace;
static struct ids_timeline recorded, sampled;
static struct ids_stack_sample samples[64];
static size_t sample_count;

static void add(uint32_t doing, const char *name, uint8_t account, uint32_t caller) {
    uint32_t text = ids_intern_z(&trace.strings, name);
    trace.names[doing] = (struct ids_name){.text = text};
    int is_called = account == IDS_HOST_PYTHON && doing != NO_CALL && doing != NO_CALL_BELOW;
    trace.doings[doing] =
        (struct ids_doing){doing, doing, caller, is_called || doing == SYNC ? doing : IDS_NONE, .account = account};
}

static void setup(void) {
    trace = (struct ids_trace){.names = calloc(COUNT, sizeof *trace.names),
                               .doings = calloc(COUNT, sizeof *trace.doings),
                               .name_count = COUNT,
                               .doing_count = COUNT};
    ck_assert(trace.names && trace.doings);
    add(NOTHING, "", IDS_NO_ACCOUNT, IDS_NONE);
    add(LAUNCH, "PjitFunction(train_step)", IDS_HOST_DISPATCH, IDS_NONE);
    add(OTHER_LAUNCH, "PjitFunction(loss)", IDS_HOST_DISPATCH, IDS_NONE);
    add(WAIT, "CommonPjRtBuffer::Await", IDS_HOST_SYNC, IDS_NONE);
    add(STEP, "$self step", IDS_HOST_PYTHON, MAIN);
    add(OTHER_LINE, "$self step", IDS_HOST_PYTHON, MAIN_BELOW);
    trace.doings[OTHER_LINE].called = STEP; /* a name is there once */
    add(READ, "$file read", IDS_HOST_PYTHON, MAIN);
    add(NO_CALL, "", IDS_HOST_PYTHON, MAIN);
    add(NO_CALL_BELOW, "", IDS_HOST_PYTHON, MAIN_BELOW);
    add(SYNC, "$self result", IDS_HOST_SYNC, MAIN);
    add(BY_NAME, "$mine train_step", IDS_HOST_PYTHON, MAIN);
    add(MAIN, "$train.py:10 main", IDS_HOST_PYTHON, IDS_NONE);
    add(MAIN_BELOW, "$train.py:12 main", IDS_HOST_PYTHON, IDS_NONE);
    add(HASH, "", IDS_HOST_PYTHON, MAIN);
    trace.doings[HASH].called = IDS_NONE;
    trace.doings[HASH].inside = BY_NAME + 1;
    trace.doings[HASH_IN_SELF] = trace.doings[HASH_READS] = trace.doings[HASH];
    trace.doings[HASH_IN_SELF].inside = trace.doings[HASH_READS].inside = STEP + 1;
    trace.doings[HASH_READS].called = READ;
    add(PART, "ParseArguments", IDS_HOST_DISPATCH, IDS_NONE);
    trace.doings[PART].around = LAUNCH;
    recorded = sampled = (struct ids_timeline){0};
    sample_count = 0;
}

static void teardown(void) {
    ids_strings_done(&trace.strings);
    free(trace.names);
    free(trace.doings);
    ids_timeline_done(&recorded);
    ids_timeline_done(&sampled);
}

/* So many samples saw the thread in the call, and its events show that. */
static void see(size_t count, uint32_t events, uint32_t frames) {
    for (; count > 0; count--) {
        int64_t when_ps = (int64_t)(100 * (sample_count + 1));
        ck_assert_int_eq(ids_timeline_turn(&recorded, when_ps, events), 0);
        ck_assert_int_eq(ids_timeline_turn(&sampled, when_ps, frames), 0);
        samples[sample_count++] = (struct ids_stack_sample){.when_ps = when_ps + 50};
    }
}

static int are_one(uint32_t events, uint32_t frames) {
    struct ids_sampled_calls calls;
    ck_assert_int_eq(ids_sampled_calls_find(&calls, &trace, &recorded, &sampled, samples, sample_count), 0);
    int is = ids_sampled_calls_are_one(&calls, &trace, events, frames);
    ids_sampled_calls_done(&calls);
    return is;
}

static int runs(uint32_t events, uint32_t frames) {
    struct ids_sampled_calls calls;
    ck_assert_int_eq(ids_sampled_calls_find(&calls, &trace, &recorded, &sampled, samples, sample_count), 0);
    int is = ids_sampled_calls_runs(&calls, &trace, events, frames);
    ids_sampled_calls_done(&calls);
    return is;
}

/* The call of a jitted function has a __hash__ of the program's run before it launches. */
START_TEST(a_launch_runs_what_is_called_in_it) {
    ck_assert(runs(LAUNCH, HASH)); /* "$mine train_step" */
    ck_assert(!runs(OTHER_LAUNCH, HASH));
    ck_assert(!runs(PART, HASH));
    ck_assert(!runs(WAIT, HASH));
    ck_assert(!runs(LAUNCH, STEP));
    ck_assert(!are_one(LAUNCH, HASH));
}
END_TEST

START_TEST(a_launch_of_another_name_runs_what_is_seen_in_it) {
    ck_assert(!runs(LAUNCH, HASH_IN_SELF));
    see(4, LAUNCH, HASH_IN_SELF);
    ck_assert(runs(LAUNCH, HASH_IN_SELF));
    ck_assert(!runs(OTHER_LAUNCH, HASH_IN_SELF));
    ck_assert(!are_one(LAUNCH, STEP)); /* nobody saw it call */
}
END_TEST

/* The function that a call of C runs calls something itself: that may be the launch. */
START_TEST(what_calls_itself_may_launch) {
    see(4, LAUNCH, HASH_READS);
    ck_assert(!runs(LAUNCH, HASH_READS));
    ck_assert(are_one(LAUNCH, HASH_READS));
}
END_TEST

START_TEST(what_is_seen_together_is_one) {
    see(4, LAUNCH, STEP);
    ck_assert(are_one(LAUNCH, STEP));
    ck_assert(are_one(LAUNCH, OTHER_LINE)); /* another line of the function */
    ck_assert(!are_one(OTHER_LAUNCH, STEP));
    ck_assert(!are_one(LAUNCH, READ));
    ck_assert(!are_one(LAUNCH, NO_CALL));
    ck_assert(!are_one(WAIT, STEP));
}
END_TEST

START_TEST(few_samples_show_nothing) {
    see(3, LAUNCH, STEP);
    ck_assert(!are_one(LAUNCH, STEP));
}
END_TEST

/* The thread was about to call on that line, or had come back. */
START_TEST(samples_of_the_line_count_too) {
    see(2, LAUNCH, STEP);
    see(1, LAUNCH, NO_CALL);
    ck_assert(!are_one(LAUNCH, STEP));
    see(1, LAUNCH, NO_CALL);
    ck_assert(are_one(LAUNCH, STEP));
}
END_TEST

START_TEST(samples_of_the_line_are_not_enough) {
    see(1, LAUNCH, STEP);
    see(9, LAUNCH, NO_CALL);
    ck_assert(!are_one(LAUNCH, STEP));
}
END_TEST

START_TEST(samples_of_another_line_count_not) {
    see(2, LAUNCH, STEP);
    see(2, LAUNCH, NO_CALL_BELOW);
    ck_assert(!are_one(LAUNCH, STEP));
}
END_TEST

START_TEST(by_its_functions_name_it_needs_no_samples) {
    ck_assert(are_one(LAUNCH, BY_NAME));
    ck_assert(!are_one(OTHER_LAUNCH, BY_NAME));
}
END_TEST

/* A short call beside it, into whose time the event's samples slip. */
START_TEST(the_call_that_is_seen_most_is_it) {
    see(5, LAUNCH, STEP);
    see(4, LAUNCH, READ);
    ck_assert(are_one(LAUNCH, STEP));
    ck_assert(!are_one(LAUNCH, READ));
}
END_TEST

/* Nobody saw the true call by a name. */
START_TEST(a_small_part_of_the_event_is_none) {
    see(12, LAUNCH, NO_CALL_BELOW);
    see(4, LAUNCH, READ);
    ck_assert(are_one(LAUNCH, READ));
    see(1, LAUNCH, NO_CALL_BELOW);
    ck_assert(!are_one(LAUNCH, READ));
}
END_TEST

START_TEST(a_small_part_of_the_call_is_none) {
    see(4, LAUNCH, STEP);
    see(12, NOTHING, STEP);
    ck_assert(are_one(LAUNCH, STEP));
    see(1, WAIT, STEP);
    ck_assert(!are_one(LAUNCH, STEP));
}
END_TEST

/* What waits for a device launches nothing. */
START_TEST(a_wait_is_no_launch) {
    see(8, LAUNCH, SYNC);
    ck_assert(!are_one(LAUNCH, SYNC));
}
END_TEST

IDS_RUN_FIXTURE("sampled_calls", setup, teardown, what_is_seen_together_is_one, samples_of_the_line_count_too,
                samples_of_the_line_are_not_enough, samples_of_another_line_count_not, few_samples_show_nothing,
                by_its_functions_name_it_needs_no_samples, the_call_that_is_seen_most_is_it,
                a_small_part_of_the_event_is_none, a_small_part_of_the_call_is_none, a_wait_is_no_launch,
                a_launch_runs_what_is_called_in_it, a_launch_of_another_name_runs_what_is_seen_in_it,
                what_calls_itself_may_launch)
