/* idle_gaps.c - when devices did nothing, and why. The causes are found in lib/analysis/gaps.c. */
#include "lib/analysis/context.h"
#include "lib/analysis/metric_sql.h"
#include "lib/base/saturate.h"

#include <stdlib.h>
#include <string.h>

/* `of`: which gaps, as a condition over the view gaps. */
#define CAUSE(id, title, text, of)                                                                                  \
    {id,                                                                                                            \
     title,                                                                                                         \
     IDS_UNIT_TIME,                                                                                                 \
     IDS_BETTER_LOWER,                                                                                              \
     text,                                                                                                          \
     "SELECT coalesce(sum(dur_ps), 0) FROM gaps WHERE run = :run AND cause " of},                                   \
    {                                                                                                               \
        id "_share", title ", of idle", IDS_UNIT_RATIO, IDS_BETTER_LOWER, "The part of idle.total that " id " is.", \
            "SELECT sum(dur_ps * (cause " of ")) * 1.0 / sum(dur_ps) FROM gaps WHERE run = :run"                    \
    }

static const struct ids_metric_def metrics[] = {
    {"idle.share", "idle", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Idle time ÷ window, over all active devices. Idle is what device.busy leaves of the window.",
     "SELECT coalesce(sum(dur_ps), 0) * 1.0 / " IDS_SQL_WINDOWS " FROM gaps WHERE run = :run"},
    {"idle.total", "idle time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Time in the window without any activity on any stream of a device; summed over devices.",
     "SELECT coalesce(sum(dur_ps), 0) FROM gaps WHERE run = :run"},
    {"idle.gaps", "gaps", IDS_UNIT_COUNT, IDS_BETTER_LOWER,
     "Maximal intervals of a device's window without any activity.", "SELECT count(*) FROM gaps WHERE run = :run"},
    {"idle.longest", "longest gap", IDS_UNIT_TIME, IDS_BETTER_LOWER, "The longest gap of any device.",
     "SELECT coalesce(max(dur_ps), 0) FROM gaps WHERE run = :run"},
    CAUSE("idle.host_late", "host late",
          "Gaps whose next activity was launched only after the gap had begun: the device waited for the host. Told by "
          "the launch (correlation id, flow, run "
          "id), not by what happened at the same time.",
          "LIKE 'host late%'"),
    CAUSE("idle.host_late.compile", "host late: compile",
          "Of idle.host_late: the launching thread, or one that caused the launch, was tracing, lowering or compiling "
          "for at least half of the time from the gap's "
          "start to the launch, and for longer than it did any other of these classes.",
          "= 'host late: compile'"),
    CAUSE("idle.host_late.staging", "host late: transfer staging",
          "The same, for preparing or doing a transfer (device_put, layout change, DMA mapping); also when any thread "
          "of that host did so for at least half of the time, since the runtime "
          "stages on pool threads and records no link to the launch that waits for the data.",
          "= 'host late: transfer staging'"),
    CAUSE("idle.host_late.sync", "host late: sync wait",
          "The same, for waiting on a device (block_until_ready, np.asarray, stream synchronisation).",
          "= 'host late: sync wait'"),
    CAUSE("idle.host_late.input", "host late: input",
          "The same, for tf.data or an annotation whose name says data, input, load, batch, fetch.",
          "= 'host late: input'"),
    CAUSE("idle.host_late.launch_bound", "host late: launch-bound",
          "None of the above, and the activities on both sides are small kernels launched from one thread: launching "
          "takes longer than running.",
          "= 'host late: launch-bound'"),
    CAUSE("idle.host_late.python", "host late: Python",
          "None of the above, and a Python frame (Python tracer) covers at least half of the time.",
          "= 'host late: Python'"),
    CAUSE("idle.host_late.not_recorded", "host late: not recorded",
          "The launch came late and the trace holds nothing that says why. Sync and input without an event are here, "
          "never guessed; capture with the Python tracer or "
          "annotate the loop.",
          "= 'host late: not recorded'"),
    CAUSE("idle.in_program", "in-program dependency",
          "The next activity had been launched, and it and the previous one belong to one execution of a program: a "
          "dependency inside the program (TPU: both inside one "
          "module).",
          "= 'in-program dependency'"),
    CAUSE("idle.collective_wait", "collective wait",
          "Launched before, and the core waits in barrier-cores for at least half of the gap, or the next activity is "
          "a collective.",
          "= 'collective wait'"),
    CAUSE("idle.transfer_wait", "transfer wait",
          "Launched before, and asynchronous copies cover at least half of the gap.", "= 'transfer wait'"),
    CAUSE("idle.queue", "queue", "Launched before, in another execution, and none of the above.", "= 'queue'"),
    CAUSE("idle.not_recorded", "not recorded",
          "The launch of the next activity is not in the trace, or there is no next activity in the window.",
          "= 'not recorded'"),
    {"host.overhead_share", "host overhead", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of time in which devices idle because the host dispatches, compiles, waits or loads data (idle.host_late), "
     "of the steps where there are some, else of the "
     "window.",
     "WITH whole AS (SELECT min(start_ps) AS from_ps, max(start_ps + dur_ps) AS to_ps, count(*) AS devices FROM "
     "devices WHERE run = :run AND is_active = 1), counted AS (SELECT coalesce((SELECT min(start_ps) FROM steps WHERE "
     "run = :run), from_ps) AS from_ps, coalesce((SELECT max(start_ps + dur_ps) FROM steps WHERE run = :run), to_ps) "
     "AS to_ps, devices FROM whole) SELECT coalesce(sum(min(g.start_ps + g.dur_ps, c.to_ps) - max(g.start_ps, "
     "c.from_ps)), 0) * 1.0 / (SELECT (to_ps - from_ps) * devices FROM counted) FROM gaps g JOIN counted c ON "
     "g.start_ps < c.to_ps AND g.start_ps + g.dur_ps > c.from_ps WHERE g.run = :run AND g.cause LIKE 'host late%'"},
};

