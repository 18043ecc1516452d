/* analyzer.h - what an analyzer is: one file in analyzers/, one line in analyzers.def.
 *
 * An analyzer reads the trace through the analysis (window, cursors and the facts that several analyzers share) and
 * puts metrics, tables and advice into the report. Everything else - renderers, --explain, the manual, the summary
 * database, later diff and check - reads the static tables below.
 */
#ifndef IDS_LIB_ANALYSIS_ANALYZER_H
#define IDS_LIB_ANALYSIS_ANALYZER_H

#include "lib/report/report.h"

struct ids_analysis;

#define IDS_COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

struct ids_analyzer {
    const char *name;  /* --section NAME */
    const char *title; /* "idle gaps" */
    const struct ids_metric_def *metrics;
    int metric_count;
    const struct ids_table_def *const *tables;
    int table_count;
    const struct ids_headline *headlines;
    int headline_count;
    int (*run)(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err);
};

/* All analyzers, in the order of analyzers.def, which is the order of the report. */
extern const struct ids_analyzer *const ids_analyzers[];
extern const int ids_analyzer_count;

const struct ids_analyzer *ids_analyzer_find(const char *name);
const struct ids_metric_def *ids_metric_def_find(const char *id, const struct ids_analyzer **ret_analyzer);
const struct ids_table_def *ids_table_def_find(const char *id);

#endif
