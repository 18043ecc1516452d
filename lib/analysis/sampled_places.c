#include "lib/analysis/sampled_places.h"

#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/model/account.h"
#include "lib/model/doings.h"
#include "lib/model/python_frame.h"

#include <stdlib.h>
#include <string.h>

void ids_sampled_places_done(struct ids_sampled_places *places) {
    free(places->own);
    free(places->whole);
    free(places->awake);
    free(places->call);
    *places = (struct ids_sampled_places){0};
}

/* A function of the program; where it was not sampled, its line is its first one, and what it calls alone is told. A
 * call of a library that launches is what the function does, whatever the library does in it. */
static int is_python(const struct ids_doing *doing) {
    return (doing->account == IDS_HOST_PYTHON || (doing->account == IDS_HOST_DISPATCH && doing->launches)) &&
           doing->caller != IDS_NONE;
}

/* Whether there is more to tell of it than its name has. */
static int has_place(const struct ids_trace *trace, const struct ids_doing *doing) {
    return is_python(doing) && (trace->names[doing->caller].is_sampled || doing->called != IDS_NONE);
}

/* Of calls that launch each line is one: a function goes forward, backward and updates. */
static uint64_t function_key(const struct ids_trace *trace, const struct ids_doing *doing) {
    uint32_t text = trace->names[doing->caller].text;
    return doing->launches ? ids_key_of((uint64_t)text << 32 | 1, doing->launches)
                           : ids_python_function_key(ids_strings_text(&trace->strings, text));
}

static uint64_t place_key(const struct ids_trace *trace, const struct ids_doing *doing) {
    return ids_key_of((uint64_t)trace->names[doing->caller].text << 32 | 1,
                      doing->called == IDS_NONE ? 0 : trace->names[doing->called].text);
}

/* The time of a doing, in all threads. */
static void sum_times(const struct ids_trace *trace, int64_t *times_ps) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_timeline *timeline = &trace->tracks[t].timeline;
        ids_timeline_read(timeline);
        for (size_t i = 0; i + 1 < timeline->count; i++) {
            int64_t *time_ps = &times_ps[timeline->doing[i]];
            *time_ps = ids_sat_add(*time_ps, timeline->from_ps[i + 1] - timeline->from_ps[i]);
        }
    }
}

/* There it waits for a thread, or sleeps, or for what comes from outside. */
static int is_wait(const struct ids_trace *trace, const struct ids_doing *doing) {
    if (doing->called == IDS_NONE) return 0;
    struct ids_text called = ids_strings_text(&trace->strings, trace->names[doing->called].text);
    enum ids_frame_owner owner = ids_python_frame_owner(called);
    return owner == IDS_FRAME_WAITS || owner == IDS_FRAME_BLOCKS || ids_python_waits_for_thread(called);
}

struct sums {
    struct ids_keymap of_function, of_place, best; /* times; by function the doing of its longest place, plus one */
    struct ids_keymap of_part, best_of_part;       /* the same by what it does, and by its sleeps */
    struct ids_keymap awake;                       /* the same of the places where it does not wait */
    struct ids_keymap of_call, longest;            /* the same of calls, by line */
};

static uint64_t part_key(const struct ids_trace *trace, uint32_t d) {
    return ids_key_of(function_key(trace, &trace->doings[d]), 1 + (uint64_t)ids_doing_sleeps(trace, d));
}

static int add_time(struct ids_keymap *times, uint64_t key, int64_t ps) {
    uint64_t *time = ids_keymap_at(times, key);
    if (!time) return -1;
    *time += (uint64_t)ps;
    return 0;
}

static int keep_longest(const struct ids_trace *trace, const struct sums *sums, struct ids_keymap *longest, uint64_t of,
                        uint32_t d) {
    uint64_t function = function_key(trace, &trace->doings[d]), time = 0, most = 0;
    uint64_t *kept = ids_keymap_at(longest, of);
    if (!kept) return -1;
    ids_keymap_get(&sums->of_place, ids_key_of(function, place_key(trace, &trace->doings[d])), &time);
    if (*kept)
        ids_keymap_get(&sums->of_place, ids_key_of(function, place_key(trace, &trace->doings[*kept - 1])), &most);
    if (!*kept || time > most) *kept = d + 1;
    return 0;
}

