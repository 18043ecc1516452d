/* waste_values.c - which instructions have the same value, also in different computations, and what a value depends on:
 * constants alone, or nothing that the loop around it changes.
 *
 * Computations come before those that call them, so that callers are looked at first when the order is reversed. What a
 * computation gets is known where one instruction alone calls it. A loop gives its body a tuple, of which those parts
 * stay as they are that the body gives back.
 */
#include "lib/fields/hlo.h"
#include "lib/hlo/waste_graph.h"

#include <string.h>

enum { SEVERAL = IDS_HLO_NONE - 1 }; /* more than one instruction calls it */

static int is_loop(const struct ids_hlo_module *module, uint32_t instruction) {
    return ids_text_is(module->instructions[instruction].opcode, "while");
}

static uint64_t number_of(const struct ids_hlo_module *module, uint32_t instruction, unsigned field) {
    const struct ids_hlo_attribute *number = ids_hlo_attribute_of(module, &module->instructions[instruction], field);
    return number && !number->is_bytes ? number->number : 0;
}

/* --- who calls ---------------------------------------------------------------------------------------------------- */

static void tell_callers(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    for (size_t c = 0; c < module->computation_count; c++) graph->caller[c] = IDS_HLO_NONE;
    for (uint32_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_range *range = &module->computations[c].instructions;
        for (uint32_t i = range->first; i < range->first + range->count; i++) {
            const struct ids_hlo_range *called = &module->instructions[i].called;
            graph->computation[i] = c;
            for (uint32_t k = called->first; k < called->first + called->count; k++) {
                uint64_t inner = module->called[k];
                if (inner >= c) continue; /* no caller of what comes after it: circles end */
                graph->caller[inner] = graph->caller[inner] == IDS_HLO_NONE ? i : SEVERAL;
            }
        }
    }
}

/* The instruction that runs the computation; IDS_HLO_NONE: none, several, or one that calls it for its elements. */
static uint32_t runner_of(const struct ids_waste_graph *graph, uint32_t computation) {
    uint32_t caller = graph->caller[computation];
    return caller < SEVERAL && graph->deeds[caller] & IDS_DOES_CALL ? caller : IDS_HLO_NONE;
}

uint32_t ids_waste_loop_around(const struct ids_waste_graph *graph, uint32_t instruction) {
    uint32_t at = runner_of(graph, graph->computation[instruction]);
    while (at != IDS_HLO_NONE && !is_loop(graph->module, at)) at = runner_of(graph, graph->computation[at]);
    return at;
}

