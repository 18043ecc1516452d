/* compat_xprof.c - idle ratio, duty cycle, collectives and HBM utilization as XProf has them. */
#include "analyzers/compat.h"
#include "lib/base/saturate.h"

#include <string.h>
#include <strings.h>

struct gathering {
    int64_t op_ps;         /* self time of what has an op */
    int64_t span_ps;       /* from the first to the last event of each device, and at least its op_ps */
    int64_t collective_ps; /* self time of what it counts as a collective */
    double bytes, peak;    /* of main memory, and the most that could be a second */
};

/* Of the steps of one GPU, by what XProf puts on top where several run. */
struct breakdown {
    struct ids_spans compute, collectives, between; /* between: copies inside the device and to the host */
    int64_t steps;
};

/* A collective of a GPU is known by the name nccl, one of a TPU by three categories. */
static int is_collective(const struct ids_trace *trace, const struct ids_event *event, enum ids_device_kind kind) {
    if (kind == IDS_DEVICE_GPU) return !strncasecmp(ids_trace_text(trace, trace->names[event->name].text), "nccl", 4);
    const char *category = event->op == IDS_NONE ? "" : ids_trace_text(trace, trace->ops[event->op].category);
    return !strcmp(category, "all-reduce") || !strcmp(category, "all-reduce fusion") || !strcmp(category, "all-to-all");
}

/* Off duty: a TPU waits for the host, or for something asynchronous. */
static int is_off_duty(const struct ids_trace *trace, const struct ids_event *event) {
    static const char *const categories[] = {"infeed",         "outfeed",        "host send",  "host recv",
                                             "host send-done", "host recv-done", "async-done", "megacore fusion"};
    const char *category = event->op == IDS_NONE ? "" : ids_trace_text(trace, trace->ops[event->op].category);
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (!strcmp(category, categories[i])) return 1;
    }
    return 0;
}

/* What XProf counts of an op: of a TPU what its file says of the main memory; of a GPU nothing of a library's calls. */
static int64_t bytes_of(const struct ids_trace *trace, const struct ids_op *op, enum ids_device_kind kind) {
    int64_t bytes = kind == IDS_DEVICE_TPU && op->told_bytes >= 0 ? op->told_bytes : op->bytes_accessed;
    if (kind == IDS_DEVICE_GPU && !strcmp(ids_trace_text(trace, op->category), "custom-call")) return 0;
    return bytes > 0 && !op->framework ? bytes : 0;
}

static void add_event(const struct ids_compat *compat, const struct ids_busy *busy, const struct ids_event *event,
                      struct gathering *gathering) {
    const struct ids_trace *trace = compat->analysis->trace;
    enum ids_device_kind kind = busy->device->kind;
    const struct ids_op *op = event->op == IDS_NONE ? NULL : &trace->ops[event->op];
    int64_t self_ps = ids_own_in_window(busy, event);
    int collective = is_collective(trace, event, kind);
    if (collective) ids_sum(&gathering->collective_ps, self_ps);
    if (op && !op->framework) ids_sum(&gathering->op_ps, self_ps);
    if (op) gathering->bytes += (double)bytes_of(trace, op, kind);
}

/* The devices of that kind together, as XProf's overview has them. */
static size_t gather(const struct ids_compat *compat, enum ids_device_kind kind, struct gathering *gathering) {
    const struct ids_analysis *analysis = compat->analysis;
    size_t devices = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        int64_t before_ps = gathering->op_ps, first_ps = INT64_MAX, last_ps = INT64_MIN;
        if (busy->device->kind != kind) continue;
        struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            add_event(compat, busy, event, gathering);
            if (event->start_ps < first_ps) first_ps = event->start_ps;
            if (event->end_ps > last_ps) last_ps = event->end_ps;
        }
        if (last_ps < first_ps) continue;
        int64_t own_ps = gathering->op_ps - before_ps, span_ps = last_ps - first_ps;
        ids_sum(&gathering->span_ps, span_ps > own_ps ? span_ps : own_ps);
        gathering->peak = busy->device->peak_bytes_per_second;
        devices++;
    }
    return devices;
}

static void put_idle(struct ids_compat *compat, const struct gathering *gathering, int is_gpu) {
    ids_compat_put(
        compat,
        &(struct ids_compat_figure){
            .name = "device idle ratio",
            .unit = "share",
            .theirs = 1 - (double)gathering->op_ps / (double)gathering->span_ps,
            .our_id = "idle.share",
            .why = is_gpu ? "XProf sums ops of all streams, and whatever has no HLO op (copies, kernels of graphs, "
                            "of PyTorch and TensorFlow) is idle to it"
                          : "XProf sums self times of ops, waits (-done) included, over each chip's own span",
        });
}

/* Of the table op_profile, at its root, without the row IDLE. */
static void put_hbm(struct ids_compat *compat, const struct gathering *gathering, int is_gpu) {
    const double second = 1e12;
    if (!gathering->op_ps || gathering->bytes <= 0 || gathering->peak <= 0) return;
    double share = gathering->bytes / ((double)gathering->op_ps / second) / gathering->peak;
    ids_compat_put(compat,
                   &(struct ids_compat_figure){
                       .name = "HBM utilization",
                       .unit = "share",
                       .theirs = share < 1 ? share : 1,
                       .our_id = "efficiency.bandwidth_share",
                       .why = is_gpu ? "XProf knows no bytes of a library's calls (custom-call), divides by the "
                                       "time of the ops and not by the window, and takes the peak from the file"
                                     : "XProf divides by the time of the ops, waits (-done) included, not by the "
                                       "window",
                   });
}

