/* peak_options.h - what a user says of devices and steps: --device-kind, --peak-flops and the like. */
#ifndef IDS_CMD_PEAK_OPTIONS_H
#define IDS_CMD_PEAK_OPTIONS_H

#include "lib/analysis/params.h"
#include "lib/base/error.h"

/* As they were given; NULL: not. */
struct ids_peak_options {
    const char *device_kind, *peak_flops, *peak_bandwidth, *flops_per_step, *tokens_per_step;
};

/* 0 or IDS_USAGE. */
int ids_peak_options(const struct ids_peak_options *options, struct ids_params *params, struct ids_error *err);

#endif
