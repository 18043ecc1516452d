#include "lib/model/sampled.h"

#include "lib/base/saturate.h"
#include "lib/model/doings.h"
#include "lib/model/launching_calls.h"
#include "lib/model/polls.h"
#include "lib/model/python_frame.h"
#include "lib/model/sampled_calls.h"
#include "lib/model/sampled_gaps.h"
#include "lib/model/told_files.h"

#include <stdlib.h>
#include <string.h>

static enum ids_account account_at(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i) {
    return i < timeline->count ? (enum ids_account)trace->doings[timeline->doing[i]].account : IDS_NO_ACCOUNT;
}

/* A doing that is none: a thread has such moments between its events, and before the first. */
static int is_nothing(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i) {
    return account_at(trace, timeline, i) == IDS_NO_ACCOUNT;
}

/* Who waits for a device does nothing else until the wait is over: the first doing of another kind; 0: there is
 * none. */
static size_t first_after_wait(const struct ids_trace *trace, const struct ids_timeline *recorded, size_t first,
                               size_t last) {
    for (size_t i = first + 1; i <= last; i++) {
        enum ids_account account = account_at(trace, recorded, i);
        if (account != IDS_HOST_SYNC && account != IDS_NO_ACCOUNT) return i;
    }
    return 0;
}

/* What waits for a device waits for what was put there last, which is the same function's doing: where that began,
 * after `first`; 0: nothing was put. */
static size_t put_before_wait(const struct ids_trace *trace, const struct ids_timeline *recorded, size_t first,
                              size_t last) {
    size_t put = 0;
    for (size_t i = last; i > first + 1; i--) {
        enum ids_account account = account_at(trace, recorded, i - 1);
        if (account == IDS_HOST_STAGING)
            put = i - 1;
        else if (account != IDS_NO_ACCOUNT && (account != IDS_HOST_SYNC || put))
            break;
    }
    return put;
}

int64_t ids_sampled_turn(const struct ids_trace *trace, const struct ids_timeline *recorded,
                         const struct ids_sampled_pair *pair) {
    int64_t from_ps = ids_sat_sub(pair->middle_ps, pair->reach_ps),
            to_ps = ids_sat_add(pair->middle_ps, pair->reach_ps);
    size_t first = ids_timeline_find(recorded, from_ps), last = ids_timeline_find(recorded, to_ps);
    if (first == last) return pair->middle_ps;
    if (last != SIZE_MAX) {
        size_t began = pair->before == IDS_HOST_SYNC ? first_after_wait(trace, recorded, first, last) : 0;
        if (!began && (pair->after == IDS_HOST_SYNC || pair->after == IDS_HOST_STAGING))
            began = put_before_wait(trace, recorded, first, last);
        if (began) return recorded->from_ps[began];
    }
    /* What the sample before saw went on until something began; what the one after it saw, since something ended. */
    if (is_nothing(trace, recorded, first)) {
        for (size_t i = first + 1; i <= last; i++) {
            if (!is_nothing(trace, recorded, i)) return recorded->from_ps[i];
        }
    } else if (is_nothing(trace, recorded, last)) {
        while (last > first + 1 && is_nothing(trace, recorded, last - 1)) last--;
        return recorded->from_ps[last];
    }
    return is_nothing(trace, recorded, first) ? pair->middle_ps : recorded->from_ps[first + 1];
}

/* --- a thread and its samples ----------------------------------------------------------------------------------- */

/* When the first sample saw what begins at a turn of the samples, and when the last one. */
struct seen {
    int64_t first_ps, last_ps;
};

struct joining {
    struct ids_trace *trace;
    struct ids_timeline *recorded;
    struct ids_track *sampled;
    int64_t dense_until_ps;                 /* until then samples came more often */
    const struct ids_stack_sample *samples; /* when they were taken, in time order, as far as the file says it */
    size_t sample_count;
    struct seen *seen; /* by turn of the samples */
    struct ids_sampled_gaps gaps;
    struct ids_keymap counts; /* an event and a stack that was seen around it: how often */
    struct ids_keymap usual;  /* an event: the stack that was seen most around it, plus one */
    struct ids_keymap calls;  /* by the name of a call in a stack: it has events of its own */
    struct ids_sampled_calls same;
    uint32_t line;   /* of the last call whose line is known: the stack, plus one; 0: none yet */
    int64_t line_ps; /* when that call ended */
};

/* A plane's lines are of one sampling, which began with the first of them. */
static void find_dense(struct joining *joining) {
    const struct ids_trace *trace = joining->trace;
    int64_t first_ps = INT64_MAX;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->sampling == joining->sampled->sampling && track->first_ps < first_ps) first_ps = track->first_ps;
    }
    const struct ids_sampling *sampling = ids_sampling_of(trace, joining->sampled);
    joining->dense_until_ps = sampling->dense_period_ps > 0 ? ids_sat_add(first_ps, sampling->dense_ps) : INT64_MIN;
}

