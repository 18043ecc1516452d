#include "lib/analysis/host_threads.h"

#include "lib/analysis/pacemaker.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/model/doings.h"
#include "lib/model/python_frame.h"

#include <stdlib.h>
#include <string.h>

static void find_program_threads(struct ids_host_threads *threads) {
    const struct ids_trace *trace = threads->trace;
    for (size_t h = 0; h < trace->host_count; h++) {
        uint64_t best[3] = {0, 0, 0};
        threads->program[h] = IDS_NONE;
        for (size_t t = 0; t < trace->track_count; t++) {
            const struct ids_track *track = &trace->tracks[t];
            if (track->host != h || track->role != IDS_TRACK_HOST || ids_track_is_told(trace, track)) continue;
            if (track->works_for) continue;
            uint64_t own[3] = {0, 0, track->timeline.count}; /* step annotations, calls of jitted functions, changes */
            struct ids_cursor cursor =
                ids_cursor_over_kinds(&track->events, IDS_KINDS(IDS_KIND_STEP_MARK) | IDS_KINDS(IDS_KIND_DISPATCH));
            for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
                own[0] += event->kind == IDS_KIND_STEP_MARK;
                own[1] += event->kind == IDS_KIND_DISPATCH;
            }
            int better = 0;
            for (int i = 0; i < 3 && !better; i++) {
                if (own[i] < best[i]) break;
                better = own[i] > best[i];
            }
            if (!better) continue;
            memcpy(best, own, sizeof best);
            threads->program[h] = (uint32_t)t;
        }
    }
}

static void find_told(struct ids_host_threads *threads) {
    const struct ids_trace *trace = threads->trace;
    for (size_t t = 0; t < trace->track_count; t++) threads->told_of[t] = IDS_NONE;
    for (size_t t = 0; t < trace->track_count; t++) {
        if (!ids_track_is_told(trace, &trace->tracks[t])) continue;
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->launch) threads->told_of[event->launch->track] = (uint32_t)t;
        }
    }
}

static int find_recorded(struct ids_host_threads *threads) {
    const struct ids_trace *trace = threads->trace;
    for (size_t h = 0; h < trace->host_count; h++) threads->events[h] = (struct ids_recorded){INT64_MAX, INT64_MIN};
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        struct ids_recorded *recorded = &threads->events[track->host];
        if (track->first_ps < recorded->from_ps) recorded->from_ps = track->first_ps;
        if (track->last_ps > recorded->to_ps) recorded->to_ps = track->last_ps;
    }
    struct ids_recorded *recordings = ids_recordings(trace);
    for (uint32_t h = 0; recordings && h < trace->host_count; h++) {
        struct ids_recorded *recorded = &threads->events[h];
        if (!ids_is_recorded(&recordings[h])) continue;
        if (recordings[h].from_ps < recorded->from_ps) recorded->from_ps = recordings[h].from_ps;
        if (recordings[h].to_ps > recorded->to_ps) recorded->to_ps = recordings[h].to_ps;
    }
    int is_out = !recordings;
    free(recordings);
    return is_out;
}

static void find_frames(struct ids_host_threads *threads) {
    const struct ids_trace *trace = threads->trace;
    for (size_t h = 0; h < trace->host_count; h++) {
        struct ids_recorded *frames = &threads->frames[h];
        *frames = (struct ids_recorded){INT64_MAX, INT64_MIN};
        if (threads->program[h] == IDS_NONE) continue;
        const struct ids_timeline *timeline = &trace->tracks[threads->program[h]].timeline;
        size_t first = 0, last = timeline->count;
        while (first < last && trace->doings[timeline->doing[first]].account != IDS_HOST_PYTHON) first++;
        while (last > first && trace->doings[timeline->doing[last - 1]].account != IDS_HOST_PYTHON) last--;
        if (first < last) *frames = (struct ids_recorded){timeline->from_ps[first], timeline->from_ps[last - 1]};
    }
}

