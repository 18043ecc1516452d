/* waste_transposes.c - large arrays that a fusion transposes on the way to what it computes. A CPU goes through one of
 * the two orders element by element, each in another line of its cache; GPUs and TPUs turn tiles over on the chip. */
#include "lib/fields/hlo.h"
#include "lib/hlo/waste_graph.h"

/* What a core's own cache holds is turned over there. */
enum { LEAST_BYTES = 256 << 10 };

static const struct ids_hlo_shape *shape_of(const struct ids_hlo_module *module, uint32_t instruction) {
    uint32_t shape = instruction == IDS_HLO_NONE ? IDS_HLO_NONE : module->instructions[instruction].shape;
    return shape == IDS_HLO_NONE ? NULL : &module->shapes[shape];
}

/* The dimension along which elements lie next to each other; -1: there is none. Without a layout it is the last. */
static int64_t fastest(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape) {
    uint32_t count = shape->dimensions.count;
    const struct ids_hlo_layout *layout = shape->layout == IDS_HLO_NONE ? NULL : &module->layouts[shape->layout];
    if (layout && layout->minor_to_major.count != count) return -1;
    for (uint32_t i = 0; i < count; i++) {
        int64_t dimension = layout ? module->numbers[layout->minor_to_major.first + i] : count - 1 - i;
        if (dimension < 0 || dimension >= count) return -1;
        if (module->numbers[shape->dimensions.first + dimension] > 1) return dimension;
    }
    return -1;
}

/* Which dimension of its operand the result's is; -1 unknown. */
static int64_t taken_from(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of,
                          int64_t dimension) {
    if (ids_text_is(of->opcode, "copy")) return dimension;
    const struct ids_hlo_attribute *order = ids_hlo_attribute_of(module, of, HLO_INSTRUCTION_DIMENSIONS);
    if (!ids_text_is(of->opcode, "transpose") || !order || !order->is_bytes || dimension >= order->length) return -1;
    return (uint8_t)order->bytes[dimension]; /* a varint each, of a number below 128 */
}

static int is_transposed(const struct ids_waste_graph *graph, uint32_t instruction) {
    const struct ids_hlo_module *module = graph->module;
    const struct ids_hlo_shape *to = shape_of(module, instruction),
                               *from = shape_of(module, ids_waste_operand(graph, instruction, 0));
    if (!(graph->deeds[instruction] & IDS_DOES_MOVE) || !to || !from || to->bytes < LEAST_BYTES) return 0;
    int64_t left = fastest(module, from), right = fastest(module, to);
    if (left < 0 || right < 0) return 0;
    int64_t source = taken_from(module, &module->instructions[instruction], right);
    return source >= 0 && source != left;
}

/* Of a fusion's result and operands. */
static int64_t largest(const struct ids_waste_graph *graph, uint32_t fusion) {
    const struct ids_hlo_shape *shape = shape_of(graph->module, fusion);
    int64_t bytes = shape ? shape->bytes : 0;
    for (uint32_t o = 0; o < graph->module->instructions[fusion].operands.count; o++) {
        shape = shape_of(graph->module, ids_waste_operand(graph, fusion, o));
        if (shape && shape->bytes > bytes) bytes = shape->bytes;
    }
    return bytes;
}

/* The first array that it transposes and that is half of what it reads or writes, or more; IDS_HLO_NONE: none. */
static uint32_t transposed_in(const struct ids_waste_graph *graph, uint32_t fusion) {
    enum { NEVER = IDS_DOES_PRODUCT | IDS_DOES_CALL | IDS_DOES_COLLECTIVE };
    const struct ids_hlo_module *module = graph->module;
    uint32_t inside = ids_waste_inside(module, fusion);
    if (inside >= module->computation_count || graph->deeds[fusion] & NEVER) return IDS_HLO_NONE;
    const struct ids_hlo_range *range = &module->computations[inside].instructions;
    for (uint32_t i = range->first; i < range->first + range->count && graph->deeds[fusion] & IDS_DOES_MOVE; i++) {
        if (is_transposed(graph, i) && shape_of(module, i)->bytes >= largest(graph, fusion) / 2) return i;
    }
    return IDS_HLO_NONE;
}

void ids_waste_transposes(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    for (uint32_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_range *range = &module->computations[c].instructions;
        if (module->computations[c].is_fusion) continue;
        for (uint32_t i = range->first; i < range->first + range->count; i++) {
            uint32_t moved = transposed_in(graph, i);
            if (moved != IDS_HLO_NONE) ids_waste_set(graph, i, IDS_WASTE_TRANSPOSED, moved, IDS_HLO_NONE);
        }
    }
}
