/* other_threads.h - how long the threads of this process that run no Python ran, and waited for a core, while stacks
 * were sampled. XLA's are among them: with its CPU client they are the device, and the times of its ops include what
 * they waited. */
#ifndef IDS_COLLECTORS_COMMON_OTHER_THREADS_H
#define IDS_COLLECTORS_COMMON_OTHER_THREADS_H

#include <stddef.h>
#include <stdint.h>

enum { IDS_OTHER_THREADS = 256 }; /* more are not asked about: each costs a few microseconds */

struct ids_thread_times {
    uint64_t tid;
    int64_t ran_ns, waited_ns; /* waited_ns: ready to run, and all cores were others' */
};

struct ids_other_threads {
    size_t count;
    struct ids_thread_times at[IDS_OTHER_THREADS];
    void *tasks; /* while they are being read: the kernel's list */
    int is_read;
};

/* What the kernel says of the threads by now (/proc/self/task/TID/schedstat), of at most `most` more of them at a call:
 * a thread that takes longer than its turn of a core loses it. Begins where the threads are zero. 1 when all are
 * read. */
int ids_other_threads_read(struct ids_other_threads *threads, size_t most);
/* Ends it before that, and forgets them. */
void ids_other_threads_forget(struct ids_other_threads *threads);
/* How long those of `now` that are not left out ran and waited since `before`; both 0 where the kernel does not say it.
 * A thread that has ended meanwhile is in no sum. */
struct ids_thread_times ids_other_threads_since(const struct ids_other_threads *before,
                                                const struct ids_other_threads *now,
                                                int (*is_left_out)(const void *context, uint64_t tid),
                                                const void *context);

#endif
