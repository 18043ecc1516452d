#include "lib/model/event_order.h"

#include "lib/base/run_merge.h"

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

int ids_events_sort(struct ids_events *events, struct ids_error *err) {
    int ordered = 1;
    for (size_t i = 1; i < events->count && ordered; i++) ordered = !event_before(&events->at[i], &events->at[i - 1]);
    if (ordered) return 0;
    struct place *places = malloc(events->count * sizeof *places), *spare = malloc(events->count * sizeof *spare);
    struct ids_event *sorted = malloc(events->count * sizeof *sorted);
    if (places && spare && sorted) {
        for (size_t i = 0; i < events->count; i++)
            places[i] = (struct place){events->at[i].start_ps, events->at[i].end_ps, i};
        merge_places(&places, &spare, events->count);
        for (size_t i = 0; i < events->count; i++) sorted[i] = events->at[places[i].index];
    }
    int failed = !places || !spare || !sorted;
    free(places);
    free(spare);
    free(failed ? sorted : events->at);
    if (failed) return ids_no_memory(err);
    events->at = sorted;
    events->room = events->count;
    return 0;
}

/* To find what is around an event we walk outwards, which takes quadratic time in a damaged file: 3 s for 30,000 nested
 * events. Recorded calls nest below 200, and Python stops at 1,000. */
enum { NEST_LIMIT = 1000 };

int ids_events_set_parents(struct ids_events *events, struct ids_error *err) {
    if (events->count >= IDS_NONE) return ids_fail(err, IDS_LIMIT, "more than four billion events on one thread");
    uint32_t top = IDS_NONE; /* the parents are the stack */
    unsigned depth = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        struct ids_event *event = &events->at[i];
        for (; top != IDS_NONE && events->at[top].end_ps < event->end_ps; depth--) top = events->at[top].parent;
        event->parent = top;
        if (depth == NEST_LIMIT) continue; /* what lies deeper are siblings */
        depth++;
        top = i;
    }
    return 0;
}
