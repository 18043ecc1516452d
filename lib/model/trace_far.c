/* trace_far.c - what hosts that are whole did, in memory that lies in a file (lib/base/far.h). */
#include "lib/model/trace.h"

#include <stdlib.h>

/* A list that goes there: shorter ones are as many as tracks, and stay. */
enum { LEAST_BYTES = 4096 };

/* One array, and where it went. */
struct move {
    void **array;
    size_t bytes, at;
};

struct moves {
    struct ids_far *far;
    struct move *at;
    size_t count;
};

/* 0, or -1 where there is no room. */
static int put(struct moves *moves, void *array, size_t bytes) {
    struct move *move = &moves->at[moves->count];
    void **place = array;
    *move = (struct move){.array = place, .bytes = bytes};
    if (ids_far_put(moves->far, *place, bytes, &move->at)) return -1;
    moves->count++;
    return 0;
}

static int is_worth(const struct ids_events *events) {
    return !events->far && events->count * sizeof *events->at >= LEAST_BYTES;
}

static int is_worth_of(const struct ids_timeline *timeline) {
    return !timeline->far && timeline->count * sizeof *timeline->doing >= LEAST_BYTES;
}

static int put_all(struct moves *moves, struct ids_trace *trace, size_t first_device, size_t first_track) {
    int failed = 0;
    for (size_t t = first_track; t < trace->track_count && !failed; t++) {
        struct ids_events *events = &trace->tracks[t].events;
        struct ids_timeline *timeline = &trace->tracks[t].timeline;
        if (is_worth(events)) failed = put(moves, &events->at, events->count * sizeof *events->at);
        if (failed || !is_worth_of(timeline)) continue;
        failed = put(moves, &timeline->from_ps, timeline->count * sizeof *timeline->from_ps) ||
                 put(moves, &timeline->doing, timeline->count * sizeof *timeline->doing);
    }
    for (size_t d = first_device; d < trace->device_count && !failed; d++) {
        for (enum ids_device_list l = 0; l < IDS_DEVICE_LISTS && !failed; l++) {
            struct ids_events *events = ids_device_list(&trace->devices[d], l);
            if (is_worth(events)) failed = put(moves, &events->at, events->count * sizeof *events->at);
        }
    }
    return failed;
}

/* Their arrays are the far ones now. */
static void mark_all(struct ids_trace *trace, size_t first_device, size_t first_track) {
    for (size_t t = first_track; t < trace->track_count; t++) {
        struct ids_events *events = &trace->tracks[t].events;
        struct ids_timeline *timeline = &trace->tracks[t].timeline;
        if (is_worth(events)) events->room = events->count, events->far = trace->far;
        if (!is_worth_of(timeline)) continue;
        timeline->room = timeline->count;
        timeline->far = trace->far;
    }
    for (size_t d = first_device; d < trace->device_count; d++) {
        for (enum ids_device_list l = 0; l < IDS_DEVICE_LISTS; l++) {
            struct ids_events *events = ids_device_list(&trace->devices[d], l);
            if (is_worth(events)) events->room = events->count, events->far = trace->far;
        }
    }
}

/* Maps what was put and lets go of what it was put from. How many bytes; 0 where there is no room for all of it. */
static uint64_t end_moves(struct moves *moves, int failed) {
    uint8_t *mapped = failed ? NULL : ids_far_map(moves->far);
    uint64_t moved = 0;
    if (!mapped) ids_far_forget(moves->far);
    for (size_t i = 0; i < moves->count && mapped; i++) {
        free(*moves->at[i].array);
        *moves->at[i].array = mapped + moves->at[i].at;
        moved += moves->at[i].bytes;
    }
    return moved;
}

void ids_trace_put_timeline_far(struct ids_trace *trace, struct ids_timeline *timeline) {
    struct move arrays[2];
    struct moves moves = {.far = trace->far, .at = arrays};
    if (!trace->far || timeline->count * sizeof *timeline->doing < IDS_FAR_LEAST_BYTES) return;
    int failed = put(&moves, &timeline->from_ps, timeline->count * sizeof *timeline->from_ps) ||
                 put(&moves, &timeline->doing, timeline->count * sizeof *timeline->doing);
    if (!end_moves(&moves, failed)) return;
    timeline->room = timeline->count;
    timeline->far = trace->far;
}

uint64_t ids_trace_put_far(struct ids_trace *trace, size_t first_device, size_t first_track) {
    size_t most = 3 * (trace->track_count - first_track) + IDS_DEVICE_LISTS * (trace->device_count - first_device);
    struct moves moves = {.far = trace->far, .at = calloc(most + 1, sizeof *moves.at)};
    uint64_t moved = moves.far && moves.at ? end_moves(&moves, put_all(&moves, trace, first_device, first_track)) : 0;
    if (moved) mark_all(trace, first_device, first_track);
    free(moves.at);
    return moved;
}
