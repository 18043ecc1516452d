#include "lib/model/sampled_gaps.h"

#include "lib/base/saturate.h"
#include "lib/base/search.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/model/doings.h"
#include "lib/model/python_frame.h"

#include <stdlib.h>

void ids_sampled_gaps_done(struct ids_sampled_gaps *gaps) {
    free(gaps->samples);
    free(gaps->kinds);
    free(gaps->functions);
    ids_keymap_done(&gaps->kind_numbers);
    ids_keymap_done(&gaps->function_numbers);
    ids_keymap_done(&gaps->doings);
}

static const struct ids_doing *doing_at(const struct ids_sampled_gaps *gaps, size_t turn) {
    return &gaps->trace->doings[gaps->recorded->doing[turn]];
}

static int is_gap(const struct ids_sampled_gaps *gaps, size_t turn) {
    return turn > 0 && turn + 1 < gaps->recorded->count && doing_at(gaps, turn)->account == IDS_NO_ACCOUNT;
}

static int64_t length_of(const struct ids_sampled_gaps *gaps, size_t turn) {
    return ids_sat_sub(gaps->recorded->from_ps[turn + 1], gaps->recorded->from_ps[turn]);
}

/* Gaps of a kind lie between the same events, and are between one and two times 2^n ns long: a gap of 20 ms, now and
 * then, is another one than that of 200 us in each step. */
static uint64_t kind_key(const struct ids_sampled_gaps *gaps, size_t turn, int longer) {
    uint64_t length_ns = (uint64_t)length_of(gaps, turn) / 1000 + 1;
    int size = 64 - __builtin_clzll(length_ns) + longer;
    return ids_key_of((uint64_t)doing_at(gaps, turn - 1)->around << 32 | doing_at(gaps, turn + 1)->around,
                      (uint64_t)size);
}

static struct ids_gap_kind *kind_of(const struct ids_sampled_gaps *gaps, size_t turn, int longer) {
    uint64_t number;
    return ids_keymap_get(&gaps->kind_numbers, kind_key(gaps, turn, longer), &number) ? &gaps->kinds[number - 1] : NULL;
}

/* Who waits for Python's lock waits for another thread: that is another part of the gap than what the function does.
 * So is its sleeping. */
static uint64_t function_key(const struct ids_trace *trace, uint32_t doing) {
    if (trace->doings[doing].waits == IDS_WAITS_FOR_GIL) return ids_key_of(doing, 1);
    uint32_t caller = trace->doings[doing].caller;
    uint64_t function = ids_python_function_key(ids_strings_text(&trace->strings, trace->names[caller].text));
    return ids_doing_sleeps(trace, doing) ? ids_key_of(function, 2) : function;
}

/* Waits for a core are known to the nanosecond, and who is called back is no part of what the thread did itself. */
static int says_what_is_done(const struct ids_doing *doing) {
    return doing->caller != IDS_NONE && doing->waits != IDS_WAITS_FOR_CORE && !doing->in_callback;
}

int ids_sampled_gaps_add(struct ids_sampled_gaps *gaps, int64_t when_ps, uint32_t doing) {
    size_t turn = ids_timeline_find(gaps->recorded, when_ps);
    struct ids_gap_sample *sample = IDS_PUSH(gaps->samples, gaps->sample_count, gaps->sample_room);
    if (!sample) return -1;
    if (turn == SIZE_MAX || !is_gap(gaps, turn) || !says_what_is_done(&gaps->trace->doings[doing])) turn = SIZE_MAX;
    *sample = (struct ids_gap_sample){.when_ps = when_ps, .turn = turn, .doing = doing, .function = IDS_NONE};
    return 0;
}

/* --- what the samples of each kind of gap saw ------------------------------------------------------------------- */

/* The number of what has the key, which gets the next one if it has none; 0: no memory. */
static uint64_t number_of(struct ids_keymap *numbers, uint64_t key, size_t count) {
    uint64_t *number = ids_keymap_at(numbers, key);
    if (!number) return 0;
    if (!*number) *number = count + 1;
    return *number;
}

