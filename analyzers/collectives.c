/* collectives.c - how long devices talked to each other, and how much of it compute did not hide. */
#include "lib/analysis/context.h"
#include "lib/analysis/groups.h"
#include "lib/analysis/metric_sql.h"
#include "lib/analysis/participants.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/classify.h"
#include "lib/model/collective.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many collectives nothing says the kind of. */
#define IDS_SQL_UNKNOWN                                                                                     \
    "(SELECT count(*) FROM collectives WHERE run = :run AND is_active = 1 AND is_start = 0 AND collective " \
    "= 'collective')"

static const struct ids_metric_def metrics[] = {
    {"collectives.share", "collectives", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Collective time ÷ window, over all active devices.", IDS_SQL_TIME_SHARE("collective")},
    {"collectives.total", "collective time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Union of collectives on each device, waiting for peers included, summed over devices. A collective is recognised "
     "by hlo_category (TPU), else by the opcode in the HLO proto, else by "
     "Kineto's arg `Collective name`, else by the kernel's name (nccl, rccl, nvshmem, one-shot, multimem, custom "
     "all-reduce), and where that is one for all, or SendRecv, by the annotation around the launch "
     "(nccl:all_reduce): op names mislead.",
     IDS_SQL_TIME("collective")},
    {"collectives.count", "count", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Collectives that begin in the window, each device's counted; of an async pair the -start is not counted.",
     "SELECT count(*) FROM collectives WHERE run = :run AND is_active = 1 AND is_start = 0"},
    {"collectives.exposed", "exposed", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Collective time in which the device computes nothing else; summed over devices.",
     IDS_SQL_TIME("collective * (1 - compute)")},
    {"collectives.exposed_share", "exposed", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "collectives.exposed ÷ window, over all active devices.", IDS_SQL_TIME_SHARE("collective * (1 - compute)")},
    {"collectives.overlapped", "overlapped", IDS_UNIT_TIME, IDS_BETTER_HIGHER,
     "Collective time in which the device also computes: collectives.total less collectives.exposed.",
     IDS_SQL_TIME("collective * compute")},
    {"collectives.allreduce_share", "AllReduce", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Union of all-reduces ÷ window, over all active devices. No data where the kind of some collectives is unknown.",
     IDS_SQL_SPANS("device", "cut_ps",
                   IDS_SQL_IN_WINDOW("collectives", "a.collective = 'all-reduce'")) "SELECT CASE WHEN " IDS_SQL_UNKNOWN
                                                                                    " > 0 THEN NULL ELSE " IDS_SQL_UNION
                                                                                    " * 1.0 / " IDS_SQL_WINDOWS
                                                                                    " END FROM span"},
    {"collectives.unknown", "of unknown kind", IDS_UNIT_COUNT, IDS_BETTER_LOWER,
     "Collectives of unknown kind: all-reduce, broadcast or another.", "SELECT " IDS_SQL_UNKNOWN},
    {"collectives.bus_bandwidth", "bus bandwidth", IDS_UNIT_RATE, IDS_BETTER_HIGHER,
     "Bytes times nccl-tests' factor of each collective ÷ their time, of those whose bytes, kind and number of ranks "
     "are known. The factor (NVIDIA's nccl-tests, doc/PERFORMANCE.md), with n ranks: all-reduce 2 (n-1)/n; all-gather, "
     "reduce-scatter, all-to-all, gather, scatter (n-1)/n; broadcast, reduce, send/recv, permute 1. It is what a link "
     "carries, waiting for peers included.",
     "SELECT sum(bytes * bus_factor) * 1e12 / nullif(sum(cut_ps), 0) FROM " IDS_SQL_IN_WINDOW(
         "collectives", "a.is_start = 0 AND a.bytes IS NOT NULL AND a.bus_factor IS NOT NULL")},
    {"collectives.wait", "waiting for peers", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Time in the window in which a device only waits for the one that came last, summed over devices: the ledger's "
     "comm.wait. Collectives of two devices are one where they have the op or kernel, the kind and the ranks in common "
     "and are inside of it at one moment, clocks aligned. What no other device's goes with counts nothing: the rule "
     "says how many.",
     "SELECT coalesce(sum(dur_ps), 0) FROM ledger WHERE run = :run AND in_window = 1 AND account = 'comm.wait'"},
};

static const struct ids_column_def columns[] = {
    {"total", "total", IDS_UNIT_TIME, 0},
    {"class", "class", IDS_UNIT_NONE, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"mean", "mean", IDS_UNIT_TIME, 0},
    {"min", "min", IDS_UNIT_TIME, 0},
    {"max", "max", IDS_UNIT_TIME, 0},
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},
    {"rate", "algorithm bandwidth", IDS_UNIT_RATE, IDS_COLUMN_DETAIL},
    {"bus_rate", "bus bandwidth", IDS_UNIT_RATE, 0},
    {"group_size", "ranks", IDS_UNIT_COUNT, 0},
    {"name", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"rule", "known by", IDS_UNIT_NONE, 0},
    {"groups", "replica groups", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
};
static const struct ids_table_def collectives = {
    "collectives",
    "collectives",
    columns,
    IDS_COUNT_OF(columns),
    "One row per op that is a collective, over all devices; of kernels one per name, kind, bytes and ranks. `bytes` is "
    "the message, the larger of what one device gives and gets, summed; `rate` is bytes ÷ total, the algorithm's "
    "bandwidth, and `bus_rate` that times nccl-tests' factor (collectives.bus_bandwidth). `rule` says how it was "
    "recognised.",
    0,
};

static const struct ids_note notes[] = {
    {.before = "AllReduce ", .metric = "collectives.allreduce_share"},
    {.before = "exposed ", .metric = "collectives.exposed_share"},
    {.metric = "collectives.wait", .after = " of waiting for peers on all devices"},
    {.metric = "collectives.count", .noun = "collective"},
    {.before = "bus bandwidth ", .metric = "collectives.bus_bandwidth"},
};
static const struct ids_headline headlines[] = {
    {"collectives", "collectives", "collectives.share", notes, IDS_COUNT_OF(notes), 0}};

/* Of one device, or of all. */
struct sums {
    uint64_t count, unknown, met; /* met: those that another device's goes with */
    uint64_t sized;               /* those whose bus bandwidth is known */
    int64_t total_ps, overlapped_ps, allreduce_ps, window_ps;
    int64_t sized_ps; /* of the sized ones */
    double bus_bytes; /* of them: bytes times factor */
};

struct gathering {
    struct ids_groups groups;
    uint64_t by_rule[IDS_RULE_COUNT];
    struct sums *of_device; /* by analysis->busy */
};

/* Who takes part: from the HLO proto, or from Kineto's args; empty where unknown. */
static uint32_t groups_of(const struct ids_trace *trace, const struct ids_event *event) {
    uint32_t text = event->op == IDS_NONE ? 0 : trace->ops[event->op].groups;
    return text || event->shape == IDS_NONE ? text : trace->shapes[event->shape].groups;
}

/* The HLO op; an op of the framework does not name the kernel's collective. */
static const struct ids_op *op_of(const struct ids_trace *trace, const struct ids_event *event) {
    return event->op == IDS_NONE || trace->ops[event->op].framework ? NULL : &trace->ops[event->op];
}

/* One name for an op on all devices and hosts: by module and op, else the kernel's name; and since that may be one for
 * all collectives, what they are and move. */
static uint64_t op_key(const struct ids_trace *trace, const struct ids_event *event) {
    uint64_t what = ids_key_of(ids_key_of(event->collective, (uint64_t)event->value), groups_of(trace, event));
    const struct ids_op *op = op_of(trace, event);
    if (!op) return ids_key_of(ids_key_of(trace->names[event->name].text, 1), what);
    uint32_t module = op->module == IDS_NONE ? 0 : trace->modules[op->module].name;
    return ids_key_of(ids_key_of(ids_key_of(module, op->name), 2), what);
}

static void count_event(const struct ids_trace *trace, const struct ids_event *event, int64_t duration_ps,
                        struct sums *sums) {
    double factor =
        ids_collective_bus_factor((enum ids_collective)event->collective, ids_collective_group_size(trace, event));
    sums->count++;
    sums->unknown += event->collective == IDS_OTHER_COLLECTIVE;
    if (event->value < 0 || factor < 0) return;
    sums->bus_bytes += (double)event->value * factor;
    ids_sum(&sums->sized_ps, duration_ps);
    sums->sized++;
}

/* A TPU's -start: the op itself is on the async line. A GPU's kernel that bears the name of a -start does the work. */
static int is_only_start(const struct ids_trace *trace, const struct ids_event *event, int is_beside) {
    return !is_beside && event->kind == IDS_KIND_OP && event->op != IDS_NONE && trace->ops[event->op].marker;
}

static int collectives_begin(const struct ids_analysis *analysis, void *sums, struct ids_error *err) {
    struct gathering *gathering = sums;
    gathering->of_device = calloc(analysis->busy_count + 1, sizeof *gathering->of_device);
    return gathering->of_device ? 0 : ids_no_memory(err);
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums_of,
                         struct ids_error *err) {
    struct gathering *gathering = sums_of;
    struct sums *sums = &gathering->of_device[busy - analysis->busy];
    const struct ids_events *lists[] = {&busy->device->activity, &busy->device->async};
    struct ids_spans allreduce = {0};
    int failed = 0;
    for (size_t l = 0; l < 2 && !failed; l++) {
        struct ids_cursor cursor = ids_busy_cursor(busy, lists[l]);
        for (const struct ids_event *event; !failed && (event = ids_cursor_next(&cursor));) {
            if (!event->collective || event->class != IDS_CLASS_COLLECTIVE) continue;
            int64_t end_ps = ids_end_in_window(busy, event);
            if (event->collective == IDS_ALL_REDUCE) ids_spans_add(&allreduce, event->start_ps, end_ps);
            if (is_only_start(analysis->trace, event, l == 1)) continue;
            count_event(analysis->trace, event, end_ps - event->start_ps, sums);
            gathering->by_rule[event->class_rule]++;
            sums->met += ids_meeting_of_event(&analysis->ledger.meetings, event) != NULL;
            failed =
                ids_groups_add(&gathering->groups, op_key(analysis->trace, event), event, end_ps - event->start_ps);
        }
    }
    failed = ids_spans_unite(&allreduce) || failed;
    sums->total_ps = ids_time_in(busy, IDS_IS_COLLECTIVE);
    sums->overlapped_ps = ids_time_in_both(busy, IDS_IS_COLLECTIVE, IDS_IS_COMPUTE);
    sums->allreduce_ps = ids_spans_total(&allreduce);
    sums->window_ps = busy->end_ps - busy->start_ps;
    ids_spans_done(&allreduce);
    return failed ? ids_no_memory(err) : 0;
}

static void collectives_done(void *sums) {
    struct gathering *gathering = sums;
    ids_groups_done(&gathering->groups);
    free(gathering->of_device);
}

static void add_sums(struct sums *all, const struct sums *own) {
    all->count += own->count;
    all->unknown += own->unknown;
    all->met += own->met;
    all->sized += own->sized;
    ids_sum(&all->total_ps, own->total_ps);
    ids_sum(&all->overlapped_ps, own->overlapped_ps);
    ids_sum(&all->allreduce_ps, own->allreduce_ps);
    ids_sum(&all->window_ps, own->window_ps);
    ids_sum(&all->sized_ps, own->sized_ps);
    all->bus_bytes += own->bus_bytes;
}

static void put_allreduce(struct ids_report *report, const char *device, const struct sums *sums) {
    static const char id[] = "collectives.allreduce_share";
    if (!sums->unknown && sums->window_ps)
        ids_report_metric(report, id, device,
                          ids_real_value(IDS_UNIT_RATIO, (double)sums->allreduce_ps / (double)sums->window_ps));
    else if (sums->unknown)
        ids_report_no_data(report, id, IDS_UNIT_RATIO, device,
                           "nothing in the trace says of %llu of %llu collectives whether they are all-reduces; those "
                           "known to be take %.3f ms",
                           (unsigned long long)sums->unknown, (unsigned long long)sums->count,
                           (double)sums->allreduce_ps / 1e9);
}

/* One small collective of many says nothing of the links. */
static int has_bandwidth(const struct sums *sums) {
    return sums->sized_ps && sums->sized_ps >= sums->total_ps / 2;
}

static void put_bandwidth(struct ids_report *report, const char *device, const struct sums *sums) {
    static const char id[] = "collectives.bus_bandwidth";
    if (has_bandwidth(sums))
        ids_report_metric(report, id, device,
                          ids_real_value(IDS_UNIT_RATE, sums->bus_bytes * 1e12 / (double)sums->sized_ps));
    else if (sums->sized_ps)
        ids_report_no_data(report, id, IDS_UNIT_RATE, device,
                           "the trace holds the bytes and ranks of %llu of %llu collectives, which take less than half "
                           "of their time",
                           (unsigned long long)sums->sized, (unsigned long long)sums->count);
    else
        ids_report_no_data(report, id, IDS_UNIT_RATE, device,
                           sums->count ? "the trace does not hold the bytes and ranks of the collectives"
                                       : "no collective ran");
}

static void figures(struct ids_report *report, const char *device, const struct sums *sums) {
    int64_t exposed_ps = sums->total_ps - sums->overlapped_ps;
    ids_report_metric(report, "collectives.count", device, ids_int_value(IDS_UNIT_COUNT, (int64_t)sums->count));
    ids_report_metric(report, "collectives.unknown", device, ids_int_value(IDS_UNIT_COUNT, (int64_t)sums->unknown));
    ids_report_metric(report, "collectives.total", device, ids_int_value(IDS_UNIT_TIME, sums->total_ps));
    ids_report_metric(report, "collectives.exposed", device, ids_int_value(IDS_UNIT_TIME, exposed_ps));
    ids_report_metric(report, "collectives.overlapped", device, ids_int_value(IDS_UNIT_TIME, sums->overlapped_ps));
    put_allreduce(report, device, sums);
    put_bandwidth(report, device, sums);
    if (!sums->window_ps) return;
    ids_report_metric(report, "collectives.exposed_share", device,
                      ids_real_value(IDS_UNIT_RATIO, (double)exposed_ps / (double)sums->window_ps));
    ids_report_metric(report, "collectives.share", device,
                      ids_real_value(IDS_UNIT_RATIO, (double)sums->total_ps / (double)sums->window_ps));
}

static void list(const struct ids_analysis *analysis, struct ids_report *report, struct ids_groups *groups) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &collectives);
    ids_groups_sort_by_total(groups);
    for (size_t g = 0; g < groups->count; g++) {
        const struct ids_group *group = &groups->at[g];
        const struct ids_op *op = op_of(trace, group->first);
        const int sized = !group->unknown_values;
        const int64_t group_size = ids_collective_group_size(trace, group->first);
        const double factor = ids_collective_bus_factor((enum ids_collective)group->first->collective, group_size);
        const double rate = group->total_ps ? (double)group->value * 1e12 / (double)group->total_ps : -1;
        const uint32_t ranks = groups_of(trace, group->first);
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, group->total_ps),
            ids_text_value(ids_collective_name((enum ids_collective)group->first->collective)),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)group->count),
            ids_int_value(IDS_UNIT_TIME, group->total_ps / (int64_t)group->count),
            ids_int_value(IDS_UNIT_TIME, group->min_ps),
            ids_int_value(IDS_UNIT_TIME, group->max_ps),
            sized ? ids_int_value(IDS_UNIT_BYTES, group->value) : ids_no_value(IDS_UNIT_BYTES),
            sized && rate >= 0 ? ids_real_value(IDS_UNIT_RATE, rate) : ids_no_value(IDS_UNIT_RATE),
            sized && rate >= 0 && factor >= 0 ? ids_real_value(IDS_UNIT_RATE, rate * factor)
                                              : ids_no_value(IDS_UNIT_RATE),
            group_size ? ids_int_value(IDS_UNIT_COUNT, group_size) : ids_no_value(IDS_UNIT_COUNT),
            ids_text_value(op ? ids_trace_text(trace, op->name) : ids_event_name(trace, group->first)),
            ids_text_value(op && op->module != IDS_NONE ? ids_trace_text(trace, trace->modules[op->module].name)
                                                        : NULL),
            ids_text_value(ids_class_rule_name((enum ids_class_rule)group->first->class_rule)),
            ids_text_value(ranks ? ids_trace_text(trace, ranks) : NULL),
        };
        IDS_ROW(report, table, columns, row);
    }
}

