/* analysis.h - one trace under one set of parameters: running the analyzers. */
#ifndef IDS_LIB_ANALYSIS_ANALYSIS_H
#define IDS_LIB_ANALYSIS_ANALYSIS_H

#include "lib/analysis/params.h"
#include "lib/model/findings.h"
#include "lib/model/trace.h"
#include "lib/report/report.h"

/* Runs every analyzer over the trace. The report is initialised by the caller. A trace without any device activity is
 * not an error: its metrics have no data and say why. */
int ids_analyze(const struct ids_trace *trace, const struct ids_params *params, struct ids_report *report,
                struct ids_error *err);
/* The same, with the findings about single events (unless NULL), which the caller ends. */
int ids_analyze_events(const struct ids_trace *trace, const struct ids_params *params, struct ids_report *report,
                       struct ids_findings *ret_findings, struct ids_error *err);

/* Ends what was made of it so far (context.h). */
struct ids_analysis;
void ids_analysis_done(struct ids_analysis *analysis);

#endif
