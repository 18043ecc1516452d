/* steps.c - how long steps took and where the time went. Which work belongs to which step is found in lib/analysis/steps.c. */
#include "lib/analysis/context.h"
#include "lib/base/counted.h"
#include "lib/base/saturate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part of the steps as rows: means over the devices for each step, in whole picoseconds, then over the steps. */
#define PART_SQL(is_part)                                                                                           \
    "WITH mean AS (SELECT step_id, part, sum(dur_ps) / (SELECT count(*) FROM devices WHERE run = :run AND "         \
    "is_active = 1) AS part_ps FROM device_time WHERE run = :run AND step_id IS NOT NULL GROUP BY step_id, part), " \
    "whole AS (SELECT part, sum(part_ps) / (SELECT count(*) FROM steps WHERE run = :run) AS part_ps FROM mean "     \
    "WHERE part " is_part " GROUP BY part) "
#define PART(id, title, text)                                                    \
    {                                                                            \
        "steps." id, title, IDS_UNIT_TIME, IDS_BETTER_LOWER,                     \
            text " Mean per step and device; the parts sum to steps.mean.",      \
            PART_SQL("= '" id "'") "SELECT coalesce(sum(part_ps), 0) FROM whole" \
    }

static const struct ids_metric_def metrics[] = {
    {"steps.mean", "step time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Mean step time. A step's time runs from its first device event to the first device event of the next step (the "
     "last step: to its last end). A device event belongs to the "
     "step whose annotation encloses its launch, directly or through what caused the launch, never by time: with "
     "asynchronous dispatch annotations end long before the device does.",
     "SELECT sum(dur_ps) / count(*) FROM steps WHERE run = :run"},
    {"steps.count", "steps", IDS_UNIT_COUNT, IDS_BETTER_NEITHER, "Steps with work on a device.",
     "SELECT count(*) FROM steps WHERE run = :run"},
    {"steps.median", "median", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Median step time (mean of the two middle ones for an even count).",
     "WITH ordered AS (SELECT dur_ps, row_number() OVER (ORDER BY dur_ps) AS place, count(*) OVER () AS steps FROM "
     "steps WHERE run = :run) SELECT min(dur_ps) + (max(dur_ps) - min(dur_ps)) / 2 FROM ordered WHERE place IN ((steps "
     "+ 1) / 2, (steps + 2) / 2)"},
    {"steps.p95", "p95", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "The step time that 95 % of the steps do not exceed (nearest rank).",
     "WITH ordered AS (SELECT dur_ps, row_number() OVER (ORDER BY dur_ps) AS place, count(*) OVER () AS steps FROM "
     "steps WHERE run = :run) SELECT dur_ps FROM ordered WHERE place = (steps * 95 + 99) / 100"},
    {"steps.std", "standard deviation", IDS_UNIT_TIME, IDS_BETTER_LOWER, "Sample standard deviation of the step times.",
     "WITH mean AS (SELECT sum(dur_ps) * 1.0 / count(*) AS mean_ps FROM steps WHERE run = :run) SELECT "
     "CAST(round(sqrt(sum((dur_ps - mean_ps) * (dur_ps - mean_ps)) / (count(*) - 1))) AS INTEGER) FROM steps, mean "
     "WHERE run = :run"},
    {"steps.host_mean", "host step time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Mean length of the step annotations on the host: how long dispatching took.",
     "SELECT coalesce(sum(host_dur_ps), 0) / count(*) FROM steps WHERE run = :run"},
    {"steps.source", "found by", IDS_UNIT_NONE, IDS_BETTER_NEITHER,
     "marker: the file has a Steps line · annotation: events with step_num · none: neither is there.",
     "SELECT coalesce(step_source, 'none') FROM run WHERE id = :run"},
    PART("compute", "compute", "Time in which the device computes."),
    PART("collective", "collectives, exposed", "Time in collectives and no compute."),
    PART("h2d", "H2D, exposed", "Time in H2D copies and nothing of the above."),
    PART("d2h", "D2H, exposed", "Time in D2H copies and nothing of the above."),
    PART("other", "other copies", "Other copies and sets, and nothing of the above."),
    PART("stalled", "stalled", "Time booked as activity in which the device only waits."),
    PART("input", "input", "Idle: the host was late because of input."),
    PART("compile", "compile", "Idle: the host was late because it traced, lowered or compiled."),
    PART("host", "host", "Idle: the host was late for another reason: dispatch, staging, waiting, Python, unrecorded."),
    {"steps.idle", "idle, other", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Idle for any other reason: dependencies, queues, transfers, not recorded. Mean per step and device; the parts "
     "sum "
     "to steps.mean.",
     PART_SQL("<> 'idle'") "SELECT (SELECT sum(dur_ps) / count(*) FROM steps WHERE run = :run) - "
                           "coalesce(sum(part_ps), 0) FROM whole"},
};

