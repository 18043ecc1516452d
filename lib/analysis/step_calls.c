/* step_calls.c - steps that are calls of a jitted function (idsprof's "call of f"), in programs whose threads take
 * turns.
 *
 * A thread's call begins a step, and the next call, on whichever thread, ends it. That is where the profiler puts the
 * mark, which may so lie on another thread than the call: by time each call is the first of its step all the same. */
#include "lib/analysis/step_sources.h"

#include "lib/base/vec.h"

#include <stdlib.h>

static int earlier(const void *a, const void *b) {
    const struct ids_step_call *left = a, *right = b;
    if (left->host != right->host) return left->host < right->host ? -1 : 1;
    if (left->from_ps != right->from_ps) return left->from_ps < right->from_ps ? -1 : 1;
    return (left->made > right->made) - (left->made < right->made);
}

/* The last one on that host that began at or before that time; NULL: none. */
static struct ids_step_call *call_before(const struct ids_steps *steps, uint32_t host, int64_t when_ps) {
    size_t low = 0, high = steps->call_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ids_step_call *call = &steps->call[middle];
        if (call->host < host || (call->host == host && call->from_ps <= when_ps))
            low = middle + 1;
        else
            high = middle;
    }
    return low && steps->call[low - 1].host == host ? &steps->call[low - 1] : NULL;
}

/* The window opened on a thread whose step another one ended. */
static void find_opening(const struct ids_trace *trace, struct ids_steps *steps) {
    for (size_t t = 0; t < trace->track_count; t++) {
        uint32_t host = trace->tracks[t].host;
        struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[t].events, IDS_KINDS(IDS_KIND_OPENED));
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind != IDS_KIND_OPENED) continue;
            struct ids_step_call *before = call_before(steps, host, event->start_ps),
                                 *next = before                                ? before + 1
                                         : call_before(steps, host, INT64_MAX) ? steps->call
                                                                               : NULL;
            while (next && next < steps->call + steps->call_count && next->host < host) next++;
            if (!next || next == steps->call + steps->call_count || next->host != host) continue;
            struct ids_step *step = &steps->at[next->made];
            step->opens |= !ids_sampling_kept_for(trace, host, step->number);
        }
    }
}

int ids_steps_find_calls(struct ids_analysis *analysis) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    if (!steps->count || !ids_text_begins(ids_strings_text(&trace->strings, steps->name), "call of ")) return 0;
    size_t room = 0;
    for (uint32_t host = 0; host < trace->host_count; host++) {
        for (size_t i = 0; i < steps->count; i++) {
            uint64_t place;
            if (!ids_keymap_get(&steps->marks, ids_step_mark_key(i, host), &place)) continue;
            struct ids_step_call *call = IDS_PUSH(steps->call, steps->call_count, room);
            if (!call) return -1;
            *call = (struct ids_step_call){steps->mark[place].start_ps, steps->mark[place].end_ps, host, (uint32_t)i};
        }
    }
    qsort(steps->call, steps->call_count, sizeof *steps->call, earlier);
    find_opening(trace, steps);
    return 0;
}

/* The call of a jitted function that a host event lies in, or that its causes lie in. */
static const struct ids_event *dispatch_around(const struct ids_trace *trace, const struct ids_event *event) {
    for (int hop = 0; event && hop < IDS_STEP_HOPS; hop++) {
        for (const struct ids_event *around = event; around; around = ids_event_outside(trace, around)) {
            if (around->kind == IDS_KIND_DISPATCH) return around;
        }
        event = ids_event_cause(trace, event);
    }
    return NULL;
}

uint64_t ids_step_made_of_call(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_steps *steps = &analysis->steps;
    const struct ids_event *dispatch = steps->call_count ? dispatch_around(analysis->trace, event) : NULL;
    if (!dispatch) return 0;
    const struct ids_step_call *call =
        call_before(steps, analysis->trace->tracks[dispatch->track].host, dispatch->start_ps);
    return call && dispatch->start_ps < call->to_ps ? call->made + (uint64_t)1 : 0;
}
