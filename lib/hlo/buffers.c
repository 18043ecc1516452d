#include "lib/hlo/buffers.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

struct ids_hlo_buffers *ids_hlo_buffers_new(void) {
    struct ids_hlo_buffers *buffers = calloc(1, sizeof *buffers);
    if (buffers) buffers->live_peak = (struct ids_text){"", 0};
    return buffers;
}

static void end_heap(struct ids_hlo_buffers *buffers) {
    ids_keymap_done(&buffers->users);
    ids_keymap_done(&buffers->owners);
    buffers->live_bytes = 0;
}

void ids_hlo_buffers_free(struct ids_hlo_buffers *buffers) {
    if (!buffers) return;
    end_heap(buffers);
    free(buffers->buffers);
    free(buffers->allocations);
    free(buffers->heaps);
    free(buffers->live);
    ids_keymap_done(&buffers->by_id);
    free(buffers);
}

static int check_limit(size_t count, const char *what, struct ids_error *err) {
    if (count < IDS_HLO_BUFFERS_LIMIT) return 0;
    return ids_fail(err, IDS_LIMIT, "a program of more than %d %s", IDS_HLO_BUFFERS_LIMIT, what);
}

int ids_hlo_add_buffer(struct ids_hlo_buffers *buffers, const struct ids_hlo_buffer *buffer, struct ids_error *err) {
    int code = check_limit(buffers->buffer_count, "buffers", err);
    if (code) return code;
    if (ids_keymap_add(&buffers->by_id, (uint64_t)buffer->id + 1, buffers->buffer_count) < 0) return ids_no_memory(err);
    struct ids_hlo_buffer *place = IDS_PUSH(buffers->buffers, buffers->buffer_count, buffers->buffer_room);
    if (!place) return ids_no_memory(err);
    *place = *buffer;
    place->allocation = UINT32_MAX;
    return 0;
}

int ids_hlo_add_allocation(struct ids_hlo_buffers *buffers, const struct ids_hlo_allocation *allocation,
                           struct ids_error *err) {
    int code = check_limit(buffers->allocation_count, "allocations", err);
    if (code) return code;
    struct ids_hlo_allocation *place =
        IDS_PUSH(buffers->allocations, buffers->allocation_count, buffers->allocation_room);
    if (!place) return ids_no_memory(err);
    *place = *allocation;
    return 0;
}

void ids_hlo_assign_buffer(struct ids_hlo_buffers *buffers, int64_t buffer_id, int64_t offset) {
    uint64_t index;
    if (!ids_keymap_get(&buffers->by_id, (uint64_t)buffer_id + 1, &index)) return;
    struct ids_hlo_allocation *allocation = &buffers->allocations[buffers->allocation_count - 1];
    buffers->buffers[index].allocation = (uint32_t)buffers->allocation_count - 1;
    buffers->buffers[index].offset = offset;
    allocation->buffer_count++;
}

int ids_hlo_add_heap(struct ids_hlo_buffers *buffers, struct ids_error *err) {
    end_heap(buffers);
    int code = check_limit(buffers->heap_count, "heaps", err);
    if (code) return code;
    struct ids_hlo_heap *place = IDS_PUSH(buffers->heaps, buffers->heap_count, buffers->heap_room);
    if (!place) return ids_no_memory(err);
    *place = (struct ids_hlo_heap){.allocation = UINT32_MAX, .peak = {"", 0}};
    return 0;
}

/* The bytes of a buffer by its id + 1, 0 where the proto does not have it. */
static int64_t size_of(const struct ids_hlo_buffers *buffers, uint64_t key, struct ids_hlo_heap *heap) {
    uint64_t index;
    if (!ids_keymap_get(&buffers->by_id, key, &index)) {
        heap->unknown_count++;
        return 0;
    }
    const struct ids_hlo_buffer *buffer = &buffers->buffers[index];
    if (heap->allocation == UINT32_MAX) heap->allocation = buffer->allocation;
    return buffer->size > 0 ? buffer->size : 0;
}

/* The id + 1 of the buffer whose memory that one uses. */
static uint64_t owner_of(const struct ids_hlo_buffers *buffers, uint64_t key) {
    uint64_t owner;
    return ids_keymap_get(&buffers->owners, key, &owner) ? owner : key;
}

