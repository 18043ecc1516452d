/* kernel_advice.h - what the table of kernels says that could be done: what keeps most of the kernel time at a low
 * occupancy, and matrix products that miss the matrix units.
 */
#ifndef IDS_ANALYZERS_KERNEL_ADVICE_H
#define IDS_ANALYZERS_KERNEL_ADVICE_H

#include "analyzers/remedies.h"
#include "lib/report/report.h"

/* In the report's memory; `what` is NULL where there is nothing to say. */
struct ids_kernel_advice {
    const char *what, *evidence;
};

/* Half or more of the time of kernels whose occupancy is known is at 50 % or less. Kernels on matrix units are left
 * out: they hide latency by stages of copies, not by warps. */
struct ids_kernel_advice ids_low_occupancy_advice(struct ids_report *report);

/* A tenth or more of the kernel time misses the matrix units. */
struct ids_kernel_advice ids_matrix_advice(struct ids_report *report, enum ids_framework framework);

#endif
