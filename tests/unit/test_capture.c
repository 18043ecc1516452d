/* The parts of the launcher that need no program: variables, files of them, names, and what a capture came to. */
#include "cmd/capture_options.h"
#include "lib/capture/folder.h"
#include "lib/capture/outcome.h"
#include "lib/capture/variables.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ids_error err;

/* ---- variables ---- */

START_TEST(test_variables) {
    char *from[] = {(char *)"A=1", (char *)"AB=2", (char *)"EMPTY=", NULL};
    struct ids_variables variables;
    ck_assert_int_eq(ids_variables_copy(&variables, from, &err), 0);
    ck_assert_str_eq(ids_variables_get(&variables, "A"), "1");
    ck_assert_str_eq(ids_variables_get(&variables, "EMPTY"), "");
    ck_assert_ptr_null(ids_variables_get(&variables, "B"));
    ck_assert_int_eq(ids_variables_set(&variables, "A", "x=y", &err), 0);
    ck_assert_str_eq(ids_variables_get(&variables, "A"), "x=y");
    ck_assert_uint_eq(variables.count, 3);
    ck_assert_int_eq(ids_variables_prepend(&variables, "P", "/a", ':', &err), 0);
    ck_assert_int_eq(ids_variables_prepend(&variables, "P", "/b", ':', &err), 0);
    ck_assert_int_eq(ids_variables_prepend(&variables, "EMPTY", "/c", ':', &err), 0);
    ck_assert_str_eq(ids_variables_get(&variables, "P"), "/b:/a");
    ck_assert_str_eq(ids_variables_get(&variables, "EMPTY"), "/c");
    ck_assert_ptr_null(variables.at[variables.count]);
    ids_variables_done(&variables);
    ck_assert_int_eq(ids_variables_copy(&variables, NULL, &err), 0);
    ck_assert_int_eq(ids_variables_set(&variables, "A", "1", &err), 0);
    ck_assert_ptr_null(variables.at[1]);
    ids_variables_done(&variables);
}
END_TEST

static const char *settle_file(const char *text, const char *name) {
    static struct ids_variables variables;
    char path[] = "/tmp/test_capture.XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    ids_variables_done(&variables);
    err = (struct ids_error)IDS_ERROR_INIT;
    ck_assert_int_eq(ids_variables_set(&variables, "THERE", "before", &err), 0);
    int code = ids_variables_read(&variables, path, &err);
    unlink(path);
    const char *value = code ? NULL : ids_variables_get(&variables, name);
    static char copy[256];
    snprintf(copy, sizeof copy, "%s", value ? value : "");
    ids_variables_done(&variables);
    return value ? copy : NULL;
}

START_TEST(test_files_of_variables) {
    ck_assert_str_eq(settle_file("A=1\nB= two words \t\r\n", "B"), "two words");
    ck_assert_str_eq(settle_file("  export A = 'x y' \n", "A"), "x y");
    ck_assert_str_eq(settle_file("A=\"\"", "A"), "");
    ck_assert_str_eq(settle_file("A=\"", "A"), "\"");
    ck_assert_str_eq(settle_file("A=b=c#d\n#A=2\n\n", "A"), "b=c#d");
    ck_assert_str_eq(settle_file("THERE=after\n", "THERE"), "before");
    ck_assert_ptr_null(settle_file("\nA\n", "A"));
    ck_assert_ptr_nonnull(strstr(err.text, "line 2: 'A' is not NAME=value"));
    ck_assert_ptr_null(settle_file("=x\n", "A"));
    ck_assert_ptr_nonnull(strstr(err.text, "line 1: '' cannot be the name of a variable"));
}
END_TEST

/* ---- what was asked for ---- */

static struct ids_capture_settings settings;

static int settle(const struct ids_capture_options *options, const char *variable) {
    char *command[] = {(char *)"python", (char *)"x/train.py", NULL};
    char *environment[] = {(char *)variable, NULL};
    ids_capture_settings_done(&settings);
    err = (struct ids_error)IDS_ERROR_INIT;
    return ids_capture_settle(options, command, environment, &settings, &err);
}

