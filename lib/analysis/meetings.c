#include "lib/analysis/meetings.h"

#include "lib/base/vec.h"
#include "lib/hlo/replica_groups.h"
#include "lib/model/clocks.h"
#include "lib/model/collective_runs.h"

#include <stdlib.h>

/* One device in one collective. */
struct guest {
    uint64_t key; /* of the collective, of those who run it together, and of their clock */
    const struct ids_event *event;
};

struct guests {
    struct guest *at;
    size_t count, room;
};

/* Which devices run it together; the devices are numbered as they are ordered in the run, where the groups name as
 * many. */
static uint64_t group_of(const struct ids_trace *trace, const struct ids_event *event, uint64_t devices,
                         uint64_t place) {
    if (event->op == IDS_NONE) return 0; /* Kineto's list of ranks is part of the name */
    struct ids_text groups = ids_strings_text(&trace->strings, trace->ops[event->op].groups);
    return ids_replica_groups_members(groups) == devices ? ids_replica_group_of(groups, place) : 0;
}

static int gather(const struct ids_trace *trace, struct guests *guests) {
    uint64_t devices = 0, place = 0;
    for (size_t d = 0; d < trace->device_count; d++) devices += trace->devices[d].activity.count > 0;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        const struct ids_events *lists[] = {&device->activity, &device->async};
        for (size_t l = 0; l < 2; l++) {
            struct ids_cursor cursor = ids_cursor_over(lists[l]);
            for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
                if (!ids_is_collective_run(trace, event)) continue;
                struct guest *guest = IDS_PUSH(guests->at, guests->count, guests->room);
                if (!guest) return -1;
                uint64_t key = ids_key_of(ids_collective_key(trace, event), ids_clock_of_device(trace, device));
                *guest = (struct guest){ids_key_of(key, group_of(trace, event, devices, place)), event};
            }
        }
        place += device->activity.count > 0;
    }
    return 0;
}

/* By collective, and then as they end. */
static int by_end(const void *a, const void *b) {
    const struct guest *left = a, *right = b;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    if (left->event->end_ps != right->event->end_ps) return left->event->end_ps < right->event->end_ps ? -1 : 1;
    return (left->event->device > right->event->device) - (left->event->device < right->event->device);
}

/* How much the clocks of the hosts that meet leave open; -1 unknown. */
static int64_t doubt(const struct ids_trace *trace, const struct guest *first, size_t count) {
    int64_t worst_ps = 0;
    for (size_t i = 1; i < count; i++) {
        int64_t doubt_ps =
            ids_clock_doubt_ps(trace, &trace->devices[first->event->device], &trace->devices[first[i].event->device]);
        if (doubt_ps < 0) return -1;
        if (doubt_ps > worst_ps) worst_ps = doubt_ps;
    }
    return worst_ps;
}

static int add_meeting(const struct ids_trace *trace, struct ids_meetings *meetings, const struct guest *first,
                       size_t count) {
    struct ids_meeting *meeting = IDS_PUSH(meetings->at, meetings->count, meetings->room);
    if (!meeting) return -1;
    *meeting = (struct ids_meeting){
        .first = meetings->event_count, .count = count, .last = first->event, .doubt_ps = doubt(trace, first, count)};
    int64_t left_ps = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct ids_event *event = first[i].event, **kept;
        kept = IDS_PUSH(meetings->events, meetings->event_count, meetings->event_room);
        if (!kept || ids_keymap_add(&meetings->of_event, (uint64_t)(uintptr_t)event, meetings->count) < 0) return -1;
        *kept = event;
        if (event->start_ps > meeting->last->start_ps) meeting->last = event;
        if (event->end_ps < left_ps) left_ps = event->end_ps;
    }
    meeting->all_ps = meeting->last->start_ps < left_ps ? meeting->last->start_ps : left_ps;
    return 0;
}

/* The guests of one collective that are inside it at one moment: each comes before the first leaves, but for what the
 * clocks leave open, and no device comes twice. */
static size_t count_together(const struct ids_trace *trace, const struct guest *first, const struct guest *end,
                             const struct guest **seen) {
    const struct guest *next = first + 1;
    seen[first->event->device] = first;
    for (; next < end && next->key == first->key; next++) {
        int64_t doubt_ps =
            ids_clock_doubt_ps(trace, &trace->devices[first->event->device], &trace->devices[next->event->device]);
        if (next->event->start_ps > first->event->end_ps + (doubt_ps > 0 ? doubt_ps : 0)) break;
        if (seen[next->event->device] == first) break;
        seen[next->event->device] = first;
    }
    return (size_t)(next - first);
}

int ids_meetings_of(const struct ids_trace *trace, struct ids_meetings *ret_meetings, struct ids_error *err) {
    struct guests guests = {0};
    *ret_meetings = (struct ids_meetings){0};
    const struct guest **seen =
        calloc(trace->device_count + 1, sizeof *seen); /* by device: the meeting's first guest */
    int failed = !seen || gather(trace, &guests);
    if (guests.count > 1) qsort(guests.at, guests.count, sizeof *guests.at, by_end);
    for (size_t i = 0, count; i < guests.count && !failed; i += count) {
        count = count_together(trace, &guests.at[i], guests.at + guests.count, seen);
        if (count > 1) failed = add_meeting(trace, ret_meetings, &guests.at[i], count);
    }
    free(guests.at);
    free(seen);
    if (!failed) return 0;
    ids_meetings_done(ret_meetings);
    return ids_no_memory(err);
}

void ids_meetings_done(struct ids_meetings *meetings) {
    free(meetings->at);
    free(meetings->events);
    ids_keymap_done(&meetings->of_event);
    *meetings = (struct ids_meetings){0};
}
