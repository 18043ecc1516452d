/* overview.c - what the run is: hosts, devices, tracks, window, and how much of the device time an op can be named
 * for. */
#include "analyzers/runtime_calls.h"
#include "lib/analysis/context.h"
#include "lib/analysis/excerpt.h"
#include "lib/analysis/metric_sql.h"
#include "lib/analysis/unrecorded_work.h"
#include "lib/base/counted.h"
#include "lib/base/saturate.h"
#include "lib/model/python_frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct ids_metric_def metrics[] = {
    {"run.events", "events", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Events in the files of the run, of every track, kept or not.", "SELECT count(*) FROM events WHERE run = :run"},
    {"run.stats", "stats", IDS_UNIT_COUNT, IDS_BETTER_NEITHER, "Stats (key and value) on the events of the run.",
     "SELECT count(*) FROM stats s JOIN events e ON e.id = s.event WHERE e.run = :run AND s.of_name = 0"},
    {"run.tracks", "tracks", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Timelines in the files: threads, streams, lines of devices.", "SELECT count(*) FROM tracks WHERE run = :run"},
    {"run.window", "window", IDS_UNIT_TIME, IDS_BETTER_NEITHER,
     "From the first to the last activity over the run's active devices, one window for all, so that a device with a "
     "single kernel is not 100 % busy. Where no steps are found, it is all that was recorded, if the file says how "
     "long that was: the region that idsprof capture was to record, the sampled stacks, or a profile that was asked "
     "for a duration (idsprof capture --attach). --window and --from/--to choose another.",
     "SELECT max(start_ps + dur_ps) - min(start_ps) FROM devices WHERE run = :run AND is_active = 1"},
    {"coverage.attributed_share", "attributed", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Share of device busy time with a known op, of HLO or of the framework. The rest is plain copies, kernels of "
     "other libraries, or kernels inside CUDA graphs that carry no op.",
     IDS_SQL_SPANS("device", "dur_ps",
                   "activities WHERE run = :run AND is_active = 1 AND is_beside = 0 AND op_id IS NOT "
                   "NULL") "SELECT " IDS_SQL_UNION " * 1.0 / (SELECT sum(dur_ps * busy) FROM device_time "
                           "WHERE run = :run) FROM span"},
};

static const struct ids_column_def device_columns[] = {
    {"device", "device", IDS_UNIT_NONE, 0},
    {"kind", "kind", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"model", "model", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"host", "host", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"ordinal", "ordinal", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"activities", "activities", IDS_UNIT_COUNT, 0},
    {"first", "first", IDS_UNIT_TIME, 0},
    {"last", "last", IDS_UNIT_TIME, 0},
    {"busy", "busy", IDS_UNIT_TIME, 0},
    {"working", "working", IDS_UNIT_TIME, 0},
    {"peak_flops", "peak FLOP/s", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"peak_bandwidth", "peak bandwidth", IDS_UNIT_RATE, IDS_COLUMN_DETAIL},
    {"memory", "memory", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def devices = {
    "devices",
    "devices",
    device_columns,
    IDS_COUNT_OF(device_columns),
    "One row per device of the run, also those that did nothing. Times since the run's first activity.",
    0,
};

static const struct ids_column_def module_columns[] = {
    {"name", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"program_id", "program id", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"ops", "ops", IDS_UNIT_COUNT, 0},
    {"executions", "executions", IDS_UNIT_COUNT, 0},
    {"self", "op time", IDS_UNIT_TIME, 0},
    {"fingerprint", "fingerprint", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def modules = {
    "modules",
    "modules",
    module_columns,
    IDS_COUNT_OF(module_columns),
    "One row per compiled program that ran: its distinct ops, how often its most frequent op ran on one device, and "
    "their self time. The fingerprint is made of those of its ops that ran, in any order; it is missing if an op has "
    "none.",
    0,
};

enum { MAKES = 4 }; /* that the sentence about devices names */

/* What a device is, for the sentence about them: its model, else vendor and kind. */
static const char *describe_device(const struct ids_analysis *analysis, struct ids_report *report,
                                   const struct ids_device *device) {
    static const char *const kinds[] = {"GPU", "TPU", "CPU", "custom device"};
    const char *model = ids_trace_text(analysis->trace, device->model),
               *vendor = ids_trace_text(analysis->trace, device->vendor),
               *like = ids_peaks_like(analysis->trace, device);
    return *model            ? model
           : *vendor && like ? ids_report_text(report, "%s GPU (%s by its cores and memory)", vendor, like)
           : *vendor         ? ids_report_text(report, "%s %s", vendor, kinds[device->kind])
                             : kinds[device->kind];
}

static int is_alike(const struct ids_device *a, const struct ids_device *b) {
    return a->kind == b->kind && a->model == b->model && a->vendor == b->vendor;
}

/* Devices of another kind than the first are part of the run where one of them did something; CPU devices beside an
 * accelerator never are. */
static int is_of_run(const struct ids_analysis *analysis, const struct ids_device *first,
                     const struct ids_device *device) {
    if (device->kind == first->kind) return 1;
    if (device->kind == IDS_DEVICE_CPU) return 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        if (analysis->busy[b].device->kind == device->kind) return 1;
    }
    return 0;
}

/* How many there are of one make, and of these how many did something. */
static const char *count_alike(const struct ids_analysis *analysis, struct ids_report *report,
                               const struct ids_device *first) {
    const struct ids_trace *trace = analysis->trace;
    size_t like = 0, active = 0;
    for (size_t d = 0; d < trace->device_count; d++) like += (size_t)is_alike(&trace->devices[d], first);
    for (size_t b = 0; b < analysis->busy_count; b++) active += (size_t)is_alike(analysis->busy[b].device, first);
    const char *what = describe_device(analysis, report, first);
    return active == like ? ids_report_text(report, "%zu × %s", like, what)
                          : ids_report_text(report, "%zu × %s, %zu active", like, what, active);
}

/* "2 × NVIDIA H100 80GB", "4 × H100 + 4 × A100", "8 CPU devices (threads of the CPU client)" */
static const char *describe_devices(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    if (!trace->device_count) return "no device";
    const struct ids_device *first = analysis->busy_count ? analysis->busy[0].device : &trace->devices[0];
    if (first->kind == IDS_DEVICE_CPU) {
        return ids_report_text(report, "%zu × CPU (the CPU client's threads are the device)", trace->device_count);
    }
    const char *text = count_alike(analysis, report, first);
    for (size_t d = 0, makes = 1; d < trace->device_count && makes < MAKES; d++) {
        const struct ids_device *device = &trace->devices[d];
        size_t same = 0;
        while (same < d && !is_alike(&trace->devices[same], device)) same++;
        if (same < d || is_alike(device, first) || !is_of_run(analysis, first, device)) continue;
        text = ids_report_text(report, "%s + %s", text, count_alike(analysis, report, device));
        makes++;
    }
    return text;
}

/* What the sentence about devices says, for programs. */
static void count_devices(const struct ids_analysis *analysis, struct ids_report *report) {
    static const char *const kinds[] = {"GPU", "TPU", "CPU", "CUSTOM"};
    const struct ids_trace *trace = analysis->trace;
    const struct ids_device *first = NULL;
    if (trace->device_count) first = analysis->busy_count ? analysis->busy[0].device : &trace->devices[0];
    int64_t count = 0, active = 0;
    for (size_t d = 0; d < trace->device_count; d++) count += is_of_run(analysis, first, &trace->devices[d]);
    for (size_t b = 0; first && b < analysis->busy_count; b++)
        active += is_of_run(analysis, first, analysis->busy[b].device);
    const char *model = first ? ids_trace_text(trace, first->model) : "";
    const char *vendor = first ? ids_trace_text(trace, first->vendor) : "";
    ids_report_property(report, "devices.count", ids_int_value(IDS_UNIT_COUNT, count));
    ids_report_property(report, "devices.active", ids_int_value(IDS_UNIT_COUNT, active));
    ids_report_property(report, "devices.kind", ids_text_value(first ? kinds[first->kind] : NULL));
    ids_report_property(report, "devices.model", ids_text_value(*model ? model : NULL));
    ids_report_property(report, "devices.vendor", ids_text_value(*vendor ? vendor : NULL));
}

static void list_devices(const struct ids_analysis *analysis, struct ids_report *report) {
    static const char *const kinds[] = {"GPU", "TPU", "CPU", "CUSTOM"};
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &devices);
    size_t next = 0; /* the active devices are in the order of all */
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        const struct ids_busy *busy = NULL;
        if (next < analysis->busy_count && analysis->busy[next].index == d) busy = &analysis->busy[next++];
        struct ids_value nothing = ids_no_value(IDS_UNIT_TIME);
        const char *model = ids_trace_text(trace, device->model);
        struct ids_value row[] = {
            ids_text_value(device->key),
            ids_text_value(kinds[device->kind]),
            ids_text_value(*model ? model : ids_trace_text(trace, device->vendor)),
            ids_text_value(ids_trace_text(trace, trace->hosts[device->host].name)),
            ids_int_value(IDS_UNIT_COUNT, device->ordinal),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)device->activity.count),
            busy ? ids_int_value(IDS_UNIT_TIME, busy->first_ps - analysis->first_ps) : nothing,
            busy ? ids_int_value(IDS_UNIT_TIME, busy->last_ps - analysis->first_ps) : nothing,
            busy ? ids_int_value(IDS_UNIT_TIME, ids_time_in(busy, IDS_IS_BUSY)) : nothing,
            busy ? ids_int_value(IDS_UNIT_TIME, ids_time_in(busy, IDS_IS_WORKING)) : nothing,
            device->peak_flops > 0 ? ids_real_value(IDS_UNIT_NUMBER, device->peak_flops)
                                   : ids_no_value(IDS_UNIT_NUMBER),
            device->peak_bytes_per_second > 0 ? ids_real_value(IDS_UNIT_RATE, device->peak_bytes_per_second)
                                              : ids_no_value(IDS_UNIT_RATE),
            device->memory_bytes ? ids_int_value(IDS_UNIT_BYTES, (int64_t)device->memory_bytes)
                                 : ids_no_value(IDS_UNIT_BYTES),
        };
        IDS_ROW(report, table, device_columns, row);
    }
}

