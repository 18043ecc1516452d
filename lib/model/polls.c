#include "lib/model/polls.h"

#include "lib/base/keymap.h"
#include "lib/model/doings.h"
#include "lib/model/launching_calls.h"
#include "lib/model/python_frame.h"

/* The sleeps of one thread, by pairs of samples that follow one another at one line. */
struct polls {
    struct ids_trace *trace;
    const struct ids_timeline *own;  /* of a thread that launches */
    const struct ids_timeline *seen; /* what samples saw of it */
    struct ids_keymap lines;         /* by line: in how many pairs it slept on; << 32: it woke in between */
};

static uint64_t function_of(const struct ids_trace *trace, uint32_t doing) {
    uint32_t caller = trace->doings[doing].caller;
    return caller == IDS_NONE ? 0
                              : ids_python_function_key(ids_strings_text(&trace->strings, trace->names[caller].text));
}

static uint64_t line_of(const struct ids_trace *trace, uint32_t doing) {
    return (uint64_t)trace->names[trace->doings[doing].caller].text + 1;
}

/* Or has just woken: "$time sleep (awake)". */
static int is_sleep(const struct ids_trace *trace, uint32_t number) {
    static const char awake[] = " (awake)";
    const struct ids_doing *doing = &trace->doings[number];
    if (doing->account != IDS_HOST_PYTHON || doing->caller == IDS_NONE || doing->called == IDS_NONE) return 0;
    struct ids_text called = ids_strings_text(&trace->strings, trace->names[doing->called].text);
    if (ids_text_ends(called, awake)) called.length -= (uint32_t)sizeof awake - 1;
    return ids_python_sleeps(called);
}

/* From one turn to the other the thread is in that function alone, and in no call that is known of. */
static int stays(const struct polls *polls, size_t from, size_t to, uint64_t function) {
    const struct ids_trace *trace = polls->trace;
    for (size_t i = from; i <= to; i++) {
        uint32_t doing = polls->own->doing[i];
        if (trace->doings[doing].waits == IDS_WAITS_FOR_CORE) continue;
        if (trace->doings[doing].account != IDS_HOST_PYTHON || function_of(trace, doing) != function) return 0;
    }
    return 1;
}

/* Two samples of the thread, one after the other. */
static int add_pair(struct polls *polls, const struct ids_stack_sample *before, const struct ids_stack_sample *after) {
    const struct ids_trace *trace = polls->trace;
    size_t from = ids_timeline_find(polls->own, before->when_ps), to = ids_timeline_find(polls->own, after->when_ps),
           saw = ids_timeline_find(polls->seen, before->when_ps), sees = ids_timeline_find(polls->seen, after->when_ps);
    if (from == SIZE_MAX || saw == SIZE_MAX) return 0;
    uint32_t doing = polls->seen->doing[saw], then = polls->seen->doing[sees];
    if (!is_sleep(trace, doing) || !is_sleep(trace, then) || line_of(trace, doing) != line_of(trace, then)) return 0;
    if (!stays(polls, from, to, function_of(trace, doing))) return 0;
    uint64_t *pairs = ids_keymap_at(&polls->lines, line_of(trace, doing));
    if (!pairs) return -1;
    *pairs += after->begins ? (uint64_t)1 << 32 : 1;
    return 0;
}

/* Where samples come more often than it wakes, each sleep has a pair of its own and one with the next. */
static int polls_at(const struct polls *polls, uint32_t doing) {
    enum { LEAST = 3, OFTEN = 2 };
    uint64_t pairs = 0;
    if (!is_sleep(polls->trace, doing)) return 0;
    ids_keymap_get(&polls->lines, line_of(polls->trace, doing), &pairs);
    uint64_t woke = pairs >> 32, slept = pairs & UINT32_MAX;
    return woke >= LEAST && woke * OFTEN >= slept;
}

static int launches(const struct ids_trace *trace, const struct ids_timeline *timeline) {
    for (size_t i = 0; i < timeline->count; i++) {
        if (trace->doings[timeline->doing[i]].account == IDS_HOST_DISPATCH) return 1;
    }
    return 0;
}

static int find_of(struct polls *polls, uint32_t sampled) {
    struct ids_trace *trace = polls->trace;
    size_t first = ids_trace_first_sample(trace, sampled);
    for (size_t s = first + 1; s < trace->sample_count && trace->samples[s].track == sampled; s++) {
        if (add_pair(polls, &trace->samples[s - 1], &trace->samples[s])) return -1;
    }
    for (size_t i = 0; i < polls->own->count && polls->lines.count; i++) {
        if (!polls_at(polls, polls->own->doing[i])) continue;
        struct ids_doing waiting = trace->doings[polls->own->doing[i]];
        waiting.waits = IDS_WAITS_FOR_LOCK;
        int64_t number = ids_doing_number(trace, &waiting);
        if (number < 0) return -1;
        polls->own->doing[i] = (uint32_t)number;
    }
    return 0;
}

int ids_polls_find(struct ids_trace *trace) {
    int failed = 0;
    for (uint32_t t = 0; t < trace->track_count && !failed; t++) {
        const struct ids_sampling *sampling = ids_sampling_of(trace, &trace->tracks[t]);
        if (!trace->tracks[t].seen.count || !sampling || !sampling->tells_wakes) continue;
        uint32_t thread = ids_sampled_thread(trace, &trace->tracks[t]);
        if (thread == IDS_NONE || !launches(trace, &trace->tracks[thread].timeline)) continue;
        struct polls polls = {.trace = trace, .own = &trace->tracks[thread].timeline, .seen = &trace->tracks[t].seen};
        failed = find_of(&polls, t);
        ids_keymap_done(&polls.lines);
    }
    return failed;
}
