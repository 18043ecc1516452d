/* split.c - why XLA did not fuse an op with the one that uses it. */
#include "lib/hlo/opcode.h"
#include "lib/hlo/shape.h"
#include "lib/hlo/waste_graph.h"

const char *ids_split_name(enum ids_split split) {
    static const char *const names[] = {NULL,        "collective",    "custom call", "matrix product", "loop or branch",
                                        "reduction", "several users", "result",      "other shape",    "nothing seen"};
    return (unsigned)split < IDS_SPLIT_COUNT ? names[split] : NULL;
}

/* Elements of an array; -1 of a tuple, or unknown. */
static int64_t elements_of(const struct ids_hlo_module *module, uint32_t instruction) {
    uint32_t number = module->instructions[instruction].shape;
    const struct ids_hlo_shape *shape = number == IDS_HLO_NONE ? NULL : &module->shapes[number];
    int64_t count = 1;
    if (!shape || shape->first_part != IDS_HLO_NONE) return -1;
    for (uint32_t d = 0; d < shape->dimensions.count; d++) {
        if (__builtin_mul_overflow(count, module->numbers[shape->dimensions.first + d], &count)) return -1;
    }
    return count;
}

/* Of one use, what keeps the two apart: a fact of the program, not of XLA's cost model. */
static enum ids_split of_user(const struct ids_waste_graph *graph, uint32_t instruction, uint32_t user) {
    const struct ids_hlo_module *module = graph->module;
    unsigned deeds = graph->deeds[user];
    if (deeds & IDS_DOES_COLLECTIVE) return IDS_SPLIT_COLLECTIVE;
    if (deeds & IDS_DOES_PRODUCT) return IDS_SPLIT_PRODUCT;
    if (deeds & IDS_DOES_DIFFER) return IDS_SPLIT_CALL;
    if (deeds & IDS_DOES_CALL) return IDS_SPLIT_LOOP;
    if (deeds == IDS_DOES_NOTHING) return IDS_SPLIT_RESULT;
    if ((deeds | graph->deeds[instruction]) & IDS_DOES_REDUCE) return IDS_SPLIT_REDUCTION;
    return elements_of(module, instruction) != elements_of(module, user) ? IDS_SPLIT_SHAPE : IDS_SPLIT_UNSEEN;
}

/* What XLA could fuse by its nature: elementwise work, moves and reductions. */
static int is_fusible(unsigned deeds) {
    enum { HARD = IDS_DOES_PRODUCT | IDS_DOES_DIFFER | IDS_DOES_CALL | IDS_DOES_COLLECTIVE };
    return !(deeds & HARD) && deeds & ~(unsigned)(IDS_DOES_NOTHING | IDS_DOES_CONSTANT);
}

static enum ids_split split_of(struct ids_waste_graph *graph, uint32_t instruction) {
    enum ids_split first = IDS_NO_SPLIT;
    uint32_t users = 0;
    for (uint32_t use = graph->first_use[instruction]; use != IDS_HLO_NONE; use = graph->next_use[use]) {
        if (graph->budget-- <= 0) return first;
        enum ids_split split = of_user(graph, instruction, graph->user_of[use]);
        users++;
        if (!first || split < first) first = split;
    }
    if (!users) return IDS_SPLIT_RESULT;
    return first > IDS_SPLIT_USERS && users > 1 ? IDS_SPLIT_USERS : first;
}

void ids_split_find(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    for (uint32_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_range *range = &module->computations[c].instructions;
        if (module->computations[c].is_fusion) continue;
        for (uint32_t i = range->first; i < range->first + range->count; i++) {
            if (!is_fusible(graph->deeds[i])) continue;
            graph->of[i].split = (uint8_t)split_of(graph, i);
            graph->found = 1;
        }
    }
}