struct module_sum {
    int64_t self_ps;
    uint64_t ops, executions;
    uint64_t fingerprint; /* the sum of those of its ops that ran */
    int incomplete;       /* one of them has none */
};

struct overview_sums {
    struct module_sum *modules;
    uint64_t *counts;       /* by op: executions on the device that is summed up */
    int64_t *attributed_ps; /* by analysis->busy: in ops */
};

static int sums_begin(const struct ids_analysis *analysis, void *sums_of, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct overview_sums *sums = sums_of;
    sums->modules = calloc(trace->module_count + 1, sizeof *sums->modules);
    sums->counts = calloc(trace->op_count + 1, sizeof *sums->counts);
    sums->attributed_ps = calloc(analysis->busy_count + 1, sizeof *sums->attributed_ps);
    return sums->modules && sums->counts && sums->attributed_ps ? 0 : ids_no_memory(err);
}

static void add_to_module(const struct ids_trace *trace, const struct ids_event *event, int is_first_device,
                          struct overview_sums *sums) {
    const struct ids_op *op = &trace->ops[event->op];
    if (op->module == IDS_NONE) return;
    struct module_sum *sum = &sums->modules[op->module];
    ids_sum(&sum->self_ps, event->self_ps);
    if (++sums->counts[event->op] > sum->executions) sum->executions = sums->counts[event->op];
    if (is_first_device && sums->counts[event->op] == 1) {
        sum->fingerprint += ids_key_of(op->fingerprint, 0);
        sum->incomplete |= !op->fingerprint;
    }
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums_of,
                         struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct overview_sums *sums = sums_of;
    struct ids_spans with_op = {0};
    memset(sums->counts, 0, trace->op_count * sizeof *sums->counts);
    struct ids_cursor cursor = ids_cursor_over(&busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->op == IDS_NONE) continue;
        ids_spans_add(&with_op, event->start_ps > busy->start_ps ? event->start_ps : busy->start_ps,
                      ids_end_in_window(busy, event));
        if (event->start_ps >= busy->start_ps && event->start_ps < busy->count_end_ps)
            add_to_module(trace, event, busy == analysis->busy, sums);
    }
    int failed = ids_spans_unite(&with_op);
    sums->attributed_ps[busy - analysis->busy] = ids_spans_total(&with_op);
    ids_spans_done(&with_op);
    return failed ? ids_no_memory(err) : 0;
}

