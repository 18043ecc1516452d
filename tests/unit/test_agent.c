/* The agent from inside its process, with the sanitizers: what it answers, writes and calls. The launcher's side of it,
 * with several processes, is in tests/cli/test_capture.py. One test, because there is one agent in a process. */
#include "collectors/common/agent_state.h"
#include "collectors/common/history.h"

#include "tests/support/remove_tree.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char session[256], why[IDS_WHY_BYTES];
static int starts, stops, contributions, fails;

static int start(void *context, char *reason, size_t reason_size) {
    ck_assert_ptr_eq(context, session);
    starts++;
    if (fails) snprintf(reason, reason_size, "not \"now\"");
    return fails;
}

static int stop(void *context, const char *path, struct ids_caught *caught, char *reason, size_t reason_size) {
    (void)context;
    (void)reason;
    (void)reason_size;
    stops++;
    if (!path) return 0;
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("caught", file);
    fclose(file);
    caught->events = 6;
    return 0;
}

static int contribute(void *context, const char *path, int64_t zero_ns, int64_t begin_ns, int64_t end_ns, char *reason,
                      size_t reason_size) {
    (void)context;
    (void)path;
    ck_assert_int_eq(zero_ns, 0); /* what was caught does not say */
    ck_assert_int_gt(begin_ns, 1600000000000000000);
    ck_assert_int_ge(end_ns, begin_ns);
    contributions++;
    snprintf(reason, reason_size, "nothing to say");
    return -1;
}

static struct ids_collector collector_of(const char *name, int32_t priority) {
    return (struct ids_collector){.size = sizeof(struct ids_collector),
                                  .priority = priority,
                                  .name = name,
                                  .context = session,
                                  .start = start,
                                  .stop = stop};
}

static const char *read_file(const char *name) {
    static char text[65536];
    char path[512];
    snprintf(path, sizeof path, "%s/%s", session, name);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = '\0';
    return text;
}

static const char *hello(void) {
    char name[256];
    snprintf(name, sizeof name, ".idsprof/%s.%d.hello", ids_agent.host, (int)getpid());
    return read_file(name);
}

/* Before there is a plan every call returns at once. */
static void asleep(void) {
    struct ids_collector collector = collector_of("early", 1);
    ids_agent_step(1, "train", 0);
    ids_agent_step(7, NULL, 0);
    ids_agent_range("block", 1);
    ids_agent_say(1, "key", "value");
    ids_agent_rank(3);
    ids_agent_close(1);
    ck_assert_int_eq(ids_agent_state(), -1);
    ck_assert_int_eq(ids_agent_plan("steps", why, sizeof why), -1);
    collector.size = 8;
    ck_assert_int_eq(ids_agent_register(&collector, why, sizeof why), 0);
    ck_assert_str_eq(why, "a struct ids_collector of another agent");
}

static void begin_session(void) {
    char path[300];
    const char *folder = getenv("TMPDIR");
    snprintf(session, sizeof session, "%s/agent.XXXXXX", folder ? folder : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(session));
    snprintf(path, sizeof path, "%s/.idsprof", session);
    mkdir(path, 0777);
    setenv("IDSPROF_SESSION", session, 1);
    setenv("IDSPROF_PLAN", "start_step=3;steps=2;every=10;max=3;warmup=1;run=now", 1);
    setenv("XDG_RUNTIME_DIR", session, 1);
    setenv("RANK", "4", 1);
}

static void run_steps(int from, int to) {
    for (int i = from; i < to; i++) ids_agent_step(1, "train", i);
}

/* The program closes the agent's files, and opens its own under their numbers. */
enum { TAKEN = 4 };
static int taken[TAKEN];

static void take_files(void) {
    const int files[TAKEN] = {ids_agent.hello->own.file, ids_agent.wake.heard.file, ids_agent.wake.rung.file,
                              ids_agent.listener.file};
    for (int i = 0; i < TAKEN; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/taken.%d", session, i);
        FILE *file = fopen(path, "w+");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_gt(files[i], 2);
        taken[i] = dup2(fileno(file), files[i]);
        fclose(file);
    }
}

/* Nothing is written into them, none is closed, and the agent is there again. */
static void leaves_files(void) {
    char answer[IDS_CONTROL_LINE] = "";
    int asked = -1;
    for (int i = 0; i < 200 && asked; i++) {
        asked = ids_control_ask(ids_agent.socket, "who", answer, sizeof answer, why, sizeof why);
        if (asked) usleep(10000);
    }
    ck_assert_msg(!asked, "%s", why);
    for (int i = 0; i < TAKEN; i++) {
        struct stat status;
        ck_assert_int_eq(fstat(taken[i], &status), 0);
        ck_assert_uint_eq(status.st_nlink, 1);
        ck_assert_int_eq(status.st_size, 0);
        close(taken[i]);
    }
}

