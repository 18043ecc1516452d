/* waste_again.c - which instructions that are named as computed again for the backward pass (jax.checkpoint) are: where
 * the first forward pass is not needed, or XLA found the two to be the same, the program has one of them.
 *
 * What the first forward pass needs is a part of that, whatever its name says: XLA found the two to be the same. For
 * the rest, within a computation instructions of the same value are compared: the same of the same operands, looked at
 * through fusions, copies and conversions. XLA also rewrites the two passes differently (a division by a root becomes a
 * product with rsqrt where nobody else needs the root), and all that follows has another value then: what is left is
 * compared by scope, primitive and shape, each of the first pass with one of the second. A loop's body has its operands
 * from outside, so that of bodies the shape and the primitive are compared.
 */
#include "lib/fields/hlo.h"
#include "lib/hlo/element.h"
#include "lib/hlo/scope.h"
#include "lib/hlo/shape.h"
#include "lib/hlo/waste_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct again {
    struct ids_waste_graph *graph;
    uint64_t *value;          /* by instruction; of those inside a fusion, for the fusion that was looked at last */
    struct ids_keymap parts;  /* fusion and place in its tuple -> value */
    struct ids_keymap firsts; /* value -> 1: a forward pass computes it */
    struct ids_keymap kinds;  /* shape and primitive -> computation + 1 where a forward pass has it, or SEVERAL */
    struct ids_keymap
        places;           /* scope, shape and primitive -> how many a forward pass has that no other was found for */
    uint8_t *needed;      /* by instruction: 1: a forward pass needs it */
    uint32_t computation; /* that is looked at; none of a fusion */
};

#define SEVERAL (1ull << 32)
enum stage { FIND_FIRSTS, FIND_SAME, TELL, STAGES };
enum {
    WORK = IDS_DOES_COMPUTE | IDS_DOES_PRODUCT | IDS_DOES_REDUCE | IDS_DOES_EXP,
    MOVES = IDS_DOES_MOVE | IDS_DOES_CONVERT | IDS_DOES_PAD | IDS_DOES_SLICE
};

static int is_named_again(const struct ids_hlo_module *module, uint32_t instruction) {
    return ids_text_contains(ids_hlo_op_name(module, &module->instructions[instruction]), "rematted_computation");
}

/* What the first pass computes: neither named as computed again nor as part of the backward pass. */
static int is_first(const struct ids_hlo_module *module, uint32_t instruction) {
    struct ids_text name = ids_hlo_op_name(module, &module->instructions[instruction]);
    return name.length && !ids_text_contains(name, "rematted_computation") && !ids_text_contains(name, "transpose(");
}

/* The forward pass of what is differentiated; an optimizer's work is none. */
static int is_forward(const struct ids_hlo_module *module, uint32_t instruction) {
    return is_first(module, instruction) &&
           ids_text_contains(ids_hlo_op_name(module, &module->instructions[instruction]), "jvp(");
}

/* From users to operands, through what is named as computed again or not at all: through the backward pass of one step
 * the forward pass of the next one in the same program would need everything. */
static void tell_needed(struct again *again) {
    const struct ids_waste_graph *graph = again->graph;
    for (uint32_t i = (uint32_t)graph->module->instruction_count; i-- > 0;) {
        for (uint32_t use = graph->first_use[i]; use != IDS_HLO_NONE && !again->needed[i]; use = graph->next_use[use]) {
            uint32_t user = graph->user_of[use];
            const struct ids_hlo_instruction *of = &graph->module->instructions[user];
            int passes_on = is_named_again(graph->module, user) || !ids_hlo_op_name(graph->module, of).length;
            again->needed[i] = is_forward(graph->module, user) || (passes_on && again->needed[user]);
        }
    }
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

/* The same of one scope. */
static uint64_t place_of(const struct ids_waste_graph *graph, uint32_t instruction) {
    char name[1024], scope[IDS_SCOPE_BYTES];
    struct ids_text whole = ids_hlo_op_name(graph->module, &graph->module->instructions[instruction]);
    snprintf(name, sizeof name, "%.*s", (int)(whole.length < sizeof name ? whole.length : sizeof name - 1), whole.at);
    ids_scope_of(name, scope);
    return ids_key_of(ids_hash_bytes(scope, strlen(scope)), kind_of(graph, instruction));
}

/* `outer`: the instruction itself, or the fusion around it. */
static int add_first(struct again *again, uint32_t outer, uint32_t instruction) {
    const struct ids_hlo_module *module = again->graph->module;
    int is_merged = is_named_again(module, instruction) && again->needed[outer];
    unsigned deeds = again->graph->deeds[instruction];
    if (!(deeds & (WORK | MOVES)) || (!is_merged && !is_first(module, instruction))) return 0;
    if (is_merged || is_forward(module, instruction)) {
        uint64_t *count = ids_keymap_at(&again->places, place_of(again->graph, instruction));
        if (!count) return -1;
        ++*count;
    }
    if (!(deeds & WORK)) return 0;
    uint64_t *kind = ids_keymap_at(&again->kinds, kind_of(again->graph, instruction));
    uint64_t *value = ids_keymap_at(&again->firsts, again->value[instruction]);
    if (!kind || !value) return -1;
    *value = 1;
    uint64_t own = (uint64_t)again->computation + 1;
    *kind = !*kind || *kind == own ? own : SEVERAL;
    return 0;
}

/* One of the forward pass for one that is computed again. */
static int take_place(struct again *again, uint32_t instruction) {
    uint64_t key = place_of(again->graph, instruction), left;
    if (!ids_keymap_get(&again->places, key, &left) || !left) return 0;
    --*ids_keymap_at(&again->places, key);
    return 1;
}

static int has_same(const struct again *again, uint32_t instruction) {
    uint64_t unused;
    return ids_keymap_get(&again->firsts, again->value[instruction], &unused);
}

static int has_first(struct again *again, uint32_t instruction) {
    uint64_t where;
    if (has_same(again, instruction)) return 1;
    if (ids_keymap_get(&again->kinds, kind_of(again->graph, instruction), &where) &&
        where != (uint64_t)again->computation + 1)
        return 1;
    return take_place(again, instruction);
}

static struct ids_hlo_range inner_of(const struct again *again, uint32_t instruction, uint32_t inside) {
    if (inside == IDS_HLO_NONE) return (struct ids_hlo_range){instruction, 1};
    return again->graph->module->computations[inside].instructions;
}

/* What only moves has the value of what it moves, so that its place alone is compared. */
static int moves_again(struct again *again, struct ids_hlo_range range) {
    uint32_t moves = 0, found = 0;
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        if (!(again->graph->deeds[i] & MOVES)) continue;
        moves++;
        found += (uint32_t)take_place(again, i);
    }
    return found && found >= moves - found;
}