START_TEST(test_settings) {
    struct ids_capture_options options = ids_capture_option_defaults;
    ck_assert_int_eq(settle(&options, NULL), 0);
    ck_assert_int_eq(settings.plan.start_step, 153);
    ck_assert_int_eq(settings.plan.steps, 5);
    ck_assert_int_eq(settings.plan.max, 1);
    ck_assert_int_eq(settings.plan.duration_ns, 0);
    ck_assert_str_eq(settings.name, "train");
    ck_assert_str_eq(settings.dir, "profiles");
    ck_assert_int_eq(settle(&options, "PROFILE_START_STEP=7"), 0);
    ck_assert_int_eq(settings.plan.start_step, 7);
    ck_assert_int_eq(settle(&options, "PROFILE_INTERVAL=100"), 0);
    ck_assert_int_eq(settings.plan.every, 100);
    ck_assert_int_eq(settings.plan.max, 10);
    ck_assert_int_eq(settle(&options, "PROFILE_INTERVAL=0"), 0);
    ck_assert_int_eq(settings.plan.max, 1);
    ck_assert_int_eq(settle(&options, "PROFILE_DURATION=x"), IDS_USAGE);
    ck_assert_str_eq(err.text, "PROFILE_DURATION is 'x', which is not a number of steps");
    ck_assert_int_eq(settle(&options, "PROFILE_ENABLED=maybe"), IDS_USAGE);
    ck_assert_int_eq(settle(&options, "PROFILE_ENABLED=OFF"), 0);
    ck_assert_int_eq(settings.enabled, 0);
    ids_capture_settings_done(&settings);
}
END_TEST

START_TEST(test_settings_by_time) {
    struct ids_capture_options options = ids_capture_option_defaults;
    options.delay_ps = 3000000000000; /* 3 s */
    ck_assert_int_eq(settle(&options, "PROFILE_START_STEP=7"), 0);
    ck_assert_int_eq(settings.plan.start_step, -1);
    ck_assert_int_eq(settings.plan.delay_ns, 3000000000);
    ck_assert_int_eq(settings.plan.steps, 5);
    ck_assert_int_eq(settings.plan.duration_ns, 10000000000);
    options.duration_ps = 500000000000;
    ck_assert_int_eq(settle(&options, NULL), 0);
    ck_assert_int_eq(settings.plan.steps, 0);
    ck_assert_int_eq(settings.plan.duration_ns, 500000000);
    options.start_step = 20; /* both: no step before that time */
    ck_assert_int_eq(settle(&options, NULL), 0);
    ck_assert_int_eq(settings.plan.start_step, 20);
    options = ids_capture_option_defaults;
    options.max_size = "2G";
    options.sweep = "devices=1,2,8";
    options.trigger = 1;
    ck_assert_int_eq(settle(&options, "PROFILE_INTERVAL=100"), 0);
    ck_assert_int_eq(settings.plan.max_size, (int64_t)2 << 30);
    ck_assert_int_eq(settings.plan.max, 0);
    ck_assert_int_eq(settings.plan.every, 0);
    ck_assert_uint_eq(settings.sweep_count, 3);
    ck_assert_int_eq(settings.sweep[2], 8);
    options.max_size = "99999999999T";
    ck_assert_int_eq(settle(&options, NULL), IDS_USAGE);
    ids_capture_settings_done(&settings);
}
END_TEST

/* ---- names ---- */

static const char *name_of(const char *a, const char *b, const char *c, const char *d) {
    static char name[24];
    char *argv[] = {(char *)a, (char *)b, (char *)c, (char *)d, NULL};
    ids_capture_name(argv, name, sizeof name);
    return name;
}

START_TEST(test_names) {
    ck_assert_str_eq(name_of("/usr/bin/ls", NULL, NULL, NULL), "ls");
    ck_assert_str_eq(name_of("python3", "-u", "a/b/train.py", "--x"), "train");
    ck_assert_str_eq(name_of("python3", "-m", "pkg.sub.train", "x.py"), "train");
    ck_assert_str_eq(name_of("torchrun", "--nproc-per-node", "8", "my train.py"), "my_train");
    ck_assert_str_eq(name_of("./run.py", NULL, NULL, NULL), "run");
    ck_assert_str_eq(name_of("/", NULL, NULL, NULL), "_");
    ck_assert_str_eq(name_of("", NULL, NULL, NULL), "run");
    ck_assert_str_eq(name_of("..", NULL, NULL, NULL), "run");
    ck_assert_str_eq(name_of("a_name_that_is_much_longer_than_that", NULL, NULL, NULL), "a_name_that_is_much_lon");
}
END_TEST

