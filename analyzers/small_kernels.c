/* small_kernels.c - kernels so short that launching them costs as much as running them. */
#include "lib/analysis/best.h"
#include "lib/analysis/context.h"

#include "lib/base/far_numbers.h"
#include "lib/base/parallel.h"
#include "lib/base/saturate.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_metric_def metrics[] = {
    {"kernels.small_count", "small kernels", IDS_UNIT_COUNT, IDS_BETTER_LOWER,
     "Kernels shorter than 0.1 ms (--small-kernel). A kernel is a GPU kernel that is no copy or set, or an op of a TPU "
     "or of the CPU client that is no async -start or "
     "-done, no transfer, and no loop, conditional or call around other ops.",
     "SELECT count(*) FROM kernels WHERE run = :run AND is_active = 1 AND dur_ps < 100000000"},
    {"kernels.small_share", "of all kernels", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Small kernels ÷ all kernels, by count.",
     "SELECT sum(dur_ps < 100000000) * 1.0 / count(*) FROM kernels WHERE run = :run AND is_active = 1"},
    {"kernels.small_time_share", "of kernel time", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Time of small kernels ÷ time of all kernels.",
     "SELECT sum(dur_ps * (dur_ps < 100000000)) * 1.0 / sum(dur_ps) FROM kernels WHERE run = :run AND is_active = 1"},
    {"kernels.longest_small_run", "longest run", IDS_UNIT_COUNT, IDS_BETTER_LOWER,
     "The most small kernels in a row on one device: a candidate for fusion.",
     "WITH numbered AS (SELECT device, dur_ps, sum(dur_ps >= 100000000) OVER (PARTITION BY device ORDER BY start_ps, "
     "dur_ps DESC, id ROWS UNBOUNDED PRECEDING) AS longer_before FROM kernels WHERE run = :run AND is_active = 1) "
     "SELECT coalesce(max(kernels), 0) FROM (SELECT count(*) AS kernels FROM numbered WHERE dur_ps < 100000000 GROUP "
     "BY device, longer_before)"},
    {"kernels.count", "kernels", IDS_UNIT_COUNT, IDS_BETTER_NEITHER, "Kernels that begin in the window.",
     "SELECT count(*) FROM kernels WHERE run = :run AND is_active = 1"},
    {"kernels.total", "kernel time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Sum of the kernels' durations; kernels that run at the same time add up (device.working is the union).",
     "SELECT coalesce(sum(dur_ps), 0) FROM kernels WHERE run = :run AND is_active = 1"},
    {"kernels.median", "median kernel", IDS_UNIT_TIME, IDS_BETTER_HIGHER,
     "Time-weighted median duration: half of the kernel time is in kernels at least this long. A million tiny kernels "
     "beside a few long ones do not hide the long ones.",
     "SELECT max(dur_ps) FROM (SELECT dur_ps, sum(dur_ps) OVER (ORDER BY dur_ps DESC, id ROWS UNBOUNDED PRECEDING) AS "
     "reached_ps, sum(dur_ps) OVER () AS total_ps FROM kernels WHERE run = :run AND is_active = 1) WHERE reached_ps >= "
     "total_ps - reached_ps"},
};

