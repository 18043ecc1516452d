/* peaks.h - what a device can do at most: operations a second by what is multiplied, and bytes a second of its memory.
 *
 * In this order: what the user says (rates, then the kind of the device), what the file says of the device, the data
 * sheet (device_peaks.def). Of AMD's
 * devices the data sheet comes before the file: ROCm gives half of the memory's clock. A CPU has no peak.
 */
#ifndef IDS_LIB_ANALYSIS_PEAKS_H
#define IDS_LIB_ANALYSIS_PEAKS_H

#include "lib/analysis/params.h"
#include "lib/hlo/multiplier.h"
#include "lib/model/trace.h"

struct ids_peaks {
    double flops[IDS_MULTIPLIERS];           /* a second; 0 unknown */
    double bandwidth;                        /* bytes a second; 0 unknown */
    const char *flops_from, *bandwidth_from; /* for a person; NULL unknown */
};

struct ids_peaks ids_peaks_of(const struct ids_trace *trace, const struct ids_device *device,
                              const struct ids_params *params);

/* By its name as jax.devices()[0].device_kind gives it: "TPU v6e", "NVIDIA H100 80GB HBM3". 0: no data sheet has it. */
int ids_peaks_know(const char *kind);
/* The kind of a GPU whose file does not name it, by its capability, cores and memory: "MI300X"; NULL: unknown. */
const char *ids_peaks_like(const struct ids_trace *trace, const struct ids_device *device);

/* The data sheets one after the other, `i` from 0. */
struct ids_peaks_sheet {
    const char *kind; /* NULL: there are no more */
    int is_tpu;
    struct ids_peaks peaks;
};
struct ids_peaks_sheet ids_peaks_sheet(int i);

#endif
