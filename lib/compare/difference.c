#include "lib/compare/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ids_verdict_name(enum ids_verdict verdict) {
    static const char *const names[] = {"no_data", "same",    "unsure",      "single_steps",
                                        "counted", "differs", "improvement", "regression"};
    return names[verdict];
}

int ids_direction_of(enum ids_better better, double change) {
    int sign = (change > 0) - (change < 0);
    return better == IDS_BETTER_HIGHER ? sign : better == IDS_BETTER_LOWER ? -sign : 0;
}

/* What the threshold is a share of: of a share the larger side, so that idle time of 0.04 % and 0.05 % is the same. */
static double threshold_base(const struct ids_difference *difference) {
    double a = fabs(difference->a);
    return difference->unit == IDS_UNIT_RATIO ? fmax(a, 1 - a) : a;
}

/* A time that was taken once a side, as that of compiling: the same program's differs from run to run by less than a
 * fifth, and by how much nobody can tell here. */
static int is_measured_once(const struct ids_difference *difference) {
    static const double of_chance = 0.2;
    double larger = fmax(fabs(difference->a), fabs(difference->b));
    return difference->unit == IDS_UNIT_TIME && fabs(difference->b - difference->a) < of_chance * larger;
}

enum ids_verdict ids_judge(const struct ids_difference *difference, const struct ids_compare_options *options,
                           int many) {
    if (!difference->has_a || !difference->has_b) return IDS_VERDICT_NO_DATA;
    double change = difference->b - difference->a;
    if (change == 0) return IDS_VERDICT_SAME; /* of identical recordings, or counts */
    double limit = options->threshold * threshold_base(difference);
    int large = fabs(change) > limit;
    const struct ids_interval *interval = &difference->interval;
    const struct ids_bounds *bounds = &interval->typical;
    if (!interval->known && large && is_measured_once(difference)) return IDS_VERDICT_UNSURE;
    if (!interval->known) return large ? IDS_VERDICT_COUNTED : IDS_VERDICT_SAME;
    if (large && (change < bounds->low || change > bounds->high) &&
        (!ids_interval_excludes_zero(interval) || fabs(bounds->at) <= limit))
        return IDS_VERDICT_SINGLE_STEPS;
    if (bounds->low >= -limit && bounds->high <= limit) return IDS_VERDICT_SAME;
    if (!ids_interval_excludes_zero(interval) || fabs(bounds->at) <= limit) return IDS_VERDICT_UNSURE;
    double typical = bounds->at;
    /* Of one recording a side: its mean went the other way, so neither is what happened. Over many runs the typical
     * one decides. */
    if (!many && typical * change < 0) return large ? IDS_VERDICT_SINGLE_STEPS : IDS_VERDICT_UNSURE;
    int direction = ids_direction_of(difference->better, typical);
    if ((!many && options->noise <= 0) || !direction) return IDS_VERDICT_DIFFERS;
    return direction > 0 ? IDS_VERDICT_IMPROVEMENT : IDS_VERDICT_REGRESSION;
}

/* ---- the headline ---- */

enum when { ALWAYS, PER_STEP, PER_WINDOW };

/* How a figure is found: of a run from a metric, which may be a sum over steps and devices; of a step from columns of
 * the table of steps, which may be a share of the step. */
struct figure {
    const char *id, *title;
    enum ids_unit unit;
    enum ids_better better;
    enum when when;
    int by_step, by_device; /* what the metric is divided by */
    const char *columns[6]; /* of the table of steps; none: a step does not tell */
    int share;              /* the columns are a share of the step */
};

