/* placement.c - on which device the ops of each program ran, and what ran on the host's CPU beside an accelerator. */
#include "lib/analysis/context.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

#define HOST_OPS \
    "FROM activities a JOIN device d ON d.id = a.device_id WHERE a.run = :run AND d.kind = 'CPU' AND a.kind = 'op'"

static const struct ids_metric_def metrics[] = {
    {"placement.host_ops", "ops on the host", IDS_UNIT_COUNT, IDS_BETTER_LOWER,
     "Executions of ops that JAX's CPU client ran in a run with an accelerator.", "SELECT count(*) " HOST_OPS},
    {"placement.host_time", "their time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Sum of the self times of those ops; several may run at once.", "SELECT coalesce(sum(a.self_ps), 0) " HOST_OPS},
    {"placement.host_idle_share", "idle beside them", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of the accelerators' idle time in which any of those ops ran on their host.",
     "WITH host AS (SELECT d.host AS h, a.start_ps AS s, a.start_ps + a.dur_ps AS e " HOST_OPS
     " AND a.dur_ps > 0), seen AS (SELECT h, s, e, max(e) OVER (PARTITION BY h ORDER BY s, e ROWS BETWEEN UNBOUNDED "
     "PRECEDING AND 1 PRECEDING) AS b FROM host), parts AS (SELECT h, s, e, sum(b IS NULL OR s > b) OVER (PARTITION BY "
     "h ORDER BY s, e ROWS UNBOUNDED PRECEDING) AS n FROM seen), spans AS (SELECT h, min(s) AS s, max(e) AS e FROM "
     "parts GROUP BY h, n) SELECT (SELECT total(min(u.e, g.start_ps + g.dur_ps) - max(u.s, g.start_ps)) FROM gaps g "
     "JOIN device o ON o.run = g.run AND o.name = g.device JOIN spans u ON u.h = o.host AND u.s < g.start_ps + "
     "g.dur_ps AND u.e > g.start_ps WHERE g.run = :run) / nullif((SELECT total(dur_ps) FROM gaps WHERE run = :run), "
     "0)"},
};

