/* side.h - one side of a comparison: a run, or several recordings of the same thing.
 *
 * Figures of a side are means over its recordings. Where every run of both sides has steps a figure is per step, else
 * per window; and sums over devices are per device, so that contributions add up to the time of a step.
 */
#ifndef IDS_LIB_COMPARE_SIDE_H
#define IDS_LIB_COMPARE_SIDE_H

#include "lib/compare/statistics.h"
#include "lib/report/report.h"

struct ids_side_run {
    const struct ids_report *report;
    const char *name;              /* the run's; the side's label where it has none */
    const struct ids_table *steps; /* NULL: the run has none */
    const char *lacks;             /* what its format does not hold, as a sentence; NULL: nothing */
    double devices;                /* those that did something */
    double per;                    /* what sums over the steps are divided by: steps, or 1 */
    int devices_column; /* of `steps`, from 1 on, for it is asked for each value; 0: ids_step_devices looks for it */
    double per_device;  /* what sums over the steps and devices are divided by: how many times a device had a
                         * step, of which a host that is recorded for part of the run has fewer */
    double per_window;  /* what sums over the window are divided by: with the step that the window opened
                         * in, which is in no mean */
    size_t recording;   /* the number of the recording that it is a window of */
    double weight;      /* in a mean of the side: every recording counts as much; together 1 */
};

struct ids_side {
    const char *label;
    struct ids_side_run *runs;
    size_t run_count;
    size_t recording_count; /* runs that are no windows of one process */
    int per_step;
    int by_run; /* every side has at least IDS_SAMPLE_LEAST recordings: spread is measured from one to the other, else
                 * from step to step */
};

/* What the format with this title does not hold, or NULL. The registry of formats knows. */
typedef const char *ids_format_lacks_fn(const char *title);
/* `label` and `reports` must outlive the side. `per_step` is set by ids_sides_settle. 0, or IDS_NOMEM. */
int ids_side_init(struct ids_side *side, const char *label, const struct ids_report *const *reports, size_t count,
                  ids_format_lacks_fn *format_lacks, struct ids_error *err);
void ids_side_done(struct ids_side *side);
/* What is a recording of its own. Windows of one process share what differs from process to process (where its memory
 * lies, which cores it got), so that they vary less than recordings do. */
enum ids_recording_unit {
    IDS_RECORDING_PROCESS, /* the windows of one process (the report's property `process`) are one */
    IDS_RECORDING_WINDOW,  /* each window is: a series over one process is what is asked for */
};
/* Says of all sides whether figures are per step (when every run of every side has steps), and by recording. */
void ids_sides_settle(struct ids_side *const *sides, size_t count, enum ids_recording_unit recordings);

/* The mean of a metric over all devices as a number (times in ps). Runs without a value are left out; 0 if no run
 * has one. */
int ids_side_metric(const struct ids_side *side, const char *id, double *ret_mean);
/* The number of a metric of one run. */
int ids_run_metric(const struct ids_side_run *run, const char *id, double *ret_value);
/* How many devices have work in a step, by its row of the table steps. */
double ids_step_devices(const struct ids_side_run *run, size_t row);
/* A settled side that has this run of a side alone, per step where it has steps. `own` becomes a copy of the run, and
 * lives as long as the side. */
struct ids_side ids_side_of_run(const struct ids_side_run *run, struct ids_side_run *own);
/* Why there is none, from the first run with a reason; or NULL. */
const char *ids_side_reason(const struct ids_side *side, const char *id);

/* Numbers of a side, one per recording (the mean of its runs) or one per step, run after run. */
struct ids_numbers {
    double *at;
    size_t count;
    int serial; /* by step */
};
/* `of_step` returns the figure of a row of the table steps, `of_run` the figure of a run. NAN means that there is
 * none, and then there is no sample. The caller frees `at`. It is empty if no spread can be computed. */
typedef double ids_of_step(const struct ids_table *steps, size_t row, const void *what);
typedef double ids_of_run(const struct ids_side_run *run, const void *what);
int ids_side_numbers(const struct ids_side *side, ids_of_step *of_step, ids_of_run *of_run, const void *what,
                     struct ids_numbers *ret_numbers);
static inline struct ids_sample ids_numbers_sample(const struct ids_numbers *numbers) {
    return (struct ids_sample){numbers->at, numbers->count, numbers->serial};
}

/* The sum over columns of a row of steps, or NAN. Ends with NULL. */
double ids_step_columns(const struct ids_table *steps, size_t row, const char *const *columns);

#endif
