/* kernel_advice.h - what the table of kernels says that could be done: what keeps most of the kernel time at a low
 * occupancy, and matrix products that miss the matrix units.
 */
#ifndef IDS_ANALYZERS_KERNEL_ADVICE_H
#define IDS_ANALYZERS_KERNEL_ADVICE_H

#include "analyzers/remedies.h"
#include "lib/analysis/peaks.h"
#include "lib/report/report.h"

/* In the report's memory; `what` is NULL where there is nothing to say. */
struct ids_kernel_advice {
    const char *what, *evidence, *explain;
    const char *gain; /* of products beside the matrix units: the end of the evidence, how much faster those are */
};

/* Half or more of the time of kernels whose occupancy is known is at 50 % or less. Kernels of
 * libraries and matrix products are left out: they hold their tiles in registers, and hide latency by stages of copies,
 * not by warps. */
struct ids_kernel_advice ids_low_occupancy_advice(struct ids_report *report);

/* A tenth or more of the kernel time is in matrix products beside the matrix units: f32, where the device has units for
 * it (TF32), or for f16. */
struct ids_matrix_circumstances {
    enum ids_framework framework;
    const struct ids_device *device;
    struct ids_peaks peaks;
};
struct ids_kernel_advice ids_matrix_advice(struct ids_report *report, const struct ids_matrix_circumstances *about);

#endif
