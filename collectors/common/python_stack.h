/* python_stack.h - what a thread of Python runs at this moment, read without Python's lock.
 *
 * The thread goes on meanwhile. Frames lie on a stack of their own and are never moved, so what is read is the stack as
 * it was at some moment of the reading, but for frames that came or went in between; what is no code object ends it. */
#ifndef IDS_COLLECTORS_COMMON_PYTHON_STACK_H
#define IDS_COLLECTORS_COMMON_PYTHON_STACK_H

#include "collectors/common/python_code.h"
#include "collectors/common/thread_waits.h"

enum { IDS_PYTHON_DEPTH = 256 };

struct ids_python_call {
    uint32_t code;
    uint32_t at : 31;    /* the offset of its instruction in bytes */
    uint32_t from_c : 1; /* a C function that the frame outside called runs it */
};

struct ids_python_stack {
    uint64_t pthread, tid;       /* tid: 0 unknown (before 3.11) */
    uintptr_t next;              /* thread's state, 0: this was the last one */
    enum ids_thread_waits waits; /* set by who knows */
    int woke;                    /* the same: it ran since the sample before, and slept for most of that time */
    int depth;
    struct ids_python_call calls[IDS_PYTHON_DEPTH]; /* the innermost first */
};

/* Where a thread's frames lay when it was read last: they are read at once with what leads to them. */
struct ids_python_guess {
    uintptr_t cframe, frames; /* 0: unknown */
    size_t frames_size;
};

/* Reads the thread whose state is there: 0, or -1 when there is no such thread any more. */
int ids_python_stack_read(const struct ids_python_layout *layout, struct ids_python_codes *codes, uintptr_t thread,
                          uint32_t sample, struct ids_python_guess *guess, struct ids_python_stack *stack);

#endif
