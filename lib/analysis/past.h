/* past.h - what a device did, in pieces long enough to matter, for devices that wait for it in a collective.
 *
 * Pieces come from the ledger's intervals in order of time, and name its entries. Short ones are added to the piece
 * before, so that a past of millions of launches has some thousands of pieces.
 */
#ifndef IDS_LIB_ANALYSIS_PAST_H
#define IDS_LIB_ANALYSIS_PAST_H

#include "lib/analysis/ledger.h"

struct ids_past {
    struct ids_past_piece {
        int64_t from_ps; /* until the next one begins */
        uint32_t entry;  /* index of ids_ledger.entries; IDS_NONE: it waited for others */
    } * at;
    size_t count, room;
    uint8_t last; /* the account of the last one */
};

/* Shorter pieces are added to the piece before: single launches of an awaited device do not matter. */
#define IDS_PAST_LEAST_PS INT64_C(20000000)

/* Waiting for others, or exchanging with them. */
static inline int ids_is_of_meetings(uint8_t account) {
    return account == IDS_COMM_WAIT || account == IDS_COMM_TRANSFER;
}

/* Takes the device's next interval. 0, or -1 when memory ran out. */
int ids_past_add_long(struct ids_past *past, const struct ids_ledger_interval *interval);
static inline int ids_past_add(struct ids_past *past, const struct ids_ledger_interval *interval) {
    int is_short = interval->to_ps - interval->from_ps < IDS_PAST_LEAST_PS;
    /* Where it met others is told however short that was, and that it went on. */
    if (past->count && is_short && !ids_is_of_meetings(interval->account) && !ids_is_of_meetings(past->last)) return 0;
    return ids_past_add_long(past, interval);
}
void ids_past_done(struct ids_past *past);

/* Why a device came late while another one waited for it in [from, to): the entry that took it longer than the
 * waiting device since they met last. If nothing took longer: the entry with most time during the wait. IDS_NONE:
 * unknown. */
uint32_t ids_past_why_late(const struct ids_past *late, const struct ids_past *waiting, const struct ids_ledger *ledger,
                           int64_t from_ps, int64_t to_ps);

#endif
