/* buffers.h - where a compiled program keeps its values: XLA's buffer assignment (HloProto.buffer_assignment).
 *
 * A logical buffer is a value that needs memory, an allocation a piece of memory that one or more of them share. Not
 * every backend writes it. Sizes are in bytes. Read only when asked for; owned by the module, but for names, which
 * point into the bytes that it was read from.
 */
#ifndef IDS_LIB_HLO_BUFFERS_H
#define IDS_LIB_HLO_BUFFERS_H

#include "lib/base/error.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"

#include <stdint.h>

enum { IDS_HLO_BUFFERS_LIMIT = 1 << 22 }; /* of each kind */

/* LogicalBufferProto */
struct ids_hlo_buffer {
    int64_t id, size, color; /* color: the memory space */
    int64_t instruction_id;  /* that makes the value; older programs write its name instead, and this is -1 */
    int64_t offset;          /* in its allocation */
    uint32_t allocation;     /* place among the allocations; UINT32_MAX: in none */
};

/* BufferAllocationProto */
struct ids_hlo_allocation {
    int64_t index, size, color;
    int64_t parameter; /* number of the entry's parameter that lies in it; -1: none does */
    uint64_t buffer_count;
    uint8_t is_thread_local, is_tuple, is_constant;
    uint8_t is_output; /* may be live when the program ends */
};

/* One run of XLA's heap simulator: buffers come and go in the order of the schedule. */
struct ids_hlo_heap {
    uint32_t
        allocation; /* place of the allocation that it laid out, by the first buffer; UINT32_MAX: unknown. The number in
                     * the file is from before the allocations were sorted. */
    int64_t peak_bytes;                  /* the most that live buffers had together */
    struct ids_text peak;                /* the instruction at which that was reached */
    uint64_t peak_event;                 /* how many events it took to get there */
    uint64_t event_count, unknown_count; /* events, and those of buffers that the proto does not have */
};

struct ids_hlo_buffers {
    struct ids_hlo_buffer *buffers;
    struct ids_hlo_allocation *allocations;
    struct ids_hlo_heap *heaps;
    size_t buffer_count, buffer_room, allocation_count, allocation_room, heap_count, heap_room;
    /* What lived at the highest peak of the heaps in the device's main memory: buffers that own their memory. */
    uint32_t *live;
    size_t live_count, live_room;
    int64_t live_most;         /* that peak */
    struct ids_text live_peak; /* the instruction at it */
    struct ids_keymap by_id;   /* buffer id + 1 -> index */
    int64_t live_bytes;        /* in the heap that is being simulated */
    struct ids_keymap users;   /* id + 1 of a buffer whose memory is used -> by how many live buffers */
    struct ids_keymap owners;  /* id + 1 of a buffer that shares -> id + 1 of the one whose memory it uses */
};

enum ids_hlo_heap_event { IDS_HLO_HEAP_ALLOC, IDS_HLO_HEAP_FREE, IDS_HLO_HEAP_SHARE };

/* NULL when memory ran out. */
struct ids_hlo_buffers *ids_hlo_buffers_new(void);
void ids_hlo_buffers_free(struct ids_hlo_buffers *buffers); /* NULL is fine */

/* 0, IDS_NOMEM or IDS_LIMIT. Buffers come before what assigns them to the last allocation, and before the heaps. */
int ids_hlo_add_buffer(struct ids_hlo_buffers *buffers, const struct ids_hlo_buffer *buffer, struct ids_error *err);
int ids_hlo_add_allocation(struct ids_hlo_buffers *buffers, const struct ids_hlo_allocation *allocation,
                           struct ids_error *err);
void ids_hlo_assign_buffer(struct ids_hlo_buffers *buffers, int64_t buffer_id, int64_t offset);
/* Begins a heap; its events follow. A buffer that shares uses the memory of its canonical one, whether that is freed
 * before or after: the memory is taken while any of them is live. An event of a kind that is not known counts as
 * unknown. */
int ids_hlo_add_heap(struct ids_hlo_buffers *buffers, struct ids_error *err);
int ids_hlo_add_heap_event(struct ids_hlo_buffers *buffers, int kind, int64_t buffer_id, int64_t canonical_id,
                           struct ids_text instruction, struct ids_error *err);

/* Whether what lives at the peak of the last heap is to be kept: its events, as many as it took to get to its peak, are
 * then given once more between these two calls, which leave the heap's figures as they were. 0, or IDS_NOMEM. */
int ids_hlo_heap_is_highest(const struct ids_hlo_buffers *buffers);
void ids_hlo_repeat_heap(struct ids_hlo_buffers *buffers, struct ids_hlo_heap *ret_figures);
int ids_hlo_keep_live(struct ids_hlo_buffers *buffers, const struct ids_hlo_heap *figures, struct ids_error *err);

/* All allocations but thread-local ones together: what the program has on the device while it runs. */
int64_t ids_hlo_allocated_bytes(const struct ids_hlo_buffers *buffers);

#endif