/* The metrics of each cause: the time, and its share of all idle time. */
static const char *const cause_ids[IDS_CAUSE_COUNT][2] = {
    [IDS_LATE_COMPILE] = {"idle.host_late.compile", "idle.host_late.compile_share"},
    [IDS_LATE_STAGING] = {"idle.host_late.staging", "idle.host_late.staging_share"},
    [IDS_LATE_SYNC] = {"idle.host_late.sync", "idle.host_late.sync_share"},
    [IDS_LATE_INPUT] = {"idle.host_late.input", "idle.host_late.input_share"},
    [IDS_LATE_PYTHON] = {"idle.host_late.python", "idle.host_late.python_share"},
    [IDS_LATE_LAUNCH_BOUND] = {"idle.host_late.launch_bound", "idle.host_late.launch_bound_share"},
    [IDS_LATE_NOT_RECORDED] = {"idle.host_late.not_recorded", "idle.host_late.not_recorded_share"},
    [IDS_IN_PROGRAM] = {"idle.in_program", "idle.in_program_share"},
    [IDS_COLLECTIVE_WAIT] = {"idle.collective_wait", "idle.collective_wait_share"},
    [IDS_TRANSFER_WAIT] = {"idle.transfer_wait", "idle.transfer_wait_share"},
    [IDS_QUEUE] = {"idle.queue", "idle.queue_share"},
    [IDS_NOT_RECORDED] = {"idle.not_recorded", "idle.not_recorded_share"},
};

