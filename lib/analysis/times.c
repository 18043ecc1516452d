#include "lib/analysis/times.h"

#include "lib/analysis/analysis.h"
#include "lib/analysis/context.h"

#include <stdlib.h>

static int64_t first_of(const struct ids_trace *trace) {
    int64_t first_ps = INT64_MAX;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        if (ids_device_counts(trace, device) && device->activity.at[0].start_ps < first_ps)
            first_ps = device->activity.at[0].start_ps;
    }
    if (first_ps != INT64_MAX) return first_ps;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->first_ps <= track->last_ps && track->first_ps < first_ps) first_ps = track->first_ps;
    }
    return first_ps == INT64_MAX ? 0 : first_ps;
}

int ids_times_of(const struct ids_trace *trace, struct ids_times *ret_times, struct ids_error *err) {
    struct ids_analysis analysis = {.trace = trace};
    *ret_times = (struct ids_times){.first_ps = first_of(trace)};
    ids_params_default(&analysis.params);
    int code = ids_steps_make(&analysis, err);
    size_t count = analysis.steps.count;
    if (!code && count) {
        ret_times->steps = calloc(count, sizeof *ret_times->steps);
        if (!ret_times->steps) code = ids_no_memory(err);
    }
    for (size_t i = 0; i < count && !code; i++) {
        const struct ids_step *step = &analysis.steps.at[i];
        int marked = step->host_start_ps < step->host_end_ps;
        int64_t from_ps = step->work_ps, to_ps = step->last_ps;
        if (marked && step->host_start_ps < from_ps) from_ps = step->host_start_ps;
        if (marked && step->host_end_ps > to_ps) to_ps = step->host_end_ps;
        ret_times->steps[ret_times->step_count++] = (struct ids_step_times){step->number, from_ps, to_ps};
    }
    ids_analysis_done(&analysis);
    return code;
}

void ids_times_done(struct ids_times *times) {
    free(times->steps);
    *times = (struct ids_times){0};
}
