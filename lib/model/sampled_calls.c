#include "lib/model/sampled_calls.h"

#include "lib/model/doings.h"
#include "lib/model/python_frame.h"

#include <stdlib.h>
#include <string.h>

/* What fewer samples show may be chance. Some see the line alone: the thread was about to call, or came back. */
enum { LEAST_SAMPLES = 4, LEAST_IN_CALL = 2 };

void ids_sampled_calls_done(struct ids_sampled_calls *calls) {
    ids_keymap_done(&calls->launches);
    *calls = (struct ids_sampled_calls){0};
}

struct ids_text ids_launched_function(const struct ids_trace *trace, uint32_t events) {
    static const char opens[] = "PjitFunction(";
    const struct ids_doing *event = &trace->doings[events];
    if (event->account != IDS_HOST_DISPATCH) return (struct ids_text){0};
    struct ids_text name = ids_strings_text(&trace->strings, trace->names[event->around].text);
    if (!ids_text_begins(name, opens) || !ids_text_ends(name, ")")) return (struct ids_text){0};
    return (struct ids_text){name.at + sizeof opens - 1, name.length - (uint32_t)sizeof opens};
}

/* The same of all lines on which a function of the program writes the call; 0: the sample stands in no call. */
static uint64_t call_of(const struct ids_trace *trace, uint32_t frames) {
    const struct ids_doing *sampled = &trace->doings[frames];
    if (sampled->called == IDS_NONE || sampled->caller == IDS_NONE || sampled->account == IDS_HOST_SYNC) return 0;
    return ids_key_of(ids_python_function_key(ids_strings_text(&trace->strings, trace->names[sampled->caller].text)),
                      sampled->called);
}

/* The same of the call by which C runs the function in which the sample stands; 0: it stands in another call. */
static uint64_t call_around(const struct ids_trace *trace, uint32_t frames) {
    const struct ids_doing *sampled = &trace->doings[frames];
    if (!sampled->inside) return 0;
    if (sampled->called != IDS_NONE &&
        !ids_text_begins(ids_strings_text(&trace->strings, trace->names[sampled->called].text), "$builtins "))
        return 0;
    return ids_key_of(0, sampled->inside);
}

/* --- what was seen together ------------------------------------------------------------------------------------- */

struct pair {
    uint64_t call;
    uint32_t around; /* the event's name */
    uint32_t caller; /* the line on which a sample saw it first */
    uint64_t count;  /* of samples that saw the call in such an event */
};

struct counts {
    struct pair *pairs;
    size_t count, room;
    struct ids_keymap numbers;  /* a call and an event -> the pair's index + 1 */
    struct ids_keymap of_call;  /* samples of it, wherever */
    struct ids_keymap of_event; /* samples in it, whatever they saw: by its name + 1 */
    struct ids_keymap most;     /* ... of the call that most of them saw */
    struct ids_keymap of_line;  /* ... that saw a line and no call: by the line and the event */
};

static int add_pair(struct counts *counts, uint64_t call, uint32_t around, uint32_t caller) {
    uint64_t *number = ids_keymap_at(&counts->numbers, ids_key_of(call, around));
    if (!number) return -1;
    if (!*number) {
        if (counts->count == counts->room) {
            size_t room = counts->room ? 2 * counts->room : 16;
            struct pair *grown = realloc(counts->pairs, room * sizeof *grown);
            if (!grown) return -1;
            counts->pairs = grown;
            counts->room = room;
        }
        counts->pairs[counts->count++] = (struct pair){call, around, caller, 0};
        *number = counts->count;
    }
    counts->pairs[*number - 1].count++;
    return 0;
}

static int add_one(struct ids_keymap *map, uint64_t key) {
    uint64_t *count = ids_keymap_at(map, key);
    if (!count) return -1;
    ++*count;
    return 0;
}

static int count_sample(struct counts *counts, const struct ids_trace *trace, uint32_t events, uint32_t frames) {
    uint64_t around_it = call_around(trace, frames), call = around_it ? around_it : call_of(trace, frames);
    if (call && add_one(&counts->of_call, call)) return -1;
    if (!ids_launched_function(trace, events).length) return 0;
    uint32_t around = trace->doings[events].around;
    if (add_one(&counts->of_event, (uint64_t)around + 1)) return -1;
    uint32_t caller = trace->doings[frames].caller;
    if (call) return add_pair(counts, call, around, caller);
    return caller == IDS_NONE || trace->doings[frames].called != IDS_NONE
               ? 0
               : add_one(&counts->of_line, ids_key_of(caller, around));
}

