/* busy.c - the run's window and those of its active devices, and what their figures are made of. */
#include "lib/analysis/context.h"
#include "lib/analysis/recording.h"

#include "lib/base/parallel.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/clocks.h"
#include "lib/model/counters.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stalls {
    const struct ids_trace *trace;
    struct ids_spans *of_track;
    atomic_int failed;
};

static void gather_stalls_of(void *context, size_t t) {
    struct stalls *stalls = context;
    struct ids_spans *spans = &stalls->of_track[t];
    struct ids_cursor cursor = ids_cursor_over_kinds(&stalls->trace->tracks[t].events, IDS_KINDS(IDS_KIND_STALL));
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->kind == IDS_KIND_STALL) ids_spans_add(spans, event->start_ps, event->end_ps);
    }
    if (ids_spans_unite(spans)) atomic_store(&stalls->failed, 1);
}

/* Waits inside CPU ops, by the thread that they happen on. */
static int gather_stalls(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    if (!trace->track_count) return 0;
    analysis->stalls = calloc(trace->track_count, sizeof *analysis->stalls);
    if (!analysis->stalls) return ids_no_memory(err);
    struct stalls stalls = {.trace = trace, .of_track = analysis->stalls};
    ids_parallel_events(trace->event_count, trace->track_count, gather_stalls_of, &stalls);
    return stalls.failed ? ids_no_memory(err) : 0;
}

int64_t ids_time_in_both(const struct ids_busy *busy, unsigned states, unsigned also) {
    int64_t sum_ps = 0; /* a moment is in one state: it cannot run over */
    for (unsigned state = 0; state < IDS_IS_IN_WINDOW; state++) {
        if (state & states && state & also) sum_ps += busy->in_state_ps[state];
    }
    return sum_ps;
}

int64_t ids_time_in(const struct ids_busy *busy, unsigned states) {
    return ids_time_in_both(busy, states, states);
}

/* From a first to a last moment. */
struct extent {
    int64_t first_ps, last_ps;
};

static void extend(struct extent *extent, int64_t first_ps, int64_t last_ps) {
    if (first_ps < extent->first_ps) extent->first_ps = first_ps;
    if (last_ps > extent->last_ps) extent->last_ps = last_ps;
}

/* By clock number: where hosts have no common clock, each has a window of its own. */
static struct extent *find_extents(const struct ids_analysis *analysis) {
    const struct ids_trace *trace = analysis->trace;
    struct extent *clocks = calloc((size_t)trace->clock_count + 1, sizeof *clocks);
    for (uint32_t c = 0; clocks && c < trace->clock_count; c++) clocks[c] = (struct extent){INT64_MAX, INT64_MIN};
    for (size_t i = 0; clocks && i < analysis->busy_count; i++) {
        const struct ids_busy *busy = &analysis->busy[i];
        extend(&clocks[ids_clock_of_device(trace, busy->device)], busy->first_ps, busy->last_ps);
    }
    return clocks;
}

static struct ids_busy busy_of(const struct ids_trace *trace, size_t d) {
    const struct ids_device *device = &trace->devices[d];
    return (struct ids_busy){
        .device = device, .index = (uint32_t)d, .first_ps = device->activity.at[0].start_ps, .last_ps = INT64_MIN};
}

static void find_end(void *context, size_t b) {
    struct ids_busy *busy = &((struct ids_analysis *)context)->busy[b];
    struct ids_cursor cursor = ids_cursor_over(&busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->end_ps > busy->last_ps) busy->last_ps = event->end_ps;
    }
}

/* The active devices with their first and last activity, the chosen ones before the others. */
static int list_devices(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_device *first = NULL;
    analysis->busy_count = analysis->chosen_count = 0;
    for (int is_chosen = 1; is_chosen >= 0; is_chosen--) {
        for (size_t d = 0; d < trace->device_count; d++) {
            const struct ids_device *device = &trace->devices[d];
            if (!ids_device_counts(trace, device)) continue;
            if (ids_device_is_chosen(&analysis->params, device) != is_chosen) continue;
            if (!first) first = device;
            analysis->busy[analysis->busy_count++] = busy_of(trace, d);
            analysis->chosen_count += (size_t)is_chosen;
        }
    }
    ids_parallel_events(trace->event_count, analysis->busy_count, find_end, analysis);
    if (!first || analysis->chosen_count) return 0;
    return ids_fail(err, IDS_USAGE, "no device that did anything is called '%s'; the first one is '%s'",
                    analysis->params.device, first->key);
}

