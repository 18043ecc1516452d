/* clocks.c - how the times of the hosts were brought together, and how far they may be trusted. */
#include "lib/model/clocks.h"
#include "lib/analysis/context.h"
#include "lib/base/saturate.h"

#include <stdlib.h>

static const struct ids_metric_def metrics[] = {
    {"clocks.offset", "clock offset", IDS_UNIT_TIME, IDS_BETTER_NEITHER,
     "The largest offset between the clocks of hosts that was corrected, beyond what their files state themselves "
     "(profile_start_time, baseTimeNanoseconds). A collective ends on all devices at nearly the same moment, so the "
     "right offset is the one at which most ends of the same collective coincide.",
     "SELECT max(abs(offset_ps)) FROM host WHERE run = :run AND clock = 0 AND clock_method <> 'reference'"},
    {"clocks.residual", "clock residual", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "How far the ends of the same collective are still apart on two hosts, at most, after that. No time between two "
     "hosts is more exact. Above the shortest collective it is a warning.",
     "SELECT max(residual_ps) FROM host WHERE run = :run AND clock_method = 'collectives'"},
    {"clocks.apart", "hosts apart", IDS_UNIT_COUNT, IDS_BETTER_LOWER,
     "Hosts whose times cannot be compared with any other's: no collective in common, and no recorded clock that fits. "
     "Their windows and steps are their own.",
     "SELECT count(*) FROM host WHERE run = :run AND clock > 0"},
};

static const struct ids_column_def columns[] = {
    {"host", "host", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"method", "by", IDS_UNIT_NONE, 0},
    {"offset", "offset", IDS_UNIT_TIME, 0},
    {"residual", "residual", IDS_UNIT_TIME, 0},
    {"drift", "drift", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"matched", "collectives", IDS_UNIT_COUNT, 0},
    {"shortest", "shortest", IDS_UNIT_TIME, 0},
    {"against", "against", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"clock", "clock", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"start_unix_ns", "recorded start", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def clocks = {
    "clocks",
    "clocks of the hosts",
    columns,
    IDS_COUNT_OF(columns),
    "One row per host, where there are several. `method` is reference (the others were brought to it), collectives, "
    "recorded (by what the files state) or apart. `offset` was added to the host's times beside the difference of the "
    "recorded clocks; `drift` is how much faster its clock runs (1e-6: a microsecond a second), which the residual "
    "includes; `shortest` is the shortest collective that was matched. Only times of hosts with the same `clock` "
    "compare.",
    0,
};

static void list(const struct ids_trace *trace, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &clocks);
    for (uint32_t h = 0; h < trace->host_count; h++) {
        const struct ids_host *host = &trace->hosts[h];
        const struct ids_clock *clock = &host->clock;
        int matched = clock->method == IDS_CLOCK_COLLECTIVES;
        struct ids_value row[] = {
            ids_text_value(ids_trace_text(trace, host->name)),
            ids_text_value(ids_clock_method_name((enum ids_clock_method)clock->method)),
            clock->number ? ids_no_value(IDS_UNIT_TIME) : ids_int_value(IDS_UNIT_TIME, clock->offset_ps),
            matched ? ids_int_value(IDS_UNIT_TIME, clock->residual_ps) : ids_no_value(IDS_UNIT_TIME),
            matched ? ids_real_value(IDS_UNIT_NUMBER, clock->drift) : ids_no_value(IDS_UNIT_NUMBER),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)clock->matched),
            clock->shortest_ps >= 0 ? ids_int_value(IDS_UNIT_TIME, clock->shortest_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_text_value(clock->against == h ? NULL : ids_trace_text(trace, trace->hosts[clock->against].name)),
            ids_int_value(IDS_UNIT_COUNT, clock->number),
            host->start_unix_ns ? ids_int_value(IDS_UNIT_COUNT, host->start_unix_ns) : ids_no_value(IDS_UNIT_COUNT),
        };
        IDS_ROW(report, table, columns, row);
    }
}

struct sums {
    size_t methods[IDS_CLOCK_METHODS];
    size_t apart; /* hosts that have another clock than the run's */
    int64_t offset_ps, residual_ps;
};

static struct sums sum_up(const struct ids_trace *trace) {
    struct sums sums = {0};
    for (size_t h = 0; h < trace->host_count; h++) {
        const struct ids_clock *clock = &trace->hosts[h].clock;
        int64_t offset_ps = clock->offset_ps < 0 ? ids_sat_sub(0, clock->offset_ps) : clock->offset_ps;
        sums.methods[clock->method]++;
        sums.apart += clock->number != 0;
        if (!clock->number && clock->method != IDS_CLOCK_REFERENCE && offset_ps > sums.offset_ps)
            sums.offset_ps = offset_ps;
        if (clock->method == IDS_CLOCK_COLLECTIVES && clock->residual_ps > sums.residual_ps)
            sums.residual_ps = clock->residual_ps;
    }
    return sums;
}

/* For the first line of the report. */
static const char *describe(const struct ids_trace *trace, const struct sums *sums, struct ids_report *report) {
    size_t hosts = trace->host_count;
    if (sums->apart + 1 == hosts) return "clocks apart";
    if (sums->apart) return ids_report_text(report, "%zu of %zu clocks apart", sums->apart, hosts);
    if (!sums->methods[IDS_CLOCK_COLLECTIVES]) return "one clock as recorded";
    char offset[IDS_VALUE_ROOM], residual[IDS_VALUE_ROOM];
    ids_value_format(ids_int_value(IDS_UNIT_TIME, sums->offset_ps), offset, sizeof offset);
    ids_value_format(ids_int_value(IDS_UNIT_TIME, sums->residual_ps), residual, sizeof residual);
    return ids_report_text(report, "one clock by collectives%s (offset %s, residual %s)",
                           sums->methods[IDS_CLOCK_RECORDED] ? " and as recorded" : "", offset, residual);
}

static int clocks_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    const struct ids_trace *trace = analysis->trace;
    struct sums sums = sum_up(trace);
    ids_report_metric(report, "clocks.apart", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)sums.apart));
    if (trace->host_count < 2) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), "one host: there is no other clock");
        return 0;
    }
    if (sums.methods[IDS_CLOCK_COLLECTIVES])
        ids_report_metric(report, "clocks.residual", NULL, ids_int_value(IDS_UNIT_TIME, sums.residual_ps));
    if (sums.apart + 1 < trace->host_count)
        ids_report_metric(report, "clocks.offset", NULL, ids_int_value(IDS_UNIT_TIME, sums.offset_ps));
    ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), "no collective was found on two hosts");
    ids_report_property(report, "clocks", ids_text_value(describe(trace, &sums, report)));
    list(trace, report);
    return 0;
}

static const struct ids_table_def *const tables[] = {&clocks};

const struct ids_analyzer ids_clocks_analyzer = {
    .name = "clocks",
    .title = "clocks",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = clocks_run,
};
