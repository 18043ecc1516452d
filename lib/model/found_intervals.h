/* found_intervals.h - the intervals of the ledger, one after the other, in about nine bytes each: a run has as many of
 * them as it has events, and who writes them goes through them once, in their order. */
#ifndef IDS_LIB_MODEL_FOUND_INTERVALS_H
#define IDS_LIB_MODEL_FOUND_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

/* An interval of the ledger (lib/analysis/ledger.h). */
struct ids_found_interval {
    int64_t from_ps, to_ps;
    uint32_t culprit; /* index of the findings' culprits; IDS_NONE: it is named later */
    uint32_t event;   /* index + 1 in the device's activity, where that is what it is about; 0 none */
    uint32_t step;    /* index + 1 in the findings' steps; 0 none */
    uint32_t device;  /* index of the trace's devices */
    uint16_t state;   /* enum ids_device_state */
    uint8_t account, known;
};

struct ids_found_intervals {
    size_t count;
    uint8_t *bytes;
    size_t length, room;
    uint32_t *names; /* of those that came without one, in their order */
    size_t name_count, name_room;
    struct ids_found_interval last;
    uint32_t last_event; /* of the last one that has one */
};

/* 0, or -1 when memory ran out. */
int ids_found_intervals_add(struct ids_found_intervals *intervals, const struct ids_found_interval *interval);
/* The culprit of the first interval that has none yet. */
int ids_found_intervals_name(struct ids_found_intervals *intervals, uint32_t culprit);
void ids_found_intervals_done(struct ids_found_intervals *intervals);

/* A place among them; a copy is another one. What it is of must not grow. */
struct ids_found_cursor {
    const struct ids_found_intervals *intervals;
    size_t at, name; /* bytes and names that were read */
    uint32_t event;  /* of the last interval that has one */
    struct ids_found_interval interval;
};

struct ids_found_cursor ids_found_cursor_over(const struct ids_found_intervals *intervals);
/* The next interval, which is the cursor's; NULL behind the last one. */
const struct ids_found_interval *ids_found_cursor_next(struct ids_found_cursor *cursor);

#endif
