#include "lib/model/graph_recordings.h"

#include "lib/model/account.h"
#include "lib/model/doings.h"

/* A thread's turns [first, end) are of one recording. */
struct recording {
    size_t first, end;
    int64_t from_ps, to_ps;
};

int ids_begins_graph_recording(struct ids_text name) {
    return ids_is_device_call(name) && ids_text_contains(name, "StreamBeginCapture");
}

static int is_call(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i, const char *what) {
    const struct ids_doing *doing = &trace->doings[timeline->doing[i]];
    if (doing->account != IDS_HOST_RUNTIME) return 0;
    struct ids_text name = ids_strings_text(&trace->strings, trace->names[doing->name].text);
    return ids_is_device_call(name) && ids_text_contains(name, what);
}

/* The first turn from there on that is such a call; those after `begins` are of another recording. */
static size_t next_call(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i,
                        const char *what) {
    for (; i < timeline->count; i++) {
        if (is_call(trace, timeline, i, what)) return i;
        if (is_call(trace, timeline, i, "StreamBeginCapture")) break;
    }
    return SIZE_MAX;
}

static void end_behind(const struct ids_timeline *timeline, size_t call, struct recording *recording) {
    recording->end = call + 1;
    recording->to_ps = timeline->from_ps[call + 1 < timeline->count ? call + 1 : call];
}

/* The next recording at or behind that turn. The graph is made of it at once, or belongs to what comes later. */
static int find(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t from,
                struct recording *ret_recording) {
    for (size_t i = from; i < timeline->count; i++) {
        if (!is_call(trace, timeline, i, "StreamBeginCapture")) continue;
        size_t end = next_call(trace, timeline, i + 1, "StreamEndCapture");
        if (end == SIZE_MAX) continue;
        *ret_recording = (struct recording){.first = i, .from_ps = timeline->from_ps[i]};
        end_behind(timeline, end, ret_recording);
        size_t made = next_call(trace, timeline, ret_recording->end, "GraphInstantiate");
        int64_t length_ps = ret_recording->to_ps - ret_recording->from_ps;
        if (made != SIZE_MAX && timeline->from_ps[made] - ret_recording->to_ps <= length_ps)
            end_behind(timeline, made, ret_recording);
        return 1;
    }
    return 0;
}

void ids_graph_recordings_fold(const struct ids_trace *trace, struct ids_timeline *timeline) {
    struct recording now, next;
    size_t kept = 0, read = 0;
    if (!find(trace, timeline, 0, &now)) return;
    for (int goes_on = 1; goes_on;) {
        int64_t length_ps = now.to_ps - now.from_ps;
        /* What lies between two recordings of many is less than they, and belongs to them: warming up, checking. */
        while ((goes_on = find(trace, timeline, now.end, &next)) && next.from_ps - now.to_ps <= length_ps) {
            length_ps = next.to_ps - next.from_ps;
            now.end = next.end;
            now.to_ps = next.to_ps;
        }
        for (; read <= now.first; read++, kept++) {
            timeline->from_ps[kept] = timeline->from_ps[read];
            timeline->doing[kept] = timeline->doing[read];
        }
        read = now.end;
        now = next;
    }
    for (; read < timeline->count; read++, kept++) {
        timeline->from_ps[kept] = timeline->from_ps[read];
        timeline->doing[kept] = timeline->doing[read];
    }
    timeline->count = kept;
}
