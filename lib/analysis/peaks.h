/* peaks.h - what a device can do at most: operations a second by what is multiplied, and bytes a second of its memory.
 *
 * In this order: what the user says, what the file says of the device, the data sheet (device_peaks.def). Of AMD's
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

#endif
