#include "lib/model/clock_tie.h"

#include "lib/base/saturate.h"
#include "lib/base/search.h"
#include "lib/base/vec.h"

#include <math.h>
#include <stdlib.h>

/* One collective on both hosts. */
struct lane {
    const struct ids_collective_run *fixed, *moved; /* in order of their ends */
    size_t fixed_count, moved_count;
    double gap_ps;    /* the mean time between two of them */
    double spread_ps; /* how far ends that do not belong together fall apart: as the gap, and less where all gaps are
                       * alike */
};

/* Two ends that may be those of the same execution. */
struct pair {
    int64_t at_ps;      /* when it ended, on the moved clock */
    int64_t offset_ps;  /* fixed less moved */
    int64_t apart_ps;   /* how far from each other they are under the offset that is tried; not negative */
    int64_t shorter_ps; /* the shorter duration of the two */
    double log_spread;
};

/* An offset that changes with time: what is to be added to a moved time. */
struct model {
    int64_t offset_ps, pivot_ps;
    double slope;
};

struct search {
    struct lane *lanes;
    size_t lane_count, lane_room;
    size_t least_count; /* Σ of the smaller count of each lane: more pairs than that there cannot be */
    int counts_equal;
    int64_t *offsets; /* candidates, and room for medians */
    size_t offset_count, offset_room;
    struct pair *pairs;
    size_t pair_count, pair_room;
};

/* Clocks of files are in whole microseconds or near it: closer is no better. */
static const int64_t RESOLUTION_PS = 1000000;
/* A single collective has no neighbour to take the distance from. */
static const double LONE_GAP_PS = 1e12;
/* The surprise (a logarithm) that chance may reach, beside that of having tried many offsets: one in 150. */
static const double CHANCE = 5;

enum { SAMPLE = 512, LAGS = 64, SAMPLED_OF_LAG = 15, ALL_PAIRS = 256 };

static void search_done(struct search *search) {
    free(search->lanes);
    free(search->offsets);
    free(search->pairs);
}

/* --- lanes ------------------------------------------------------------------------------------------------------- */

static size_t end_of_key(const struct ids_collective_run *at, size_t count, size_t from) {
    size_t end = from;
    while (end < count && at[end].key == at[from].key) end++;
    return end;
}

static int by_pairs(const void *a, const void *b) {
    const struct lane *left = a, *right = b;
    size_t left_pairs = left->fixed_count * left->moved_count, right_pairs = right->fixed_count * right->moved_count;
    if (left_pairs != right_pairs) return left_pairs < right_pairs ? -1 : 1;
    return (left->fixed->key > right->fixed->key) - (left->fixed->key < right->fixed->key);
}

/* What both have, the rarest first: fewer pairs are possible there. */
static int make_lanes(struct search *search, const struct ids_collective_run *fixed, size_t fixed_count,
                      const struct ids_collective_run *moved, size_t moved_count) {
    search->counts_equal = 1;
    for (size_t f = 0, m = 0; f < fixed_count && m < moved_count;) {
        size_t fixed_end = end_of_key(fixed, fixed_count, f), moved_end = end_of_key(moved, moved_count, m);
        if (fixed[f].key == moved[m].key) {
            struct lane *lane = IDS_PUSH(search->lanes, search->lane_count, search->lane_room);
            if (!lane) return -1;
            *lane = (struct lane){
                .fixed = &fixed[f], .moved = &moved[m], .fixed_count = fixed_end - f, .moved_count = moved_end - m};
            search->least_count += lane->fixed_count < lane->moved_count ? lane->fixed_count : lane->moved_count;
            search->counts_equal &= lane->fixed_count == lane->moved_count;
            f = fixed_end;
            m = moved_end;
        } else if (fixed[f].key < moved[m].key) {
            f = fixed_end;
        } else {
            m = moved_end;
        }
    }
    if (search->lane_count) qsort(search->lanes, search->lane_count, sizeof *search->lanes, by_pairs);
    return 0;
}

/* --- pairs under an offset --------------------------------------------------------------------------------------- */

static int64_t offset_at(const struct model *model, int64_t when_ps) {
    return ids_sat_add(model->offset_ps, (int64_t)(model->slope * (double)(when_ps - model->pivot_ps)));
}

static int64_t distance(int64_t a, int64_t b) {
    return a > b ? a - b : b - a;
}

