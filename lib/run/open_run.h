/* open_run.h - from the files of a run to its trace and its report, from the cache or by reading them. */
#ifndef IDS_LIB_RUN_OPEN_RUN_H
#define IDS_LIB_RUN_OPEN_RUN_H

#include "lib/analysis/analysis.h"
#include "lib/io/run_files.h"
#include "lib/model/builder.h"
#include "lib/report/report.h"
#include "lib/run/engine.h"

/* Initialises and fills the report; if it returns 0, the caller ends it with ids_report_done. Reports with default
 * parameters are cached, unless engine->no_cache. */
int ids_open_run(struct ids_engine *engine, const struct ids_run_files *run, const struct ids_params *params,
                 struct ids_report *ret_report, struct ids_error *err);

/* Fills an initialised report with what the analyzers say of the run's trace; *ret_findings, unless NULL, is the
 * caller's to end. */
int ids_report_trace(const struct ids_engine *engine, const struct ids_run_files *run, const struct ids_trace *trace,
                     const char *format, const struct ids_params *params, struct ids_report *report,
                     struct ids_findings *ret_findings, struct ids_error *err);

/* The trace of a run, without its analysis; the caller's to free. *ret_format is the title of its format. If the run
 * does not fit in memory, the trace holds its first part and a diag says so (builder.h). It never holds events from
 * `until_ps` on; INT64_MAX: no limit. */
int ids_open_trace(const struct ids_engine *engine, const struct ids_run_files *run, int64_t until_ps,
                   struct ids_trace **ret_trace, const char **ret_format, struct ids_error *err);
/* How many bytes of records a trace of the run may hold: a fifth of the memory limit of this process
 * (memory_limit.h). The analysis needs as much again. */
uint64_t ids_trace_bytes_most(const struct ids_run_files *run);
/* Bounds a builder so. Of a run of many files, what whole hosts did lies in a temporary file. */
void ids_bound_trace(struct ids_builder *builder, const struct ids_run_files *run, int64_t until_ps);

#endif
