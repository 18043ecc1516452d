/* signals.c - a program that a signal ends in the middle of a window still gets its window, and then ends by the
 * signal.
 *
 * For the Python hook, because a Python that leaves a signal as it was dies at once, without its exit functions.
 * Handlers of the C library and not of Python's module signal, which takes only the main thread's, and runs them when
 * that comes back from C code. They stand only while a window is open, and only where a signal is at its default. */
#include "collectors/common/agent.h"
#include "collectors/common/own_file.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#pragma weak pthread_create /* see collectors/common/glibc.h */
#pragma weak dlsym

/* After a crash the window is worth a wait, but a program whose memory is damaged may never get it out. */
enum { CRASH_MS = 10000 };

/* What people and schedulers end programs by, and what a crash raises in the thread that crashed. */
static const struct {
    int number, is_crash;
} endings[] = {{SIGTERM, 0}, {SIGHUP, 0},  {SIGUSR1, 0}, {SIGUSR2, 0}, {SIGXCPU, 0}, {SIGQUIT, 0},
               {SIGABRT, 1}, {SIGSEGV, 1}, {SIGBUS, 1},  {SIGFPE, 1},  {SIGILL, 1}};
enum { ENDINGS = sizeof endings / sizeof *endings };

static int bell = -1, saved = -1;
static pid_t owner;       /* a child of a fork has the handlers, but nobody who waits for the bell */
static pthread_t saver;   /* who waits for it */
static atomic_int closes; /* the handle of the collector to close */
static atomic_int ending; /* the signal that came */
static atomic_int is_open;
static struct sigaction before[ENDINGS];
static int is_ours[ENDINGS];
static int (*has_gil)(void);
static void *(*release_gil)(void);

IDS_AGENT_API void ids_hook_catch_signals(int handle);
IDS_AGENT_API void ids_hook_release_signals(void);

static void end_by_signal(int number) {
    signal(number, SIG_DFL);
    kill(getpid(), number);
}

static int ring(int event) {
    uint64_t one = 1;
    return write(event, &one, sizeof one) < 0 ? -1 : 0;
}

static void on_signal(int number) {
    atomic_store(&ending, number);
    if (getpid() != owner || !atomic_load(&is_open) || ring(bell)) end_by_signal(number);
}

/* In the thread that crashed, which waits here: when it returns the signal comes again, and finds its default. */
static void on_crash(int number) {
    signal(number, SIG_DFL);
    if (getpid() == owner && atomic_exchange(&is_open, 0) && !pthread_equal(pthread_self(), saver)) {
        struct pollfd wait = {.fd = saved, .events = POLLIN};
        if (has_gil && release_gil && has_gil()) release_gil(); /* whoever writes the window needs it */
        atomic_store(&ending, 0);
        if (!ring(bell)) poll(&wait, 1, CRASH_MS);
    }
    raise(number);
}

static void *wait_for_bell(void *argument) {
    uint64_t count;
    (void)argument;
    while (read(bell, &count, sizeof count) < 0) continue; /* EINTR alone */
    int number = atomic_load(&ending);
    ids_agent_close(atomic_load(&closes));
    if (number) {
        end_by_signal(number);
    } else {
        ring(saved);
    }
    return NULL;
}

static void find_gil(void) {
    if (!dlsym) return;
    void *check = dlsym(RTLD_DEFAULT, "PyGILState_Check"), *release = dlsym(RTLD_DEFAULT, "PyEval_SaveThread");
    memcpy(&has_gil, &check, sizeof check);
    memcpy(&release_gil, &release, sizeof release);
}

/* The thread that waits, once for each process: 0 when there is one. */
static int prepare(void) {
    sigset_t all, mask;
    if (owner == getpid()) return 0;
    if (bell >= 0) close(bell);
    if (saved >= 0) close(saved);
    bell = ids_own_file_moved_up(eventfd(0, EFD_CLOEXEC));
    saved = ids_own_file_moved_up(eventfd(0, EFD_CLOEXEC));
    if (bell < 0 || saved < 0 || !pthread_create) return -1;
    find_gil();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* of this thread alone on Linux; the new one inherits it */
    int failed = pthread_create(&saver, NULL, wait_for_bell, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (failed || pthread_detach(saver)) return -1;
    owner = getpid();
    return 0;
}

void ids_hook_catch_signals(int handle) {
    if (prepare()) return;
    atomic_store(&closes, handle);
    atomic_store(&is_open, 1);
    for (int i = 0; i < ENDINGS; i++) {
        struct sigaction mine = {.sa_handler = endings[i].is_crash ? on_crash : on_signal,
                                 .sa_flags = endings[i].is_crash ? SA_ONSTACK : SA_RESTART};
        sigemptyset(&mine.sa_mask);
        is_ours[i] = !sigaction(endings[i].number, NULL, &before[i]) && before[i].sa_handler == SIG_DFL &&
                     !sigaction(endings[i].number, &mine, NULL);
    }
}

/* Where the program has not set its own handlers since. */
void ids_hook_release_signals(void) {
    struct sigaction now;
    atomic_store(&is_open, 0);
    for (int i = 0; i < ENDINGS; i++) {
        if (!is_ours[i] || sigaction(endings[i].number, NULL, &now)) continue;
        if (now.sa_handler == on_signal || now.sa_handler == on_crash) sigaction(endings[i].number, &before[i], NULL);
        is_ours[i] = 0;
    }
}
