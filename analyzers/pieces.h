/* pieces.h - how much time a step could save: the ledger of the device that decides the step, cut into accounts and
 * culprits.
 *
 * The device that waits least for its peers decides the step, and savings are parts of its ledger. So they are disjoint
 * and sum to no more than its step. Waiting for peers saves nothing here, because the cause is on the device that came
 * last.
 */
#ifndef IDS_ANALYZERS_PIECES_H
#define IDS_ANALYZERS_PIECES_H

#include "analyzers/piece.h"

int ids_pieces_make(const struct ids_analysis *analysis, struct ids_pieces *ret_pieces, struct ids_error *err);
void ids_pieces_done(struct ids_pieces *pieces);

/* In which steps an account has its time, over all devices; nothing when memory ran out. */
struct ids_recurrence ids_account_recurrence(const struct ids_analysis *analysis, enum ids_account account);

#endif
