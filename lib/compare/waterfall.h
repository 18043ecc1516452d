/* waterfall.h - from the step before to the step after, cause by cause.
 *
 * Causes are differences of the two ledgers: of a culprit in an account, and in the accounts of work of an op, found
 * again by match.h. They are disjoint, because the ledger's entries are, and so they sum to the change, but for what
 * stays unexplained: accounts that say that nothing is known, causes too small to be told, and rounding.
 */
#ifndef IDS_LIB_COMPARE_WATERFALL_H
#define IDS_LIB_COMPARE_WATERFALL_H

#include "lib/compare/difference.h"
#include "lib/compare/match.h"

enum ids_cause_kind {
    IDS_CAUSE_CULPRIT, /* one culprit, or an account without any */
    IDS_CAUSE_OP,      /* one op, with its counterpart on the other side where it has one */
    IDS_CAUSE_SCOPE,   /* ops of one scope that came and went */
    IDS_CAUSE_OTHERS,  /* culprits of one account, each too small to be told */
    IDS_CAUSE_ACCOUNT, /* an account, where the sides' culprits cannot be held against each other */
};
const char *ids_cause_kind_name(enum ids_cause_kind kind); /* "culprit" */

struct ids_cause {
    enum ids_cause_kind kind;
    const char *account;           /* "host.python" */
    const char *culprit, *where;   /* the reports' words, of a scope its name; NULL: nobody is known */
    const struct ids_match *match; /* of an op that both sides have; NULL: none */
    int is_in_a, is_in_b;
    size_t count, added, removed; /* entries of the ledgers put together, and those on one side only */
    double a_ps, b_ps;            /* mean per step (or window) and device */
    struct ids_interval interval; /* of b - a; from ten runs a side on, of the trimmed means */
};

struct ids_waterfall {
    struct ids_cause *at; /* the largest change first */
    size_t count, room;
    double before_ps, after_ps;
    double unknown_ps;     /* of what is unexplained: accounts that say that nothing is known */
    double unexplained_ps; /* after - before - all causes */
};

/* 1: explained as a whole; NAN where nothing changed. */
double ids_explained_share(const struct ids_waterfall *waterfall);

/* `ops` are the matches that the names of the ledgers' ops are found by, and outlive the waterfall; names that are made
 * live in `texts`. */
int ids_waterfall_make(const struct ids_side *a, const struct ids_side *b, const struct ids_parts *parts,
                       const struct ids_matches *ops, struct ids_report *texts, struct ids_waterfall *ret_waterfall,
                       struct ids_error *err);
void ids_waterfall_done(struct ids_waterfall *waterfall);

#endif
