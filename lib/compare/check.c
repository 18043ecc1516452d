#include "lib/compare/check.h"

#include "lib/base/counted.h"
#include "lib/base/vec.h"
#include "lib/compare/check_report.h"
#include "lib/report/gone_ids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of 100 changes by just as much as is tolerated at most five pass. */
#define PASS_CONFIDENCE 0.9

enum { LEAST_DF = IDS_SAMPLE_LEAST - 1 };

struct checking {
    struct ids_check *check;
    const struct ids_side *side, *baseline;
    const struct ids_check_options *options;
};

static int smaller(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static struct ids_check_row *add(struct ids_check *check, const struct ids_limit *limit, const char *run,
                                 const struct ids_report *report) {
    struct ids_check_row *row = IDS_PUSH(check->at, check->count, check->room);
    const struct ids_value *path = ids_report_find_property(report, "path");
    if (!row) return NULL;
    *row = (struct ids_check_row){.limit = limit, .run = ids_report_text(&check->report, "%s", run), .half = NAN};
    if (path && !path->missing && path->unit == IDS_UNIT_NONE) row->path = path->text;
    return row;
}

static int has_no_value(struct ids_check_row *row, const char *why) {
    row->verdict = row->limit->is_optional ? IDS_CHECK_SKIPPED : IDS_CHECK_FAIL;
    row->note = why;
    return 0;
}

static const char *why_incomplete(const struct ids_side *side) {
    for (size_t i = 0; i < side->run_count; i++) {
        const char *why = side->runs[i].report->complete ? NULL : ids_report_why_incomplete(side->runs[i].report);
        if (!side->runs[i].report->complete) return why ? why : "the profile is not whole";
    }
    return NULL;
}

/* What a cut profile lacks may have broken the limit. */
static void distrust(struct ids_check_row *row, const struct ids_side *side) {
    const char *why = row->verdict == IDS_CHECK_PASS ? why_incomplete(side) : NULL;
    if (!why) return;
    row->verdict = IDS_CHECK_INCONCLUSIVE;
    row->note = why;
}

/* ---- fixed limits ---- */

/* Values are held to limits as they are written: a mean of 149999999999.7 ps is below 150 ms. */
static int holds(enum ids_limit_kind kind, double value, double bound) {
    switch (kind) {
    case IDS_LIMIT_BELOW:
        return value < bound;
    case IDS_LIMIT_AT_MOST:
        return value <= bound;
    case IDS_LIMIT_ABOVE:
        return value > bound;
    case IDS_LIMIT_AT_LEAST:
        return value >= bound;
    case IDS_LIMIT_EQUAL:
        return value == bound;
    case IDS_LIMIT_BASELINE:
        break;
    }
    return 0;
}

static int hold(struct ids_check_row *row, double value) {
    row->has_value = 1;
    row->value = value;
    row->verdict = holds(row->limit->kind, value, row->bound) ? IDS_CHECK_PASS : IDS_CHECK_FAIL;
    return 0;
}

static int check_run(struct checking *checking, struct ids_side_run *run, const struct ids_limit *limit) {
    struct ids_check_row *row = add(checking->check, limit, run->name, run->report);
    const struct ids_side alone = {.runs = run, .run_count = 1};
    double value;
    if (!row) return -1;
    row->bound = limit->value;
    const char *why = ids_limit_value(limit, run, &checking->check->report, &value);
    if (why) return has_no_value(row, why);
    hold(row, value);
    distrust(row, &alone);
    return 0;
}

/* The figure of each run that has it; why another has none. */
struct figures {
    double *at;
    size_t count;
    const char *why;
};

static int figures_of(const struct ids_side *side, const struct ids_limit *limit, struct ids_report *texts,
                      struct figures *ret_figures) {
    *ret_figures = (struct figures){.at = calloc(side->run_count + 1, sizeof *ret_figures->at)};
    if (!ret_figures->at) return -1;
    for (size_t i = 0; i < side->run_count; i++) {
        const char *why = ids_limit_value(limit, &side->runs[i], texts, &ret_figures->at[ret_figures->count]);
        ret_figures->count += !why;
        if (why) ret_figures->why = why;
    }
    return 0;
}

/* One figure a recording, the mean of its windows. */
static int recordings_of(const struct ids_side *side, const struct ids_limit *limit, struct ids_report *texts,
                         struct figures *ret_figures) {
    *ret_figures = (struct figures){.at = calloc(side->run_count + 1, sizeof *ret_figures->at)};
    if (!ret_figures->at) return -1;
    for (size_t recording = 0; recording < side->recording_count; recording++) {
        double sum = 0, value;
        size_t windows = 0;
        for (size_t i = 0; i < side->run_count; i++) {
            if (side->runs[i].recording != recording) continue;
            const char *why = ids_limit_value(limit, &side->runs[i], texts, &value);
            if (why) ret_figures->why = why;
            if (why) continue;
            sum += value;
            windows++;
        }
        if (windows) ret_figures->at[ret_figures->count++] = sum / (double)windows;
    }
    return 0;
}

static double aggregate(enum ids_run_aggregate how, double *at, size_t count) {
    qsort(at, count, sizeof *at, smaller);
    if (how == IDS_OF_RUNS_MIN) return at[0];
    if (how == IDS_OF_RUNS_MAX) return at[count - 1];
    if (how == IDS_OF_RUNS_MEAN) return ids_mean(at, count);
    return count % 2 ? at[count / 2] : (at[count / 2 - 1] + at[count / 2]) / 2;
}

static int check_aggregate(struct checking *checking, const struct ids_limit *limit) {
    struct ids_report *texts = &checking->check->report;
    const struct ids_report *first = checking->side->runs[0].report;
    struct ids_check_row *row = add(checking->check, limit, checking->side->label, first);
    struct figures figures;
    if (!row || figures_of(checking->side, limit, texts, &figures)) return -1;
    row->bound = limit->value;
    if (!figures.count || (figures.why && figures.count < (size_t)limit->runs)) {
        has_no_value(row, figures.why);
    } else if (figures.count < (size_t)limit->runs) {
        row->verdict = IDS_CHECK_INCONCLUSIVE;
        row->note = ids_report_text(texts, "%s: the %s needs %lld", IDS_COUNTED(figures.count, "run"),
                                    ids_aggregate_name(limit->aggregate), (long long)limit->runs);
    } else {
        hold(row, aggregate(limit->aggregate, figures.at, figures.count));
        distrust(row, checking->side);
        if (!row->note)
            row->note = ids_report_text(texts, "%s of %s", ids_aggregate_name(limit->aggregate),
                                        IDS_COUNTED(figures.count, "run"));
    }
    free(figures.at);
    return 0;
}

/* ---- limits against a baseline ---- */

/* Why a baseline has no such figure: it may be older than the figure. */
static const char *why_not_there(struct ids_report *texts, const struct ids_side *baseline, const char *id) {
    const struct ids_report *saved = baseline->runs[0].report;
    for (size_t i = 0; i < saved->metric_count; i++) {
        if (ids_gone_id_is_replaced_by(saved->metrics[i].id, id))
            return ids_report_text(texts, "the baseline has '%s', which '%s' replaced: save the baseline again",
                                   saved->metrics[i].id, id);
    }
    return NULL;
}

static const struct ids_acceptance *acceptance_of(const struct ids_check_options *options, const char *id) {
    const struct ids_acceptance *last = NULL;
    for (size_t i = 0; i < options->accepted_count; i++) {
        if (!strcmp(options->accepted[i].id, id)) last = &options->accepted[i];
    }
    return last;
}

/* How sure a change of a figure is. */
struct change {
    double worse, allowed; /* by how much it is worse, and may be */
    double base;           /* what shares are of */
    struct ids_spread spread;
    double noise;                /* stated */
    double fail_half, pass_half; /* INFINITY: not known */
};

static const char *percent(struct ids_report *texts, const struct change *change, double by) {
    double share = change->base > 0 ? by / change->base * 100 : 0;
    return ids_report_text(texts, share < 10 ? "%.1f %%" : "%.0f %%", share);
}

static const char *why_unsure(struct ids_report *texts, const struct change *change) {
    if (change->spread.df < LEAST_DF && !(change->noise > 0))
        return "so few recordings do not tell how much they differ by chance: save a baseline of three or more, or "
               "state the noise (--noise 2%)";
    if (change->worse > change->allowed)
        return ids_report_text(texts, "worse by %s, but recordings of the same thing differ by up to %s",
                               percent(texts, change, change->worse), percent(texts, change, change->fail_half));
    size_t needed = ids_recordings_needed(change->spread, change->allowed, PASS_CONFIDENCE);
    const char *largest = percent(texts, change, change->worse + change->pass_half);
    const char *seen =
        change->worse < 0
            ? ids_report_text(texts, "better by %s, but recordings differ so much that this may be chance: ",
                              percent(texts, change, -change->worse))
            : "";
    if (!needed)
        return ids_report_text(texts,
                               "%sit may be worse by up to %s, because recordings differ so much: record on a quieter "
                               "machine, or raise the tolerance",
                               seen, largest);
    return ids_report_text(texts,
                           "%sit may be worse by up to %s: take about %zu recordings on either side, or raise the "
                           "tolerance",
                           seen, largest, needed);
}

static void judge(struct checking *checking, struct ids_check_row *row, const struct change *change) {
    const struct ids_acceptance *accepting = checking->options->accepting;
    if (change->worse > change->allowed && change->worse > change->fail_half)
        row->verdict = IDS_CHECK_FAIL;
    else if (change->worse + change->pass_half <= change->allowed || row->value == row->before)
        row->verdict = IDS_CHECK_PASS;
    else
        row->verdict = IDS_CHECK_INCONCLUSIVE;
    if (row->verdict == IDS_CHECK_INCONCLUSIVE) row->note = why_unsure(&checking->check->report, change);
    if (accepting && row->verdict != IDS_CHECK_PASS && !strcmp(accepting->id, row->limit->subject.metric->id)) {
        row->verdict = IDS_CHECK_PASS;
        row->note = NULL;
        row->accepted = accepting;
    }
}

/* Counts and bytes repeat exactly, so that one recording tells them. */
static int repeats(enum ids_unit unit) {
    return unit == IDS_UNIT_COUNT || unit == IDS_UNIT_BYTES;
}

/* Two recordings have a spread, but one that says next to nothing: there a stated noise stands in for it. */
static double half_of(const struct change *change, enum ids_unit unit, size_t level_count, size_t fresh_count,
                      double confidence) {
    double half = ids_prediction_half(change->spread, level_count, fresh_count, confidence);
    int is_stated = change->noise > 0 && change->spread.df < LEAST_DF;
    if (is_stated || (isinf(half) && repeats(unit))) half = 0;
    return fmax(half, change->noise);
}

static void compare(struct checking *checking, struct ids_check_row *row, const struct figures *old,
                    const struct figures *fresh) {
    const struct ids_limit *limit = row->limit;
    const struct ids_metric_def *metric = limit->subject.metric;
    const struct ids_sample left = {old->at, old->count, 0}, right = {fresh->at, fresh->count, 0};
    size_t level_count = row->accepted ? row->accepted->runs : old->count;
    row->has_value = row->has_before = 1;
    row->value = ids_mean(fresh->at, fresh->count);
    row->recordings = fresh->count;
    row->before = row->accepted ? row->accepted->value : ids_mean(old->at, old->count);
    int sign = metric->better == IDS_BETTER_HIGHER ? -1 : 1; /* of what is worse */
    /* Of a share that should be low (idle time) the other side counts too: 0.04 % and 0.05 % are the same. */
    struct change change = {.base = fabs(row->before), .spread = ids_spread_of(left, right)};
    if (metric->unit == IDS_UNIT_RATIO && sign > 0) change.base = fmax(change.base, 1 - change.base);
    change.allowed = limit->value * (limit->is_share ? change.base : 1);
    change.worse = sign * (row->value - row->before);
    row->bound = row->before + sign * change.allowed;
    change.noise = checking->options->noise * change.base;
    change.fail_half = half_of(&change, metric->unit, level_count, fresh->count, IDS_CONFIDENCE);
    change.pass_half = half_of(&change, metric->unit, level_count, fresh->count, PASS_CONFIDENCE);
    if (change.spread.df >= LEAST_DF || change.noise > 0) row->half = change.fail_half;
    judge(checking, row, &change);
    distrust(row, checking->side);
}

static int check_baseline(struct checking *checking, const struct ids_limit *limit) {
    struct ids_report *texts = &checking->check->report;
    const char *id = limit->subject.metric->id;
    const struct ids_report *first = checking->side->runs[0].report;
    struct ids_check_row *row = add(checking->check, limit, checking->side->label, first);
    struct figures old = {0}, fresh = {0};
    if (!row) return -1;
    if (!checking->baseline) return has_no_value(row, "there is no baseline: give one with --baseline");
    row->accepted = acceptance_of(checking->options, id);
    int failed =
        recordings_of(checking->baseline, limit, texts, &old) || recordings_of(checking->side, limit, texts, &fresh);
    if (!failed && old.count && fresh.count) {
        compare(checking, row, &old, &fresh);
    } else if (!failed) {
        const char *gone = fresh.count ? why_not_there(texts, checking->baseline, id) : NULL;
        has_no_value(row, gone          ? gone
                          : fresh.count ? ids_report_text(texts, "the baseline has no such figure: %s", old.why)
                                        : fresh.why);
        if (fresh.count) row->value = ids_mean(fresh.at, fresh.count);
        row->has_value = fresh.count > 0;
    }
    free(old.at);
    free(fresh.at);
    return failed;
}

/* ---- */

static void sum_up(struct ids_check *check) {
    for (size_t i = 0; i < check->count; i++) check->counts[check->at[i].verdict]++;
    check->verdict = check->counts[IDS_CHECK_FAIL]           ? IDS_CHECK_FAIL
                     : check->counts[IDS_CHECK_INCONCLUSIVE] ? IDS_CHECK_INCONCLUSIVE
                                                             : IDS_CHECK_PASS;
}

int ids_check_make(const struct ids_side *side, const struct ids_side *baseline, const struct ids_budget *budget,
                   const struct ids_check_options *options, struct ids_check *ret_check, struct ids_error *err) {
    struct ids_check *check = ret_check;
    struct checking checking = {check, side, baseline, options};
    int failed = 0;
    *check = (struct ids_check){0};
    ids_report_init(&check->report);
    for (size_t l = 0; l < budget->count && !failed; l++) {
        const struct ids_limit *limit = &budget->at[l];
        if (limit->kind == IDS_LIMIT_BASELINE) {
            failed = check_baseline(&checking, limit);
        } else if (limit->aggregate != IDS_OF_EACH_RUN) {
            failed = check_aggregate(&checking, limit);
        } else {
            for (size_t i = 0; i < side->run_count && !failed; i++)
                failed = check_run(&checking, &side->runs[i], limit);
        }
    }
    sum_up(check);
    if (!failed) ids_check_report(check);
    if (!failed && !check->report.out_of_memory) return 0;
    ids_check_done(check);
    return ids_no_memory(err);
}

int ids_check_is_open(const struct ids_check_row *row) {
    return row->verdict == IDS_CHECK_FAIL || row->verdict == IDS_CHECK_INCONCLUSIVE;
}

void ids_check_done(struct ids_check *check) {
    free(check->at);
    ids_report_done(&check->report);
    *check = (struct ids_check){0};
}
