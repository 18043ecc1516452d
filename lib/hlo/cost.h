/* cost.h - what an HLO program has to compute and to move, by the shapes of its values.
 *
 * A multiply-add is two operations, of complex numbers eight. Functions like exp and tanh are counted apart: what one
 * costs differs from device to device. Bytes are those that an instruction must read from and write to memory when
 * nothing of its operands is cached: inside a fusion only parameters are read and only results written, of a parameter
 * that is sliced or gathered only that part, and an update in place touches only what it updates. What a
 * library's call may work in is no result. A loop counts as often as it runs, a conditional
 * as its most expensive branch. Loops are known where the module was read with them (IDS_HLO_LOOPS).
 *
 * XLA's HloCostAnalysis counts the same way; tests/peers/README.md has how the two compare.
 */
#ifndef IDS_LIB_HLO_COST_H
#define IDS_LIB_HLO_COST_H

#include "lib/hlo/module.h"

struct ids_hlo_cost {
    double flops;        /* without transcendentals */
    double matrix_flops; /* those of dots and convolutions */
    double transcendentals;
    double bytes;         /* read and written */
    uint8_t element;      /* PrimitiveType of what the dot or convolution with most of them multiplies; 0 none */
    uint8_t misses_flops; /* 1: of a part it is not known, so that it is at least that much */
    uint8_t misses_bytes;
};

struct ids_hlo_costs {
    const struct ids_hlo_module *module;
    struct ids_hlo_cost *of_computation; /* all instructions of one run */
    double *fused_bytes;                 /* by computation: what a fusion of it reads and writes */
    double *read;                        /* of the fusion that is looked at: bytes of each value that are needed */
    uint64_t effort;                     /* spent on windows of convolutions */
};

/* 0 or IDS_NOMEM. The module must live as long; end with done, also after a failure. */
int ids_hlo_costs_make(const struct ids_hlo_module *module, struct ids_hlo_costs *ret_costs, struct ids_error *err);
void ids_hlo_costs_done(struct ids_hlo_costs *costs);

/* Of one execution of the instruction, what it calls included. */
struct ids_hlo_cost ids_hlo_cost_of(struct ids_hlo_costs *costs, uint32_t instruction);
/* Of one run of the program. */
struct ids_hlo_cost ids_hlo_cost_of_program(const struct ids_hlo_costs *costs);

/* As a count for a report: -1 where a part of it is not known. */
int64_t ids_hlo_cost_count(double amount, int misses);

#endif
