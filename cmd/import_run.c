#include "cmd/import_run.h"

#include "cmd/open_run.h"
#include "cmd/progress.h"
#include "lib/analysis/analyzer.h"
#include "lib/model/builder.h"
#include "lib/model/tee.h"

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

/* One decode for both tiers: each event goes to the trace builder and to the rows. */
static int read_both(struct ids_run_db *db, const struct ids_run_files *run, struct ids_builder *builder,
                     const char **ret_format, struct ids_error *err) {
    struct ids_sink *left = ids_builder_sink(builder), *right;
    struct ids_tee tee;
    int code = ids_run_db_begin(db, left->strings, &right, err);
    if (code) return code;
    ids_tee_init(&tee, left, right);
    code = ids_read_run(run, &tee.sink, ret_format, err);
    ids_tee_finish(&tee);
    ids_tee_done(&tee);
    return code ? code : ids_run_db_end_events(db, err);
}

int ids_import_run(struct ids_run_db *db, const struct ids_run_files *run, const char *key, struct ids_error *err) {
    struct ids_builder *builder;
    struct ids_trace *trace = NULL;
    struct ids_params params;
    struct ids_report report;
    struct ids_findings findings = {0};
    const char *format = NULL;
    int code = ids_builder_new(&builder, err);
    if (code) return code;
    code = read_both(db, run, builder, &format, err);
    if (code) {
        ids_builder_free(builder);
        return code;
    }
    ids_progress("analyzing");
    code = ids_builder_finish(builder, &trace, err);
    ids_report_init(&report);
    ids_params_default(&params);
    if (!code) code = ids_report_trace(run, trace, format, &params, &report, &findings, err);
    if (!code) code = ids_run_db_put_findings(db, trace, &findings, &report, err);
    if (!code) code = ids_run_db_end(db, &report, key, err);
    ids_report_done(&report);
    ids_findings_done(&findings);
    ids_trace_free(trace);
    return code;
}