/* The index of the end nearest to the moment. */
static size_t nearest(const struct ids_collective_run *at, size_t count, int64_t when_ps) {
    size_t low = IDS_COUNT_BELOW(at, count, end_ps, when_ps);
    if (low == count) return count - 1;
    return low && distance(at[low - 1].end_ps, when_ps) < distance(at[low].end_ps, when_ps) ? low - 1 : low;
}

/* Whether no neighbour of the moved end is nearer to the same fixed end. */
static int is_mutual(const struct lane *lane, size_t m, int64_t end_ps, int64_t offset_ps) {
    int64_t own = distance(lane->moved[m].end_ps + offset_ps, end_ps);
    if (m && distance(lane->moved[m - 1].end_ps + offset_ps, end_ps) <= own) return 0;
    return m + 1 == lane->moved_count || distance(lane->moved[m + 1].end_ps + offset_ps, end_ps) >= own;
}

/* Pairs up at most `most` of the ends, evenly taken. */
static int pair_up(struct search *search, const struct model *model, size_t most) {
    size_t all = 0, stride = 1;
    for (size_t l = 0; l < search->lane_count; l++) all += search->lanes[l].moved_count;
    if (all > most) stride = (all + most - 1) / most;
    search->pair_count = 0;
    for (size_t l = 0, seen = 0; l < search->lane_count; l++) {
        const struct lane *lane = &search->lanes[l];
        double log_spread = log(lane->spread_ps);
        for (size_t m = 0; m < lane->moved_count; m++, seen++) {
            if (seen % stride) continue;
            int64_t offset_ps = offset_at(model, lane->moved[m].end_ps);
            size_t f = nearest(lane->fixed, lane->fixed_count, lane->moved[m].end_ps + offset_ps);
            if (!is_mutual(lane, m, lane->fixed[f].end_ps, offset_ps)) continue;
            struct pair *pair = IDS_PUSH(search->pairs, search->pair_count, search->pair_room);
            if (!pair) return -1;
            int64_t moved_ps = lane->moved[m].end_ps - lane->moved[m].start_ps;
            int64_t fixed_ps = lane->fixed[f].end_ps - lane->fixed[f].start_ps;
            *pair = (struct pair){
                .at_ps = lane->moved[m].end_ps,
                .offset_ps = lane->fixed[f].end_ps - lane->moved[m].end_ps,
                .apart_ps = distance(lane->fixed[f].end_ps, lane->moved[m].end_ps + offset_ps),
                .shorter_ps = moved_ps < fixed_ps ? moved_ps : fixed_ps,
                .log_spread = log_spread,
            };
        }
    }
    return 0;
}

static int by_apart(const void *a, const void *b) {
    const struct pair *left = a, *right = b;
    if (left->apart_ps != right->apart_ps) return left->apart_ps < right->apart_ps ? -1 : 1;
    return (left->at_ps > right->at_ps) - (left->at_ps < right->at_ps);
}

/* How surprising it would be if the closest pairs were that close by chance: each but one (the offset makes one) falls
 * within the distance of the last of them, of all the distances that there might be. Leaves the pairs in order of their
 * distance, and how many of them make the largest surprise. */
static double surprise(struct search *search, size_t *ret_count) {
    double best = 0, logs = 0;
    *ret_count = search->pair_count ? 1 : 0;
    if (search->pair_count > 1) qsort(search->pairs, search->pair_count, sizeof *search->pairs, by_apart);
    for (size_t i = 0; i < search->pair_count; i++) {
        const struct pair *pair = &search->pairs[i];
        int64_t apart_ps = pair->apart_ps > RESOLUTION_PS ? pair->apart_ps : RESOLUTION_PS;
        double count = (double)(i + 1);
        logs += pair->log_spread;
        double sum = (count - 1) / count * logs - (count - 1) * log(2 * (double)apart_ps);
        if (sum < best) continue;
        best = sum;
        *ret_count = i + 1;
    }
    return best;
}

/* --- offsets to try ---------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t median(int64_t *at, size_t count) {
    qsort(at, count, sizeof *at, by_size);
    int64_t low = at[(count - 1) / 2], high = at[count / 2];
    return low + (high - low) / 2;
}

static int add_offset(struct search *search, int64_t offset_ps) {
    int64_t *added = IDS_PUSH(search->offsets, search->offset_count, search->offset_room);
    if (added) *added = offset_ps;
    return added ? 0 : -1;
}

/* The gaps between the ends of a list, and how much they vary: in a periodic program any whole number of periods fits
 * as well as the variation lets it. */