/* Half of the usual time between two samples at that moment. */
static int64_t reach_at(const struct joining *joining, int64_t when_ps) {
    const struct ids_sampling *sampling = ids_sampling_of(joining->trace, joining->sampled);
    int64_t period_ps = when_ps < joining->dense_until_ps ? sampling->dense_period_ps : sampling->period_ps;
    return period_ps > 0 ? period_ps / 2 : 0;
}

static int by_track(const void *a, const void *b) {
    const struct ids_stack_sample *left = a, *right = b;
    if (left->track != right->track) return left->track < right->track ? -1 : 1;
    return (left->when_ps > right->when_ps) - (left->when_ps < right->when_ps);
}

/* Those of the track, of all samples by track. */
static void find_samples(struct joining *joining) {
    const struct ids_trace *trace = joining->trace;
    uint32_t track = (uint32_t)(joining->sampled - trace->tracks);
    size_t low = ids_trace_first_sample(trace, track);
    joining->samples = trace->sample_count ? trace->samples + low : NULL;
    while (low + joining->sample_count < trace->sample_count &&
           trace->samples[low + joining->sample_count].track == track)
        joining->sample_count++;
}

/* Of these waits the kernel says how long they were, whenever samples were taken. */
static int awaits_core(const struct joining *joining, uint32_t doing) {
    return joining->trace->doings[doing].waits == IDS_WAITS_FOR_CORE;
}

/* When samples saw what a turn is of, as far as the file says it; else a sample lies half a period from where the
 * thread is taken to have turned. */
static void find_seen(struct joining *joining) {
    const struct ids_timeline *timeline = &joining->sampled->timeline;
    const struct ids_stack_sample *samples = joining->samples;
    size_t count = joining->sample_count, s = 0;
    for (size_t i = 0; i < timeline->count; i++) {
        int64_t from_ps = timeline->from_ps[i], to_ps = i + 1 < timeline->count ? timeline->from_ps[i + 1] : INT64_MAX;
        struct seen *seen = &joining->seen[i];
        if (awaits_core(joining, timeline->doing[i])) {
            *seen = (struct seen){from_ps, to_ps};
            continue;
        }
        *seen = (struct seen){ids_sat_add(from_ps, reach_at(joining, from_ps)),
                              to_ps < INT64_MAX ? ids_sat_sub(to_ps, reach_at(joining, to_ps)) : to_ps};
        while (s < count && samples[s].when_ps < from_ps) s++;
        if (s == count || samples[s].when_ps >= to_ps) continue;
        seen->first_ps = samples[s].when_ps;
        while (s < count && samples[s].when_ps < to_ps) seen->last_ps = samples[s++].when_ps;
    }
}

static void set_turns(struct joining *joining) {
    const struct ids_trace *trace = joining->trace;
    struct ids_timeline *timeline = &joining->sampled->timeline;
    /* The last turn is no turn of the thread: the sampling ended. */
    for (size_t i = 1; i + 1 < timeline->count; i++) {
        int64_t before_ps = joining->seen[i - 1].last_ps, after_ps = joining->seen[i].first_ps;
        if (after_ps <= before_ps || awaits_core(joining, timeline->doing[i - 1]) ||
            awaits_core(joining, timeline->doing[i]))
            continue;
        int64_t reach_ps = (after_ps - before_ps) / 2;
        const struct ids_sampled_pair pair = {before_ps + reach_ps, reach_ps,
                                              trace->doings[timeline->doing[i - 1]].account,
                                              trace->doings[timeline->doing[i]].account};
        int64_t turn_ps = ids_sampled_turn(trace, joining->recorded, &pair);
        if (turn_ps > timeline->from_ps[i - 1]) timeline->from_ps[i] = turn_ps;
    }
}

/* A sample that was taken inside the very call that the event is of: "$builtins step" and PjitFunction(step). */
static int saw_call(const struct joining *joining, uint32_t events, uint32_t frames) {
    return ids_sampled_calls_are_one(&joining->same, joining->trace, events, frames);
}

/* ... or that waited for a device, which the runtime records. */
static int saw_wait(const struct ids_trace *trace, uint32_t events, uint32_t frames) {
    return trace->doings[events].account == IDS_HOST_SYNC && trace->doings[frames].account == IDS_HOST_SYNC;
}

