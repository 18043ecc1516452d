#include "lib/capture/child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The signals that people and schedulers send. */
static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU, SIGTSTP, SIGCONT};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

static volatile sig_atomic_t child_pid;

/* As if we had no handler for it: until a signal says to go on. */
static void stop(void) {
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction ours;
    sigset_t only, before;
    sigemptyset(&only);
    sigaddset(&only, SIGTSTP);
    sigaction(SIGTSTP, &plain, &ours);
    raise(SIGTSTP); /* which the handler holds back */
    sigprocmask(SIG_UNBLOCK, &only, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGTSTP, &ours, NULL);
}

/* What lets a whole group go on, as a shell's fg does, has reached the child already. */
static int goes_on_already(int number) {
    siginfo_t stopped = {0};
    if (number != SIGCONT) return 0;
    return !waitid(P_PID, (id_t)child_pid, &stopped, WSTOPPED | WNOHANG | WNOWAIT) && !stopped.si_pid;
}

static void forward(int number, siginfo_t *info, void *context) {
    (void)context;
    int before = errno;
    if (child_pid > 0 && info->si_code != SI_KERNEL && !goes_on_already(number)) kill((pid_t)child_pid, number);
    if (number == SIGTSTP) stop();
    errno = before;
}

/* A signal that was ignored when we were started (nohup) stays so, for us and for the child. */
static void catch_signals(struct sigaction before[FORWARDED]) {
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    for (int i = 0; i < FORWARDED; i++) {
        sigaction(forwarded[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(forwarded[i], &action, NULL);
    }
}

static void restore_signals(const struct sigaction before[FORWARDED]) {
    for (int i = 0; i < FORWARDED; i++) sigaction(forwarded[i], &before[i], NULL);
}

/* `mask` is the child's. What we ignore for ourselves it shall not: a program would not end at a pipe that is
 * closed. */
static int spawn(char *const argv[], char *const environment[], const sigset_t *mask, pid_t *ret_pid) {
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int failed = posix_spawnattr_init(&attributes);
    if (failed) return failed;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    failed = posix_spawnp(ret_pid, argv[0], NULL, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

static int fail_spawn(const char *program, int why, struct ids_error *err) {
    errno = why;
    if (why == ENOMEM) return ids_fail_system(err, "cannot run '%s'", program);
    int code = why == ENOENT || why == ENOTDIR ? IDS_NOT_FOUND : IDS_UNSUPPORTED;
    if (why == ENOENT && !strchr(program, '/')) {
        return ids_fail(err, code, "there is no program '%s' in PATH", program);
    }
    return ids_fail(err, code, "cannot run '%s': %s%s", program, strerror(why),
                    why == ENOEXEC ? "; a script needs a first line such as #!/bin/sh" : "");
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int wait_for(pid_t pid, struct ids_child_end *ret_end, struct ids_error *err) {
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return ids_fail(err, IDS_IO, "cannot wait for process %d: %s", (int)pid, strerror(errno));
    }
    ret_end->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ret_end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ret_end->dumped_core = WIFSIGNALED(status) && WCOREDUMP(status);
    return 0;
}

int ids_child_run(char *const argv[], char *const environment[], struct ids_child_end *ret_end, struct ids_error *err) {
    struct sigaction before[FORWARDED];
    sigset_t held, mask;
    pid_t pid = 0;
    *ret_end = (struct ids_child_end){.code = -1};
    sigemptyset(&held);
    for (int i = 0; i < FORWARDED; i++) sigaddset(&held, forwarded[i]);
    child_pid = 0;
    sigprocmask(SIG_BLOCK, &held, &mask); /* a signal that comes now waits until there is a child to send it to */
    catch_signals(before);
    int64_t start = now_ns();
    int failed = spawn(argv, environment, &mask, &pid);
    child_pid = failed ? 0 : (sig_atomic_t)pid;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    int code = failed ? fail_spawn(argv[0], failed, err) : wait_for(pid, ret_end, err);
    child_pid = 0;
    restore_signals(before);
    ret_end->pid = (int)pid;
    ret_end->wall_ns = now_ns() - start;
    return code;
}

int ids_child_status(const struct ids_child_end *end) {
    return end->signal ? 128 + end->signal : end->code;
}