static const struct ids_column_def columns[] = {
    {"count", "kernels", IDS_UNIT_COUNT, 0},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"start", "from", IDS_UNIT_TIME, 0},
    {"duration", "lasting", IDS_UNIT_TIME, 0},
    {"busy", "kernel time", IDS_UNIT_TIME, 0},
    {"first", "first kernel", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"last", "last kernel", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def runs = {
    "small_kernel_runs",
    "longest runs of small kernels",
    columns,
    IDS_COUNT_OF(columns),
    "Small kernels in a row on one device, the 100 longest runs: candidates for fusion. Times since the run's first "
    "activity.",
    0,
};

static const struct ids_note notes[] = {
    {.metric = "kernels.small_share", .after = " of kernels", .always = 1},
    {.metric = "kernels.small_time_share", .after = " of kernel time", .always = 1},
    {.before = "longest run ", .metric = "kernels.longest_small_run"},
    {.before = "median kernel ", .metric = "kernels.median", .after = " by time"},
};
static const struct ids_headline headlines[] = {
    {"small_kernels", "small kernels", "kernels.small_count", notes, IDS_COUNT_OF(notes), 0}};

struct small_run {
    uint64_t count;
    int64_t start_ps, end_ps, busy_ps;
    uint32_t device, first, last; /* names of kernels */
};

struct sums {
    uint64_t count, small, longest;
    int64_t total_ps, small_ps, longest_ps;
};

struct gathering {
    struct ids_far_numbers durations_ps;
    struct ids_best runs;   /* struct small_run */
    struct sums *of_device; /* by analysis->busy */
};

static int end_run(struct gathering *gathering, struct small_run *run, struct sums *sums) {
    if (run->count > sums->longest) sums->longest = run->count;
    if (run->count > 1 && ids_best_add(&gathering->runs, run)) return -1;
    run->count = 0;
    run->busy_ps = 0;
    return 0;
}

static int add_device(const struct ids_analysis *analysis, const struct ids_busy *busy, struct gathering *gathering,
                      struct sums *sums) {
    struct small_run run = {.device = busy->index};
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (!ids_is_kernel(analysis->trace, event)) continue;
        int64_t duration_ps = event->end_ps - event->start_ps;
        if (ids_far_numbers_add(&gathering->durations_ps, duration_ps)) return -1;
        if (duration_ps > sums->longest_ps) sums->longest_ps = duration_ps;
        sums->count++;
        ids_sum(&sums->total_ps, duration_ps);
        if (duration_ps >= analysis->params.small_kernel_ps) {
            if (end_run(gathering, &run, sums)) return -1;
            continue;
        }
        sums->small++;
        ids_sum(&sums->small_ps, duration_ps);
        if (!run.count++) run.start_ps = event->start_ps, run.first = event->name;
        run.end_ps = event->end_ps, run.last = event->name;
        ids_sum(&run.busy_ps, duration_ps);
    }
    return end_run(gathering, &run, sums);
}

static int most_kernels(const void *a, const void *b) {
    const struct small_run *left = a, *right = b;
    if (left->count != right->count) return left->count < right->count ? 1 : -1;
    if (left->start_ps != right->start_ps) return left->start_ps > right->start_ps ? 1 : -1;
    return (left->device > right->device) - (left->device < right->device);
}

static int small_kernels_begin(const struct ids_analysis *analysis, void *sums, struct ids_error *err) {
    enum { KEPT = 100 };
    struct gathering *gathering = sums;
    gathering->runs = (struct ids_best){.size = sizeof(struct small_run), .kept = KEPT, .order = most_kernels};
    gathering->durations_ps.far = analysis->trace->far;
    gathering->of_device = calloc(analysis->busy_count + 1, sizeof *gathering->of_device);
    return gathering->of_device ? 0 : ids_no_memory(err);
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err) {
    struct gathering *gathering = sums;
    struct sums *own = &gathering->of_device[busy - analysis->busy];
    return add_device(analysis, busy, gathering, own) ? ids_no_memory(err) : 0;
}

static void small_kernels_done(void *sums) {
    struct gathering *gathering = sums;
    ids_far_numbers_done(&gathering->durations_ps);
    free(gathering->of_device);
    ids_best_done(&gathering->runs);
}

enum { DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS };

/* Sums by the digit at `shift`, of those durations that begin with `prefix`: each lot, of a few pieces, for itself. */
struct digits {
    const struct ids_far_numbers *durations_ps;
    uint64_t prefix;
    int shift;
    size_t lots;
    __int128 *sums_ps; /* by lot and digit; the first lot's are those of all in the end */
};

static void sum_digits_of(void *context, size_t lot) {
    const struct digits *digits = context;
    __int128 *sums_ps = digits->sums_ps + lot * DIGITS;
    const int64_t *at;
    memset(sums_ps, 0, DIGITS * sizeof *sums_ps);
    for (size_t piece = lot, count; (at = ids_far_numbers_piece(digits->durations_ps, piece, &count));
         piece += digits->lots) {
        for (size_t i = 0; i < count; i++) {
            uint64_t begin = (uint64_t)at[i] >> digits->shift;
            if (begin >> DIGIT_BITS == digits->prefix) sums_ps[begin & (DIGITS - 1)] += at[i];
        }
    }
}

static void sum_digits(struct digits *digits) {
    ids_parallel(digits->lots, sum_digits_of, digits);
    for (size_t lot = 1; lot < digits->lots; lot++)
        for (size_t digit = 0; digit < DIGITS; digit++) digits->sums_ps[digit] += digits->sums_ps[lot * DIGITS + digit];
}

/* Going from the longest down, the kernel with which half of the time is reached, digit by digit: nothing is sorted, so
 * that the durations of a large run may lie far. 0, or -1 when memory ran out. */
