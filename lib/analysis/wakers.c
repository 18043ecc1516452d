#include "lib/analysis/wakers.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/model/python_frame.h"

#include <math.h>
#include <stdlib.h>

/* Fewer waits say nothing; more than these say no more. */
enum { LEAST_ENDS = 3, MOST_ENDS = 1024 };
/* For each place all threads are looked at: of more places nobody knows who ends their waits. */
enum { MOST_PLACES = 256 };
/* Where samples do not say when a thread turned, and a frame's own events do: so long a thread needs to wake. */
static const int64_t WAKING_PS = 500000000;
/* Of two functions that end waits by turns each ends half of them. Nothing is sure. */
static const double LEAST_SHARE = 0.5, LEAST_CHANCE = 0.02, MOST_CHANCE = 0.95;
/* That many times as likely by its turns as by chance, as a logarithm: enough to name it. */
static const double ENOUGH = 1;

struct turning {
    int64_t at_ps, lag_ps; /* it may be so much earlier or later: samples come late where cores are few */
    uint32_t before;       /* doing */
};

struct ids_turnings {
    struct turning *at; /* in time order */
    size_t count, room;
    int64_t most_lag_ps;
    size_t next; /* that is not before the reach of the end that is looked at */
    int is_found;
};

/* What is known of one function, over all ends of the waits. */
struct tally {
    size_t hits, unknown; /* ends just behind a turn of it; over which it went on, and may have woken */
    size_t seen, went_on; /* the last end of either that was counted, plus 1 */
    int64_t covered_ps;   /* time within reach of its turns */
    int64_t last_ps;      /* its last turn on the thread that is looked at */
    size_t thread;        /* that one, plus 1 */
    size_t threads;       /* that turned from it */
    double score;
};

struct ids_waking {
    int64_t *ends_ps;
    size_t end_count, end_room;
    struct tally *tallies;
    size_t tally_count, tally_room;
    struct ids_keymap numbers; /* a function: the index of its tally, plus 1 */
    struct ids_keymap hits;    /* tallies with threads on which they have some: hit_key */
    double best;
    uint8_t *by_thread; /* by thread of `python`: ids_waking_is_by_thread; NULL: of none */
    int tells_wakes;    /* a thread that turns from one sleep to the next is seen to */
};

void ids_wakers_done(struct ids_wakers *wakers) {
    for (size_t p = 0; wakers->turnings && p < wakers->python_count; p++) free(wakers->turnings[p].at);
    for (size_t w = 0; w < wakers->waking_count; w++) {
        free(wakers->waking[w].ends_ps);
        free(wakers->waking[w].tallies);
        free(wakers->waking[w].by_thread);
        ids_keymap_done(&wakers->waking[w].numbers);
        ids_keymap_done(&wakers->waking[w].hits);
    }
    free(wakers->turnings);
    free(wakers->functions);
    free(wakers->waking);
    ids_keymap_done(&wakers->places);
    ids_keymap_done(&wakers->pacemakers);
    *wakers = (struct ids_wakers){0};
}

static struct ids_text text_of(const struct ids_trace *trace, uint32_t name) {
    return name == IDS_NONE ? (struct ids_text){"", 0} : ids_strings_text(&trace->strings, trace->names[name].text);
}

uint64_t ids_function_of_doing(const struct ids_trace *trace, uint32_t doing) {
    uint32_t caller = trace->doings[doing].caller;
    return ids_python_function_key(text_of(trace, caller == IDS_NONE ? trace->doings[doing].name : caller));
}

static uint32_t innermost(const struct ids_doing *doing) {
    return doing->called != IDS_NONE ? doing->called : doing->name;
}

/* It waits for a thread itself, and stands in a line of that wait before the lock, or behind it. */
static int waits_itself(const struct ids_trace *trace, const struct ids_doing *doing) {
    if (doing->account != IDS_HOST_PYTHON && doing->account != IDS_HOST_INPUT) return 0;
    return ids_python_waits_for_thread(text_of(trace, innermost(doing)));
}