static int add_to_kind(struct ids_sampled_gaps *gaps, struct ids_gap_sample *sample) {
    uint64_t key = kind_key(gaps, sample->turn, 0), number = number_of(&gaps->kind_numbers, key, gaps->kind_count);
    if (!number) return -1;
    if (number > gaps->kind_count) {
        struct ids_gap_kind *fresh = IDS_PUSH(gaps->kinds, gaps->kind_count, gaps->kind_room);
        if (!fresh) return -1;
        *fresh = (struct ids_gap_kind){.first = IDS_NONE, .turn = SIZE_MAX};
    }
    struct ids_gap_kind *kind = &gaps->kinds[number - 1];
    uint64_t own_key = ids_key_of(key, function_key(gaps->trace, sample->doing));
    if (!(number = number_of(&gaps->function_numbers, own_key, gaps->function_count))) return -1;
    if (number > gaps->function_count) {
        struct ids_gap_function *fresh = IDS_PUSH(gaps->functions, gaps->function_count, gaps->function_room);
        if (!fresh) return -1;
        *fresh = (struct ids_gap_function){.next = kind->first, .turn = SIZE_MAX};
        kind->first = (uint32_t)(number - 1);
    }
    struct ids_gap_function *function = &gaps->functions[number - 1];
    uint64_t *seen = ids_keymap_at(&gaps->doings, ids_key_of(own_key, sample->doing));
    if (!seen) return -1;
    if (++*seen > function->most) function->most = *seen, function->doing = sample->doing;
    sample->function = (uint32_t)(number - 1);
    int64_t length_ps = length_of(gaps, sample->turn);
    ids_sum(&function->weight_ps, sample->weight_ps);
    ids_sum(&kind->weight_ps, sample->weight_ps);
    function->position += (double)(sample->when_ps - gaps->recorded->from_ps[sample->turn]) / (double)length_ps *
                          (double)sample->weight_ps;
    if (function->turn != sample->turn) function->gaps++, ids_sum(&function->gaps_ps, length_ps);
    if (kind->turn != sample->turn) kind->sampled++;
    function->turn = kind->turn = sample->turn;
    return 0;
}

/* Samples are not taken at equal times, so each stands for the time around it: more than the gap where it is short, so
 * that what is done at a gap's end counts no less than what is done in its middle. */
static void weigh(struct ids_sampled_gaps *gaps) {
    for (size_t s = 0; s < gaps->sample_count; s++) {
        struct ids_gap_sample *sample = &gaps->samples[s];
        if (sample->turn == SIZE_MAX) continue;
        int64_t most_ps = length_of(gaps, sample->turn), before_ps = most_ps, after_ps = most_ps;
        if (s) before_ps = ids_sat_sub(sample->when_ps, sample[-1].when_ps) / 2;
        if (s + 1 < gaps->sample_count) after_ps = ids_sat_sub(sample[1].when_ps, sample->when_ps) / 2;
        sample->weight_ps =
            ids_sat_add(before_ps < most_ps ? before_ps : most_ps, after_ps < most_ps ? after_ps : most_ps);
    }
}

static double position_of(const struct ids_gap_function *function) {
    return function->weight_ps ? function->position / (double)function->weight_ps : 0;
}

/* What is done now and then makes a gap longer than the others, by more than its part of all of them. What only one or
 * two of many gaps show may be such a thing. */
static int is_unusual(const struct ids_gap_kind *kind, const struct ids_gap_function *function) {
    enum { FEW = 3, TIMES = 2 };
    size_t others = kind->gaps - function->gaps;
    if (function->gaps < FEW && function->gaps * FEW < kind->sampled) return 1;
    if (!others) return 0;
    double longer_ps = (double)function->gaps_ps / (double)function->gaps -
                       (double)(kind->time_ps - function->gaps_ps) / (double)others;
    double part = kind->weight_ps ? (double)function->weight_ps / (double)kind->weight_ps : 0;
    return longer_ps > TIMES * part * (double)kind->time_ps / (double)kind->gaps;
}

/* Brings the functions of a kind in the order in which they come. */
static void settle_kind(struct ids_sampled_gaps *gaps, struct ids_gap_kind *kind) {
    uint32_t rest = kind->first;
    kind->first = IDS_NONE;
    while (rest != IDS_NONE) {
        struct ids_gap_function *function = &gaps->functions[rest];
        uint32_t *place = &kind->first, own = rest;
        rest = function->next;
        function->is_unusual = (uint8_t)is_unusual(kind, function);
        if (!function->is_unusual) ids_sum(&kind->usual_ps, function->weight_ps);
        while (*place != IDS_NONE && position_of(&gaps->functions[*place]) < position_of(function))
            place = &gaps->functions[*place].next;
        function->next = *place;
        *place = own;
    }
}

int ids_sampled_gaps_settle(struct ids_sampled_gaps *gaps) {
    weigh(gaps);
    for (size_t s = 0; s < gaps->sample_count; s++) {
        if (gaps->samples[s].turn != SIZE_MAX && add_to_kind(gaps, &gaps->samples[s])) return -1;
    }
    for (size_t turn = 1; gaps->kind_count && turn + 1 < gaps->recorded->count; turn++) {
        struct ids_gap_kind *kind = is_gap(gaps, turn) ? kind_of(gaps, turn, 0) : NULL;
        if (!kind) continue;
        kind->gaps++;
        ids_sum(&kind->time_ps, length_of(gaps, turn));
    }
    for (size_t k = 0; k < gaps->kind_count; k++) settle_kind(gaps, &gaps->kinds[k]);
    return 0;
}

/* --- a gap ------------------------------------------------------------------------------------------------------ */

/* The first sample of that gap. */
static size_t first_sample(const struct ids_sampled_gaps *gaps, int64_t from_ps) {
    return IDS_COUNT_BELOW(gaps->samples, gaps->sample_count, when_ps, from_ps);
}