/* From the begin of the first chosen step to the end of the last one. */
static void cut_to_chosen_steps(struct ids_analysis *analysis) {
    const struct ids_steps *steps = &analysis->steps;
    int64_t from_ps = INT64_MAX, to_ps = INT64_MIN;
    size_t chosen = 0;
    for (size_t i = 0; i < steps->count; i++) {
        if (!ids_step_is_chosen(analysis, i)) continue;
        if (steps->at[i].start_ps < from_ps) from_ps = steps->at[i].start_ps;
        if (steps->at[i].end_ps > to_ps) to_ps = steps->at[i].end_ps;
        chosen++;
    }
    if (!chosen || chosen + (size_t)ids_first_step_opens(steps) == steps->count) return;
    if (from_ps > analysis->start_ps) analysis->start_ps = from_ps;
    if (to_ps < analysis->end_ps) analysis->end_ps = to_ps;
}

/* Without steps the window is what was recorded, where the file says it: a device with one launch in two seconds did
 * nothing before it and behind it, and that is no time outside of the figures. */
static void extend_to_recording(const struct ids_analysis *analysis, const struct ids_busy *busy,
                                const struct ids_recorded *recordings, struct extent *extent) {
    if (analysis->steps.source != IDS_STEPS_NONE || analysis->params.window == IDS_WINDOW_DEVICE) return;
    const struct ids_recorded *recorded = &recordings[busy->device->host];
    if (ids_is_recorded(recorded)) extend(extent, recorded->from_ps, recorded->to_ps);
}

/* The run's, over all that the devices did. *ret_active: from the first to the last activity. */
static void find_run_window(struct ids_analysis *analysis, const struct ids_recorded *recordings,
                            struct extent *ret_active) {
    struct extent active = {INT64_MAX, INT64_MIN}, whole = active;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        extend(&active, busy->first_ps, busy->last_ps);
        extend_to_recording(analysis, busy, recordings, &whole);
    }
    extend(&whole, active.first_ps, active.last_ps);
    analysis->first_ps = active.first_ps;
    analysis->start_ps = whole.first_ps;
    analysis->end_ps = whole.last_ps;
    if (analysis->params.window == IDS_WINDOW_STEPS && analysis->steps.count) {
        analysis->start_ps = analysis->steps.at[0].work_ps;
        analysis->end_ps = analysis->steps.at[analysis->steps.count - 1].last_ps;
    }
    *ret_active = active;
}

/* --from and --to count from the run's first activity. */
static int cut_window(struct ids_analysis *analysis, const struct extent *active, struct ids_error *err) {
    const struct ids_params *params = &analysis->params;
    int64_t from_ps = active->first_ps, to_ps = from_ps;
    ids_sum(&from_ps, params->from_ps);
    ids_sum(&to_ps, params->to_ps);
    if (params->from_ps && from_ps > analysis->start_ps) analysis->start_ps = from_ps;
    if (to_ps < analysis->end_ps) analysis->end_ps = to_ps;
    int cut_end = analysis->end_ps < active->last_ps;
    if (analysis->end_ps > analysis->start_ps || (analysis->end_ps == analysis->start_ps && !cut_end)) return 0;
    if (params->from_ps || params->to_ps != INT64_MAX) {
        char until[IDS_VALUE_ROOM];
        ids_value_format(ids_int_value(IDS_UNIT_TIME, active->last_ps - active->first_ps), until, sizeof until);
        return ids_fail(err, IDS_USAGE, "the window is empty: the run's devices are active from 0 to %s", until);
    }
    ids_fail(err, IDS_USAGE, "the window is empty: the work of the steps takes no time");
    return ids_hint(err, "try --window run");
}

/* Others may be recorded for longer than this host: it was not idle then. */
static void cut_to_coverage(const struct ids_recorded *covered, struct extent *extent) {
    if (!ids_is_recorded(covered)) return;
    if (covered->from_ps > extent->first_ps) extent->first_ps = covered->from_ps;
    if (covered->to_ps < extent->last_ps) extent->last_ps = covered->to_ps;
}

/* That of each device, in the run's. */
static void set_device_windows(struct ids_analysis *analysis, const struct ids_recorded *recordings,
                               const struct ids_recorded *coverage, const struct extent *clocks, int cut_end) {
    for (size_t i = 0; i < analysis->busy_count; i++) {
        struct ids_busy *busy = &analysis->busy[i];
        struct extent whole = clocks[ids_clock_of_device(analysis->trace, busy->device)];
        extend_to_recording(analysis, busy, recordings, &whole);
        cut_to_coverage(&coverage[busy->device->host], &whole);
        if (analysis->params.window == IDS_WINDOW_DEVICE) whole = (struct extent){busy->first_ps, busy->last_ps};
        busy->start_ps = whole.first_ps > analysis->start_ps ? whole.first_ps : analysis->start_ps;
        busy->end_ps = whole.last_ps < analysis->end_ps ? whole.last_ps : analysis->end_ps;
        if (busy->end_ps < busy->start_ps) busy->end_ps = busy->start_ps;
        /* A moment at the run's very end counts, unless the end was cut there. */
        busy->count_end_ps = busy->end_ps + (cut_end ? 0 : 1);
    }
}

