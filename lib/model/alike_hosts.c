#include "lib/model/alike_hosts.h"

#include "lib/base/keymap.h"
#include "lib/base/vec.h"

#include <stdio.h>
#include <string.h>

/* Of fewer events that two hosts have the same times may be chance. */
enum { LEAST_EVENTS = 16 };

struct extent {
    uint64_t key, events;
};

static void add(uint64_t *key, int64_t value) {
    *key = ids_key_of(*key, (uint64_t)value);
}

/* By host: what it has, as one number. */
static void look_at(const struct ids_trace *trace, struct extent *hosts) {
    for (size_t h = 0; h < trace->host_count; h++) {
        add(&hosts[h].key, trace->hosts[h].start_unix_ns);
        add(&hosts[h].key, trace->hosts[h].opened_unix_ns);
        add(&hosts[h].key, trace->hosts[h].closed_unix_ns);
    }
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        const struct ids_events *activity = &device->activity;
        struct extent *host = &hosts[device->host];
        if (!activity->count) continue;
        int64_t shift_ps = trace->hosts[device->host].shift_ps;
        host->events += activity->count;
        add(&host->key, device->ordinal);
        add(&host->key, (int64_t)activity->count);
        add(&host->key, activity->at[0].start_ps - shift_ps);
        add(&host->key, activity->at[activity->count - 1].end_ps - shift_ps);
    }
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        struct extent *host = &hosts[track->host];
        if (track->first_ps > track->last_ps) continue;
        int64_t shift_ps = trace->hosts[track->host].shift_ps;
        add(&host->key, (int64_t)track->event_count);
        add(&host->key, track->first_ps - shift_ps);
        add(&host->key, track->last_ps - shift_ps);
    }
}

static int say(struct ids_trace *trace, size_t first, size_t again, struct ids_error *err) {
    const char *text = ids_arena_print(
        &trace->arena,
        "'%s' is recorded as '%s' is, to the picosecond: if one is a copy of the other's profile, take it out of the "
        "run, where it counts as a host",
        ids_trace_text(trace, trace->hosts[again].name), ids_trace_text(trace, trace->hosts[first].name));
    struct ids_trace_diag *diag = text ? IDS_PUSH(trace->diags, trace->diag_count, trace->diag_room) : NULL;
    if (!diag) return ids_no_memory(err);
    *diag = (struct ids_trace_diag){
        .severity = IDS_WARNING, .id = "run.copied", .text = text, .offset = -1, .count = 1, .host = (uint32_t)again};
    return 0;
}

int ids_alike_hosts_say(struct ids_trace *trace, struct ids_error *err) {
    if (trace->host_count < 2) return 0;
    struct extent *hosts = ids_arena_alloc(&trace->arena, trace->host_count * sizeof *hosts);
    if (!hosts) return ids_no_memory(err);
    look_at(trace, hosts);
    struct ids_keymap first = {0};
    int code = 0;
    for (size_t h = 0; h < trace->host_count && !code; h++) {
        if (hosts[h].events < LEAST_EVENTS) continue;
        uint64_t *place = ids_keymap_at(&first, hosts[h].key);
        if (!place) code = ids_no_memory(err);
        if (place && *place) code = say(trace, (size_t)*place - 1, h, err);
        if (place && !*place) *place = h + 1;
    }
    ids_keymap_done(&first);
    return code;
}
