#include "lib/model/sampled_gaps.h"

#include "lib/model/account.h"
#include "lib/model/python_frame.h"

void ids_sampled_gaps_done(struct ids_sampled_gaps *gaps) {
    ids_keymap_done(&gaps->seen);
    ids_keymap_done(&gaps->functions);
    ids_keymap_done(&gaps->doings);
    ids_keymap_done(&gaps->most);
    ids_keymap_done(&gaps->best);
}

static const struct ids_doing *doing_at(const struct ids_sampled_gaps *gaps, size_t turn) {
    return &gaps->trace->doings[gaps->recorded->doing[turn]];
}

static int is_gap(const struct ids_sampled_gaps *gaps, size_t turn) {
    return turn > 0 && turn + 1 < gaps->recorded->count && doing_at(gaps, turn)->account == IDS_NO_ACCOUNT;
}

/* Gaps of a kind lie between the same events, and are between one and two times 2^n ns long: a gap of 20 ms, now and
 * then, is another one than that of 200 us in each step. */
static uint64_t kind_of(const struct ids_sampled_gaps *gaps, size_t turn, int longer) {
    const int64_t *from_ps = gaps->recorded->from_ps;
    uint64_t length_ns = (uint64_t)(from_ps[turn + 1] - from_ps[turn]) / 1000 + 1;
    int size = 64 - __builtin_clzll(length_ns) + longer;
    return ids_key_of((uint64_t)doing_at(gaps, turn - 1)->around << 32 | doing_at(gaps, turn + 1)->around,
                      (uint64_t)size);
}

static uint64_t function_of(const struct ids_sampled_gaps *gaps, uint32_t doing) {
    uint32_t caller = gaps->trace->doings[doing].caller;
    return ids_python_function_key(ids_strings_text(&gaps->trace->strings, gaps->trace->names[caller].text));
}

static uint64_t count_of(const struct ids_keymap *map, uint64_t key) {
    uint64_t count = 0;
    ids_keymap_get(map, key, &count);
    return count;
}

static uint64_t *count_up(struct ids_keymap *map, uint64_t key) {
    uint64_t *count = ids_keymap_at(map, key);
    if (count) ++*count;
    return count;
}

int ids_sampled_gaps_add(struct ids_sampled_gaps *gaps, int64_t when_ps, uint32_t doing) {
    size_t turn = ids_timeline_find(gaps->recorded, when_ps);
    if (turn == SIZE_MAX || !is_gap(gaps, turn)) return 0;
    if (ids_keymap_add(&gaps->seen, turn + 1, 1) < 0) return -1;
    if (gaps->trace->doings[doing].caller == IDS_NONE) return 0;
    uint64_t kind = kind_of(gaps, turn, 0), function = ids_key_of(kind, function_of(gaps, doing));
    const uint64_t *same = count_up(&gaps->doings, ids_key_of(function, doing));
    uint64_t *most = same ? ids_keymap_at(&gaps->most, function) : NULL;
    if (!most) return -1;
    if (!*most || *same >= count_of(&gaps->doings, ids_key_of(function, *most - 1))) *most = (uint64_t)doing + 1;
    const uint64_t seen = *most, *count = count_up(&gaps->functions, function);
    uint64_t *best = count ? ids_keymap_at(&gaps->best, kind) : NULL;
    if (!best) return -1;
    uint64_t best_function = *best ? ids_key_of(kind, function_of(gaps, (uint32_t)*best - 1)) : 0;
    if (!*best || best_function == function || *count > count_of(&gaps->functions, best_function)) *best = seen;
    return 0;
}

uint32_t ids_sampled_gaps_usual(const struct ids_sampled_gaps *gaps, size_t turn) {
    static const int sizes[] = {0, -1, 1};
    if (!is_gap(gaps, turn) || count_of(&gaps->seen, turn + 1)) return IDS_NO_DOING;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t best = count_of(&gaps->best, kind_of(gaps, turn, sizes[i]));
        if (best) return (uint32_t)best - 1;
    }
    return IDS_NO_DOING;
}