static const struct ids_column_def columns[] = {
    {"device", "device", IDS_UNIT_NONE, 0},
    {"time", "time", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"ops", "ops", IDS_UNIT_COUNT, 0},
    {"count", "executions", IDS_UNIT_COUNT, 0},
    {"beside", "beside", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"program", "program", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"longest", "most time", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def placement = {
    "placement",
    "placement",
    columns,
    IDS_COUNT_OF(columns),
    "In a run with accelerators one row per device and program, the host's CPU among them: self time of its ops (of a "
    "GPU its kernels, copies and sets) in the whole recording, share of the device's time, how many ops there are, and "
    "which has most of it. No program: no op is known. `beside` is 1 where the CPU ran it beside an accelerator.",
    0,
};

/* A program on a device. */
struct place {
    uint32_t device, module;
    int64_t time_ps, count;
    size_t ops; /* different ones */
    uint32_t longest;
    int64_t longest_ps;
};

struct places {
    struct place *at;
    size_t count, room;
    struct ids_keymap numbers;  /* (device, module) -> index + 1 */
    struct ids_keymap op_times; /* (device, op) -> self time + 1 */
    struct ids_spans *of_host;  /* by host: when ops ran on its CPU */
    size_t host_count;
    int64_t host_ops, host_ps;
    int64_t idle_ps, beside_ps; /* of accelerators; of it, beside ops on their hosts' CPUs */
};

static struct place *place_of(struct places *places, uint32_t device, uint32_t module) {
    uint64_t *number = ids_keymap_at(&places->numbers, ids_key_of(device, module));
    if (!number) return NULL;
    if (!*number) {
        struct place *added = IDS_PUSH(places->at, places->count, places->room);
        if (!added) return NULL;
        *added = (struct place){.device = device, .module = module, .longest = IDS_NONE};
        *number = places->count;
    }
    return &places->at[*number - 1];
}

static int add(struct places *places, const struct ids_trace *trace, uint32_t device, const struct ids_event *event) {
    uint32_t module = event->op == IDS_NONE ? IDS_NONE : trace->ops[event->op].module;
    struct place *place = place_of(places, device, module);
    if (!place) return -1;
    ids_sum(&place->time_ps, event->self_ps);
    place->count++;
    if (event->op == IDS_NONE) return 0;
    uint64_t *time = ids_keymap_at(&places->op_times, ids_key_of(device, event->op));
    if (!time) return -1;
    if (!*time) {
        place->ops++;
        *time = 1;
    }
    *time += (uint64_t)event->self_ps;
    if ((int64_t)(*time - 1) < place->longest_ps ||
        (place->longest != IDS_NONE && (int64_t)(*time - 1) == place->longest_ps))
        return 0;
    place->longest = event->op;
    place->longest_ps = (int64_t)(*time - 1);
    return 0;
}

static int gather(const struct ids_trace *trace, uint32_t d, struct places *places, struct ids_spans *host) {
    const struct ids_device *device = &trace->devices[d];
    ids_events_turn(&device->activity);
    for (size_t i = 0; i < device->activity.count; i++) {
        const struct ids_event *event = &device->activity.at[i];
        if (add(places, trace, d, event)) return -1;
        if (device->kind != IDS_DEVICE_CPU || event->kind != IDS_KIND_OP) continue;
        places->host_ops++;
        ids_sum(&places->host_ps, event->self_ps);
        ids_spans_add(host, event->start_ps, event->end_ps);
    }
    return 0;
}

static int places_begin(const struct ids_analysis *analysis, void *sums, struct ids_error *err) {
    struct places *places = sums;
    places->host_count = analysis->trace->host_count;
    places->of_host = calloc(places->host_count + 1, sizeof *places->of_host);
    return places->of_host ? 0 : ids_no_memory(err);
}

static int sum_up_host(const struct ids_analysis *analysis, uint32_t host, void *sums, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct places *places = sums;
    if (!trace->accelerated) return 0;
    struct ids_spans *spans = &places->of_host[host];
    for (uint32_t d = 0; d < trace->device_count; d++) {
        if (trace->devices[d].host == host && gather(trace, d, places, spans)) return ids_no_memory(err);
    }
    return ids_spans_unite(spans) ? ids_no_memory(err) : 0;
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err) {
    (void)err;
    struct places *places = sums;
    for (size_t g = 0; analysis->trace->accelerated && g < busy->gap_count; g++) {
        const struct ids_gap *gap = &busy->gaps[g];
        ids_sum(&places->idle_ps, gap->end_ps - gap->start_ps);
        ids_sum(&places->beside_ps, ids_spans_cover(&places->of_host[busy->device->host], gap->start_ps, gap->end_ps));
    }
    return 0;
}

static void places_done(void *sums) {
    struct places *places = sums;
    for (size_t h = 0; places->of_host && h < places->host_count; h++) ids_spans_done(&places->of_host[h]);
    free(places->of_host);
    free(places->at);
    ids_keymap_done(&places->numbers);
    ids_keymap_done(&places->op_times);
}

static int by_device(const void *a, const void *b) {
    const struct place *left = a, *right = b;
    if (left->device != right->device) return left->device < right->device ? -1 : 1;
    if (left->time_ps != right->time_ps) return left->time_ps < right->time_ps ? 1 : -1;
    return (left->module > right->module) - (left->module < right->module);
}

static void list(const struct ids_trace *trace, struct ids_report *report, struct places *places) {
    struct ids_table *table = ids_report_table(report, &placement);
    if (places->count) qsort(places->at, places->count, sizeof *places->at, by_device);
    int64_t device_ps = 0;
    for (size_t p = 0; p < places->count; p++) {
        const struct place *place = &places->at[p];
        const struct ids_device *device = &trace->devices[place->device];
        if (!p || place[-1].device != place->device) {
            device_ps = 0;
            for (size_t q = p; q < places->count && places->at[q].device == place->device; q++)
                ids_sum(&device_ps, places->at[q].time_ps);
        }
        const char *longest =
            place->longest == IDS_NONE ? NULL : ids_trace_text(trace, trace->ops[place->longest].name);
        struct ids_value row[] = {
            ids_text_value(device->label),
            ids_int_value(IDS_UNIT_TIME, place->time_ps),
            device_ps ? ids_real_value(IDS_UNIT_RATIO, (double)place->time_ps / (double)device_ps)
                      : ids_no_value(IDS_UNIT_RATIO),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)place->ops),
            ids_int_value(IDS_UNIT_COUNT, place->count),
            ids_int_value(IDS_UNIT_COUNT, device->kind == IDS_DEVICE_CPU),
            ids_text_value(place->module == IDS_NONE ? NULL
                                                     : ids_trace_text(trace, trace->modules[place->module].name)),
            ids_text_value(longest),
        };
        IDS_ROW(report, table, columns, row);
    }
}

static void put_metrics(struct ids_report *report, const struct places *places) {
    ids_report_metric(report, "placement.host_ops", NULL, ids_int_value(IDS_UNIT_COUNT, places->host_ops));
    ids_report_metric(report, "placement.host_time", NULL, ids_int_value(IDS_UNIT_TIME, places->host_ps));
    if (places->idle_ps)
        ids_report_metric(report, "placement.host_idle_share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, (double)places->beside_ps / (double)places->idle_ps));
    else
        ids_report_no_data(report, "placement.host_idle_share", IDS_UNIT_RATIO, NULL,
                           "the accelerators are never idle");
}

static int placement_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    const struct ids_trace *trace = analysis->trace;
    if (!trace->accelerated) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), "the run has no accelerator that did anything");
        return 0;
    }
    list(trace, report, analysis->sums);
    put_metrics(report, analysis->sums);
    return 0;
}

static const struct ids_table_def *const tables[] = {&placement};

const struct ids_analyzer ids_placement_analyzer = {
    .name = "placement",
    .title = "placement",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct places),
                  .begin = places_begin,
                  .host = sum_up_host,
                  .device = sum_up_device,
                  .done = places_done},
    .run = placement_run,
};
