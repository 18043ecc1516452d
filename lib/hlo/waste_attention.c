/* waste_attention.c - attention as two batched products with a softmax between them that goes through memory. */
#include "lib/fields/hlo.h"
#include "lib/hlo/waste_graph.h"

/* How far back a product's operand is followed, and over how many instructions. */
enum { DEPTH = 10, MOST = 48 };

struct chain {
    struct ids_waste_graph *graph;
    uint32_t at[MOST]; /* between the two products */
    int count;
    uint32_t first; /* the product that it begins with */
    unsigned deeds; /* of all, and of the first product's fusion */
};

/* Of many matrices: a router's or a classifier's softmax stands between products of one. */
static int is_product(const struct ids_waste_graph *graph, uint32_t instruction) {
    uint32_t shape = graph->module->instructions[instruction].shape;
    return (graph->deeds[instruction] & IDS_DOES_BATCHES) && shape != IDS_HLO_NONE &&
           graph->module->shapes[shape].dimensions.count >= 2;
}

static int is_new(const struct chain *chain, uint32_t instruction) {
    for (int i = 0; i < chain->count; i++) {
        if (chain->at[i] == instruction) return 0;
    }
    return 1;
}

/* Follows what is computed element by element or reduced, back to a product. */
static void follow(struct chain *chain, uint32_t from, int depth) {
    struct ids_waste_graph *graph = chain->graph;
    if (from == IDS_HLO_NONE || depth < 0 || chain->count == MOST || graph->budget-- <= 0) return;
    unsigned deeds = graph->deeds[from];
    if (is_product(graph, from)) {
        if (chain->first == IDS_HLO_NONE || from < chain->first) chain->first = from;
        chain->deeds |= deeds;
        return;
    }
    if (deeds & (IDS_DOES_CALL | IDS_DOES_COLLECTIVE | IDS_DOES_DIFFER | IDS_DOES_PRODUCT) || !is_new(chain, from))
        return;
    if (deeds == IDS_DOES_CONSTANT || ids_text_is(graph->module->instructions[from].opcode, "parameter")) return;
    chain->at[chain->count++] = from;
    chain->deeds |= deeds;
    for (uint32_t o = 0; o < graph->module->instructions[from].operands.count && chain->count < MOST; o++) {
        uint32_t operand = ids_waste_operand(graph, from, o);
        if (operand < from) follow(chain, operand, depth - 1);
    }
}

static int64_t bytes_of(const struct ids_hlo_module *module, uint32_t instruction) {
    uint32_t shape = module->instructions[instruction].shape;
    return shape == IDS_HLO_NONE ? -1 : module->shapes[shape].bytes;
}

/* The last dimension, over which the softmax goes, must be long: a product of a few columns is no attention. */
static int is_long(const struct ids_hlo_module *module, uint32_t instruction) {
    enum { LEAST = 64 };
    const struct ids_hlo_range *dimensions = &module->shapes[module->instructions[instruction].shape].dimensions;
    return module->numbers[dimensions->first + dimensions->count - 1] >= LEAST;
}

static void mark(struct ids_waste_graph *graph, const struct chain *chain, uint32_t second) {
    for (int i = 0; i < chain->count; i++) {
        if (graph->deeds[chain->at[i]] & ~(unsigned)(IDS_DOES_NOTHING | IDS_DOES_CONSTANT))
            ids_waste_set(graph, chain->at[i], IDS_WASTE_ATTENTION, second, chain->first);
    }
}

/* The largest is subtracted, and the sum divided by; a gate (silu) before a norm has no largest. */
enum { SOFTMAX = IDS_DOES_EXP | IDS_DOES_REDUCE | IDS_DOES_PEAK };

void ids_waste_attention(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    for (uint32_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_range *range = &module->computations[c].instructions;
        if (module->computations[c].is_fusion) continue;
        for (uint32_t i = range->first; i < range->first + range->count; i++) {
            if (!is_product(graph, i)) continue;
            for (uint32_t o = 0; o < module->instructions[i].operands.count && o < 2; o++) {
                struct chain chain = {.graph = graph, .first = IDS_HLO_NONE};
                uint32_t operand = ids_waste_operand(graph, i, o);
                if (operand >= i || is_product(graph, operand)) continue;
                follow(&chain, operand, DEPTH);
                if (chain.first == IDS_HLO_NONE || (chain.deeds & SOFTMAX) != SOFTMAX) continue;
                if (!is_long(module, chain.first) || bytes_of(module, operand) < bytes_of(module, chain.first) / 2)
                    continue;
                mark(graph, &chain, i);
            }
        }
    }
}