static int measure(struct search *search, const struct ids_collective_run *at, size_t count, struct lane *lane) {
    enum { FEW = 3 };
    double gap_ps = LONE_GAP_PS, spread_ps = LONE_GAP_PS;
    search->offset_count = 0;
    for (size_t i = 1; i < count; i++) {
        if (add_offset(search, at[i].end_ps - at[i - 1].end_ps)) return -1;
    }
    if (count > 1) gap_ps = spread_ps = (double)(at[count - 1].end_ps - at[0].end_ps) / (double)(count - 1);
    if (count > FEW) {
        int64_t middle_ps = median(search->offsets, search->offset_count);
        for (size_t i = 0; i < search->offset_count; i++) search->offsets[i] = distance(search->offsets[i], middle_ps);
        double varies_ps = 4 * (double)median(search->offsets, search->offset_count);
        if (varies_ps < spread_ps) spread_ps = varies_ps;
    }
    if (spread_ps < 4 * (double)RESOLUTION_PS) spread_ps = 4 * (double)RESOLUTION_PS;
    if (lane->gap_ps == 0 || gap_ps < lane->gap_ps) lane->gap_ps = gap_ps;
    if (lane->spread_ps == 0 || spread_ps < lane->spread_ps) lane->spread_ps = spread_ps;
    search->offset_count = 0;
    return 0;
}

static int measure_lanes(struct search *search) {
    for (size_t l = 0; l < search->lane_count; l++) {
        struct lane *lane = &search->lanes[l];
        if (measure(search, lane->fixed, lane->fixed_count, lane) ||
            measure(search, lane->moved, lane->moved_count, lane))
            return -1;
    }
    return 0;
}

/* The n-th is the n-th, over all lanes: right where both recorded the same. */
static int straight_offset(struct search *search, int64_t *ret_offset_ps) {
    search->offset_count = 0;
    for (size_t l = 0; l < search->lane_count; l++) {
        const struct lane *lane = &search->lanes[l];
        for (size_t i = 0; i < lane->fixed_count && i < lane->moved_count; i++) {
            if (add_offset(search, lane->fixed[i].end_ps - lane->moved[i].end_ps)) return -1;
        }
    }
    *ret_offset_ps = median(search->offsets, search->offset_count);
    search->offset_count = 0;
    return 0;
}

/* The n-th of one is the (n + lag)-th of the other. */
static int add_lag(struct search *search, const struct lane *lane, int64_t lag) {
    int64_t sample[SAMPLED_OF_LAG] = {0};
    int64_t first = lag < 0 ? -lag : 0, last = (int64_t)lane->moved_count;
    if (last > (int64_t)lane->fixed_count - lag) last = (int64_t)lane->fixed_count - lag;
    int64_t overlap = last - first, taken = overlap < SAMPLED_OF_LAG ? overlap : SAMPLED_OF_LAG;
    if (overlap <= 0) return 0;
    for (int64_t i = 0; i < taken; i++) {
        int64_t m = first + i * overlap / taken;
        sample[i] = lane->fixed[m + lag].end_ps - lane->moved[m].end_ps;
    }
    return add_offset(search, median(sample, (size_t)taken));
}

static int add_offsets_of(struct search *search, const struct lane *lane, unsigned effort) {
    if (lane->fixed_count * lane->moved_count <= ALL_PAIRS) {
        for (size_t f = 0; f < lane->fixed_count; f++) {
            for (size_t m = 0; m < lane->moved_count && search->offset_count < effort; m++) {
                if (add_offset(search, lane->fixed[f].end_ps - lane->moved[m].end_ps)) return -1;
            }
        }
        return 0;
    }
    int64_t back = (int64_t)lane->fixed_count - (int64_t)lane->moved_count; /* both ended together, or began together */
    for (int64_t away = 0; away <= LAGS && search->offset_count < effort; away++) {
        if (add_lag(search, lane, away) || (away && add_lag(search, lane, -away))) return -1;
        if (back && (add_lag(search, lane, back + away) || (away && add_lag(search, lane, back - away)))) return -1;
    }
    return 0;
}

/* --- the search -------------------------------------------------------------------------------------------------- */