/* ... or an event loop in its selector, whose wait idsprof's hook recorded. */
static int saw_loop_wait(const struct ids_trace *trace, uint32_t events, uint32_t frames) {
    const struct ids_doing *event = &trace->doings[events], *sampled = &trace->doings[frames];
    return event->account == IDS_HOST_PYTHON && sampled->called != IDS_NONE &&
           ids_python_is_selector(ids_strings_text(&trace->strings, trace->names[sampled->called].text)) &&
           ids_python_is_await(ids_strings_text(&trace->strings, trace->names[event->name].text));
}

/* A wait is no call of the program's function, but what it does. */
static uint64_t call_key(const struct ids_trace *trace, uint32_t frames) {
    const struct ids_doing *doing = &trace->doings[frames];
    return doing->account == IDS_HOST_SYNC ? (uint64_t)doing->name << 32 | 2 : (uint64_t)doing->called << 32 | 1;
}

/* Both timelines at once, in order of time. */
struct walk {
    size_t r, s; /* the next turns */
    int64_t when_ps;
    uint32_t events, frames;
    uint32_t launch;    /* what is put in the call of a launch: that call's name, plus 1; 0: it lies in none */
    int64_t call_ps[2]; /* the call that the event is of, from its begin to its end */
    int64_t seen_ps[2]; /* when the first sample saw the frames, and the last one */
    struct ids_gap_pieces pieces; /* of the gap between the events */
};

/* The sample saw Python of the program's that the call of the event runs. */
static int runs(const struct joining *joining, const struct walk *walk) {
    return ids_sampled_calls_runs(&joining->same, joining->trace, walk->events, walk->frames);
}

/* The call that begins, or goes on, with the turn: parts of it are turns of their own. */
static void find_call(const struct joining *joining, struct walk *walk, uint32_t before) {
    const struct ids_timeline *recorded = joining->recorded;
    const struct ids_doing *doings = joining->trace->doings;
    size_t end = walk->r;
    if (doings[walk->events].around == doings[before].around && walk->when_ps < walk->call_ps[1]) return;
    while (end < recorded->count && doings[recorded->doing[end]].around == doings[walk->events].around) end++;
    walk->call_ps[0] = walk->when_ps;
    walk->call_ps[1] = end < recorded->count ? recorded->from_ps[end] : INT64_MAX;
}

static int is_part(const struct ids_doing *doing) {
    return doing->account == IDS_HOST_STAGING || doing->account == IDS_HOST_SYNC;
}

/* Data is put, or waited for, in the call of a launch: nothing lies between the call's turn and that of its part. */
static void find_launch(const struct joining *joining, struct walk *walk, uint32_t before) {
    const struct ids_doing *doings = joining->trace->doings;
    if (!is_part(&doings[walk->events]))
        walk->launch = 0;
    else if (!is_part(&doings[before]))
        walk->launch = doings[before].account == IDS_HOST_DISPATCH ? doings[before].around + 1 : 0;
}

static int next(const struct joining *joining, struct walk *walk) {
    const struct ids_timeline *recorded = joining->recorded, *sampled = &joining->sampled->timeline;
    size_t r = walk->r, s = walk->s;
    if (r == recorded->count && s == sampled->count) return 0;
    int64_t events_ps = r < recorded->count ? recorded->from_ps[r] : INT64_MAX,
            frames_ps = s < sampled->count ? sampled->from_ps[s] : INT64_MAX,
            when_ps = events_ps < frames_ps ? events_ps : frames_ps;
    for (int i = 0; s && i < 2; i++) {
        if (walk->seen_ps[i] > walk->when_ps && walk->seen_ps[i] < when_ps) when_ps = walk->seen_ps[i];
    }
    for (size_t p = walk->pieces.count; p > 0 && walk->pieces.at[p - 1].from_ps > walk->when_ps; p--) {
        if (walk->pieces.at[p - 1].from_ps < when_ps) when_ps = walk->pieces.at[p - 1].from_ps;
    }
    walk->when_ps = when_ps;
    if (events_ps == when_ps) {
        uint32_t before = walk->events;
        walk->events = recorded->doing[walk->r++];
        find_call(joining, walk, before);
        find_launch(joining, walk, before);
        if (joining->gaps.kind_count)
            ids_sampled_gaps_divide(&joining->gaps, walk->r - 1, 2 * reach_at(joining, when_ps), &walk->pieces);
    }
    if (frames_ps == when_ps) {
        walk->frames = sampled->doing[walk->s++];
        walk->seen_ps[0] = joining->seen ? joining->seen[s].first_ps : when_ps;
        walk->seen_ps[1] = joining->seen ? joining->seen[s].last_ps : INT64_MAX;
    }
    return 1;
}

