#include "collectors/common/stacks.h"

#include "collectors/common/cells.h"
#include "collectors/common/other_threads.h"
#include "collectors/common/own_file.h"
#include "collectors/common/own_memory.h"
#include "collectors/common/process.h"
#include "collectors/common/python_threads.h"
#include "collectors/common/sampling_pace.h"
#include "collectors/common/spells.h"
#include "collectors/common/stacks_plane.h"
#include "collectors/common/thread_clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma weak pthread_create /* see glibc.h */

enum { SECOND_NS = 1000000000, END_NS = SECOND_NS };
/* The sampling thread may have a 25th of a core, and this much at once: the first stacks have code that is new to
 * it. */
enum { COST_SHARE = 25, COST_AT_ONCE_NS = 20000000 };
/* What the other threads did so far is asked after the first samples, which come close behind each other, and of a few
 * threads with each. */
enum { OTHERS_AFTER_NS = 4000000, OTHERS_AT_ONCE = 4 };
/* Of processes more: who has the cores is asked where samples are few, because there are none. */
enum { USERS_AT_ONCE = 64 };
/* A shorter wait for a core is what any turn of a thread may take. */
enum { CORE_WAIT_NS = 100000 };

/* The agent's jobs start and stop it, one at a time; between them the thread alone touches what is sampled. */
static struct {
    struct ids_python_layout layout;
    struct ids_sampled sampled;
    struct ids_stacks_counts counts;
    struct ids_python_stack stack;
    struct ids_python_gil gil;
    struct ids_python_threads threads;
    struct ids_other_threads others; /* at the begin; none: not read */
    struct ids_core_users users;     /* the same */
    int running;                     /* Python threads in it */
    int is_known;                    /* of `layout`: what ids_python_layout_find answered, plus 2 */
    int bell;                        /* rung: the thread ends */
    pid_t owner;
    atomic_int runs;
    _Atomic uint64_t left_out; /* a thread that is none of the program's; 0: none */
} stacks = {.bell = -1};

static int64_t cpu_time(void) {
    struct timespec spent;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent) ? 0 : (int64_t)spent.tv_sec * SECOND_NS + spent.tv_nsec;
}

static void find_core_wait(const struct ids_python_thread *thread, struct ids_thread_clock *clock, uint32_t number) {
    clock->waited_ns = ids_thread_waited_ns(thread->tid);
    if (!thread->depth || thread->clock.waited_ns < 0 || thread->clock.cpu_ns < 0) return;
    struct ids_core_wait wait = ids_core_wait_between(&thread->clock, clock, thread->read + 1 < number);
    if (wait.end_ns - wait.start_ns >= CORE_WAIT_NS) ids_samples_wait(&stacks.sampled.samples, thread->line, wait);
}

static int read_thread(struct ids_python_thread *thread, uint32_t number) {
    return ids_python_stack_read(&stacks.layout, &stacks.sampled.codes, thread->state, number, &thread->guess,
                                 &stacks.stack);
}

/* Its number is known only when it was read, and its clock must be from before that: so it is read twice. */
static int meet_thread(struct ids_python_thread *thread, uint32_t number) {
    if (thread->tid || stacks.layout.minor < 11) return 0;
    if (read_thread(thread, number)) return -1;
    thread->tid = stacks.stack.tid;
    return 0;
}

/* When the stack was read: what is asked about other threads, and of the kernel about this one, takes longer than many
 * a call that events show beside it. */
static int read_thread_at(struct ids_python_thread *thread, uint32_t number, int64_t *ret_when_ns) {
    int64_t before_ns = ids_realtime_ns();
    if (read_thread(thread, number)) return -1;
    *ret_when_ns = before_ns + (ids_realtime_ns() - before_ns) / 2;
    return 0;
}