int ids_host_threads_find(struct ids_host_threads *threads, const struct ids_trace *trace) {
    *threads = (struct ids_host_threads){
        .trace = trace,
        .program = malloc((trace->host_count + 1) * sizeof *threads->program),
        .told_of = malloc((trace->track_count + 1) * sizeof *threads->told_of),
        .events = calloc(trace->host_count + 1, sizeof *threads->events),
        .frames = calloc(trace->host_count + 1, sizeof *threads->frames),
    };
    if (!threads->program || !threads->told_of || !threads->events || !threads->frames) return -1;
    find_program_threads(threads);
    find_told(threads);
    if (find_recorded(threads)) return -1;
    find_frames(threads);
    return 0;
}

void ids_host_threads_lend(const struct ids_host_threads *threads, struct ids_host_threads *ret_lent) {
    *ret_lent = *threads;
    ret_lent->is_lent = 1;
    ret_lent->python = NULL; /* found when it is asked for */
    ret_lent->python_count = 0;
    ret_lent->holders = NULL;
    ret_lent->wakers = (struct ids_wakers){0};
    ret_lent->asked.count = 0;
}

void ids_host_threads_done(struct ids_host_threads *threads) {
    ids_wakers_done(&threads->wakers);
    free(threads->python);
    free(threads->holders);
    if (threads->is_lent) return;
    free(threads->program);
    free(threads->told_of);
    free(threads->events);
    free(threads->frames);
}

static void ask(struct ids_host_threads *threads, uint32_t track) {
    struct ids_asked_threads *asked = &threads->asked;
    if (track == IDS_NONE) return;
    for (int i = 0; i < asked->count; i++) {
        if (asked->at[i] == track) return;
    }
    int has_monitor = threads->told_of[track] != IDS_NONE;
    if (asked->count >= IDS_ASKED_THREADS - has_monitor) return;
    if (has_monitor) {
        asked->is_told[asked->count] = 1;
        asked->at[asked->count++] = threads->told_of[track];
    }
    asked->is_told[asked->count] = 0;
    asked->at[asked->count++] = track;
}

const struct ids_asked_threads *ids_host_threads_of(struct ids_host_threads *threads, const struct ids_event *launch,
                                                    uint32_t host) {
    enum { HOPS = 8 };
    struct ids_asked_threads *asked = &threads->asked;
    if (asked->count && threads->launch == launch && launch) return asked;
    threads->launch = launch;
    asked->count = 0;
    for (int hop = 0; launch && hop < HOPS; hop++) {
        ask(threads, launch->track);
        if (threads->trace->tracks[launch->track].works_for)
            ask(threads, threads->trace->tracks[launch->track].works_for - 1);
        ask(threads, ids_thread_around(threads->trace, launch->track));
        launch = ids_event_cause(threads->trace, launch);
    }
    ask(threads, threads->program[host]);
    return asked;
}

static int runs_python(const struct ids_trace *trace, const struct ids_timeline *timeline) {
    size_t i = 0;
    while (i < timeline->count && trace->doings[timeline->doing[i]].account != IDS_HOST_PYTHON) i++;
    return i < timeline->count;
}

static int find_python(struct ids_host_threads *threads) {
    const struct ids_trace *trace = threads->trace;
    threads->python = calloc(trace->track_count + 1, sizeof *threads->python);
    if (!threads->python) return -1;
    for (size_t t = 0; t < trace->track_count; t++) {
        if (runs_python(trace, &trace->tracks[t].timeline)) threads->python[threads->python_count++] = (uint32_t)t;
    }
    return 0;
}

/* The order of threads in a file says nothing, and an export has another one. */
static int tells_more(const struct ids_trace *trace, const struct ids_doing *doing, const struct ids_doing *than) {
    int has_caller = doing->caller != IDS_NONE, than_has = than->caller != IDS_NONE;
    if (has_caller != than_has) return has_caller;
    if (doing->account != than->account) return doing->account < than->account;
    return strcmp(ids_trace_text(trace, trace->names[doing->name].text),
                  ids_trace_text(trace, trace->names[than->name].text)) < 0;
}

