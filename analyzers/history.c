/* What the agent of a capture saw of the process beside the profile. Its tables are filled where the run's folder is
 * known (lib/run/history.c); a trace has nothing of it. */
#include "lib/analysis/analyzer.h"
#include "lib/analysis/history_tables.h"

static int history_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)analysis, (void)report, (void)err;
    return 0;
}

static const struct ids_table_def *const tables[] = {&ids_history_table, &ids_slow_steps_table};

const struct ids_analyzer ids_history_analyzer = {
    .name = "history",
    .title = "history",
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = history_run,
};
