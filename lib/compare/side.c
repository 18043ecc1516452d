#include "lib/compare/side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Those of the table of devices that were busy; 1 without such a table, so that nothing is divided by 0. */
static double active_devices(const struct ids_report *report) {
    const struct ids_table *devices = ids_report_find_table(report, "devices");
    int busy = ids_table_column(devices, "busy");
    size_t active = 0;
    for (size_t row = 0; busy >= 0 && row < devices->row_count; row++)
        active += !ids_table_cell(devices, row, busy)->missing;
    return active ? (double)active : 1;
}

static const char *name_of(const struct ids_report *report, const char *otherwise) {
    const struct ids_value *name = ids_report_find_property(report, "name");
    return name && name->unit == IDS_UNIT_NONE && !name->missing ? name->text : otherwise;
}

int ids_side_init(struct ids_side *side, const char *label, const struct ids_report *const *reports, size_t count,
                  struct ids_error *err) {
    *side =
        (struct ids_side){.label = label, .runs = calloc(count ? count : 1, sizeof *side->runs), .run_count = count};
    if (!side->runs) return ids_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct ids_table *steps = ids_report_find_table(reports[i], "steps");
        side->runs[i] = (struct ids_side_run){
            .report = reports[i],
            .name = name_of(reports[i], label),
            .steps = steps && steps->row_count ? steps : NULL,
            .devices = active_devices(reports[i]),
            .per = 1,
        };
    }
    return 0;
}

void ids_side_done(struct ids_side *side) {
    free(side->runs);
    *side = (struct ids_side){0};
}

void ids_sides_settle(struct ids_side *const *sides, size_t count) {
    int per_step = 1, by_run = 1;
    for (size_t s = 0; s < count; s++) {
        by_run &= sides[s]->run_count >= IDS_SAMPLE_LEAST;
        for (size_t i = 0; i < sides[s]->run_count; i++) per_step &= sides[s]->runs[i].steps != NULL;
    }
    for (size_t s = 0; s < count; s++) {
        sides[s]->per_step = per_step;
        sides[s]->by_run = by_run;
        for (size_t i = 0; i < sides[s]->run_count; i++)
            sides[s]->runs[i].per = per_step ? (double)sides[s]->runs[i].steps->row_count : 1;
    }
}

int ids_run_metric(const struct ids_side_run *run, const char *id, double *ret_value) {
    const struct ids_metric *metric = ids_report_find(run->report, id, NULL);
    double value = metric ? ids_value_number(metric->value) : NAN;
    if (isnan(value)) return 0;
    *ret_value = value;
    return 1;
}

int ids_side_metric(const struct ids_side *side, const char *id, double *ret_mean) {
    double sum = 0, value;
    size_t count = 0;
    for (size_t i = 0; i < side->run_count; i++) {
        if (!ids_run_metric(&side->runs[i], id, &value)) continue;
        sum += value;
        count++;
    }
    if (count) *ret_mean = sum / (double)count;
    return count > 0;
}

const char *ids_side_reason(const struct ids_side *side, const char *id) {
    for (size_t i = 0; i < side->run_count; i++) {
        const struct ids_metric *metric = ids_report_find(side->runs[i].report, id, NULL);
        if (metric && metric->reason) return metric->reason;
    }
    return NULL;
}

static int every(const double *at, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (isnan(at[i])) return 0;
    }
    return 1;
}

int ids_side_numbers(const struct ids_side *side, ids_of_step *of_step, ids_of_run *of_run, const void *what,
                     struct ids_numbers *ret_numbers) {
    size_t count = side->by_run ? side->run_count : 0, at = 0;
    *ret_numbers = (struct ids_numbers){.serial = !side->by_run};
    if (!side->by_run && (!side->per_step || !of_step)) return 0;
    for (size_t i = 0; !side->by_run && i < side->run_count; i++) count += side->runs[i].steps->row_count;
    double *numbers = calloc(count ? count : 1, sizeof *numbers);
    if (!numbers) return -1;
    for (size_t i = 0; i < side->run_count; i++) {
        const struct ids_side_run *run = &side->runs[i];
        if (side->by_run) numbers[at++] = of_run(run, what);
        for (size_t row = 0; !side->by_run && row < run->steps->row_count; row++)
            numbers[at++] = of_step(run->steps, row, what);
    }
    if (every(numbers, count)) {
        ret_numbers->at = numbers;
        ret_numbers->count = count;
    } else {
        free(numbers);
    }
    return 0;
}

double ids_step_columns(const struct ids_table *steps, size_t row, const char *const *columns) {
    double sum = 0;
    for (; *columns; columns++) {
        int column = ids_table_column(steps, *columns);
        if (column < 0) return NAN;
        sum += ids_value_number(*ids_table_cell(steps, row, column));
    }
    return sum;
}
