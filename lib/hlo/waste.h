/* waste.h - which instructions of a compiled program only waste time, and how its graph shows it.
 *
 * Each instruction has at most one kind, the first of enum ids_waste that holds, so that the times of the kinds never
 * overlap. What the graph does not prove is not claimed: a fusion with a constant is no repetition of another one,
 * because constants' values are not read.
 */
#ifndef IDS_LIB_HLO_WASTE_H
#define IDS_LIB_HLO_WASTE_H

#include "lib/hlo/module.h"

enum ids_waste {
    IDS_NO_WASTE,
    IDS_WASTE_RECOMPUTED, /* a second time: by jax.checkpoint, by XLA's own ".remat", by PyTorch's checkpoint */
    IDS_WASTE_REPEATED,   /* the same computation of the same operands as `other` */
    IDS_WASTE_CONSTANT,   /* computed of constants alone: the same in each call */
    IDS_WASTE_INVARIANT,  /* in loop `other`, of what that does not change: `also` */
    IDS_WASTE_REPLICATED, /* a collective of what every device has already, or of one device */
    IDS_WASTE_GATHERED,   /* an all-gather of which `other` takes a slice */
    IDS_WASTE_REDUCED,    /* an all-reduce of which `other` takes a slice: a reduce-scatter would do */
    IDS_WASTE_LAYOUT,     /* copies, transposes, reshapes that move */
    IDS_WASTE_CONVERT,    /* converts elements and does nothing else */
    IDS_WASTE_PAD,        /* pads, with or without a slice, and does nothing else */
    IDS_WASTE_WIDE,       /* computes in float64 beside narrower arguments, of which `other` is none */
    IDS_WASTE_ATTENTION,  /* a softmax between two products, `also` and `other`, that is written to memory */
    IDS_WASTE_TRANSPOSED, /* a fusion that computes with a large array that it transposes inside: `other` */
    IDS_WASTE_SERIAL,     /* the end of something asynchronous, with nothing between it and the beginning */
    IDS_WASTE_COUNT,
};

/* Why an op that could be fused is an op of its own: what its user is, or that it has several. The first that holds. */
enum ids_split {
    IDS_NO_SPLIT, /* it could not be fused anyway */
    IDS_SPLIT_COLLECTIVE,
    IDS_SPLIT_CALL,
    IDS_SPLIT_PRODUCT,
    IDS_SPLIT_LOOP,
    IDS_SPLIT_REDUCTION,
    IDS_SPLIT_USERS,
    IDS_SPLIT_RESULT,
    IDS_SPLIT_SHAPE,
    IDS_SPLIT_UNSEEN,
    IDS_SPLIT_COUNT,
};
const char *ids_split_name(enum ids_split split); /* "several users"; NULL for IDS_NO_SPLIT */

/* "layout"; NULL for IDS_NO_WASTE. */
const char *ids_waste_name(enum ids_waste waste);

struct ids_hlo_waste {
    uint8_t kind;          /* enum ids_waste */
    uint8_t is_part;       /* 1: of a part of its operands alone */
    uint8_t split;         /* enum ids_split */
    uint8_t computed_once; /* 1: named as computed again for the backward pass, and the program has it once */
    uint32_t other, also;  /* instructions that show it; IDS_HLO_NONE: none */
    uint32_t rounds;       /* of the loop that IDS_WASTE_INVARIANT is in; 0 unknown */
};

/* One for each instruction of the module, to be freed: *ret_of stays NULL where there is nothing to say. 0 or
 * IDS_NOMEM. The module is finished. */
int ids_hlo_waste_find(const struct ids_hlo_module *module, struct ids_hlo_waste **ret_of, struct ids_error *err);

/* Why, for a person: "f32[64,8]{1,0} of fusion.2 for dot.3". Returns its length, which may be 0. */
enum { IDS_HLO_WASTE_TEXT = 512 };
size_t ids_hlo_waste_text(const struct ids_hlo_module *module, const struct ids_hlo_waste *of, uint32_t instruction,
                          char text[IDS_HLO_WASTE_TEXT]);

#endif
