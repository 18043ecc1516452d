/* kernel_ops.h - which op of its program a kernel is of, where the file does not say so.
 *
 * XLA tells the profiler of the instruction for which it launches a kernel. Of a CUDA graph (a command buffer of XLA)
 * it launches all kernels at once, and those of a graph that was made before the recording say nothing of their
 * instructions. Then the program that launched them tells: its schedule says what runs one after another
 * (flow_match.h).
 */
#ifndef IDS_LIB_MODEL_KERNEL_OPS_H
#define IDS_LIB_MODEL_KERNEL_OPS_H

#include "lib/model/joinable.h"

struct ids_kernel_ops {
    uint64_t by_name, by_order, unknown; /* kernels, copies and sets */
};

/* Finds them, when launches are known. New ops stand behind the trace's others, and are called by their names alone. */
int ids_kernel_ops_find(const struct ids_join *join, struct ids_trace *trace, struct ids_kernel_ops *ret_found,
                        struct ids_error *err);

#endif
