/* found_intervals.h - the intervals of the ledger, one after the other, in about nine bytes each: a run has as many of
 * them as it has events, and who writes them goes through them once, in their order. Each device has a list of its own,
 * for several may be swept at once. */
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
    uint32_t *names;          /* of those that came without one, in their order */
    const uint32_t *culprits; /* which ones those that came with one are; NULL: they are these. Another's */
    size_t name_count, name_room;
    struct ids_found_interval last;
    uint32_t last_event; /* of the last one that has one */
    uint8_t apart[128];  /* lists that lie beside each other are filled by different threads */
};

/* 0, or -1 when memory ran out. */
int ids_found_intervals_add(struct ids_found_intervals *intervals, const struct ids_found_interval *interval);
/* The culprit of the first interval that has none yet. */
int ids_found_intervals_name(struct ids_found_intervals *intervals, uint32_t culprit);
void ids_found_intervals_done(struct ids_found_intervals *intervals);

/* A place in several lists, one behind the other; a copy is another one. What it is of must not grow. */
struct ids_found_cursor {
    const struct ids_found_intervals *intervals, *end; /* the list at hand, and behind the last one */
    size_t at, name;                                   /* bytes and names that were read of it */
    uint32_t event;                                    /* of the last interval that has one */
    struct ids_found_interval interval;
};

struct ids_found_cursor ids_found_cursor_over(const struct ids_found_intervals *lists, size_t count);
/* The next interval, which is the cursor's; NULL behind the last one. */
const struct ids_found_interval *ids_found_cursor_next(struct ids_found_cursor *cursor);

#endif
