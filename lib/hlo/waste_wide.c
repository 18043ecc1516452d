/* waste_wide.c - what a program computes in float64 because one array or number of it is float64, beside larger
 * arguments that are narrower: NumPy's arrays are float64, and one of them makes all float64 that it meets. */
#include "lib/base/saturate.h"
#include "lib/hlo/element.h"
#include "lib/hlo/waste_graph.h"

#include <string.h>

enum { WORK = IDS_DOES_COMPUTE | IDS_DOES_PRODUCT | IDS_DOES_REDUCE | IDS_DOES_EXP };

struct widening {
    const struct ids_waste_graph *graph;
    uint8_t f64;
    uint32_t culprit;      /* the array of float64 with which it begins; IDS_HLO_NONE: none is known */
    int is_found;          /* where it begins */
    int64_t wide, narrow;  /* elements of arguments and constants */
    int converts_argument; /* an array of floats that are narrower is converted to float64 */
};

static const struct ids_hlo_shape *shape_of(const struct widening *widening, uint32_t instruction) {
    const struct ids_hlo_module *module = widening->graph->module;
    uint32_t shape = instruction < module->instruction_count ? module->instructions[instruction].shape : IDS_HLO_NONE;
    if (shape != IDS_HLO_NONE && module->shapes[shape].first_part != IDS_HLO_NONE)
        shape = module->shapes[shape].first_part; /* a fusion of several results */
    return shape == IDS_HLO_NONE ? NULL : &module->shapes[shape];
}

static int is_wide(const struct widening *widening, uint32_t instruction) {
    const struct ids_hlo_shape *shape = shape_of(widening, instruction);
    return shape && shape->element == widening->f64;
}

static int is_narrow(const struct widening *widening, uint32_t instruction) {
    static const char *const floats[] = {"f32", "bf16", "f16"};
    const struct ids_hlo_shape *shape = shape_of(widening, instruction);
    for (size_t i = 0; shape && i < sizeof floats / sizeof *floats; i++) {
        if (shape->element == ids_hlo_element_of((struct ids_text){floats[i], (uint32_t)strlen(floats[i])})) return 1;
    }
    return 0;
}

static int64_t elements_of(const struct widening *widening, uint32_t instruction) {
    const struct ids_hlo_shape *shape = shape_of(widening, instruction);
    int bits = shape ? ids_hlo_element_bits(shape->element) : 0;
    return bits > 0 && shape->bytes > 0 ? shape->bytes * 8 / bits : 0;
}

/* An argument, or a constant of several numbers: of one number the program makes many itself. */
static int is_given(const struct widening *widening, uint32_t instruction) {
    const struct ids_text opcode = widening->graph->module->instructions[instruction].opcode;
    if (ids_text_is(opcode, "constant")) return elements_of(widening, instruction) > 1;
    return ids_text_is(opcode, "parameter");
}

static void count_given(struct widening *widening, uint32_t instruction) {
    if (!is_given(widening, instruction)) return;
    int64_t elements = elements_of(widening, instruction);
    if (is_wide(widening, instruction)) ids_sum(&widening->wide, elements);
    if (is_narrow(widening, instruction)) ids_sum(&widening->narrow, elements);
}

/* Where float64 comes in is the first that computes in it: with what is given to it of that type, or what it makes
 * itself. */
static void look_for_culprit(struct widening *widening, uint32_t instruction) {
    int computes = (widening->graph->deeds[instruction] & WORK) && is_wide(widening, instruction);
    if (widening->is_found || !computes) return;
    widening->is_found = 1;
    for (uint32_t o = 0; o < widening->graph->module->instructions[instruction].operands.count; o++) {
        uint32_t operand = ids_waste_operand(widening->graph, instruction, o);
        if (operand == IDS_HLO_NONE || !is_wide(widening, operand) || !is_given(widening, operand)) continue;
        widening->culprit = operand;
        return;
    }
}

/* Arrays of one number too are converted, by what a program does with its own numbers. */
static void look_for_conversion(struct widening *widening, uint32_t instruction) {
    if (!ids_text_is(widening->graph->module->instructions[instruction].opcode, "convert")) return;
    uint32_t operand = ids_waste_operand(widening->graph, instruction, 0);
    if (is_wide(widening, instruction) && operand != IDS_HLO_NONE && is_narrow(widening, operand) &&
        elements_of(widening, instruction) > 1)
        widening->converts_argument = 1;
}

/* Whether it computes in float64, or of what is that: what only moves or converts is told by its own kind. */
static int computes_wide(const struct widening *widening, uint32_t instruction) {
    enum { NEVER = IDS_DOES_CALL | IDS_DOES_COLLECTIVE };
    uint32_t deeds = widening->graph->deeds[instruction];
    if (!(deeds & WORK) || deeds & NEVER) return 0;
    if (is_wide(widening, instruction)) return 1;
    for (uint32_t o = 0; o < widening->graph->module->instructions[instruction].operands.count; o++) {
        uint32_t operand = ids_waste_operand(widening->graph, instruction, o);
        if (operand != IDS_HLO_NONE && is_wide(widening, operand) && elements_of(widening, operand) > 1) return 1;
    }
    return 0;
}

void ids_waste_wide(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    struct widening widening = {
        .graph = graph, .f64 = (uint8_t)ids_hlo_element_of((struct ids_text){"f64", 3}), .culprit = IDS_HLO_NONE};
    if (module->entry == IDS_HLO_NONE) return;
    const struct ids_hlo_range *entry = &module->computations[module->entry].instructions;
    for (uint32_t i = 0; i < module->instruction_count; i++) look_for_conversion(&widening, i);
    if (!widening.converts_argument) return;
    for (uint32_t i = entry->first; i < entry->first + entry->count; i++) {
        count_given(&widening, i);
        look_for_culprit(&widening, i);
    }
    if (widening.narrow <= widening.wide) return;
    for (uint32_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_range *range = &module->computations[c].instructions;
        if (module->computations[c].is_fusion) continue;
        for (uint32_t i = range->first; i < range->first + range->count; i++) {
            if (computes_wide(&widening, i)) ids_waste_set(graph, i, IDS_WASTE_WIDE, widening.culprit, IDS_HLO_NONE);
        }
    }
}
