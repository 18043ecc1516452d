/* compat_hta.c - temporal breakdown, overlap and idle classes as HTA (Holistic Trace Analysis) has them. */
#include "analyzers/compat.h"
#include "lib/base/saturate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum kind { COMMUNICATION, MEMORY, COMPUTATION, OTHER };

/* By name alone: "^nccl.*Kernel", "^Memcpy", "^Memset" or "^dma"; what has Memcpy or Sync in it is neither. */
static enum kind kind_of(const char *name) {
    if (!strncmp(name, "nccl", 4) && strstr(name + 4, "Kernel")) return COMMUNICATION;
    if (!strncmp(name, "Memcpy", 6) || !strncmp(name, "Memset", 6) || !strncmp(name, "dma", 3)) return MEMORY;
    return strstr(name, "Memcpy") || strstr(name, "Sync") ? OTHER : COMPUTATION;
}

struct stream {
    const struct ids_event *previous;
};

struct gathering {
    struct ids_spans all, compute, communication;
    struct stream *streams; /* by trace->tracks */
    int64_t host_ps, kernel_ps, other_ps;
};

/* A gap below this between kernels that were launched in time is the price of launching. HTA says 30 ns, but compares
 * 30 with the microseconds of the file. */
static const int64_t KERNEL_DELAY_PS = 30000000;

/* Where the gap goes that ends with the event: HTA looks at each stream by itself, and at when its launch began. */
static void add_gap(struct gathering *gathering, const struct ids_event *event) {
    const struct ids_event **previous = &gathering->streams[event->track].previous;
    const struct ids_event *before = *previous;
    *previous = event;
    if (!before) return;
    int64_t gap_ps = event->start_ps - before->end_ps, *sum = &gathering->other_ps;
    if (event->launch && event->launch->start_ps > before->end_ps)
        sum = &gathering->host_ps;
    else if (gap_ps < KERNEL_DELAY_PS)
        sum = &gathering->kernel_ps;
    ids_sum(sum, gap_ps);
}

static int has_several_steps(const struct ids_analysis *analysis) {
    return analysis->steps.source == IDS_STEPS_ANNOTATION && analysis->steps.count >= 2;
}

/* Of a trace with several steps it takes what was launched before the last one ends, where it is told to keep that
 * step. */
static int is_taken(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_steps *steps = &analysis->steps;
    if (!has_several_steps(analysis)) return 1;
    return event->launch && event->launch->start_ps <= steps->at[steps->count - 1].host_end_ps;
}

static int gather(const struct ids_analysis *analysis, const struct ids_busy *busy, struct gathering *gathering) {
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    gathering->streams = calloc(analysis->trace->track_count + 1, sizeof *gathering->streams);
    if (!gathering->streams) return -1;
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (!is_taken(analysis, event)) continue;
        enum kind kind = kind_of(ids_trace_text(analysis->trace, analysis->trace->names[event->name].text));
        ids_compat_add(&gathering->all, busy, event);
        if (kind == COMPUTATION) ids_compat_add(&gathering->compute, busy, event);
        if (kind == COMMUNICATION) ids_compat_add(&gathering->communication, busy, event);
        add_gap(gathering, event);
    }
    return ids_spans_unite(&gathering->all) || ids_spans_unite(&gathering->compute) ||
                   ids_spans_unite(&gathering->communication)
               ? -1
               : 0;
}

/* By default HTA drops the last step, and who calls it so sees other figures than these. */
static void put_figure(struct ids_compat *compat, struct ids_compat_figure figure) {
    const struct ids_steps *steps = &compat->analysis->steps;
    if (has_several_steps(compat->analysis))
        figure.why = ids_report_text(compat->report,
                                     "%s; with include_last_profiler_step=True: by default HTA drops the last step "
                                     "(%" PRId64 ")",
                                     figure.why, steps->at[steps->count - 1].number);
    ids_compat_put(compat, &figure);
}

static void put_breakdown(struct ids_compat *compat, const char *device, const struct gathering *gathering) {
    const struct ids_spans *all = &gathering->all;
    double whole = (double)(all->at[all->count - 1].end_ps - all->at[0].start_ps);
    double busy = (double)ids_spans_total(all), compute = (double)ids_spans_total(&gathering->compute);
    if (whole <= 0) return;
    put_figure(compat, (struct ids_compat_figure){
                           .name = "temporal breakdown: idle_time",
                           .unit = "share",
                           .device = device,
                           .theirs = 1 - busy / whole,
                           .our_id = "idle.share",
                           .why = "of the device's own first to last event, ours of the run's window; of a trace with "
                                  "several steps HTA leaves out what has no launch",
                       });
    put_figure(compat, (struct ids_compat_figure){
                           .name = "temporal breakdown: compute_time",
                           .unit = "share",
                           .device = device,
                           .theirs = compute / whole,
                           .our_id = "device.compute_share",
                           .why = "HTA counts every kernel whose name begins not with nccl, memcpy or memset",
                       });
    put_figure(compat, (struct ids_compat_figure){
                           .name = "temporal breakdown: non_compute_time",
                           .unit = "share",
                           .device = device,
                           .theirs = (busy - compute) / whole,
                           .why = "busy less compute: ours are copies and exposed collectives",
                       });
    double communication = (double)ids_spans_total(&gathering->communication);
    if (communication > 0)
        put_figure(compat, (struct ids_compat_figure){
                               .name = "comm_comp_overlap",
                               .unit = "share",
                               .device = device,
                               .theirs = (double)ids_spans_overlap(&gathering->communication, &gathering->compute) /
                                         communication,
                               .our_id = "collectives.overlapped",
                               .per = "collectives.total",
                               .why = "HTA knows collectives by the name nccl...Kernel alone",
                           });
}

static void put_idle(struct ids_compat *compat, const char *device, const struct gathering *gathering) {
    const double second = 1e12;
    static const char why[] =
        "HTA sums the gaps of each stream by itself, and gives a whole gap one class; ours are of "
        "the device, cut where the cause changes";
    put_figure(compat, (struct ids_compat_figure){
                           .name = "idle_time_breakdown: host_wait",
                           .unit = "s",
                           .device = device,
                           .theirs = (double)gathering->host_ps / second,
                           .our_id = "idle.total",
                           .why = why,
                       });
    put_figure(compat, (struct ids_compat_figure){
                           .name = "idle_time_breakdown: kernel_wait",
                           .unit = "s",
                           .device = device,
                           .theirs = (double)gathering->kernel_ps / second,
                           .why = why,
                       });
    put_figure(compat, (struct ids_compat_figure){
                           .name = "idle_time_breakdown: other",
                           .unit = "s",
                           .device = device,
                           .theirs = (double)gathering->other_ps / second,
                           .why = why,
                       });
}

void ids_compat_hta(struct ids_compat *compat) {
    const struct ids_analysis *analysis = compat->analysis;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        struct gathering gathering = {0};
        if (busy->device->kind != IDS_DEVICE_GPU && busy->device->kind != IDS_DEVICE_CUSTOM) continue;
        if (gather(analysis, busy, &gathering))
            compat->out_of_memory = 1;
        else if (gathering.all.count) {
            put_breakdown(compat, busy->device->key, &gathering);
            put_idle(compat, busy->device->key, &gathering);
        }
        ids_spans_done(&gathering.all);
        ids_spans_done(&gathering.compute);
        ids_spans_done(&gathering.communication);
        free(gathering.streams);
    }
}