START_TEST(test_life) {
    asleep();
    begin_session();
    struct ids_collector low = collector_of("low", 1), high = collector_of("high", 2);
    int known = 0;
    low.contribute = contribute;
    low.size = offsetof(struct ids_collector, handle); /* as of collectors before this field */
    low.handle = (int *)1;
    high.handle = &known;
    int handles[] = {ids_agent_register(&low, why, sizeof why), ids_agent_register(&high, NULL, 0)};
    ck_assert_int_eq(known, 2);
    ck_assert_int_eq(handles[0], 1);
    ck_assert_int_eq(handles[1], 2);
    ck_assert_int_eq(ids_agent_state(), IDS_WAITING);
    ck_assert_int_eq(ids_agent_plan("run", why, sizeof why), 3);
    ids_agent_say(handles[1], "jax", "\"0.10\"\n");
    ids_agent_say(9, "nobody", "says this");

    run_steps(0, 4); /* warm-up at 2, thrown away at 3 */
    ck_assert_int_eq(ids_agent_state(), IDS_OPENED);
    ck_assert_int_eq(starts, 2);
    ck_assert_int_eq(stops, 1);
    run_steps(4, 12);
    ck_assert_int_eq(ids_agent_state(), IDS_WAITING);
    ck_assert_int_eq(stops, 2);
    ck_assert_int_eq(contributions, 1);
    char path[256];
    snprintf(path, sizeof path, "plugins/profile/now/%s_rank4.xplane.pb", ids_agent.host);
    ck_assert_str_eq(read_file(path), "caught");
    ck_assert_ptr_nonnull(strstr(hello(), "\"first_step\":3,\"last_step\":4,\"steps\":2"));
    ck_assert_ptr_nonnull(strstr(hello(), "\"key\":\"jax\",\"value\":\"\\\"0.10\\\"\\u000a\""));
    ck_assert_ptr_nonnull(strstr(hello(), "low: nothing to say"));

    take_files();
    fails = 1; /* both are asked, for the warm-up and for the window, and both say no */
    run_steps(12, 20);
    ck_assert_int_eq(starts, 6);
    ck_assert_ptr_nonnull(strstr(hello(), "\"collector\":\"low\",\"why\":\"not \\\"now\\\"\""));
    leaves_files();
    fails = 0;
    run_steps(20, 24);
    ids_agent_close(handles[0]); /* ends the window of the other one too, and nothing opens after that */
    ck_assert_int_eq(ids_agent_state(), IDS_DONE);
    ck_assert_ptr_null(strstr(hello(), "\"event\":\"closed\""));
    ids_agent_close(handles[1]);
    ids_agent_close(handles[1]);
    ck_assert_ptr_nonnull(
        strstr(hello(), "\"event\":\"closed\",\"source\":\"annotation\",\"reached\":23,\"number\":23"));
    run_steps(24, 60);
    snprintf(path, sizeof path, ".idsprof/%s.%d.history", ids_agent.host, (int)getpid());
    ck_assert_str_eq(read_file(path), IDS_HISTORY_MAGIC "\30"); /* and 24 steps */
    ck_assert_int_eq(ids_agent_wants(1), 0);
    ck_assert_int_ne(access(ids_agent.socket, F_OK), 0);
    remove_tree(session);
}
END_TEST

/* Between two closes of the program the agent may ring. */
START_TEST(test_bell_with_one_end) {
    struct ids_bell bell;
    ck_assert_int_eq(ids_bell_make(&bell), 0);
    ids_bell_ring(&bell);
    ids_bell_hush(&bell);
    close(bell.heard.file);
    ids_bell_ring(&bell); /* and no signal ends the program */
    ck_assert_int_eq(ids_bell_is_there(&bell), 0);
    ids_bell_close(&bell);
}
END_TEST

static struct rlimit limit_of_files(void) {
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit;
}

static void limit_files(struct rlimit limit, rlim_t number) {
    limit.rlim_cur = number;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static int next_number(void) {
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(file);
    return file;
}

/* A program that closes its low numbers, or counts on the next of them, meets none of ours. */
START_TEST(test_own_files_lie_high) {
    const struct rlimit before = limit_of_files();
    int first = next_number();
    struct ids_own_file own = ids_own_file_of(open("/dev/null", O_RDONLY));
    struct ids_bell bell;
    ck_assert_int_eq(ids_bell_make(&bell), 0);
    ck_assert_int_eq(next_number(), first);
    ck_assert_int_ge(own.file, 512);
    ck_assert_int_gt(bell.heard.file, 512);
    ck_assert_int_gt(bell.rung.file, 512);
    ck_assert_int_eq(fcntl(own.file, F_GETFD), FD_CLOEXEC);
    ids_own_file_close(&own);
    ids_bell_close(&bell);
    limit_files(before, 64);
    own = ids_own_file_of(open("/dev/null", O_RDONLY));
    ck_assert_int_ge(own.file, 48);
    ids_own_file_close(&own);
    limit_files(before, (rlim_t)first + 1);
    own = ids_own_file_of(open("/dev/null", O_RDONLY)); /* the only number that is free */
    ck_assert_int_eq(own.file, first);
    ids_own_file_close(&own);
    ck_assert_int_eq(ids_own_file_of(-1).file, -1);
    limit_files(before, before.rlim_cur);
    ck_assert_int_eq(next_number(), first);
}
END_TEST

IDS_RUN_SUITE("agent", test_life, test_bell_with_one_end, test_own_files_lie_high)