/* ---- what it came to ---- */

static struct ids_plan plan;
static struct ids_seen seen;
static struct ids_child_end end;
static struct ids_outcome outcome;
static struct ids_arena arena;

static void find_outcome(const char *program, const char *flag) {
    char *command[] = {(char *)program, (char *)flag, NULL};
    struct ids_capture_record record = {.folder = "/", .command = command, .plan = &plan, .seen = &seen, .end = &end};
    ids_outcome_find(&record, &arena, &outcome);
}

START_TEST(test_nobody_said_hello) {
    ids_plan_default(&plan);
    const struct {
        const char *program, *flag, *reason;
        int64_t pythons;
    } cases[] = {
        {"/usr/bin/python3", "-I", "python_flag", 0},
        {"python", "-uE", "python_flag", 0},
        {"python", "-S", "python_flag", 1},
        {"python", "--I", "hook_not_loaded", 0},
        {"python3.12", "x.py", "hook_not_loaded", 0},
        {"python", "x.py", "no_jax", 1},
        {"bash", "-E", "no_python", 0},
        {"bash", "run.sh", "no_jax", 2},
        {"python", "-cimport Interesting", "hook_not_loaded", 0},
        {"env", "-i", "environment", 0},
        {"sudo", "python", "environment", 0},
        {"sudo", "-E", "no_python", 0},
        {"bash", "-c cd /x && su - me -c 'python x.py'", "environment", 0},
        {"bash", "-c cd /x && su - me -c 'python x.py'", "no_jax", 1}, /* one did come up */
        {"/usr/bin/ssh", "host", "environment", 0},
        {"bash", "sums.sh", "no_python", 0},
        {"bash", "-c cd /x; PYTHONPATH=. python x.py", "python_path", 0},
        {"env", "PYTHONPATH=/x", "python_path", 0},
        {"env", "PYTHONPATH=/x", "no_jax", 1}, /* another one did come up */
        {"sh", "-c PYTHONPATH=src:$PYTHONPATH python x.py", "no_python", 0},
        {"sh", "-c MY_PYTHONPATH=src x", "no_python", 0},
        {"sh", "-c echo $PYTHONPATH=src", "no_python", 0},
        {"env", "-i PYTHONPATH=/x", "environment", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen = (struct ids_seen){.pythons = cases[i].pythons};
        find_outcome(cases[i].program, cases[i].flag);
        ck_assert_str_eq(outcome.reason, cases[i].reason);
        ck_assert_ptr_nonnull(outcome.missed);
        ck_assert_ptr_nonnull(outcome.remedy);
    }
    ids_arena_done(&arena);
}
END_TEST

START_TEST(test_never_reached) {
    struct ids_seen_process process = {.pid = -1,
                                       .rank = -1,
                                       .steps_source = "annotation",
                                       .steps_name = "train",
                                       .reached = 37,
                                       .number = 37,
                                       .is_closed = 1};
    ids_plan_default(&plan);
    seen = (struct ids_seen){.processes = &process, .count = 1};
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.reason, "never_reached");
    ck_assert_str_eq(outcome.missed, "the program ended after step 37 (annotation 'train'), before step 153");
    ck_assert_str_eq(outcome.remedy, "again, with --start-step 33"); /* 33 to 37 are five */
    process.steps_source = "executions";                             /* of these another one ends the last */
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy, "again, with --start-step 32");
    process.steps_source = "annotation";
    process.reached = process.number = 2;
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy, "again, with --start-step 0: it has few steps");
    struct ids_seen_text facts[] = {{.key = "op by op", .value = "tanh, matmul"}, {.key = "op calls", .value = "200"}};
    process.facts = facts;
    process.fact_count = 2;
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy, "again, with --step-executable '^tanh$', which is called more often");
    facts[1].value = "60";
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy,
                     "again, with --step-executable '^tanh$' --start-step 54, which is called more often");
    facts[1].value = "5"; /* no window of five that a sixth one ends */
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy, "again, with --start-step 0: it has few steps");
    struct ids_seen_text turns[] = {
        facts[0], facts[1], {.key = "op turn", .value = "_reduce_sum"}, {.key = "op turns", .value = "40"}};
    process.facts = turns;
    process.fact_count = 4; /* what comes once in a turn is proposed before what is called most */
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy,
                     "again, with --step-executable '^_reduce_sum$' --start-step 34, which is called more often");
    turns[3].value = "5"; /* where a window of it fits in */
    turns[1].value = "200";
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy, "again, with --step-executable '^tanh$', which is called more often");
    turns[3].value = "400";
    process.reached = process.number = -1;
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.missed, "the program ended without a step: it runs op by op (tanh, matmul)");
    ck_assert_str_eq(outcome.remedy,
                     "--step-executable '^_reduce_sum$' counts turns of the loop, with an op that comes once in each; "
                     "--delay 10s --duration 2s goes by time");
    process.facts = facts;
    process.fact_count = 2;
    facts[1].value = "200";
    process.reached = process.number = 37; /* it has steps enough of its own */
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy, "again, with --start-step 33");
    process.fact_count = 0;
    process.reached = process.number = -1;
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.reason, "no_steps");
    ck_assert_str_eq(outcome.remedy, "try again with --delay 10s --duration 2s, which go by time");
    end.wall_ns = INT64_C(3000000000); /* a program of 3 s does not come to the tenth */
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.remedy, "try again with --delay 0.75s --duration 0.38s, which go by time");
    end.wall_ns = 0;
    process.is_closed = 0;
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.reason, "left_early");
    process.unwritten = EMFILE;
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.reason, "unwritten");
    ck_assert_str_eq(outcome.remedy, "a larger limit for open files (ulimit -n)");
    process.is_closed = 1; /* it could again */
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.reason, "no_steps");
    seen = (struct ids_seen){.unwritten = EMFILE, .pythons = 1}; /* and never said hello */
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.reason, "unwritten");
    ids_arena_done(&arena);
}
END_TEST

