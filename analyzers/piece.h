/* piece.h - a part of a step that could be saved, and all of them: what pieces.h makes. */
#ifndef IDS_ANALYZERS_PIECE_H
#define IDS_ANALYZERS_PIECE_H

#include "analyzers/op_families.h"
#include "analyzers/remedies.h"
#include "lib/analysis/context.h"
#include "lib/analysis/excerpt.h"

/* What a piece has of one account. */
struct ids_piece_part {
    enum ids_account account;
    int64_t ps;                          /* on the deciding device */
    const struct ids_ledger_entry *most; /* that has most of it */
    int64_t most_ps;
};
enum { IDS_PIECE_PARTS = 6 };

struct ids_piece {
    enum ids_account account;               /* that has most of it */
    enum ids_remedy_scope scope;            /* what it is of: a culprit or its account */
    const struct ids_ledger_entry *most;    /* that has most of it */
    const struct ids_ledger_entry *longest; /* that has the longest interval of it; NULL: `most` has */
    int64_t most_ps, time_ps;               /* on the deciding device */
    uint32_t device;                        /* whose doing it mostly is, index of analysis->busy */
    int64_t others_ps;                      /* of time_ps: what the deciding device waited for others who did this */
    int64_t mean_wait_ps;                   /* of comm.wait: what a device waits in the mean of all */
    int64_t both_ways_ps; /* of copies to the device: while copies to the host run too, which this piece has with it; 0
                           * apart */
    struct ids_piece_part parts[IDS_PIECE_PARTS]; /* by account, the longest first */
    size_t part_count;
    size_t culprits;
    int is_round_trip;             /* of data that goes to the host and comes back */
    int is_of_first_uses;          /* of several calls of a runtime, each slow because it is the first one */
    int is_joined;                 /* of several culprits, of which one has a place: not each of them is `most` */
    uint64_t intervals;            /* of all devices */
    int64_t recorded_ps, known_ps; /* of its entries on all devices: what events cover, and all of it */
    struct ids_recurrence recurs;  /* over all devices */
};

void ids_piece_add_part(struct ids_piece *piece, const struct ids_piece_part *more);
void ids_piece_order_parts(struct ids_piece *piece); /* the longest first */
/* The longest interval of it may be that of this entry. */
void ids_piece_see_longest(struct ids_piece *piece, const struct ids_ledger_entry *entry);
/* What another one has becomes this one's. */
void ids_piece_take(struct ids_piece *piece, const struct ids_piece *other);
/* The same of one cause: no time is left of the other one. */
void ids_piece_join(struct ids_piece *longest, struct ids_piece *other);

struct ids_pieces {
    struct ids_piece *at; /* the longest first */
    size_t count;
    size_t decider;              /* index of analysis->busy */
    int64_t steps;               /* 0: all is of the window */
    int64_t time_ps;             /* of the deciding device: its steps, or its window */
    int64_t earlier_ps;          /* of its window, not in time_ps: work from before the recording (earlier_work.h) */
    int64_t work_ps, compute_ps; /* of that: compute, collectives and copies; compute */
    uint64_t compute_intervals;  /* of the ops that compute there */
    struct ids_op_family op;     /* of compute, the one with most of it */
    struct ids_op_family mover;  /* of those that only move data */
    struct ids_excerpt excerpt;  /* what no piece tells then is why the device did nothing */
};

#endif
