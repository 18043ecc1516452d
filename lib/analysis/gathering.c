/* gathering.c - what analyzers sum up of single events, before they run. */
#include "lib/analysis/context.h"
#include "lib/base/parallel.h"

#include <stdlib.h>

static int make_room(struct ids_analysis *analysis, struct ids_error *err) {
    analysis->gathered = calloc((size_t)ids_analyzer_count, sizeof *analysis->gathered);
    if (!analysis->gathered) return ids_no_memory(err);
    for (int i = 0; i < ids_analyzer_count; i++) {
        const struct ids_gathering *gathering = &ids_analyzers[i]->gathering;
        if (!gathering->size) continue;
        analysis->gathered[i] = calloc(1, gathering->size);
        if (!analysis->gathered[i]) return ids_no_memory(err);
        int code = gathering->begin ? gathering->begin(analysis, analysis->gathered[i], err) : 0;
        if (code) return code;
    }
    return 0;
}

int ids_gather_hosts(struct ids_analysis *analysis, struct ids_error *err) {
    int code = ids_op_costs_begin(analysis, err);
    if (!code) code = make_room(analysis, err);
    for (uint32_t host = 0; host < analysis->trace->host_count; host++) {
        for (int i = 0; i < ids_analyzer_count && !code; i++) {
            const struct ids_gathering *gathering = &ids_analyzers[i]->gathering;
            if (gathering->host) code = gathering->host(analysis, host, analysis->gathered[i], err);
        }
    }
    return code;
}

/* Devices that are summed up: what their ops cost, and by each analyzer for itself. */
struct devices {
    const struct ids_analysis *analysis;
    uint32_t from, to;
    size_t count;
    struct sum {
        int (*device)(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                      struct ids_error *err);
        void *sums;
        int code;
        struct ids_error err;
    } * at;
};

static int sum_up_costs(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                        struct ids_error *err) {
    (void)sums;
    return ids_op_costs_count(analysis->op_counting, (uint32_t)(busy - analysis->busy), err);
}

static void add_analyzers(struct devices *devices, int are_longest) {
    for (int i = 0; i < ids_analyzer_count; i++) {
        const struct ids_gathering *gathering = &ids_analyzers[i]->gathering;
        void *sums = devices->analysis->gathered[i];
        if (gathering->is_longest != are_longest) continue;
        if (gathering->device) devices->at[devices->count++] = (struct sum){.device = gathering->device, .sums = sums};
        if (gathering->beside) devices->at[devices->count++] = (struct sum){.device = gathering->beside, .sums = sums};
    }
}

static void gather(void *context, size_t i) {
    const struct devices *devices = context;
    const struct ids_analysis *analysis = devices->analysis;
    struct sum *sum = &devices->at[i];
    for (uint32_t b = devices->from; b < devices->to && !sum->code; b++)
        sum->code = sum->device(analysis, &analysis->busy[b], sum->sums, &sum->err);
}

/* Each goes through these devices, so that they are together no more than what memory should hold of them
 * (lib/base/far.h). The one that takes longest begins first, so that no thread is left with it at the end. */
static int gather_some(struct ids_analysis *analysis, uint32_t from, uint32_t to, uint64_t events,
                       struct ids_error *err) {
    struct devices devices = {.analysis = analysis, .from = from, .to = to};
    devices.at = calloc(1 + 2 * (size_t)ids_analyzer_count, sizeof *devices.at);
    if (!devices.at) return ids_no_memory(err);
    add_analyzers(&devices, 1);
    devices.at[devices.count++] = (struct sum){.device = sum_up_costs};
    add_analyzers(&devices, 0);
    ids_parallel_events(events, devices.count, gather, &devices);
    int code = 0;
    for (size_t i = 0; i < devices.count && !code; i++)
        if (devices.at[i].code) code = ids_error_pass(err, &devices.at[i].err);
    free(devices.at);
    return code;
}

int ids_gather_devices(struct ids_analysis *analysis, uint32_t from, uint32_t to, struct ids_error *err) {
    enum { AT_ONCE = 128 << 10 };
    int code = 0;
    if (to > analysis->chosen_count) to = (uint32_t)analysis->chosen_count;
    while (from < to && !code) {
        uint32_t end = from;
        uint64_t events = 0;
        while (end < to && events < AT_ONCE) events += analysis->busy[end++].device->activity.count;
        code = gather_some(analysis, from, end, events, err);
        from = end;
    }
    return code;
}

static void let_go(struct ids_analysis *analysis, int analyzer) {
    const struct ids_gathering *gathering = &ids_analyzers[analyzer]->gathering;
    if (gathering->done && analysis->gathered[analyzer]) gathering->done(analysis->gathered[analyzer]);
    free(analysis->gathered[analyzer]);
    analysis->gathered[analyzer] = NULL;
}

int ids_run_analyzers(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    int code = 0;
    for (int i = 0; i < ids_analyzer_count && !code; i++) {
        analysis->sums = analysis->gathered[i];
        code = ids_analyzers[i]->run(analysis, report, err);
        let_go(analysis, i); /* before the next one makes rows: of a million kernels the sums are as large as these */
    }
    return code;
}

void ids_gathered_done(struct ids_analysis *analysis) {
    for (int i = 0; analysis->gathered && i < ids_analyzer_count; i++) let_go(analysis, i);
    free(analysis->gathered);
}