int ids_is_asleep(const struct ids_trace *trace, uint32_t number) {
    const struct ids_doing *doing = &trace->doings[number];
    return doing->waits == IDS_WAITS_FOR_LOCK || doing->waits == IDS_WAITS_OUTSIDE || waits_itself(trace, doing);
}

int ids_may_hold_up(const struct ids_trace *trace, uint32_t number, enum ids_waits waits) {
    const struct ids_doing *doing = &trace->doings[number];
    if (doing->account == IDS_NO_ACCOUNT || doing->account == IDS_PROFILER) return 0;
    if (waits == IDS_WAITS_FOR_GIL && doing->account == IDS_HOST_SYNC) return 0;
    if (doing->waits && (doing->waits != IDS_WAITS_OUTSIDE || waits == IDS_WAITS_FOR_GIL)) return 0;
    return !waits_itself(trace, doing);
}

static int lacks_core_or_gil(const struct ids_doing *doing) {
    return doing->waits == IDS_WAITS_FOR_CORE || doing->waits == IDS_WAITS_FOR_GIL;
}

uint32_t ids_doing_with_core(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t turn) {
    size_t i = turn;
    while (i && lacks_core_or_gil(&trace->doings[timeline->doing[i]])) i--;
    return timeline->doing[lacks_core_or_gil(&trace->doings[timeline->doing[i]]) ? turn : i];
}

/* Of all doings, because a thread turns a million times. */
static int find_keys(struct ids_wakers *wakers) {
    const struct ids_trace *trace = wakers->trace;
    if (wakers->functions) return 0;
    wakers->functions = calloc(2 * trace->doing_count + 2, sizeof *wakers->functions);
    if (!wakers->functions) return -1;
    wakers->calls = wakers->functions + trace->doing_count + 1;
    for (uint32_t d = 0; d < trace->doing_count; d++) {
        wakers->functions[d] = ids_function_of_doing(trace, d);
        wakers->calls[d] = ids_python_function_key(text_of(trace, innermost(&trace->doings[d])));
    }
    return 0;
}

/* Another line of the same function, where it calls the same, is no turn. */
static int are_alike(const struct ids_wakers *wakers, uint32_t doing, uint32_t other) {
    return wakers->trace->doings[doing].waits == wakers->trace->doings[other].waits &&
           wakers->functions[doing] == wakers->functions[other] && wakers->calls[doing] == wakers->calls[other];
}

/* --- when a thread turned --------------------------------------------------------------------------------------- */

/* How far apart samples are on a host. */
struct pace {
    int64_t period_ps, dense_ps, dense_until_ps;
    int tells_wakes; /* a thread that turns from one sleep to the next is seen to */
};

static struct pace pace_of(const struct ids_trace *trace, uint32_t host) {
    struct pace pace = {.period_ps = WAKING_PS, .dense_until_ps = INT64_MAX, .tells_wakes = 1};
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        const struct ids_sampling *sampling = track->host == host ? ids_sampling_of(trace, track) : NULL;
        if (!sampling || track->first_ps > pace.dense_until_ps) continue;
        pace =
            (struct pace){sampling->period_ps, sampling->dense_period_ps, track->first_ps, sampling->tells_wakes != 0};
        if (sampling->dense_period_ps <= 0) pace.dense_ps = pace.period_ps;
    }
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        const struct ids_sampling *sampling = track->host == host ? ids_sampling_of(trace, track) : NULL;
        if (!sampling || track->first_ps != pace.dense_until_ps) continue;
        ids_sum(&pace.dense_until_ps, sampling->dense_ps);
        break;
    }
    return pace;
}

static int64_t period_at(const struct pace *pace, int64_t when_ps) {
    return when_ps < pace->dense_until_ps && pace->dense_ps ? pace->dense_ps : pace->period_ps;
}