enum part { COMPUTE, COLLECTIVE, H2D, D2H, OTHER, STALLED, INPUT, COMPILE, HOST, IDLE, PARTS };
static const char *const part_ids[PARTS] = {
    "steps.compute", "steps.collective", "steps.h2d",     "steps.d2h",  "steps.other",
    "steps.stalled", "steps.input",      "steps.compile", "steps.host", "steps.idle",
};

static const struct ids_column_def columns[] = {
    {"step", "step", IDS_UNIT_COUNT, 0},
    {"start", "at", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"duration", "time", IDS_UNIT_TIME, 0},
    {"compute", "compute", IDS_UNIT_TIME, 0},
    {"collective", "collective", IDS_UNIT_TIME, 0},
    {"h2d", "H2D", IDS_UNIT_TIME, 0},
    {"d2h", "D2H", IDS_UNIT_TIME, 0},
    {"other", "other copies", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"stalled", "stalled", IDS_UNIT_TIME, 0},
    {"input", "input", IDS_UNIT_TIME, 0},
    {"compile", "compile", IDS_UNIT_TIME, 0},
    {"host", "host", IDS_UNIT_TIME, 0},
    {"idle", "idle", IDS_UNIT_TIME, 0},
    {"host_duration", "host step", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def table_def = {
    "steps",
    "steps",
    columns,
    IDS_COUNT_OF(columns),
    "One row per step. The parts are means over the active devices and sum to the step's time (the last digit goes to "
    "idle). Times since the run's first activity.",
    0,
};

static const struct ids_note notes[] = {
    {.before = "median ", .metric = "steps.median"},
    {.before = "p95 ", .metric = "steps.p95"},
    {.before = "sd ", .metric = "steps.std"},
};
static const struct ids_headline headlines[] = {{"steps", "step time", "steps.mean", notes, IDS_COUNT_OF(notes), 0}};

/* Takes `what` out of what is left of a device's time: afterwards `left` is less, and `ret_part` is the part taken. */
static int take(struct ids_spans *left, const struct ids_spans *what, struct ids_spans *ret_part) {
    struct ids_spans rest = {0};
    if (ids_spans_intersect(left, what, ret_part) || ids_spans_subtract(left, what, &rest)) {
        ids_spans_done(&rest);
        return -1;
    }
    ids_spans_done(left);
    *left = rest;
    return 0;
}

static enum part part_of_cause(int cause) {
    if (cause == IDS_LATE_INPUT) return INPUT;
    if (cause == IDS_LATE_COMPILE) return COMPILE;
    return IDS_IS_HOST_LATE(cause) ? HOST : IDLE;
}

/* One device's window cut into the parts; each moment is in one. */
static int cut_device(const struct ids_analysis *analysis, uint32_t index, struct ids_spans parts[PARTS]) {
    const struct ids_busy *busy = &analysis->busy[index];
    struct ids_spans left = {0};
    for (size_t i = 0; i < busy->working.count; i++)
        ids_spans_add(&left, busy->working.at[i].start_ps, busy->working.at[i].end_ps);
    int failed = ids_spans_unite(&left) || take(&left, &busy->compute, &parts[COMPUTE]) ||
                 take(&left, &busy->collective, &parts[COLLECTIVE]) || take(&left, &busy->h2d, &parts[H2D]) ||
                 take(&left, &busy->d2h, &parts[D2H]);
    parts[OTHER] = left;
    failed = failed || ids_spans_subtract(&busy->busy, &busy->working, &parts[STALLED]);
    for (size_t g = 0; g < busy->gap_count; g++) {
        const struct ids_gap *gap = &analysis->gaps[busy->first_gap + g];
        ids_spans_add(&parts[part_of_cause(gap->cause)], gap->start_ps, gap->end_ps);
    }
    for (int p = 0; p < PARTS; p++) failed = ids_spans_unite(&parts[p]) || failed;
    return failed;
}

/* Adds what each step has of each part, over all devices, to sums[step * PARTS + part]. */
static int sum_parts(const struct ids_analysis *analysis, int64_t *sums) {
    const struct ids_steps *steps = &analysis->steps;
    int failed = 0;
    for (uint32_t b = 0; b < analysis->busy_count && !failed; b++) {
        struct ids_spans parts[PARTS] = {0};
        failed = cut_device(analysis, b, parts);
        for (size_t s = 0; s < steps->count && !failed; s++) {
            for (int p = 0; p < PARTS; p++)
                ids_sum(&sums[s * PARTS + (size_t)p],
                        ids_spans_cover(&parts[p], steps->at[s].start_ps, steps->at[s].end_ps));
        }
        for (int p = 0; p < PARTS; p++) ids_spans_done(&parts[p]);
    }
    return failed;
}

/* Means over the devices; what rounding leaves, and what lies outside the window, goes to idle, so that the parts sum. */
static void average(const struct ids_analysis *analysis, int64_t *sums) {
    for (size_t s = 0; s < analysis->steps.count; s++) {
        int64_t *parts = &sums[s * PARTS], known_ps = 0;
        for (int p = 0; p < IDLE; p++) {
            parts[p] /= (int64_t)analysis->busy_count;
            ids_sum(&known_ps, parts[p]);
        }
        parts[IDLE] = analysis->steps.at[s].end_ps - analysis->steps.at[s].start_ps - known_ps;
    }
}

static void list(const struct ids_analysis *analysis, struct ids_report *report, const int64_t *sums) {
    const struct ids_steps *steps = &analysis->steps;
    struct ids_table *table = ids_report_table(report, &table_def);
    for (size_t s = 0; s < steps->count; s++) {
        const struct ids_step *step = &steps->at[s];
        const int64_t *parts = &sums[s * PARTS];
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_COUNT, step->number),
            ids_int_value(IDS_UNIT_TIME, step->start_ps - analysis->first_ps),
            ids_int_value(IDS_UNIT_TIME, step->end_ps - step->start_ps),
            ids_int_value(IDS_UNIT_TIME, parts[COMPUTE]),
            ids_int_value(IDS_UNIT_TIME, parts[COLLECTIVE]),
            ids_int_value(IDS_UNIT_TIME, parts[H2D]),
            ids_int_value(IDS_UNIT_TIME, parts[D2H]),
            ids_int_value(IDS_UNIT_TIME, parts[OTHER]),
            ids_int_value(IDS_UNIT_TIME, parts[STALLED]),
            ids_int_value(IDS_UNIT_TIME, parts[INPUT]),
            ids_int_value(IDS_UNIT_TIME, parts[COMPILE]),
            ids_int_value(IDS_UNIT_TIME, parts[HOST]),
            ids_int_value(IDS_UNIT_TIME, parts[IDLE]),
            step->host_end_ps > step->host_start_ps
                ? ids_int_value(IDS_UNIT_TIME, step->host_end_ps - step->host_start_ps)
                : ids_no_value(IDS_UNIT_TIME),
        };
        ids_report_row(report, table, row);
    }
}

