/* samples.h - stacks that were sampled: for each thread, runs of samples with the same stack. */
#ifndef IDS_COLLECTORS_COMMON_SAMPLES_H
#define IDS_COLLECTORS_COMMON_SAMPLES_H

#include "collectors/common/python_stack.h"
#include "collectors/common/thread_clock.h"

enum { IDS_SAMPLED_THREADS = 512, IDS_SAMPLED_CALLS = 8 << 20 };

/* The thread had this stack in the samples first..last, which were taken at these times (CLOCK_REALTIME). */
struct ids_sample_run {
    uint32_t first, last;
    int64_t first_ns, last_ns;
    uint32_t calls, depth; /* where they begin in ids_samples.calls; the innermost first */
    enum ids_thread_waits waits;
    int woke; /* the run before has the same stack: in between the thread woke, and came back to it */
};

struct ids_sampled_thread {
    uint64_t pthread, tid;
    struct ids_sample_run *runs;
    size_t count, room;
    struct ids_core_wait *waits; /* one behind the other */
    size_t wait_count, wait_room;
};

struct ids_samples {
    struct ids_sampled_thread *threads;
    size_t thread_count, thread_room;
    struct ids_python_call *calls;
    size_t call_count, call_room;
    int64_t dropped;
};

void ids_samples_done(struct ids_samples *samples);

/* Adds a thread's stack, which has at least one call, as sample `number` at that time; returns the thread's place.
 * SIZE_MAX: there is no room for it, and it is counted in `dropped`. */
size_t ids_samples_add(struct ids_samples *samples, const struct ids_python_stack *stack, uint32_t number,
                       int64_t when_ns);
/* The thread at that place has the stack of the sample before: 0; -1 when it has none that can go on. */
int ids_samples_again(struct ids_samples *samples, size_t place, uint32_t number, int64_t when_ns);
/* It waited for a core. */
void ids_samples_wait(struct ids_samples *samples, size_t place, struct ids_core_wait wait);

#endif
