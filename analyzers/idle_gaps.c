/* idle_gaps.c - when devices did nothing; why, the ledger says. */
#include "lib/analysis/context.h"
#include "lib/analysis/metric_sql.h"
#include "lib/base/saturate.h"

#include <stdlib.h>
#include <string.h>

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
};

static const struct ids_column_def gap_columns[] = {
    {"duration", "length", IDS_UNIT_TIME, 0},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"start", "at", IDS_UNIT_TIME, 0},
    {"account", "mostly", IDS_UNIT_NONE, IDS_COLUMN_NAME},
    {"launch", "launched at", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"next", "next activity", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"previous", "previous activity", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"culprit", "culprit", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
};
static const struct ids_table_def gaps = {
    "gaps",
    "longest idle gaps",
    gap_columns,
    IDS_COUNT_OF(gap_columns),
    "The longest gaps, at most 1,000. Times since the run's first activity. A gap may have several accounts (table "
    "ledger); `account` and `culprit` have most of it.",
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
};
static const struct ids_headline headlines[] = {{"idle_gaps", "idle", "idle.share", notes, IDS_COUNT_OF(notes), 0}};

struct sums {
    uint64_t count;
    int64_t total_ps, longest_ps;
};

static void add(struct sums *sums, const struct ids_gap *gap) {
    int64_t length_ps = gap->end_ps - gap->start_ps;
    sums->count++;
    ids_sum(&sums->total_ps, length_ps);
    if (length_ps > sums->longest_ps) sums->longest_ps = length_ps;
}

static void figures(struct ids_report *report, const char *device, const struct sums *sums, int64_t window_ps) {
    ids_report_metric(report, "idle.gaps", device, ids_int_value(IDS_UNIT_COUNT, (int64_t)sums->count));
    ids_report_metric(report, "idle.total", device, ids_int_value(IDS_UNIT_TIME, sums->total_ps));
    ids_report_metric(report, "idle.longest", device, ids_int_value(IDS_UNIT_TIME, sums->longest_ps));
    if (!window_ps) return;
    ids_report_metric(report, "idle.share", device,
                      ids_real_value(IDS_UNIT_RATIO, (double)sums->total_ps / (double)window_ps));
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
        IDS_ROW(report, table, histogram_columns, row);
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

/* Puts the longest gaps into `order`, longest first. A trace may have millions: whenever twice as many as wanted are at
 * hand, the shorter half goes, and with it every later gap that is no longer than those that stay. */
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
    const struct ids_ledger *ledger = &analysis->ledger;
    const struct ids_gap *order[2 * KEPT];
    struct ids_table *table = ids_report_table(report, &gaps);
    size_t count = select_longest(analysis, order);
    for (size_t g = 0; g < count; g++) {
        const struct ids_gap *gap = order[g];
        const struct ids_event *launch = gap->next ? gap->next->launch : NULL;
        const struct ids_ledger_entry *entry = gap->entry == IDS_NONE ? NULL : &ledger->entries[gap->entry];
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, length_of(gap)),
            ids_text_value(analysis->busy[gap->busy].device->key),
            ids_int_value(IDS_UNIT_TIME, gap->start_ps - analysis->first_ps),
            ids_text_value(entry ? ids_account_id((enum ids_account)entry->account) : NULL),
            launch ? ids_int_value(IDS_UNIT_TIME, launch->start_ps - analysis->first_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_text_value(gap->next ? ids_event_name(trace, gap->next) : NULL),
            ids_text_value(gap->previous ? ids_event_name(trace, gap->previous) : NULL),
            ids_text_value(entry && entry->culprit ? ids_strings_z(&ledger->texts, entry->culprit) : NULL),
            ids_text_value(entry && entry->where ? ids_strings_z(&ledger->texts, entry->where) : NULL),
        };
        IDS_ROW(report, table, gap_columns, row);
    }
    table->rows_left_out = (int64_t)(analysis->gap_count - count);
}

static int idle_gaps_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
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
    list_lengths(analysis, report);
    list_gaps(analysis, report);
    return 0;
}

static const struct ids_table_def *const tables[] = {&gaps, &histogram};

const struct ids_analyzer ids_idle_gaps_analyzer = {
    .name = "idle_gaps",
    .title = "idle gaps",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .run = idle_gaps_run,
};
