#include "lib/analysis/staging.h"

#include "lib/base/vec.h"
#include "lib/model/doings.h"

#include <stdlib.h>

static int by_host(const void *a, const void *b) {
    const struct ids_staging *left = a, *right = b;
    if (left->host != right->host) return left->host < right->host ? -1 : 1;
    if (left->from_ps != right->from_ps) return left->from_ps < right->from_ps ? -1 : 1;
    return (left->to_ps > right->to_ps) - (left->to_ps < right->to_ps);
}

/* What the thread does that made a pool thread put data; that thread's own doing where it does something else by
 * then. */
static uint32_t doing_of_staging(const struct ids_trace *trace, const struct ids_event *event,
                                 const struct ids_event *cause) {
    const struct ids_timeline *timeline = &trace->tracks[cause->track].timeline;
    size_t i = ids_timeline_find(timeline, cause->start_ps);
    if (i != SIZE_MAX && trace->doings[timeline->doing[i]].account == IDS_HOST_STAGING) return timeline->doing[i];
    timeline = &trace->tracks[event->track].timeline;
    i = ids_timeline_find(timeline, event->start_ps);
    return i != SIZE_MAX && trace->doings[timeline->doing[i]].account == IDS_HOST_STAGING ? timeline->doing[i]
                                                                                          : IDS_NONE;
}

static int find(struct ids_stagings *stagings, const struct ids_trace *trace) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->role != IDS_TRACK_HOST) continue;
        struct ids_cursor cursor = ids_cursor_over_kinds(&track->events, IDS_KINDS(IDS_KIND_STAGING));
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind != IDS_KIND_STAGING) continue;
            const struct ids_event *cause = ids_event_cause(trace, event);
            if (!cause || cause->track == t) continue;
            uint32_t doing = doing_of_staging(trace, event, cause);
            if (doing == IDS_NONE) continue;
            struct ids_staging *staging = IDS_PUSH(stagings->at, stagings->count, stagings->room);
            if (!staging) return -1;
            *staging = (struct ids_staging){event->start_ps, event->end_ps, track->host, doing};
        }
    }
    return 0;
}

/* By host and time, and none begins before the last one has ended. */
static void order(struct ids_stagings *stagings) {
    if (stagings->count) qsort(stagings->at, stagings->count, sizeof *stagings->at, by_host);
    size_t kept = 0;
    for (size_t i = 0; i < stagings->count; i++) {
        struct ids_staging staging = stagings->at[i];
        if (kept && stagings->at[kept - 1].host == staging.host && stagings->at[kept - 1].to_ps > staging.from_ps)
            staging.from_ps = stagings->at[kept - 1].to_ps;
        if (staging.from_ps < staging.to_ps) stagings->at[kept++] = staging;
    }
    stagings->count = kept;
}

int ids_stagings_find(struct ids_stagings *stagings, const struct ids_trace *trace) {
    *stagings = (struct ids_stagings){0};
    if (find(stagings, trace)) return -1;
    order(stagings);
    return 0;
}

void ids_stagings_done(struct ids_stagings *stagings) {
    free(stagings->at);
}

const struct ids_staging *ids_stagings_after(const struct ids_stagings *stagings, uint32_t host, int64_t when_ps) {
    size_t low = 0, high = stagings->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ids_staging *staging = &stagings->at[middle];
        if (staging->host < host || (staging->host == host && staging->to_ps <= when_ps))
            low = middle + 1;
        else
            high = middle;
    }
    return low < stagings->count && stagings->at[low].host == host ? &stagings->at[low] : NULL;
}
