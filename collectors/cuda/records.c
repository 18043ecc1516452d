#include "collectors/cuda/records.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_EVENTS = 1 << 14, CHUNKS = IDS_CUDA_EVENTS_MAX / CHUNK_EVENTS, FIRST_SLOTS = 1 << 10 };

/* Things of which each different one is kept once, by a number from 1: open addressing over their hashes. */
struct once {
    uint32_t *slots;
    uint64_t *hashes; /* of number i + 1 */
    size_t count, slot_count;
};

struct ids_cuda_records {
    struct ids_cuda_event *chunks[CHUNKS];
    size_t count;
    struct once texts, shapes;
    char *text; /* one after the other, each with its 0 */
    size_t text_used, text_room;
    uint32_t *text_at; /* of text i + 1 */
    struct ids_cuda_shape *shape;
    uint64_t dropped, incomplete, unknown;
};

struct ids_cuda_records *ids_cuda_records_new(void) {
    return calloc(1, sizeof(struct ids_cuda_records));
}

void ids_cuda_records_free(struct ids_cuda_records *records) {
    if (!records) return;
    for (size_t i = 0; i < CHUNKS; i++) free(records->chunks[i]);
    free(records->texts.slots);
    free(records->texts.hashes);
    free(records->shapes.slots);
    free(records->shapes.hashes);
    free(records->text);
    free(records->text_at);
    free(records->shape);
    free(records);
}

/* ---- each different one once ---- */

static uint64_t hash_of(const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* Room for one more number in the slots. */
static int widen(struct once *once) {
    if (once->slot_count > once->count * 2) return 0;
    size_t wider = once->slot_count ? once->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(wider, sizeof *slots);
    uint64_t *hashes = realloc(once->hashes, wider * sizeof *hashes);
    if (hashes) once->hashes = hashes;
    if (!slots || !hashes) {
        free(slots);
        return -1;
    }
    for (size_t i = 0; i < once->count; i++) {
        size_t slot = hashes[i] & (wider - 1);
        while (slots[slot]) slot = (slot + 1) & (wider - 1);
        slots[slot] = (uint32_t)(i + 1);
    }
    free(once->slots);
    once->slots = slots;
    once->slot_count = wider;
    return 0;
}

/* The first number at or behind *slot that has this hash; 0: none, and *slot is where a new one goes. */
static uint32_t candidate(const struct once *once, uint64_t hash, size_t *slot) {
    for (;; *slot = (*slot + 1) & (once->slot_count - 1)) {
        uint32_t number = once->slots[*slot];
        if (!number || once->hashes[number - 1] == hash) return number;
    }
}

static uint32_t settle(struct once *once, uint64_t hash, size_t slot) {
    once->hashes[once->count++] = hash;
    return once->slots[slot] = (uint32_t)once->count;
}

static uint32_t keep_text(struct ids_cuda_records *records, const char *text) {
    size_t length = text ? strnlen(text, IDS_CUDA_TEXT_LENGTH) : 0;
    if (!length) return 0;
    struct once *once = &records->texts;
    if (widen(once)) return 0;
    uint64_t hash = hash_of(text, length);
    size_t slot = hash & (once->slot_count - 1);
    for (uint32_t number; (number = candidate(once, hash, &slot)); slot = (slot + 1) & (once->slot_count - 1)) {
        const char *there = records->text + records->text_at[number - 1];
        if (!strncmp(there, text, length) && !there[length]) return number;
    }
    if (once->count == IDS_CUDA_TEXTS_MAX || records->text_used + length + 1 > IDS_CUDA_TEXT_BYTES) return 0;
    if (records->text_used + length + 1 > records->text_room) {
        size_t room = (records->text_room + length + 1) * 2;
        char *larger = realloc(records->text, room);
        if (!larger) return 0;
        records->text = larger;
        records->text_room = room;
    }
    uint32_t *at = realloc(records->text_at, once->slot_count * sizeof *at);
    if (!at) return 0;
    records->text_at = at;
    at[once->count] = (uint32_t)records->text_used;
    memcpy(records->text + records->text_used, text, length);
    records->text[records->text_used + length] = 0;
    records->text_used += length + 1;
    return settle(once, hash, slot);
}

static uint32_t keep_shape(struct ids_cuda_records *records, const struct ids_cuda_shape *shape) {
    struct once *once = &records->shapes;
    if (widen(once)) return 0;
    uint64_t hash = hash_of(shape, sizeof *shape);
    size_t slot = hash & (once->slot_count - 1);
    for (uint32_t number; (number = candidate(once, hash, &slot)); slot = (slot + 1) & (once->slot_count - 1)) {
        if (!memcmp(&records->shape[number - 1], shape, sizeof *shape)) return number;
    }
    if (once->count == IDS_CUDA_TEXTS_MAX) return 0;
    struct ids_cuda_shape *larger = realloc(records->shape, once->slot_count * sizeof *larger);
    if (!larger) return 0;
    records->shape = larger;
    larger[once->count] = *shape;
    return settle(once, hash, slot);
}

/* ---- records ---- */

static void push(struct ids_cuda_records *records, const struct ids_cuda_event *event) {
    size_t chunk = records->count / CHUNK_EVENTS;
    if (chunk == CHUNKS) {
        records->dropped++;
        return;
    }
    if (!records->chunks[chunk]) records->chunks[chunk] = malloc(CHUNK_EVENTS * sizeof **records->chunks);
    if (!records->chunks[chunk]) {
        records->dropped++;
        return;
    }
    records->chunks[chunk][records->count++ % CHUNK_EVENTS] = *event;
}

/* Device activity without times had not ended when its buffer was handed over. */
static void push_timed(struct ids_cuda_records *records, const struct ids_cuda_event *event) {
    if (!event->start || event->end < event->start)
        records->incomplete++;
    else
        push(records, event);
}

static void add_kernel(struct ids_cuda_records *records, const struct ids_cupti_kernel *kernel) {
    struct ids_cuda_shape shape;
    memset(&shape, 0, sizeof shape); /* compared and hashed as bytes */
    shape.registers = kernel->registers;
    shape.static_shared = kernel->static_shared;
    shape.dynamic_shared = kernel->dynamic_shared;
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = kernel->grid[i];
        shape.block[i] = kernel->block[i];
    }
    struct ids_cuda_event event = {.kind = IDS_CUDA_KERNEL,
                                   .start = kernel->start,
                                   .end = kernel->end,
                                   .name = keep_text(records, kernel->name),
                                   .detail = keep_shape(records, &shape),
                                   .correlation = kernel->correlation,
                                   .device = kernel->device,
                                   .context = kernel->context,
                                   .stream = kernel->stream,
                                   .node = kernel->graph_node,
                                   .graph = kernel->graph};
    push_timed(records, &event);
}

