#include "lib/capture/child.h"

#include "lib/capture/group_witness.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child_pid;
static struct ids_group_witness witness;
static struct sigaction before[NSIG]; /* what was done at each signal; at SIG_IGN it stays so */

/* Of the program's own doings, or nobody can catch it. */
static int is_passed_on(int number) {
    return number != SIGKILL && number != SIGSTOP && number != SIGCHLD && number != SIGTTIN && number != SIGTTOU &&
           number != SIGPIPE && number != SIGXFSZ;
}

/* As if we had no handler for it: until a signal says to go on. */
static void stop(void) {
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction ours;
    sigset_t only, mask;
    sigemptyset(&only);
    sigaddset(&only, SIGTSTP);
    sigaction(SIGTSTP, &plain, &ours);
    raise(SIGTSTP); /* which the handler holds back */
    sigprocmask(SIG_UNBLOCK, &only, &mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGTSTP, &ours, NULL);
}

/* What lets a whole group go on, as a shell's fg does, has reached the child already. */
static int goes_on_already(int number) {
    siginfo_t stopped = {0};
    if (number != SIGCONT) return 0;
    return !waitid(P_PID, (id_t)child_pid, &stopped, WSTOPPED | WNOHANG | WNOWAIT) && !stopped.si_pid;
}

/* That of an instruction of ours that failed, or of abort(). */
static int is_our_own(int number, const siginfo_t *info) {
    int is_fault = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGTRAP;
    return info->si_code > 0 ? is_fault || info->si_code != SI_KERNEL : info->si_pid == getpid();
}

/* It ends us as it would have: it comes again, or is sent again. */
static void fail_by(int number, const siginfo_t *info) {
    sigaction(number, &before[number], NULL);
    if (info->si_code <= 0) raise(number); /* which the handler holds back */
}

static void pass_on(int number, const siginfo_t *info) {
    if (info->si_code == SI_QUEUE)
        sigqueue((pid_t)child_pid, number, info->si_value);
    else
        kill((pid_t)child_pid, number);
}

static void forward(int number, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    if (is_our_own(number, info)) {
        fail_by(number, info);
        return;
    }
    int came_to_all = ids_group_witness_saw(&witness, number) || info->si_code == SI_KERNEL;
    if (child_pid > 0 && !came_to_all && !goes_on_already(number)) pass_on(number, info);
    if (number == SIGTSTP) stop();
    errno = error;
}

/* A signal that was ignored when we were started (nohup) stays so, for us and for the child. */
static void catch_signals(void) {
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    for (int i = 1; i < NSIG; i++) {
        before[i].sa_handler = SIG_IGN; /* those that the C library keeps for itself cannot be asked about */
        if (!is_passed_on(i) || sigaction(i, NULL, &before[i])) continue;
        if (before[i].sa_handler != SIG_IGN) sigaction(i, &action, NULL);
    }
}

static void restore_signals(void) {
    for (int i = 1; i < NSIG; i++)
        if (is_passed_on(i) && before[i].sa_handler != SIG_IGN) sigaction(i, &before[i], NULL);
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
    sigset_t held, mask;
    pid_t pid = 0;
    *ret_end = (struct ids_child_end){.code = -1};
    sigfillset(&held);
    child_pid = 0;
    sigprocmask(SIG_BLOCK, &held, &mask); /* a signal that comes now waits until there is a child to send it to */
    ids_group_witness_start(&witness);
    catch_signals();
    int64_t start = now_ns();
    int failed = spawn(argv, environment, &mask, &pid);
    child_pid = failed ? 0 : (sig_atomic_t)pid;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    int code = failed ? fail_spawn(argv[0], failed, err) : wait_for(pid, ret_end, err);
    child_pid = 0;
    restore_signals();
    ids_group_witness_end(&witness);
    ret_end->pid = (int)pid;
    ret_end->wall_ns = now_ns() - start;
    return code;
}

int ids_child_status(const struct ids_child_end *end) {
    return end->signal ? 128 + end->signal : end->code;
}
