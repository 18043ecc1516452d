#include "lib/analysis/analysis.h"

#include "lib/analysis/context.h"
#include "lib/analysis/grades.h"
#include "lib/analysis/participants.h"
#include "lib/analysis/picture_making.h"

#include <stdlib.h>

void ids_analysis_done(struct ids_analysis *analysis) {
    size_t tracks = analysis->trace->track_count;
    for (size_t t = 0; analysis->stalls && t < tracks; t++) ids_spans_done(&analysis->stalls[t]);
    ids_gathered_done(analysis);
    for (size_t b = 0; analysis->busy && b < analysis->trace->device_count; b++) free(analysis->busy[b].gaps);
    free(analysis->busy);
    free(analysis->stalls);
    free(analysis->compile_sources);
    ids_steps_done(analysis);
    ids_ledger_done(&analysis->ledger);
    ids_op_costs_end(analysis);
    ids_op_costs_done(&analysis->costs);
}

/* A run of many hosts has many gaps, and only who draws them asks for them later. */
static int sum_up_devices(struct ids_analysis *analysis, uint32_t from, uint32_t to, struct ids_error *err) {
    int code = ids_gather_devices(analysis, from, to, err);
    for (uint32_t b = from; b < to; b++) {
        struct ids_busy *busy = &analysis->busy[b];
        if (!code && analysis->taking && ids_findings_take_gaps(analysis->taking, b)) code = ids_no_memory(err);
        free(busy->gaps);
        busy->gaps = NULL;
        busy->gap_count = busy->gap_room = 0;
    }
    return code;
}

int ids_analyze(const struct ids_trace *trace, const struct ids_params *params, struct ids_report *report,
                struct ids_error *err) {
    return ids_analyze_events(trace, params, report, NULL, err);
}

int ids_analyze_events(const struct ids_trace *trace, const struct ids_params *params, struct ids_report *report,
                       struct ids_findings *ret_findings, struct ids_error *err) {
    struct ids_analysis analysis = {.trace = trace, .params = *params};
    struct ids_findings findings = {0};
    struct ids_picture_making *picture = NULL;
    struct ids_ledger_visitor visitor;
    int code = ids_steps_make(&analysis, err);
    if (!code) code = ids_busy_make(&analysis, err);
    if (!code) code = ids_steps_trim(&analysis, err);
    if (!code && ret_findings)
        code = ids_findings_begin(&analysis, &findings, &analysis.taking, &visitor, err);
    else if (!code && params->picture)
        code = ids_picture_begin(&analysis, params->picture, &picture, &visitor, err);
    if (!code) code = ids_compilations_make(&analysis, err);
    if (!code) code = ids_gather_hosts(&analysis, err);
    if (!code)
        code = ids_ledger_make(&analysis, analysis.taking || picture ? &visitor : NULL,
                               picture ? ids_gather_devices : sum_up_devices, err);
    /* The others were only there for what the chosen ones waited for. */
    analysis.busy_count = analysis.chosen_count;
    ids_op_costs_end(&analysis);
    if (!code) code = ids_run_analyzers(&analysis, report, err);
    struct ids_grade_rules rules;
    ids_grade_rules_default(params, &rules);
    if (!code) ids_grade(&rules, report);
    report->complete = trace->complete;
    for (size_t i = 0; i < trace->diag_count && !code; i++) {
        const struct ids_trace_diag *diag = &trace->diags[i];
        ids_report_diag(report, diag->severity, diag->id, ids_diag_in_words(trace, diag, report), diag->offset,
                        diag->count);
    }
    struct ids_error ignored = IDS_ERROR_INIT;
    int ended = ids_findings_end(analysis.taking, !code, code ? &ignored : err);
    if (!code) code = ended;
    ended = ids_picture_end(picture, !code, code ? &ignored : err);
    if (!code) code = ended;
    ids_analysis_done(&analysis);
    if (!code) code = ids_report_check(report, err);
    if (code)
        ids_findings_done(&findings);
    else if (ret_findings)
        *ret_findings = findings;
    return code;
}
