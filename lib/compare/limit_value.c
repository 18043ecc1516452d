/* limit_value.c - the figure that a limit is on, in a run: of all steps, or of some. */
#include "lib/base/counted.h"
#include "lib/compare/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int smaller(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The figure out of the durations of the steps, by the definitions of the analyzer of steps. */
static double of_durations(const char *id, double *durations, size_t count) {
    double mean = ids_mean(durations, count), squares = 0;
    for (size_t i = 0; i < count; i++) squares += (durations[i] - mean) * (durations[i] - mean);
    qsort(durations, count, sizeof *durations, smaller);
    if (!strcmp(id, "mean")) return mean;
    if (!strcmp(id, "count")) return (double)count;
    if (!strcmp(id, "median"))
        return count % 2 ? durations[count / 2] : (durations[count / 2 - 1] + durations[count / 2]) / 2;
    if (!strcmp(id, "p95")) return durations[(count * 95 + 99) / 100 - 1];
    if (!strcmp(id, "std")) return count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
    return NAN;
}

/* Steps `after` on, `over` of them. Returns NULL and the figure, or why there is none. */
static const char *of_some_steps(const struct ids_side_run *run, const struct ids_limit *limit,
                                 struct ids_report *texts, double *ret_value) {
    const char *id = limit->subject.metric->id + strlen("steps.");
    size_t first = (size_t)limit->after, rows = run->steps ? run->steps->row_count : 0;
    size_t count = limit->over ? (size_t)limit->over : rows > first ? rows - first : 0;
    if (!run->steps) return "no steps in this run";
    if (!count || first > rows || count > rows - first)
        return ids_report_text(texts, "the run has %s: too few for %zu after %zu", IDS_COUNTED(rows, "step"), count,
                               first);
    const char *named[] = {id, NULL};
    int of_parts = ids_table_column(run->steps, id) >= 0 && strcmp(id, "step") != 0;
    if (!of_parts) named[0] = "duration";
    double *values = calloc(count, sizeof *values);
    if (!values) {
        texts->out_of_memory = 1;
        return "out of memory";
    }
    for (size_t i = 0; i < count; i++) values[i] = ids_step_columns(run->steps, first + i, named);
    *ret_value = of_parts ? ids_mean(values, count) : of_durations(id, values, count);
    free(values);
    return isnan(*ret_value) ? "this figure is not known of some of the steps" : NULL;
}

const char *ids_limit_value(const struct ids_limit *limit, const struct ids_side_run *run, struct ids_report *texts,
                            double *ret_value) {
    if (limit->over || limit->after) return of_some_steps(run, limit, texts, ret_value);
    return ids_subject_value(&limit->subject, run, texts, ret_value);
}
