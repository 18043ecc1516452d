/* parts.h - what of a fusion's work belongs to which scope of the program: XLA fuses across layers, and a fusion bears
 * the name of one instruction inside it.
 *
 * An instruction's work is its operations: one of a product (dot, convolution) counts a sixteenth, a function like exp
 * or tanh ten. What computes nothing and only moves counts one for each byte that it reads or writes. That is an
 * estimate of its time: how fast each kind runs differs from device to device, and how it is fused is not looked at.
 * Scopes below a hundredth belong to the largest.
 */
#ifndef IDS_LIB_HLO_PARTS_H
#define IDS_LIB_HLO_PARTS_H

#include "lib/hlo/cost.h"

enum { IDS_HLO_PARTS = 4 }; /* the largest; the rest belongs to the first */

struct ids_hlo_covered {
    struct ids_text op_name; /* of the instruction with most work in that scope */
    double share;            /* of the fusion's time, as estimated; of all parts together 1 */
};

/* Most work first. Returns how many; 0 where the fusion has one scope, that of its own name, or it is not known.
 * *effort grows by the instructions that were looked at; above IDS_HLO_PARTS_EFFORT nothing is told. */
enum { IDS_HLO_PARTS_EFFORT = 1 << 24 };
int ids_hlo_parts_of(struct ids_hlo_costs *costs, uint32_t fusion, uint64_t *effort,
                     struct ids_hlo_covered parts[IDS_HLO_PARTS]);

#endif