static int add_turning(struct ids_turnings *turnings, const struct turning *added) {
    struct turning *turning = IDS_PUSH(turnings->at, turnings->count, turnings->room);
    if (!turning) return -1;
    *turning = *added;
    if (added->lag_ps > turnings->most_lag_ps) turnings->most_lag_ps = added->lag_ps;
    return 0;
}

static int by_time(const void *a, const void *b) {
    const struct turning *left = a, *right = b;
    return (left->at_ps > right->at_ps) - (left->at_ps < right->at_ps);
}

/* A thread that sleeps, and has then no core or not Python's lock, has woken. */
static int add_turns(const struct ids_wakers *wakers, const struct ids_timeline *timeline,
                     struct ids_turnings *turnings) {
    const struct ids_trace *trace = wakers->trace;
    uint32_t state = IDS_NO_DOING;
    for (size_t i = 0; i < timeline->count; i++) {
        uint32_t doing = timeline->doing[i];
        int lacks = lacks_core_or_gil(&trace->doings[doing]);
        int is_turn = state != IDS_NO_DOING && (lacks ? ids_is_asleep(trace, state) : !are_alike(wakers, state, doing));
        const struct turning turning = {.at_ps = timeline->from_ps[i], .before = state};
        if (is_turn && add_turning(turnings, &turning)) return -1;
        if (!lacks) state = doing;
    }
    return 0;
}

/* It woke since the sample before, which is its slice's last one. */
static struct turning wake_of(const struct ids_trace *trace, size_t s, const struct pace *pace, uint32_t doing) {
    const struct ids_stack_sample *sample = &trace->samples[s];
    int64_t half_ps = period_at(pace, sample->when_ps) / 2, lag_ps = 0;
    if (s && trace->samples[s - 1].track == sample->track)
        lag_ps = (sample->when_ps - trace->samples[s - 1].when_ps) / 2 - half_ps;
    if (lag_ps < 0) lag_ps = 0;
    return (struct turning){ids_sat_sub(sample->when_ps, half_ps + lag_ps), lag_ps, doing};
}

static int add_wakes_of(const struct ids_trace *trace, uint32_t sampled, const struct ids_timeline *timeline,
                        const struct pace *pace, struct ids_turnings *turnings) {
    for (size_t s = ids_trace_first_sample(trace, sampled);
         s < trace->sample_count && trace->samples[s].track == sampled; s++) {
        const struct ids_stack_sample *sample = &trace->samples[s];
        size_t i = sample->begins ? ids_timeline_find(timeline, sample->when_ps) : SIZE_MAX;
        if (i == SIZE_MAX || !ids_is_asleep(trace, timeline->doing[i])) continue;
        const struct turning turning = wake_of(trace, s, pace, timeline->doing[i]);
        if (add_turning(turnings, &turning)) return -1;
    }
    return 0;
}

/* Of a sleep that comes again and again samples see one: what they see too is that the thread ran in between. */
static int add_wakes(const struct ids_trace *trace, uint32_t track, const struct pace *pace,
                     struct ids_turnings *turnings) {
    const struct ids_track *thread = &trace->tracks[track];
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *of = &trace->tracks[t];
        if (!of->sampling || of->host != thread->host || of->id != thread->id) continue;
        if (add_wakes_of(trace, t, &thread->timeline, pace, turnings)) return -1;
    }
    return 0;
}

/* `pace` is that of the thread's host. */
static struct ids_turnings *turnings_of(struct ids_wakers *wakers, size_t p, const struct pace *pace) {
    const struct ids_trace *trace = wakers->trace;
    const struct ids_timeline *timeline = &trace->tracks[wakers->python[p]].timeline;
    if (!wakers->turnings) wakers->turnings = calloc(wakers->python_count + 1, sizeof *wakers->turnings);
    if (!wakers->turnings) return NULL;
    struct ids_turnings *turnings = &wakers->turnings[p];
    if (turnings->is_found) return turnings;
    ids_timeline_read(timeline);
    if (add_turns(wakers, timeline, turnings) || add_wakes(trace, wakers->python[p], pace, turnings)) return NULL;
    if (turnings->count) qsort(turnings->at, turnings->count, sizeof *turnings->at, by_time);
    turnings->is_found = 1;
    return turnings;
}