static void add_copy(struct ids_cuda_records *records, const struct ids_cupti_copy *copy) {
    struct ids_cuda_event event = {.kind = IDS_CUDA_COPY,
                                   .how = copy->copy_kind,
                                   .from = copy->from,
                                   .to = copy->to,
                                   .async = copy->flags & IDS_CUPTI_COPY_ASYNC,
                                   .start = copy->start,
                                   .end = copy->end,
                                   .value = copy->bytes,
                                   .correlation = copy->correlation,
                                   .device = copy->device,
                                   .to_device = copy->device,
                                   .context = copy->context,
                                   .stream = copy->stream,
                                   .node = copy->graph_node,
                                   .graph = copy->graph};
    push_timed(records, &event);
}

static void add_peer_copy(struct ids_cuda_records *records, const struct ids_cupti_peer_copy *copy) {
    struct ids_cuda_event event = {.kind = IDS_CUDA_COPY,
                                   .how = IDS_CUPTI_COPY_PTOP,
                                   .from = copy->from,
                                   .to = copy->to,
                                   .async = copy->flags & IDS_CUPTI_COPY_ASYNC,
                                   .start = copy->start,
                                   .end = copy->end,
                                   .value = copy->bytes,
                                   .correlation = copy->correlation,
                                   .device = copy->device,
                                   .to_device = copy->to_device,
                                   .context = copy->context,
                                   .stream = copy->stream,
                                   .node = copy->graph_node,
                                   .graph = copy->graph};
    push_timed(records, &event);
}

static void add_set(struct ids_cuda_records *records, const struct ids_cupti_set *set) {
    struct ids_cuda_event event = {.kind = IDS_CUDA_SET,
                                   .to = (uint8_t)set->memory_kind,
                                   .async = set->flags & IDS_CUPTI_COPY_ASYNC,
                                   .start = set->start,
                                   .end = set->end,
                                   .value = set->bytes,
                                   .correlation = set->correlation,
                                   .device = set->device,
                                   .context = set->context,
                                   .stream = set->stream,
                                   .node = set->graph_node,
                                   .graph = set->graph};
    push_timed(records, &event);
}

static void add_graph(struct ids_cuda_records *records, const struct ids_cupti_graph *graph) {
    struct ids_cuda_event event = {.kind = IDS_CUDA_GRAPH,
                                   .start = graph->start,
                                   .end = graph->end,
                                   .correlation = graph->correlation,
                                   .device = graph->device,
                                   .context = graph->context,
                                   .stream = graph->stream,
                                   .graph = graph->graph};
    push_timed(records, &event);
}

static void add_call(struct ids_cuda_records *records, const struct ids_cupti_call *call) {
    struct ids_cuda_event event = {.kind = IDS_CUDA_CALL,
                                   .how = call->kind == IDS_CUPTI_RUNTIME ? IDS_CUPTI_DOMAIN_RUNTIME
                                                                          : IDS_CUPTI_DOMAIN_DRIVER,
                                   .start = call->start,
                                   .end = call->end,
                                   .name = call->function,
                                   .detail = call->result,
                                   .correlation = call->correlation,
                                   .thread = call->thread};
    push_timed(records, &event);
}