/* Of the table of steps: in which groups of accounts a device did something, and in which nothing ran. */
#define DID "compute", "transfer", "wait", "copies"
#define IDLE "host", "device"
static const struct figure figures[] = {
    {"steps.mean", "step time", IDS_UNIT_TIME, IDS_BETTER_LOWER, PER_STEP, 0, 0, {"duration"}, 0},
    {"run.window", "window", IDS_UNIT_TIME, IDS_BETTER_NEITHER, PER_WINDOW, 0, 0, {NULL}, 0},
    {"device.utilization", "device utilization", IDS_UNIT_RATIO, IDS_BETTER_HIGHER, ALWAYS, 0, 0, {DID}, 1},
    {"idle.share", "idle", IDS_UNIT_RATIO, IDS_BETTER_LOWER, ALWAYS, 0, 0, {IDLE}, 1},
    {"steps.comm.transfer", "comm.transfer", IDS_UNIT_TIME, IDS_BETTER_LOWER, PER_STEP, 0, 0, {"comm.transfer"}, 0},
    {"steps.comm.wait", "comm.wait", IDS_UNIT_TIME, IDS_BETTER_LOWER, PER_STEP, 0, 0, {"comm.wait"}, 0},
    {"collectives.exposed", "collectives, exposed", IDS_UNIT_TIME, IDS_BETTER_LOWER, PER_WINDOW, 0, 1, {NULL}, 0},
    {"transfers.h2d_bytes", "H2D", IDS_UNIT_BYTES, IDS_BETTER_LOWER, ALWAYS, 1, 0, {NULL}, 0},
    {"transfers.d2h_bytes", "D2H", IDS_UNIT_BYTES, IDS_BETTER_LOWER, ALWAYS, 1, 0, {NULL}, 0},
    {"compile.total", "compile, whole window", IDS_UNIT_TIME, IDS_BETTER_LOWER, ALWAYS, 0, 0, {NULL}, 0},
    {"compile.in_steps", "compilations in steps", IDS_UNIT_COUNT, IDS_BETTER_LOWER, PER_STEP, 0, 0, {NULL}, 0},
};

static double figure_of_step(const struct ids_table *steps, size_t row, const void *what) {
    static const char *const duration[] = {"duration", NULL};
    const struct figure *figure = what;
    double value = ids_step_columns(steps, row, figure->columns);
    if (!figure->share) return value;
    double all = ids_step_columns(steps, row, duration);
    return all > 0 ? value / all : NAN;
}

static double figure_of_run(const struct ids_side_run *run, const void *what) {
    const struct figure *figure = what;
    double value;
    if (!ids_run_metric(run, figure->id, &value)) return NAN;
    return value / (figure->by_step ? run->per_window : 1) / (figure->by_device ? run->devices : 1);
}

static int mean_of(const struct ids_side *side, const struct figure *figure, double *ret_value) {
    double sum = 0, weight = 0;
    for (size_t i = 0; i < side->run_count; i++) {
        double value = figure_of_run(&side->runs[i], figure);
        if (isnan(value)) continue;
        sum += value * side->runs[i].weight;
        weight += side->runs[i].weight;
    }
    if (weight > 0) *ret_value = sum / weight;
    return weight > 0;
}

/* A run's typical step: of the steps that trimming leaves, so that one slow step of one run makes no difference
 * between sides. */
struct typical {
    ids_of_step *of_step;
    ids_of_run *of_run;
    const void *what;
    int *failed; /* memory ran out */
};

static double typical_of_run(const struct ids_side_run *run, const void *what) {
    const struct typical *typical = what;
    if (!typical->of_step || !run->steps) return typical->of_run(run, typical->what);
    size_t count = run->steps->row_count;
    double *values = calloc(count, sizeof *values), result = NAN;
    int known = 1;
    if (!values) *typical->failed = 1;
    for (size_t i = 0; i < count && known && values; i++) {
        values[i] = typical->of_step(run->steps, i, typical->what);
        known = !isnan(values[i]);
    }
    if (known && values) {
        result = ids_trimmed_mean((struct ids_sample){values, count, 1});
        *typical->failed |= isnan(result);
    }
    free(values);
    return result;
}

