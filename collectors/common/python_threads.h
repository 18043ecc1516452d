/* python_threads.h - the threads of Python as the last sample saw them, in the order of the interpreter's list: a
 * thread that has not run since then is where it was, and asking the kernel for its CPU time is all that it costs. */
#ifndef IDS_COLLECTORS_COMMON_PYTHON_THREADS_H
#define IDS_COLLECTORS_COMMON_PYTHON_THREADS_H

#include "collectors/common/python_stack.h"
#include "collectors/common/thread_clock.h"

enum { IDS_PYTHON_THREADS = 1024 };

struct ids_python_thread {
    uintptr_t state, next;         /* its state in Python's memory, and the next thread's */
    uint64_t tid;                  /* 0: unknown, so it is read in each sample */
    uint32_t read;                 /* the sample in which it was read */
    int depth, asked_gil;          /* of its stack; whether it was asked for what it waits */
    size_t line;                   /* its place in ids_samples */
    struct ids_thread_clock clock; /* from before it was read */
    struct ids_python_guess guess;
};

struct ids_python_threads {
    struct ids_python_thread *at;
    size_t count, room;
};

/* What is known of the `place`th thread of the list, whose state is there; a new one has tid 0. NULL: no memory, or too
 * many. */
struct ids_python_thread *ids_python_threads_at(struct ids_python_threads *threads, size_t place, uintptr_t state);
/* The list has so many: what came behind them has ended. */
void ids_python_threads_end(struct ids_python_threads *threads, size_t count);
void ids_python_threads_done(struct ids_python_threads *threads);

/* Whether the thread's stack is what it was when it was read: it has not run since. A thread is read again after some
 * samples all the same. `cpu_ns` is its CPU time now, -1 unknown. */
int ids_python_thread_is_still(const struct ids_python_thread *thread, int64_t cpu_ns, uint32_t sample);

#endif