static int add_up(const struct ids_trace *trace, const int64_t *times_ps, struct sums *sums) {
    for (uint32_t d = 0; d < trace->doing_count; d++) {
        const struct ids_doing *doing = &trace->doings[d];
        if (!is_python(doing)) continue;
        uint64_t function = function_key(trace, doing);
        if (add_time(&sums->of_function, function, times_ps[d]) ||
            add_time(&sums->of_part, part_key(trace, d), times_ps[d]) ||
            add_time(&sums->of_place, ids_key_of(function, place_key(trace, doing)), times_ps[d]))
            return -1;
    }
    for (uint32_t d = 0; d < trace->doing_count; d++) {
        if (!is_python(&trace->doings[d])) continue;
        uint64_t function = function_key(trace, &trace->doings[d]);
        if (keep_longest(trace, sums, &sums->best, function, d) ||
            keep_longest(trace, sums, &sums->best_of_part, part_key(trace, d), d))
            return -1;
        if (!is_wait(trace, &trace->doings[d]) && keep_longest(trace, sums, &sums->awake, function, d)) return -1;
    }
    return 0;
}

/* --- calls that wait for a device, put data on it, or compile --------------------------------------------------- */

static int is_sampled_call(const struct ids_trace *trace, const struct ids_doing *doing) {
    return (doing->account == IDS_HOST_SYNC || doing->account == IDS_HOST_STAGING ||
            doing->account == IDS_HOST_COMPILE) &&
           doing->caller != IDS_NONE && trace->names[doing->caller].is_sampled;
}

/* A line may compile several functions, each a culprit of its own; what is a part of compiling, and does not say of
 * which function, belongs to the longest of them. */
static int names_function(const struct ids_trace *trace, const struct ids_doing *doing) {
    struct ids_text name = ids_strings_text(&trace->strings, trace->names[doing->around].text);
    return doing->account == IDS_HOST_COMPILE && memchr(name.at, '(', name.length);
}

/* A sample saw the call that waits: that is what the line says, whatever jax calls its event. */
static int was_seen(const struct ids_trace *trace, const struct ids_doing *doing) {
    return doing->account == IDS_HOST_SYNC && trace->names[doing->around].is_sampled;
}

static uint64_t line_key(const struct ids_trace *trace, const struct ids_doing *doing) {
    return ids_key_of((uint64_t)trace->names[doing->caller].text << 32 | 1, doing->account);
}

static uint64_t call_key(const struct ids_trace *trace, const struct ids_doing *doing) {
    return ids_key_of(line_key(trace, doing), trace->names[doing->around].text);
}

