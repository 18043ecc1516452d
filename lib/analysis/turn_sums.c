#include "lib/analysis/turn_sums.h"

#include "lib/analysis/past.h"

#include <stdatomic.h>
#include <stdlib.h>

void ids_turn_sums_begin(struct ids_turn_sums *sums, const struct ids_timeline *timeline) {
    if (sums->timeline == timeline) return;
    ids_turn_sums_done(sums);
    sums->timeline = timeline;
    if (timeline) sums->at = calloc(timeline->count / IDS_BLOCK_TURNS + 1, sizeof *sums->at);
}

void ids_turn_sums_done(struct ids_turn_sums *sums) {
    free(sums->at);
    *sums = (struct ids_turn_sums){0};
}

/* The doing's sum; NULL where the block has too many doings. */
static struct ids_turn_sum *sum_of(struct ids_turn_block *block, uint32_t doing) {
    uint32_t i = 0;
    while (i < block->count && block->at[i].doing != doing) i++;
    if (i == IDS_BLOCK_DOINGS) return NULL;
    if (i == block->count) block->at[block->count++].doing = doing;
    return &block->at[i];
}

/* What does the same twice in a row is one interval, not two: such a block is not summed up. */
static void make_block(const struct ids_timeline *timeline, size_t first, struct ids_turn_block *block) {
    int64_t longest_ps[IDS_BLOCK_DOINGS] = {0};
    const size_t last = first + IDS_BLOCK_TURNS - 1;
    for (size_t i = first; i <= last; i++) {
        int64_t length_ps = timeline->from_ps[i + 1] - timeline->from_ps[i];
        struct ids_turn_sum *sum = sum_of(block, timeline->doing[i]);
        if (!sum || length_ps <= 0 || timeline->doing[i] == timeline->doing[i + 1]) {
            block->count = 0;
            return;
        }
        if (length_ps > block->longest_ps) block->longest_ps = length_ps;
        if (i == last) break;
        sum->ps += length_ps;
        sum->turns++;
        if (length_ps >= IDS_PAST_LEAST_PS) block->long_ones |= 1u << (i - first);
        if (length_ps <= longest_ps[sum - block->at]) continue;
        longest_ps[sum - block->at] = length_ps;
        sum->longest = (uint32_t)(i - first);
    }
}

const struct ids_turn_block *ids_turn_block_at(struct ids_turn_sums *sums, size_t turn, int64_t to_ps) {
    const struct ids_timeline *timeline = sums->timeline;
    const size_t end = turn + IDS_BLOCK_TURNS;
    if (turn % IDS_BLOCK_TURNS || !sums->at || end >= timeline->count || timeline->from_ps[end] > to_ps) return NULL;
    struct ids_turn_block *block = &sums->at[turn / IDS_BLOCK_TURNS];
    uint8_t state = atomic_load_explicit(&block->state, memory_order_acquire);
    if (state == IDS_BLOCK_IS_NEW && atomic_compare_exchange_strong(&block->state, &state, IDS_BLOCK_IS_MADE_NOW)) {
        make_block(timeline, turn, block);
        state = IDS_BLOCK_IS_MADE;
        atomic_store_explicit(&block->state, state, memory_order_release);
    }
    return state == IDS_BLOCK_IS_MADE && block->count ? block : NULL;
}