/* A call in which the program launches nothing, and compiles nothing. */
static int only_waits(const struct ids_trace *trace, const struct ids_doing *frames) {
    if (frames->account == IDS_HOST_SYNC) return 1;
    return frames->account == IDS_HOST_PYTHON && frames->called != IDS_NONE &&
           ids_python_call_needs_values(ids_strings_text(&trace->strings, trace->names[frames->called].text));
}

/* A sample saw the thread wait for a device, and an event shows that it did something else: before the wait or after
 * it, and where that was called no sample saw. What was put just before a wait is the same function's doing; after the
 * first of several samples that saw the same wait the thread came back to it. */
static int is_unseen(const struct joining *joining, const struct walk *walk) {
    enum ids_account does = (enum ids_account)joining->trace->doings[walk->events].account;
    if (!walk->s || !only_waits(joining->trace, &joining->trace->doings[walk->frames])) return 0;
    return does == IDS_HOST_DISPATCH || does == IDS_HOST_COMPILE ||
           (does == IDS_HOST_STAGING && walk->when_ps >= joining->seen[walk->s - 1].first_ps);
}

/* It waits, in another call than the event's: one that slept waits for Python's lock before it returns. */
static int is_blocked(const struct joining *joining, uint32_t events, uint32_t frames) {
    const struct ids_doing *doing = &joining->trace->doings[frames];
    if (doing->waits == IDS_WAITS_FOR_GIL) return doing->called != IDS_NONE && !saw_call(joining, events, frames);
    return doing->waits == IDS_WAITS_FOR_LOCK || doing->waits == IDS_WAITS_OUTSIDE;
}

/* Whether the frames beside those of the walk, `other`, show the same function of the program at work. */
static int is_of_function(const struct joining *joining, const struct walk *walk, uint32_t other) {
    const struct ids_trace *trace = joining->trace;
    uint32_t caller = trace->doings[walk->frames].caller, others = trace->doings[other].caller;
    if (caller == IDS_NONE || others == IDS_NONE || is_blocked(joining, walk->events, other)) return 0;
    return ids_python_function_key(ids_strings_text(&trace->strings, trace->names[caller].text)) ==
           ids_python_function_key(ids_strings_text(&trace->strings, trace->names[others].text));
}

/* Samples of these frames were taken from the begin of the event's call on, or before its end. */
static int saw_time(const struct walk *walk) {
    return walk->seen_ps[0] < walk->call_ps[1] && walk->seen_ps[1] >= walk->call_ps[0];
}

/* A sample of these frames was taken in the event's call, or the samples before and after it saw the same function of
 * the program. One that sleeps, or waits for a lock, does nothing else meanwhile: between two such samples it was
 * elsewhere. */
static int saw_caller(const struct joining *joining, const struct walk *walk) {
    const struct ids_timeline *sampled = &joining->sampled->timeline;
    if (!joining->seen || !walk->s) return 1;
    int64_t first_ps = walk->seen_ps[0];
    enum ids_account does = (enum ids_account)joining->trace->doings[walk->events].account;
    if (does == IDS_HOST_PYTHON || does == IDS_HOST_INPUT || does == IDS_HOST_REGION) return 1; /* around all of it */
    /* The next sample waits for a device, as the event does: one wait is seldom beside another one. */
    if (does == IDS_HOST_SYNC && only_waits(joining->trace, &joining->trace->doings[walk->frames])) return 1;
    if (is_blocked(joining, walk->events, walk->frames)) return 0;
    if (saw_time(walk)) return 1;
    if (walk->when_ps < first_ps) return walk->s > 1 && is_of_function(joining, walk, sampled->doing[walk->s - 2]);
    return walk->s < sampled->count && is_of_function(joining, walk, sampled->doing[walk->s]);
}

/* By the outermost event of its account: parts of a call are called by whom the call is. What one launch puts tells
 * nothing of what another one does. */
static uint64_t key_of_event(const struct joining *joining, const struct walk *walk) {
    uint64_t event = (uint64_t)joining->trace->doings[walk->events].around << 32 | 1;
    return walk->launch ? ids_key_of(event, walk->launch) : event;
}

/* A sample inside the call itself says more than any number of samples at its time, and one of these more than those
 * before and after it. */
static const uint64_t IN_THE_CALL = (uint64_t)1 << 42, AT_ITS_TIME = (uint64_t)1 << 21;

/* A sample was taken just when this begins. */
static int begins_at_sample(const struct joining *joining, const struct walk *walk) {
    return joining->sample_count && (walk->when_ps == walk->seen_ps[0] || walk->when_ps == walk->seen_ps[1]);
}

