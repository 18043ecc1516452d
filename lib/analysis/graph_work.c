#include "lib/analysis/graph_work.h"

static int launches_graph(const struct ids_trace *trace, const struct ids_event *event) {
    if (!event->produces) return 0; /* nothing would be known to be of it */
    const struct ids_name *name = &trace->names[event->name];
    if (name->graph_launch) return name->graph_launch == 2; /* the join looked at names of launches that have work */
    return ids_text_contains(ids_strings_text(&trace->strings, name->text), "GraphLaunch");
}

static int is_without_work(const struct ids_trace *trace, const struct ids_event *event) {
    return !event->graph_ran && launches_graph(trace, event);
}

/* What was launched last on a thread is behind this one there. */
static int64_t first_behind(const struct ids_trace *trace, const struct ids_event *launch) {
    const struct ids_events *events = &trace->tracks[launch->track].events;
    for (size_t i = (size_t)(launch - events->at) + 1; i < events->count; i++)
        if (is_without_work(trace, &events->at[i])) return events->at[i].end_ps;
    return INT64_MAX;
}

int64_t ids_graph_work_from(const struct ids_trace *trace, const struct ids_event *previous,
                            const struct ids_event *next, int64_t gap_from_ps) {
    if (previous && !previous->launch) return INT64_MAX; /* it may be of such a graph */
    if (!next) return previous ? first_behind(trace, previous->launch) : INT64_MAX;
    if (!next->launch) return INT64_MAX;
    const struct ids_events *events = &trace->tracks[next->launch->track].events;
    int64_t behind_ps = previous ? previous->launch->start_ps : gap_from_ps, from_ps = INT64_MAX;
    for (size_t i = (size_t)(next->launch - events->at); i-- > 0 && events->at[i].start_ps > behind_ps;)
        if (is_without_work(trace, &events->at[i])) from_ps = events->at[i].end_ps;
    return from_ps;
}

struct ids_graph_launches ids_graph_launches_of(const struct ids_trace *trace) {
    struct ids_graph_launches launches = {0};
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
