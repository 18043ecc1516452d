#include "lib/capture/group_witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Who sends a signal to a group sends it to one process after the other. */
enum { ON_ITS_WAY_NS = 5000000, ANSWER_MS = 1000 };
/* What was noted longer ago than this was another signal, which we did not get: it had come to us twice at once. */
enum { RECENT_NS = 500000000, SIGNALS = 128, FILES_MOST = 65536 };

static volatile int64_t noted_ns[SIGNALS]; /* of the witness alone */

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void note(int number) {
    if (number < SIGNALS) noted_ns[number] = now_ns();
}

static void close_files_but(int ask, int answer) {
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = 0; fd < (most > 0 && most < FILES_MOST ? most : FILES_MOST); fd++)
        if (fd != ask && fd != answer) close(fd);
}

static int came(int number) {
    sigset_t pending;
    if (!sigpending(&pending) && sigismember(&pending, number) == 1) {
        sigset_t one;
        int taken;
        sigemptyset(&one);
        sigaddset(&one, number);
        return !sigwait(&one, &taken);
    }
    int64_t then_ns = noted_ns[number];
    noted_ns[number] = 0;
    return then_ns && now_ns() - then_ns < RECENT_NS;
}

/* Signals are noted while it waits for a question, and answered for when they are pending, too. It ends with its asker,
 * by a signal: what a process does when it exits is not its to do. */
static void attend(int ask, int answer) {
    const struct sigaction noting = {.sa_handler = note};
    unsigned char number, yes;
    sigset_t none;
    sigemptyset(&none);
    close_files_but(ask, answer);
    for (int i = 1; i < NSIG && i < SIGNALS; i++) sigaction(i, &noting, NULL);
    for (;;) {
        fd_set asked;
        FD_ZERO(&asked);
        FD_SET(ask, &asked);
        if (pselect(ask + 1, &asked, NULL, NULL, NULL, &none) < 0) continue; /* by a signal */
        if (read(ask, &number, 1) != 1) break;
        yes = (unsigned char)(number < SIGNALS && came(number));
        if (write(answer, &yes, 1) != 1) break;
    }
    kill(getpid(), SIGKILL);
}

static int pipe_of_ours(int ends[2]) {
    if (pipe(ends)) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

int ids_group_witness_start(struct ids_group_witness *witness) {
    int ask[2] = {-1, -1}, answer[2] = {-1, -1};
    *witness = (struct ids_group_witness){0, -1, -1};
    int failed = pipe_of_ours(ask) || pipe_of_ours(answer) || ask[0] >= FD_SETSIZE;
    pid_t pid = failed ? -1 : fork();
    if (!pid) attend(ask[0], answer[1]);
    if (ask[0] >= 0) close(ask[0]);
    if (answer[1] >= 0) close(answer[1]);
    *witness = (struct ids_group_witness){pid > 0 ? pid : 0, ask[1], answer[0]};
    if (pid > 0) return 0;
    ids_group_witness_end(witness);
    return -1;
}

int ids_group_witness_saw(const struct ids_group_witness *witness, int number) {
    if (!witness->pid) return 0;
    unsigned char question = (unsigned char)number, yes = 0;
    const struct timespec pause = {.tv_nsec = ON_ITS_WAY_NS};
    struct pollfd answered = {.fd = witness->answer, .events = POLLIN};
    nanosleep(&pause, NULL);
    if (write(witness->ask, &question, 1) != 1) return 0;
    if (poll(&answered, 1, ANSWER_MS) != 1) return 0; /* somebody stopped or ended it */
    return read(witness->answer, &yes, 1) == 1 && yes;
}

void ids_group_witness_end(struct ids_group_witness *witness) {
    if (witness->ask >= 0) close(witness->ask);
    if (witness->answer >= 0) close(witness->answer);
    if (witness->pid) {
        kill(witness->pid, SIGKILL); /* also where it was stopped */
        while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    *witness = (struct ids_group_witness){0, -1, -1};
}
