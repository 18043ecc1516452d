/* cause_entries.h - what the ledgers of two sides say of the time of a step, entry by entry: the material that a
 * waterfall's causes are made of. Each entry is a cause by itself until groups (cause_groups.h) put it together with
 * others; together they always sum to the change.
 */
#ifndef IDS_LIB_COMPARE_CAUSE_ENTRIES_H
#define IDS_LIB_COMPARE_CAUSE_ENTRIES_H

#include "lib/base/keymap.h"
#include "lib/compare/cause.h"
#include "lib/compare/sampled_calls.h"
#include "lib/compare/structure.h"

/* A culprit in an account, in the ledgers of either side; or several put together. */
struct ids_entry {
    struct ids_cause cause;
    double *by_run[2];  /* the time in each recording of a side */
    double own_ps[2];   /* of work: what its ops take by themselves, whatever runs at the same moments; 0: not known */
    double variance[2]; /* of the mean of a side, from the deviations over steps; NAN: not known */
    const char *where[2]; /* of a culprit that is no op: what each ledger says; NULL */
    const char *op_name;  /* of work: the path of scopes; "" */
    const char *module;   /* of work: side b's program, where it has it; "" */
    int is_gone;          /* it became part of another one */
    int is_told;          /* it is large enough to be told */
};

struct ids_entries {
    const struct ids_side *sides[2];
    const struct ids_matches *ops;
    const struct ids_structure *structure;
    const struct ids_compare_options *options;
    struct ids_report *texts;
    double step_ps[2]; /* of each side */
    double even;       /* the factor by which all ops became longer alike; 1 */
    double load;       /* by how much the machine's load makes computing longer (ids_cores_factor); 1 */
    double no_core;    /* ids_side_no_core of the side that has more of it; NAN */
    /* Of one recording a side: by which share of its time (a standard deviation) what both do alike differs in another
     * one. 0: not known. */
    struct ids_machine_spread {
        double share, df;
    } machine_spread;
    struct ids_entry *at;
    size_t count, room;
    struct ids_keymap numbers;  /* of a name in an account: index + 1 */
    struct ids_keymap pairs[2]; /* of an op of a side: its match + 1 */
    struct ids_keymap items[2]; /* of an op of a side: its place in `ops` + 1, with or without a counterpart */
    struct ids_sampled_calls sampled[2];
};

/* Reads both ledgers. 0, or -1 when memory ran out; ids_entries_done in either case. */
int ids_entries_make(const struct ids_side *a, const struct ids_side *b, const struct ids_matches *ops,
                     const struct ids_structure *structure, const struct ids_compare_options *options,
                     const double step_ps[2], struct ids_report *texts, struct ids_entries *ret_entries);
void ids_entries_done(struct ids_entries *entries);

/* A new, empty one; NULL when memory ran out. Entries move. */
struct ids_entry *ids_entries_add(struct ids_entries *entries);
/* Of one that stands for a question: no time, in no recording. */
void ids_entry_empty(const struct ids_entries *entries, struct ids_entry *entry);
/* Adds the times of a part and what they vary by. */
void ids_entry_add_times(const struct ids_entries *entries, struct ids_entry *whole, const struct ids_entry *part);
/* The same with its change, and the part is gone. */
void ids_entry_put_into(const struct ids_entries *entries, struct ids_entry *whole, struct ids_entry *part);

/* Of an op: less of its own time is in the ledger, because others ran at the same moments. Cores that ops share give
 * each of them as much as the others leave: what one gains there is not its own. */
int ids_entry_is_shared(const struct ids_entry *entry);
/* A function of Python that samples of stacks tell of, on both sides. */
int ids_entry_is_sampled(const struct ids_entries *entries, const struct ids_entry *entry);
/* Of those that one side alone has: whether too few samples saw them, or samples of the other side saw them too. */
void ids_entries_find_unseen(struct ids_entries *entries);
/* An op of both sides that does the same on both. */
int ids_entry_is_same_op(const struct ids_entry *entry);
uint64_t ids_entry_key(const char *account, const char *name, const char *where);
/* The accounts that say that nothing is known. */
int ids_account_is_unknown(const char *account);

#endif
