/* memory_live.h - what an allocator's memory was in use for at its peak: what was taken by then and not given back, by
 * the op or the function that took it. */
#ifndef IDS_ANALYZERS_MEMORY_LIVE_H
#define IDS_ANALYZERS_MEMORY_LIVE_H

#include "analyzers/memory_use.h"

struct ids_live {
    const char *op;               /* that the allocator names, or the call on the thread that took it; "" unknown */
    const char *caller;           /* the program's function around it, "step (train.py:12)"; "" unknown */
    uint32_t region, type, shape; /* texts of the trace */
    uint32_t first_op;            /* text of the first one that the allocator names */
    uint8_t ops_differ;           /* 1: in numbers, for they are of one row: layer_0/dropout and layer_1/dropout */
    int64_t bytes;
    uint64_t count;
};

struct ids_live_list {
    struct ids_live *at; /* most bytes first */
    size_t count, room;
    int64_t before; /* bytes in use that were taken before the recording began, less those for stacks */
    struct ids_arena texts;
};

/* Those that live after `last`, one of the allocator's events. An allocator whose events have no addresses gives
 * none. */
int ids_live_make(const struct ids_trace *trace, const struct ids_memory_use *use, const struct ids_allocation *last,
                  struct ids_live_list *ret_list, struct ids_error *err);
void ids_live_done(struct ids_live_list *list);

#endif