/* First and last activity of each active device, and the windows that figures are of. */
static int find_windows(struct ids_analysis *analysis, struct ids_error *err) {
    struct extent active;
    if (!analysis->trace->device_count) return 0;
    analysis->busy = calloc(analysis->trace->device_count, sizeof *analysis->busy);
    if (!analysis->busy) return ids_no_memory(err);
    int code = list_devices(analysis, err);
    if (code || !analysis->busy_count) return code;
    struct ids_recorded *recordings = ids_recordings(analysis->trace), *coverage = ids_coverage(analysis->trace);
    struct extent *clocks = NULL;
    if (!recordings || !coverage) {
        free(recordings);
        free(coverage);
        return ids_no_memory(err);
    }
    find_run_window(analysis, recordings, &active);
    cut_to_chosen_steps(analysis);
    code = cut_window(analysis, &active, err);
    if (!code && !(clocks = find_extents(analysis))) code = ids_no_memory(err);
    if (!code) set_device_windows(analysis, recordings, coverage, clocks, analysis->end_ps < active.last_ps);
    free(clocks);
    free(coverage);
    free(recordings);
    return code;
}

int ids_busy_make(struct ids_analysis *analysis, struct ids_error *err) {
    int code = ids_choice_check(analysis, err);
    if (!code) code = find_windows(analysis, err);
    return code ? code : gather_stalls(analysis, err);
}

int ids_is_kernel(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->kind == IDS_KIND_KERNEL) return 1;
    if (event->kind != IDS_KIND_OP || event->class == IDS_CLASS_COPY || event->class == IDS_CLASS_STALL) return 0;
    return event->op == IDS_NONE || (!trace->ops[event->op].marker && !trace->ops[event->op].container);
}

int64_t ids_windows_total(const struct ids_analysis *analysis) {
    int64_t total_ps = 0;
    for (size_t i = 0; i < analysis->busy_count; i++)
        ids_sum(&total_ps, analysis->busy[i].end_ps - analysis->busy[i].start_ps);
    return total_ps;
}

uint64_t ids_calls_for_devices(const struct ids_trace *trace) {
    static const enum ids_kind kinds[] = {IDS_KIND_EXECUTE, IDS_KIND_LAUNCH, IDS_KIND_DISPATCH};
    uint64_t most = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !most; k++) {
        for (size_t t = 0; t < trace->track_count; t++) {
            const struct ids_track *track = &trace->tracks[t];
            if (track->role != IDS_TRACK_HOST) continue;
            struct ids_cursor cursor = ids_cursor_over_kinds(&track->events, IDS_KINDS(kinds[k]));
            uint64_t count = 0;
            for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
                const struct ids_event *outside = ids_event_outside(trace, event);
                count += event->kind == kinds[k] && (!outside || outside->kind != kinds[k]);
            }
            if (count > most) most = count;
        }
    }
    return most;
}

const char *ids_no_activity_reason(const struct ids_analysis *analysis) {
    if (!analysis->trace->complete) return "the file is cut, and the part that is left holds no device activity";
    for (size_t i = 0; i < analysis->trace->diag_count; i++) {
        if (!strcmp(analysis->trace->diags[i].id, "chrome.category"))
            return "no event of this trace is known to be a device's; the ledger names categories that idsprof does "
                   "not know";
    }
    if (analysis->trace->held_count && !analysis->trace->track_count)
        return "a device memory profile says what lives at one moment, and holds no times";
    if (ids_has_ranges(analysis->trace))
        return "a profiler of counters made this recording: it has kernels in order, and not how long they took";
    if (ids_calls_for_devices(analysis->trace))
        return "the device's events are missing: the host recorded calls that gave it work, and nothing that it did";
    return analysis->trace->device_count ? "no event of a device is in this trace: every device plane is empty"
                                         : "no event of a device is in this trace: only host events were recorded";
}

void ids_metrics_missing(struct ids_report *report, const struct ids_metric_def *metrics, int count, const char *why) {
    for (int i = 0; i < count; i++) {
        if (!ids_report_find(report, metrics[i].id, NULL)) {
            ids_report_no_data(report, metrics[i].id, metrics[i].unit, NULL, "%s", why);
        }
    }
}