START_TEST(test_failed_before) { /* the program failed before there was anything to record */
    const struct {
        const char *program, *script, *reason;
        struct ids_child_end end;
    } cases[] = {{"python3", "x.py", "no_script", {.code = 2}},
                 {"python3", "/dev/null", "failed", {.code = 1}},
                 {"python3", "-m", "failed", {.code = 1}},
                 {"python3", "/dev/null", "failed", {.code = -1, .signal = 9}},
                 {"python3", "/dev/null", "no_jax", {.code = 0}}};
    ids_plan_default(&plan);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen = (struct ids_seen){.pythons = 1};
        end = cases[i].end;
        find_outcome(cases[i].program, cases[i].script);
        ck_assert_str_eq(outcome.reason, cases[i].reason);
    }
    struct ids_seen_process process = {.pid = 1, .reached = -1, .number = -1, .is_closed = 1};
    seen = (struct ids_seen){.processes = &process, .count = 1};
    end = (struct ids_child_end){.code = 1};
    find_outcome("python", "/dev/null");
    ck_assert_str_eq(outcome.missed, "the program ended with exit code 1 before its first step");
    end = (struct ids_child_end){0};
    find_outcome("python", "/dev/null");
    ck_assert_str_eq(outcome.reason, "no_steps");
    ids_arena_done(&arena);
}
END_TEST

