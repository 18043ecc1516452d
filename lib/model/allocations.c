#include "lib/model/allocations.h"

#include "lib/base/decimal.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Allocators of a whole run; a damaged file may name any number. */
enum { ALLOCATOR_LIMIT = 4096 };
/* c10::DeviceType, as Kineto writes it. */
enum { TORCH_CPU = 0, TORCH_CUDA = 1, TORCH_HIP = 6, TORCH_XLA = 9, TORCH_XPU = 12 };

enum ids_allocator_source ids_allocator_source_of(struct ids_text name) {
    if (ids_text_is(name, "MemoryAllocation")) return IDS_ALLOCATOR_TAKES;
    if (ids_text_is(name, "MemoryDeallocation")) return IDS_ALLOCATOR_GIVES;
    return ids_text_is(name, "[memory]") ? IDS_ALLOCATOR_TORCH : IDS_NO_ALLOCATOR;
}

/* What an event says; numbers are -1 where it does not. */
struct told {
    int64_t reserved, allocated, available, life_peak, bytes, index, torch_total, torch_device, torch_type;
    uint64_t address;
    uint32_t name, op, region, type, shape;
    double fragmentation;
    int has_bytes, has_device;
};

static int64_t at_least_0(const struct ids_trace *trace, const struct ids_arg *arg) {
    int64_t value = ids_arg_int(trace, arg, -1);
    return value < 0 ? -1 : value;
}

/* "(null)" is what XLA writes where it knows no op. */
static int take_text(struct ids_trace *trace, const struct ids_arg *arg, uint32_t *ret_text) {
    uint32_t text = ids_arg_text(trace, arg);
    if (text == IDS_NO_TEXT) return -1;
    *ret_text = ids_text_is(ids_strings_text(&trace->strings, text), "(null)") ? 0 : text;
    return 0;
}

/* Of tensorflow.DataType, by number; a text stays what it is. */
static int take_type(struct ids_trace *trace, const struct ids_arg *arg, uint32_t *ret_text) {
    static const char *const types[] = {NULL,         "float32", "float64",   "int32", "uint8",  "int16",
                                        "int8",       NULL,      "complex64", "int64", "bool",   NULL,
                                        NULL,         NULL,      "bfloat16",  NULL,    NULL,     "uint16",
                                        "complex128", "float16", NULL,        NULL,    "uint32", "uint64"};
    int64_t number = ids_arg_int(trace, arg, -1);
    if (number < 0) return take_text(trace, arg, ret_text);
    const char *type = number < (int64_t)(sizeof types / sizeof *types) ? types[number] : NULL;
    if (type) *ret_text = ids_intern_z(&trace->strings, type);
    return *ret_text == IDS_NO_TEXT ? -1 : 0;
}

static int take(struct ids_trace *trace, const struct ids_arg *arg, struct told *told) {
    switch (ids_key_spelt(&trace->spellings, &trace->strings, arg->key)) {
    case IDS_KEY_ALLOCATOR_NAME:
        return take_text(trace, arg, &told->name);
    case IDS_KEY_TF_OP:
        return take_text(trace, arg, &told->op);
    case IDS_KEY_REGION_TYPE:
        return take_text(trace, arg, &told->region);
    case IDS_KEY_TENSOR_SHAPE:
        return take_text(trace, arg, &told->shape);
    case IDS_KEY_DATA_TYPE:
        return take_type(trace, arg, &told->type);
    case IDS_KEY_INDEX_ON_HOST:
        told->index = at_least_0(trace, arg);
        break;
    case IDS_KEY_BYTES_RESERVED:
        told->reserved = at_least_0(trace, arg);
        break;
    case IDS_KEY_BYTES_ALLOCATED:
        told->allocated = at_least_0(trace, arg);
        break;
    case IDS_KEY_BYTES_AVAILABLE:
        told->available = at_least_0(trace, arg);
        break;
    case IDS_KEY_PEAK_BYTES_IN_USE:
        told->life_peak = at_least_0(trace, arg);
        break;
    case IDS_KEY_FRAGMENTATION:
        told->fragmentation = ids_arg_real(trace, arg);
        break;
    case IDS_KEY_ADDRESS:
    case IDS_KEY_TORCH_ADDRESS:
        told->address = (uint64_t)ids_arg_int(trace, arg, 0);
        break;
    case IDS_KEY_TOTAL_ALLOCATED:
        told->torch_total = at_least_0(trace, arg);
        break;
    case IDS_KEY_DEVICE_ID:
        told->torch_device = ids_arg_int(trace, arg, -1);
        break;
    case IDS_KEY_DEVICE_TYPE:
        told->torch_type = at_least_0(trace, arg);
        told->has_device = told->torch_type >= 0;
        break;
    case IDS_KEY_ALLOCATION_BYTES:
    case IDS_KEY_BYTES:
        told->bytes = ids_arg_int(trace, arg, INT64_MIN);
        told->has_bytes = told->bytes != INT64_MIN;
        if (!told->has_bytes) told->bytes = 0;
        break;
    default:
        break;
    }
    return 0;
}

/* --- which allocator -------------------------------------------------------------------------------------------- */

