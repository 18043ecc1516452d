/* python_gil.h - whether a thread waits for Python's lock.
 *
 * Frames do not show it: the thread stands in a call, or between two instructions, while another one runs. The kernel
 * does: the thread sleeps in a futex that lies in Python's runtime, where the main interpreter's lock is. */
#ifndef IDS_COLLECTORS_COMMON_PYTHON_GIL_H
#define IDS_COLLECTORS_COMMON_PYTHON_GIL_H

#include <stdint.h>

/* Where the lock lies; both 0: unknown. */
struct ids_python_gil {
    uintptr_t from, to;
};

/* Of the Python of this process. */
void ids_python_gil_find(struct ids_python_gil *gil);
/* 1 when the thread waits for it; 0 when not, and where it cannot be known. One thread at a time may ask. */
int ids_python_gil_is_awaited(const struct ids_python_gil *gil, uint64_t tid);
/* Closes what was opened to ask. */
void ids_python_gil_done(void);

#endif
