/* compat_nsys.c - gpu_gaps, gpu_time_util and nccl_gpu_overlap_trace as Nsight Systems has them. */
#include "analyzers/compat.h"
#include "lib/base/saturate.h"

#include <string.h>
#include <strings.h>

enum { CHUNKS = 30 };
static const int64_t GAP_PS = 500000000000; /* 500 ms, by default */

struct gathering {
    struct ids_spans all, compute, communication;
    int64_t first_ps, last_ps, sum_ps;
};

static int gather(const struct ids_analysis *analysis, const struct ids_busy *busy, struct gathering *gathering) {
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    *gathering = (struct gathering){.first_ps = INT64_MAX, .last_ps = INT64_MIN};
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        int64_t end_ps = ids_end_in_window(busy, event);
        const char *name = ids_trace_text(analysis->trace, analysis->trace->names[event->name].text);
        if (event->start_ps < gathering->first_ps) gathering->first_ps = event->start_ps;
        if (end_ps > gathering->last_ps) gathering->last_ps = end_ps;
        ids_sum(&gathering->sum_ps, end_ps - event->start_ps);
        ids_compat_add(&gathering->all, busy, event);
        if (event->kind != IDS_KIND_KERNEL) continue;
        ids_compat_add(strncasecmp(name, "nccl", 4) ? &gathering->compute : &gathering->communication, busy, event);
    }
    return ids_spans_unite(&gathering->all) || ids_spans_unite(&gathering->compute) ||
                   ids_spans_unite(&gathering->communication)
               ? -1
               : 0;
}

static void put_gaps(struct ids_compat *compat, const char *device, const struct gathering *gathering) {
    const struct ids_spans *all = &gathering->all;
    double count = 0;
    for (size_t i = 1; i < all->count; i++) count += all->at[i].start_ps - all->at[i - 1].end_ps >= GAP_PS;
    ids_compat_put(compat, &(struct ids_compat_figure){
                               .name = "gpu_gaps: gaps of 500 ms or more",
                               .unit = "count",
                               .device = device,
                               .theirs = count,
                               .our_id = "idle.gaps",
                               .why = "nsys lists only gaps of 500 ms or more; ours are all of them",
                           });
}

/* How much of 30 equal chunks is in use; what runs at the same time adds up. */
static void put_chunks(struct ids_compat *compat, const struct ids_busy *busy, const struct gathering *gathering) {
    double chunk_ps = (double)(gathering->last_ps - gathering->first_ps) / CHUNKS, in_chunk[CHUNKS] = {0}, below = 0;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    if (chunk_ps <= 0) return;
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        double from = (double)(event->start_ps - gathering->first_ps) / chunk_ps;
        double to = (double)(ids_end_in_window(busy, event) - gathering->first_ps) / chunk_ps;
        for (int c = (int)from; c < CHUNKS && (double)c < to; c++)
            in_chunk[c] += (to < c + 1 ? to : c + 1) - (from > c ? from : c);
    }
    for (int c = 0; c < CHUNKS; c++) below += in_chunk[c] < 0.5;
    static const char why[] = "nsys adds operations that run at the same time, so that a chunk may be in use by more "
                              "than 100 %; ours is the union";
    ids_compat_put(compat, &(struct ids_compat_figure){
                               .name = "gpu_time_util: mean use of 30 chunks",
                               .unit = "share",
                               .device = busy->device->key,
                               .theirs = (double)gathering->sum_ps / (chunk_ps * CHUNKS),
                               .our_id = "device.utilization",
                               .why = why,
                           });
    ids_compat_put(compat, &(struct ids_compat_figure){
                               .name = "gpu_time_util: chunks below 50 %",
                               .unit = "count",
                               .device = busy->device->key,
                               .theirs = below,
                               .why = why,
                           });
}

static void put_overlap(struct ids_compat *compat, const char *device, const struct gathering *gathering) {
    double communication = (double)ids_spans_total(&gathering->communication);
    if (communication <= 0) return;
    ids_compat_put(
        compat, &(struct ids_compat_figure){
                    .name = "nccl_gpu_overlap_trace: overlapped",
                    .unit = "share",
                    .device = device,
                    .theirs = (double)ids_spans_overlap(&gathering->communication, &gathering->compute) / communication,
                    .our_id = "collectives.overlapped",
                    .per = "collectives.total",
                    .why = "nsys: communication is what begins with nccl, everything else computes",
                });
}

void ids_compat_nsys(struct ids_compat *compat) {
    const struct ids_analysis *analysis = compat->analysis;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        struct gathering gathering;
        if (busy->device->kind != IDS_DEVICE_GPU) continue;
        if (gather(analysis, busy, &gathering)) {
            compat->out_of_memory = 1;
        } else if (gathering.all.count) {
            put_gaps(compat, busy->device->key, &gathering);
            put_chunks(compat, busy, &gathering);
            put_overlap(compat, busy->device->key, &gathering);
        }
        ids_spans_done(&gathering.all);
        ids_spans_done(&gathering.compute);
        ids_spans_done(&gathering.communication);
    }
}
