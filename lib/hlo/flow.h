/* flow.h - what an execution of a program runs on its device, one after another.
 *
 * The instructions of the entry computation in the order of its schedule, and in place of each loop, branch or call
 * those of the computations that it runs, are numbered from 1 on. Whoever sees the kernels of an execution can tell by
 * that of which instructions they are (lib/model/kernel_ops.h): what may be left out is said to be so, and nothing else
 * may be.
 */
#ifndef IDS_LIB_HLO_FLOW_H
#define IDS_LIB_HLO_FLOW_H

#include "lib/hlo/module.h"

/* What runs of an instruction. */
enum ids_hlo_runs {
    IDS_HLO_RUNS_NOTHING,
    IDS_HLO_RUNS_KERNEL,  /* one kernel that was made of it, maybe with sets before it: a fusion. Or always copies or
                           * sets alone */
    IDS_HLO_RUNS_LIBRARY, /* kernels of a library, one or more, maybe with sets before each: a product of cuBLAS */
    IDS_HLO_RUNS_COPY,    /* copies, or kernels of its name, or nothing */
    IDS_HLO_RUNS_ANY,     /* kernels, copies, or nothing */
    IDS_HLO_RUNS_LOOP,    /* the same, and then either its body and its condition again, or what comes behind it */
    IDS_HLO_RUNS_COUNT
};

struct ids_hlo_flow {
    uint32_t order;         /* 0: it is not run, or nothing of it */
    uint32_t begins, ends;  /* of a loop: the number of the first in its condition and the one behind its body */
    uint8_t runs, optional; /* enum ids_hlo_runs; 1: an execution may go on without it */
};

/* The flow of each instruction, by its index; the caller frees it. NULL where the order is not known: a computation
 * that runs has no schedule, or runs in two places. 0, or -1 when memory ran out. */
int ids_hlo_flow_of(const struct ids_hlo_module *module, struct ids_hlo_flow **ret_flow);

#endif
