/* model_flops.h - the operations of the model, and what share of the peak they are (MFU): a part of the roofline. */
#ifndef IDS_ANALYZERS_MODEL_FLOPS_H
#define IDS_ANALYZERS_MODEL_FLOPS_H

#include "lib/analysis/context.h"

#define IDS_EFFICIENCY_ROUNDING 1e-9 /* of sums of times that are the same */
#define IDS_NO_PEAK "the peak of this device is not known: give --device-kind ('list' shows the names), or "
#define IDS_NO_PEAK_FLOPS IDS_NO_PEAK "--peak-flops (900 TFLOP/s)"

/* A share of the peak; why it is `missing`. NULL: there is no value. */
struct ids_metric *ids_efficiency_share(struct ids_report *report, const char *id, const char *device, double part,
                                        double whole, const char *missing);

/* efficiency.model_flops, mfu and tokens_per_s. 0, or -1 when memory ran out. */
int ids_model_flops_put(const struct ids_analysis *analysis, struct ids_report *report);

#endif