static int find_most(struct counts *counts) {
    for (size_t i = 0; i < counts->count; i++) {
        uint64_t *most = ids_keymap_at(&counts->most, (uint64_t)counts->pairs[i].around + 1);
        if (!most) return -1;
        if (counts->pairs[i].count > *most) *most = counts->pairs[i].count;
    }
    return 0;
}

/* It is the call that was seen most in the event, in a good part of the samples there, so that a short call beside it,
 * into whose time a sample may slip, is not taken for it; and a good part of the call's own samples lie there: a call
 * takes longer than its event, and a sample's time is not exact. */
static int is_one(const struct counts *counts, const struct pair *pair) {
    uint64_t of_call = 0, of_event = 0, most = 0, of_line = 0;
    ids_keymap_get(&counts->of_call, pair->call, &of_call);
    ids_keymap_get(&counts->of_event, (uint64_t)pair->around + 1, &of_event);
    ids_keymap_get(&counts->most, (uint64_t)pair->around + 1, &most);
    ids_keymap_get(&counts->of_line, ids_key_of(pair->caller, pair->around), &of_line);
    return pair->count >= LEAST_IN_CALL && pair->count + of_line >= LEAST_SAMPLES && pair->count == most &&
           4 * (pair->count + of_line) >= of_event && 4 * pair->count >= of_call;
}

int ids_sampled_calls_find(struct ids_sampled_calls *calls, const struct ids_trace *trace,
                           const struct ids_timeline *recorded, const struct ids_timeline *sampled,
                           const struct ids_stack_sample *samples, size_t count) {
    struct counts counts = {0};
    int failed = 0;
    *calls = (struct ids_sampled_calls){0};
    for (size_t i = 0; i < count && !failed; i++) {
        size_t event = ids_timeline_find(recorded, samples[i].when_ps),
               frames = ids_timeline_find(sampled, samples[i].when_ps);
        if (frames == SIZE_MAX) continue;
        failed = count_sample(&counts, trace, event == SIZE_MAX ? IDS_NO_DOING : recorded->doing[event],
                              sampled->doing[frames]);
    }
    failed = failed || find_most(&counts);
    for (size_t i = 0; i < counts.count && !failed; i++) {
        const struct pair *pair = &counts.pairs[i];
        failed = is_one(&counts, pair) && ids_keymap_add(&calls->launches, ids_key_of(pair->call, pair->around), 1) < 0;
    }
    free(counts.pairs);
    ids_keymap_done(&counts.numbers);
    ids_keymap_done(&counts.of_call);
    ids_keymap_done(&counts.of_event);
    ids_keymap_done(&counts.most);
    ids_keymap_done(&counts.of_line);
    return failed ? -1 : 0;
}

static int is_named(const struct ids_trace *trace, uint32_t call, struct ids_text function) {
    struct ids_python_frame frame;
    return ids_python_frame_of(ids_strings_text(&trace->strings, trace->names[call].text), &frame) &&
           function.length == frame.function.length && !memcmp(function.at, frame.function.at, function.length);
}

int ids_sampled_calls_are_one(const struct ids_sampled_calls *calls, const struct ids_trace *trace, uint32_t events,
                              uint32_t frames) {
    const struct ids_doing *sampled = &trace->doings[frames];
    struct ids_text function = ids_launched_function(trace, events);
    uint64_t call = call_of(trace, frames), is_one;
    if (!function.length || sampled->called == IDS_NONE) return 0;
    if (call && ids_keymap_get(&calls->launches, ids_key_of(call, trace->doings[events].around), &is_one)) return 1;
    /* One that is written by its function's name needs no samples: "$builtins step" and PjitFunction(step). */
    return is_named(trace, sampled->called, function);
}

int ids_sampled_calls_runs(const struct ids_sampled_calls *calls, const struct ids_trace *trace, uint32_t events,
                           uint32_t frames) {
    const struct ids_doing *event = &trace->doings[events], *sampled = &trace->doings[frames];
    struct ids_text function = ids_launched_function(trace, events);
    /* In its parts it runs nothing of Python's: what a sample saw just before goes on into them. */
    if (!sampled->inside || !function.length || event->name != event->around) return 0;
    uint64_t call = call_around(trace, frames), is_one;
    return is_named(trace, sampled->inside - 1, function) ||
           (call && ids_keymap_get(&calls->launches, ids_key_of(call, event->around), &is_one));
}
