#include "lib/export/lanes.h"

#include "lib/base/vec.h"

#include <stdlib.h>

/* Ends what has ended at `until`. */
static int end_until(struct ids_lane *lane, size_t index, int64_t until, ids_lane_ended *ended, void *context) {
    while (lane->depth && lane->ends[lane->depth - 1] <= until) {
        int64_t end = lane->ends[--lane->depth];
        int code = ended ? ended(context, index, end) : 0;
        if (code) return code;
    }
    return 0;
}

int ids_lanes_place(struct ids_lanes *lanes, int64_t start, int64_t end, ids_lane_ended *ended, void *context,
                    size_t *ret_lane) {
    size_t index = 0;
    for (;; index++) {
        if (index == IDS_LANES_MAX) {
            *ret_lane = lanes->count++;
            return 0;
        }
        if (index == lanes->count) {
            struct ids_lane *made = IDS_PUSH(lanes->at, lanes->count, lanes->room);
            if (!made) return -1;
            *made = (struct ids_lane){0};
        }
        struct ids_lane *lane = &lanes->at[index];
        int code = end_until(lane, index, start, ended, context);
        if (code) return code;
        if (!lane->depth || lane->ends[lane->depth - 1] >= end) break;
    }
    struct ids_lane *lane = &lanes->at[index];
    int64_t *open = IDS_PUSH(lane->ends, lane->depth, lane->room);
    if (!open) return -1;
    *open = end;
    *ret_lane = index;
    return 0;
}

int ids_lanes_end(struct ids_lanes *lanes, ids_lane_ended *ended, void *context) {
    for (size_t i = 0; i < lanes->count && i < IDS_LANES_MAX; i++) {
        int code = end_until(&lanes->at[i], i, INT64_MAX, ended, context);
        if (code) return code;
    }
    return 0;
}

int ids_lanes_at(const struct ids_lanes *lanes, int64_t when, size_t *ret_lane) {
    for (size_t i = 0; i < lanes->count && i < IDS_LANES_MAX; i++) {
        const struct ids_lane *lane = &lanes->at[i];
        if (!lane->depth || lane->ends[0] < when) continue;
        *ret_lane = i;
        return 1;
    }
    return 0;
}

void ids_lanes_done(struct ids_lanes *lanes) {
    for (size_t i = 0; i < lanes->count && i < IDS_LANES_MAX; i++) free(lanes->at[i].ends);
    free(lanes->at);
    *lanes = (struct ids_lanes){0};
}
