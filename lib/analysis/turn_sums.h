/* turn_sums.h - what a thread did, summed up by blocks of turns.
 *
 * While devices wait, a loop of the program turns thousands of times, and each of the host's devices is told of the
 * same turns. Whole blocks of them are counted at once (ids_book_turns).
 */
#ifndef IDS_LIB_ANALYSIS_TURN_SUMS_H
#define IDS_LIB_ANALYSIS_TURN_SUMS_H

#include "lib/model/timeline.h"

/* A block has so many turns, and is summed up where it has at most so many doings. */
enum { IDS_BLOCK_TURNS = 32, IDS_BLOCK_DOINGS = 4 };

/* What one doing has of a block without its last turn, which may go on in the next block. */
struct ids_turn_sum {
    int64_t ps;
    uint32_t doing, turns, longest; /* where in the block its longest turn is, of equals the first one */
};

struct ids_turn_block {
    struct ids_turn_sum at[IDS_BLOCK_DOINGS];
    int64_t longest_ps;    /* of all its turns */
    uint32_t count;        /* of the sums; 0: it is not summed up */
    uint32_t long_ones;    /* a bit for each turn without the last that is no short one in a device's past (past.h) */
    _Atomic uint8_t state; /* of enum ids_block_state */
};
enum ids_block_state { IDS_BLOCK_IS_NEW, IDS_BLOCK_IS_MADE_NOW, IDS_BLOCK_IS_MADE };

struct ids_turn_sums {
    const struct ids_timeline *timeline; /* NULL: none is summed up */
    struct ids_turn_block *at;           /* made when they are asked for; NULL: memory ran out */
};

/* From now on of that thread, which may be NULL; sums of the same one stay. */
void ids_turn_sums_begin(struct ids_turn_sums *sums, const struct ids_timeline *timeline);
void ids_turn_sums_done(struct ids_turn_sums *sums);
/* The block that begins with that turn, and ends until `to_ps`; NULL: none does, it is not summed up, or another thread
 * of this program is about it, for several may ask. */
const struct ids_turn_block *ids_turn_block_at(struct ids_turn_sums *sums, size_t turn, int64_t to_ps);

#endif
