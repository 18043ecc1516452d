/* joint_causes.h - functions of the program that hold the device up in several ways at once: they launch many small
 * programs, and wait for each; or they fetch many values, one after the other.
 *
 * The ledger books the time of such a function to several accounts, each of which is a piece of advice. Who mends the
 * function wins all of it. Only what comes several times a step belongs together: a loop over small programs, and not
 * the one launch of a step and the one wait behind it, which stand in one function because all of the loop does.
 */
#ifndef IDS_ANALYZERS_JOINT_CAUSES_H
#define IDS_ANALYZERS_JOINT_CAUSES_H

#include "analyzers/piece.h"

struct ids_joint_causes {
    uint32_t *of_entry; /* by entry of the ledger: from 1 on the number of the function that has it; 0 none. With room
                         * for all */
    uint32_t count;     /* of such functions */
};

/* Looks at the pieces of accounts and of culprits. 0, or -1 when memory ran out. */
int ids_joint_causes_find(const struct ids_analysis *analysis, const struct ids_pieces *pieces,
                          struct ids_joint_causes *joint);

/* Values are fetched there twenty times a step, or more: that could be one call. */
int ids_fetches_one_by_one(const struct ids_analysis *analysis, const struct ids_ledger_entry *entry);

/* The entry that is to blame for a share: of a wait for a peer, what that one did meanwhile. */
static inline uint32_t ids_share_cause(const struct ids_ledger *ledger, const struct ids_entry_share *share) {
    uint32_t cause = ledger->entries[share->entry].cause;
    return cause == IDS_NONE ? share->entry : cause;
}

#endif