/* 0, or -1 when there is no such thread any more. */
static int take_thread(struct ids_python_thread *thread, uint32_t number) {
    struct ids_samples *samples = &stacks.sampled.samples;
    struct ids_python_stack *stack = &stacks.stack;
    if (meet_thread(thread, number)) return -1;
    struct ids_thread_clock clock = {ids_thread_cpu_ns(thread->tid), -1, ids_realtime_ns()};
    int asks_gil = stacks.running > 1; /* one alone waits for nobody */
    if (ids_python_thread_is_still(thread, clock.cpu_ns, number) && (thread->asked_gil || !asks_gil) &&
        (!thread->depth || !ids_samples_again(samples, thread->line, number, clock.at_ns))) {
        stacks.counts.still++;
        /* The thread behind it may have ended meanwhile: all others are behind that one. */
        return ids_python_next_thread(&stacks.layout, thread->state, &thread->next);
    }
    if (clock.cpu_ns >= 0) find_core_wait(thread, &clock, number);
    uint64_t ours = atomic_load(&stacks.left_out); /* before it is read: one that is no more is not in what is read */
    int64_t when_ns;
    if (read_thread_at(thread, number, &when_ns)) return -1;
    stack->woke = thread->tid == stack->tid && ids_thread_woke_between(&thread->clock, &clock);
    /* Another thread may have got the state's place: its clock is not known. */
    thread->clock = thread->tid == stack->tid ? clock : (struct ids_thread_clock){-1, -1, 0};
    thread->tid = stack->tid;
    thread->next = stack->next;
    thread->read = number;
    thread->depth = stack->depth;
    thread->asked_gil = asks_gil;
    if (!stack->depth) return 0;
    stack->waits = ids_thread_waits_for(&stacks.gil, stack->tid);
    if (stack->waits == IDS_THREAD_WAITS_FOR_GIL && !asks_gil) stack->waits = IDS_THREAD_WAITS_NOT;
    thread->line = ours && stack->pthread == ours ? SIZE_MAX : ids_samples_add(samples, stack, number, when_ns);
    return 0;
}

/* 1 when no thread had run since the sample before. */
static int take_sample(uint32_t number) {
    int64_t still = stacks.counts.still;
    uintptr_t state = ids_python_first_thread(&stacks.layout);
    int running = 0;
    size_t count = 0;
    for (; state; count++) {
        struct ids_python_thread *thread = ids_python_threads_at(&stacks.threads, count, state);
        if (!thread || take_thread(thread, number)) break;
        running += thread->depth > 0;
        state = thread->next;
    }
    ids_python_threads_end(&stacks.threads, count);
    stacks.running = running;
    return count > 0 && stacks.counts.still - still == (int64_t)count;
}

/* Until then, or until the bell rings: 1. */
static int rings_before(int64_t when_ns) {
    for (;;) {
        int64_t left_ns = when_ns - ids_monotonic_ns();
        struct timespec left = {left_ns / SECOND_NS, left_ns % SECOND_NS};
        struct pollfd wait = {.fd = stacks.bell, .events = POLLIN};
        if (left_ns <= 0) left = (struct timespec){0};
        int ready = ppoll(&wait, 1, &left, NULL);
        if (ready > 0) return 1;
        if (ready == 0 && ids_monotonic_ns() >= when_ns) return 0;
        if (ready < 0 && errno != EINTR) return 1;
    }
}

/* What a sample costs: the mean of the last ones, as far as a mean forgets the others. */
static int64_t mean_cost(int64_t mean_ns, int64_t cost_ns) {
    enum { WEIGHT = 16 };
    return mean_ns ? mean_ns + (cost_ns - mean_ns) / WEIGHT : cost_ns;
}

/* A thread that asks for short turns of a core gets it at once when it wakes (Linux 6.12 and later; others take no
 * notice). Without it the sample waits where the cores are busy, until the thread that it was to see has ended what it
 * computed: that was seen half as often as it ran. */
static void ask_for_short_turns(void) {
    enum { TURN_NS = 100000 };
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } turns = {.size = sizeof turns, .nice = getpriority(PRIO_PROCESS, 0), .runtime_ns = TURN_NS};
    if (sched_getscheduler(0) == SCHED_OTHER) syscall(SYS_sched_setattr, 0, &turns, 0);
}

