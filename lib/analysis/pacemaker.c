#include "lib/analysis/pacemaker.h"

#include "lib/base/keymap.h"

/* A stage that waits for others for less of its time than this waits for nobody. */
static const double LEAST_WAITING = 0.1;

int ids_is_in_chain(const struct ids_chain *chain, uint32_t track) {
    for (int i = 0; i < chain->count; i++) {
        if (chain->tracks[i] == track) return 1;
    }
    return 0;
}

/* In what a thread waits longest for another one; IDS_NO_DOING: it hardly waits. */
static int find_wait(const struct ids_trace *trace, const struct ids_timeline *timeline, uint32_t *ret_waiting) {
    struct ids_keymap sums = {0};
    uint64_t all_ps = 0, longest_ps = 0, *sum = &all_ps;
    *ret_waiting = IDS_NO_DOING;
    ids_timeline_read(timeline);
    for (size_t i = 0; i + 1 < timeline->count && sum; i++) {
        if (trace->doings[timeline->doing[i]].waits != IDS_WAITS_FOR_LOCK) continue;
        uint64_t length_ps = (uint64_t)(timeline->from_ps[i + 1] - timeline->from_ps[i]);
        sum = ids_keymap_at(&sums, (uint64_t)timeline->doing[i] + 1);
        if (!sum) break;
        *sum += length_ps;
        all_ps += length_ps;
        if (*sum > longest_ps) longest_ps = *sum, *ret_waiting = timeline->doing[i];
    }
    ids_keymap_done(&sums);
    if (!sum) return -1;
    int64_t span_ps = timeline->count ? timeline->from_ps[timeline->count - 1] - timeline->from_ps[0] : 0;
    if ((double)all_ps < LEAST_WAITING * (double)span_ps) *ret_waiting = IDS_NO_DOING;
    return 0;
}

static int find(struct ids_wakers *wakers, struct ids_chain *chain, size_t p, size_t *ret_pacemaker) {
    uint32_t waiting, track = wakers->python[p];
    if (chain->count == IDS_MOST_LINKS) return 0;
    chain->tracks[chain->count++] = track;
    if (find_wait(wakers->trace, &wakers->trace->tracks[track].timeline, &waiting)) return -1;
    if (waiting == IDS_NO_DOING) *ret_pacemaker = p;
    for (size_t q = 0; q < wakers->python_count && waiting != IDS_NO_DOING; q++) {
        const struct ids_waking *waking; /* until others are asked for */
        if (ids_wakers_find(wakers, track, waiting, &waking)) return -1;
        if (!ids_waking_is_by_thread(waking, q) || ids_is_in_chain(chain, wakers->python[q])) continue;
        size_t found = wakers->python_count;
        if (find(wakers, chain, q, &found)) return -1;
        if (found == wakers->python_count) continue;
        *ret_pacemaker = found;
        return 0;
    }
    return 0;
}

int ids_pacemaker_find(struct ids_wakers *wakers, const struct ids_chain *chain, size_t p, size_t *ret_pacemaker) {
    uint64_t key = ids_key_of(chain->tracks[chain->count - 1], wakers->python[p]);
    uint64_t *known = ids_keymap_at(&wakers->pacemakers, key);
    if (!known) return -1;
    *ret_pacemaker = p;
    if (!*known) {
        struct ids_chain own = *chain;
        if (find(wakers, &own, p, ret_pacemaker)) return -1;
        *known = *ret_pacemaker + 1;
    }
    *ret_pacemaker = (size_t)*known - 1;
    return 0;
}
