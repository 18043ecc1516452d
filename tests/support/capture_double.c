/* capture_double.c - a program with a collector in it that only looks like one, for tests of the agent and of `idsprof
 * capture`.
 *
 * It is linked with libidsprof_agent.so, as real collectors are. Its arguments are done one after the other:
 *   wake              registers the collector (without it there is none in the process)
 *   rival             registers a second one of lower priority, which contributes
 *   step:FROM:TO[:US] annotated steps of these numbers, TO not included, each so many microseconds long
 *   counts-calls      of the program's functions, from now on
 *   epoch:NUMBER      a step annotated by another name, around those that follow
 *   exec:NAME:N[:US]  N executions of an executable, which the agent counts
 *   call:NAME:N[:US]  N calls of a function that the program's language counts, each of which executes jit_NAME
 *   range:NAME:US     a region
 *   sleep:US, open, close   waits; until a window is open; until none is
 *   again             starts itself anew with the rest, in the same process
 *   fork:N            N children go on with the rest, and the parent waits for them
 *   fail-start, fail-stop, hang-stop:US   the collector does so from now on
 *   late-start:US     its start waits so long for a lock that the program has
 *   devices:N         the profile has so many, which do what the host does
 *   big:BYTES         what is written is so much larger
 *   say:KEY:VALUE, rank:N, wants:SOURCE (prints it), print:TEXT
 *   rmdir             removes the session's folder
 *   exit:N, _exit:N, kill:N, abort
 * At exit() it ends its collectors. The XSpace has one plane with an event for each step that began while it recorded.
 */
#include "collectors/common/agent.h"

#include "tests/support/pb_encode.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_US = 1000000, OPEN = 2 };

static int handles[2], handle_count;
static atomic_int records;
static int fails_start, fails_stop;
static long hang_us, waits_us, ballast, devices;
static atomic_llong recorded;

static void pause_us(long us) {
    struct timespec left = {us / SECOND_US, us % SECOND_US * 1000};
    while (us > 0 && nanosleep(&left, &left) && errno == EINTR) {
    }
}

/* ---- the collector ---- */

static int start(void *context, char *why, size_t why_size) {
    (void)context;
    if (fails_start) snprintf(why, why_size, "another profiler has the device");
    if (fails_start) return -1;
    if (waits_us) pause_us(waits_us);
    if (waits_us) ids_agent_entered();
    records = 1;
    recorded = 0;
    return 0;
}

static void put_message(struct pb *to, unsigned field, const struct pb *message) {
    pb_varint(to, field << 3 | 2);
    pb_varint(to, message->length);
    pb_raw(to, message->at, message->length);
}

static void put_text(struct pb *to, unsigned field, const char *text) {
    struct pb bytes = {0};
    pb_raw(&bytes, text, strlen(text));
    put_message(to, field, &bytes);
    free(bytes.at);
}

/* XSpace { planes { name lines { id name timestamp_ns events } event_metadata { 1 { id name } } } } */
static int write_space(const char *path, const char *plane_name, int64_t events) {
    struct pb space = {0}, plane = {0}, line = {0}, entry = {0}, metadata = {0};
    pb_uint(&line, 1, 1);
    put_text(&line, 2, "steps");
    pb_uint(&line, 3, 1700000000000000000);
    for (int64_t i = 0; i < events; i++) {
        struct pb event = {0};
        pb_uint(&event, 1, 1);
        pb_uint(&event, 2, (uint64_t)i * 1000000);
        pb_uint(&event, 3, 500000);
        put_message(&line, 4, &event);
        free(event.at);
    }
    pb_uint(&metadata, 1, 1);
    put_text(&metadata, 2, "step");
    pb_uint(&entry, 1, 1);
    put_message(&entry, 2, &metadata);
    put_text(&plane, 2, plane_name);
    char *more = calloc(1, (size_t)ballast + 1);
    if (more) put_text(&space, 3, memset(more, 'x', (size_t)ballast)); /* a warning, of any length */
    free(more);
    put_message(&plane, 3, &line);
    put_message(&plane, 4, &entry);
    put_message(&space, 1, &plane);
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    size_t done = 0;
    ssize_t wrote = 0;
    for (; file >= 0 && done < space.length && wrote >= 0; done += (size_t)(wrote < 0 ? 0 : wrote)) {
        wrote = write(file, space.at + done, space.length - done);
    }
    int failed = done < space.length;
    int before = errno;
    if (file >= 0) close(file);
    free(space.at);
    free(plane.at);
    free(line.at);
    free(entry.at);
    free(metadata.at);
    errno = before;
    return failed;
}