/* Whom samples saw call an event, where they saw it. */
static int find_usual(struct joining *joining) {
    const struct ids_trace *trace = joining->trace;
    for (struct walk walk = {.events = IDS_NO_DOING, .frames = IDS_NO_DOING}; next(joining, &walk);) {
        if (trace->doings[walk.events].account == IDS_NO_ACCOUNT || trace->doings[walk.frames].caller == IDS_NONE ||
            is_unseen(joining, &walk) || runs(joining, &walk))
            continue;
        if ((saw_call(joining, walk.events, walk.frames) || saw_wait(trace, walk.events, walk.frames) ||
             saw_loop_wait(trace, walk.events, walk.frames)) &&
            ids_keymap_add(&joining->calls, call_key(trace, walk.frames), 1) < 0)
            return -1;
        if (!saw_caller(joining, &walk)) continue;
        uint64_t event = key_of_event(joining, &walk), most = 0, stack = 0;
        uint64_t *count = ids_keymap_at(&joining->counts, ids_key_of(event, walk.frames));
        if (!count) return -1;
        *count += saw_call(joining, walk.events, walk.frames) ? IN_THE_CALL
                  : begins_at_sample(joining, &walk)          ? AT_ITS_TIME
                                                              : 1;
        uint64_t own = *count, *usual = ids_keymap_at(&joining->usual, event);
        if (!usual) return -1;
        stack = *usual;
        if (stack) ids_keymap_get(&joining->counts, ids_key_of(event, stack - 1), &most);
        if (!stack || own > most) *usual = (uint64_t)walk.frames + 1;
    }
    return 0;
}

/* What a stack stands in has events of its own. */
static int is_in_call(const struct joining *joining, uint32_t frames) {
    uint64_t has_events = 0;
    const struct ids_doing *doing = &joining->trace->doings[frames];
    return (doing->called != IDS_NONE || doing->account == IDS_HOST_SYNC) &&
           ids_keymap_get(&joining->calls, call_key(joining->trace, frames), &has_events);
}

/* The jitted function rather than another event of the same call, such as a wait for its arguments. */
static void mark(struct ids_trace *trace, uint32_t name, uint32_t launch) {
    uint32_t *launched = &trace->names[name].launched;
    if (!*launched || ids_launched_function(trace, launch).length) *launched = trace->doings[launch].around + 1;
}

/* Who launches, as far as samples saw it: the function of the program that was seen most around such events, and the
 * call itself. Whoever else is seen in a gap is no part of launching. */
static void mark_launching(struct joining *joining) {
    struct ids_trace *trace = joining->trace;
    for (size_t d = 0; d < trace->doing_count; d++) {
        uint64_t stack;
        if (trace->doings[d].account != IDS_HOST_DISPATCH ||
            !ids_keymap_get(&joining->usual, (uint64_t)trace->doings[d].around << 32 | 1, &stack))
            continue;
        const struct ids_doing *frames = &trace->doings[stack - 1];
        if (frames->caller != IDS_NONE) mark(trace, frames->caller, (uint32_t)d);
        if (frames->called != IDS_NONE && is_in_call(joining, (uint32_t)stack - 1))
            mark(trace, frames->called, (uint32_t)d);
    }
}

/* The nearest sample saw the thread inside another call than the event's, and another sample saw who makes that; or
 * none was taken in this call, and those that were in others like it saw another function. */
static int is_of_another_call(const struct joining *joining, const struct walk *walk, uint64_t usual) {
    const struct ids_trace *trace = joining->trace;
    uint64_t seen = 0;
    if (!usual || saw_call(joining, walk->events, walk->frames)) return 0;
    ids_keymap_get(&joining->counts, ids_key_of(key_of_event(joining, walk), usual - 1), &seen);
    if (trace->doings[walk->frames].called != IDS_NONE && seen >= IN_THE_CALL) return 1;
    return seen >= AT_ITS_TIME && !saw_time(walk) && !is_of_function(joining, walk, (uint32_t)usual - 1);
}

/* No sample was taken in this call, and those before and after it saw the same function: it is told by the line at
 * which samples that were taken in other such calls saw that function, and not by the one that it came to next. */
static uint32_t frames_of_line(const struct joining *joining, const struct walk *walk, uint64_t usual) {
    uint64_t seen = 0;
    if (!usual || saw_time(walk) || !is_of_function(joining, walk, (uint32_t)usual - 1)) return walk->frames;
    ids_keymap_get(&joining->counts, ids_key_of(key_of_event(joining, walk), usual - 1), &seen);
    return seen >= AT_ITS_TIME ? (uint32_t)usual - 1 : walk->frames;
}