START_TEST(test_judged_windows) {
    struct ids_seen_window kept = {.number = 1,
                                   .path = "p",
                                   .fate = IDS_SEEN_WRITTEN,
                                   .opened_by = "step",
                                   .closed_by = "step",
                                   .bytes = 2000,
                                   .first_step = 5,
                                   .last_step = 9,
                                   .steps = 5,
                                   .events = -1,
                                   .waited_ns = -1,
                                   .reason = "step 7 took 60 ms",
                                   .slow_step = 7,
                                   .slow_ns = 60000000};
    struct ids_seen_process process = {.pid = -1,
                                       .windows = &kept,
                                       .window_count = 1,
                                       .is_closed = 1,
                                       .reached = 90,
                                       .number = 90,
                                       .own_begin = -1,
                                       .own_end = -1,
                                       .tried = 3,
                                       .kept = 1,
                                       .judged_steps = 90,
                                       .judged_median_ns = 5000000,
                                       .judged_cost_ns = 9000000,
                                       .missed_step = 66,
                                       .missed_ns = 180000000};
    seen = (struct ids_seen){.processes = &process, .count = 1};
    ids_plan_default(&plan);
    plan.keep_slowest = 1;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "step 66 took 180 ms, longer than one that was kept (60 ms), in no window");
    plan.keep_slowest = 3;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "step 66 took 180 ms, longer than one that was kept (60 ms), in no window; 1 of 3 "
                                     "windows kept");
    plan.keep_slowest = 1;
    process.missed_seen_ns = 40000000;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed,
                     "step 66 took 180 ms, longer than one that was kept (60 ms), in a window that saw 40 "
                     "ms of it and is not kept");
    ck_assert_str_eq(outcome.remedy, "a larger --keep-slowest keeps such windows too");
    process.tried = -1; /* it was killed before it could say so */
    process.is_closed = 0;
    process.steps_source = "executions";
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.reason, "not_said");
    ck_assert_str_eq(outcome.missed, "not known: a process was killed, or ended by os._exit, before it could say which "
                                     "slow steps were in no window");
    process.tried = 3;
    process.is_closed = 1;
    process.missed_ns = 74000000; /* less than a quarter longer: chance */
    find_outcome("x", NULL);
    ck_assert_ptr_null(outcome.missed);
    plan.keep_slowest = 0;
    plan.max = 10;
    plan.when_ratio = 2000;
    process.slow = 3;
    process.slow_missed = 2;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "2 of 3 slow steps were in no window; the slowest of them, step 66, took 74 ms");
    ck_assert_str_eq(outcome.remedy, "a larger --max-cost lets more windows open");
    process.judged_median_ns = 6500;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.remedy, "the usual step took 6.5 us, so the loop launches and does not wait: wait for "
                                     "each step, or --when 'step > 500ms'");
    plan.when_ratio = 0; /* a time is what it is */
    plan.when_ns = 500000000;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.remedy, "a larger --max-cost lets more windows open");
}
END_TEST

START_TEST(test_short_windows) {
    struct ids_seen_window window = {.number = 1,
                                     .path = "plugins/profile/t/h.xplane.pb",
                                     .fate = IDS_SEEN_WRITTEN,
                                     .opened_by = "time",
                                     .closed_by = "size",
                                     .bytes = 2000,
                                     .events = -1,
                                     .first_step = 5,
                                     .last_step = 6,
                                     .steps = 2,
                                     .begin_ns = 0,
                                     .end_ns = 1500000000,
                                     .start_ns = 1,
                                     .stop_ns = 70,
                                     .waited_ns = -1};
    struct ids_seen_text skip = {"jax", "the program profiles itself with jax.profiler right now", 1, 3},
                         found_none = {"wrap", "never found: a:f", 0, -1},
                         facts[] = {found_none, {"jax", "1", 0, -1}, {"platform", "cpu", 0, -1}};
    struct ids_seen_process process = {.pid = -1,
                                       .windows = &window,
                                       .window_count = 1,
                                       .is_closed = 1,
                                       .reached = 90,
                                       .number = 90,
                                       .own_begin = 40,
                                       .own_end = 60,
                                       .facts = facts,
                                       .fact_count = 0};
    seen = (struct ids_seen){.processes = &process, .count = 1};
    ids_plan_default(&plan);
    plan.start_step = -1;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "window 1 was ended after 1.5 s: the program's memory had grown by 256 MB in it");
    plan.max_window_bytes = 3 << 10;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "window 1 was ended after 1.5 s: the program's memory had grown by 3 kB in it");
    ck_assert_int_eq(outcome.stood_ns, -1);
    window.closed_by = "exec";
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "the program became another one (exec) after 2 of the 5 steps of window 1");
    ck_assert_int_eq(outcome.stood_ns, 70);
    window.closed_by = "trigger";
    window.opened_by = "trigger";
    find_outcome("x", NULL);
    ck_assert_int_eq(outcome.stood_ns, -1);
    window.is_of_block = 1; /* who opened it waits */
    find_outcome("x", NULL);
    ck_assert_int_eq(outcome.stood_ns, 70);
    window.closed_by = "time";
    find_outcome("x", NULL);
    ck_assert_int_eq(outcome.stood_ns, -1);
    window.closed_by = "trigger";
    window.is_of_block = 0;
    window.events = 0;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.reason, "empty_window");
    ck_assert_str_eq(outcome.missed, "window 1 is empty: nothing that is recorded ran while it was open");
    plan.host_level = 0;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "window 1 is empty: nothing that is recorded ran while it was open");
    process.fact_count = 3;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "window 1 is empty: --host-tracer 0 records nothing on the CPU");
    plan.device_level = 0;
    process.fact_count = 0;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "window 1 is empty: --host-tracer 0 and --device-tracer 0 record nothing");
    ck_assert_str_eq(outcome.remedy, "again, without --host-tracer 0");
    plan.host_level = plan.device_level = 1;
    window.events = -1;
    window.closed_by = "program";
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.remedy, "again, with --start-step 61");
    process.number = 62; /* nothing of five steps fits behind it */
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.remedy, "again, with --start-step 35");
    window.closed_by = "exit";
    plan.steps = 0;
    plan.duration_ns = 4000000000;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "the program ended after 1.5 s of the 4 s of window 1");
    window.closed_by = "step";
    process.skipped = &skip;
    process.skipped_count = 1;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed,
                     "window 1 was opened at step 5 and not at 3: until then the program profiled itself");
    process.window_count = 0;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed,
                     "window 1 was not opened: the program profiled itself with jax.profiler from step 40 on");
    process.window_count = 1;
    process.skipped_count = 0;
    process.fact_count = 2;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "--wrap: never found: a:f");
    process.fact_count = 0;
    plan.start_step = 5;
    plan.every = 20;
    plan.max = 3;
    plan.max_size = 1000;
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "2 of 3 windows: --max-size was reached with window 1");
    ids_arena_done(&arena);
}
END_TEST

