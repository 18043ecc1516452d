/* trend.h - what grows or falls over a series of runs: step_1000, step_2000, ...
 *
 * The slope is the median of the slopes between all pairs of runs. Its interval follows from how many pairs go up and
 * how many go down (statistics.h). An outlier changes neither.
 */
#ifndef IDS_LIB_COMPARE_TREND_H
#define IDS_LIB_COMPARE_TREND_H

#include "lib/compare/comparability.h"
#include "lib/compare/difference.h"

enum ids_trend_verdict { IDS_TREND_UNKNOWN, IDS_TREND_STEADY, IDS_TREND_GROWS, IDS_TREND_FALLS };
const char *ids_trend_verdict_name(enum ids_trend_verdict verdict);

struct ids_trend_line {
    const char *id, *title; /* a figure; of an op "op" and its name */
    enum ids_unit unit;
    enum ids_better better;
    double first, last;
    struct ids_slope slope; /* per unit of x */
    enum ids_trend_verdict verdict;
};

struct ids_trend {
    const struct ids_side *side;
    double *x; /* of each run: its step of training, else its place in the series */
    int x_is_step;
    struct ids_remarks remarks;
    struct ids_trend_line *lines; /* the figures, then the ops that change */
    size_t line_count, line_room, figure_count;
    struct ids_difference (*values)[IDS_HEADLINES]; /* by run */
    struct ids_report report;                       /* the same for programs; owns the texts */
};

/* The side holds all runs in order and is settled; `steps` is the step of each, -1 where it is not known. */
int ids_trend_make(const struct ids_side *side, const int64_t *steps, struct ids_trend *ret_trend,
                   struct ids_error *err);
void ids_trend_done(struct ids_trend *trend);

extern const struct ids_table_def *const ids_trend_tables[];
extern const int ids_trend_table_count;

#endif