/* None was taken in any such call, and the samples before and after this one saw two lines of that function. */
static int is_between_lines(const struct joining *joining, const struct walk *walk) {
    const struct ids_timeline *sampled = &joining->sampled->timeline;
    const struct ids_doing *doings = joining->trace->doings;
    uint32_t other = IDS_NO_DOING;
    if (walk->when_ps < walk->seen_ps[0] && walk->s > 1) other = sampled->doing[walk->s - 2];
    if (walk->when_ps >= walk->seen_ps[0] && walk->s < sampled->count) other = sampled->doing[walk->s];
    return other != IDS_NO_DOING && doings[other].caller != doings[walk->frames].caller;
}

/* What stands nearest to the call says its line: a sample, or the call before it, where that one's line is known. */
static uint32_t nearest_line(const struct joining *joining, const struct walk *walk) {
    int64_t to_sample_ps = walk->when_ps < walk->seen_ps[0] ? ids_sat_sub(walk->seen_ps[0], walk->call_ps[1])
                                                            : ids_sat_sub(walk->when_ps, walk->seen_ps[1]);
    if (!joining->line || !is_of_function(joining, walk, joining->line - 1)) return walk->frames;
    return ids_sat_sub(walk->call_ps[0], joining->line_ps) < to_sample_ps ? joining->line - 1 : walk->frames;
}

/* The function that the samples around a call saw, at the line that makes it. */
static int64_t doing_at_line(struct joining *joining, const struct walk *walk, uint64_t usual) {
    uint32_t frames = frames_of_line(joining, walk, usual);
    if (joining->trace->doings[walk->events].account != IDS_HOST_DISPATCH)
        return ids_doing_beside(joining->trace, walk->events, frames);
    if (frames == walk->frames && !saw_time(walk) && is_between_lines(joining, walk))
        return ids_doing_guessed(joining->trace, walk->events, nearest_line(joining, walk));
    joining->line = frames + 1;
    joining->line_ps = walk->call_ps[1];
    return ids_doing_beside(joining->trace, walk->events, frames);
}

/* A sample stands in a call whose events are over, or have not begun: before it the thread did what the sample before
 * saw, after it what the next one saw, where that is Python's. Else the function that makes the call is all that is
 * known. */
static int64_t doing_outside_call(struct joining *joining, const struct walk *walk) {
    const struct ids_timeline *sampled = &joining->sampled->timeline;
    uint32_t frames = walk->frames;
    if (walk->when_ps < walk->seen_ps[0])
        frames = walk->s > 1 ? sampled->doing[walk->s - 2] : IDS_NO_DOING;
    else if (walk->when_ps >= walk->seen_ps[1])
        frames = walk->s < sampled->count ? sampled->doing[walk->s] : IDS_NO_DOING;
    const struct ids_doing *other = &joining->trace->doings[frames];
    if (other->account == IDS_HOST_PYTHON && other->caller != IDS_NONE && !is_in_call(joining, frames)) return frames;
    return ids_doing_without_call(joining->trace, walk->frames);
}

/* What is done in a gap that is divided; IDS_NO_DOING: it is none. */
static uint32_t doing_in_gap(const struct walk *walk) {
    uint32_t doing = IDS_NO_DOING;
    for (size_t p = 0; p < walk->pieces.count && walk->pieces.at[p].from_ps <= walk->when_ps; p++)
        doing = walk->pieces.at[p].doing;
    return doing;
}

static int64_t find_doing(struct joining *joining, const struct walk *walk) {
    uint64_t usual = 0;
    uint32_t in_gap = doing_in_gap(walk);
    if (joining->trace->doings[walk->frames].in_callback)
        return ids_doing_called_back(joining->trace, walk->events, walk->frames);
    if (awaits_core(joining, walk->frames)) return ids_doing_beside(joining->trace, walk->events, walk->frames);
    if (runs(joining, walk)) return walk->frames;
    if (in_gap != IDS_NO_DOING) return in_gap;
    if (joining->trace->doings[walk->frames].waits == IDS_WAITS_FOR_GIL)
        return ids_doing_beside(joining->trace, walk->events, walk->frames);
    if (joining->trace->doings[walk->events].account == IDS_NO_ACCOUNT && is_in_call(joining, walk->frames))
        return doing_outside_call(joining, walk);
    ids_keymap_get(&joining->usual, key_of_event(joining, walk), &usual);
    if (!usual && walk->launch) ids_keymap_get(&joining->usual, (uint64_t)(walk->launch - 1) << 32 | 1, &usual);
    if (joining->trace->doings[walk->events].account == IDS_NO_ACCOUNT ||
        (!is_unseen(joining, walk) && !is_of_another_call(joining, walk, usual) && saw_caller(joining, walk)))
        return doing_at_line(joining, walk, usual);
    return ids_doing_guessed(joining->trace, walk->events, usual ? (uint32_t)usual - 1 : IDS_NO_DOING);
}