static double typical_of_step(const struct ids_table *steps, size_t row, const void *what) {
    const struct typical *typical = what;
    return typical->of_step(steps, row, typical->what);
}

static int interval_over(const struct ids_side *a, const struct ids_side *b, ids_of_step *of_step, ids_of_run *of_run,
                         const void *what, struct ids_interval *ret_interval) {
    struct ids_numbers left = {0}, right = {0};
    int failed =
        ids_side_numbers(a, of_step, of_run, what, &left) || ids_side_numbers(b, of_step, of_run, what, &right);
    if (!failed) *ret_interval = ids_interval_of(ids_numbers_sample(&left), ids_numbers_sample(&right), IDS_CONFIDENCE);
    free(left.at);
    free(right.at);
    return failed || ret_interval->out_of_memory;
}

/* `base` is what the stated noise is a share of. */
static int spread(const struct ids_side *a, const struct ids_side *b, ids_of_step *of_step, ids_of_run *of_run,
                  const void *what, const struct ids_compare_options *options, double base,
                  struct ids_interval *ret_interval) {
    int failed = 0;
    const struct typical typical = {a->per_step ? of_step : NULL, of_run, what, &failed};
    ids_of_step *by_step = typical.of_step ? typical_of_step : NULL;
    if (interval_over(a, b, by_step, typical_of_run, &typical, ret_interval) || failed) return -1;
    if (a->by_run && ret_interval->known) {
        struct ids_interval of_means = {0};
        if (interval_over(a, b, NULL, of_run, what, &of_means)) return -1;
        ret_interval->mean = of_means.mean;
    }
    if (ret_interval->known) ids_interval_set(ret_interval, IDS_CONFIDENCE, options->noise * fabs(base));
    return 0;
}

/* A share of a step that became another one is neither better nor worse by itself: of a step that takes a thousandth as
 * long, the rest is a larger share. */
static void hold_against_the_step(struct ids_difference *row, const struct ids_difference *step) {
    if (row->unit != IDS_UNIT_RATIO || step->unit != IDS_UNIT_TIME || step->verdict <= IDS_VERDICT_UNSURE) return;
    if (!step->has_a || !step->has_b || !row->has_a || !row->has_b) return;
    int of_step = ids_direction_of(step->better, step->b - step->a),
        of_share = ids_direction_of(row->better, row->b - row->a);
    if (of_step * of_share < 0) row->better = IDS_BETTER_NEITHER;
}

int ids_headline_make(const struct ids_side *a, const struct ids_side *b, const struct ids_compare_options *options,
                      struct ids_difference ret_rows[IDS_HEADLINES], size_t *ret_count, struct ids_error *err) {
    *ret_count = 0;
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
        const struct figure *figure = &figures[f];
        if (figure->when != ALWAYS && (figure->when == PER_STEP) != a->per_step) continue;
        struct ids_difference *row = &ret_rows[(*ret_count)++];
        *row = (struct ids_difference){
            .id = figure->id, .title = figure->title, .unit = figure->unit, .better = figure->better};
        row->has_a = mean_of(a, figure, &row->a);
        row->has_b = mean_of(b, figure, &row->b);
        if (!row->has_a) row->reason = ids_side_reason(a, figure->id);
        if (!row->has_b && !row->reason) row->reason = ids_side_reason(b, figure->id);
        if (row->has_a && row->has_b &&
            spread(a, b, figure->columns[0] ? figure_of_step : NULL, figure_of_run, figure, options, row->a,
                   &row->interval))
            return ids_no_memory(err);
        hold_against_the_step(row, &ret_rows[0]);
        row->verdict = ids_judge(row, options, a->by_run);
    }
    return 0;
}