/* "GPU_0_bfc", the name that XLA and TensorFlow give a GPU's allocator: its number; -1 none. */
static int64_t gpu_of(struct ids_text name) {
    int64_t ordinal;
    if (!ids_text_begins(name, "GPU_")) return -1;
    const char *end = memchr(name.at + 4, '_', name.length - 4);
    uint32_t digits = end ? (uint32_t)(end - name.at) - 4 : name.length - 4;
    return ids_decimal_integer(name.at + 4, digits, &ordinal) ? ordinal : -1;
}

static void of_torch(const struct told *told, char *name, size_t size, struct ids_allocator *allocator) {
    static const struct {
        int type;
        const char *name;
    } types[] = {{TORCH_CUDA, "cuda"}, {TORCH_HIP, "hip"}, {TORCH_XLA, "xla"}, {TORCH_XPU, "xpu"}};
    const char *type = "device";
    allocator->on_host = told->torch_type == TORCH_CPU;
    if (allocator->on_host) {
        snprintf(name, size, "cpu");
        return;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type == told->torch_type) type = types[i].name;
    }
    allocator->ordinal = told->torch_device < 0 ? 0 : told->torch_device;
    snprintf(name, size, "%s:%lld", type, (long long)allocator->ordinal);
}

/* Fills in which allocator an event is of; 0: it does not say. */
static int identify(const struct ids_trace *trace, const struct told *told, enum ids_allocator_source source,
                    struct ids_allocator *allocator, char *name, size_t size) {
    struct ids_text given = ids_strings_text(&trace->strings, told->name);
    allocator->ordinal = -1;
    if (source == IDS_ALLOCATOR_TORCH) {
        if (!told->has_device || !told->has_bytes) return 0;
        of_torch(told, name, size, allocator);
        allocator->is_relative = told->torch_total < 0;
    } else if (given.length) {
        snprintf(name, size, "%.*s", (int)given.length, given.at);
        allocator->ordinal = gpu_of(given);
        allocator->on_host = allocator->ordinal < 0 && (ids_text_contains(given, "host") || ids_text_is(given, "cpu"));
    } else if (told->index >= 0) { /* a TPU's has no name */
        allocator->ordinal = told->index;
        snprintf(name, size, "TPU#%lld", (long long)told->index);
    } else {
        return 0;
    }
    return source == IDS_ALLOCATOR_TORCH || told->allocated >= 0;
}

/* The allocator's place, made when it is first met; *ret_allocator IDS_NONE: there are too many. */
static int allocator_of(struct ids_trace *trace, uint32_t host, const struct ids_allocator *like, const char *name,
                        uint32_t *ret_allocator) {
    uint32_t text = ids_intern_z(&trace->strings, name);
    if (text == IDS_NO_TEXT) return -1;
    for (size_t i = trace->allocator_count; i-- > 0;) {
        const struct ids_allocator *known = &trace->allocators[i];
        if (known->host != host || known->name != text) continue;
        *ret_allocator = (uint32_t)i;
        return 0;
    }
    *ret_allocator = IDS_NONE;
    if (trace->allocator_count == ALLOCATOR_LIMIT) return 0;
    const char *of = ids_trace_text(trace, trace->hosts[host].name);
    size_t length = strlen(of) + strlen(name) + 2;
    char *key = ids_arena_alloc(&trace->arena, length);
    struct ids_allocator *added = IDS_PUSH(trace->allocators, trace->allocator_count, trace->allocator_room);
    if (!key || !added) return -1;
    snprintf(key, length, "%s:%s", of, name);
    *added = *like;
    added->host = host;
    added->device = IDS_NONE;
    added->name = text;
    added->key = key;
    *ret_allocator = (uint32_t)(trace->allocator_count - 1);
    return 0;
}

/* --- events ----------------------------------------------------------------------------------------------------- */

static void of_xla(const struct told *told, struct ids_allocation *event) {
    event->reserved = told->reserved > 0 ? told->reserved : 0;
    event->in_use = ids_sat_add(event->reserved, told->allocated);
    event->capacity = told->available < 0 ? -1 : ids_sat_add(event->in_use, told->available);
    event->bytes = event->takes ? told->bytes : -told->bytes;
    event->life_peak = told->life_peak;
    if (told->fragmentation >= 0 && told->fragmentation <= 1) event->fragmentation = told->fragmentation;
}

