/* waste_collectives.c - collectives that move what every device has already, or more than is used. */
#include "lib/hlo/opcode.h"
#include "lib/hlo/replica_groups.h"
#include "lib/hlo/waste_graph.h"

#include "lib/fields/hlo.h"

#include <stdlib.h>

/* Whether every device takes part in one group, so that all of them get the same. */
static int is_one_group(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of) {
    if (of->groups == IDS_HLO_NONE) return 1;
    struct ids_text groups = module->groups[of->groups];
    if (ids_text_is(groups, "{}")) return 1;
    uint64_t members = ids_replica_groups_members(groups);
    return members && (int64_t)members == ids_replica_group_size(groups);
}

static int gives_all_the_same(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of) {
    enum ids_collective collective = ids_collective_of_opcode(of->opcode);
    return (collective == IDS_ALL_REDUCE || collective == IDS_ALL_GATHER) && is_one_group(module, of);
}

/* An argument that the program has whole on every device. The file has an empty sharding of it: replicated is number 0
 * of its types, which protobuf leaves out. */
static int is_replicated_argument(const struct ids_hlo_instruction *of) {
    return ids_text_is(of->opcode, "parameter") && of->sharding.at && !of->sharding.length;
}

static int operands_are(const struct ids_waste_graph *graph, uint32_t instruction, const uint8_t *replicated) {
    const struct ids_hlo_range *operands = &graph->module->instructions[instruction].operands;
    for (uint32_t o = 0; o < operands->count; o++) {
        uint32_t operand = ids_waste_operand(graph, instruction, o);
        if (operand == IDS_HLO_NONE || operand >= instruction || !replicated[operand]) return 0;
    }
    return 1;
}

static int is_replicated(const struct ids_waste_graph *graph, uint32_t i, const uint8_t *replicated) {
    const struct ids_hlo_instruction *of = &graph->module->instructions[i];
    if (ids_text_is(of->opcode, "parameter")) return is_replicated_argument(of);
    if (graph->deeds[i] & IDS_DOES_COLLECTIVE) return gives_all_the_same(graph->module, of);
    if (graph->deeds[i] & (IDS_DOES_DIFFER | IDS_DOES_CALL)) return 0;
    return operands_are(graph, i, replicated);
}

static int64_t bytes_of(const struct ids_hlo_module *module, uint32_t instruction) {
    uint32_t shape = module->instructions[instruction].shape;
    return shape == IDS_HLO_NONE ? -1 : module->shapes[shape].bytes;
}

/* Of scalars nothing can be won, nor of a small part. */
enum { LEAST_BYTES = 1024, LEAST_PART = 10 };

/* An all-reduce of what all have is a product with their number, and an all-gather a repetition. */
static void judge(struct ids_waste_graph *graph, uint32_t i, const uint8_t *replicated) {
    const struct ids_hlo_module *module = graph->module;
    const struct ids_hlo_instruction *of = &module->instructions[i];
    enum ids_collective collective = ids_collective_of_opcode(of->opcode);
    if (ids_opcode_is_wait(of->opcode) || !collective || collective == IDS_SEND_RECV || collective == IDS_PERMUTE)
        return;
    struct ids_text groups = {0};
    if (of->groups != IDS_HLO_NONE) groups = module->groups[of->groups];
    if (groups.length && ids_replica_groups_members(groups) && ids_replica_group_size(groups) == 1) {
        ids_waste_set(graph, i, IDS_WASTE_REPLICATED, IDS_HLO_NONE, IDS_HLO_NONE);
        return;
    }
    uint32_t largest = IDS_HLO_NONE;
    int64_t known = 0, all = 0;
    for (uint32_t o = 0; o < of->operands.count; o++) {
        uint32_t operand = ids_waste_operand(graph, i, o);
        int64_t bytes = operand == IDS_HLO_NONE ? 0 : bytes_of(module, operand);
        if (bytes > 0 && bytes < INT64_MAX - all) all += bytes;
        if (bytes < LEAST_BYTES || operand >= i || !replicated[operand]) continue;
        known += bytes;
        if (largest == IDS_HLO_NONE || bytes_of(module, operand) > bytes_of(module, largest)) largest = operand;
    }
    if (largest == IDS_HLO_NONE || known < all / LEAST_PART) return;
    ids_waste_set(graph, i, IDS_WASTE_REPLICATED, largest, IDS_HLO_NONE);
    if (graph->of[i].kind == IDS_WASTE_REPLICATED) graph->of[i].is_part = (uint8_t)!operands_are(graph, i, replicated);
}