int ids_waste_runs_inside(const struct ids_waste_graph *graph, uint32_t instruction, uint32_t computation) {
    uint32_t own = graph->computation[instruction];
    while (own != computation) {
        uint32_t at = runner_of(graph, own);
        if (at == IDS_HLO_NONE) return 0;
        own = graph->computation[at];
    }
    return 1;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

struct value {
    uint64_t key;
    enum ids_waste_source source;
};

static struct value value_of(const struct ids_waste_graph *graph, uint32_t instruction) {
    return (struct value){graph->value[instruction], (enum ids_waste_source)graph->source[instruction]};
}

/* The same as nothing else. */
static struct value alone(uint32_t instruction, enum ids_waste_source source) {
    return (struct value){ids_key_of(instruction, 1), source};
}

/* Part `place` of a tuple: where an instruction puts it together, what it takes for it. */
static struct value part_of(const struct ids_waste_graph *graph, uint32_t tuple, uint64_t place) {
    enum { STEPS = 16 };
    for (int steps = 0; steps < STEPS && tuple != IDS_HLO_NONE; steps++) {
        if (!ids_text_is(graph->module->instructions[tuple].opcode, "opt-barrier")) break;
        tuple = ids_waste_operand(graph, tuple, 0);
    }
    if (tuple == IDS_HLO_NONE) return (struct value){0, IDS_FROM_CALLS};
    if (ids_text_is(graph->module->instructions[tuple].opcode, "tuple") && place < UINT32_MAX) {
        uint32_t part = ids_waste_operand(graph, tuple, (uint32_t)place);
        if (part != IDS_HLO_NONE) return value_of(graph, part);
    }
    struct value whole = value_of(graph, tuple);
    return (struct value){ids_key_of(whole.key, place + 2), whole.source};
}

/* Whether the body of a loop gives part `place` of its tuple back as it got it. */
static int stays(const struct ids_waste_graph *graph, uint32_t loop, uint64_t place) {
    const struct ids_hlo_module *module = graph->module;
    const struct ids_hlo_range *called = &module->instructions[loop].called;
    uint64_t body = called->count ? module->called[called->first] : UINT64_MAX;
    uint32_t root = body < module->computation_count ? module->computations[body].root : IDS_HLO_NONE;
    if (root == IDS_HLO_NONE || place >= UINT32_MAX || !ids_text_is(module->instructions[root].opcode, "tuple"))
        return 0;
    uint32_t part = ids_waste_operand(graph, root, (uint32_t)place);
    if (part == IDS_HLO_NONE || !ids_text_is(module->instructions[part].opcode, "get-tuple-element")) return 0;
    uint32_t of = ids_waste_operand(graph, part, 0);
    return of != IDS_HLO_NONE && graph->computation[of] == body &&
           ids_text_is(module->instructions[of].opcode, "parameter") &&
           number_of(module, part, HLO_INSTRUCTION_TUPLE_INDEX) == place;
}

/* What a runner gives to a computation as its parameter; IDS_HLO_NONE: not known. */
static uint32_t given(const struct ids_waste_graph *graph, uint32_t runner, uint32_t parameter) {
    const struct ids_hlo_module *module = graph->module;
    const struct ids_hlo_instruction *of = &module->instructions[runner];
    uint64_t number = number_of(module, parameter, HLO_INSTRUCTION_PARAMETER_NUMBER);
    if (number >= UINT32_MAX) return IDS_HLO_NONE;
    if (!ids_text_is(of->opcode, "conditional")) return ids_waste_operand(graph, runner, (uint32_t)number);
    for (uint32_t branch = 0; branch < of->called.count; branch++) {
        if (module->called[of->called.first + branch] == graph->computation[parameter])
            return ids_waste_operand(graph, runner, branch + 1);
    }
    return IDS_HLO_NONE;
}

static struct value parameter_value(const struct ids_waste_graph *graph, uint32_t parameter) {
    uint32_t runner = runner_of(graph, graph->computation[parameter]);
    uint32_t from = runner == IDS_HLO_NONE ? runner : given(graph, runner, parameter);
    if (from == IDS_HLO_NONE) return alone(parameter, IDS_FROM_CALLS);
    if (!is_loop(graph->module, runner)) return value_of(graph, from);
    return alone(parameter, graph->source[runner] == IDS_FROM_CONSTANTS ? IDS_FROM_CONSTANTS : IDS_FROM_CALLS);
}

static struct value element_value(const struct ids_waste_graph *graph, uint32_t instruction) {
    const struct ids_hlo_module *module = graph->module;
    uint64_t place = number_of(module, instruction, HLO_INSTRUCTION_TUPLE_INDEX);
    uint32_t tuple = ids_waste_operand(graph, instruction, 0), from = IDS_HLO_NONE;
    if (tuple >= instruction) return alone(instruction, IDS_FROM_CALLS);
    uint32_t runner = ids_text_is(module->instructions[tuple].opcode, "parameter")
                          ? runner_of(graph, graph->computation[tuple])
                          : IDS_HLO_NONE;
    if (runner != IDS_HLO_NONE) from = given(graph, runner, tuple);
    if (from == IDS_HLO_NONE) return part_of(graph, tuple, place);
    if (!is_loop(module, runner)) return part_of(graph, from, place);
    if (!stays(graph, runner, place)) return part_of(graph, tuple, place);
    struct value value = part_of(graph, from, place);
    if (value.source > IDS_FROM_OUTSIDE) value.source = IDS_FROM_OUTSIDE;
    return value;
}

/* What is computed has the value that its operands and its fingerprint have. Constants take no part in that. */
static struct value computed_value(const struct ids_waste_graph *graph, uint32_t instruction) {
    enum { OTHER = IDS_DOES_DIFFER | IDS_DOES_COLLECTIVE | IDS_DIFFERS_INSIDE };
    const struct ids_hlo_instruction *of = &graph->module->instructions[instruction];
    uint32_t deeds = graph->deeds[instruction];
    struct value value = {of->fingerprint, IDS_FROM_CONSTANTS};
    for (uint32_t o = 0; o < of->operands.count; o++) {
        uint32_t operand = ids_waste_operand(graph, instruction, o);
        if (operand >= instruction) return alone(instruction, IDS_FROM_CALLS);
        struct value from = value_of(graph, operand);
        value.key = ids_key_of(value.key, from.key);
        if (from.source > value.source) value.source = from.source;
    }
    if (deeds & OTHER) value.source = IDS_FROM_CALLS;
    if (deeds & (OTHER | IDS_DOES_CALL | IDS_DOES_CONSTANT) || !of->fingerprint)
        value.key = alone(instruction, value.source).key;
    return value;
}

static struct value make(const struct ids_waste_graph *graph, uint32_t instruction) {
    const struct ids_hlo_instruction *of = &graph->module->instructions[instruction];
    if (ids_text_is(of->opcode, "parameter")) return parameter_value(graph, instruction);
    if (ids_text_is(of->opcode, "get-tuple-element")) return element_value(graph, instruction);
    uint32_t operand = ids_waste_operand(graph, instruction, 0);
    int is_same = ids_text_is(of->opcode, "copy") || ids_text_is(of->opcode, "opt-barrier");
    return is_same && operand < instruction ? value_of(graph, operand) : computed_value(graph, instruction);
}

void ids_waste_values(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    tell_callers(graph);
    for (uint32_t c = (uint32_t)module->computation_count; c-- > 0;) {
        const struct ids_hlo_range *range = &module->computations[c].instructions;
        if (module->computations[c].is_fusion) continue;
        for (uint32_t i = range->first; i < range->first + range->count; i++) {
            struct value value = make(graph, i);
            graph->value[i] = value.key;
            graph->source[i] = (uint8_t)value.source;
        }
    }
}

/* --- what is the same each time ----------------------------------------------------------------------------------- */

/* A copy as it is keeps a value apart from what is overwritten. */
static int copies_as_it_is(const struct ids_hlo_module *module, uint32_t instruction, uint32_t operand) {
    char from[IDS_HLO_SHAPE_TEXT], to[IDS_HLO_SHAPE_TEXT];
    const struct ids_hlo_instruction *of = &module->instructions[instruction];
    if (operand == IDS_HLO_NONE || !ids_text_is(of->opcode, "copy") || of->shape == IDS_HLO_NONE) return 0;
    uint32_t shape = module->instructions[operand].shape;
    if (shape == IDS_HLO_NONE || !ids_hlo_shape_text(module, shape, 1, from)) return 0;
    return ids_hlo_shape_text(module, of->shape, 1, to) && !strcmp(from, to);
}

static int64_t rounds_of(const struct ids_hlo_module *module, uint32_t loop) {
    uint32_t known = module->instructions[loop].loop;
    return known == IDS_HLO_NONE ? -1 : module->loops[known].trip_count;
}

static void look_at(struct ids_waste_graph *graph, uint32_t instruction) {
    enum {
        WORK = IDS_DOES_COMPUTE | IDS_DOES_PRODUCT | IDS_DOES_REDUCE | IDS_DOES_EXP,
        MOVES = IDS_DOES_MOVE | IDS_DOES_CONVERT | IDS_DOES_PAD,
        NEVER = IDS_DOES_CALL | IDS_DOES_DIFFER | IDS_DOES_COLLECTIVE,
    };
    uint32_t deeds = graph->deeds[instruction], loop;
    if (deeds & NEVER) return;
    if (graph->source[instruction] == IDS_FROM_CONSTANTS && deeds & WORK) {
        ids_waste_set(graph, instruction, IDS_WASTE_CONSTANT, IDS_HLO_NONE, IDS_HLO_NONE);
        return;
    }
    if (graph->source[instruction] != IDS_FROM_OUTSIDE || !(deeds & (WORK | MOVES))) return;
    loop = ids_waste_loop_around(graph, instruction);
    if (loop == IDS_HLO_NONE || rounds_of(graph->module, loop) == 1) return;
    uint32_t operand = ids_waste_operand(graph, instruction, 0);
    if (copies_as_it_is(graph->module, instruction, operand)) return;
    ids_waste_set(graph, instruction, IDS_WASTE_INVARIANT, loop, operand);
    if (graph->of[instruction].kind != IDS_WASTE_INVARIANT) return;
    int64_t rounds = rounds_of(graph->module, loop);
    graph->of[instruction].rounds = rounds > 0 && rounds < UINT32_MAX ? (uint32_t)rounds : 0;
}

void ids_waste_same(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    for (uint32_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_range *range = &module->computations[c].instructions;
        int runs = c == module->entry || runner_of(graph, c) != IDS_HLO_NONE;
        if (module->computations[c].is_fusion || !runs) continue;
        for (uint32_t i = range->first; i < range->first + range->count; i++) look_at(graph, i);
    }
}