static int64_t doing_at(struct joining *joining, const struct walk *walk) {
    int64_t doing = find_doing(joining, walk);
    return doing < 0 ? doing : ids_doing_wherever(joining->trace, (uint32_t)doing);
}

/* What samples saw in the gaps between events. A call that has events of its own is no part of a gap: there its caller
 * is what runs. */
static int find_gaps(struct joining *joining) {
    const struct ids_track *sampled = joining->sampled;
    joining->gaps = (struct ids_sampled_gaps){.trace = joining->trace, .recorded = joining->recorded};
    for (size_t s = 0; s < joining->sample_count; s++) {
        size_t turn = ids_timeline_find(&sampled->timeline, joining->samples[s].when_ps);
        int64_t doing = turn == SIZE_MAX ? IDS_NO_DOING : sampled->timeline.doing[turn];
        if (is_in_call(joining, (uint32_t)doing)) doing = ids_doing_without_call(joining->trace, (uint32_t)doing);
        if (doing < 0 || ids_sampled_gaps_add(&joining->gaps, joining->samples[s].when_ps, (uint32_t)doing)) return -1;
    }
    return ids_sampled_gaps_settle(&joining->gaps);
}

static void put_in_place(struct ids_trace *trace, struct ids_timeline *timeline, struct ids_timeline *by) {
    ids_timeline_done(timeline);
    ids_trace_put_timeline_far(trace, by);
    *timeline = *by;
}

typedef int64_t doing_at_place(struct joining *joining, const struct walk *walk);

static int merge(struct joining *joining, doing_at_place *at) {
    struct ids_timeline merged = {0};
    int failed = 0;
    for (struct walk walk = {.events = IDS_NO_DOING, .frames = IDS_NO_DOING}; !failed && next(joining, &walk);) {
        int64_t doing = at(joining, &walk);
        failed = doing < 0 || ids_timeline_turn(&merged, walk.when_ps, (uint32_t)doing);
    }
    if (failed) {
        ids_timeline_done(&merged);
        return -1;
    }
    put_in_place(joining->trace, joining->recorded, &merged);
    return 0;
}

static int join(struct joining *joining) {
    joining->seen = calloc(joining->sampled->timeline.count, sizeof *joining->seen);
    if (!joining->seen) return -1;
    find_dense(joining);
    find_samples(joining);
    find_seen(joining);
    set_turns(joining);
    int failed = ids_sampled_calls_find(&joining->same, joining->trace, joining->recorded, &joining->sampled->timeline,
                                        joining->samples, joining->sample_count);
    failed = failed || find_usual(joining);
    if (!failed) mark_launching(joining);
    failed = failed || find_gaps(joining) || merge(joining, doing_at);
    ids_keymap_done(&joining->counts);
    ids_keymap_done(&joining->usual);
    ids_keymap_done(&joining->calls);
    ids_sampled_calls_done(&joining->same);
    ids_sampled_gaps_done(&joining->gaps);
    free(joining->seen);
    return failed;
}

/* --- threads that come one after another ------------------------------------------------------------------------ */

static int by_thread(const void *a, const void *b) {
    const struct ids_track *left = *(struct ids_track *const *)a, *right = *(struct ids_track *const *)b;
    if (left->host != right->host) return left->host < right->host ? -1 : 1;
    if (left->id != right->id) return left->id < right->id ? -1 : 1;
    return (left->timeline.from_ps[0] > right->timeline.from_ps[0]) -
           (left->timeline.from_ps[0] < right->timeline.from_ps[0]);
}

/* How many of the tracks are threads of one number that came one after another, from the first one on. */
static size_t count_followers(struct ids_track *const *sampled, size_t count) {
    size_t n = 1;
    for (; n < count; n++) {
        const struct ids_timeline *before = &sampled[n - 1]->timeline;
        if (sampled[n]->host != sampled[0]->host || sampled[n]->id != sampled[0]->id) break;
        if (before->from_ps[before->count - 1] > sampled[n]->timeline.from_ps[0]) break;
    }
    return n;
}

/* Between the events of two threads there is no gap of one thread: it begins anew where the first one was seen last. */
static int cut_gaps(struct ids_trace *trace, uint32_t thread, const int64_t *ends_ps, size_t count) {
    struct ids_timeline *recorded = &trace->tracks[thread].timeline, cut = {0};
    ids_timeline_read(recorded);
    int failed = ids_timeline_cut(recorded, ends_ps, count, &cut);
    put_in_place(trace, recorded, &cut);
    return failed;
}