static int stop(void *context, const char *path, struct ids_caught *caught, char *why, size_t why_size) {
    (void)context;
    records = 0;
    pause_us(hang_us);
    if (fails_stop) snprintf(why, why_size, "the profiler lost its data");
    if (fails_stop) return -1;
    if (!path) return 0;
    int failed = write_space(path, "/host:CPU", recorded);
    for (long i = 0; i < devices && !failed; i++) {
        char name[40];
        snprintf(name, sizeof name, "/device:GPU:%ld", i);
        failed = write_space(path, name, recorded);
    }
    if (failed) {
        snprintf(why, why_size, "cannot write '%s': %s", path, strerror(errno));
        return -1;
    }
    caught->events = recorded;
    caught->drops = 0;
    return 0;
}

static int contribute(void *context, const char *path, int64_t zero_ns, int64_t begin_ns, int64_t end_ns, char *why,
                      size_t why_size) {
    (void)context, (void)zero_ns;
    if (begin_ns <= 0 || end_ns < begin_ns) snprintf(why, why_size, "a window without a time");
    return begin_ns <= 0 || end_ns < begin_ns ? -1 : write_space(path, "/host:rival", 1);
}

static void register_one(int is_rival) {
    char why[IDS_WHY_BYTES];
    struct ids_collector collector = {.size = sizeof collector,
                                      .priority = is_rival ? IDS_PRIORITY_CUDA : IDS_PRIORITY_PJRT,
                                      .name = is_rival ? "rival" : "double",
                                      .start = start,
                                      .stop = stop,
                                      .contribute = is_rival ? contribute : NULL};
    int handle = ids_agent_register(&collector, why, sizeof why);
    if (handle) handles[handle_count++] = handle;
    if (!handle) printf("asleep: %s\n", why);
}

static void close_all(void) {
    for (int i = 0; i < handle_count; i++) ids_agent_close(handles[i]);
}

/* ---- the arguments ---- */

