/* analysis.h - one trace under one set of parameters: the window, and running the analyzers. */
#ifndef IDS_LIB_ANALYSIS_ANALYSIS_H
#define IDS_LIB_ANALYSIS_ANALYSIS_H

#include "lib/model/findings.h"
#include "lib/model/trace.h"
#include "lib/report/report.h"

enum ids_window_mode {
    IDS_WINDOW_RUN,    /* first to last activity over the active devices, one window for all */
    IDS_WINDOW_DEVICE, /* each device's own first to last activity */
    IDS_WINDOW_STEPS,  /* from the first step's first device event to the last step's end */
};

/* What a user may set. Every field is part of what a cached summary is valid for. */
struct ids_params {
    enum ids_window_mode window;
    int64_t from_ps, to_ps;  /* since the first activity; from 0 and to INT64_MAX by default */
    int64_t small_kernel_ps; /* kernels shorter than this are small: 0.1 ms */
};

void ids_params_default(struct ids_params *params);
/* 1 when every field has its default. */
int ids_params_are_default(const struct ids_params *params);

/* Runs every analyzer over the trace. The report is initialised by the caller. A trace without any device activity is
 * not an error: its metrics have no data and say why. */
int ids_analyze(const struct ids_trace *trace, const struct ids_params *params, struct ids_report *report,
                struct ids_error *err);
/* The same, with the findings about single events (unless NULL), which the caller ends. */
int ids_analyze_events(const struct ids_trace *trace, const struct ids_params *params, struct ids_report *report,
                       struct ids_findings *ret_findings, struct ids_error *err);

#endif
