#include "lib/run/import_run.h"

#include "lib/analysis/analyzer.h"
#include "lib/base/memory.h"
#include "lib/base/parallel.h"
#include "lib/model/builder.h"
#include "lib/model/tee.h"
#include "lib/run/open_run.h"
#include "lib/run/read_run.h"

#include <stdlib.h>

int ids_import_begin(const char *path, struct ids_run_db **ret_db, struct ids_error *err) {
    const struct ids_table_def **tables = NULL;
    size_t count = 0;
    for (int i = 0; i < ids_analyzer_count; i++) count += (size_t)ids_analyzers[i]->table_count;
    tables = calloc(count + 1, sizeof *tables);
    if (!tables) return ids_no_memory(err);
    count = 0;
    for (int i = 0; i < ids_analyzer_count; i++) {
        for (int t = 0; t < ids_analyzers[i]->table_count; t++) tables[count++] = ids_analyzers[i]->tables[t];
    }
    int code = ids_run_db_create(path, tables, count, ret_db, err);
    free(tables);
    return code;
}

/* One decode for both tiers: each event goes to the trace builder, and on another thread to the rows. */
static int read_both(const struct ids_engine *engine, struct ids_run_db *db, const struct ids_run_files *run,
                     struct ids_builder *builder, const char **ret_format, struct ids_error *err) {
    struct ids_sink *left = ids_builder_sink(builder), *right;
    struct ids_tee tee;
    int code = ids_run_db_begin(db, left->strings, &right, err);
    if (code) return code;
    ids_tee_init(&tee, left, right);
    code = ids_read_run(engine, run, &tee.sink, ret_format, err);
    ids_tee_finish(&tee);
    ids_tee_done(&tee);
    if (!code) ids_run_db_end_events(db);
    return code;
}

/* The trace of the builder. If the run does not fit in memory, its first part is read again and gives the trace.
 * Takes the builder's trace; texts that rows need stay in the builder. */
static int make_trace(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_builder **builder,
                      struct ids_trace **ret_trace, struct ids_error *err) {
    int64_t until_ps;
    const char *format;
    if (ids_builder_overflowed(*builder, &until_ps))
        return ids_open_trace(engine, run, until_ps, ret_trace, &format, err);
    ids_engine_progress(engine, "analyzing");
    int code = ids_builder_finish(*builder, ret_trace, err);
    if (!code) *builder = NULL;
    return code;
}

static int report_and_end(const struct ids_engine *engine, struct ids_run_db *db, const struct ids_run_files *run,
                          struct ids_trace *trace, const char *format, const char *key, struct ids_error *err) {
    struct ids_params params;
    struct ids_report report;
    struct ids_findings findings = {0};
    enum { EVENTS_LEAST = 1 << 17 }; /* from which on the way to the system is worth it */
    ids_report_init(&report);
    ids_params_default(&params);
    int code = ids_report_trace(engine, run, trace, format, &params, &report, &findings, err);
    ids_trace_drop_timelines(trace);
    if (trace->event_count >= EVENTS_LEAST) ids_memory_give_back(); /* what the analysis has freed */
    if (!code) code = ids_run_db_put_findings(db, trace, &findings, &report, err);
    if (!code) code = ids_run_db_end(db, &report, key, err);
    if (!code && !report.complete && !*key) /* a query of the cache says it each time */
        ids_engine_note(engine, "'%s' is incomplete: %s", run->path, ids_report_why_incomplete(&report));
    ids_report_done(&report);
    ids_findings_done(&findings);
    return code;
}

int ids_import_run(const struct ids_engine *engine, struct ids_run_db *db, const struct ids_run_files *run,
                   const char *key, struct ids_error *err) {
    struct ids_builder *builder;
    struct ids_trace *trace = NULL;
    const char *format = NULL;
    int code = ids_builder_new(&builder, err);
    if (code) return code;
    ids_memory_give_back_large(); /* what the reader frees is not what the analysis or the rows take */
    ids_workers_keep();
    ids_bound_trace(builder, run, INT64_MAX);
    code = read_both(engine, db, run, builder, &format, err);
    if (!code) code = make_trace(engine, run, &builder, &trace, err);
    if (!code) code = report_and_end(engine, db, run, trace, format, key, err);
    ids_workers_let_go();
    if (code) ids_run_db_give_up(db); /* before the texts go */
    ids_trace_free(trace);
    ids_builder_free(builder);
    return code;
}
