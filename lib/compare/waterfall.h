/* waterfall.h - from the step before to the step after, cause by cause.
 *
 * Causes are differences of the two ledgers: of a culprit in an account, and in the accounts of work of an op, found
 * again by match.h. They are disjoint, because the ledger's entries are, and so they sum to the change, but for what
 * stays unexplained: accounts that say that nothing is known, causes too small to be told, and rounding.
 */
#ifndef IDS_LIB_COMPARE_WATERFALL_H
#define IDS_LIB_COMPARE_WATERFALL_H

#include "lib/compare/cause.h"
#include "lib/compare/structure.h"

struct ids_waterfall {
    struct ids_cause *at; /* the surest large change first (ids_cause_order) */
    size_t count, room;
    double before_ps, after_ps;
    double unknown_ps;     /* of what is unexplained: accounts that say that nothing is known */
    double unlike_ps;      /* of causes that the recording may have made, which explain nothing */
    double unexplained_ps; /* after - before - all causes */
};

/* 1: explained as a whole; NAN where nothing changed. */
double ids_explained_share(const struct ids_waterfall *waterfall);

/* `ops` are the matches that the names of the ledgers' ops are found by, and outlive the waterfall; names that are made
 * live in `texts`. */
int ids_waterfall_make(const struct ids_side *a, const struct ids_side *b, struct ids_parts *parts,
                       const struct ids_matches *ops, const struct ids_structure *structure,
                       const struct ids_compare_options *options, struct ids_report *texts,
                       struct ids_waterfall *ret_waterfall, struct ids_error *err);
void ids_waterfall_done(struct ids_waterfall *waterfall);

#endif
