#include "lib/model/found_intervals.h"

#include "lib/base/vec.h"
#include "lib/model/trace.h"

#include <stdlib.h>

/* What is written of an interval: a byte of these, then what they do not say, in the order of `put` below. Most begin
 * where the one before ended, in its step, and last some thousands of nanoseconds. */
enum {
    FOLLOWS = 1 << 0,     /* begins where the one before ends */
    NANOSECONDS = 1 << 1, /* that it lasts */
    SAME_PLACE = 1 << 2,  /* device and step of the one before */
    SAME_KIND = 1 << 3,   /* state, account and known of the one before */
    HAS_EVENT = 1 << 4,
    UNNAMED = 1 << 5,
    PS_IN_NS = 1000,
    BYTES_MOST = 1 + 3 * 10 + 3 * 5 + 4, /* varints of 64 and of 32 bits, and the kind */
};

static uint8_t *put(uint8_t *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static uint64_t take(const uint8_t **from) {
    uint64_t value = 0;
    unsigned shift = 0;
    for (; **from >= 0x80; shift += 7) value |= (uint64_t)(*(*from)++ & 0x7f) << shift;
    return value | (uint64_t) * (*from)++ << shift;
}

/* Small numbers of either sign are small; differences may run over. */
static uint64_t folded(uint64_t difference) {
    return difference << 1 ^ (uint64_t) - (int64_t)(difference >> 63);
}

static uint64_t unfolded(uint64_t value) {
    return value >> 1 ^ (uint64_t) - (int64_t)(value & 1);
}

static unsigned flags_of(const struct ids_found_interval *interval, const struct ids_found_interval *last) {
    uint64_t lasts_ps = (uint64_t)interval->to_ps - (uint64_t)interval->from_ps;
    return (interval->from_ps == last->to_ps ? FOLLOWS : 0u) | (lasts_ps % PS_IN_NS ? 0u : NANOSECONDS) |
           (interval->device == last->device && interval->step == last->step ? SAME_PLACE : 0u) |
           (interval->state == last->state && interval->account == last->account && interval->known == last->known
                ? SAME_KIND
                : 0u) |
           (interval->event ? HAS_EVENT : 0u) | (interval->culprit == IDS_NONE ? UNNAMED : 0u);
}

static uint8_t *encode(uint8_t *to, const struct ids_found_interval *interval, const struct ids_found_interval *last,
                       uint32_t last_event) {
    unsigned flags = flags_of(interval, last);
    uint64_t lasts_ps = (uint64_t)interval->to_ps - (uint64_t)interval->from_ps;
    *to++ = (uint8_t)flags;
    if (!(flags & FOLLOWS)) to = put(to, folded((uint64_t)interval->from_ps - (uint64_t)last->to_ps));
    to = put(to, flags & NANOSECONDS ? lasts_ps / PS_IN_NS : lasts_ps);
    if (!(flags & SAME_PLACE)) to = put(put(to, interval->device), interval->step);
    if (!(flags & SAME_KIND)) {
        *to++ = (uint8_t)interval->state;
        *to++ = (uint8_t)(interval->state >> 8);
        *to++ = interval->account;
        *to++ = interval->known;
    }
    if (flags & HAS_EVENT) to = put(to, folded((uint64_t)interval->event - last_event));
    return flags & UNNAMED ? to : put(to, interval->culprit);
}

int ids_found_intervals_add(struct ids_found_intervals *intervals, const struct ids_found_interval *interval) {
    while (intervals->room - intervals->length < BYTES_MOST) {
        uint8_t *grown = ids_vec_grow(intervals->bytes, &intervals->room, 1);
        if (!grown) return -1;
        intervals->bytes = grown;
    }
    uint8_t *to = intervals->bytes + intervals->length;
    intervals->length += (size_t)(encode(to, interval, &intervals->last, intervals->last_event) - to);
    intervals->count++;
    intervals->last = *interval;
    if (interval->event) intervals->last_event = interval->event;
    return 0;
}

int ids_found_intervals_name(struct ids_found_intervals *intervals, uint32_t culprit) {
    uint32_t *name = IDS_PUSH(intervals->names, intervals->name_count, intervals->name_room);
    if (!name) return -1;
    *name = culprit;
    return 0;
}

void ids_found_intervals_done(struct ids_found_intervals *intervals) {
    free(intervals->bytes);
    free(intervals->names);
    *intervals = (struct ids_found_intervals){0};
}

struct ids_found_cursor ids_found_cursor_over(const struct ids_found_intervals *lists, size_t count) {
    return (struct ids_found_cursor){.intervals = lists, .end = lists + count};
}

/* To a list that goes on; 0 when there is none. */
static int find_list(struct ids_found_cursor *cursor) {
    while (cursor->intervals < cursor->end && cursor->at == cursor->intervals->length)
        *cursor = ids_found_cursor_over(cursor->intervals + 1, (size_t)(cursor->end - cursor->intervals) - 1);
    return cursor->intervals < cursor->end;
}

static uint32_t renamed(const struct ids_found_intervals *intervals, uint32_t culprit) {
    return intervals->culprits ? intervals->culprits[culprit] : culprit;
}

const struct ids_found_interval *ids_found_cursor_next(struct ids_found_cursor *cursor) {
    if (!find_list(cursor)) return NULL;
    const struct ids_found_intervals *intervals = cursor->intervals;
    struct ids_found_interval *interval = &cursor->interval;
    const uint8_t *from = intervals->bytes + cursor->at;
    unsigned flags = *from++;
    uint64_t from_ps = (uint64_t)interval->to_ps;
    if (!(flags & FOLLOWS)) from_ps += unfolded(take(&from));
    uint64_t lasts_ps = take(&from);
    interval->from_ps = (int64_t)from_ps;
    interval->to_ps = (int64_t)(from_ps + (flags & NANOSECONDS ? lasts_ps * PS_IN_NS : lasts_ps));
    if (!(flags & SAME_PLACE)) {
        interval->device = (uint32_t)take(&from);
        interval->step = (uint32_t)take(&from);
    }
    if (!(flags & SAME_KIND)) {
        interval->state = (uint16_t)(from[0] | from[1] << 8);
        interval->account = from[2];
        interval->known = from[3];
        from += 4;
    }
    interval->event = 0;
    if (flags & HAS_EVENT) interval->event = cursor->event += (uint32_t)unfolded(take(&from));
    interval->culprit = IDS_NONE;
    if (!(flags & UNNAMED))
        interval->culprit = renamed(intervals, (uint32_t)take(&from));
    else if (cursor->name < intervals->name_count)
        interval->culprit = intervals->names[cursor->name++];
    cursor->at = (size_t)(from - intervals->bytes);
    return interval;
}
