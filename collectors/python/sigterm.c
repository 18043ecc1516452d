/* sigterm.c - a program that is told to end (SIGTERM) in the middle of a window still gets its window, and then ends by
 * the signal.
 *
 * For the Python hook, because a Python that leaves the signal as it was dies at once, without its exit functions. A
 * handler of the C library and not of Python's module signal, which takes only the main thread's, and runs them when
 * that comes back from C code. It stands only while a window is open, and only where the signal is at its default. */
#include "collectors/common/agent.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#pragma weak pthread_create /* see collectors/common/glibc.h */

static int bell = -1;
static pid_t owner;       /* a child of a fork has the handler, but nobody who waits for the bell */
static atomic_int closes; /* the handle of the collector to close */
static struct sigaction before;

IDS_AGENT_API void ids_hook_catch_sigterm(int handle);
IDS_AGENT_API void ids_hook_release_sigterm(void);

static void end_by_signal(void) {
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
}

static void on_signal(int number) {
    uint64_t one = 1;
    (void)number;
    if (getpid() != owner || write(bell, &one, sizeof one) < 0) end_by_signal();
}

static void *wait_for_bell(void *argument) {
    uint64_t count;
    (void)argument;
    while (read(bell, &count, sizeof count) < 0) continue; /* EINTR alone */
    ids_agent_close(atomic_load(&closes));
    end_by_signal();
    return NULL;
}

/* The thread that waits, once for each process: 0 when there is one. */
static int prepare(void) {
    pthread_t thread;
    sigset_t all, mask;
    if (owner == getpid()) return 0;
    if (bell >= 0) close(bell);
    bell = eventfd(0, EFD_CLOEXEC);
    if (bell < 0 || !pthread_create) return -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* of this thread alone on Linux; the new one inherits it */
    int failed = pthread_create(&thread, NULL, wait_for_bell, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (failed || pthread_detach(thread)) return -1;
    owner = getpid();
    return 0;
}

void ids_hook_catch_sigterm(int handle) {
    struct sigaction mine = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (sigaction(SIGTERM, NULL, &before) || before.sa_handler != SIG_DFL || prepare()) return;
    atomic_store(&closes, handle);
    sigemptyset(&mine.sa_mask);
    sigaction(SIGTERM, &mine, NULL);
}

/* Unless the program has set its own handler since. */
void ids_hook_release_sigterm(void) {
    struct sigaction now;
    if (!sigaction(SIGTERM, NULL, &now) && now.sa_handler == on_signal) sigaction(SIGTERM, &before, NULL);
}
