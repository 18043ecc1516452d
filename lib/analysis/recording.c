#include "lib/analysis/recording.h"

#include "lib/base/saturate.h"

static int64_t moment_of(const struct ids_host *host, int64_t unix_ns) {
    return ids_sat_add(host->shift_ps, ids_sat_mul(ids_sat_sub(unix_ns, host->start_unix_ns), 1000));
}

/* A clock of another kind than the file's would make a window of days: work of the host's lies in its profile. */
static int has_work_of(const struct ids_trace *trace, uint32_t host, const struct ids_recorded *recorded) {
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        if (device->host != host || !device->activity.count) continue;
        int64_t start_ps = device->activity.at[0].start_ps;
        if (start_ps < recorded->from_ps || start_ps > recorded->to_ps) return 0;
    }
    return 1;
}

static int was_asked(const struct ids_trace *trace, uint32_t number, struct ids_recorded *ret_recorded) {
    const struct ids_host *host = &trace->hosts[number];
    if (!host->asked_ms || !host->start_unix_ns || !host->opened_unix_ns ||
        host->closed_unix_ns <= host->opened_unix_ns)
        return 0;
    *ret_recorded = (struct ids_recorded){moment_of(host, host->opened_unix_ns), moment_of(host, host->closed_unix_ns)};
    return has_work_of(trace, number, ret_recorded);
}

static void extend(struct ids_recorded *recorded, int64_t from_ps, int64_t to_ps) {
    if (from_ps < recorded->from_ps) recorded->from_ps = from_ps;
    if (to_ps > recorded->to_ps) recorded->to_ps = to_ps;
}

static int was_for_region(const struct ids_trace *trace, uint32_t host, struct ids_recorded *ret_recorded) {
    size_t n = 0;
    while (n < trace->name_count && !trace->names[n].is_block) n++;
    for (size_t t = 0; t < trace->track_count && n < trace->name_count; t++) {
        if (trace->tracks[t].host != host) continue;
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (trace->names[event->name].is_block) extend(ret_recorded, event->start_ps, event->end_ps);
        }
    }
    return ret_recorded->from_ps <= ret_recorded->to_ps;
}

static int was_sampled(const struct ids_trace *trace, uint32_t host, struct ids_recorded *ret_recorded) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->host == host && track->sampling && track->first_ps <= track->last_ps)
            extend(ret_recorded, track->first_ps, track->last_ps);
    }
    return ret_recorded->from_ps <= ret_recorded->to_ps;
}

int ids_recorded_of(const struct ids_trace *trace, uint32_t host, struct ids_recorded *ret_recorded) {
    *ret_recorded = (struct ids_recorded){INT64_MAX, INT64_MIN};
    return was_for_region(trace, host, ret_recorded) || was_sampled(trace, host, ret_recorded) ||
           was_asked(trace, host, ret_recorded);
}