static void find_replicated(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    if (module->entry == IDS_HLO_NONE) return;
    const struct ids_hlo_range *range = &module->computations[module->entry].instructions;
    int has_collective = 0;
    for (uint32_t i = range->first; i < range->first + range->count; i++)
        has_collective |= (graph->deeds[i] & IDS_DOES_COLLECTIVE) != 0;
    uint8_t *replicated = has_collective ? calloc(module->instruction_count, 1) : NULL;
    if (!replicated) return; /* with less memory less is said */
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        judge(graph, i, replicated);
        replicated[i] = (uint8_t)is_replicated(graph, i, replicated);
    }
    free(replicated);
}

/* --- of which a slice is used ----------------------------------------------------------------------------------- */

/* The parameter of that number inside a fusion. */
static uint32_t parameter_of(struct ids_waste_graph *graph, uint32_t inside, uint32_t number) {
    const struct ids_hlo_module *module = graph->module;
    const struct ids_hlo_range *body = &module->computations[inside].instructions;
    for (uint32_t i = body->first; i < body->first + body->count && graph->budget-- > 0; i++) {
        if (!ids_text_is(module->instructions[i].opcode, "parameter")) continue;
        const struct ids_hlo_attribute *own =
            ids_hlo_attribute_of(module, &module->instructions[i], HLO_INSTRUCTION_PARAMETER_NUMBER);
        if ((own && !own->is_bytes ? own->number : 0) == number) return i;
    }
    return IDS_HLO_NONE;
}

/* Whether all that use the value take smaller slices, at a place that each device chooses; and one of those. Renamings
 * and fusions are looked through, `depth` of them. */
static int is_sliced(struct ids_waste_graph *graph, uint32_t value, int64_t bytes, int depth, uint32_t *ret_slice) {
    const struct ids_hlo_module *module = graph->module;
    uint32_t use = graph->first_use[value];
    if (use == IDS_HLO_NONE || depth < 0) return 0;
    for (; use != IDS_HLO_NONE; use = graph->next_use[use]) {
        if (graph->budget-- <= 0) return 0;
        uint32_t user = graph->user_of[use], inside = ids_waste_inside(module, user);
        const struct ids_hlo_instruction *of = &module->instructions[user];
        if (inside != IDS_HLO_NONE) {
            uint32_t inner = parameter_of(graph, inside, use - of->operands.first);
            if (inner == IDS_HLO_NONE || !is_sliced(graph, inner, bytes, depth - 1, ret_slice)) return 0;
            *ret_slice = user;
            continue;
        }
        int renames = ids_text_is(of->opcode, "bitcast") || ids_text_is(of->opcode, "reshape") ||
                      ids_text_is(of->opcode, "copy") || ids_opcode_is_wait(of->opcode);
        if (renames) {
            if (!is_sliced(graph, user, bytes, depth - 1, ret_slice)) return 0;
            continue;
        }
        if (!ids_text_is(of->opcode, "dynamic-slice") || use != of->operands.first) return 0;
        if (bytes_of(module, user) < 0 || bytes_of(module, user) >= bytes) return 0;
        *ret_slice = user;
    }
    return 1;
}

static void find_sliced(struct ids_waste_graph *graph) {
    enum { DEPTH = 4 };
    const struct ids_hlo_module *module = graph->module;
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        if (!(graph->deeds[i] & IDS_DOES_COLLECTIVE)) continue;
        const struct ids_hlo_instruction *of = &module->instructions[i];
        enum ids_collective collective = ids_collective_of_opcode(of->opcode);
        uint32_t slice = IDS_HLO_NONE;
        int64_t bytes = bytes_of(module, i);
        if ((collective != IDS_ALL_GATHER && collective != IDS_ALL_REDUCE) || bytes < LEAST_BYTES) continue;
        if (ids_opcode_is_wait(of->opcode) || !is_sliced(graph, i, bytes, DEPTH, &slice)) continue;
        ids_waste_set(graph, i, collective == IDS_ALL_GATHER ? IDS_WASTE_GATHERED : IDS_WASTE_REDUCED, slice,
                      IDS_HLO_NONE);
    }
}

void ids_waste_collectives(struct ids_waste_graph *graph) {
    find_replicated(graph);
    find_sliced(graph);
}