static struct ids_gap_function *function_of(const struct ids_sampled_gaps *gaps, size_t sample) {
    uint32_t function = gaps->samples[sample].function;
    return function == IDS_NONE ? NULL : &gaps->functions[function];
}

/* The weight of the gap's own samples by function, of all of them, and of those that saw what is usual. */
static void sum_own(const struct ids_sampled_gaps *gaps, size_t turn, int64_t *ret_own_ps, int64_t *ret_usual_ps) {
    size_t first = first_sample(gaps, gaps->recorded->from_ps[turn]), end = first;
    *ret_own_ps = *ret_usual_ps = 0;
    for (; end < gaps->sample_count && gaps->samples[end].when_ps < gaps->recorded->from_ps[turn + 1]; end++) {
        struct ids_gap_function *function = function_of(gaps, end);
        if (function) function->own_ps = 0, function->turn = turn;
    }
    for (size_t s = first; s < end; s++) {
        const struct ids_gap_sample *sample = &gaps->samples[s];
        struct ids_gap_function *function = function_of(gaps, s);
        if (!function) continue;
        ids_sum(&function->own_ps, sample->weight_ps);
        ids_sum(ret_own_ps, sample->weight_ps);
        if (!function->is_unusual) ids_sum(ret_usual_ps, sample->weight_ps);
    }
}

struct part {
    const struct ids_gap_function *function;
    double share;
};

/* Keeps the largest, in the order in which they come. */
static void keep(struct part *parts, size_t *count, struct part part) {
    if (*count == IDS_GAP_PIECES) {
        size_t least = 0;
        for (size_t i = 1; i < *count; i++) {
            if (parts[i].share < parts[least].share) least = i;
        }
        if (parts[least].share >= part.share) return;
        for (size_t i = least + 1; i < *count; i++) parts[i - 1] = parts[i];
        --*count;
    }
    parts[(*count)++] = part;
}

static void lay_out(const struct part *parts, size_t count, int64_t from_ps, int64_t length_ps,
                    struct ids_gap_pieces *pieces) {
    enum { LEAST_PS = 1000000 }; /* what is shorter is left to the others */
    double all = 0, before = 0;
    for (size_t i = 0; i < count; i++) {
        if (count > 1 && parts[i].share * (double)length_ps < LEAST_PS) continue;
        all += parts[i].share;
    }
    for (size_t i = 0; i < count && all > 0; i++) {
        if (count > 1 && parts[i].share * (double)length_ps < LEAST_PS) continue;
        pieces->at[pieces->count].from_ps = from_ps + (int64_t)(before / all * (double)length_ps);
        pieces->at[pieces->count++].doing = parts[i].function->doing;
        before += parts[i].share;
    }
}

/* The kind of a gap that has samples: its own, or that of gaps half as long, or twice. */
static const struct ids_gap_kind *sampled_kind(const struct ids_sampled_gaps *gaps, size_t turn) {
    static const int sizes[] = {0, -1, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct ids_gap_kind *kind = kind_of(gaps, turn, sizes[i]);
        if (kind) return kind;
    }
    return NULL;
}

void ids_sampled_gaps_divide(const struct ids_sampled_gaps *gaps, size_t turn, int64_t period_ps,
                             struct ids_gap_pieces *ret_pieces) {
    enum { ENOUGH = 8, USUAL = 2 }; /* samples that a gap needs for itself, and those that its kind counts for */
    struct part parts[IDS_GAP_PIECES];
    size_t count = 0;
    int64_t own_ps = 0, own_usual_ps = 0;
    ret_pieces->count = 0;
    if (!gaps->kind_count || !is_gap(gaps, turn)) return;
    const struct ids_gap_kind *kind = sampled_kind(gaps, turn);
    if (!kind) return;
    if (kind == kind_of(gaps, turn, 0)) sum_own(gaps, turn, &own_ps, &own_usual_ps);
    if (own_ps && length_of(gaps, turn) >= ids_sat_mul(ENOUGH, period_ps)) return;
    double prior_ps = own_ps && !own_usual_ps ? 0 : USUAL * (double)period_ps,
           usual = own_ps ? (double)own_usual_ps / (double)own_ps : 1;
    for (uint32_t f = kind->first; f != IDS_NONE; f = gaps->functions[f].next) {
        const struct ids_gap_function *function = &gaps->functions[f];
        double seen_ps = own_ps && function->turn == turn ? (double)function->own_ps : 0, share = 0;
        if (function->is_unusual)
            share = own_ps ? seen_ps / (double)own_ps : 0;
        else if (prior_ps > 0 && kind->usual_ps > 0)
            share = usual * (seen_ps + prior_ps * (double)function->weight_ps / (double)kind->usual_ps) /
                    ((double)own_usual_ps + prior_ps);
        if (share > 0) keep(parts, &count, (struct part){function, share});
    }
    lay_out(parts, count, gaps->recorded->from_ps[turn], length_of(gaps, turn), ret_pieces);
}
