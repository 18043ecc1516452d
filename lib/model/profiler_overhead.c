#include "lib/model/profiler_overhead.h"

#include "lib/model/account.h"
#include "lib/model/doings.h"

/* So long after its last call a thread may be held up for that call. */
#define AFTER_CALL_PS ((int64_t)100000000)

/* Of a line. A thread has one buffer or a few of them. */
enum { MOST = 64 };

/* The turn of the timeline in which a thread does nothing from its last call until the overhead is over; SIZE_MAX:
 * there is none. */
static size_t turn_around(const struct ids_trace *trace, const struct ids_timeline *timeline, int64_t from_ps,
                          int64_t to_ps) {
    size_t i = ids_timeline_find(timeline, from_ps);
    if (i == SIZE_MAX || !i || trace->doings[timeline->doing[i]].account != IDS_NO_ACCOUNT) return SIZE_MAX;
    if (i + 1 < timeline->count && timeline->from_ps[i + 1] < to_ps) return SIZE_MAX;
    return from_ps - timeline->from_ps[i] <= AFTER_CALL_PS ? i : SIZE_MAX;
}

static int put_in(struct ids_trace *trace, struct ids_timeline *timeline, size_t turn, int64_t from_ps, int64_t to_ps,
                  uint32_t doing) {
    struct ids_timeline with = {0};
    int failed = 0;
    for (size_t i = 0; i < timeline->count && !failed; i++) {
        failed = ids_timeline_turn(&with, timeline->from_ps[i], timeline->doing[i]);
        if (i == turn && !failed)
            failed = ids_timeline_turn(&with, from_ps, doing) || ids_timeline_turn(&with, to_ps, timeline->doing[i]);
    }
    if (failed) {
        ids_timeline_done(&with);
        return -1;
    }
    ids_timeline_done(timeline);
    ids_trace_put_timeline_far(trace, &with);
    *timeline = with;
    return 0;
}

static int join(struct ids_trace *trace, const struct ids_track *overhead, int64_t from_ps, int64_t to_ps,
                uint32_t doing) {
    struct ids_track *held_up = NULL;
    size_t turn = SIZE_MAX;
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_track *track = &trace->tracks[t];
        if (track == overhead || track->host != overhead->host || track->role != IDS_TRACK_HOST) continue;
        size_t i = turn_around(trace, &track->timeline, from_ps, to_ps);
        if (i == SIZE_MAX || (held_up && held_up->timeline.from_ps[turn] >= track->timeline.from_ps[i])) continue;
        held_up = track;
        turn = i;
    }
    return held_up ? put_in(trace, &held_up->timeline, turn, from_ps, to_ps, doing) : 0;
}

int ids_profiler_overhead_join(struct ids_trace *trace) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        const struct ids_timeline *timeline = &track->timeline;
        if (track->role != IDS_TRACK_HOST ||
            !ids_text_is(ids_strings_text(&trace->strings, track->name), "CUPTI overhead"))
            continue;
        for (size_t i = 0; i + 1 < timeline->count && i < 2 * (size_t)MOST; i++) {
            uint32_t doing = timeline->doing[i];
            if (trace->doings[doing].account == IDS_PROFILER &&
                join(trace, track, timeline->from_ps[i], timeline->from_ps[i + 1], doing))
                return -1;
        }
    }
    return 0;
}