/* The rate at which the offset changes, by the medians of the first and the last third; 0 where there are few. */
static double slope_of(const struct pair *pairs, size_t count, int64_t *room) {
    enum { FEW = 9 };
    if (count < FEW) return 0;
    size_t third = count / 3;
    int64_t ends[2], moments[2];
    for (int side = 0; side < 2; side++) {
        const struct pair *from = side ? &pairs[count - third] : pairs;
        for (size_t i = 0; i < third; i++) room[i] = from[i].offset_ps;
        ends[side] = median(room, third);
        for (size_t i = 0; i < third; i++) room[i] = from[i].at_ps;
        moments[side] = median(room, third);
    }
    double slope = moments[1] > moments[0] ? (double)(ends[1] - ends[0]) / (double)(moments[1] - moments[0]) : 0;
    return fabs(slope) < 0.01 ? slope : 0; /* a hundredth is no clock's drift */
}

static int by_moment(const void *a, const void *b) {
    const struct pair *left = a, *right = b;
    return (left->at_ps > right->at_ps) - (left->at_ps < right->at_ps);
}

/* Makes the model that of the closest `count` pairs. */
static int fit(struct search *search, size_t count, struct model *model) {
    int64_t *room = calloc(count + 1, sizeof *room);
    if (!room) return -1;
    qsort(search->pairs, count, sizeof *search->pairs, by_moment);
    model->slope = slope_of(search->pairs, count, room);
    model->pivot_ps = search->pairs[count / 2].at_ps;
    for (size_t i = 0; i < count; i++) {
        double late = (double)(search->pairs[i].at_ps - model->pivot_ps);
        room[i] = search->pairs[i].offset_ps - (int64_t)(model->slope * late);
    }
    model->offset_ps = median(room, count);
    free(room);
    return 0;
}

/* From the offset that was found to all pairs, the drift of the clocks included. */
static int refine(struct search *search, struct model *model, size_t *ret_count, double *ret_surprise) {
    enum { ROUNDS = 6 };
    for (int round = 0; round < ROUNDS; round++) {
        struct model better = *model;
        size_t count;
        if (pair_up(search, model, SIZE_MAX)) return -1;
        double gained = surprise(search, &count);
        if (round && gained <= *ret_surprise) break;
        *ret_surprise = gained;
        *ret_count = count;
        if (!count || fit(search, count, &better)) return count ? -1 : 0;
        *model = better;
    }
    if (pair_up(search, model, SIZE_MAX)) return -1;
    *ret_surprise = surprise(search, ret_count);
    return 0;
}

/* One offset for all the time, the median of what the pairs ask for: events keep their durations to the picosecond.
 * What a drift makes of it is part of the residual; it is named where taking it out would halve the residual. */
static int conclude(const struct search *search, size_t count, const struct model *model, struct ids_clock_tie *tie) {
    int64_t straight_ps = 0; /* what would be left of the residual without the drift */
    *tie = (struct ids_clock_tie){.found = 1, .matched = count, .shortest_ps = INT64_MAX};
    int64_t *offsets = calloc(count + 1, sizeof *offsets);
    if (!offsets) return -1;
    for (size_t i = 0; i < count; i++) {
        const struct pair *pair = &search->pairs[i];
        offsets[i] = pair->offset_ps;
        if (pair->apart_ps > straight_ps) straight_ps = pair->apart_ps;
        if (pair->shorter_ps < tie->shortest_ps) tie->shortest_ps = pair->shorter_ps;
    }
    tie->offset_ps = median(offsets, count);
    for (size_t i = 0; i < count; i++) {
        int64_t apart_ps = distance(offsets[i], tie->offset_ps);
        if (apart_ps > tie->residual_ps) tie->residual_ps = apart_ps;
    }
    free(offsets);
    if (straight_ps <= tie->residual_ps / 2) tie->drift = -model->slope;
    return 0;
}

/* Whether the n-th being the n-th is good enough not to look further. */
static int is_plain(const struct search *search, size_t count) {
    if (!search->counts_equal || count * 5 < search->least_count * 4) return 0;
    double least_gap = LONE_GAP_PS;
    for (size_t l = 0; l < search->lane_count; l++) {
        if (search->lanes[l].gap_ps < least_gap) least_gap = search->lanes[l].gap_ps;
    }
    int64_t apart_ps = 0;
    for (size_t i = 0; i < count; i++) {
        if (search->pairs[i].apart_ps > apart_ps) apart_ps = search->pairs[i].apart_ps;
    }
    return (double)apart_ps * 4 <= least_gap;
}