static const struct ids_column_def cause_columns[] = {
    {"cause", "cause", IDS_UNIT_NONE, 0},
    {"gaps", "gaps", IDS_UNIT_COUNT, 0},
    {"total", "total", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
};
static const struct ids_table_def causes = {
    "idle_causes",
    "why devices idled",
    cause_columns,
    IDS_COUNT_OF(cause_columns),
    "Idle time by cause; share of all idle time.",
    0,
};

static const struct ids_column_def gap_columns[] = {
    {"duration", "length", IDS_UNIT_TIME, 0},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"start", "at", IDS_UNIT_TIME, 0},
    {"cause", "cause", IDS_UNIT_NONE, IDS_COLUMN_NAME},
    {"evidence", "host did", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"next", "next activity", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"previous", "previous activity", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"launch", "launched at", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"evidence_start", "host from", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"evidence_duration", "host for", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def gaps = {
    "gaps",
    "longest idle gaps",
    gap_columns,
    IDS_COUNT_OF(gap_columns),
    "The longest gaps, at most 1,000. Times since the run's first activity. `evidence` is the host event that covers "
    "most of the time to a late launch.",
    0,
};

static const struct ids_column_def histogram_columns[] = {
    {"below", "shorter than", IDS_UNIT_TIME, 0},
    {"gaps", "gaps", IDS_UNIT_COUNT, 0},
    {"total", "total", IDS_UNIT_TIME, 0},
};
static const struct ids_table_def histogram = {
    "gap_histogram",
    "gaps by length",
    histogram_columns,
    IDS_COUNT_OF(histogram_columns),
    "Gaps by decade of their length; each row from the row above's bound to its own. The last row has no bound.",
    0,
};

static const struct ids_note notes[] = {
    {.metric = "idle.gaps", .noun = "gap"},
    {.before = "longest ", .metric = "idle.longest"},
    {.before = "host late: compile ", .metric = "idle.host_late.compile_share", .at_least = 0.01},
    {.before = "host late: staging ", .metric = "idle.host_late.staging_share", .at_least = 0.01},
    {.before = "host late: sync ", .metric = "idle.host_late.sync_share", .at_least = 0.01},
    {.before = "host late: input ", .metric = "idle.host_late.input_share", .at_least = 0.01},
    {.before = "host late: launch-bound ", .metric = "idle.host_late.launch_bound_share", .at_least = 0.01},
    {.before = "host late: Python ", .metric = "idle.host_late.python_share", .at_least = 0.01},
    {.before = "host late: not recorded ", .metric = "idle.host_late.not_recorded_share", .at_least = 0.01},
    {.before = "in-program ", .metric = "idle.in_program_share", .at_least = 0.01},
    {.before = "collective wait ", .metric = "idle.collective_wait_share", .at_least = 0.01},
    {.before = "transfer wait ", .metric = "idle.transfer_wait_share", .at_least = 0.01},
    {.before = "queue ", .metric = "idle.queue_share", .at_least = 0.01},
    {.before = "not recorded ", .metric = "idle.not_recorded_share", .at_least = 0.01},
};
static const struct ids_headline headlines[] = {{"idle_gaps", "idle", "idle.share", notes, IDS_COUNT_OF(notes), 0}};

struct sums {
    uint64_t count, of_cause_count[IDS_CAUSE_COUNT];
    int64_t total_ps, longest_ps, of_cause_ps[IDS_CAUSE_COUNT];
};

static void add(struct sums *sums, const struct ids_gap *gap) {
    int64_t length_ps = gap->end_ps - gap->start_ps;
    sums->count++;
    ids_sum(&sums->total_ps, length_ps);
    if (length_ps > sums->longest_ps) sums->longest_ps = length_ps;
    sums->of_cause_count[gap->cause]++;
    ids_sum(&sums->of_cause_ps[gap->cause], length_ps);
}

static void cause_figures(struct ids_report *report, const char *const ids[2], const char *device, int64_t time_ps,
                          int64_t total_ps) {
    ids_report_metric(report, ids[0], device, ids_int_value(IDS_UNIT_TIME, time_ps));
    if (total_ps)
        ids_report_metric(report, ids[1], device, ids_real_value(IDS_UNIT_RATIO, (double)time_ps / (double)total_ps));
    else
        ids_report_no_data(report, ids[1], IDS_UNIT_RATIO, device, "no idle time in the window");
}

static void figures(struct ids_report *report, const char *device, const struct sums *sums, int64_t window_ps) {
    ids_report_metric(report, "idle.gaps", device, ids_int_value(IDS_UNIT_COUNT, (int64_t)sums->count));
    ids_report_metric(report, "idle.total", device, ids_int_value(IDS_UNIT_TIME, sums->total_ps));
    ids_report_metric(report, "idle.longest", device, ids_int_value(IDS_UNIT_TIME, sums->longest_ps));
    int64_t late_ps = 0;
    for (int cause = 0; cause < IDS_CAUSE_COUNT; cause++) {
        if (IDS_IS_HOST_LATE(cause)) ids_sum(&late_ps, sums->of_cause_ps[cause]);
        cause_figures(report, cause_ids[cause], device, sums->of_cause_ps[cause], sums->total_ps);
    }
    cause_figures(report, (const char *const[]){"idle.host_late", "idle.host_late_share"}, device, late_ps,
                  sums->total_ps);
    if (!window_ps) return;
    ids_report_metric(report, "idle.share", device,
                      ids_real_value(IDS_UNIT_RATIO, (double)sums->total_ps / (double)window_ps));
}

/* Idle shows the grade of utilization (metrics.md), which ran before. */
static void take_grade(struct ids_report *report) {
    const struct ids_metric *utilization = ids_report_find(report, "device.utilization", NULL);
    enum ids_grade grade = utilization ? utilization->grade : IDS_GRADE_NONE;
    for (size_t i = 0; i < report->metric_count; i++) {
        struct ids_metric *metric = &report->metrics[i];
        if (!strcmp(metric->id, "idle.share") && !metric->device) metric->grade = grade;
    }
}

static void list_causes(struct ids_report *report, const struct sums *all) {
    struct ids_table *table = ids_report_table(report, &causes);
    for (int rank = 0, shown[IDS_CAUSE_COUNT] = {0}; rank < IDS_CAUSE_COUNT; rank++) {
        int largest = -1;
        for (int cause = 0; cause < IDS_CAUSE_COUNT; cause++) {
            if (!shown[cause] && (largest < 0 || all->of_cause_ps[cause] > all->of_cause_ps[largest])) largest = cause;
        }
        shown[largest] = 1;
        if (!all->of_cause_count[largest]) continue;
        struct ids_value row[] = {
            ids_text_value(ids_cause_name((enum ids_cause)largest)),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)all->of_cause_count[largest]),
            ids_int_value(IDS_UNIT_TIME, all->of_cause_ps[largest]),
            ids_real_value(IDS_UNIT_RATIO, (double)all->of_cause_ps[largest] / (double)all->total_ps),
        };
        ids_report_row(report, table, row);
    }
}