/* The first sample is due in half a period: at once it would find the code that opens the window. The next one is due a
 * period after this one was; later where the thread has had its share. */
static void *run(void *argument) {
    struct ids_stacks_counts *counts = &stacks.counts;
    int64_t first_ns = ids_monotonic_ns(),
            due_ns = first_ns + ids_sampling_period(counts->rate, 0, (struct ids_sampling_last){0, 0}) / 2,
            cpu_ns = cpu_time();
    struct ids_sampling_last last = {0, 0};
    uint32_t number = 0, random = 2463534242u;
    (void)argument;
    ask_for_short_turns();
    while (!rings_before(due_ns) && number < UINT32_MAX && stacks.layout.is_initialized()) {
        int64_t now_ns = ids_monotonic_ns(), before_ns = cpu_ns;
        int64_t period_ns = ids_sampling_period(counts->rate, now_ns - first_ns, last);
        if (number && now_ns - due_ns > period_ns) counts->late++;
        if (now_ns - first_ns < IDS_SAMPLING_DENSE_NS) counts->dense++;
        last.is_still = take_sample(number++);
        cpu_ns = cpu_time();
        last.cost_ns = mean_cost(last.cost_ns, cpu_ns - before_ns);
        if (now_ns - first_ns >= OTHERS_AFTER_NS) {
            ids_core_users_read(&stacks.users, USERS_AT_ONCE);
            ids_other_threads_read(&stacks.others, OTHERS_AT_ONCE);
        }
        int64_t earned_ns = first_ns + (cpu_ns - COST_AT_ONCE_NS) * COST_SHARE;
        due_ns += ids_sampling_next(period_ns, &random);
        if (due_ns < earned_ns) due_ns = earned_ns;
        if (due_ns < now_ns) due_ns = now_ns; /* what was missed is not made up for */
    }
    ids_thread_waits_done();
    ids_thread_clocks_done();
    ids_python_threads_done(&stacks.threads);
    counts->samples = number;
    counts->cpu_ns = cpu_time();
    atomic_store(&stacks.runs, 0);
    return NULL;
}

int ids_stacks_can(char *why, size_t why_size) {
    if (stacks.is_known == 3) return ids_own_memory_open(why, why_size) ? -1 : 1; /* a child of a fork asks anew */
    stacks.is_known = ids_python_layout_find(&stacks.layout, why, why_size) + 2;
    return stacks.is_known - 2;
}

static int start_thread(void) {
    pthread_t thread;
    sigset_t all, before;
    if (!pthread_create) return -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* of this thread alone on Linux; the new one inherits it */
    int failed = pthread_create(&thread, NULL, run, NULL) || pthread_detach(thread);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return failed ? -1 : 0;
}

int ids_stacks_start(int64_t rate, int64_t running_step, char *why, size_t why_size) {
    if (atomic_load(&stacks.runs)) {
        snprintf(why, why_size, "the sampling of the window before has not ended");
        return -1;
    }
    int can = ids_stacks_can(why, why_size);
    if (can <= 0) return can;
    ids_python_gil_find(&stacks.gil);
    stacks.running = 0;
    ids_other_threads_forget(&stacks.others);
    ids_core_users_forget(&stacks.users);
    ids_sampled_done(&stacks.sampled);
    stacks.counts =
        (struct ids_stacks_counts){.rate = rate, .begin_ns = ids_realtime_ns(), .running_step = running_step};
    stacks.bell = ids_own_file_moved_up(eventfd(0, EFD_CLOEXEC));
    atomic_store(&stacks.runs, 1);
    if (stacks.bell >= 0 && !start_thread()) return 1;
    snprintf(why, why_size, "there is no thread for it");
    if (stacks.bell >= 0) close(stacks.bell);
    stacks.bell = -1;
    atomic_store(&stacks.runs, 0);
    return -1;
}

void ids_stacks_leave_out(uint64_t pthread) {
    atomic_store(&stacks.left_out, pthread);
}