static int weighted_median(const struct ids_far_numbers *durations_ps, int64_t longest_ps, int64_t total_ps,
                           int64_t *ret_ps) {
    enum { LOTS_MOST = 16, PIECES_OF_A_LOT = 4 };
    struct digits digits = {.durations_ps = durations_ps, .lots = durations_ps->piece_count / PIECES_OF_A_LOT + 1};
    __int128 above_ps = 0;
    *ret_ps = 0;
    if (!total_ps) return 0; /* half of no time is reached by none */
    if (digits.lots > ids_jobs()) digits.lots = ids_jobs();
    if (digits.lots > LOTS_MOST) digits.lots = LOTS_MOST;
    digits.sums_ps = malloc(digits.lots * DIGITS * sizeof *digits.sums_ps);
    if (!digits.sums_ps) return -1;
    while (longest_ps >> digits.shift >= DIGITS) digits.shift += DIGIT_BITS;
    for (; digits.shift >= 0; digits.shift -= DIGIT_BITS) {
        const __int128 *sums_ps = digits.sums_ps;
        uint64_t digit = DIGITS - 1;
        sum_digits(&digits);
        while (digit && above_ps + sums_ps[digit] < total_ps - above_ps - sums_ps[digit]) above_ps += sums_ps[digit--];
        digits.prefix = digits.prefix << DIGIT_BITS | digit;
    }
    free(digits.sums_ps);
    *ret_ps = (int64_t)digits.prefix;
    return 0;
}

static void figures(struct ids_report *report, const char *device, const struct sums *sums) {
    ids_report_metric(report, "kernels.small_count", device, ids_int_value(IDS_UNIT_COUNT, (int64_t)sums->small));
    ids_report_metric(report, "kernels.count", device, ids_int_value(IDS_UNIT_COUNT, (int64_t)sums->count));
    ids_report_metric(report, "kernels.total", device, ids_int_value(IDS_UNIT_TIME, sums->total_ps));
    ids_report_metric(report, "kernels.longest_small_run", device,
                      ids_int_value(IDS_UNIT_COUNT, (int64_t)sums->longest));
    if (sums->count)
        ids_report_metric(report, "kernels.small_share", device,
                          ids_real_value(IDS_UNIT_RATIO, (double)sums->small / (double)sums->count));
    if (sums->total_ps) {
        ids_report_metric(report, "kernels.small_time_share", device,
                          ids_real_value(IDS_UNIT_RATIO, (double)sums->small_ps / (double)sums->total_ps));
    }
}

static void list_runs(const struct ids_analysis *analysis, struct ids_report *report, struct gathering *gathering) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &runs);
    ids_best_order(&gathering->runs);
    for (size_t r = 0; r < gathering->runs.count; r++) {
        const struct small_run *run = (const struct small_run *)gathering->runs.at + r;
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_COUNT, (int64_t)run->count),
            ids_text_value(trace->devices[run->device].key),
            ids_int_value(IDS_UNIT_TIME, run->start_ps - analysis->first_ps),
            ids_int_value(IDS_UNIT_TIME, run->end_ps - run->start_ps),
            ids_int_value(IDS_UNIT_TIME, run->busy_ps),
            ids_text_value(ids_trace_name(trace, run->first)),
            ids_text_value(ids_trace_name(trace, run->last)),
        };
        IDS_ROW(report, table, columns, row);
    }
    table->rows_left_out = (int64_t)(gathering->runs.seen - gathering->runs.count);
}

static int small_kernels_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct gathering *gathering = analysis->sums;
    struct sums all = {0};
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct sums *own = &gathering->of_device[b];
        figures(report, analysis->busy[b].device->key, own);
        all.count += own->count;
        all.small += own->small;
        ids_sum(&all.total_ps, own->total_ps);
        ids_sum(&all.small_ps, own->small_ps);
        if (own->longest > all.longest) all.longest = own->longest;
        if (own->longest_ps > all.longest_ps) all.longest_ps = own->longest_ps;
    }
    if (analysis->busy_count) figures(report, NULL, &all);
    if (all.count) {
        int64_t median_ps;
        if (weighted_median(&gathering->durations_ps, all.longest_ps, all.total_ps, &median_ps))
            return ids_no_memory(err);
        ids_report_metric(report, "kernels.median", NULL, ids_int_value(IDS_UNIT_TIME, median_ps));
        list_runs(analysis, report, gathering);
    } else {
        const char *why =
            analysis->busy_count ? "no kernel in the window: devices only copied" : ids_no_activity_reason(analysis);
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), why);
    }
    return 0;
}

static const struct ids_table_def *const tables[] = {&runs};

const struct ids_analyzer ids_small_kernels_analyzer = {
    .name = "small_kernels",
    .title = "small kernels",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .gathering = {.size = sizeof(struct gathering),
                  .begin = small_kernels_begin,
                  .device = sum_up_device,
                  .done = small_kernels_done},
    .run = small_kernels_run,
};