static void list_lengths(const struct ids_analysis *analysis, struct ids_report *report) {
    enum { DECADES = 8 }; /* below 1 us, 10 us, ... 10 s, and longer */
    struct ids_table *table = ids_report_table(report, &histogram);
    int64_t counts[DECADES + 1] = {0}, totals_ps[DECADES + 1] = {0}, bound_ps = 1000000;
    for (size_t g = 0; g < analysis->gap_count; g++) {
        int64_t length_ps = analysis->gaps[g].end_ps - analysis->gaps[g].start_ps;
        int decade = 0;
        for (int64_t bound = bound_ps; decade < DECADES && length_ps >= bound; bound *= 10) decade++;
        counts[decade]++;
        ids_sum(&totals_ps[decade], length_ps);
    }
    for (int decade = 0; decade <= DECADES; decade++, bound_ps *= 10) {
        if (!counts[decade]) continue;
        struct ids_value row[] = {
            decade < DECADES ? ids_int_value(IDS_UNIT_TIME, bound_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_int_value(IDS_UNIT_COUNT, counts[decade]),
            ids_int_value(IDS_UNIT_TIME, totals_ps[decade]),
        };
        ids_report_row(report, table, row);
    }
}

static int64_t length_of(const struct ids_gap *gap) {
    return gap->end_ps - gap->start_ps;
}

static int longest_first(const void *a, const void *b) {
    const struct ids_gap *left = *(const struct ids_gap *const *)a, *right = *(const struct ids_gap *const *)b;
    if (length_of(left) != length_of(right)) return length_of(left) < length_of(right) ? 1 : -1;
    return (left > right) - (left < right);
}

/* Puts the longest gaps into `order`, longest first. A trace may have millions: whenever twice as many as wanted are at hand, the
 * shorter half goes, and with it every later gap that is no longer than those that stay. */
enum { KEPT = 1000 };
static size_t select_longest(const struct ids_analysis *analysis, const struct ids_gap *order[2 * KEPT]) {
    size_t count = 0;
    int64_t least_ps = 0;
    for (size_t g = 0; g < analysis->gap_count; g++) {
        if (length_of(&analysis->gaps[g]) <= least_ps) continue;
        order[count++] = &analysis->gaps[g];
        if (count < (size_t)2 * KEPT) continue;
        qsort(order, count, sizeof *order, longest_first);
        count = KEPT;
        least_ps = length_of(order[KEPT - 1]);
    }
    if (count) qsort(order, count, sizeof *order, longest_first);
    return count < KEPT ? count : KEPT;
}

static void list_gaps(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_gap *order[2 * KEPT];
    struct ids_table *table = ids_report_table(report, &gaps);
    size_t count = select_longest(analysis, order);
    for (size_t g = 0; g < count; g++) {
        const struct ids_gap *gap = order[g];
        const struct ids_event *evidence = ids_gap_evidence(analysis, gap);
        const struct ids_event *launch = gap->next ? gap->next->launch : NULL;
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, length_of(gap)),
            ids_text_value(analysis->busy[gap->busy].device->key),
            ids_int_value(IDS_UNIT_TIME, gap->start_ps - analysis->first_ps),
            ids_text_value(ids_cause_name((enum ids_cause)gap->cause)),
            ids_text_value(evidence ? ids_event_name(trace, evidence) : NULL),
            ids_text_value(gap->next ? ids_event_name(trace, gap->next) : NULL),
            ids_text_value(gap->previous ? ids_event_name(trace, gap->previous) : NULL),
            launch ? ids_int_value(IDS_UNIT_TIME, launch->start_ps - analysis->first_ps) : ids_no_value(IDS_UNIT_TIME),
            evidence ? ids_int_value(IDS_UNIT_TIME, evidence->start_ps - analysis->first_ps)
                     : ids_no_value(IDS_UNIT_TIME),
            evidence ? ids_int_value(IDS_UNIT_TIME, evidence->end_ps - evidence->start_ps)
                     : ids_no_value(IDS_UNIT_TIME),
        };
        ids_report_row(report, table, row);
    }
    table->rows_left_out = (int64_t)(analysis->gap_count - count);
}

