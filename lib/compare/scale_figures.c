/* scale_figures.c - the figures of one method on one number of devices. */
#include "lib/compare/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double mean_of(const struct ids_side *side, const char *metric) {
    double mean = 0;
    ids_side_metric(side, metric, &mean);
    return mean;
}

static double duration_of_step(const struct ids_table *steps, size_t row, const void *what) {
    static const char *const columns[] = {"duration", NULL};
    (void)what;
    return ids_step_columns(steps, row, columns);
}

static double step_of_run(const struct ids_side_run *run, const void *what) {
    double mean = NAN;
    (void)what;
    return ids_run_metric(run, "steps.mean", &mean) ? mean : NAN;
}

/* Alone, a cell may have more recordings than another one: the spread is from run to run as soon as it can be. */
static int measure_spread(struct ids_scale_cell *cell) {
    struct ids_side side = *cell->side;
    struct ids_numbers numbers;
    side.by_run = side.run_count >= IDS_SAMPLE_LEAST;
    if (ids_side_numbers(&side, duration_of_step, step_of_run, NULL, &numbers)) return -1;
    cell->interval = ids_interval_of_mean(ids_numbers_sample(&numbers), cell->step_ps, IDS_CONFIDENCE);
    free(numbers.at);
    return 0;
}

/* Of a run: the messages of a step and device; NAN: a collective does not tell its bytes. */
static double bytes_of_run(const struct ids_side_run *run) {
    const struct ids_table *collectives = ids_report_find_table(run->report, "collectives");
    int bytes = ids_table_column(collectives, "bytes"), ranks = ids_table_column(collectives, "group_size");
    double sum = 0, steps = run->per; /* with the step that the window opened in, which is in no mean */
    ids_run_metric(run, "steps.count", &steps);
    for (size_t row = 0; bytes >= 0 && ranks >= 0 && row < collectives->row_count; row++) {
        if (ids_value_number(*ids_table_cell(collectives, row, ranks)) == 1) continue; /* with nobody */
        sum += ids_value_number(*ids_table_cell(collectives, row, bytes));
    }
    return sum / steps / run->devices;
}

/* Of a run: mean ÷ most work of its devices; NAN: there is one alone. */
static double balance_of_run(const struct ids_side_run *run) {
    const struct ids_table *devices = ids_report_find_table(run->report, "devices");
    int working = ids_table_column(devices, "working");
    double sum = 0, most = 0, count = 0;
    for (size_t row = 0; working >= 0 && row < devices->row_count; row++) {
        double time = ids_value_number(*ids_table_cell(devices, row, working));
        if (isnan(time)) continue;
        sum += time;
        most = fmax(most, time);
        count++;
    }
    return count > 1 && most > 0 ? sum / count / most : NAN;
}

static double overlap_of_run(const struct ids_side_run *run) {
    double total = 0, overlapped = 0;
    if (run->devices == 1 && bytes_of_run(run) == 0) return NAN;
    if (!ids_run_metric(run, "collectives.total", &total) || !(total > 0)) return NAN;
    return ids_run_metric(run, "collectives.overlapped", &overlapped) ? overlapped / total : NAN;
}

static double mean_over(const struct ids_side *side, double (*of_run)(const struct ids_side_run *run)) {
    double sum = 0;
    for (size_t i = 0; i < side->run_count; i++) sum += of_run(&side->runs[i]);
    return sum / (double)side->run_count;
}

int ids_scale_measure(struct ids_scale_cell *cell) {
    cell->step_ps = mean_of(cell->side, "steps.mean");
    for (int i = 0; i < IDS_ACCOUNT_COUNT; i++)
        cell->parts_ps[i] = mean_of(cell->side, ids_account_steps_id((enum ids_account)i));
    cell->exposed_ps = cell->parts_ps[IDS_COMM_TRANSFER] + cell->parts_ps[IDS_COMM_WAIT];
    cell->bytes = mean_over(cell->side, bytes_of_run);
    cell->overlap = mean_over(cell->side, overlap_of_run);
    cell->balance = mean_over(cell->side, balance_of_run);
    return measure_spread(cell);
}

/* ---- without figures ---- */

const char *ids_scale_cell_why(const struct ids_scale_cell *cell) {
    if (cell->side) return NULL;
    return cell->input ? cell->input->traces[0].why : "no recording";
}

const char *ids_scale_cell_state(const struct ids_scale_cell *cell) {
    static const struct {
        const char *begin, *word;
    } words[] = {{"no recording", "missing"},
                 {"no profile", "no profile"},
                 {"no steps", "no steps"},
                 {"no device", "no device"}};
    const char *why = ids_scale_cell_why(cell);
    for (size_t i = 0; why && i < sizeof words / sizeof *words; i++) {
        if (!strncmp(why, words[i].begin, strlen(words[i].begin))) return words[i].word;
    }
    return why ? "unreadable" : NULL;
}
