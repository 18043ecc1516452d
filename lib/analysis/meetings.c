#include "lib/analysis/meetings.h"

#include "lib/base/run_merge.h"
#include "lib/base/vec.h"
#include "lib/hlo/replica_groups.h"
#include "lib/model/clocks.h"
#include "lib/model/collective_runs.h"

#include <stdlib.h>
#include <string.h>

/* One device in one collective, with what is asked of its event: those of a meeting lie all over the trace. */
struct guest {
    size_t collective; /* of guests.collectives */
    int64_t start_ps, end_ps;
    const struct ids_event *event;
    uint32_t device;
};

struct collective {
    uint64_t key; /* of the collective, of those who run it together, and of their clock */
    size_t number, guests;
};

struct guests {
    struct guest *at;
    size_t count, room;
    struct collective *collectives; /* as they were met */
    size_t collective_count, collective_room;
    struct ids_keymap numbers; /* key -> index of collectives + 1 */
    uint32_t clock;            /* of the first one */
    int is_apart, lacks_members;
};

static int add_guest(struct guests *guests, uint64_t key, const struct ids_event *event) {
    struct guest *guest = IDS_PUSH(guests->at, guests->count, guests->room);
    uint64_t *number = ids_keymap_at(&guests->numbers, key);
    if (!guest || !number) return -1;
    if (!*number) {
        size_t count = guests->collective_count;
        struct collective *fresh = IDS_PUSH(guests->collectives, guests->collective_count, guests->collective_room);
        if (!fresh) return -1;
        *fresh = (struct collective){.key = key, .number = count};
        *number = guests->collective_count;
    }
    guests->collectives[*number - 1].guests++;
    *guest = (struct guest){(size_t)*number - 1, event->start_ps, event->end_ps, event, event->device};
    return 0;
}

/* Which devices run it together; the devices are numbered as they are ordered in the run, where the groups name as
 * many. `known`: of the device, by op. */
static int group_of(const struct ids_trace *trace, const struct ids_event *event, uint64_t devices, uint64_t place,
                    struct ids_keymap *known, struct guests *guests, uint64_t *ret_group) {
    *ret_group = 0;
    if (event->op == IDS_NONE) return 0; /* Kineto's list of ranks is part of the name */
    uint64_t *group = ids_keymap_at(known, (uint64_t)event->op + 1);
    if (!group) return -1;
    if (!*group) {
        struct ids_text groups = ids_strings_text(&trace->strings, trace->ops[event->op].groups);
        uint64_t members = ids_replica_groups_members(groups);
        guests->lacks_members |= members > devices;
        *group = (members == devices ? ids_replica_group_of(groups, place) : 0) + 1;
    }
    *ret_group = *group - 1;
    return 0;
}

static int gather_device(const struct ids_trace *trace, const struct ids_device *device, uint64_t devices,
                         uint64_t place, struct guests *guests) {
    const struct ids_events *lists[] = {&device->activity, &device->async};
    struct ids_keymap known = {0};
    int failed = 0;
    for (size_t l = 0; l < 2; l++) {
        struct ids_cursor cursor = ids_cursor_over(lists[l]);
        for (const struct ids_event *event; !failed && (event = ids_cursor_next(&cursor));) {
            if (!ids_is_collective_run(trace, event)) continue;
            uint32_t clock = ids_clock_of_device(trace, device);
            uint64_t key = ids_key_of(ids_collective_key(trace, event), clock), group;
            if (!guests->count) guests->clock = clock;
            guests->is_apart |= clock != guests->clock;
            failed = group_of(trace, event, devices, place, &known, guests, &group);
            if (!failed) failed = add_guest(guests, ids_key_of(key, group), event);
        }
    }
    ids_keymap_done(&known);
    return failed;
}

static int gather(const struct ids_trace *trace, struct guests *guests) {
    uint64_t devices = 0, place = 0;
    for (size_t d = 0; d < trace->device_count; d++) devices += trace->devices[d].activity.count > 0;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        if (gather_device(trace, device, devices, place, guests)) return -1;
        place += device->activity.count > 0;
    }
    return 0;
}

