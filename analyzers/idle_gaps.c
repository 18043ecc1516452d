/* idle_gaps.c - when devices did nothing; why, the ledger says. */
#include "lib/analysis/best.h"
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

enum { KEPT = 1000, DECADES = 8 /* below 1 us, 10 us, ... 10 s, and longer */ };

struct lengths {
    uint64_t count;
    int64_t total_ps, longest_ps;
};

/* One of the longest gaps. */
struct long_gap {
    int64_t start_ps, length_ps, launch_ps;
    uint32_t busy, entry;    /* of analysis->busy, of the ledger */
    uint32_t next, previous; /* names; IDS_NONE at the window's edges */
    int has_launch;
};

struct gap_sums {
    struct lengths *of_device; /* by analysis->busy */
    struct lengths all;
    int64_t counts[DECADES + 1], totals_ps[DECADES + 1];
    struct ids_best longest; /* struct long_gap */
};

/* --- a device's gaps --- */

static int64_t length_of(const struct ids_gap *gap) {
    return gap->end_ps - gap->start_ps;
}

static void add(struct lengths *lengths, int64_t length_ps) {
    lengths->count++;
    ids_sum(&lengths->total_ps, length_ps);
    if (length_ps > lengths->longest_ps) lengths->longest_ps = length_ps;
}

static void add_to_decade(struct gap_sums *sums, int64_t length_ps) {
    int decade = 0;
    for (int64_t bound_ps = 1000000; decade < DECADES && length_ps >= bound_ps; bound_ps *= 10) decade++;
    sums->counts[decade]++;
    ids_sum(&sums->totals_ps[decade], length_ps);
}

static int longest_first(const void *a, const void *b) {
    const struct long_gap *left = a, *right = b;
    if (left->length_ps != right->length_ps) return left->length_ps < right->length_ps ? 1 : -1;
    if (left->busy != right->busy) return left->busy < right->busy ? -1 : 1;
    return (left->start_ps > right->start_ps) - (left->start_ps < right->start_ps);
}

static int keep_if_long(struct gap_sums *sums, uint32_t busy, const struct ids_gap *gap) {
    const struct ids_event *launch = gap->next ? gap->next->launch : NULL;
    struct long_gap one = {.start_ps = gap->start_ps,
                           .length_ps = length_of(gap),
                           .launch_ps = launch ? launch->start_ps : 0,
                           .has_launch = launch != NULL,
                           .busy = busy,
                           .entry = gap->entry,
                           .next = gap->next ? gap->next->name : IDS_NONE,
                           .previous = gap->previous ? gap->previous->name : IDS_NONE};
    return ids_best_add(&sums->longest, &one);
}

static int sums_begin(const struct ids_analysis *analysis, void *sums_of, struct ids_error *err) {
    struct gap_sums *sums = sums_of;
    sums->longest = (struct ids_best){.size = sizeof(struct long_gap), .kept = KEPT, .order = longest_first};
    sums->of_device = calloc(analysis->busy_count + 1, sizeof *sums->of_device);
    return sums->of_device ? 0 : ids_no_memory(err);
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums_of,
                         struct ids_error *err) {
    struct gap_sums *sums = sums_of;
    uint32_t number = (uint32_t)(busy - analysis->busy);
    for (size_t g = 0; g < busy->gap_count; g++) {
        int64_t length_ps = length_of(&busy->gaps[g]);
        add(&sums->of_device[number], length_ps);
        add(&sums->all, length_ps);
        add_to_decade(sums, length_ps);
        if (keep_if_long(sums, number, &busy->gaps[g])) return ids_no_memory(err);
    }
    return 0;
}

static void sums_done(void *sums_of) {
    struct gap_sums *sums = sums_of;
    ids_best_done(&sums->longest);
    free(sums->of_device);
}

/* --- the report --- */

static void figures(struct ids_report *report, const char *device, const struct lengths *lengths, int64_t window_ps) {
    ids_report_metric(report, "idle.gaps", device, ids_int_value(IDS_UNIT_COUNT, (int64_t)lengths->count));
    ids_report_metric(report, "idle.total", device, ids_int_value(IDS_UNIT_TIME, lengths->total_ps));
    ids_report_metric(report, "idle.longest", device, ids_int_value(IDS_UNIT_TIME, lengths->longest_ps));
    if (!window_ps) return;
    ids_report_metric(report, "idle.share", device,
                      ids_real_value(IDS_UNIT_RATIO, (double)lengths->total_ps / (double)window_ps));
}

static void list_lengths(const struct gap_sums *sums, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &histogram);
    int64_t bound_ps = 1000000;
    for (int decade = 0; decade <= DECADES; decade++, bound_ps *= 10) {
        if (!sums->counts[decade]) continue;
        struct ids_value row[] = {
            decade < DECADES ? ids_int_value(IDS_UNIT_TIME, bound_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_int_value(IDS_UNIT_COUNT, sums->counts[decade]),
            ids_int_value(IDS_UNIT_TIME, sums->totals_ps[decade]),
        };
        IDS_ROW(report, table, histogram_columns, row);
    }
}

static struct ids_value name_value(const struct ids_trace *trace, uint32_t name) {
    return ids_text_value(name == IDS_NONE ? NULL : ids_trace_name(trace, name));
}

static void list_gaps(const struct ids_analysis *analysis, struct gap_sums *sums, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_table *table = ids_report_table(report, &gaps);
    ids_best_order(&sums->longest);
    for (size_t g = 0; g < sums->longest.count; g++) {
        const struct long_gap *gap = (const struct long_gap *)sums->longest.at + g;
        const struct ids_ledger_entry *entry = gap->entry == IDS_NONE ? NULL : &ledger->entries[gap->entry];
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, gap->length_ps),
            ids_text_value(analysis->busy[gap->busy].device->key),
            ids_int_value(IDS_UNIT_TIME, gap->start_ps - analysis->first_ps),
            ids_text_value(entry ? ids_account_id((enum ids_account)entry->account) : NULL),
            gap->has_launch ? ids_int_value(IDS_UNIT_TIME, gap->launch_ps - analysis->first_ps)
                            : ids_no_value(IDS_UNIT_TIME),
            name_value(trace, gap->next),
            name_value(trace, gap->previous),
            ids_text_value(entry && entry->culprit ? ids_strings_z(&ledger->texts, entry->culprit) : NULL),
            ids_text_value(entry && entry->where ? ids_strings_z(&ledger->texts, entry->where) : NULL),
        };
        IDS_ROW(report, table, gap_columns, row);
    }
    table->rows_left_out = (int64_t)(sums->all.count - sums->longest.count);
}

static int idle_gaps_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    struct gap_sums *sums = analysis->sums;
    if (!analysis->busy_count) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), ids_no_activity_reason(analysis));
        return 0;
    }
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        figures(report, busy->device->key, &sums->of_device[b], busy->end_ps - busy->start_ps);
    }
    figures(report, NULL, &sums->all, ids_windows_total(analysis));
    list_lengths(sums, report);
    list_gaps(analysis, sums, report);
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
    .gathering = {.size = sizeof(struct gap_sums), .begin = sums_begin, .device = sum_up_device, .done = sums_done},
    .run = idle_gaps_run,
};
