#include "lib/model/event_order.h"

#include "lib/base/parallel.h"
#include "lib/base/run_merge.h"

#include <stdatomic.h>
#include <stdlib.h>

/* What a record is ordered by, and where it is: records are four times as long, so these are merged, and the records
 * move once. */
struct place {
    int64_t start_ps, end_ps;
    size_t index;
};

static int place_before(const struct place *a, const struct place *b) {
    return a->start_ps != b->start_ps ? a->start_ps < b->start_ps : a->end_ps > b->end_ps;
}

IDS_DEFINE_RUN_MERGE(merge_places, struct place, place_before)

static int event_before(const struct ids_event *a, const struct ids_event *b) {
    return a->start_ps != b->start_ps ? a->start_ps < b->start_ps : a->end_ps > b->end_ps;
}

/* Moves the records where their places are, one circle after the other: a second array of them would be as much memory
 * again, touched once. */
static void move_records(struct ids_event *at, struct place *places, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (places[i].index == i) continue;
        struct ids_event first = at[i];
        size_t to = i;
        for (size_t from; (from = places[to].index) != i; to = from) {
            at[to] = at[from];
            places[to].index = to;
        }
        at[to] = first;
        places[to].index = to;
    }
}

/* Moves up those that come a few places late, as ops that begin together and end otherwise; 0 when they are many. */
static int move_few(struct ids_events *events) {
    size_t moves = events->count / 16;
    for (size_t i = 1; i < events->count; i++) {
        if (!event_before(&events->at[i], &events->at[i - 1])) continue;
        const struct ids_event late = events->at[i];
        size_t to = i;
        for (; to && event_before(&late, &events->at[to - 1]) && moves; moves--, to--)
            events->at[to] = events->at[to - 1];
        events->at[to] = late;
        if (!moves) return 0;
    }
    return 1;
}

int ids_events_sort(struct ids_events *events, struct ids_error *err) {
    const size_t count = events->count;
    if (move_few(events)) return 0;
    struct place *places = malloc(count * sizeof *places), *spare = malloc(count * sizeof *spare);
    int failed = !places || !spare;
    if (!failed) {
        for (size_t i = 0; i < count; i++) places[i] = (struct place){events->at[i].start_ps, events->at[i].end_ps, i};
        merge_places(&places, &spare, count);
        move_records(events->at, places, count);
    }
    free(places);
    free(spare);
    return failed ? ids_no_memory(err) : 0;
}

/* To find what is around an event we walk outwards, which takes quadratic time in a damaged file: 3 s for 30,000 nested
 * events. Recorded calls nest below 200, and Python stops at 1,000. */
enum { NEST_LIMIT = 1000 };

int ids_events_set_parents(struct ids_events *events, struct ids_error *err) {
    if (events->count >= IDS_NONE) return ids_fail(err, IDS_LIMIT, "more than four billion events on one thread");
    uint32_t top = IDS_NONE; /* the parents are the stack */
    unsigned depth = 0;
    events->kinds = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        struct ids_event *event = &events->at[i];
        events->kinds |= IDS_KINDS(event->kind) | (event->annotation ? IDS_KINDS(IDS_KIND_ANNOTATED) : 0);
        for (; top != IDS_NONE && events->at[top].end_ps < event->end_ps; depth--) top = events->at[top].parent;
        event->parent = top;
        if (depth == NEST_LIMIT) continue; /* what lies deeper are siblings */
        depth++;
        top = i;
    }
    return 0;
}

/* --- all of a host ---------------------------------------------------------------------------------------------- */

struct ordering {
    struct ids_trace *trace;
    size_t first_track, first_device;
    atomic_int failed;
};

/* Tracks, and then devices. */
static int order_one(const struct ordering *ordering, size_t i, struct ids_error *err) {
    struct ids_trace *trace = ordering->trace;
    size_t track = ordering->first_track + i, tracks = trace->track_count - ordering->first_track;
    if (track < trace->track_count) {
        int code = ids_events_sort(&trace->tracks[track].events, err);
        return code ? code : ids_events_set_parents(&trace->tracks[track].events, err);
    }
    struct ids_device *device = &trace->devices[ordering->first_device + i - tracks];
    const uint32_t number = (uint32_t)(device - trace->devices);
    int code = 0;
    for (enum ids_device_list l = 0; l < IDS_DEVICE_LISTS && !code; l++) {
        struct ids_events *events = ids_device_list(device, l);
        for (size_t e = 0; e < events->count && device->found != number; e++) events->at[e].device = number;
        code = ids_events_sort(events, err);
    }
    return code;
}

static void order_beside(void *context, size_t i) {
    struct ordering *ordering = context;
    struct ids_error unused = IDS_ERROR_INIT; /* who orders all one after the other has the same one */
    if (order_one(ordering, i, &unused)) atomic_store(&ordering->failed, 1);
}

int ids_events_order_from(struct ids_trace *trace, size_t first_device, size_t first_track, struct ids_error *err) {
    size_t count = trace->track_count - first_track + trace->device_count - first_device;
    uint64_t events = 0;
    for (size_t t = first_track; t < trace->track_count; t++) events += trace->tracks[t].event_count;
    struct ordering ordering = {.trace = trace,
                                .first_track = first_track,
                                .first_device = first_device,
                                .failed = events < ids_jobs_least_events()};
    int code = 0;
    if (!ordering.failed) ids_parallel(count, order_beside, &ordering);
    for (size_t i = 0; i < count && ordering.failed && !code; i++) code = order_one(&ordering, i, err);
    return code;
}
