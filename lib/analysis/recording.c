#include "lib/analysis/recording.h"

#include "lib/base/saturate.h"

#include <stdlib.h>

static const struct ids_recorded nothing = {INT64_MAX, INT64_MIN};

static void extend(struct ids_recorded *recorded, int64_t from_ps, int64_t to_ps) {
    if (from_ps < recorded->from_ps) recorded->from_ps = from_ps;
    if (to_ps > recorded->to_ps) recorded->to_ps = to_ps;
}

static void find_regions(const struct ids_trace *trace, struct ids_recorded *of_hosts) {
    size_t n = 0;
    while (n < trace->name_count && !trace->names[n].is_block) n++;
    for (size_t t = 0; t < trace->track_count && n < trace->name_count; t++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (trace->names[event->name].is_block)
                extend(&of_hosts[trace->tracks[t].host], event->start_ps, event->end_ps);
        }
    }
}

static void find_samples(const struct ids_trace *trace, struct ids_recorded *of_hosts) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->sampling && track->first_ps <= track->last_ps)
            extend(&of_hosts[track->host], track->first_ps, track->last_ps);
    }
}

static int64_t moment_of(const struct ids_host *host, int64_t unix_ns) {
    return ids_sat_add(host->shift_ps, ids_sat_mul(ids_sat_sub(unix_ns, host->start_unix_ns), 1000));
}

static void find_asked(const struct ids_trace *trace, struct ids_recorded *of_hosts) {
    for (uint32_t h = 0; h < trace->host_count; h++) {
        const struct ids_host *host = &trace->hosts[h];
        if (host->asked_ms && host->start_unix_ns && host->opened_unix_ns &&
            host->closed_unix_ns > host->opened_unix_ns)
            of_hosts[h] =
                (struct ids_recorded){moment_of(host, host->opened_unix_ns), moment_of(host, host->closed_unix_ns)};
    }
    /* A clock of another kind than the file's would make a window of days: work of the host's lies in its profile. */
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        if (!device->activity.count) continue;
        struct ids_recorded *recorded = &of_hosts[device->host];
        int64_t start_ps = device->activity.at[0].start_ps;
        if (start_ps < recorded->from_ps || start_ps > recorded->to_ps) *recorded = nothing;
    }
}

/* From its file's first event to the last, where threads are among them: of a host whose file holds devices alone it is
 * not known how long these had nothing to do. */
static void find_covered(const struct ids_trace *trace, struct ids_recorded *of_hosts, char *has_threads) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->first_ps > track->last_ps) continue;
        extend(&of_hosts[track->host], track->first_ps, track->last_ps);
        has_threads[track->host] |= track->device == IDS_NONE;
    }
    for (size_t h = 0; h < trace->host_count; h++) {
        if (!has_threads[h]) of_hosts[h] = nothing;
    }
}

struct ids_recorded *ids_coverage(const struct ids_trace *trace) {
    size_t count = trace->host_count;
    struct ids_recorded *found = calloc(count + 1, sizeof *found), *recordings = ids_recordings(trace);
    char *has_threads = calloc(count + 1, 1);
    int failed = !found || !recordings || !has_threads;
    for (size_t h = 0; h < count && !failed; h++) found[h] = nothing;
    if (!failed) find_covered(trace, found, has_threads);
    for (size_t h = 0; h < count && !failed; h++) {
        if (has_threads[h] && ids_is_recorded(&recordings[h]))
            extend(&found[h], recordings[h].from_ps, recordings[h].to_ps);
    }
    free(has_threads);
    free(recordings);
    if (!failed) return found;
    free(found);
    return NULL;
}

struct ids_recorded *ids_recordings(const struct ids_trace *trace) {
    static void (*const ways[])(const struct ids_trace *, struct ids_recorded *) = {find_regions, find_samples,
                                                                                    find_asked};
    enum { WAYS = sizeof ways / sizeof *ways };
    size_t count = trace->host_count;
    struct ids_recorded *found = calloc((count + 1) * WAYS, sizeof *found);
    for (size_t i = 0; found && i < count * WAYS; i++) found[i] = nothing;
    for (size_t w = 0; found && w < WAYS; w++) ways[w](trace, found + w * count);
    for (size_t h = 0; found && h < count; h++) {
        for (size_t w = 1; w < WAYS && !ids_is_recorded(&found[h]); w++) found[h] = found[w * count + h];
    }
    return found;
}
