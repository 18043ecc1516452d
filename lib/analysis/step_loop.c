/* step_loop.c - annotations without a number: whether one of them recurs once per iteration, or is what was to be
 * recorded. */
#include "lib/analysis/step_sources.h"

#include "lib/base/saturate.h"
#include "lib/model/account.h"

enum { LOOPS = 3 }; /* what recurs less often is no loop */

/* A region that the program named and in which it launches work. */
static int is_loop_body(const struct ids_trace *trace, const struct ids_event *event) {
    const struct ids_name *name = &trace->names[event->name];
    if (!event->launches || event->kind == IDS_KIND_PYTHON) return 0;
    return ids_account_of_host_event((enum ids_kind)event->kind, ids_strings_text(&trace->strings, name->text),
                                     name->of_framework) == IDS_HOST_REGION;
}

/* How often each such region is there, and how long together, by text + 1. */
static int count_regions(const struct ids_trace *trace, struct ids_keymap *counts, struct ids_keymap *times,
                         int *ret_any) {
    *ret_any = 0;
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (!is_loop_body(trace, event)) continue;
            uint64_t *count = ids_keymap_at(counts, (uint64_t)trace->names[event->name].text + 1);
            uint64_t *time = ids_keymap_at(times, (uint64_t)trace->names[event->name].text + 1);
            if (!count || !time) return -1;
            *time += (uint64_t)(event->end_ps - event->start_ps);
            if (++*count >= LOOPS) *ret_any = 1;
        }
    }
    return 0;
}

/* How much device work was launched in each region that recurs, directly or through causes. */
static int count_work(const struct ids_trace *trace, const struct ids_keymap *counts, const struct ids_event *launch,
                      uint64_t work, struct ids_keymap *covered) {
    const struct ids_event *event = launch;
    uint64_t last = 0, often;
    for (int hop = 0; event && hop < IDS_STEP_HOPS; hop++) {
        for (const struct ids_event *around = event; around; around = ids_event_outside(trace, around)) {
            uint64_t key = (uint64_t)trace->names[around->name].text + 1;
            if (!around->launches || key == last || !ids_keymap_get(counts, key, &often) || often < LOOPS) continue;
            uint64_t *sum = ids_keymap_at(covered, key);
            if (!sum) return -1;
            *sum += work;
            last = key;
        }
        event = ids_event_cause(trace, event);
    }
    return 0;
}

static int count_devices(const struct ids_trace *trace, const struct ids_keymap *counts, struct ids_keymap *covered,
                         uint64_t *ret_all) {
    *ret_all = 0;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_events *activity = &trace->devices[d].activity;
        if (!ids_device_counts(trace, &trace->devices[d])) continue;
        ids_events_turn(activity);
        for (size_t i = 0, run; i < activity->count; i += run) {
            const struct ids_event *launch = activity->at[i].launch;
            for (run = 1; i + run < activity->count && activity->at[i + run].launch == launch;) run++;
            *ret_all += run;
            if (launch && count_work(trace, counts, launch, run, covered)) return -1;
        }
    }
    return 0;
}

/* The annotation that recurs once per iteration: nearly all work is launched in it, and of two of which that is true,
 * one inside the other, the outer one is there less often or takes longer. */
int ids_steps_find_loop(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    struct ids_keymap counts = {0}, times = {0}, covered = {0};
    uint64_t all = 0, best = UINT64_MAX, longest = 0;
    int any,
        failed = count_regions(trace, &counts, &times, &any) || (any && count_devices(trace, &counts, &covered, &all));
    for (size_t n = 0; n < trace->name_count && any && !failed; n++) {
        uint64_t count, work, time = 0, key = (uint64_t)trace->names[n].text + 1;
        if (!ids_keymap_get(&counts, key, &count) || count < LOOPS || count > best) continue;
        if (!ids_keymap_get(&covered, key, &work) || work < all - all / 10) continue;
        ids_keymap_get(&times, key, &time);
        if (count == best && time <= longest) continue;
        best = count;
        longest = time;
        steps->name = trace->names[n].text;
        steps->unnumbered = 1;
    }
    ids_keymap_done(&counts);
    ids_keymap_done(&times);
    ids_keymap_done(&covered);
    return failed ? ids_no_memory(err) : 0;
}

/* How often events of that name are on host threads, and how long together. */
static uint64_t count_name(const struct ids_trace *trace, uint32_t text, int64_t *ret_ps) {
    uint64_t count = 0;
    *ret_ps = 0;
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (trace->names[event->name].text != text) continue;
            ids_sum(ret_ps, event->end_ps - event->start_ps);
            count++;
        }
    }
    return count;
}

/* A region that idsprof's window was opened for: all of it was to be recorded, with what the host did before the first
 * work of a device and after the last. Where the steps in it are most of it, they tell more. */
void ids_steps_find_block(struct ids_analysis *analysis) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    for (size_t n = 0; n < trace->name_count; n++) {
        if (!trace->names[n].is_block || trace->names[n].text == steps->name) continue;
        int64_t block_ps = 0, inner_ps = 0;
        count_name(trace, trace->names[n].text, &block_ps);
        uint64_t inner = steps->name == IDS_NONE ? 0 : count_name(trace, steps->name, &inner_ps);
        if (inner && inner_ps >= block_ps / 2) continue;
        if (inner && !steps->unnumbered) {
            steps->inner_name = steps->name;
            steps->inner_count = inner;
            steps->inner_ps = inner_ps;
        }
        steps->block_ps = block_ps;
        steps->name = trace->names[n].text;
        steps->unnumbered = 1;
        return;
    }
}

int ids_steps_are_block(const struct ids_analysis *analysis) {
    const struct ids_trace *trace = analysis->trace;
    size_t n = 0;
    while (n < trace->name_count && !(trace->names[n].is_block && trace->names[n].text == analysis->steps.name)) n++;
    return n < trace->name_count;
}
