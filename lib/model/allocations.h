/* allocations.h - what allocators did: memory that was taken and given back, with what was in use from then on.
 *
 * XLA's allocators leave an event each time (MemoryAllocation, MemoryDeallocation), PyTorch's a moment ("[memory]").
 * They are on the thread that asked, so an allocator's events come from many tracks; ids_allocations_finish puts them
 * into one order.
 */
#ifndef IDS_LIB_MODEL_ALLOCATIONS_H
#define IDS_LIB_MODEL_ALLOCATIONS_H

#include "lib/model/trace.h"

enum ids_allocator_source {
    IDS_NO_ALLOCATOR,
    IDS_ALLOCATOR_TAKES, /* MemoryAllocation */
    IDS_ALLOCATOR_GIVES, /* MemoryDeallocation */
    IDS_ALLOCATOR_TORCH, /* [memory]: the sign of the bytes says which */
};

struct ids_allocator {
    const char *key;       /* "<host>:GPU_0_bfc" */
    uint32_t host, device; /* device IDS_NONE: memory of the host, or of a device that the trace does not have */
    uint32_t name;         /* text: "GPU_0_bfc", "TPU#0", "cuda:1" */
    int64_t ordinal;       /* of its device on the host; -1 unknown */
    uint8_t on_host;       /* 1: memory of the host */
    uint8_t is_relative;   /* 1: its events do not say what was in use; that counts from the first event's 0 */
    size_t first, count;   /* its part of ids_trace.allocations, in time order */
};

struct ids_allocation {
    int64_t at_ps;
    int64_t bytes;        /* above 0 taken, below 0 given back; 0 unknown */
    int64_t in_use;       /* afterwards, with what is reserved for programs' stacks; -1 unknown */
    int64_t reserved;     /* of that, for stacks */
    int64_t capacity;     /* -1 unknown */
    int64_t life_peak;    /* the most in use since the program began; -1 unknown */
    uint64_t address;     /* 0 unknown */
    double fragmentation; /* 0..1; negative unknown */
    uint32_t allocator, track;
    uint32_t order;                   /* in the file */
    uint32_t op, region, type, shape; /* texts, empty unknown */
    uint8_t takes;                    /* 1: memory was taken */
};

/* What events of that name are. */
enum ids_allocator_source ids_allocator_source_of(struct ids_text name);
/* Adds an event; one that does not say which allocator it is of is left out. 0, or -1 when memory ran out. */
int ids_allocation_add(struct ids_trace *trace, uint32_t track, const struct ids_slice *slice,
                       enum ids_allocator_source source, int64_t at_ps);
/* Adds all of `from`, whose hosts begin at first_host of the trace and tracks at first_track, and whose texts from the
 * number first_text on are `texts` there. 0, or -1 when memory ran out. */
int ids_allocations_add_all(struct ids_trace *trace, const struct ids_trace *from, uint32_t first_host,
                            uint32_t first_track, uint32_t first_text, const uint32_t *texts);
/* Puts them in order, by allocator and time, and finds the allocators' devices. 0, or -1 when memory ran out. */
int ids_allocations_finish(struct ids_trace *trace);

#endif