static int use(struct ids_hlo_buffers *buffers, uint64_t owner, struct ids_hlo_heap *heap) {
    uint64_t *users = ids_keymap_at(&buffers->users, owner);
    if (!owner) return 0;
    if (!users) return -1;
    if (!(*users)++) ids_sum(&buffers->live_bytes, size_of(buffers, owner, heap));
    return 0;
}

static int share(struct ids_hlo_buffers *buffers, uint64_t key, uint64_t canonical, struct ids_hlo_heap *heap) {
    uint64_t owner = owner_of(buffers, canonical);
    if (ids_keymap_add(&buffers->owners, key, owner) < 0) return -1;
    return use(buffers, owner, heap);
}

static void release(struct ids_hlo_buffers *buffers, uint64_t key, struct ids_hlo_heap *heap) {
    uint64_t owner = owner_of(buffers, key), users = 0;
    ids_keymap_get(&buffers->users, owner, &users);
    if (!users) {
        heap->unknown_count++;
        return;
    }
    *ids_keymap_at(&buffers->users, owner) = users - 1; /* it is there: no memory is needed */
    if (users == 1) ids_sum(&buffers->live_bytes, -size_of(buffers, owner, heap));
}

static void reach_peak(const struct ids_hlo_buffers *buffers, struct ids_hlo_heap *heap, struct ids_text instruction) {
    if (buffers->live_bytes <= heap->peak_bytes) return;
    heap->peak_bytes = buffers->live_bytes;
    heap->peak = instruction;
    heap->peak_event = heap->event_count;
}

int ids_hlo_add_heap_event(struct ids_hlo_buffers *buffers, int kind, int64_t buffer_id, int64_t canonical_id,
                           struct ids_text instruction, struct ids_error *err) {
    struct ids_hlo_heap *heap = &buffers->heaps[buffers->heap_count - 1];
    uint64_t key = (uint64_t)buffer_id + 1;
    int failed = 0;
    heap->event_count++;
    switch (kind) {
    case IDS_HLO_HEAP_ALLOC:
        failed = use(buffers, owner_of(buffers, key), heap);
        break;
    case IDS_HLO_HEAP_FREE:
        release(buffers, key, heap);
        break;
    case IDS_HLO_HEAP_SHARE:
        failed = share(buffers, key, (uint64_t)canonical_id + 1, heap);
        break;
    default:
        heap->unknown_count++;
        break;
    }
    reach_peak(buffers, heap, instruction);
    return failed ? ids_no_memory(err) : 0;
}

int ids_hlo_heap_is_highest(const struct ids_hlo_buffers *buffers) {
    const struct ids_hlo_heap *heap = &buffers->heaps[buffers->heap_count - 1];
    return heap->peak_bytes > buffers->live_most && heap->allocation != UINT32_MAX &&
           !buffers->allocations[heap->allocation].color;
}

void ids_hlo_repeat_heap(struct ids_hlo_buffers *buffers, struct ids_hlo_heap *ret_figures) {
    *ret_figures = buffers->heaps[buffers->heap_count - 1];
    end_heap(buffers);
}

static int by_number(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

int ids_hlo_keep_live(struct ids_hlo_buffers *buffers, const struct ids_hlo_heap *figures, struct ids_error *err) {
    buffers->heaps[buffers->heap_count - 1] = *figures;
    buffers->live_most = figures->peak_bytes;
    buffers->live_peak = figures->peak;
    buffers->live_count = 0;
    for (size_t i = 0; i < buffers->users.room; i++) {
        const struct ids_keymap_slot *slot = &buffers->users.slots[i];
        uint64_t index;
        if (!slot->key || !slot->value || !ids_keymap_get(&buffers->by_id, slot->key, &index)) continue;
        uint32_t *place = IDS_PUSH(buffers->live, buffers->live_count, buffers->live_room);
        if (!place) return ids_no_memory(err);
        *place = (uint32_t)index;
    }
    if (buffers->live_count) qsort(buffers->live, buffers->live_count, sizeof *buffers->live, by_number);
    return 0;
}

int64_t ids_hlo_allocated_bytes(const struct ids_hlo_buffers *buffers) {
    int64_t bytes = 0;
    for (size_t i = 0; i < buffers->allocation_count; i++) {
        const struct ids_hlo_allocation *allocation = &buffers->allocations[i];
        if (!allocation->is_thread_local && allocation->size > 0) ids_sum(&bytes, allocation->size);
    }
    return bytes;
}