/* The i-th word of "a:b:c" as a number; `otherwise` when there is none. */
static long number(const char *text, int i, long otherwise) {
    for (; i && text; i--) {
        text = strchr(text, ':');
        if (text) text++;
    }
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static char *word(const char *text, char *buffer, size_t size) {
    snprintf(buffer, size, "%.*s", (int)strcspn(text, ":"), text);
    return buffer;
}

static void count(void) {
    recorded += records;
}

static void fork_children(long children) {
    fflush(stdout);
    for (long i = 0; i < children; i++) {
        if (fork() == 0) return;
    }
    int status, worst = 0;
    while (wait(&status) > 0) worst |= status;
    exit(worst != 0);
}

static int ends(const char *do_what) {
    if (!strncmp(do_what, "exit:", 5)) exit((int)number(do_what, 1, 0));
    if (!strncmp(do_what, "_exit:", 6)) _exit((int)number(do_what, 1, 0));
    if (!strncmp(do_what, "kill:", 5)) return kill(getpid(), (int)number(do_what, 1, 9)) == 0;
    if (!strcmp(do_what, "abort")) abort();
    return 0;
}

/* As the hook of Python and the plugin do. */
static void call(const char *what) {
    char name[64], program[72];
    static long calls;
    word(what, name, sizeof name);
    snprintf(program, sizeof program, "jit_%s", name);
    for (long i = 0; i < number(what, 1, 0); i++) {
        if (!ids_agent_pass(3, NULL, calls)) ids_agent_step(3, NULL, calls);
        calls++;
        if (ids_agent_state() == OPEN) ids_agent_calls_are_of(name);
        ids_agent_step(2, program, -1);
        count();
        pause_us(number(what, 2, 0));
    }
    ids_agent_calls_are_of(name);
}

static int feeds(const char *do_what) {
    char name[64];
    if (!strncmp(do_what, "step:", 5)) {
        for (long i = number(do_what, 1, 0); i < number(do_what, 2, 0); i++) {
            ids_agent_step(1, "train", i);
            count();
            pause_us(number(do_what, 3, 0));
        }
    } else if (!strncmp(do_what, "epoch:", 6)) {
        ids_agent_step(1, "epoch", number(do_what, 1, 0));
    } else if (!strncmp(do_what, "exec:", 5)) {
        for (long i = 0; i < number(do_what, 2, 0); i++) {
            ids_agent_step(2, word(do_what + 5, name, sizeof name), -1);
            count();
            pause_us(number(do_what, 3, 0));
        }
    } else if (!strncmp(do_what, "call:", 5)) {
        call(do_what + 5);
    } else if (!strncmp(do_what, "range:", 6)) {
        ids_agent_range(word(do_what + 6, name, sizeof name), 1);
        count();
        pause_us(number(do_what, 2, 0));
        ids_agent_range(name, 0);
    } else {
        return 0;
    }
    return 1;
}

static int behaves(const char *do_what) {
    if (!strcmp(do_what, "counts-calls")) {
        ids_agent_counts_calls(1);
    } else if (!strcmp(do_what, "fail-start")) {
        fails_start = 1;
    } else if (!strcmp(do_what, "fail-stop")) {
        fails_stop = 1;
    } else if (!strncmp(do_what, "hang-stop:", 10)) {
        hang_us = number(do_what, 1, 0);
    } else if (!strncmp(do_what, "late-start:", 11)) {
        waits_us = number(do_what, 1, 0);
    } else if (!strncmp(do_what, "devices:", 8)) {
        devices = number(do_what, 1, 0);
    } else if (!strncmp(do_what, "big:", 4)) {
        ballast = number(do_what, 1, 0);
    } else if (!strcmp(do_what, "open")) {
        while (ids_agent_state() >= 0 && ids_agent_state() < OPEN) pause_us(1000);
    } else if (!strcmp(do_what, "close")) {
        while (ids_agent_state() == OPEN || ids_agent_state() == OPEN + 1) pause_us(1000);
    } else if (!strncmp(do_what, "sleep:", 6)) {
        pause_us(number(do_what, 1, 0));
    } else if (!strncmp(do_what, "file-size:", 10)) {
        const struct rlimit limit = {(rlim_t)number(do_what, 1, 0), (rlim_t)number(do_what, 1, 0)};
        if (setrlimit(RLIMIT_FSIZE, &limit)) perror(do_what);
    } else if (!strncmp(do_what, "fork:", 5)) {
        fork_children(number(do_what, 1, 1));
    } else {
        return 0;
    }
    return 1;
}

static int tells(const char *do_what) {
    char key[64];
    if (!strncmp(do_what, "say:", 4)) {
        word(do_what + 4, key, sizeof key);
        ids_agent_say(handles[0], key, do_what + 4 + strlen(key) + 1);
    } else if (!strncmp(do_what, "rank:", 5)) {
        ids_agent_rank(number(do_what, 1, 0));
    } else if (!strncmp(do_what, "wants:", 6)) {
        printf("wants %d\n", ids_agent_wants((int)number(do_what, 1, 0)));
    } else if (!strncmp(do_what, "plan:", 5)) {
        int length = ids_agent_plan(do_what + 5, key, sizeof key);
        printf("plan %d %s\n", length, length < 0 ? "" : key);
    } else if (!strncmp(do_what, "print:", 6)) {
        printf("%s\n", do_what + 6);
        fflush(stdout);
    } else {
        return 0;
    }
    return 1;
}

static int remove_session(void) {
    char command[2048];
    const char *session = getenv("IDSPROF_SESSION");
    snprintf(command, sizeof command, "rm -rf '%s'", session ? session : "/nonexistent");
    return system(command) == 0;
}

int main(int argc, char **argv) {
    atexit(close_all);
    for (int i = 1; i < argc; i++) {
        int known = 1;
        if (!strcmp(argv[i], "wake") || !strcmp(argv[i], "rival")) {
            register_one(argv[i][0] == 'r');
        } else if (!strcmp(argv[i], "again")) {
            argv[i] = argv[0];
            execv(argv[0], argv + i);
            return 98;
        } else if (!strcmp(argv[i], "rmdir")) {
            known = remove_session();
        } else {
            known = feeds(argv[i]) || behaves(argv[i]) || tells(argv[i]) || ends(argv[i]);
        }
        if (!known) fprintf(stderr, "capture_double: what is '%s'?\n", argv[i]);
        if (!known) return 99;
    }
    return 0;
}
