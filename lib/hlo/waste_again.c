/* waste_again.c - which instructions that are named as computed again for the backward pass (jax.checkpoint) are: where
 * the first forward pass is not needed, or XLA found the two to be the same, the program has one of them.
 *
 * Within a computation instructions of the same value are compared: the same of the same operands, looked at through
 * fusions, copies and conversions. A loop's body has its operands from outside, so that of bodies the shape and the
 * primitive are compared.
 */
#include "lib/fields/hlo.h"
#include "lib/hlo/element.h"
#include "lib/hlo/scope.h"
#include "lib/hlo/shape.h"
#include "lib/hlo/waste_graph.h"

#include <stdlib.h>
#include <string.h>

struct again {
    struct ids_waste_graph *graph;
    uint64_t *value;          /* by instruction; of those inside a fusion, for the fusion that was looked at last */
    struct ids_keymap parts;  /* fusion and place in its tuple -> value */
    struct ids_keymap firsts; /* value -> 1: a forward pass computes it */
    struct ids_keymap kinds;  /* shape and primitive -> computation + 1 where a forward pass has it, or SEVERAL */
    uint32_t computation;     /* that is looked at; none of a fusion */
};

#define SEVERAL (1ull << 32)
enum { WORK = IDS_DOES_COMPUTE | IDS_DOES_PRODUCT | IDS_DOES_REDUCE | IDS_DOES_EXP };

static int is_named_again(const struct ids_hlo_module *module, uint32_t instruction) {
    return ids_text_contains(ids_hlo_op_name(module, &module->instructions[instruction]), "rematted_computation");
}

/* What the first pass computes: neither named as computed again nor as part of the backward pass. */
static int is_first(const struct ids_hlo_module *module, uint32_t instruction) {
    struct ids_text name = ids_hlo_op_name(module, &module->instructions[instruction]);
    return name.length && !ids_text_contains(name, "rematted_computation") && !ids_text_contains(name, "transpose(");
}

/* --- values ----------------------------------------------------------------------------------------------------- */

static uint64_t operand_value(const struct again *again, uint32_t instruction, uint32_t place) {
    uint32_t operand = ids_waste_operand(again->graph, instruction, place);
    return operand < instruction ? again->value[operand] : 0;
}

/* Of a matrix product, as an instruction or a library's: the same for either order of the same operands. */
static uint64_t product_value(const struct again *again, uint32_t instruction) {
    uint64_t left = operand_value(again, instruction, 0), right = operand_value(again, instruction, 1);
    uint64_t value = ids_key_of(left < right ? left : right, left < right ? right : left);
    uint32_t operands = again->graph->module->instructions[instruction].operands.count;
    for (uint32_t o = 2; o < operands; o++) value = ids_key_of(value, operand_value(again, instruction, o));
    return ids_key_of(value, IDS_DOES_PRODUCT);
}

static uint64_t element_value(const struct again *again, uint32_t instruction) {
    const struct ids_hlo_module *module = again->graph->module;
    const struct ids_hlo_attribute *index =
        ids_hlo_attribute_of(module, &module->instructions[instruction], HLO_INSTRUCTION_TUPLE_INDEX);
    uint64_t place = index && !index->is_bytes ? index->number : 0, value;
    uint32_t tuple = ids_waste_operand(again->graph, instruction, 0);
    if (tuple >= instruction) return 0;
    if (ids_text_is(module->instructions[tuple].opcode, "tuple") && place < UINT32_MAX)
        return operand_value(again, tuple, (uint32_t)place);
    if (ids_keymap_get(&again->parts, ids_key_of(tuple, place), &value)) return value;
    if (again->graph->deeds[tuple] & IDS_DOES_PRODUCT) return again->value[tuple]; /* and where it worked */
    return ids_key_of(again->value[tuple], place + 1);
}

static uint64_t plain_value(const struct again *again, uint32_t instruction) {
    enum { SAME = IDS_DOES_MOVE | IDS_DOES_CONVERT | IDS_DOES_NOTHING };
    const struct ids_hlo_instruction *of = &again->graph->module->instructions[instruction];
    unsigned deeds = again->graph->deeds[instruction];
    if (ids_text_is(of->opcode, "parameter")) return ids_key_of(instruction, 1);
    if (ids_text_is(of->opcode, "get-tuple-element")) return element_value(again, instruction);
    if (deeds & IDS_DOES_PRODUCT) return product_value(again, instruction);
    int is_same = ids_text_is(of->opcode, "opt-barrier") || !(deeds & ~(unsigned)SAME);
    if (is_same && of->operands.count == 1) return operand_value(again, instruction, 0);
    uint64_t value = of->fingerprint;
    for (uint32_t o = 0; o < of->operands.count; o++) value = ids_key_of(value, operand_value(again, instruction, o));
    return value;
}