static struct ids_metric *over_all(struct ids_report *report, const char *id) {
    for (size_t i = 0; i < report->metric_count; i++) {
        if (!report->metrics[i].device && !strcmp(report->metrics[i].id, id)) return &report->metrics[i];
    }
    return NULL;
}

/* What to hold the bandwidth against. No file that is known says how fast the links between devices are. */
static void say_link(struct ids_report *report) {
    struct ids_metric *metric = over_all(report, "collectives.bus_bandwidth");
    if (metric)
        ids_report_rule(
            report, metric,
            "the trace does not hold the bandwidth of the links: compare with the bandwidth of one direction, as the "
            "vendor gives it");
}

/* By which rules, and what could not be recognised. */
static void say_rule(const struct ids_analysis *analysis, struct ids_report *report,
                     const struct gathering *gathering) {
    struct ids_metric *metric = over_all(report, "collectives.share");
    if (!metric) return;
    const char *text = "";
    for (int rule = 0; rule < IDS_RULE_COUNT; rule++) {
        if (gathering->by_rule[rule])
            text = ids_report_text(report, "%s%s%llu by %s", text, *text ? ", " : "",
                                   (unsigned long long)gathering->by_rule[rule],
                                   ids_class_rule_name((enum ids_class_rule)rule));
    }
    if (*text)
        ids_report_rule(report, metric, "%s", text);
    else if (analysis->busy[0].device->kind != IDS_DEVICE_TPU && !analysis->trace->hlo_instructions)
        ids_report_rule(report, metric, "by kernel name only: the trace holds no HLO proto");
}

