/* torch_cost.h - what PyTorch's products, convolutions and attentions compute and move, by the shapes of what they were
 * called with (record_shapes=True).
 *
 * As lib/hlo/cost.h counts: a multiply-add is two operations, a complex one eight; what a mask leaves out is counted,
 * and so are positions of a convolution that lie in its padding. Bytes are those of the operands and of the result,
 * each once. Only the op that launches the work has a cost: aten::addmm, not aten::linear around it. */
#ifndef IDS_LIB_MODEL_TORCH_COST_H
#define IDS_LIB_MODEL_TORCH_COST_H

#include "lib/base/intern.h"

struct ids_torch_cost {
    double flops, bytes;
    char shape[96];  /* of the result: "f32[256,256]" */
    uint8_t element; /* lib/hlo/element.h, of what is multiplied */
};

/* Which of the ops that multiply it is, from 1; 0: it is none of them. */
int ids_torch_product(struct ids_text op);
/* Kineto's args of one such op, JSON without spaces: "Input Dims", "Input type", and "Concrete Inputs", which may be
 * empty. Returns 0 where they do not tell. */
int ids_torch_cost_of(int product, struct ids_text dims, struct ids_text types, struct ids_text concrete,
                      struct ids_torch_cost *ret_cost);

#endif
