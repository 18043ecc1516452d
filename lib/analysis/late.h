/* late.h - who comes late to collectives: one device, or a host with all of its devices.
 *
 * What the others wait for is mostly a process: its input, its Python. All its devices come late then, and which of
 * them comes last is chance. So a late device is held against the others of its host where they meet those of other
 * hosts. It is named alone where its own host waits for it half as long as the other hosts do, and it is nearly always
 * the same one; else its host is named.
 *
 *   uint32_t as = ids_late_as(&analysis->ledger, busy);      // the same for all devices of a host that is late as one
 *   const char *name = ids_late_name(analysis, busy, arena); // "host002", "host002 TPU:1"
 */
#ifndef IDS_LIB_ANALYSIS_LATE_H
#define IDS_LIB_ANALYSIS_LATE_H

#include "lib/analysis/context.h"

struct ids_booking;
struct ids_wait;

/* Finds ledger->late out of all waits, where there is one. 0, or -1 when memory ran out. */
int ids_late_make(struct ids_booking *booking);

/* Whether a wait is of those that the ledger's sums have: in a step, or without steps in the window. */
int ids_wait_counts(const struct ids_booking *booking, const struct ids_wait *wait);

static inline enum ids_late_how ids_late_how(const struct ids_ledger *ledger, uint32_t busy) {
    return ledger->late ? (enum ids_late_how)ledger->late[busy].how : IDS_LATE_ALONE;
}

/* The device that stands for all who come late with it; itself, where it comes late alone. */
static inline uint32_t ids_late_as(const struct ids_ledger *ledger, uint32_t busy) {
    return ledger->late ? ledger->late[busy].as : busy;
}

/* Who is late with that device; in the arena, NULL when memory ran out. */
const char *ids_late_name(const struct ids_analysis *analysis, uint32_t busy, struct ids_arena *arena);

#endif
