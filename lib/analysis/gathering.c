/* gathering.c - what analyzers sum up of single events, before they run. */
#include "lib/analysis/context.h"

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
    int code = make_room(analysis, err);
    for (uint32_t host = 0; host < analysis->trace->host_count; host++) {
        for (int i = 0; i < ids_analyzer_count && !code; i++) {
            const struct ids_gathering *gathering = &ids_analyzers[i]->gathering;
            if (gathering->host) code = gathering->host(analysis, host, analysis->gathered[i], err);
        }
    }
    return code;
}

int ids_gather_device(struct ids_analysis *analysis, struct ids_busy *busy, struct ids_error *err) {
    if ((size_t)(busy - analysis->busy) >= analysis->chosen_count) return 0;
    int code = 0;
    for (int i = 0; i < ids_analyzer_count && !code; i++) {
        const struct ids_gathering *gathering = &ids_analyzers[i]->gathering;
        if (gathering->device) code = gathering->device(analysis, busy, analysis->gathered[i], err);
    }
    return code;
}

int ids_run_analyzers(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    int code = 0;
    for (int i = 0; i < ids_analyzer_count && !code; i++) {
        analysis->sums = analysis->gathered[i];
        code = ids_analyzers[i]->run(analysis, report, err);
    }
    return code;
}

void ids_gathered_done(struct ids_analysis *analysis) {
    for (int i = 0; analysis->gathered && i < ids_analyzer_count; i++) {
        const struct ids_gathering *gathering = &ids_analyzers[i]->gathering;
        if (gathering->done && analysis->gathered[i]) gathering->done(analysis->gathered[i]);
        free(analysis->gathered[i]);
    }
    free(analysis->gathered);
}