/* What samples saw of them becomes the first one's. */
static int join_timelines(struct ids_trace *trace, struct ids_track *const *sampled, size_t count) {
    struct ids_timeline all = {0};
    int64_t *ends_ps = calloc(count, sizeof *ends_ps);
    uint32_t thread = ids_sampled_thread(trace, sampled[0]);
    int failed = !ends_ps;
    for (size_t n = 0; n < count && !failed; n++) {
        struct ids_timeline *timeline = &sampled[n]->timeline;
        ids_timeline_read(timeline);
        for (size_t i = 0; i < timeline->count && !failed; i++)
            failed = ids_timeline_turn(&all, timeline->from_ps[i], timeline->doing[i]);
        ends_ps[n] = timeline->from_ps[timeline->count - 1];
        if (n) ids_timeline_done(timeline);
    }
    put_in_place(trace, &sampled[0]->timeline, &all);
    if (!failed && thread != IDS_NONE) failed = cut_gaps(trace, thread, ends_ps, count - 1);
    free(ends_ps);
    return failed;
}

/* A thread's number is the address of its memory, which the next one gets when it has ended. The events of both are on
 * one track, and so what samples saw of both is one timeline: the gap before the second one's events is not the first
 * one's. */
static int join_followers(struct ids_trace *trace) {
    struct ids_track **sampled = calloc(trace->track_count + 1, sizeof *sampled);
    uint32_t *first = malloc((trace->track_count + 1) * sizeof *first);
    size_t count = 0;
    int failed = !sampled || !first;
    for (uint32_t t = 0; t < trace->track_count && !failed; t++) {
        first[t] = t;
        if (trace->tracks[t].role == IDS_TRACK_SAMPLED && trace->tracks[t].timeline.count)
            sampled[count++] = &trace->tracks[t];
    }
    if (count) qsort(sampled, count, sizeof *sampled, by_thread);
    for (size_t i = 0, n; i < count && !failed; i += n) {
        n = count_followers(sampled + i, count - i);
        for (size_t k = 1; k < n; k++) first[sampled[i + k] - trace->tracks] = (uint32_t)(sampled[i] - trace->tracks);
        if (n > 1) failed = join_timelines(trace, sampled + i, n);
    }
    for (size_t s = 0; s < trace->sample_count && !failed; s++)
        trace->samples[s].track = first[trace->samples[s].track];
    free(sampled);
    free(first);
    return failed ? -1 : 0;
}

static int join_all(struct ids_trace *trace) {
    if (trace->sample_count) qsort(trace->samples, trace->sample_count, sizeof *trace->samples, by_track);
    for (uint32_t t = 0; t < trace->track_count; t++) {
        struct ids_track *sampled = &trace->tracks[t];
        if (sampled->role != IDS_TRACK_SAMPLED || !sampled->timeline.count) continue;
        uint32_t thread = ids_sampled_thread(trace, sampled);
        if (thread == IDS_NONE) {
            sampled->role = IDS_TRACK_HOST;
            continue;
        }
        struct joining joining = {.trace = trace, .recorded = &trace->tracks[thread].timeline, .sampled = sampled};
        if (join(&joining)) return -1;
        sampled->seen = sampled->timeline;
        sampled->timeline = (struct ids_timeline){0};
    }
    return 0;
}

int ids_sampled_join(struct ids_trace *trace) {
    int failed =
        join_followers(trace) || ids_launching_calls_find(trace) || join_all(trace) || ids_launching_calls_join(trace);
    failed = failed || ids_polls_find(trace);
    failed = failed || ids_told_files_find(trace);
    return failed ? -1 : 0;
}

/* --- what was told of a thread ---------------------------------------------------------------------------------- */

static int64_t told_at(struct joining *joining, const struct walk *walk) {
    struct ids_trace *trace = joining->trace;
    uint32_t caller = trace->doings[walk->frames].caller;
    if (trace->doings[walk->events].account == IDS_NO_ACCOUNT || caller == IDS_NONE || !trace->names[caller].is_sampled)
        return walk->events;
    return ids_doing_called_by(trace, walk->events, walk->frames);
}

/* The thread that compiled; IDS_NONE: its own events do not show it. */
static uint32_t thread_told_of(const struct ids_track *told) {
    struct ids_cursor cursor = ids_cursor_over(&told->events);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->launch) return event->launch->track;
    }
    return IDS_NONE;
}

int ids_sampled_join_told(struct ids_trace *trace, size_t first_track, size_t end_track) {
    for (size_t t = first_track; t < end_track; t++) {
        struct ids_track *told = &trace->tracks[t];
        uint32_t thread = ids_track_is_told(trace, told) ? thread_told_of(told) : IDS_NONE;
        if (thread == IDS_NONE) continue;
        struct joining joining = {.trace = trace, .recorded = &told->timeline, .sampled = &trace->tracks[thread]};
        if (merge(&joining, told_at)) return -1;
    }
    return 0;
}