static void sums_done(void *sums_of) {
    struct overview_sums *sums = sums_of;
    free(sums->modules);
    free(sums->counts);
    free(sums->attributed_ps);
}

static void list_modules(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &modules);
    struct module_sum *sums = ((struct overview_sums *)analysis->sums)->modules;
    for (size_t o = 0; o < trace->op_count; o++) {
        if (trace->ops[o].module != IDS_NONE) sums[trace->ops[o].module].ops++;
    }
    for (size_t m = 0; m < trace->module_count; m++) {
        if (!sums[m].executions) continue;
        struct ids_value row[] = {
            ids_text_value(ids_trace_text(trace, trace->modules[m].name)),
            ids_text_value(ids_report_text(report, "%llu", (unsigned long long)trace->modules[m].program_id)),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)sums[m].ops),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)sums[m].executions),
            ids_int_value(IDS_UNIT_TIME, sums[m].self_ps),
            sums[m].incomplete || !sums[m].fingerprint
                ? ids_no_value(IDS_UNIT_NONE)
                : ids_text_value(ids_report_text(report, "%016llx", (unsigned long long)sums[m].fingerprint)),
        };
        IDS_ROW(report, table, module_columns, row);
    }
}

static void coverage(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct overview_sums *sums = analysis->sums;
    int64_t attributed_ps = 0, busy_ps = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        int64_t own_ps = sums->attributed_ps[b], all_ps = ids_time_in(busy, IDS_IS_BUSY);
        ids_sum(&attributed_ps, own_ps);
        ids_sum(&busy_ps, all_ps);
        if (all_ps && analysis->trace->op_count) {
            ids_report_metric(report, "coverage.attributed_share", busy->device->key,
                              ids_real_value(IDS_UNIT_RATIO, (double)own_ps / (double)all_ps));
        }
    }
    if (busy_ps && !analysis->trace->op_count)
        ids_report_no_data(report, "coverage.attributed_share", IDS_UNIT_RATIO, NULL,
                           "nothing in this trace names the ops of device work");
    else if (busy_ps)
        ids_report_metric(report, "coverage.attributed_share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, (double)attributed_ps / (double)busy_ps));
    else
        ids_report_no_data(report, "coverage.attributed_share", IDS_UNIT_RATIO, NULL, "%s",
                           ids_no_activity_reason(analysis));
}