static int by_key(const void *a, const void *b) {
    const struct collective *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

static int ends_before(const struct guest *a, const struct guest *b) {
    return a->end_ps != b->end_ps ? a->end_ps < b->end_ps : a->device < b->device;
}

IDS_DEFINE_RUN_MERGE(merge_guests, struct guest, ends_before)

/* By collective, and then as they end: those of one collective are a few runs, one for each device. */
static int order(struct guests *guests) {
    struct guest *ordered = calloc(guests->count + 1, sizeof *ordered);
    size_t *next = calloc(guests->collective_count + 1, sizeof *next); /* by number: its next guest's place */
    size_t first = 0;
    if (!ordered || !next) {
        free(ordered);
        free(next);
        return -1;
    }
    if (guests->collective_count)
        qsort(guests->collectives, guests->collective_count, sizeof *guests->collectives, by_key);
    for (size_t c = 0; c < guests->collective_count; first += guests->collectives[c++].guests)
        next[guests->collectives[c].number] = first;
    for (size_t i = 0; i < guests->count; i++) ordered[next[guests->at[i].collective]++] = guests->at[i];
    first = 0;
    for (size_t c = 0; c < guests->collective_count; first += guests->collectives[c++].guests) {
        struct guest *at = ordered + first, *spare = guests->at + first;
        merge_guests(&at, &spare, guests->collectives[c].guests);
        if (at != ordered + first) memcpy(ordered + first, at, guests->collectives[c].guests * sizeof *at);
    }
    free(next);
    free(guests->at);
    guests->at = ordered;
    return 0;
}

/* How much the clocks of the hosts that meet leave open; -1 unknown. */
static int64_t doubt(const struct ids_trace *trace, const struct guest *first, size_t count) {
    int64_t worst_ps = 0;
    for (size_t i = 1; i < count; i++) {
        int64_t doubt_ps = ids_clock_doubt_ps(trace, &trace->devices[first->device], &trace->devices[first[i].device]);
        if (doubt_ps < 0) return -1;
        if (doubt_ps > worst_ps) worst_ps = doubt_ps;
    }
    return worst_ps;
}

static int add_meeting(const struct ids_trace *trace, struct ids_meetings *meetings, const struct guest *first,
                       size_t count) {
    struct ids_meeting *meeting = IDS_PUSH(meetings->at, meetings->count, meetings->room);
    if (!meeting) return -1;
    *meeting = (struct ids_meeting){.count = (uint32_t)count,
                                    .last_device = first->device,
                                    .last_ps = first->start_ps,
                                    .doubt_ps = doubt(trace, first, count)};
    int64_t left_ps = INT64_MAX;
    for (const struct guest *guest = first; guest < first + count; guest++) {
        if (ids_keymap_add(&meetings->of_event, (uint64_t)(uintptr_t)guest->event, meetings->count) < 0) return -1;
        if (guest->start_ps > meeting->last_ps) {
            meeting->last_ps = guest->start_ps;
            meeting->last_device = guest->device;
        }
        if (guest->end_ps < left_ps) left_ps = guest->end_ps;
    }
    meeting->all_ps = meeting->last_ps < left_ps ? meeting->last_ps : left_ps;
    uint32_t host = trace->devices[meeting->last_device].host;
    for (const struct guest *guest = first; guest < first + count; guest++)
        meeting->of_last_host += trace->devices[guest->device].host == host;
    return 0;
}

/* Whether both are inside at one moment. What lies one after the other by less than the clocks leave open may be: then
 * it ends together too, as a collective does. */
static int are_together(const struct guest *first, const struct guest *next, int64_t doubt_ps) {
    if (next->start_ps <= first->end_ps) return 1;
    return next->start_ps <= first->end_ps + doubt_ps && next->end_ps <= first->end_ps + doubt_ps;
}

/* The guests of one collective that are inside it at one moment: each comes before the first leaves, but for what the
 * clocks leave open, and no device comes twice. */
static size_t count_together(const struct ids_trace *trace, const struct guest *first, const struct guest *end,
                             const struct guest **seen) {
    const struct guest *next = first + 1;
    seen[first->device] = first;
    for (; next < end && next->collective == first->collective; next++) {
        int64_t doubt_ps = ids_clock_doubt_ps(trace, &trace->devices[first->device], &trace->devices[next->device]);
        if (!are_together(first, next, doubt_ps > 0 ? doubt_ps : 0)) break;
        if (seen[next->device] == first) break;
        seen[next->device] = first;
    }
    return (size_t)(next - first);
}

int ids_meetings_of(const struct ids_trace *trace, struct ids_meetings *ret_meetings, struct ids_error *err) {
    struct guests guests = {0};
    *ret_meetings = (struct ids_meetings){0};
    const struct guest **seen =
        calloc(trace->device_count + 1, sizeof *seen); /* by device: the meeting's first guest */
    int failed = !seen || gather(trace, &guests) || order(&guests);
    for (size_t i = 0, count; i < guests.count && !failed; i += count) {
        count = count_together(trace, &guests.at[i], guests.at + guests.count, seen);
        if (count > 1) failed = add_meeting(trace, ret_meetings, &guests.at[i], count);
    }
    ret_meetings->is_apart = guests.is_apart;
    ret_meetings->lacks_members = guests.lacks_members;
    free(guests.at);
    free(guests.collectives);
    ids_keymap_done(&guests.numbers);
    free(seen);
    if (!failed) return 0;
    ids_meetings_done(ret_meetings);
    return ids_no_memory(err);
}

void ids_meetings_done(struct ids_meetings *meetings) {
    free(meetings->at);
    ids_keymap_done(&meetings->of_event);
    *meetings = (struct ids_meetings){0};
}