size_t ids_headline_of_run(const struct ids_side *side, size_t run, struct ids_difference ret_rows[IDS_HEADLINES]) {
    size_t count = 0;
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
        const struct figure *figure = &figures[f];
        if (figure->when != ALWAYS && (figure->when == PER_STEP) != side->per_step) continue;
        double value = figure_of_run(&side->runs[run], figure);
        ret_rows[count++] = (struct ids_difference){.id = figure->id,
                                                    .title = figure->title,
                                                    .unit = figure->unit,
                                                    .better = figure->better,
                                                    .has_a = !isnan(value),
                                                    .a = value};
    }
    return count;
}

/* ---- the parts ---- */

/* Without steps, beside the idle accounts: they sum to the window of each device. */
static const struct part_of_window {
    const char *id, *title;
} busy_parts[] = {{"device.working", "working"}, {"device.stalled", "stalled"}};

static double part_of_step(const struct ids_table *steps, size_t row, const void *what) {
    const struct ids_part *part = what;
    const char *const columns[] = {part->title, NULL};
    return ids_step_columns(steps, row, columns);
}

/* A metric that is per step and device where there are steps, else a sum over devices. */
static double part_of_run(const struct ids_side_run *run, const void *what) {
    const struct ids_part *part = what;
    double value = 0;
    ids_run_metric(run, part->id, &value);
    return value / (part->per_step ? 1 : run->devices);
}

static double whole_of_run(const struct ids_side_run *run, const void *what) {
    double value = 0;
    ids_run_metric(run, what, &value);
    return value;
}

static int64_t mean_ps(const struct ids_side *side, ids_of_run *of_run, const void *what) {
    double sum = 0;
    for (size_t i = 0; i < side->run_count; i++) sum += of_run(&side->runs[i], what) * side->runs[i].weight;
    return (int64_t)llround(sum);
}

static int add_part(struct ids_parts *parts, const struct ids_side *a, const struct ids_side *b,
                    const struct ids_compare_options *options, struct ids_part part, int busy) {
    part.per_step = a->per_step;
    part.a_ps = mean_ps(a, part_of_run, &part);
    part.b_ps = mean_ps(b, part_of_run, &part);
    int64_t change_ps = part.b_ps - part.a_ps;
    parts->remainder_ps -= change_ps;
    if (busy) parts->busy_change_ps += change_ps;
    int failed = spread(a, b, part_of_step, part_of_run, &part, options, (double)part.a_ps, &part.interval) ||
                 (change_ps && ids_culprit_find(a, 1, b, part.title, change_ps > 0 ? 1 : -1, &part.culprit));
    parts->at[parts->count++] = part;
    return failed;
}

int ids_parts_make(const struct ids_side *a, const struct ids_side *b, const struct ids_compare_options *options,
                   struct ids_parts *ret_parts, struct ids_error *err) {
    int per_step = a->per_step, failed = 0;
    const char *whole = per_step ? "steps.mean" : "run.window";
    *ret_parts = (struct ids_parts){.whole_a_ps = mean_ps(a, whole_of_run, whole),
                                    .whole_b_ps = mean_ps(b, whole_of_run, whole)};
    ret_parts->remainder_ps = ret_parts->whole_b_ps - ret_parts->whole_a_ps;
    for (size_t p = 0; p < sizeof busy_parts / sizeof *busy_parts && !per_step && !failed; p++)
        failed = add_part(ret_parts, a, b, options,
                          (struct ids_part){.id = busy_parts[p].id, .title = busy_parts[p].title}, 1);
    for (int i = 0; i < IDS_ACCOUNT_COUNT && !failed; i++) {
        enum ids_account account = (enum ids_account)i;
        const char *id = per_step ? ids_account_steps_id(account) : ids_account_idle_id(account);
        if (!id) continue; /* the account of work is never idle */
        int busy = per_step && !ids_account_is_idle(account);
        failed =
            add_part(ret_parts, a, b, options, (struct ids_part){.id = id, .title = ids_account_id(account)}, busy);
    }
    return failed ? ids_no_memory(err) : 0;
}