int ids_allocation_add(struct ids_trace *trace, uint32_t track, const struct ids_slice *slice,
                       enum ids_allocator_source source, int64_t at_ps) {
    struct told told = {.reserved = -1,
                        .allocated = -1,
                        .available = -1,
                        .life_peak = -1,
                        .index = -1,
                        .torch_total = -1,
                        .torch_device = -1,
                        .fragmentation = -1};
    struct ids_allocator allocator = {0};
    char name[128];
    uint32_t place;
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        if (take(trace, &slice->args[i], &told)) return -1;
    }
    if (!identify(trace, &told, source, &allocator, name, sizeof name)) return 0;
    if (allocator_of(trace, trace->tracks[track].host, &allocator, name, &place)) return -1;
    if (place == IDS_NONE) return 0;
    struct ids_allocation event = {.at_ps = at_ps,
                                   .in_use = told.torch_total,
                                   .capacity = -1,
                                   .life_peak = -1,
                                   .bytes = told.bytes,
                                   .address = told.address,
                                   .allocator = place,
                                   .track = track,
                                   .order = (uint32_t)trace->allocation_count,
                                   .op = told.op,
                                   .region = told.region,
                                   .type = told.type,
                                   .shape = told.shape,
                                   .fragmentation = -1,
                                   .takes = source == IDS_ALLOCATOR_TAKES};
    if (source == IDS_ALLOCATOR_TORCH)
        event.takes = told.bytes > 0;
    else
        of_xla(&told, &event);
    struct ids_allocation *added = IDS_PUSH(trace->allocations, trace->allocation_count, trace->allocation_room);
    if (!added) return -1;
    *added = event;
    trace->allocators[place].count++;
    if (source == IDS_ALLOCATOR_TORCH && told.torch_total < 0) trace->allocators[place].is_relative = 1;
    return 0;
}

/* --- of a part of the run --------------------------------------------------------------------------------------- */

/* What `like` is in the trace; IDS_NONE: there are too many. */
static int same_allocator(struct ids_trace *trace, const struct ids_allocator *like, const char *name,
                          uint32_t *ret_place) {
    if (allocator_of(trace, like->host, like, name, ret_place)) return -1;
    if (*ret_place == IDS_NONE) return 0;
    struct ids_allocator *allocator = &trace->allocators[*ret_place];
    allocator->is_relative |= like->is_relative;
    return 0;
}

int ids_allocations_add_all(struct ids_trace *trace, const struct ids_trace *from, uint32_t first_host,
                            uint32_t first_track, uint32_t first_text, const uint32_t *texts) {
    uint32_t *places = calloc(from->allocator_count + 1, sizeof *places);
    if (!places) return -1;
    int failed = 0;
    for (size_t a = 0; a < from->allocator_count && !failed; a++) {
        struct ids_allocator like = from->allocators[a];
        like.count = 0;
        like.host += first_host;
        failed = same_allocator(trace, &like, ids_trace_text(from, like.name), &places[a]);
    }
    for (size_t i = 0; i < from->allocation_count && !failed; i++) {
        struct ids_allocation event = from->allocations[i];
        event.allocator = places[event.allocator];
        if (event.allocator == IDS_NONE) continue;
        uint32_t *const words[] = {&event.op, &event.region, &event.type, &event.shape};
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (*words[w] >= first_text) *words[w] = texts[*words[w] - first_text];
        event.track += first_track;
        event.order = (uint32_t)trace->allocation_count;
        struct ids_allocation *added = IDS_PUSH(trace->allocations, trace->allocation_count, trace->allocation_room);
        failed = !added;
        if (!added) break;
        *added = event;
        trace->allocators[event.allocator].count++;
    }
    free(places);
    return failed ? -1 : 0;
}

/* --- at the end of the run -------------------------------------------------------------------------------------- */

static int by_allocator_and_time(const void *a, const void *b) {
    const struct ids_allocation *left = a, *right = b;
    if (left->allocator != right->allocator) return left->allocator < right->allocator ? -1 : 1;
    if (left->at_ps != right->at_ps) return left->at_ps < right->at_ps ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

/* The device of a host's allocator: the one of its number; of a TPU, whose events count the devices of their host, the
 * one at that place. */
static uint32_t device_of(const struct ids_trace *trace, const struct ids_allocator *allocator) {
    int64_t place = 0;
    if (allocator->on_host || allocator->ordinal < 0) return IDS_NONE;
    for (uint32_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        if (device->host != allocator->host || device->kind == IDS_DEVICE_CPU) continue;
        if (device->ordinal == allocator->ordinal && device->kind != IDS_DEVICE_CUSTOM) return d;
    }
    for (uint32_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        if (device->host != allocator->host || device->kind != IDS_DEVICE_TPU) continue;
        if (place++ == allocator->ordinal) return d;
    }
    return IDS_NONE;
}

/* Events without totals say by how much they change what is in use; it counts from the lowest point. */
static void sum_up(struct ids_allocation *events, size_t count) {
    int64_t in_use = 0, lowest = 0;
    for (size_t i = 0; i < count; i++) {
        ids_sum(&in_use, events[i].bytes);
        if (in_use < lowest) lowest = in_use;
        events[i].in_use = in_use;
    }
    for (size_t i = 0; i < count; i++) events[i].in_use = ids_sat_sub(events[i].in_use, lowest);
}

int ids_allocations_finish(struct ids_trace *trace) {
    size_t first = 0;
    if (!trace->allocation_count) return 0;
    qsort(trace->allocations, trace->allocation_count, sizeof *trace->allocations, by_allocator_and_time);
    for (size_t i = 0; i < trace->allocator_count; i++) {
        struct ids_allocator *allocator = &trace->allocators[i];
        allocator->first = first;
        allocator->device = device_of(trace, allocator);
        if (allocator->is_relative) sum_up(trace->allocations + first, allocator->count);
        first += allocator->count;
    }
    return 0;
}
