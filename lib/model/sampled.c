#include "lib/model/sampled.h"

#include "lib/base/saturate.h"
#include "lib/model/doings.h"

/* A doing that is none: a thread has such moments between its events, and before the first. */
static int is_nothing(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i) {
    return i == SIZE_MAX || i >= timeline->count || trace->doings[timeline->doing[i]].account == IDS_NO_ACCOUNT;
}

int64_t ids_sampled_turn(const struct ids_trace *trace, const struct ids_timeline *recorded, int64_t middle_ps,
                         int64_t reach_ps) {
    int64_t from_ps = ids_sat_sub(middle_ps, reach_ps), to_ps = ids_sat_add(middle_ps, reach_ps);
    size_t first = ids_timeline_find(recorded, from_ps), last = ids_timeline_find(recorded, to_ps);
    if (first == last) return middle_ps;
    /* What the sample before saw went on until something began; what the one after it saw, since something ended. */
    if (is_nothing(trace, recorded, first)) {
        for (size_t i = first + 1; i <= last; i++) {
            if (!is_nothing(trace, recorded, i)) return recorded->from_ps[i];
        }
    } else if (is_nothing(trace, recorded, last)) {
        while (last > first + 1 && is_nothing(trace, recorded, last - 1)) last--;
        return recorded->from_ps[last];
    }
    return is_nothing(trace, recorded, first) ? middle_ps : recorded->from_ps[first + 1];
}

/* The thread that a sampled track is of; IDS_NONE: nothing else was recorded of it. */
static uint32_t thread_of(const struct ids_trace *trace, const struct ids_track *sampled) {
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->role == IDS_TRACK_HOST && track->host == sampled->host && track->id == sampled->id &&
            !ids_track_is_told(trace, track) && !ids_track_is_calls(trace, track))
            return t;
    }
    return IDS_NONE;
}

static void set_turns(const struct ids_trace *trace, const struct ids_timeline *recorded, struct ids_track *sampled) {
    struct ids_timeline *timeline = &sampled->timeline;
    for (size_t i = 1; i < timeline->count && sampled->period_ps > 0; i++) {
        int64_t turn_ps = ids_sampled_turn(trace, recorded, timeline->from_ps[i], sampled->period_ps / 2);
        if (turn_ps > timeline->from_ps[i - 1]) timeline->from_ps[i] = turn_ps;
    }
}

/* Both at once, in order of time. */
static int merge(struct ids_trace *trace, struct ids_timeline *recorded, const struct ids_timeline *sampled) {
    struct ids_timeline merged = {0};
    size_t r = 0, s = 0;
    uint32_t events = IDS_NO_DOING, frames = IDS_NO_DOING;
    int failed = 0;
    while (!failed && (r < recorded->count || s < sampled->count)) {
        int64_t when_ps = r == recorded->count                         ? sampled->from_ps[s]
                          : s == sampled->count                        ? recorded->from_ps[r]
                          : recorded->from_ps[r] < sampled->from_ps[s] ? recorded->from_ps[r]
                                                                       : sampled->from_ps[s];
        if (r < recorded->count && recorded->from_ps[r] == when_ps) events = recorded->doing[r++];
        if (s < sampled->count && sampled->from_ps[s] == when_ps) frames = sampled->doing[s++];
        int64_t doing = ids_doing_beside(trace, events, frames);
        failed = doing < 0 || ids_timeline_turn(&merged, when_ps, (uint32_t)doing);
    }
    if (failed) {
        ids_timeline_done(&merged);
        return -1;
    }
    ids_timeline_done(recorded);
    *recorded = merged;
    return 0;
}

int ids_sampled_join(struct ids_trace *trace) {
    for (uint32_t t = 0; t < trace->track_count; t++) {
        struct ids_track *sampled = &trace->tracks[t];
        if (sampled->role != IDS_TRACK_SAMPLED || !sampled->timeline.count) continue;
        uint32_t thread = thread_of(trace, sampled);
        if (thread == IDS_NONE) {
            sampled->role = IDS_TRACK_HOST;
            continue;
        }
        struct ids_timeline *recorded = &trace->tracks[thread].timeline;
        set_turns(trace, recorded, sampled);
        if (merge(trace, recorded, &sampled->timeline)) return -1;
        ids_timeline_done(&sampled->timeline);
    }
    return 0;
}