/* The track of a timeline; track_count: it is none's. */
static uint32_t track_of(struct ids_host_threads *threads, const struct ids_timeline *own) {
    const struct ids_trace *trace = threads->trace;
    uint32_t t = threads->waits;
    if (!trace->track_count || &trace->tracks[t].timeline == own) return t;
    for (t = 0; t < trace->track_count && &trace->tracks[t].timeline != own;) t++;
    if (t < trace->track_count) threads->waits = t;
    return t;
}

/* What a wait is judged by; NULL: nothing, as one for Python's lock, which is given to whoever runs. */
static int find_waking(struct ids_host_threads *threads, uint32_t own, uint32_t waiting,
                       const struct ids_waking **ret_waking) {
    const struct ids_trace *trace = threads->trace;
    *ret_waking = NULL;
    if (waiting == IDS_NO_DOING || own == trace->track_count) return 0;
    threads->wakers.trace = trace;
    threads->wakers.python = threads->python;
    threads->wakers.python_count = threads->python_count;
    return ids_wakers_find(&threads->wakers, own, waiting, ret_waking);
}

/* What is known of one that another thread may wait for. */
struct beside {
    uint32_t doing;
    size_t thread; /* of `python` */
    int is_asleep;
    double score;
};

/* One that runs may be it before one that sleeps, where their turns say nothing. */
static int is_better(const struct ids_trace *trace, const struct beside *one, const struct beside *than) {
    if (than->doing == IDS_NO_DOING) return 1;
    if (one->score > than->score || one->score < than->score) return one->score > than->score;
    if (one->is_asleep != than->is_asleep) return than->is_asleep;
    return tells_more(trace, &trace->doings[one->doing], &trace->doings[than->doing]);
}

static int find_beside(struct ids_host_threads *threads, uint32_t own, uint32_t waiting, int64_t from_ps,
                       struct ids_chain *chain, struct ids_other_doing *ret_other);

/* Whoever ends the waits waits itself, for a thread that nobody else would hold up: what that one does is waited
 * for. */
static int find_behind(struct ids_host_threads *threads, uint32_t own, uint32_t waiting, int64_t from_ps,
                       struct ids_chain *chain, struct ids_other_doing *ret_other) {
    const struct ids_trace *trace = threads->trace;
    for (size_t p = 0; p < threads->python_count && chain->count < IDS_MOST_LINKS; p++) {
        const struct ids_waking *waking; /* until others are asked for */
        if (find_waking(threads, own, waiting, &waking)) return -1;
        if (!ids_waking_is_by_thread(waking, p) || ids_is_in_chain(chain, threads->python[p])) continue;
        const struct ids_timeline *timeline = &trace->tracks[threads->python[p]].timeline;
        size_t i = ids_timeline_find(timeline, from_ps);
        uint32_t doing = i == SIZE_MAX ? IDS_NO_DOING : ids_doing_with_core(trace, timeline, i);
        if (trace->doings[doing].waits != IDS_WAITS_FOR_LOCK) continue;
        struct ids_other_doing behind = {.doing = IDS_NO_DOING, .until_ps = ret_other->until_ps};
        chain->tracks[chain->count++] = threads->python[p];
        if (find_beside(threads, threads->python[p], doing, from_ps, chain, &behind)) return -1;
        ret_other->until_ps = behind.until_ps;
        if (behind.doing == IDS_NO_DOING) continue;
        ret_other->doing = behind.doing;
        ret_other->count = behind.count;
        ret_other->has_gil = behind.has_gil;
        if (find_waking(threads, own, waiting, &waking)) return -1;
        ret_other->score = ids_waking_score(waking);
        return 0;
    }
    return 0;
}