int ids_stacks_stop(struct ids_stacks_counts *ret_counts) {
    uint64_t one = 1;
    if (stacks.bell < 0) return 0;
    int64_t until_ns = ids_monotonic_ns() + END_NS;
    stacks.counts.end_ns = ids_realtime_ns();
    int rang = write(stacks.bell, &one, sizeof one) == sizeof one;
    while (rang && atomic_load(&stacks.runs) && ids_monotonic_ns() < until_ns) poll(NULL, 0, 1);
    if (atomic_load(&stacks.runs)) return 0; /* a machine that gives it no core: what it has is left to it */
    close(stacks.bell);
    stacks.bell = -1;
    stacks.counts.threads = (int64_t)stacks.sampled.samples.thread_count;
    stacks.counts.dropped = stacks.sampled.samples.dropped;
    stacks.counts.dense_end_ns = stacks.counts.begin_ns + IDS_SAMPLING_DENSE_NS;
    if (stacks.counts.dense_end_ns > stacks.counts.end_ns) stacks.counts.dense_end_ns = stacks.counts.end_ns;
    *ret_counts = stacks.counts;
    return 1;
}

static int ran_python(const void *context, uint64_t tid) {
    const struct ids_samples *samples = context;
    for (size_t i = 0; i < samples->thread_count; i++) {
        if (samples->threads[i].tid == tid) return 1;
    }
    return 0;
}

static void sum_others(struct ids_stacks_counts *counts) {
    static struct ids_other_threads now;
    if (!stacks.others.is_read || !stacks.others.count) return;
    ids_other_threads_forget(&now);
    ids_other_threads_read(&now, SIZE_MAX);
    struct ids_thread_times sum = ids_other_threads_since(&stacks.others, &now, ran_python, &stacks.sampled.samples);
    counts->others_ran_ns = sum.ran_ns;
    counts->others_waited_ns = sum.waited_ns;
}

/* Ticks are of 10 ms: of a shorter window nothing is known. */
static void find_core_users(struct ids_stacks_counts *counts) {
    enum { LEAST_NS = 40000000 };
    static struct ids_core_users now;
    int64_t ticks = sysconf(_SC_CLK_TCK);
    if (!stacks.users.is_read || !stacks.users.count || ticks <= 0) return;
    const struct ids_core_user *last = &stacks.users.at[stacks.users.count - 1];
    if (ids_monotonic_ns() - last->when_ns < LEAST_NS) return;
    ids_core_users_forget(&now);
    ids_core_users_read(&now, SIZE_MAX);
    counts->cores = ids_core_users_since(&stacks.users, &now, getpid(), SECOND_NS / ticks);
}

int ids_stacks_write(const char *path, const struct ids_stacks_window *window, char *why, size_t why_size) {
    struct ids_stacks_counts *counts = &stacks.counts;
    if (atomic_load(&stacks.runs)) {
        snprintf(why, why_size, "the sampling thread has not ended");
        return -1;
    }
    int failed = 0;
    counts->slow_step = window->slow_step;
    counts->next_step_ns = window->next_step_ns;
    if (path) sum_others(counts);
    if (path) find_core_users(counts);
    if (path && counts->samples > 0 && stacks.sampled.samples.thread_count)
        failed = ids_stacks_plane_write(&stacks.sampled, counts, stacks.layout.minor, path, why, why_size);
    ids_sampled_done(&stacks.sampled);
    ids_other_threads_forget(&stacks.others);
    ids_core_users_forget(&stacks.users);
    stacks.counts = (struct ids_stacks_counts){0};
    return failed;
}

void ids_stacks_forked(void) {
    if (stacks.bell >= 0) close(stacks.bell);
    stacks.bell = -1;
    ids_spells_forget();
    ids_cells_forked();
    ids_thread_waits_done();
    ids_thread_clocks_done();
    /* What was sampled is the parent's; it may have been in the middle of a change, so it is left as it lies. */
    memset(&stacks.sampled, 0, sizeof stacks.sampled);
    memset(&stacks.threads, 0, sizeof stacks.threads);
    memset(&stacks.others, 0, sizeof stacks.others);
    memset(&stacks.users, 0, sizeof stacks.users);
    atomic_store(&stacks.runs, 0);
}