/* When it was recorded. Kineto counts from a moment that may lie weeks before (baseTimeNanoseconds): then its first
 * event tells. */
static int64_t recorded_at(const struct ids_trace *trace) {
    static const int64_t HOUR_PS = 3600 * (int64_t)1000000000000;
    int64_t first_ps = INT64_MAX;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->first_ps <= track->last_ps && track->first_ps < first_ps) first_ps = track->first_ps;
    }
    return first_ps > HOUR_PS && first_ps != INT64_MAX ? trace->origin_unix_ns + first_ps / 1000
                                                       : trace->origin_unix_ns;
}

static int has_python(const struct ids_trace *trace) {
    if (trace->tracer_python > 0) return 1;
    for (size_t n = 0; n < trace->name_count; n++) {
        const struct ids_name *name = &trace->names[n];
        struct ids_text text = ids_strings_text(&trace->strings, name->text);
        if (name->kind == IDS_KIND_PYTHON && !name->is_sampled && !ids_python_is_await(text) &&
            !ids_python_is_garbage(text))
            return 1;
    }
    return 0;
}

/* Of what devices did: a file of the host's alone has no figure that it makes wrong. */
static int say_excerpt(const struct ids_analysis *analysis, struct ids_report *report) {
    struct ids_excerpt excerpt;
    if (ids_excerpt_of(analysis->trace, &excerpt)) return -1;
    if (!excerpt.of || !analysis->busy_count) return 0;
    ids_report_property(
        report, "excerpt",
        ids_text_value(ids_report_text(report, "a part of what ran: %s", ids_excerpt_text(&excerpt, report))));
    return 0;
}

