#include "lib/analysis/earlier_work.h"

#include <stdlib.h>
#include <string.h>

/* A wait as short as this may be the launch's own latency. */
static const int64_t LONG_PS = 1000000000; /* 1 ms */

void ids_earlier_work_done(struct ids_earlier_work *work) {
    free(work->launched);
    work->launched = NULL;
}

void ids_earlier_work_begin(struct ids_earlier_work *work) {
    ids_earlier_work_done(work);
    work->seen = 0;
    work->is_known = 0;
}

/* Of half of the activities and more: who writes only some events of each kind loses launches anywhere. */
static int are_launches_recorded(const struct ids_events *activity) {
    size_t launched = 0;
    for (size_t i = 0; i < activity->count; i++) launched += activity->at[i].launch != NULL;
    return launched >= activity->count / 2;
}

int ids_earlier_work_is(struct ids_earlier_work *work, const struct ids_analysis *analysis,
                        const struct ids_device *device, const struct ids_event *activity) {
    const struct ids_events *all = &device->activity;
    if (device->kind != IDS_DEVICE_GPU || activity->launch) return 0;
    if (!work->launched) work->launched = calloc(analysis->trace->track_count + 1, 1);
    if (!work->launched) return -1;
    for (; work->seen < all->count && all->at[work->seen].start_ps <= activity->start_ps; work->seen++)
        work->launched[all->at[work->seen].track] |= all->at[work->seen].launch != NULL;
    if (work->launched[activity->track]) return 0;
    if (!work->is_known) work->is_known = are_launches_recorded(all) ? 1 : -1;
    return work->is_known > 0;
}

/* Others of the host may have done it. */
static int is_alone(const struct ids_analysis *analysis, const struct ids_busy *busy) {
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_device *device = analysis->busy[b].device;
        if (device != busy->device && device->kind == IDS_DEVICE_GPU && device->host == busy->device->host) return 0;
    }
    return 1;
}

static int makes_wait(const struct ids_trace *trace, const struct ids_doing *doing) {
    if (doing->account != IDS_HOST_DISPATCH) return 0;
    return ids_text_contains(ids_strings_text(&trace->strings, trace->names[doing->name].text), "StreamWaitEvent");
}

uint32_t ids_earlier_work_wait(const struct ids_analysis *analysis, const struct ids_busy *busy,
                               const struct ids_asked_threads *threads, const struct ids_event *next, int64_t from_ps) {
    const struct ids_trace *trace = analysis->trace;
    if (busy->device->kind != IDS_DEVICE_GPU || next->start_ps - from_ps < LONG_PS) return IDS_NO_DOING;
    if (trace->tracks[next->track].first_ps != next->start_ps || !is_alone(analysis, busy)) return IDS_NO_DOING;
    for (int place = 0; place < threads->count; place++) {
        const struct ids_timeline *timeline = &trace->tracks[threads->at[place]].timeline;
        for (size_t i = ids_timeline_find(timeline, next->launch->start_ps); i != SIZE_MAX; i--) {
            if (makes_wait(trace, &trace->doings[timeline->doing[i]])) return timeline->doing[i];
        }
    }
    return IDS_NO_DOING;
}
