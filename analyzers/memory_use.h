/* memory_use.h - what each allocator had in use over the recording: its peak, how full its memory was, and whether it
 * grows from step to step. */
#ifndef IDS_ANALYZERS_MEMORY_USE_H
#define IDS_ANALYZERS_MEMORY_USE_H

#include "lib/analysis/context.h"
#include "lib/model/allocations.h"

/* How much more is in use at the lowest point of each step than of the one before: memory that no step gives back. */
struct ids_memory_growth {
    int has_value;            /* 0: too few steps with a figure each */
    int64_t median, from, to; /* bytes a step; the median lies between the others with a certainty of 95 % or more */
    size_t steps, grown;      /* differences between steps, and those above 0 */
    int is_leak;              /* it grows in each step or every n-th by a like amount, and is never given back */
    size_t leak_steps;        /* in how many of the differences it leaks */
    int64_t leak_bytes;       /* each time, by the median */
};

struct ids_memory_use {
    const struct ids_allocator *allocator;
    const struct ids_allocation *first, *end; /* in the part of the recording that is looked at */
    const struct ids_allocation *peak;        /* the last event after which the most was in use */
    int64_t life_peak, capacity;              /* -1 unknown */
    uint64_t taken, given;                    /* how often */
    struct ids_memory_growth growth;
};

struct ids_memory_uses {
    struct ids_memory_use *at; /* of devices before those of hosts, the highest peak first */
    size_t count;
    const struct ids_memory_use *most; /* of a device's memory the one with the highest peak; NULL none is known */
};

int ids_memory_uses_make(const struct ids_analysis *analysis, struct ids_memory_uses *ret_uses, struct ids_error *err);
void ids_memory_uses_done(struct ids_memory_uses *uses);

#endif