/* What a function initialises with is called more often than the loop at first: each window has steps of its own. */
START_TEST(test_windows_of_two_functions) {
    struct ids_seen_window windows[] = {
        {.number = 1,
         .fate = IDS_SEEN_WRITTEN,
         .path = "p/a/x",
         .first_step = 153,
         .last_step = 157,
         .steps = 5,
         .events = 7},
        {.number = 2,
         .fate = IDS_SEEN_WRITTEN,
         .path = "p/b/x",
         .first_step = 153,
         .last_step = 157,
         .steps = 5,
         .events = 7},
        {.number = 3,
         .fate = IDS_SEEN_WRITTEN,
         .path = "p/c/x",
         .first_step = 253,
         .last_step = 257,
         .steps = 5,
         .events = 7},
    };
    struct ids_seen_text fact = {.key = "step function", .value = "init"};
    struct ids_seen_process process = {.pid = 1,
                                       .rank = -1,
                                       .steps_source = "executions",
                                       .steps_name = "train",
                                       .windows = windows,
                                       .window_count = 3,
                                       .is_closed = 1};
    ids_plan_default(&plan);
    seen = (struct ids_seen){.processes = &process, .count = 1};
    windows[1].of = windows[2].of = "train";
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.steps, "steps 153-157, 153-157, 253-257 (executions of train)"); /* one does not know */
    windows[0].of = "init";
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.steps, "steps 153-157 (executions of init), 153-157, 253-257 (executions of train)");
    /* Of a call that no other one follows the profile has no end. */
    ck_assert_ptr_null(outcome.reason);
    windows[2].opened_by = "step";
    windows[2].closed_by = "exit";
    find_outcome("python", "x.py");
    ck_assert_ptr_null(outcome.reason); /* an execution has one */
    process.facts = &fact;
    process.fact_count = 1;
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.reason, "cut_short");
    ck_assert_str_eq(outcome.missed, "the end of step 257 of window 3: the program ended in it");
    windows[2].steps = 3;
    find_outcome("python", "x.py");
    ck_assert_str_eq(outcome.missed, "the program ended after 3 of the 5 steps of window 3");
    ids_arena_done(&arena);
}
END_TEST