static int try_all(struct search *search, unsigned effort, struct model *ret_best) {
    double best = -1;
    for (size_t l = 0; l < search->lane_count && search->offset_count < effort; l++) {
        if (add_offsets_of(search, &search->lanes[l], effort)) return -1;
    }
    for (size_t o = 0; o < search->offset_count; o++) {
        const struct model model = {.offset_ps = search->offsets[o]};
        size_t count;
        if (pair_up(search, &model, SAMPLE)) return -1;
        double gained = surprise(search, &count);
        if (gained <= best) continue;
        best = gained;
        *ret_best = model;
    }
    return 0;
}

/* How many pairs of a sample are closer than that. */
static int count_within(struct search *search, int64_t offset_ps, int64_t apart_ps, size_t *ret_count) {
    const struct model model = {.offset_ps = offset_ps};
    *ret_count = 0;
    if (pair_up(search, &model, SAMPLE)) return -1;
    for (size_t i = 0; i < search->pair_count; i++) *ret_count += search->pairs[i].apart_ps <= apart_ps;
    return 0;
}

/* In a strictly periodic program no offset is a surprise. Then the right one is that at which most pairs fall together,
 * if there is no other with as many. */
static int is_single(struct search *search, const struct ids_clock_tie *tie, int *ret_single) {
    int64_t apart_ps = 2 * (tie->residual_ps > RESOLUTION_PS ? tie->residual_ps : RESOLUTION_PS);
    size_t most, other;
    *ret_single = 0;
    if (tie->matched * 5 < search->least_count * 4) return 0;
    if (count_within(search, tie->offset_ps, apart_ps, &most)) return -1;
    for (size_t o = 0; o < search->offset_count; o++) {
        if (distance(search->offsets[o], tie->offset_ps) <= apart_ps) continue;
        if (count_within(search, search->offsets[o], apart_ps, &other)) return -1;
        if (other >= most) return 0;
    }
    *ret_single = 1;
    return 0;
}

static int find(struct search *search, unsigned effort, struct ids_clock_tie *ret_tie) {
    struct model model = {0};
    size_t count = 0;
    double gained = 0;
    int64_t straight_ps;
    if (!search->lane_count) return 0;
    if (measure_lanes(search) || straight_offset(search, &straight_ps)) return -1;
    model.offset_ps = straight_ps;
    if (refine(search, &model, &count, &gained)) return -1;
    if (count && is_plain(search, count)) return conclude(search, count, &model, ret_tie);
    if (add_offset(search, straight_ps) || try_all(search, effort, &model)) return -1;
    if (refine(search, &model, &count, &gained)) return -1;
    double chance = log((double)search->offset_count) + CHANCE;
    if (!count) return 0;
    if (conclude(search, count, &model, ret_tie)) return -1;
    ret_tie->found = gained >= chance;
    return ret_tie->found ? 0 : is_single(search, ret_tie, &ret_tie->found);
}

static int find_among(const struct ids_collective_run *fixed, size_t fixed_count,
                      const struct ids_collective_run *moved, size_t moved_count, unsigned effort,
                      struct ids_clock_tie *ret_tie) {
    struct search search = {0};
    *ret_tie = (struct ids_clock_tie){0};
    int failed = make_lanes(&search, fixed, fixed_count, moved, moved_count) || find(&search, effort, ret_tie);
    search_done(&search);
    return failed;
}

int ids_clock_tie_find(const struct ids_collective_runs *fixed, const struct ids_collective_runs *moved,
                       unsigned effort, struct ids_clock_tie *ret_tie, struct ids_error *err) {
    struct ids_clock_tie in_steps, any;
    if (find_among(fixed->in_steps, fixed->in_steps_count, moved->in_steps, moved->in_steps_count, effort, &in_steps) ||
        find_among(fixed->at, fixed->count, moved->at, moved->count, effort, &any))
        return ids_no_memory(err);
    /* Each host may count its steps from another one: then ends of the same number do not fall together. */
    int misnumbered = any.matched * 5 >= in_steps.matched * 4 && any.residual_ps < in_steps.residual_ps / 4;
    int alone = in_steps.matched == 1; /* nothing confirms it */
    *ret_tie = in_steps.found && !(any.found && (misnumbered || alone)) ? in_steps : any;
    return 0;
}