/* Threads that sleep in one function of the program. */
struct pool {
    uint32_t doing;
    int count; /* -1: others sleep in another one */
};

static void add_to_pool(const struct ids_host_threads *threads, uint32_t doing, struct pool *pool) {
    if (threads->trace->doings[doing].caller == IDS_NONE || pool->count < 0) return;
    if (!pool->count) pool->doing = doing;
    pool->count = ids_host_threads_are_of_function(threads, pool->doing, doing) ? pool->count + 1 : -1;
}

/* Of a stage that waits itself for the one before it: what that one does at the moment. */
static int find_pacemaker(struct ids_host_threads *threads, const struct ids_chain *chain, int64_t from_ps,
                          struct beside *best) {
    const struct ids_trace *trace = threads->trace;
    size_t pacemaker;
    if (ids_pacemaker_find(&threads->wakers, chain, best->thread, &pacemaker)) return -1;
    const struct ids_timeline *timeline = &trace->tracks[threads->python[pacemaker]].timeline;
    size_t i = pacemaker == best->thread ? SIZE_MAX : ids_timeline_find(timeline, from_ps);
    if (i == SIZE_MAX) return 0;
    uint32_t doing = ids_doing_with_core(trace, timeline, i);
    if (ids_may_hold_up(trace, doing, IDS_WAITS_FOR_LOCK)) best->doing = doing;
    return 0;
}

/* Who is waited for would go on, and waits for Python's lock itself: who has that. IDS_NO_DOING: it does not, or nobody
 * is seen to have it. */
static uint32_t find_gil_of(const struct ids_host_threads *threads, uint32_t host, size_t thread, int64_t from_ps) {
    const struct ids_trace *trace = threads->trace;
    uint32_t holder = IDS_NO_DOING;
    const struct ids_timeline *own = &trace->tracks[threads->python[thread]].timeline;
    size_t turn = ids_timeline_find(own, from_ps);
    if (turn == SIZE_MAX || trace->doings[own->doing[turn]].waits != IDS_WAITS_FOR_GIL) return IDS_NO_DOING;
    for (size_t p = 0; p < threads->python_count; p++) {
        const struct ids_track *track = &trace->tracks[threads->python[p]];
        size_t i = p == thread || track->host != host ? SIZE_MAX : ids_timeline_find(&track->timeline, from_ps);
        uint32_t doing = i == SIZE_MAX ? IDS_NO_DOING : track->timeline.doing[i];
        if (!ids_may_hold_up(trace, doing, IDS_WAITS_FOR_GIL)) continue;
        if (holder == IDS_NO_DOING || tells_more(trace, &trace->doings[doing], &trace->doings[holder])) holder = doing;
    }
    return holder;
}

