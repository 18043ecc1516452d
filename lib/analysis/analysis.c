#include "lib/analysis/analysis.h"

#include "lib/analysis/context.h"
#include "lib/analysis/grades.h"

void ids_params_default(struct ids_params *params) {
    *params = (struct ids_params){
        .window = IDS_WINDOW_RUN, .from_ps = 0, .to_ps = INT64_MAX, .small_kernel_ps = 100000000, /* 0.1 ms */
    };
}

int ids_params_are_default(const struct ids_params *params) {
    struct ids_params standard;
    ids_params_default(&standard);
    return params->window == standard.window && params->from_ps == standard.from_ps &&
           params->to_ps == standard.to_ps && params->small_kernel_ps == standard.small_kernel_ps;
}

int ids_analyze(const struct ids_trace *trace, const struct ids_params *params, struct ids_report *report,
                struct ids_error *err) {
    return ids_analyze_events(trace, params, report, NULL, err);
}

int ids_analyze_events(const struct ids_trace *trace, const struct ids_params *params, struct ids_report *report,
                       struct ids_findings *ret_findings, struct ids_error *err) {
    struct ids_analysis analysis = {.trace = trace, .params = *params};
    struct ids_findings findings = {0};
    struct ids_findings_taking *taking = NULL;
    struct ids_ledger_visitor visitor;
    int code = ids_steps_make(&analysis, err);
    if (!code) code = ids_busy_make(&analysis, err);
    if (!code) code = ids_steps_trim(&analysis, err);
    if (!code && ret_findings) code = ids_findings_begin(&analysis, &findings, &taking, &visitor, err);
    if (!code) code = ids_ledger_make(&analysis, taking ? &visitor : NULL, err);
    if (!code) code = ids_compilations_make(&analysis, err);
    for (int i = 0; i < ids_analyzer_count && !code; i++) code = ids_analyzers[i]->run(&analysis, report, err);
    struct ids_grade_rules rules;
    ids_grade_rules_default(params, &rules);
    if (!code) ids_grade(&rules, report);
    report->complete = trace->complete;
    for (size_t i = 0; i < trace->diag_count && !code; i++) {
        const struct ids_trace_diag *diag = &trace->diags[i];
        ids_report_diag(report, diag->severity, diag->id, diag->text, diag->offset, diag->count);
    }
    struct ids_error ignored = IDS_ERROR_INIT;
    int ended = ids_findings_end(taking, !code, code ? &ignored : err);
    if (!code) code = ended;
    ids_analysis_done(&analysis);
    if (!code) code = ids_report_check(report, err);
    if (code)
        ids_findings_done(&findings);
    else if (ret_findings)
        *ret_findings = findings;
    return code;
}