static int shorter(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* What the sentence about steps says, for programs. */
static void list_steps(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_steps *steps = &analysis->steps;
    int annotated = steps->source == IDS_STEPS_ANNOTATION;
    ids_report_property(report, "steps.count", ids_int_value(IDS_UNIT_COUNT, (int64_t)steps->count));
    ids_report_property(report, "steps.source", ids_text_value(annotated ? "annotation" : "marker"));
    ids_report_property(report, "steps.annotation",
                        ids_text_value(annotated ? ids_trace_text(analysis->trace, steps->name) : NULL));
    ids_report_property(report, "steps.first", ids_int_value(IDS_UNIT_COUNT, steps->at[0].number));
    ids_report_property(report, "steps.last", ids_int_value(IDS_UNIT_COUNT, steps->at[steps->count - 1].number));
}

static void say_source(const struct ids_analysis *analysis, struct ids_report *report) {
    static const char *const sources[] = {"none", "marker", "annotation"};
    const struct ids_steps *steps = &analysis->steps;
    if (steps->source != IDS_STEPS_NONE && steps->count) list_steps(analysis, report);
    struct ids_metric *metric = ids_report_metric(report, "steps.source", NULL, ids_text_value(sources[steps->source]));
    uint64_t all = steps->assigned + steps->unassigned;
    if (steps->source != IDS_STEPS_NONE && !steps->count) {
        ids_report_rule(report, metric, "no step lies wholly in the window");
    } else if (steps->source == IDS_STEPS_ANNOTATION) {
        ids_report_rule(report, metric,
                        "annotation '%s'; %llu of %s assigned through their launch; %s launched nothing",
                        ids_trace_text(analysis->trace, steps->name), (unsigned long long)steps->assigned,
                        IDS_COUNTED(all, "device event"), IDS_COUNTED(steps->without_work, "annotation"));
        ids_report_property(
            report, "steps",
            ids_text_value(ids_report_text(report, "%s (annotation '%s', %lld–%lld)", IDS_COUNTED(steps->count, "step"),
                                           ids_trace_text(analysis->trace, steps->name), (long long)steps->at[0].number,
                                           (long long)steps->at[steps->count - 1].number)));
    } else if (steps->source == IDS_STEPS_MARKER) {
        ids_report_rule(report, metric, "the file's Steps line");
        ids_report_property(report, "steps",
                            ids_text_value(ids_report_text(report, "%s (Steps line)", IDS_COUNTED(steps->count, "step"))));
    } else {
        ids_report_rule(report, metric,
                        "the trace has no Steps line and no annotation with step_num "
                        "(jax.profiler.StepTraceAnnotation) that launched work");
    }
}

/* Mean, median, p95, deviation, and whether the first step stands out. */
static void figures(const struct ids_analysis *analysis, struct ids_report *report, int64_t *times_ps,
                    const int64_t *sums) {
    const struct ids_steps *steps = &analysis->steps;
    size_t n = steps->count;
    int64_t total_ps = 0, host_ps = 0;
    for (size_t s = 0; s < n; s++) {
        times_ps[s] = steps->at[s].end_ps - steps->at[s].start_ps;
        ids_sum(&total_ps, times_ps[s]);
        ids_sum(&host_ps, steps->at[s].host_end_ps - steps->at[s].host_start_ps);
    }
    int64_t first_ps = times_ps[0];
    double mean = (double)total_ps / (double)n, squares = 0;
    for (size_t s = 0; s < n; s++) squares += ((double)times_ps[s] - mean) * ((double)times_ps[s] - mean);
    qsort(times_ps, n, sizeof *times_ps, shorter);
    int64_t median_ps = n % 2 ? times_ps[n / 2] : times_ps[n / 2 - 1] + (times_ps[n / 2] - times_ps[n / 2 - 1]) / 2;
    struct ids_metric *metric =
        ids_report_metric(report, "steps.mean", NULL, ids_int_value(IDS_UNIT_TIME, total_ps / (int64_t)n));
    if (n > 2 && first_ps > 2 * median_ps) {
        ids_report_rule(report, metric,
                        "the first step takes more than twice the median: this window has warm-up in it");
    }
    ids_report_metric(report, "steps.count", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)n));
    ids_report_metric(report, "steps.median", NULL, ids_int_value(IDS_UNIT_TIME, median_ps));
    ids_report_metric(report, "steps.p95", NULL, ids_int_value(IDS_UNIT_TIME, times_ps[(n * 95 + 99) / 100 - 1]));
    if (n > 1)
        ids_report_metric(report, "steps.std", NULL,
                          ids_int_value(IDS_UNIT_TIME, (int64_t)llround(sqrt(squares / (double)(n - 1)))));
    else
        ids_report_no_data(report, "steps.std", IDS_UNIT_TIME, NULL, "a single step does not vary");
    if (steps->source == IDS_STEPS_ANNOTATION)
        ids_report_metric(report, "steps.host_mean", NULL, ids_int_value(IDS_UNIT_TIME, host_ps / (int64_t)n));
    else
        ids_report_no_data(report, "steps.host_mean", IDS_UNIT_TIME, NULL, "no step annotation on the host");
    int64_t known_ps = 0;
    for (int p = 0; p < PARTS; p++) {
        int64_t part_ps = 0;
        for (size_t s = 0; s < n; s++) ids_sum(&part_ps, sums[s * PARTS + (size_t)p]);
        part_ps = p == IDLE ? total_ps / (int64_t)n - known_ps : part_ps / (int64_t)n;
        ids_sum(&known_ps, part_ps);
        ids_report_metric(report, part_ids[p], NULL, ids_int_value(IDS_UNIT_TIME, part_ps));
    }
}

static int run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_steps *steps = &analysis->steps;
    if (!steps->count || !analysis->busy_count) {
        say_source(analysis, report);
        ids_metrics_missing(
            report, metrics, IDS_COUNT_OF(metrics),
            !analysis->busy_count             ? ids_no_activity_reason(analysis)
            : steps->source != IDS_STEPS_NONE ? "no step lies wholly in the window"
            : steps->name != IDS_NONE
                ? "steps are annotated, but nothing in this trace ties devices' work to them (JAX's trace.json of a "
                  "CPU lacks the links that its xplane.pb has)"
                : "no steps in this trace: annotate the loop with jax.profiler.StepTraceAnnotation");
        return 0;
    }
    int64_t *sums = calloc(steps->count * PARTS, sizeof *sums), *times_ps = calloc(steps->count, sizeof *times_ps);
    int failed = !sums || !times_ps || sum_parts(analysis, sums);
    if (!failed) {
        average(analysis, sums);
        figures(analysis, report, times_ps, sums);
        say_source(analysis, report);
        list(analysis, report, sums);
    }
    free(sums);
    free(times_ps);
    return failed ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {&table_def};

const struct ids_analyzer ids_analyzer_steps = {
    .name = "steps",
    .title = "steps",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .run = run,
};