/* Without HLO a CPU op is known to be a collective only where it waits for its peers. */
static int is_blind(const struct ids_analysis *analysis) {
    const struct ids_trace *trace = analysis->trace;
    if (trace->hlo_instructions) return 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        if (analysis->busy[b].device->kind != IDS_DEVICE_CPU) return 0;
    }
    for (size_t i = 0; i < trace->op_count; i++) {
        if (trace->ops[i].collective) return 0;
    }
    return 1;
}

/* A kind of device whose collectives are not known by their names, though the host called them (hccl:all_to_all). */
static const char *called_only(const struct ids_analysis *analysis, const struct gathering *gathering) {
    const struct ids_trace *trace = analysis->trace;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        if (analysis->busy[b].device->kind != IDS_DEVICE_CUSTOM || gathering->of_device[b].count) return NULL;
    }
    for (size_t n = 0; n < trace->name_count; n++) {
        if (ids_collective_of_annotation(ids_strings_text(&trace->strings, trace->names[n].text)))
            return ids_trace_text(trace, trace->names[n].text);
    }
    return NULL;
}

/* The ledger's time, so that it is one number wherever it is told. A CPU's ops say themselves that they wait. */
static void put_wait(const struct ids_analysis *analysis, struct ids_report *report, const struct sums *all) {
    static const char id[] = "collectives.wait";
    int64_t wait_ps = 0;
    for (size_t b = 0; b < analysis->busy_count; b++)
        ids_sum(&wait_ps, analysis->ledger.in_window[b].ps[IDS_COMM_WAIT]);
    if (!wait_ps && !all->met) {
        ids_report_no_data(report, id, IDS_UNIT_TIME, NULL, "no collective was recorded on more than one device");
        return;
    }
    struct ids_metric *metric = ids_report_metric(report, id, NULL, ids_int_value(IDS_UNIT_TIME, wait_ps));
    if (metric && all->met < all->count)
        ids_report_rule(report, metric,
                        "no other device's goes with %llu of %llu collectives, so who came last to them is not known",
                        (unsigned long long)(all->count - all->met), (unsigned long long)all->count);
}