static int find_beside(struct ids_host_threads *threads, uint32_t own, uint32_t waiting, int64_t from_ps,
                       struct ids_chain *chain, struct ids_other_doing *ret_other) {
    const struct ids_trace *trace = threads->trace;
    const enum ids_waits waits = waiting == IDS_NO_DOING ? IDS_WAITS_FOR_GIL : IDS_WAITS_FOR_LOCK;
    const struct ids_waking *waking;
    struct beside best = {.doing = IDS_NO_DOING};
    struct pool pool = {.doing = IDS_NO_DOING};
    int is_likely = 0, are_several = 0;
    if (find_waking(threads, own, waiting, &waking)) return -1;
    for (size_t p = 0; p < threads->python_count; p++) {
        const struct ids_track *track = &trace->tracks[threads->python[p]];
        const struct ids_timeline *timeline = &track->timeline;
        if (track->host != chain->host || threads->python[p] == own) continue;
        size_t i = ids_timeline_find(timeline, from_ps);
        if (i + 1 < timeline->count && timeline->from_ps[i + 1] < ret_other->until_ps)
            ret_other->until_ps = timeline->from_ps[i + 1];
        if (i == SIZE_MAX) continue;
        struct beside one = {.thread = p,
                             .doing = waking ? ids_doing_with_core(trace, timeline, i) : timeline->doing[i]};
        if (!ids_may_hold_up(trace, one.doing, waits)) continue;
        enum ids_wakes wakes =
            waking ? ids_waking_by(&threads->wakers, waking, one.doing, &one.score) : IDS_WAKES_MAYBE;
        if (wakes == IDS_WAKES_IN_POOL) add_to_pool(threads, one.doing, &pool);
        if (wakes == IDS_WAKES_NEVER || wakes == IDS_WAKES_IN_POOL) {
            ret_other->is_unknown = 1;
            continue;
        }
        one.is_asleep = waking && ids_is_asleep(trace, one.doing);
        ret_other->count++;
        is_likely |= wakes == IDS_WAKES_LIKELY;
        are_several |= best.doing != IDS_NO_DOING && !ids_host_threads_are_of_function(threads, best.doing, one.doing);
        if (is_better(trace, &one, &best)) best = one;
    }
    if (is_likely) ret_other->score = best.score;
    if (is_likely && find_pacemaker(threads, chain, from_ps, &best)) return -1;
    /* Of several that sleep, which it is would be a guess. */
    int is_guess = are_several && !is_likely && best.is_asleep;
    if (!is_guess) ret_other->doing = best.doing;
    if (waking && best.doing == IDS_NO_DOING && find_behind(threads, own, waiting, from_ps, chain, ret_other))
        return -1;
    uint32_t holder = waiting != IDS_NO_DOING && !is_guess && best.doing != IDS_NO_DOING
                          ? find_gil_of(threads, chain->host, best.thread, from_ps)
                          : IDS_NO_DOING;
    ret_other->has_gil |= holder != IDS_NO_DOING;
    if (holder != IDS_NO_DOING) ret_other->doing = holder;
    const int is_pool = ret_other->doing == IDS_NO_DOING && !is_guess && pool.count > 0;
    ret_other->is_unknown = ret_other->doing == IDS_NO_DOING && (is_guess || ret_other->is_unknown);
    if (is_pool) ret_other->doing = pool.doing;
    return 0;
}

int ids_host_threads_beside(struct ids_host_threads *threads, uint32_t host, const struct ids_timeline *own,
                            uint32_t waiting, int64_t from_ps, int64_t to_ps, struct ids_other_doing *ret_other) {
    struct ids_chain chain = {.host = host, .tracks = {track_of(threads, own)}, .count = 1};
    *ret_other = (struct ids_other_doing){.doing = IDS_NO_DOING, .until_ps = to_ps};
    if (!threads->python && find_python(threads)) return -1;
    return find_beside(threads, chain.tracks[0], waiting, from_ps, &chain, ret_other);
}

/* --- who usually has Python's lock ------------------------------------------------------------------------------ */

/* What fewer waits show may be chance. */
enum { LEAST_WAITS = 4 };

struct holding {
    struct ids_keymap of_function, of_doing; /* how long each had the lock that was waited for; by doing + 1 */
    int64_t all_ps;
    uint64_t most_ps; /* of the function that had it longest */
    uint64_t function;
    size_t waits; /* in which somebody had it */
};

static int add_holder(struct holding *holding, const struct ids_trace *trace, uint32_t doing, int64_t length_ps) {
    uint64_t function = ids_function_of_doing(trace, doing), *sum = ids_keymap_at(&holding->of_function, function);
    if (!sum) return -1;
    *sum += (uint64_t)length_ps;
    if (*sum > holding->most_ps) holding->most_ps = *sum, holding->function = function;
    uint64_t *own = ids_keymap_at(&holding->of_doing, (uint64_t)doing + 1);
    if (!own) return -1;
    *own += (uint64_t)length_ps;
    ids_sum(&holding->all_ps, length_ps);
    return 0;
}

