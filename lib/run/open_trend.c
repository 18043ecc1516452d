#include "lib/run/open_trend.h"

#include <stdlib.h>

enum { LEAST_RUNS = 3 };

int ids_open_trend(struct ids_open_side *runs, int force, struct ids_trend *ret_trend, struct ids_error *err) {
    struct ids_side *const settled[] = {&runs->side};
    if (runs->count < LEAST_RUNS)
        return ids_fail(err, IDS_USAGE, "a trend needs at least three runs; there are %zu", runs->count);
    ids_sides_settle(settled, 1, IDS_RECORDING_WINDOW);
    int64_t *steps = calloc(runs->count, sizeof *steps);
    if (!steps) return ids_no_memory(err);
    for (size_t i = 0; i < runs->count; i++) steps[i] = runs->labels[i].step;
    int code = ids_trend_make(&runs->side, steps, ret_trend, err);
    free(steps);
    if (code || force || !ret_trend->remarks.unlike) return code;
    ids_fail(err, IDS_UNSUPPORTED, "these runs cannot be compared: %s (use --force to compare them anyway)",
             ret_trend->remarks.at[0].text);
    ids_trend_done(ret_trend);
    return IDS_UNSUPPORTED;
}