/* Values inside a fusion, whose parameters are its operands. Returns that of its result; *ret_failed: no memory. */
static uint64_t fused_value(struct again *again, uint32_t fusion, uint32_t inside, int *ret_failed) {
    const struct ids_hlo_module *module = again->graph->module;
    const struct ids_hlo_computation *computation = &module->computations[inside];
    const struct ids_hlo_range *range = &computation->instructions;
    again->graph->budget -= range->count;
    if (again->graph->budget < 0 || range->first + range->count > fusion) return ids_key_of(fusion, 2);
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const struct ids_hlo_instruction *of = &module->instructions[i];
        const struct ids_hlo_attribute *number =
            ids_text_is(of->opcode, "parameter") ? ids_hlo_attribute_of(module, of, HLO_INSTRUCTION_PARAMETER_NUMBER)
                                                 : NULL;
        uint64_t place = number && !number->is_bytes ? number->number : 0;
        again->value[i] = ids_text_is(of->opcode, "parameter") && place < UINT32_MAX
                              ? operand_value(again, fusion, (uint32_t)place)
                              : plain_value(again, i);
    }
    uint32_t root = computation->root;
    if (root < range->first || root >= range->first + range->count) return ids_key_of(fusion, 2);
    if (!ids_text_is(module->instructions[root].opcode, "tuple")) return again->value[root];
    for (uint32_t o = 0; o < module->instructions[root].operands.count; o++) {
        uint64_t *place = ids_keymap_at(&again->parts, ids_key_of(fusion, o));
        if (!place) *ret_failed = 1;
        if (place) *place = operand_value(again, root, o);
    }
    return ids_key_of(fusion, 3);
}

/* --- pairs ------------------------------------------------------------------------------------------------------ */

/* What two bodies of loops have in common of one instruction: its shape and the primitive, or that it is a product. */
static uint64_t kind_of(const struct ids_waste_graph *graph, uint32_t instruction) {
    const struct ids_hlo_instruction *of = &graph->module->instructions[instruction];
    struct ids_text name = ids_hlo_op_name(graph->module, of);
    const char *last = name.length ? memrchr(name.at, '/', name.length) : NULL;
    uint64_t primitive = last ? ids_hash_bytes(last, (size_t)(name.at + name.length - last)) : 0;
    uint32_t shape = of->shape;
    if (shape != IDS_HLO_NONE && graph->module->shapes[shape].element == IDS_HLO_TUPLE)
        shape = graph->module->shapes[shape].first_part;
    uint64_t of_shape = shape == IDS_HLO_NONE ? 0 : graph->module->shapes[shape].fingerprint;
    return ids_key_of(ids_key_of(of_shape, graph->deeds[instruction] & IDS_DOES_PRODUCT), primitive);
}

static int add_first(struct again *again, uint32_t instruction) {
    if (!(again->graph->deeds[instruction] & WORK) || !is_first(again->graph->module, instruction)) return 0;
    uint64_t *kind = ids_keymap_at(&again->kinds, kind_of(again->graph, instruction));
    uint64_t *value = ids_keymap_at(&again->firsts, again->value[instruction]);
    if (!kind || !value) return -1;
    *value = 1;
    uint64_t own = (uint64_t)again->computation + 1;
    *kind = !*kind || *kind == own ? own : SEVERAL;
    return 0;
}

static int has_first(const struct again *again, uint32_t instruction) {
    uint64_t unused, where;
    if (ids_keymap_get(&again->firsts, again->value[instruction], &unused)) return 1;
    return ids_keymap_get(&again->kinds, kind_of(again->graph, instruction), &where) &&
           where != (uint64_t)again->computation + 1;
}

/* What is said of a fusion goes by its products, where it has some. */
static int is_again(const struct again *again, uint32_t instruction, uint32_t inside) {
    struct ids_hlo_range range = {instruction, 1};
    uint32_t products = 0, other = 0, products_again = 0, other_again = 0;
    if (inside != IDS_HLO_NONE) range = again->graph->module->computations[inside].instructions;
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        unsigned deeds = again->graph->deeds[i];
        if (!(deeds & WORK)) continue;
        uint32_t found = (uint32_t)has_first(again, i);
        if (deeds & IDS_DOES_PRODUCT)
            products++, products_again += found;
        else
            other++, other_again += found;
    }
    return products ? products_again > 0 : other_again && other_again >= other - other_again;
}

/* Values of one computation's instructions; then either what a first pass computes, or what is not computed again. */
static int look_through(struct again *again, int is_second) {
    const struct ids_hlo_module *module = again->graph->module;
    const struct ids_hlo_range *range = &module->computations[again->computation].instructions;
    int failed = 0;
    for (uint32_t i = range->first; i < range->first + range->count && !failed; i++) {
        uint32_t inside = ids_waste_inside(module, i);
        if (inside != IDS_HLO_NONE && inside >= again->computation) inside = IDS_HLO_NONE;
        again->value[i] = inside == IDS_HLO_NONE ? plain_value(again, i) : fused_value(again, i, inside, &failed);
        if (is_second && is_named_again(module, i) && !is_again(again, i, inside)) {
            again->graph->of[i].computed_once = 1;
            again->graph->found = 1;
        }
        if (is_second) continue;
        struct ids_hlo_range inner = {i, 1};
        if (inside != IDS_HLO_NONE) inner = module->computations[inside].instructions;
        for (uint32_t k = inner.first; k < inner.first + inner.count && !failed; k++) failed = add_first(again, k);
    }
    return failed;
}

int ids_waste_again(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    struct again again = {.graph = graph};
    int any = 0, failed = 0;
    for (uint32_t i = 0; i < module->instruction_count && !any; i++) any = is_named_again(module, i);
    if (!any) return 0;
    again.value = calloc(module->instruction_count + 1, sizeof *again.value);
    failed = !again.value;
    for (int is_second = 0; is_second < 2; is_second++) {
        for (uint32_t c = 0; c < module->computation_count && !failed; c++) {
            again.computation = c;
            if (!module->computations[c].is_fusion) failed = look_through(&again, is_second);
        }
    }
    free(again.value);
    ids_keymap_done(&again.parts);
    ids_keymap_done(&again.firsts);
    ids_keymap_done(&again.kinds);
    return failed;
}
