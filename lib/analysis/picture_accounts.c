/* picture_accounts.c - the ledger's intervals of each device, as they come, merged where they would be too many. */
#include "lib/analysis/picture_parts.h"

#include "lib/base/vec.h"

#include <stdlib.h>

enum {
    MOST_MARKS = 400000, /* of all devices, before they are merged: 28 MB */
    CELLS = 65536,       /* of the window, into which they are merged then */
};
#define IS_AWAITED 0x80000000u

/* Merges what there is into coarser marks. */
static int thin(struct ids_picture_making *making) {
    const struct ids_analysis *analysis = making->analysis;
    int64_t cell_ps = (analysis->end_ps - analysis->start_ps) / CELLS + 1;
    making->account_least_ps = making->account_least_ps ? 2 * making->account_least_ps : cell_ps;
    making->account_marks = 0;
    const struct ids_picture_stretch all = {INT64_MIN, making->account_least_ps};
    for (size_t b = 0; b < making->account_room; b++) {
        struct ids_lane thinned = {0}, *lane = &making->account[b];
        ids_lane_end(lane);
        for (size_t m = 0; m < lane->count; m++) {
            if (ids_lane_add(&thinned, &all, 1, &lane->marks[m])) {
                ids_lane_done(&thinned);
                return -1;
            }
        }
        ids_lane_done(lane);
        *lane = thinned; /* with its sums, since more may come */
        making->account_marks += lane->count;
    }
    return 0;
}

/* The number by which an interval's entry is found when it is told. */
static int await(struct ids_picture_making *making, uint32_t *ret_what) {
    if (making->awaited_count >= MOST_MARKS) return 0;
    struct ids_picture_awaited *added = IDS_PUSH(making->awaited, making->awaited_count, making->awaited_room);
    if (!added) return -1;
    *added = (struct ids_picture_awaited){making->visited, IDS_NONE};
    *ret_what = IS_AWAITED | (uint32_t)(making->awaited_count - 1);
    return 0;
}

static int take_interval(void *context, const struct ids_ledger_interval *interval, struct ids_error *err) {
    struct ids_picture_making *making = context;
    struct ids_lane *lane = &making->account[interval->busy];
    const struct ids_picture_stretch all = {INT64_MIN, making->account_least_ps};
    struct ids_mark mark = {.start_ps = interval->from_ps,
                            .end_ps = interval->to_ps,
                            .count = 1,
                            .what = interval->entry == IDS_NONE ? 0 : interval->entry + 1,
                            .account = interval->account};
    int failed = interval->entry == IDS_NONE && await(making, &mark.what);
    making->visited++;
    size_t before = lane->count;
    failed = failed || ids_lane_add(lane, &all, 1, &mark);
    making->account_marks += lane->count - before;
    if (!failed && making->account_marks > MOST_MARKS) failed = thin(making);
    return failed ? ids_no_memory(err) : 0;
}

static void name_interval(void *context, uint32_t busy, size_t interval, uint32_t entry) {
    struct ids_picture_making *making = context;
    (void)busy;
    size_t low = 0, high = making->awaited_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (making->awaited[middle].interval < interval)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < making->awaited_count && making->awaited[low].interval == interval) making->awaited[low].entry = entry;
}

struct ids_ledger_visitor ids_picture_account_visitor(struct ids_picture_making *making) {
    return (struct ids_ledger_visitor){take_interval, name_interval, NULL, NULL, making};
}

uint32_t ids_picture_entry(const struct ids_picture_making *making, uint32_t what) {
    if (!(what & IS_AWAITED)) return what ? what - 1 : IDS_NONE;
    return making->awaited[what & ~IS_AWAITED].entry;
}

void ids_picture_accounts_done(struct ids_picture_making *making) {
    for (size_t b = 0; making->account && b < making->account_room; b++) ids_lane_done(&making->account[b]);
    free(making->account);
    free(making->awaited);
}