/* What is said of a fusion goes by its products, where it has some; of one without work, by what it moves. */
static int is_again(struct again *again, uint32_t instruction, uint32_t inside) {
    struct ids_hlo_range range = inner_of(again, instruction, inside);
    uint32_t products = 0, other = 0, products_again = 0, other_again = 0;
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        unsigned deeds = again->graph->deeds[i];
        if (!(deeds & WORK)) continue;
        uint32_t found = (uint32_t)has_first(again, i);
        if (deeds & IDS_DOES_PRODUCT)
            products++, products_again += found;
        else
            other++, other_again += found;
    }
    if (!products && !other) return moves_again(again, range);
    return products ? products_again > 0 : other_again && other_again >= other - other_again;
}

/* What the stage does with one instruction, whose value is known. Returns 0, or not: no memory. */
static int look_at(struct again *again, uint32_t instruction, uint32_t inside, enum stage stage) {
    struct ids_hlo_range inner = inner_of(again, instruction, inside);
    int failed = 0, is_asked = is_named_again(again->graph->module, instruction);
    if (again->graph->budget < 0) return 0;
    for (uint32_t k = inner.first; k < inner.first + inner.count && !failed && stage == FIND_FIRSTS; k++)
        failed = add_first(again, instruction, k);
    if (!is_asked || stage == FIND_FIRSTS) return failed;
    for (uint32_t k = inner.first; k < inner.first + inner.count && stage == FIND_SAME; k++)
        if (!again->needed[instruction] && again->graph->deeds[k] & WORK && has_same(again, k)) take_place(again, k);
    if (stage == TELL && (again->needed[instruction] || !is_again(again, instruction, inside))) {
        again->graph->of[instruction].computed_once = 1;
        again->graph->found = 1;
    }
    return 0;
}

/* Values of one computation's instructions; then what a first pass computes, what of it has one of the same value, and
 * what is not computed again. */
static int look_through(struct again *again, enum stage stage) {
    const struct ids_hlo_module *module = again->graph->module;
    const struct ids_hlo_range *range = &module->computations[again->computation].instructions;
    int failed = 0;
    for (uint32_t i = range->first; i < range->first + range->count && !failed; i++) {
        uint32_t inside = ids_waste_inside(module, i);
        if (inside != IDS_HLO_NONE && inside >= again->computation) inside = IDS_HLO_NONE;
        again->value[i] = inside == IDS_HLO_NONE ? plain_value(again, i) : fused_value(again, i, inside, &failed);
        if (!failed) failed = look_at(again, i, inside, stage);
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
    again.needed = calloc(module->instruction_count + 1, sizeof *again.needed);
    failed = !again.value || !again.needed;
    if (!failed) tell_needed(&again);
    for (int stage = FIND_FIRSTS; stage < STAGES; stage++) {
        for (uint32_t c = 0; c < module->computation_count && !failed; c++) {
            again.computation = c;
            if (!module->computations[c].is_fusion) failed = look_through(&again, (enum stage)stage);
        }
    }
    free(again.value);
    free(again.needed);
    ids_keymap_done(&again.parts);
    ids_keymap_done(&again.firsts);
    ids_keymap_done(&again.kinds);
    ids_keymap_done(&again.places);
    return failed;
}
