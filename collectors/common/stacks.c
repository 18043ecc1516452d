#include "collectors/common/stacks.h"

#include "collectors/common/own_memory.h"
#include "collectors/common/process.h"
#include "collectors/common/python_gil.h"
#include "collectors/common/sampling_pace.h"
#include "collectors/common/stacks_plane.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#pragma weak pthread_create /* see glibc.h */

enum { SECOND_NS = 1000000000, THREADS = 1024, END_NS = SECOND_NS };
/* The sampling thread may have a 25th of a core, and this much at once: the first stacks have code that is new to
 * it. */
enum { COST_SHARE = 25, COST_AT_ONCE_NS = 20000000 };

/* The agent's jobs start and stop it, one at a time; between them the thread alone touches what is sampled. */
static struct {
    struct ids_python_layout layout;
    struct ids_sampled sampled;
    struct ids_stacks_counts counts;
    struct ids_python_stack stack;
    struct ids_python_gil gil;
    int running;  /* Python threads in the last sample */
    int is_known; /* of `layout`: what ids_python_layout_find answered, plus 2 */
    int bell;     /* rung: the thread ends */
    pid_t owner;
    atomic_int runs;
} stacks = {.bell = -1};

static int64_t cpu_time(void) {
    struct timespec spent;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent) ? 0 : (int64_t)spent.tv_sec * SECOND_NS + spent.tv_nsec;
}

static void take_sample(uint32_t number) {
    int64_t when_ns = ids_realtime_ns();
    uintptr_t thread = ids_python_first_thread(&stacks.layout);
    int running = 0;
    for (int count = 0; thread && count < THREADS; count++) {
        struct ids_python_stack *stack = &stacks.stack;
        if (ids_python_stack_read(&stacks.layout, &stacks.sampled.codes, thread, number, stack)) break;
        if (stack->depth) {
            /* One alone waits for nobody. */
            stack->awaits_gil = stacks.running > 1 && ids_python_gil_is_awaited(&stacks.gil, stack->tid);
            ids_samples_add(&stacks.sampled.samples, stack, number, when_ns);
            running++;
        }
        thread = stack->next;
    }
    stacks.running = running;
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

/* The first sample is due in half a period: at once it would find the code that opens the window. The next one is due a
 * period after this one was; later where the thread has had its share. */
static void *run(void *argument) {
    struct ids_stacks_counts *counts = &stacks.counts;
    int64_t first_ns = ids_monotonic_ns(), due_ns = first_ns + ids_sampling_period(counts->rate, 0) / 2;
    uint32_t number = 0, random = 2463534242u;
    (void)argument;
    while (!rings_before(due_ns) && number < UINT32_MAX && stacks.layout.is_initialized()) {
        int64_t now_ns = ids_monotonic_ns();
        int64_t period_ns = ids_sampling_period(counts->rate, now_ns - first_ns);
        if (number && now_ns - due_ns > period_ns) counts->late++;
        if (now_ns - first_ns < IDS_SAMPLING_DENSE_NS) counts->dense++;
        take_sample(number++);
        int64_t earned_ns = first_ns + (cpu_time() - COST_AT_ONCE_NS) * COST_SHARE;
        due_ns += ids_sampling_next(period_ns, &random);
        if (due_ns < earned_ns) due_ns = earned_ns;
        if (due_ns < now_ns) due_ns = now_ns; /* what was missed is not made up for */
    }
    ids_python_gil_done();
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
    ids_sampled_done(&stacks.sampled);
    stacks.counts =
        (struct ids_stacks_counts){.rate = rate, .begin_ns = ids_realtime_ns(), .running_step = running_step};
    stacks.bell = eventfd(0, EFD_CLOEXEC);
    atomic_store(&stacks.runs, 1);
    if (stacks.bell >= 0 && !start_thread()) return 1;
    snprintf(why, why_size, "there is no thread for it");
    if (stacks.bell >= 0) close(stacks.bell);
    stacks.bell = -1;
    atomic_store(&stacks.runs, 0);
    return -1;
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

int ids_stacks_write(const char *path, int64_t slow_step, char *why, size_t why_size) {
    struct ids_stacks_counts *counts = &stacks.counts;
    if (atomic_load(&stacks.runs)) {
        snprintf(why, why_size, "the sampling thread has not ended");
        return -1;
    }
    int failed = 0;
    counts->slow_step = slow_step;
    if (path && counts->samples > 0 && stacks.sampled.samples.thread_count)
        failed = ids_stacks_plane_write(&stacks.sampled, counts, stacks.layout.minor, path, why, why_size);
    ids_sampled_done(&stacks.sampled);
    stacks.counts = (struct ids_stacks_counts){0};
    return failed;
}

void ids_stacks_forked(void) {
    if (stacks.bell >= 0) close(stacks.bell);
    stacks.bell = -1;
    ids_python_gil_done();
    /* What was sampled is the parent's; it may have been in the middle of a change, so it is left as it lies. */
    memset(&stacks.sampled, 0, sizeof stacks.sampled);
    atomic_store(&stacks.runs, 0);
}