/* What is no copy and no collective computes, sets of memory too. */
static void add_to_breakdown(const struct ids_compat *compat, const struct ids_busy *busy,
                             struct breakdown *breakdown) {
    const struct ids_analysis *analysis = compat->analysis;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (!ids_step_of_device_event(analysis, event)) continue;
        if (is_collective(analysis->trace, event, IDS_DEVICE_GPU))
            ids_compat_add(&breakdown->collectives, busy, event);
        else if (event->kind != IDS_KIND_COPY)
            ids_compat_add(&breakdown->compute, busy, event);
        else if (event->direction == IDS_D2D || event->direction == IDS_D2H)
            ids_compat_add(&breakdown->between, busy, event);
    }
    const struct ids_device_steps *own = &analysis->steps.of_device[busy->index];
    for (size_t i = 0; i < own->count; i++) breakdown->steps += own->at[i].step != IDS_NONE;
}

static int put_breakdown(struct ids_compat *compat, const struct ids_busy *busy, struct breakdown *breakdown,
                         struct ids_spans *beside, struct ids_spans *exposed) {
    const double second = 1e12;
    const char *device = busy->device->key;
    if (ids_spans_unite(&breakdown->compute) || ids_spans_unite(&breakdown->collectives) ||
        ids_spans_unite(&breakdown->between) ||
        ids_spans_subtract(&breakdown->collectives, &breakdown->compute, beside) ||
        ids_spans_subtract(beside, &breakdown->between, exposed))
        return -1;
    double steps = (double)breakdown->steps * second;
    ids_compat_put(compat, &(struct ids_compat_figure){
                               .name = "step breakdown: device compute",
                               .unit = "s",
                               .device = device,
                               .theirs = (double)ids_spans_total(&breakdown->compute) / steps,
                               .our_id = "steps.work.compute",
                               .is_of_all = 1,
                               .why = "XProf counts sets of memory as compute; ours is the mean over devices"});
    ids_compat_put(compat,
                   &(struct ids_compat_figure){
                       .name = "step breakdown: device collectives",
                       .unit = "s",
                       .device = device,
                       .theirs = (double)ids_spans_total(exposed) / steps,
                       .our_id = "steps.comm.transfer",
                       .is_of_all = 1,
                       .why = "XProf knows collectives by the name nccl, waiting for peers included; ours waits "
                              "apart (comm.wait)"});
    return 0;
}

static void put_steps(struct ids_compat *compat) {
    const struct ids_analysis *analysis = compat->analysis;
    for (size_t b = 0; b < analysis->busy_count && analysis->steps.count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        struct breakdown breakdown = {0};
        struct ids_spans beside = {0}, exposed = {0};
        if (busy->device->kind != IDS_DEVICE_GPU) continue;
        add_to_breakdown(compat, busy, &breakdown);
        if (breakdown.steps && put_breakdown(compat, busy, &breakdown, &beside, &exposed)) compat->out_of_memory = 1;
        ids_spans_done(&breakdown.compute);
        ids_spans_done(&breakdown.collectives);
        ids_spans_done(&breakdown.between);
        ids_spans_done(&beside);
        ids_spans_done(&exposed);
    }
}

static void put_tpu(struct ids_compat *compat, const struct gathering *gathering) {
    put_idle(compat, gathering, 0);
    ids_compat_put(compat, &(struct ids_compat_figure){
                               .name = "collectives",
                               .unit = "share",
                               .theirs = (double)gathering->collective_ps / (double)gathering->span_ps,
                               .our_id = "collectives.share",
                               .why = "XProf counts all-reduce, fusions of it and all-to-all alone",
                           });
}

/* From the first to the last op, or beginning and end of a program around them. */
static int64_t span_with_modules(const struct ids_busy *busy) {
    int64_t first_ps = busy->first_ps, last_ps = busy->last_ps;
    struct ids_cursor cursor = ids_cursor_over(&busy->device->modules);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->start_ps < first_ps) first_ps = event->start_ps;
        if (event->end_ps > last_ps) last_ps = event->end_ps;
    }
    return last_ps - first_ps;
}

/* The union over a chip's ops that are not off duty, by chip. */
static void put_duty(struct ids_compat *compat) {
    const struct ids_analysis *analysis = compat->analysis;
    int64_t on_ps = 0, span_ps = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        struct ids_spans on = {0};
        if (busy->device->kind != IDS_DEVICE_TPU) continue;
        struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (!is_off_duty(analysis->trace, event)) ids_compat_add(&on, busy, event);
        }
        if (ids_spans_unite(&on)) compat->out_of_memory = 1;
        ids_sum(&on_ps, ids_spans_total(&on));
        ids_sum(&span_ps, span_with_modules(busy));
        ids_spans_done(&on);
    }
    if (span_ps)
        ids_compat_put(compat, &(struct ids_compat_figure){
                                   .name = "device duty cycle",
                                   .unit = "share",
                                   .theirs = (double)on_ps / (double)span_ps,
                                   .our_id = "device.utilization",
                                   .why = "XProf counts waits (copy-done, all-reduce-done) as duty; ours does "
                                          "not count what only waits",
                               });
}

void ids_compat_xprof(struct ids_compat *compat) {
    struct gathering gpus = {0}, chips = {0};
    if (gather(compat, IDS_DEVICE_GPU, &gpus) && gpus.span_ps) {
        put_idle(compat, &gpus, 1);
        put_steps(compat);
        put_hbm(compat, &gpus, 1);
    }
    if (gather(compat, IDS_DEVICE_TPU, &chips) && chips.span_ps) {
        put_tpu(compat, &chips);
        put_duty(compat);
        put_hbm(compat, &chips, 0);
    }
}
