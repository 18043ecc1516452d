/* params.h - what a user may set of an analysis. */
#ifndef IDS_LIB_ANALYSIS_PARAMS_H
#define IDS_LIB_ANALYSIS_PARAMS_H

#include <stdint.h>

enum { IDS_TIMES_SMALL = 10 }; /* kernels from so many times small_kernel_ps on are graded good */

enum ids_window_mode {
    IDS_WINDOW_RUN,    /* first to last activity over the active devices, one window for all */
    IDS_WINDOW_DEVICE, /* each device's own first to last activity */
    IDS_WINDOW_STEPS,  /* from the first step's first device event to the last step's end */
};

/* Whose definitions are computed too, see analyzers/compat.h. */
enum ids_compat_peer { IDS_COMPAT_NONE, IDS_COMPAT_XPROF, IDS_COMPAT_NSYS, IDS_COMPAT_HTA, IDS_COMPAT_COUNT };
const char *ids_compat_name(enum ids_compat_peer peer); /* "xprof"; NULL of none */

struct ids_picture;

/* What a user may set. Every field but the last is part of what a cached summary is valid for. */
struct ids_params {
    enum ids_window_mode window;
    int64_t from_ps, to_ps;  /* since the first activity; from 0 and to INT64_MAX by default */
    int64_t small_kernel_ps; /* kernels shorter than this are small: 0.1 ms */
    /* The steps that are looked at: those with these numbers, without so many of the run's first ones. The window is
     * theirs. All by default. */
    int64_t first_step, last_step, skip_steps;
    enum ids_compat_peer compat;
    /* Of each device, in place of what the profile or a data sheet says: operations and bytes a second. Of a step over
     * all devices: operations of the model, tokens. 0 by default. */
    double peak_flops, peak_bandwidth, flops_per_step, tokens_per_step;
    const char *device_kind; /* whose data sheet every device but a CPU has (peaks.h); NULL: as the profile says */
    const char *device;      /* a glob: the devices that are looked at; NULL: all */
    struct ids_picture
        *picture; /* of the caller, who ends it: what the run did over time is put there; NULL: nowhere */
};

void ids_params_default(struct ids_params *params);
/* 1 when every field has its default. */
int ids_params_are_default(const struct ids_params *params);

#endif