/* --- the waits of one place ------------------------------------------------------------------------------------- */

/* The line of the program that waits. */
static uint32_t place_of(const struct ids_trace *trace, uint32_t doing) {
    const struct ids_doing *waiting = &trace->doings[doing];
    return trace->names[waiting->caller == IDS_NONE ? waiting->name : waiting->caller].text;
}

static int is_alike_wait(const struct ids_trace *trace, uint32_t doing, uint32_t waiting) {
    return trace->doings[doing].waits == trace->doings[waiting].waits &&
           place_of(trace, doing) == place_of(trace, waiting);
}

/* Events of its own cut a wait, and a thread that had no core in between goes on to wait: the last end is the
 * wait's. */
static int find_ends(const struct ids_trace *trace, const struct ids_timeline *timeline, uint32_t waiting,
                     const struct pace *pace, struct ids_waking *waking) {
    for (size_t i = 0; i + 2 < timeline->count && waking->end_count < MOST_ENDS; i++) {
        if (!is_alike_wait(trace, timeline->doing[i], waiting)) continue;
        int64_t until_ps = timeline->from_ps[i + 1], *last_ps = NULL;
        if (waking->end_count) last_ps = &waking->ends_ps[waking->end_count - 1];
        int goes_on = last_ps && timeline->from_ps[i] - *last_ps < period_at(pace, *last_ps) / 2;
        if (!goes_on) last_ps = IDS_PUSH(waking->ends_ps, waking->end_count, waking->end_room);
        if (!last_ps) return -1;
        *last_ps = until_ps;
    }
    return 0;
}

/* NULL: no memory. */
static struct tally *tally_of(struct ids_waking *waking, uint64_t function) {
    uint64_t *number = ids_keymap_at(&waking->numbers, function);
    if (!number) return NULL;
    if (*number) return &waking->tallies[*number - 1];
    struct tally *tally = IDS_PUSH(waking->tallies, waking->tally_count, waking->tally_room);
    if (!tally) return NULL;
    *tally = (struct tally){0};
    *number = waking->tally_count;
    return tally;
}

/* How far before a wait's end who ended it may have turned, and how far behind it as samples see both. */
static int64_t before(const struct pace *pace, int64_t when_ps) {
    return 3 * period_at(pace, when_ps) / 2;
}
static int64_t behind(const struct pace *pace, int64_t when_ps) {
    return 3 * period_at(pace, when_ps) / 5;
}

static int cover(const struct ids_wakers *wakers, const struct ids_turnings *turnings, size_t thread,
                 const struct pace *pace, struct ids_waking *waking) {
    const struct ids_trace *trace = wakers->trace;
    for (size_t i = 0; i < turnings->count; i++) {
        if (!ids_may_hold_up(trace, turnings->at[i].before, IDS_WAITS_FOR_LOCK)) continue;
        struct tally *tally = tally_of(waking, wakers->functions[turnings->at[i].before]);
        if (!tally) return -1;
        int64_t at_ps = turnings->at[i].at_ps,
                whole_ps = before(pace, at_ps) + behind(pace, at_ps) + 2 * turnings->at[i].lag_ps;
        int64_t since_ps = tally->thread == thread + 1 ? at_ps - tally->last_ps : whole_ps;
        tally->threads += tally->thread != thread + 1;
        ids_sum(&tally->covered_ps, since_ps < whole_ps ? since_ps : whole_ps);
        tally->last_ps = at_ps;
        tally->thread = thread + 1;
    }
    return 0;
}

static uint64_t hit_key(size_t tally, size_t thread) {
    return (uint64_t)(tally + 1) << 32 | thread;
}