/* What helps where nothing could be written, or jax refused an option. */
START_TEST(test_remedies) {
    const struct {
        const char *why, *remedy;
    } cases[] = {
        {"cannot write '/a/b.part': Permission denied", "as the user that the program becomes"},
        {"/a/b.part: File too large", "ulimit -f"},
        {"/a/b.part: Read-only file system", "-o DIR"},
        {"/a/b.part: Disk quota exceeded", "quota"},
        {"/a/b.part: No space left on device", "make room"},
        {"--profile-option: this jax knows no 'colour' (host_tracer_level)", "without it"},
    };
    struct ids_seen_window window = {.number = 1, .fate = IDS_SEEN_LOST, .first_step = -1};
    struct ids_seen_text skip = {"jax", NULL, 1, 3}, facts[] = {{"platform", "cpu", 0, -1}};
    struct ids_seen_process process = {.pid = -1, .windows = &window, .skipped = &skip, .is_closed = 1, .facts = facts};
    seen = (struct ids_seen){.processes = &process, .count = 1};
    ids_plan_default(&plan);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        window.why = skip.value = cases[i].why;
        process.window_count = 1;
        process.skipped_count = 0;
        find_outcome("x", NULL);
        ck_assert_ptr_nonnull(outcome.missed);
        if (i + 1 < sizeof cases / sizeof *cases)
            ck_assert_ptr_nonnull(strstr(outcome.remedy ? outcome.remedy : "", cases[i].remedy));
        process.window_count = 0;
        process.skipped_count = 1;
        find_outcome("x", NULL);
        ck_assert_ptr_nonnull(strstr(outcome.remedy ? outcome.remedy : "", cases[i].remedy));
    }
    window =
        (struct ids_seen_window){.number = 1, .fate = IDS_SEEN_WRITTEN, .path = "p/t/h.pb", .events = 9, .steps = 5};
    process.window_count = process.fact_count = 1;
    process.skipped_count = 0;
    snprintf(plan.profile_options, sizeof plan.profile_options, "host_tracer_level=1\ngpu_a=2\ntpu_b=3");
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "--profile-option gpu_a=2 had no effect: no GPU ran the program");
    facts[0].value = "gpu";
    find_outcome("x", NULL);
    ck_assert_str_eq(outcome.missed, "--profile-option tpu_b=3 had no effect: no TPU ran the program");
    process.fact_count = 0; /* nobody knows */
    find_outcome("x", NULL);
    ck_assert_ptr_null(outcome.missed);
}
END_TEST

