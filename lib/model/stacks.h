/* stacks.h - sampled stacks as a tree of calls: how long each call was seen below the same calls around it. */
#ifndef IDS_LIB_MODEL_STACKS_H
#define IDS_LIB_MODEL_STACKS_H

#include "lib/model/trace.h"

/* A call below others; the outermost is a thread. */
struct ids_stack {
    uint32_t outside; /* index + 1 of the stack around it; 0: a thread */
    uint32_t text;    /* of the frame, or the thread's name */
    uint32_t track;
    int64_t self_ps;
};

/* Calls beyond them count as time of the call around them. */
enum { IDS_STACKS_MOST = 1 << 17 };

/* The stack of a call of that name inside `outside` (index + 1; 0: outermost on its thread): index + 1; 0 when memory
 * ran out. */
uint32_t ids_stack_inside(struct ids_trace *trace, uint32_t track, uint32_t outside, uint32_t name);

/* The same of a text; with `outside` 0 that of the thread itself. */
uint32_t ids_stack_of(struct ids_trace *trace, uint32_t track, uint32_t outside, uint32_t text);

#endif