/* Late time inside steps where there are steps: between steps the host may do as it likes. */
static void overhead(const struct ids_analysis *analysis, struct ids_report *report, int64_t window_ps) {
    int64_t late_ps = 0;
    double whole_ps = (double)window_ps;
    const struct ids_steps *steps = &analysis->steps;
    int64_t from_ps = analysis->start_ps, to_ps = analysis->end_ps;
    if (steps->count) {
        if (steps->at[0].start_ps > from_ps) from_ps = steps->at[0].start_ps;
        if (steps->at[steps->count - 1].end_ps < to_ps) to_ps = steps->at[steps->count - 1].end_ps;
        whole_ps = to_ps > from_ps ? (double)(to_ps - from_ps) * (double)analysis->busy_count : 0;
    }
    for (size_t g = 0; g < analysis->gap_count; g++) {
        const struct ids_gap *gap = &analysis->gaps[g];
        if (!IDS_IS_HOST_LATE(gap->cause)) continue;
        int64_t start_ps = gap->start_ps > from_ps ? gap->start_ps : from_ps,
                end_ps = gap->end_ps < to_ps ? gap->end_ps : to_ps;
        if (end_ps > start_ps) ids_sum(&late_ps, end_ps - start_ps);
    }
    if (whole_ps <= 0) {
        ids_report_no_data(report, "host.overhead_share", IDS_UNIT_RATIO, NULL, "the window holds no step");
        return;
    }
    double share = (double)late_ps / whole_ps;
    struct ids_metric *metric =
        ids_report_metric(report, "host.overhead_share", NULL, ids_real_value(IDS_UNIT_RATIO, share));
    metric->grade = share < 0.1 ? IDS_GRADE_GOOD : share <= 0.2 ? IDS_GRADE_WARN : IDS_GRADE_BAD;
    ids_report_rule(report, metric,
                    steps->count ? "of the time from the first step to the end of the last"
                                 : "of the window: no steps were found");
}

static int run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    if (!analysis->busy_count) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), ids_no_activity_reason(analysis));
        return 0;
    }
    struct sums all = {0};
    size_t g = 0;
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        struct sums own = {0};
        for (; g < analysis->gap_count && analysis->gaps[g].busy == b; g++) {
            add(&own, &analysis->gaps[g]);
            add(&all, &analysis->gaps[g]);
        }
        figures(report, analysis->busy[b].device->key, &own, analysis->busy[b].end_ps - analysis->busy[b].start_ps);
    }
    figures(report, NULL, &all, ids_windows_total(analysis));
    take_grade(report);
    overhead(analysis, report, ids_windows_total(analysis));
    list_causes(report, &all);
    list_lengths(analysis, report);
    list_gaps(analysis, report);
    return 0;
}

static const struct ids_table_def *const tables[] = {&causes, &gaps, &histogram};

const struct ids_analyzer ids_analyzer_idle_gaps = {
    .name = "idle_gaps",
    .title = "idle gaps",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .run = run,
};
