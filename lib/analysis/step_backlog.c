/* step_backlog.c - what a device still does of the time before the first annotated step, when recording begins.
 *
 * It belongs to no step, and the first one does not begin before it is done: its own work stands behind it in the queue
 * of the stream. Other streams may be ahead (the batch that is copied, as for each later step), so the stream decides
 * on which the first step does most. */
#include "lib/analysis/step_sources.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

/* A stream until the first step's last work. */
struct stream {
    uint64_t first_made;   /* the step of its first work that is of any; 0: none */
    int64_t end_ps;        /* of what it did before that; INT64_MIN: nothing */
    uint64_t launchless;   /* of it, what has no launch */
    int64_t launchless_ps; /* its time */
    int64_t of_first_ps;   /* its work for the first step */
};
struct streams {
    struct stream *at;
    size_t count, room;
    struct ids_keymap places; /* by track + 1 */
    uint64_t place, track;    /* as mostly, that of the event before */
};

static struct stream *stream_of(struct streams *streams, uint32_t track) {
    if (streams->count && streams->track == track) return &streams->at[streams->place];
    streams->track = track;
    if (ids_keymap_get(&streams->places, track + UINT64_C(1), &streams->place)) return &streams->at[streams->place];
    streams->place = streams->count;
    struct stream *fresh = IDS_PUSH(streams->at, streams->count, streams->room);
    if (!fresh || ids_keymap_add(&streams->places, track + UINT64_C(1), streams->place) < 0) return NULL;
    *fresh = (struct stream){.end_ps = INT64_MIN};
    return fresh;
}

static void add(struct stream *stream, const struct ids_event *event, uint64_t made, uint64_t first) {
    if (made && !stream->first_made) stream->first_made = made;
    if (made == first) ids_sum(&stream->of_first_ps, event->end_ps - event->start_ps);
    if (stream->first_made) return;
    if (event->end_ps > stream->end_ps) stream->end_ps = event->end_ps;
    if (event->launch) return;
    stream->launchless++;
    ids_sum(&stream->launchless_ps, event->end_ps - event->start_ps);
}

/* The stream on which the first step does most; NULL where it does nothing. */
static const struct stream *main_of(const struct streams *streams, uint64_t first) {
    const struct stream *most = NULL;
    for (size_t i = 0; i < streams->count; i++) {
        const struct stream *stream = &streams->at[i];
        if (stream->first_made == first && (!most || stream->of_first_ps > most->of_first_ps)) most = stream;
    }
    return most;
}

int ids_step_backlog(const struct ids_events *activity, const uint32_t *made, const struct ids_device_steps *own,
                     struct ids_step_backlog *ret_backlog) {
    struct streams streams = {0};
    int code = 0, is_ahead = 1;
    *ret_backlog = (struct ids_step_backlog){.ahead_ps = INT64_MIN, .queued_ps = INT64_MIN};
    uint64_t first = own->count ? (uint64_t)own->at[0].step + 1 : 0;
    for (size_t i = 0; i < activity->count && !code && own->count; i++) {
        const struct ids_event *event = &activity->at[i];
        if (event->start_ps > own->at[0].to_ps) break;
        struct stream *stream = stream_of(&streams, event->track);
        if (stream)
            add(stream, event, made[i], first);
        else
            code = -1;
        is_ahead = is_ahead && !made[i];
        if (is_ahead && event->end_ps > ret_backlog->ahead_ps) ret_backlog->ahead_ps = event->end_ps;
    }
    const struct stream *most = main_of(&streams, first);
    if (most) ret_backlog->queued_ps = most->end_ps;
    for (size_t i = 0; i < streams.count; i++) {
        ret_backlog->launchless += streams.at[i].launchless;
        ids_sum(&ret_backlog->launchless_ps, streams.at[i].launchless_ps);
    }
    ids_keymap_done(&streams.places);
    free(streams.at);
    return code;
}