/* Why somebody who takes part was not read. */
static const char *why_lacking(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_ranks ranks = ids_ranks_of(trace);
    switch ((enum ids_lacking)analysis->ledger.lacking) {
    case IDS_LACKS_NOBODY:
        return NULL;
    case IDS_LACKS_RANKS:
        return ids_report_text(report, "%" PRId64 " of %" PRId64 " ranks were read", ranks.read, ranks.all);
    case IDS_LACKS_CLOCK:
        return "hosts that exchange have clocks that do not compare";
    case IDS_LACKS_MEMBERS:
        return "collectives name more devices than were recorded";
    case IDS_LACKS_DATA:
        break;
    }
    for (size_t i = 0; i < trace->diag_count; i++) {
        if (trace->diags[i].severity == IDS_DAMAGE)
            return ids_report_text(report, "not whole: %s", ids_diag_in_words(trace, &trace->diags[i], report));
    }
    return "the input ends early";
}

static int collectives_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    struct gathering *gathering = analysis->sums;
    if (!analysis->busy_count) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), ids_no_activity_reason(analysis));
        return 0;
    }
    if (is_blind(analysis)) {
        ids_metrics_missing(
            report, metrics, IDS_COUNT_OF(metrics),
            "the trace holds no HLO proto, and no CPU op waits for others (profile with enable_hlo_proto)");
        return 0;
    }
    const char *called = called_only(analysis, gathering);
    if (called) {
        ids_metrics_missing(
            report, metrics, IDS_COUNT_OF(metrics),
            ids_report_text(report, "the host called %s, and no event of the device is known to be it", called));
        return 0;
    }
    struct sums all = {0};
    for (size_t b = 0; b < analysis->busy_count; b++) {
        figures(report, analysis->busy[b].device->key, &gathering->of_device[b]);
        add_sums(&all, &gathering->of_device[b]);
    }
    figures(report, NULL, &all);
    put_wait(analysis, report, &all);
    const char *lacking = all.count ? why_lacking(analysis, report) : NULL;
    if (lacking) ids_report_property(report, IDS_PEERS_NOT_READ, ids_text_value(lacking));
    say_rule(analysis, report, gathering);
    if (has_bandwidth(&all)) say_link(report);
    list(analysis, report, &gathering->groups);
    return 0;
}

static const struct ids_table_def *const tables[] = {&collectives};

const struct ids_analyzer ids_collectives_analyzer = {
    .name = "collectives",
    .title = "collectives",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .gathering = {.size = sizeof(struct gathering),
                  .begin = collectives_begin,
                  .device = sum_up_device,
                  .done = collectives_done},
    .run = collectives_run,
};
