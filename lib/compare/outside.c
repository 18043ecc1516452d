#include "lib/compare/outside.h"

#include <math.h>
#include <string.h>

/* Of fewer steps the median says little. */
enum { LEAST_STEPS = 20 };
/* Others than the windows' by so much. */
#define LEAST_OTHER 1.25
#define LEAST_PART 0.05

static double cell(const struct ids_table *table, size_t row, const char *id) {
    int column = ids_table_column(table, id);
    const struct ids_value *value = column < 0 ? NULL : ids_table_cell(table, row, column);
    return value && !value->missing ? ids_value_number(*value) : NAN;
}

static int64_t step_number(const struct ids_report *report, const char *id) {
    const struct ids_value *value = ids_report_find_property(report, id);
    return value && !value->missing && value->unit == IDS_UNIT_COUNT ? value->i : -1;
}

/* The process that most steps are of: a row; SIZE_MAX: none has enough. */
static size_t main_process(const struct ids_side_run *run) {
    const struct ids_table *history = ids_report_find_table(run->report, "history");
    size_t found = SIZE_MAX;
    double most = LEAST_STEPS;
    for (size_t row = 0; history && row < history->row_count; row++) {
        double steps = cell(history, row, "steps");
        if (steps >= most) most = steps, found = row;
    }
    return found;
}

/* A mean over a side's runs of what each has; NAN: one has none. */
typedef double of_run(const struct ids_side_run *run);
static double mean_of(const struct ids_side *side, of_run *value) {
    double sum = 0;
    for (size_t i = 0; i < side->run_count; i++) sum += side->runs[i].weight * value(&side->runs[i]);
    return sum;
}

static double usual_of_run(const struct ids_side_run *run) {
    size_t row = main_process(run);
    return row == SIZE_MAX ? NAN : cell(ids_report_find_table(run->report, "history"), row, "median");
}

static double window_of_run(const struct ids_side_run *run) {
    double median;
    return ids_run_metric(run, "steps.median", &median) ? median : NAN;
}

static const char *say_time(struct ids_report *texts, double ps) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(texts, "%s", ids_value_format(ids_int_value(IDS_UNIT_TIME, (int64_t)ps), text, sizeof text));
}

const char *ids_outside_unlike(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts) {
    double usual_a = mean_of(a, usual_of_run), usual_b = mean_of(b, usual_of_run);
    double window_a = mean_of(a, window_of_run), window_b = mean_of(b, window_of_run);
    double other = (window_b / window_a) / (usual_b / usual_a); /* NAN where one is not known */
    if (!(other >= LEAST_OTHER || other <= 1 / LEAST_OTHER)) return NULL;
    return ids_report_text(texts,
                           "the windows are not like their runs: by the histories of these a step takes %s in %s and "
                           "%s in %s, in the windows %s and %s (medians); record more steps (--steps 20)",
                           say_time(texts, usual_a), a->label, say_time(texts, usual_b), b->label,
                           say_time(texts, window_a), say_time(texts, window_b));
}

/* --- slow steps ------------------------------------------------------------------------------------------------- */

struct slow {
    double part; /* of the run's time; NAN: not known */
    size_t count;
    double longest_ps, medians;
};

static struct slow slow_of_run(const struct ids_side_run *run) {
    const struct ids_table *history = ids_report_find_table(run->report, "history");
    const struct ids_table *steps = ids_report_find_table(run->report, "slow_steps");
    int64_t first = step_number(run->report, "steps.first"), last = step_number(run->report, "steps.last"),
            left_out = step_number(run->report, "steps.left_out");
    size_t row = main_process(run);
    struct slow slow = {.part = NAN};
    double lost_ps = 0;
    if (row == SIZE_MAX || isnan(cell(history, row, "slow"))) return slow;
    for (size_t i = 0; steps && i < steps->row_count; i++) {
        double step = cell(steps, i, "step");
        int64_t number = isnan(step) ? -1 : (int64_t)step;
        double took_ps = cell(steps, i, "time"), medians = cell(steps, i, "medians");
        if ((number >= first && number <= last && number != left_out) || !(medians > 1)) continue;
        lost_ps += took_ps - took_ps / medians;
        if (took_ps > slow.longest_ps) slow.longest_ps = took_ps, slow.medians = medians;
        slow.count++;
    }
    slow.part = lost_ps / cell(history, row, "time");
    return slow;
}

static double slow_part_of_run(const struct ids_side_run *run) {
    return slow_of_run(run).part;
}

/* The run in which they take most. */
static struct slow slowest_run(const struct ids_side *side) {
    struct slow most = slow_of_run(&side->runs[0]);
    for (size_t i = 1; i < side->run_count; i++) {
        struct slow slow = slow_of_run(&side->runs[i]);
        if (slow.part > most.part) most = slow;
    }
    return most;
}

const char *ids_outside_slow(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts) {
    double of_a = mean_of(a, slow_part_of_run), of_b = mean_of(b, slow_part_of_run);
    const struct ids_side *side = of_a > of_b ? a : b;
    if (!(fabs(of_b - of_a) >= LEAST_PART)) return NULL;
    struct slow slow = slowest_run(side);
    if (slow.count < 2) return NULL; /* once is no more in a run that is longer */
    return ids_report_text(texts,
                           "slow steps that no window has lose %.1f %% of the run in %s, %.1f %% in %s: %zu in %s, up "
                           "to %s, %.1f times the median; how these differ is not compared here; record one on either "
                           "side (idsprof capture --when 'step > 2x')",
                           100 * of_a, a->label, 100 * of_b, b->label, slow.count, side->label,
                           say_time(texts, slow.longest_ps), slow.medians);
}