static int add_wait(struct holding *holding, struct ids_host_threads *threads, uint32_t host,
                    const struct ids_timeline *own, size_t turn) {
    int64_t from_ps = own->from_ps[turn], to_ps = own->from_ps[turn + 1];
    int is_held = 0;
    while (from_ps < to_ps) {
        struct ids_other_doing other;
        if (ids_host_threads_beside(threads, host, own, IDS_NO_DOING, from_ps, to_ps, &other)) return -1;
        if (other.doing != IDS_NO_DOING) {
            if (add_holder(holding, threads->trace, other.doing, other.until_ps - from_ps)) return -1;
            is_held = 1;
        }
        from_ps = other.until_ps;
    }
    holding->waits += (size_t)is_held;
    return 0;
}

/* What it did longest meanwhile. */
static uint32_t longest_of_function(const struct holding *holding, const struct ids_trace *trace) {
    uint32_t longest = IDS_NO_DOING;
    uint64_t longest_ps = 0, length_ps;
    for (size_t d = 0; d < trace->doing_count; d++) {
        if (!ids_keymap_get(&holding->of_doing, (uint64_t)d + 1, &length_ps) || length_ps <= longest_ps ||
            ids_function_of_doing(trace, (uint32_t)d) != holding->function)
            continue;
        longest = (uint32_t)d;
        longest_ps = length_ps;
    }
    return longest;
}

static int find_holder(struct ids_host_threads *threads, uint32_t track) {
    const struct ids_trace *trace = threads->trace;
    const struct ids_timeline *own = &trace->tracks[track].timeline;
    struct holding holding = {0};
    int failed = 0;
    ids_timeline_read(own);
    for (size_t i = 0; i + 1 < own->count && !failed; i++) {
        if (trace->doings[own->doing[i]].waits == IDS_WAITS_FOR_GIL)
            failed = add_wait(&holding, threads, trace->tracks[track].host, own, i);
    }
    int is_usual = holding.waits >= LEAST_WAITS && holding.most_ps > (uint64_t)holding.all_ps / 2;
    threads->holders[track] = is_usual ? longest_of_function(&holding, trace) : IDS_NO_DOING;
    ids_keymap_done(&holding.of_function);
    ids_keymap_done(&holding.of_doing);
    return failed;
}

int ids_host_threads_usual_holder(struct ids_host_threads *threads, const struct ids_timeline *own,
                                  uint32_t *ret_doing) {
    const struct ids_trace *trace = threads->trace;
    *ret_doing = IDS_NO_DOING;
    if (!threads->python && find_python(threads)) return -1;
    size_t p = 0;
    while (p < threads->python_count && &trace->tracks[threads->python[p]].timeline != own) p++;
    if (p == threads->python_count || threads->python_count == 1) return 0;
    if (!threads->holders) {
        threads->holders = malloc((trace->track_count + 1) * sizeof *threads->holders);
        if (!threads->holders) return -1;
        for (size_t t = 0; t <= trace->track_count; t++) threads->holders[t] = IDS_NONE;
    }
    uint32_t track = threads->python[p];
    if (track >= trace->track_count) return 0;
    if (threads->holders[track] == IDS_NONE && find_holder(threads, track)) return -1;
    *ret_doing = threads->holders[track];
    return 0;
}

int ids_host_threads_are_of_function(const struct ids_host_threads *threads, uint32_t doing, uint32_t other) {
    return doing != IDS_NO_DOING && other != IDS_NO_DOING &&
           ids_function_of_doing(threads->trace, doing) == ids_function_of_doing(threads->trace, other);
}

int ids_host_threads_are_traced(const struct ids_host_threads *threads, uint32_t host, int64_t from_ps, int64_t to_ps) {
    const struct ids_recorded *frames = &threads->frames[host];
    return frames->from_ps <= from_ps && to_ps <= frames->to_ps;
}