static void add_sync(struct ids_cuda_records *records, const struct ids_cupti_sync *sync) {
    struct ids_cuda_event event = {.kind = IDS_CUDA_SYNC,
                                   .start = sync->start,
                                   .end = sync->end,
                                   .name = sync->type,
                                   .correlation = sync->correlation,
                                   .context = sync->context,
                                   .stream = sync->stream};
    push_timed(records, &event);
}

static void add_memory(struct ids_cuda_records *records, const struct ids_cupti_memory *memory) {
    struct ids_cuda_event event = {.kind = IDS_CUDA_MEMORY,
                                   .how = (uint8_t)memory->operation,
                                   .to = (uint8_t)memory->memory_kind,
                                   .start = memory->timestamp,
                                   .end = memory->timestamp,
                                   .value = memory->bytes,
                                   .node = memory->address,
                                   .correlation = memory->correlation,
                                   .device = memory->device,
                                   .context = memory->context,
                                   .stream = memory->stream};
    push_timed(records, &event);
}

static void add_marker(struct ids_cuda_records *records, const struct ids_cupti_marker *marker) {
    struct ids_cuda_event event = {.start = marker->timestamp, .end = marker->timestamp, .value = marker->id};
    event.kind = marker->flags & IDS_CUPTI_MARKER_START ? IDS_CUDA_RANGE_BEGIN
                 : marker->flags & IDS_CUPTI_MARKER_END ? IDS_CUDA_RANGE_END
                                                        : IDS_CUDA_MARK;
    if (marker->object_kind == IDS_CUPTI_OBJECT_THREAD) event.thread = marker->object.of_thread.thread;
    if (event.kind != IDS_CUDA_RANGE_END) {
        event.name = keep_text(records, marker->name);
        event.detail = keep_text(records, marker->domain);
    }
    push_timed(records, &event);
}

static void add_overhead(struct ids_cuda_records *records, const struct ids_cupti_overhead *overhead) {
    struct ids_cuda_event event = {.kind = IDS_CUDA_OVERHEAD,
                                   .how = (uint8_t)overhead->object_kind,
                                   .name = overhead->overhead_kind,
                                   .start = overhead->start,
                                   .end = overhead->end};
    if (overhead->object_kind == IDS_CUPTI_OBJECT_THREAD) event.thread = overhead->object.of_thread.thread;
    push_timed(records, &event);
}

void ids_cuda_records_add(struct ids_cuda_records *records, const struct ids_cupti_record *record, size_t available) {
#define CASE(number, type, take)                                  \
    case number:                                                  \
        if (available < sizeof(struct type)) break;               \
        take(records, (const struct type *)(const void *)record); \
        return;
    switch (available < sizeof *record ? 0 : record->kind) {
        CASE(IDS_CUPTI_CONCURRENT_KERNEL, ids_cupti_kernel, add_kernel)
        CASE(IDS_CUPTI_MEMCPY, ids_cupti_copy, add_copy)
        CASE(IDS_CUPTI_MEMCPY2, ids_cupti_peer_copy, add_peer_copy)
        CASE(IDS_CUPTI_MEMSET, ids_cupti_set, add_set)
        CASE(IDS_CUPTI_GRAPH_TRACE, ids_cupti_graph, add_graph)
    case IDS_CUPTI_RUNTIME:
        CASE(IDS_CUPTI_DRIVER, ids_cupti_call, add_call)
        CASE(IDS_CUPTI_SYNCHRONIZATION, ids_cupti_sync, add_sync)
        CASE(IDS_CUPTI_MEMORY2, ids_cupti_memory, add_memory)
        CASE(IDS_CUPTI_MARKER, ids_cupti_marker, add_marker)
        CASE(IDS_CUPTI_OVERHEAD, ids_cupti_overhead, add_overhead)
    default:
        break;
    }
#undef CASE
    records->unknown++;
}

/* ---- reading ---- */

struct ids_cuda_counts ids_cuda_records_counts(const struct ids_cuda_records *records) {
    return (struct ids_cuda_counts){.events = records->count,
                                    .shapes = records->shapes.count,
                                    .texts = records->texts.count,
                                    .dropped = records->dropped,
                                    .incomplete = records->incomplete,
                                    .unknown = records->unknown};
}

struct ids_cuda_event *ids_cuda_records_event(const struct ids_cuda_records *records, size_t index) {
    return &records->chunks[index / CHUNK_EVENTS][index % CHUNK_EVENTS];
}

const char *ids_cuda_records_text(const struct ids_cuda_records *records, uint32_t text) {
    return text ? records->text + records->text_at[text - 1] : "";
}

const struct ids_cuda_shape *ids_cuda_records_shape(const struct ids_cuda_records *records, uint32_t shape) {
    return shape ? &records->shape[shape - 1] : NULL;
}
