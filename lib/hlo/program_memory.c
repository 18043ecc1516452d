#include "lib/hlo/program_memory.h"

#include "lib/base/saturate.h"
#include "lib/fields/hlo.h"
#include "lib/hlo/buffers.h"

#include <stdlib.h>

/* XLA's colors of memory: the device's main one, and a TPU's for the host's. */
enum { COLOR_MAIN = 0, COLOR_HOST = 5 };

int64_t ids_hlo_memory_total(const struct ids_hlo_program_memory *memory) {
    int64_t total = 0;
    for (int k = 0; k < IDS_HLO_VALUE_KINDS; k++) ids_sum(&total, memory->bytes[k]);
    return total;
}

static enum ids_hlo_value_kind kind_of(const struct ids_hlo_allocation *allocation) {
    if (allocation->parameter >= 0) return IDS_HLO_ARGUMENT;
    if (allocation->is_constant) return IDS_HLO_CONSTANT;
    return allocation->is_output ? IDS_HLO_RESULT : IDS_HLO_TEMPORARY;
}

static void sum_allocations(const struct ids_hlo_buffers *buffers, struct ids_hlo_program_memory *memory) {
    for (size_t i = 0; i < buffers->allocation_count; i++) {
        const struct ids_hlo_allocation *allocation = &buffers->allocations[i];
        if (allocation->is_thread_local || allocation->size <= 0) continue;
        if (allocation->color == COLOR_HOST) {
            ids_sum(&memory->on_host, allocation->size);
        } else if (allocation->color != COLOR_MAIN) {
            ids_sum(&memory->elsewhere, allocation->size);
        } else {
            ids_sum(&memory->bytes[kind_of(allocation)], allocation->size);
            if (allocation->parameter >= 0 && allocation->is_output) ids_sum(&memory->in_place, allocation->size);
        }
    }
}

/* --- values ----------------------------------------------------------------------------------------------------- */

static uint32_t maker_of(const struct ids_hlo_module *module, const struct ids_hlo_buffer *buffer) {
    uint64_t index;
    if (buffer->instruction_id < 0) return IDS_HLO_NONE;
    return ids_keymap_get(&module->by_id, ids_hlo_id_key(buffer->instruction_id), &index) ? (uint32_t)index
                                                                                          : IDS_HLO_NONE;
}

static int64_t padding_of(const struct ids_hlo_module *module, uint32_t instruction, int64_t bytes) {
    uint32_t shape = instruction == IDS_HLO_NONE ? IDS_HLO_NONE : module->instructions[instruction].shape;
    if (shape == IDS_HLO_NONE || module->shapes[shape].first_part != IDS_HLO_NONE) return 0;
    int64_t own = module->shapes[shape].bytes;
    return own > 0 && own < bytes ? bytes - own : 0;
}

static int is_before(const struct ids_hlo_value *left, const struct ids_hlo_value *right) {
    if (left->bytes != right->bytes) return left->bytes > right->bytes;
    if (left->kind != right->kind) return left->kind < right->kind;
    return left->instruction < right->instruction;
}

static void put(struct ids_hlo_program_memory *memory, struct ids_hlo_value value) {
    size_t place = memory->value_count;
    if (place == IDS_HLO_VALUES_SHOWN) {
        if (!is_before(&value, &memory->values[--place])) return;
    } else {
        memory->value_count++;
    }
    for (; place && is_before(&value, &memory->values[place - 1]); place--)
        memory->values[place] = memory->values[place - 1];
    memory->values[place] = value;
}

static void put_buffer(const struct ids_hlo_module *module, const struct ids_hlo_buffer *buffer,
                       const struct ids_hlo_allocation *allocation, int at_peak,
                       struct ids_hlo_program_memory *memory) {
    struct ids_hlo_value value = {.bytes = buffer->size, .instruction = maker_of(module, buffer)};
    value.kind = (uint8_t)kind_of(allocation);
    value.in_place = allocation->parameter >= 0 && allocation->is_output;
    value.at_peak = (uint8_t)at_peak;
    value.padding = padding_of(module, value.instruction, buffer->size);
    put(memory, value);
}

/* Whether the buffer is the first of its size in its allocation: the array that the allocation is for, where results
 * and arguments share their memory with others. */
static int stands_for(const struct ids_hlo_buffer *buffer, const struct ids_hlo_allocation *allocation) {
    return buffer->size == allocation->size;
}

static int put_values(const struct ids_hlo_module *module, struct ids_hlo_program_memory *memory) {
    const struct ids_hlo_buffers *buffers = module->buffers;
    int64_t least = ids_hlo_memory_total(memory) / 100;
    uint8_t *told = calloc(buffers->allocation_count + 1, 1);
    if (!told) return -1;
    if (least < IDS_HLO_LEAST_VALUE) least = IDS_HLO_LEAST_VALUE;
    for (size_t i = 0; i < buffers->buffer_count; i++) {
        const struct ids_hlo_buffer *buffer = &buffers->buffers[i];
        if (buffer->allocation == UINT32_MAX || buffer->size < least) continue;
        const struct ids_hlo_allocation *allocation = &buffers->allocations[buffer->allocation];
        if (allocation->is_thread_local || allocation->color != COLOR_MAIN) continue;
        int is_temporary = kind_of(allocation) == IDS_HLO_TEMPORARY;
        if (is_temporary ? buffers->live_count > 0 : told[buffer->allocation] || !stands_for(buffer, allocation))
            continue;
        told[buffer->allocation] = 1;
        put_buffer(module, buffer, allocation, 0, memory);
    }
    for (size_t i = 0; i < buffers->live_count; i++) {
        const struct ids_hlo_buffer *buffer = &buffers->buffers[buffers->live[i]];
        if (buffer->allocation == UINT32_MAX || buffer->size < least) continue;
        const struct ids_hlo_allocation *allocation = &buffers->allocations[buffer->allocation];
        if (kind_of(allocation) == IDS_HLO_TEMPORARY) put_buffer(module, buffer, allocation, 1, memory);
    }
    free(told);
    return 0;
}

int ids_hlo_memory_of(const struct ids_hlo_module *module, struct ids_hlo_program_memory *ret_memory,
                      struct ids_error *err) {
    *ret_memory = (struct ids_hlo_program_memory){.peak = {"", 0}};
    if (!module->buffers) return 0;
    sum_allocations(module->buffers, ret_memory);
    ret_memory->peak = module->buffers->live_peak;
    return put_values(module, ret_memory) ? ids_no_memory(err) : 0;
}