/* Whoever turned within reach of the end; else who went on, and may have done it. */
static int count_end(const struct ids_wakers *wakers, size_t thread, size_t end, const struct pace *pace,
                     struct ids_waking *waking) {
    const struct ids_trace *trace = wakers->trace;
    const struct ids_timeline *timeline = &trace->tracks[wakers->python[thread]].timeline;
    struct ids_turnings *turnings = &wakers->turnings[thread];
    int64_t end_ps = waking->ends_ps[end], from_ps = ids_sat_sub(end_ps, before(pace, end_ps)),
            to_ps = ids_sat_add(end_ps, behind(pace, end_ps));
    size_t *next = &turnings->next;
    int has_turned = 0;
    while (*next < turnings->count && turnings->at[*next].at_ps < ids_sat_sub(from_ps, turnings->most_lag_ps)) ++*next;
    for (size_t i = *next; i < turnings->count; i++) {
        const struct turning *turning = &turnings->at[i];
        if (turning->at_ps > ids_sat_add(to_ps, turnings->most_lag_ps)) break;
        if (turning->at_ps < from_ps - turning->lag_ps || turning->at_ps > to_ps + turning->lag_ps) continue;
        if (!ids_may_hold_up(trace, turnings->at[i].before, IDS_WAITS_FOR_LOCK)) continue;
        struct tally *tally = tally_of(waking, wakers->functions[turnings->at[i].before]);
        if (!tally) return -1;
        tally->hits += tally->seen != end + 1;
        if (ids_keymap_add(&waking->hits, hit_key((size_t)(tally - waking->tallies), thread), 1) < 0) return -1;
        tally->seen = end + 1;
        has_turned = 1;
    }
    size_t at = has_turned ? SIZE_MAX : ids_timeline_find(timeline, end_ps);
    if (at == SIZE_MAX) return 0;
    uint32_t doing = ids_doing_with_core(trace, timeline, at);
    if ((ids_is_asleep(trace, doing) && waking->tells_wakes) || !ids_may_hold_up(trace, doing, IDS_WAITS_FOR_LOCK))
        return 0;
    struct tally *tally = tally_of(waking, wakers->functions[doing]);
    if (!tally) return -1;
    tally->unknown += tally->went_on != end + 1;
    tally->went_on = end + 1;
    return 0;
}

static double within(double value, double least, double most) {
    return value < least ? least : value > most ? most : value;
}

static void score(struct ids_waking *waking, int64_t span_ps) {
    waking->best = -INFINITY;
    for (size_t t = 0; t < waking->tally_count; t++) {
        struct tally *tally = &waking->tallies[t];
        size_t known = tally->hits + tally->unknown, missed = known < waking->end_count ? waking->end_count - known : 0;
        double share = (double)tally->hits / (double)waking->end_count;
        double chance = span_ps > 0 ? (double)tally->covered_ps / (double)span_ps : MOST_CHANCE;
        double own = within(share, LEAST_SHARE, MOST_CHANCE);
        chance = within(chance, LEAST_CHANCE, MOST_CHANCE);
        tally->score = 0;
        if (chance < own)
            tally->score = (double)tally->hits * log(own / chance) + (double)missed * log((1 - own) / (1 - chance));
        if (tally->score > waking->best) waking->best = tally->score;
    }
}

static int is_likely(const struct ids_waking *waking, double own) {
    return waking->best >= ENOUGH && own >= waking->best / 2;
}

/* On which threads the functions that likely end the waits did so. */
static int find_threads(const struct ids_wakers *wakers, struct ids_waking *waking) {
    if (waking->best < ENOUGH) return 0;
    waking->by_thread = calloc(wakers->python_count + 1, sizeof *waking->by_thread);
    if (!waking->by_thread) return -1;
    for (size_t t = 0; t < waking->tally_count; t++) {
        uint64_t is_hit;
        if (!is_likely(waking, waking->tallies[t].score)) continue;
        for (size_t p = 0; p < wakers->python_count; p++)
            if (ids_keymap_get(&waking->hits, hit_key(t, p), &is_hit)) waking->by_thread[p] = 1;
    }
    return 0;
}

double ids_waking_score(const struct ids_waking *waking) {
    return waking->best;
}

