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

static const char *property_of(const struct ids_report *report, const char *id, const char *otherwise) {
    const struct ids_value *value = ids_report_find_property(report, id);
    return value && value->unit == IDS_UNIT_NONE && !value->missing ? value->text : otherwise;
}

int ids_side_init(struct ids_side *side, const char *label, const struct ids_report *const *reports, size_t count,
                  ids_format_lacks_fn *format_lacks, struct ids_error *err) {
    *side = (struct ids_side){.label = label,
                              .runs = calloc(count ? count : 1, sizeof *side->runs),
                              .run_count = count,
                              .recording_count = count};
    if (!side->runs) return ids_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct ids_table *steps = ids_report_find_table(reports[i], "steps");
        side->runs[i] = (struct ids_side_run){
            .report = reports[i],
            .name = property_of(reports[i], "name", label),
            .lacks = format_lacks(property_of(reports[i], "format", "")),
            .steps = steps && steps->row_count ? steps : NULL,
            .devices = active_devices(reports[i]),
            .per = 1,
            .per_device = active_devices(reports[i]),
            .per_window = 1,
            .recording = i,
            .weight = 1 / (double)count,
        };
    }
    return 0;
}

void ids_side_done(struct ids_side *side) {
    free(side->runs);
    *side = (struct ids_side){0};
}

static const char *process_of(const struct ids_side_run *run) {
    return property_of(run->report, "process", NULL);
}

/* The runs of one process get the number of the first one's recording. */
static void number_recordings(struct ids_side *side, enum ids_recording_unit recordings) {
    side->recording_count = 0;
    for (size_t i = 0; i < side->run_count; i++) {
        const char *process = process_of(&side->runs[i]), *other = NULL;
        size_t same = 0;
        while (same < i && (recordings == IDS_RECORDING_WINDOW || !process ||
                            !(other = process_of(&side->runs[same])) || strcmp(process, other) != 0))
            same++;
        side->runs[i].recording = same < i ? side->runs[same].recording : side->recording_count++;
    }
}

static void weigh(struct ids_side *side) {
    for (size_t i = 0; i < side->run_count; i++) {
        size_t windows = 0;
        for (size_t j = 0; j < side->run_count; j++) windows += side->runs[j].recording == side->runs[i].recording;
        side->runs[i].weight = 1 / (double)windows / (double)side->recording_count;
    }
}

double ids_step_devices(const struct ids_side_run *run, size_t row) {
    int column = run->devices_column ? run->devices_column - 1 : ids_table_column(run->steps, "devices");
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(run->steps, row, column);
    return cell && !cell->missing && cell->i > 0 ? (double)cell->i : run->devices;
}

/* What sums of a run are divided by. */
static void settle_run(struct ids_side_run *run, int per_step) {
    run->per = per_step ? (double)run->steps->row_count : 1;
    run->devices_column = per_step ? ids_table_column(run->steps, "devices") + 1 : 0;
    run->per_device = per_step ? 0 : run->devices;
    for (size_t row = 0; per_step && row < run->steps->row_count; row++) run->per_device += ids_step_devices(run, row);
}

void ids_sides_settle(struct ids_side *const *sides, size_t count, enum ids_recording_unit recordings) {
    int per_step = 1, by_run = 1;
    for (size_t s = 0; s < count; s++) {
        number_recordings(sides[s], recordings);
        weigh(sides[s]);
        by_run &= sides[s]->recording_count >= IDS_SAMPLE_LEAST;
        for (size_t i = 0; i < sides[s]->run_count; i++) per_step &= sides[s]->runs[i].steps != NULL;
    }
    for (size_t s = 0; s < count; s++) {
        sides[s]->per_step = per_step;
        sides[s]->by_run = by_run;
        for (size_t i = 0; i < sides[s]->run_count; i++) {
            struct ids_side_run *run = &sides[s]->runs[i];
            double recorded = 0;
            settle_run(run, per_step);
            run->per_window =
                per_step && ids_run_metric(run, "steps.count", &recorded) ? fmax(run->per, recorded) : run->per;
        }
    }
}

struct ids_side ids_side_of_run(const struct ids_side_run *run, struct ids_side_run *own) {
    struct ids_side side = {.label = run->name, .runs = own, .run_count = 1, .per_step = run->steps != NULL};
    *own = *run;
    number_recordings(&side, IDS_RECORDING_WINDOW);
    weigh(&side); /* among others it had a part of the weight */
    settle_run(own, side.per_step);
    return side;
}

int ids_run_metric(const struct ids_side_run *run, const char *id, double *ret_value) {
    const struct ids_metric *metric = ids_report_find(run->report, id, NULL);
    double value = metric ? ids_value_number(metric->value) : NAN;
    if (isnan(value)) return 0;
    *ret_value = value;
    return 1;
}

int ids_side_metric(const struct ids_side *side, const char *id, double *ret_mean) {
    double sum = 0, weight = 0, value;
    for (size_t i = 0; i < side->run_count; i++) {
        if (!ids_run_metric(&side->runs[i], id, &value)) continue;
        sum += value * side->runs[i].weight;
        weight += side->runs[i].weight;
    }
    if (weight > 0) *ret_mean = sum / weight;
    return weight > 0;
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
    size_t count = side->by_run ? side->recording_count : 0, at = 0;
    *ret_numbers = (struct ids_numbers){.serial = !side->by_run};
    if (!side->by_run && (!side->per_step || !of_step)) return 0;
    for (size_t i = 0; !side->by_run && i < side->run_count; i++) count += side->runs[i].steps->row_count;
    double *numbers = calloc(count ? count : 1, sizeof *numbers);
    if (!numbers) return -1;
    for (size_t i = 0; i < side->run_count; i++) {
        const struct ids_side_run *run = &side->runs[i];
        if (side->by_run) numbers[run->recording] += of_run(run, what) * run->weight * (double)count;
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