static int add_up_calls(const struct ids_trace *trace, const int64_t *times_ps, struct sums *sums) {
    for (uint32_t d = 0; d < trace->doing_count; d++) {
        const struct ids_doing *doing = &trace->doings[d];
        if (!is_sampled_call(trace, doing)) continue;
        uint64_t *time = ids_keymap_at(&sums->of_call, call_key(trace, doing));
        if (!time) return -1;
        *time += (uint64_t)times_ps[d];
    }
    for (uint32_t d = 0; d < trace->doing_count; d++) {
        const struct ids_doing *doing = &trace->doings[d], *other = NULL;
        uint64_t time = 0, most = 0;
        if (!is_sampled_call(trace, doing)) continue;
        uint64_t *longest = ids_keymap_at(&sums->longest, line_key(trace, doing));
        if (!longest) return -1;
        if (*longest) other = &trace->doings[*longest - 1];
        if (other && names_function(trace, other) && !names_function(trace, doing)) continue;
        if (other && was_seen(trace, other) && !was_seen(trace, doing)) continue;
        ids_keymap_get(&sums->of_call, call_key(trace, doing), &time);
        if (other) ids_keymap_get(&sums->of_call, call_key(trace, other), &most);
        int is_better = other && ((names_function(trace, doing) && !names_function(trace, other)) ||
                                  (was_seen(trace, doing) && !was_seen(trace, other)));
        if (!other || is_better || time > most) *longest = d + 1;
    }
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

/* The longest place of the function, or of its part: `of` is the key in these maps. */
static struct ids_sampled_place place_of(const struct ids_trace *trace, const struct sums *sums,
                                         const struct ids_keymap *times, const struct ids_keymap *longest,
                                         uint64_t of) {
    uint64_t best = 0, whole = 0, time = 0;
    ids_keymap_get(longest, of, &best);
    ids_keymap_get(times, of, &whole);
    const struct ids_doing *doing = &trace->doings[best - 1];
    ids_keymap_get(&sums->of_place, ids_key_of(function_key(trace, doing), place_key(trace, doing)), &time);
    return (struct ids_sampled_place){.doing = (uint32_t)best - 1,
                                      .is_most = time > whole / 2,
                                      .percent = whole ? (uint8_t)(100 * (double)time / (double)whole) : 0};
}

/* A function that sleeps for nearly all of its time is one that sleeps, and one that hardly does is none; else what it
 * does besides is mended in another way. */
static int is_in_parts(const struct ids_trace *trace, const struct sums *sums, uint32_t d) {
    enum { LEAST = 5 }; /* a fifth */
    uint64_t whole = 0, part = 0;
    ids_keymap_get(&sums->of_function, function_key(trace, &trace->doings[d]), &whole);
    ids_keymap_get(&sums->of_part, part_key(trace, d), &part);
    return part >= whole / LEAST && whole - part >= whole / LEAST && whole;
}

static void choose(const struct ids_trace *trace, const struct sums *sums, struct ids_sampled_places *places) {
    for (uint32_t d = 0; d < trace->doing_count; d++) {
        const struct ids_doing *doing = &trace->doings[d];
        uint64_t best = 0, awake = 0;
        places->own[d] = places->whole[d] = (struct ids_sampled_place){.doing = d};
        places->awake[d] = places->call[d] = d;
        if (is_sampled_call(trace, doing) && !names_function(trace, doing) &&
            ids_keymap_get(&sums->longest, line_key(trace, doing), &best))
            places->call[d] = (uint32_t)best - 1;
        if (!is_python(doing)) continue;
        uint64_t function = function_key(trace, doing);
        places->own[d] = places->whole[d] = place_of(trace, sums, &sums->of_function, &sums->best, function);
        if (is_in_parts(trace, sums, d)) {
            places->own[d] = place_of(trace, sums, &sums->of_part, &sums->best_of_part, part_key(trace, d));
            places->own[d].is_part = 1;
        }
        if (ids_keymap_get(&sums->awake, function, &awake)) places->awake[d] = (uint32_t)awake - 1;
    }
}

int ids_sampled_places_find(struct ids_sampled_places *places, const struct ids_trace *trace) {
    *places = (struct ids_sampled_places){0};
    uint32_t first = 0;
    while (first < trace->doing_count && !has_place(trace, &trace->doings[first]) &&
           !is_sampled_call(trace, &trace->doings[first]))
        first++;
    if (first == trace->doing_count) return 0;
    struct sums sums = {0};
    int64_t *times_ps = calloc(trace->doing_count, sizeof *times_ps);
    places->own = calloc(trace->doing_count, sizeof *places->own);
    places->whole = calloc(trace->doing_count, sizeof *places->whole);
    places->awake = calloc(trace->doing_count, sizeof *places->awake);
    places->call = calloc(trace->doing_count, sizeof *places->call);
    int failed = !times_ps || !places->own || !places->whole || !places->awake || !places->call;
    if (!failed) sum_times(trace, times_ps);
    failed = failed || add_up(trace, times_ps, &sums) || add_up_calls(trace, times_ps, &sums);
    if (!failed) choose(trace, &sums, places);
    free(times_ps);
    ids_keymap_done(&sums.of_function);
    ids_keymap_done(&sums.of_place);
    ids_keymap_done(&sums.best);
    ids_keymap_done(&sums.of_part);
    ids_keymap_done(&sums.best_of_part);
    ids_keymap_done(&sums.awake);
    ids_keymap_done(&sums.of_call);
    ids_keymap_done(&sums.longest);
    return failed ? -1 : 0;
}
