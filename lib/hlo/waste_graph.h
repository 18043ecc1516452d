/* waste_graph.h - what the rules of waste.c share: what each instruction does, and who uses it. */
#ifndef IDS_LIB_HLO_WASTE_GRAPH_H
#define IDS_LIB_HLO_WASTE_GRAPH_H

#include "lib/hlo/shape.h"
#include "lib/hlo/waste.h"

/* What an instruction does; of a fusion, what is done inside, together. */
enum ids_hlo_deed {
    IDS_DOES_NOTHING = 1, /* renames: parameter, tuple, bitcast */
    IDS_DOES_CONSTANT = 2,
    IDS_DOES_MOVE = 4, /* copy, transpose, reshape */
    IDS_DOES_CONVERT = 8,
    IDS_DOES_PAD = 16,
    IDS_DOES_PRODUCT = 32, /* dot, convolution, a library's matrix product */
    IDS_DOES_REDUCE = 64,
    IDS_DOES_EXP = 128,
    IDS_DOES_SLICE = 256,
    IDS_DOES_DIFFER =
        512,              /* by device or from call to call: partition-id, rng, infeed, custom calls that are unknown */
    IDS_DOES_CALL = 1024, /* while, conditional, call: what is inside is not looked at */
    IDS_DOES_COLLECTIVE = 2048,
    IDS_DOES_COMPUTE = 4096, /* anything else */
    IDS_DOES_BATCHES = 8192, /* of products: of many matrices */
    IDS_DOES_MAXIMUM = 16384,
    IDS_DOES_PEAK = 32768,       /* of reductions: to the largest, which a softmax subtracts */
    IDS_DOES_FILL = 65536,       /* broadcast, iota: too cheap to be kept */
    IDS_DIFFERS_INSIDE = 131072, /* of calls: what is called does IDS_DOES_DIFFER */
};

/* What a value depends on; of several the last. */
enum ids_waste_source {
    IDS_FROM_CONSTANTS,
    IDS_FROM_OUTSIDE, /* on nothing that the innermost loop around it changes */
    IDS_FROM_CALLS,   /* on what may differ from call to call, or from round to round */
};

struct ids_waste_graph {
    const struct ids_hlo_module *module;
    uint32_t *deeds;       /* by instruction */
    uint32_t *first_use;   /* by instruction: a place of module->operands; IDS_HLO_NONE: nobody uses it */
    uint32_t *next_use;    /* by place of module->operands: the next use of the same instruction */
    uint32_t *user_of;     /* by place of module->operands: the instruction that has this operand */
    uint32_t *inside;      /* by computation: the deeds of its instructions together */
    uint32_t *caller;      /* by computation: the instruction that calls it; IDS_HLO_NONE none, or one less: several */
    uint32_t *computation; /* by instruction: the one that it is in */
    uint64_t *value;       /* by instruction that is in no fusion: the same for what is the same */
    uint8_t *source;       /* by instruction that is in no fusion: enum ids_waste_source */
    struct ids_hlo_waste *of;
    int64_t budget; /* of steps that the rules may still take: a damaged program must not take a minute */
    int found;
};

/* Sets the waste of an instruction unless it has one already. */
void ids_waste_set(struct ids_waste_graph *graph, uint32_t instruction, enum ids_waste kind, uint32_t other,
                   uint32_t also);
/* The operand at that place; IDS_HLO_NONE where there is none. */
uint32_t ids_waste_operand(const struct ids_waste_graph *graph, uint32_t instruction, uint32_t place);
/* The computation inside a fusion; IDS_HLO_NONE: it is none. */
uint32_t ids_waste_inside(const struct ids_hlo_module *module, uint32_t instruction);

/* waste_values.c: values, sources, callers. */
void ids_waste_values(struct ids_waste_graph *graph);
void ids_waste_same(struct ids_waste_graph *graph);
/* The innermost loop in whose body or condition the instruction runs; IDS_HLO_NONE none. */
uint32_t ids_waste_loop_around(const struct ids_waste_graph *graph, uint32_t instruction);
/* Whether the instruction is in this computation, or in what that one runs. */
int ids_waste_runs_inside(const struct ids_waste_graph *graph, uint32_t instruction, uint32_t computation);
/* waste_again.c: sets computed_once. 0, or not: no memory */
int ids_waste_again(struct ids_waste_graph *graph);
/* waste_collectives.c, waste_wide.c, waste_attention.c, waste_transposes.c */
void ids_waste_collectives(struct ids_waste_graph *graph);
void ids_waste_wide(struct ids_waste_graph *graph);
void ids_waste_attention(struct ids_waste_graph *graph);
void ids_waste_transposes(struct ids_waste_graph *graph);
/* split.c */
void ids_split_find(struct ids_waste_graph *graph);

#endif