START_TEST(test_caught) { /* two ranks, one window, in one folder */
    struct ids_seen_window windows[] = {
        {.number = 1,
         .fate = IDS_SEEN_WRITTEN,
         .path = "plugins/profile/t/h_rank0.xplane.pb",
         .bytes = 100,
         .events = 7,
         .drops = 0,
         .first_step = 50,
         .last_step = 54,
         .steps = 5,
         .start_ns = 10,
         .stop_ns = 20,
         .publish_ns = 5},
        {.number = 1,
         .fate = IDS_SEEN_WRITTEN,
         .path = "plugins/profile/t/h_rank1.xplane.pb",
         .bytes = 50,
         .events = -1,
         .drops = 2,
         .first_step = 50,
         .last_step = 54,
         .steps = 5,
         .start_ns = 30,
         .stop_ns = 10,
         .publish_ns = 5},
    };
    struct ids_seen_process processes[] = {
        {.pid = -1, .rank = 0, .steps_source = "executions", .windows = &windows[0], .window_count = 1, .is_closed = 1},
        {.pid = -1, .rank = 1, .steps_source = "executions", .windows = &windows[1], .window_count = 1, .is_closed = 1},
    };
    ids_plan_default(&plan);
    seen = (struct ids_seen){.processes = processes, .count = 2};
    find_outcome("torchrun", "x.py");
    ck_assert_ptr_null(outcome.reason);
    ck_assert_int_eq(outcome.runs, 1);
    ck_assert_int_eq(outcome.files, 2);
    ck_assert_int_eq(outcome.bytes, 150);
    ck_assert_int_eq(outcome.events, -1); /* one does not know */
    ck_assert_int_eq(outcome.drops, 2);
    ck_assert_int_eq(outcome.start_ns, 30);
    ck_assert_int_eq(outcome.stop_ns, 25);
    ck_assert_str_eq(outcome.steps, "steps 50-54 (executions, counted)");
    struct ids_seen_text facts[] = {{.key = "turn function", .value = "apply"}, {.key = "turn steps", .value = "4"}};
    processes[0].steps_name = "micro";
    processes[0].facts = facts;
    processes[0].fact_count = 2;
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.steps, "steps 50-54 (executions of micro; apply comes with one of 4: --step-executable "
                                    "'^apply$' counts turns of the loop)");
    ck_assert_ptr_null(outcome.no_stacks);
    processes[0].fact_count = 0; /* ranks that were at other steps when one trigger opened their windows */
    processes[1].steps_name = "micro";
    windows[1].first_step = 54;
    windows[1].last_step = 58;
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.steps, "steps 50-54 (executions of micro)");
    windows[1].first_step = 55;
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.steps, "steps 50-54 of rank 0, 55-58 of rank 1 (executions of micro)");
    processes[1].steps_name = "evaluate";
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.steps, "steps 50-54 (executions of micro)");
    windows[1].no_stacks = "refused";
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.no_stacks, "refused");
    ck_assert_str_eq(outcome.reason, "no_stacks");
    ck_assert_str_eq(outcome.missed, "stacks, not sampled in 1 of 2 windows: refused");
    windows[0].no_stacks = "refused";
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.missed, "stacks, not sampled: refused");
    windows[0].no_stacks = windows[1].no_stacks = NULL;
    windows[0].rate = windows[1].rate = 500;
    windows[0].samples = windows[0].threads = 1;
    windows[1].begin_ns = 1000;
    windows[1].end_ns = 41000;
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.missed, "stacks, not sampled in 1 of 2 windows: the window was over after 40 us");
    windows[1].samples = 9;
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.missed, "stacks, not sampled in 1 of 2 windows: no thread ran Python");
    windows[1].threads = 1;
    find_outcome("torchrun", "x.py");
    ck_assert_ptr_null(outcome.reason);
    windows[1].samples = 4; /* one has as few already; now there is no window with enough */
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.reason, "few_stacks");
    ck_assert_str_eq(outcome.missed, "stacks, too few to name the host's code: 1 sample in window 1: the window was "
                                     "over after 0 ms, and more --steps have more");
    windows[0].begin_ns = 0;
    windows[0].end_ns = 26800000;
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.missed, "stacks, too few to name the host's code: 1 sample in window 1: the thread that "
                                     "takes them had no core");
    windows[0].samples = 5;
    find_outcome("torchrun", "x.py");
    ck_assert_ptr_null(outcome.reason);
    windows[1].fate = IDS_SEEN_OPEN;
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.reason, "left_suddenly");
    end = (struct ids_child_end){.signal = 9, .code = -1};
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.reason, "killed");
    end = (struct ids_child_end){0};
    windows[1].fate = IDS_SEEN_WRITTEN;
    plan.every = 100;
    plan.max = 3;
    find_outcome("torchrun", "x.py");
    ck_assert_str_eq(outcome.missed, "2 of 3 windows: the program ended before step 253");
    ids_arena_done(&arena);
}
END_TEST

/* ---- folders ---- */

/* Another process makes the folders above and takes them away, all the time, as captures that catch nothing do. */
START_TEST(test_folder_that_vanishes) {
    char root[] = "/tmp/idsprof-unit-XXXXXX", above[64], dir[64];
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(above, sizeof above, "%s/made", root);
    snprintf(dir, sizeof dir, "%s/made/by both", root);
    pid_t other = fork();
    if (!other) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            (void)!mkdir(above, 0777);
            (void)!mkdir(dir, 0777);
            (void)!rmdir(dir);
            (void)!rmdir(above);
        }
    }
    for (int i = 0; i < 50; i++) {
        struct ids_capture_folder folder;
        ck_assert_msg(!ids_capture_folder_make(dir, "sh", 1800000000, &folder, &err), "%d: %s", i, err.text);
        ids_capture_folder_remove(&folder);
        ids_capture_folder_done(&folder);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    (void)!rmdir(dir);
    (void)!rmdir(above);
    ck_assert_int_eq(rmdir(root), 0);
}
END_TEST

IDS_RUN_SUITE("capture", test_variables, test_files_of_variables, test_settings, test_settings_by_time, test_names,
              test_nobody_said_hello, test_never_reached, test_windows_of_two_functions, test_failed_before,
              test_judged_windows, test_short_windows, test_remedies, test_caught, test_folder_that_vanishes)