static int overview_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    if (say_excerpt(analysis, report)) return ids_no_memory(err);
    ids_report_property(report, "hosts", ids_int_value(IDS_UNIT_COUNT, (int64_t)trace->host_count));
    struct ids_ranks ranks = ids_ranks_of(trace);
    if (ranks.read < ranks.all)
        ids_report_property(
            report, "ranks",
            ids_text_value(ids_report_text(report, "%" PRId64 " of %" PRId64 " ranks", ranks.read, ranks.all)));
    ids_report_property(report, "devices", ids_text_value(describe_devices(analysis, report)));
    count_devices(analysis, report);
    if (trace->jax_version)
        ids_report_property(report, "jax_version", ids_text_value(ids_trace_text(trace, trace->jax_version)));
    /* How it was recorded: what makes two recordings unlike. */
    if (trace->tracer_host >= 0) {
        ids_report_property(report, "host_tracer_level", ids_int_value(IDS_UNIT_COUNT, trace->tracer_host));
        ids_report_property(report, "device_tracer_level", ids_int_value(IDS_UNIT_COUNT, trace->tracer_device));
        ids_report_property(report, "python_tracer_level", ids_int_value(IDS_UNIT_COUNT, trace->tracer_python));
    }
    if (has_python(trace))
        ids_report_property(report, "python_recorded",
                            ids_text_value("Python's functions recorded, which makes Python slower"));
    double recording = ids_graph_recording_share(analysis);
    if (recording > 0.5)
        ids_report_property(
            report, "graph_recording",
            ids_text_value(ids_report_text(report, "the host records graphs for %.1f %% of the window, each once",
                                           recording * 100)));
    ids_say_unrecorded(analysis, report);
    if (trace->time_scale.count)
        ids_report_property(report, "time_scale_multiplier",
                            ids_real_value(IDS_UNIT_NUMBER, trace->time_scale.sum / (double)trace->time_scale.count));
    if (trace->origin_unix_ns) {
        ids_report_property(report, "start_unix_ns", ids_int_value(IDS_UNIT_COUNT, trace->origin_unix_ns));
        ids_report_property(report, "recorded_unix_ns", ids_int_value(IDS_UNIT_COUNT, recorded_at(trace)));
    }
    ids_report_metric(report, "run.events", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)trace->event_count));
    ids_report_metric(report, "run.stats", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)trace->stat_count));
    ids_report_metric(report, "run.tracks", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)trace->track_count));
    if (analysis->busy_count)
        ids_report_metric(report, "run.window", NULL,
                          ids_int_value(IDS_UNIT_TIME, analysis->end_ps - analysis->start_ps));
    else
        ids_report_no_data(report, "run.window", IDS_UNIT_TIME, NULL, "%s", ids_no_activity_reason(analysis));
    list_devices(analysis, report);
    list_modules(analysis, report);
    coverage(analysis, report);
    return 0;
}

static const struct ids_table_def *const tables[] = {&devices, &modules};

const struct ids_analyzer ids_overview_analyzer = {
    .name = "overview",
    .title = "overview",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct overview_sums),
                  .begin = sums_begin,
                  .device = sum_up_device,
                  .done = sums_done},
    .run = overview_run,
};
