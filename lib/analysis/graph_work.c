#include "lib/analysis/graph_work.h"

#include <stdlib.h>

static int is_graph_launch(const struct ids_trace *trace, const struct ids_name *name) {
    if (name->graph_launch) return name->graph_launch == 2; /* the join looked at names of launches that have work */
    return ids_text_contains(ids_strings_text(&trace->strings, name->text), "GraphLaunch");
}

/* Most files have none, and of those no event needs to be looked at. */
static int has_graph_launches(const struct ids_trace *trace) {
    for (size_t n = 0; n < trace->name_count; n++)
        if (is_graph_launch(trace, &trace->names[n])) return 1;
    return 0;
}

static int launches_graph(const struct ids_trace *trace, const struct ids_event *event) {
    return event->produces && /* else nothing would be known to be of it */
           is_graph_launch(trace, &trace->names[event->name]);
}

/* How many calls of a thread launch a graph without work; their indices go to `ret_at`, unless that is NULL. */
static size_t find_on_thread(const struct ids_trace *trace, const struct ids_track *track, uint32_t *ret_at) {
    const struct ids_events *events = &track->events;
    size_t count = 0;
    ids_events_turn(events);
    for (size_t i = 0; i < events->count; i++) {
        if (events->at[i].graph_ran || !launches_graph(trace, &events->at[i])) continue;
        if (ret_at) ret_at[count] = (uint32_t)i;
        count++;
    }
    return count;
}

int ids_graph_work_find(struct ids_graph_work *work, const struct ids_trace *trace) {
    *work = (struct ids_graph_work){.trace = trace};
    if (!has_graph_launches(trace)) return 0;
    work->first = calloc(trace->track_count + 1, sizeof *work->first);
    if (!work->first) return -1;
    for (size_t t = 0; t < trace->track_count; t++)
        work->first[t + 1] = work->first[t] + find_on_thread(trace, &trace->tracks[t], NULL);
    work->at = calloc(work->first[trace->track_count] + 1, sizeof *work->at);
    if (!work->at) return -1;
    for (size_t t = 0; t < trace->track_count; t++)
        if (work->first[t + 1] > work->first[t]) find_on_thread(trace, &trace->tracks[t], work->at + work->first[t]);
    return 0;
}

void ids_graph_work_done(struct ids_graph_work *work) {
    free(work->first);
    free(work->at);
    *work = (struct ids_graph_work){0};
}

/* The first such call behind the event on its thread: its place in work->at, which may be of the next thread. No launch
 * of work is such a call. */
static size_t place_behind(const struct ids_graph_work *work, const struct ids_event *launch) {
    const size_t index = (size_t)(launch - work->trace->tracks[launch->track].events.at);
    size_t low = work->first[launch->track], high = work->first[launch->track + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (work->at[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What was launched last on a thread is behind this one there. */
static int64_t first_behind(const struct ids_graph_work *work, const struct ids_event *launch) {
    const struct ids_event *events = work->trace->tracks[launch->track].events.at;
    size_t place = place_behind(work, launch);
    return place < work->first[launch->track + 1] ? events[work->at[place]].end_ps : INT64_MAX;
}

int64_t ids_graph_work_from(const struct ids_graph_work *work, const struct ids_event *previous,
                            const struct ids_event *next, int64_t gap_from_ps) {
    if (!work->first || (previous && !previous->launch)) return INT64_MAX; /* it may be of such a graph */
    if (!next) return previous ? first_behind(work, previous->launch) : INT64_MAX;
    if (!next->launch) return INT64_MAX;
    const struct ids_event *launch = next->launch, *events = work->trace->tracks[launch->track].events.at;
    int64_t behind_ps = previous ? previous->launch->start_ps : gap_from_ps, from_ps = INT64_MAX;
    for (size_t place = place_behind(work, launch); place-- > work->first[launch->track];) {
        const struct ids_event *call = &events[work->at[place]];
        if (call->start_ps <= behind_ps) break;
        from_ps = call->end_ps;
    }
    return from_ps;
}

struct ids_graph_launches ids_graph_launches_of(const struct ids_trace *trace) {
    struct ids_graph_launches launches = {0};
    if (!has_graph_launches(trace)) return launches;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_events *events = &trace->tracks[t].events;
        if (trace->tracks[t].role != IDS_TRACK_HOST) continue;
        for (size_t i = 0; i < events->count; i++) {
            if (!launches_graph(trace, &events->at[i])) continue;
            launches.all++;
            launches.without_work += !events->at[i].graph_ran;
        }
    }
    return launches;
}
