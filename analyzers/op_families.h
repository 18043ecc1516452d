/* op_families.h - the ops of one computation: XLA makes many instances of a kernel or a layer (name.1, name.2), and a
 * model calls one op in each layer. They have one fingerprint. */
#ifndef IDS_ANALYZERS_OP_FAMILIES_H
#define IDS_ANALYZERS_OP_FAMILIES_H

#include "lib/analysis/context.h"

struct ids_op_family {
    const struct ids_ledger_entry *most; /* that has most of it; NULL: there is none */
    int64_t most_ps, time_ps;            /* of what was added */
    size_t count;                        /* of the instances that ran */
};

/* Of one account. {0} at first. */
struct ids_op_families {
    struct ids_op_family *at; /* in the order in which they came */
    size_t count, room;
    struct ids_keymap places;
};

/* What the entries of a family have in common: the fingerprint, and of a framework's op without one, whose shapes are
 * not known or not always the same, the name and place without numbers, by which the ops of each layer are alike in
 * the table of ops too. 0: one that is a family of its own, as the culprits of accounts are that are not ops,
 * collectives or copies. */
uint64_t ids_op_family_key(const struct ids_analysis *analysis, const struct ids_ledger_entry *entry);
/* 0, or -1 when memory ran out. */
int ids_op_families_add(struct ids_op_families *families, const struct ids_analysis *analysis,
                        const struct ids_ledger_entry *entry, int64_t ps);
/* The one with most time, of equal ones the first; {0}: none has any. */
struct ids_op_family ids_op_families_largest(const struct ids_op_families *families);
void ids_op_families_done(struct ids_op_families *families);

#endif
