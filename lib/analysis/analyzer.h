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
struct ids_busy;

/* For an analyzer that reads single events: they are summed up, a host at a time, and the sums are all that `run` gets
 * of them. A run of many hosts need not be in memory as a whole, so sums hold no pointer to an event. */
struct ids_gathering {
    size_t size; /* of the sums, which begin as zeros; 0: the analyzer reads no single event */
    /* First, to make room; then each host once; then each chosen device that takes part in the run, with its gaps. Each
     * may be NULL. */
    int (*begin)(const struct ids_analysis *analysis, void *sums, struct ids_error *err);
    int (*host)(const struct ids_analysis *analysis, uint32_t host, void *sums, struct ids_error *err);
    int (*device)(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums, struct ids_error *err);
    /* Of the longest: what another thread may sum up meanwhile. It shares nothing with `device`. */
    int (*beside)(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums, struct ids_error *err);
    void (*done)(void *sums); /* also after a failure */
    int is_longest;           /* 1: of the one whose `device` takes longest */
};

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
    struct ids_gathering gathering;
    int (*run)(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err);
};

/* All analyzers, in the order of analyzers.def, which is the order of the report. */
extern const struct ids_analyzer *const ids_analyzers[];
extern const int ids_analyzer_count;

const struct ids_analyzer *ids_analyzer_find(const char *name);
const struct ids_metric_def *ids_metric_def_find(const char *id, const struct ids_analyzer **ret_analyzer);
const struct ids_table_def *ids_table_def_find(const char *id);

#endif
