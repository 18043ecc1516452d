/* thread_waits.h - what a thread waits for, as the kernel says it.
 *
 * Frames do not show whether it waits for Python's lock: the thread stands in a call, or between two instructions,
 * while another one runs. The thread sleeps in a futex that lies in Python's runtime, where the main interpreter's lock
 * is. Nor do they show that `for line in sys.stdin` waits for the next line: no call stands there. And the words of a
 * call are the program's: `nap(1)` may sleep, and `buffer.read()` may read what is in memory. */
#ifndef IDS_COLLECTORS_COMMON_THREAD_WAITS_H
#define IDS_COLLECTORS_COMMON_THREAD_WAITS_H

#include <stdint.h>

enum ids_thread_waits {
    IDS_THREAD_WAITS_NOT, /* or for something else, or that cannot be known */
    IDS_THREAD_WAITS_FOR_GIL,
    IDS_THREAD_READS,  /* it waits in a call that reads from a file, a pipe or a socket */
    IDS_THREAD_SLEEPS, /* it waits for time to pass */
    IDS_THREAD_RUNS,   /* it waits for nothing, but a core it may be */
};

/* Where the lock lies; both 0: unknown. */
struct ids_python_gil {
    uintptr_t from, to;
};

/* Of the Python of this process. */
void ids_python_gil_find(struct ids_python_gil *gil);
/* One thread at a time may ask. */
enum ids_thread_waits ids_thread_waits_for(const struct ids_python_gil *gil, uint64_t tid);
/* Closes what was opened to ask. */
void ids_thread_waits_done(void);

#endif
