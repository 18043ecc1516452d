#include "lib/model/stacks.h"

#include "lib/base/vec.h"

uint32_t ids_stack_of(struct ids_trace *trace, uint32_t track, uint32_t outside, uint32_t text) {
    uint64_t key = outside ? ids_key_of(outside, text) : ids_key_of((uint64_t)track << 32 | 1, text), known = 0;
    if (ids_keymap_get(&trace->stack_numbers, key, &known)) return (uint32_t)known;
    if (outside && trace->stack_count >= IDS_STACKS_MOST) return outside;
    struct ids_stack *fresh = IDS_PUSH(trace->stacks, trace->stack_count, trace->stack_room);
    if (!fresh || ids_keymap_add(&trace->stack_numbers, key, trace->stack_count) < 0) return 0;
    *fresh = (struct ids_stack){.outside = outside, .text = text, .track = track};
    return (uint32_t)trace->stack_count;
}

uint32_t ids_stack_inside(struct ids_trace *trace, uint32_t track, uint32_t outside, uint32_t name) {
    if (!outside) outside = ids_stack_of(trace, track, 0, trace->tracks[track].name);
    return outside ? ids_stack_of(trace, track, outside, trace->names[name].text) : 0;
}