int ids_waking_is_by_thread(const struct ids_waking *waking, size_t p) {
    return waking->by_thread && waking->by_thread[p];
}

static int is_beside(const struct ids_wakers *wakers, size_t p, const struct ids_track *track) {
    const struct ids_track *other = &wakers->trace->tracks[wakers->python[p]];
    return other != track && other->host == track->host;
}

static int find_waking(struct ids_wakers *wakers, uint32_t own, uint32_t waiting, struct ids_waking *waking) {
    const struct ids_trace *trace = wakers->trace;
    const struct ids_track *track = &trace->tracks[own];
    const struct ids_timeline *timeline = &track->timeline;
    const struct pace pace = pace_of(trace, track->host);
    waking->tells_wakes = pace.tells_wakes;
    ids_timeline_read(timeline);
    if (find_ends(trace, timeline, waiting, &pace, waking)) return -1;
    if (waking->end_count < LEAST_ENDS) return 0;
    for (size_t p = 0; p < wakers->python_count; p++) {
        struct ids_turnings *turnings = is_beside(wakers, p, track) ? turnings_of(wakers, p, &pace) : NULL;
        if (is_beside(wakers, p, track) && (!turnings || cover(wakers, turnings, p, &pace, waking))) return -1;
        if (turnings) turnings->next = 0;
    }
    for (size_t e = 0; e < waking->end_count; e++) {
        for (size_t p = 0; p < wakers->python_count; p++) {
            if (is_beside(wakers, p, track) && count_end(wakers, p, e, &pace, waking)) return -1;
        }
    }
    score(waking, timeline->from_ps[timeline->count - 1] - timeline->from_ps[0]);
    return find_threads(wakers, waking);
}

int ids_wakers_find(struct ids_wakers *wakers, uint32_t own, uint32_t waiting, const struct ids_waking **ret_waking) {
    const struct ids_trace *trace = wakers->trace;
    uint64_t place = (uint64_t)place_of(trace, waiting) << 8 | trace->doings[waiting].waits;
    uint64_t *index = ids_keymap_at(&wakers->places, ids_key_of(own, place));
    if (!index || find_keys(wakers)) return -1;
    if (!*index) {
        struct ids_waking *waking = IDS_PUSH(wakers->waking, wakers->waking_count, wakers->waking_room);
        if (!waking) return -1;
        *waking = (struct ids_waking){0};
        *index = wakers->waking_count;
        if (*index <= MOST_PLACES && find_waking(wakers, own, waiting, waking)) return -1;
    }
    *ret_waking = &wakers->waking[*index - 1];
    return 0;
}

enum ids_wakes ids_waking_by(const struct ids_wakers *wakers, const struct ids_waking *waking, uint32_t doing,
                             double *ret_score) {
    const struct ids_trace *trace = wakers->trace;
    const int is_asleep = ids_is_asleep(trace, doing), is_still = is_asleep && waking->tells_wakes;
    *ret_score = 0;
    if (waking->end_count < LEAST_ENDS) return IDS_WAKES_MAYBE;
    uint64_t number;
    double own = 0; /* that it was never seen to turn says nothing of who computes */
    int is_pool = 0;
    if (ids_keymap_get(&waking->numbers, wakers->functions[doing], &number)) {
        const struct tally *tally = &waking->tallies[number - 1];
        own = tally->score;
        is_pool = tally->threads > 1 && 2 * tally->hits >= waking->end_count;
    }
    *ret_score = own;
    if (waking->best >= ENOUGH && !is_likely(waking, own)) return IDS_WAKES_NEVER;
    if (waking->best >= ENOUGH) return is_asleep && !waking->tells_wakes ? IDS_WAKES_MAYBE : IDS_WAKES_LIKELY;
    if (own > 0 || (own >= 0 && !is_still)) return IDS_WAKES_MAYBE;
    return own >= 0 && is_pool ? IDS_WAKES_IN_POOL : IDS_WAKES_NEVER;
}
