/* gaps.c - when a device did nothing, and why: the first rule that holds (metrics.md, idle gaps). */
#include "lib/analysis/context.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { DEEDS = IDS_LATE_PYTHON + 1 };

const char *ids_cause_name(enum ids_cause cause) {
    static const char *const names[IDS_CAUSE_COUNT] = {
        [IDS_LATE_COMPILE] = "host late: compile",
        [IDS_LATE_STAGING] = "host late: transfer staging",
        [IDS_LATE_SYNC] = "host late: sync wait",
        [IDS_LATE_INPUT] = "host late: input",
        [IDS_LATE_PYTHON] = "host late: Python",
        [IDS_LATE_LAUNCH_BOUND] = "host late: launch-bound",
        [IDS_LATE_NOT_RECORDED] = "host late: not recorded",
        [IDS_IN_PROGRAM] = "in-program dependency",
        [IDS_COLLECTIVE_WAIT] = "collective wait",
        [IDS_TRANSFER_WAIT] = "transfer wait",
        [IDS_QUEUE] = "queue",
        [IDS_NOT_RECORDED] = "not recorded",
    };
    return (unsigned)cause < IDS_CAUSE_COUNT ? names[cause] : "not recorded";
}

/* The late cause that a host event stands for; DEEDS for none. */
static int deed_of(const struct ids_event *event) {
    switch (event->kind) {
    case IDS_KIND_COMPILE:
    case IDS_KIND_LOWER:
    case IDS_KIND_TRACE:
    case IDS_KIND_AUTOTUNE:
    case IDS_KIND_CACHE_READ:
    case IDS_KIND_CACHE_WRITE:
        return IDS_LATE_COMPILE;
    case IDS_KIND_STAGING:
    case IDS_KIND_TRANSFER:
        return IDS_LATE_STAGING;
    case IDS_KIND_SYNC:
        return IDS_LATE_SYNC;
    case IDS_KIND_INPUT:
        return IDS_LATE_INPUT;
    case IDS_KIND_PYTHON:
        return IDS_LATE_PYTHON;
    default:
        return DEEDS;
    }
}

static int gather_deeds(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    if (!trace->track_count) return 0;
    analysis->deeds = calloc(trace->track_count * DEEDS, sizeof *analysis->deeds);
    analysis->staging = calloc(trace->host_count, sizeof *analysis->staging);
    if (!analysis->deeds || !analysis->staging) return ids_no_memory(err);
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_spans *deeds = &analysis->deeds[t * DEEDS];
        int is_told = ids_track_is_told(trace, &trace->tracks[t]);
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            int deed = deed_of(event);
            if (deed < DEEDS) ids_spans_add(&deeds[deed], event->start_ps, event->end_ps);
            /* What jax.monitoring told lies on a track of its own and points to the thread that did it. */
            if (is_told && event->launch && deed < DEEDS)
                ids_spans_add(&analysis->deeds[(size_t)event->launch->track * DEEDS + (size_t)deed], event->start_ps,
                              event->end_ps);
            if (deed == IDS_LATE_STAGING)
                ids_spans_add(&analysis->staging[trace->tracks[t].host], event->start_ps, event->end_ps);
        }
    }
    for (size_t i = 0; i < trace->track_count * DEEDS; i++) {
        if (ids_spans_unite(&analysis->deeds[i])) return ids_no_memory(err);
    }
    for (size_t h = 0; h < trace->host_count; h++) {
        if (ids_spans_unite(&analysis->staging[h])) return ids_no_memory(err);
    }
    return 0;
}

/* The threads that had a part in a launch: the launching one, and those whose events caused it. */
enum { THREADS = 8 };
static int threads_of(const struct ids_trace *trace, const struct ids_event *launch, uint32_t ret_tracks[THREADS]) {
    int count = 0;
    for (int hops = 0; launch && hops < THREADS; hops++) {
        int known = 0;
        for (int i = 0; i < count; i++) known |= ret_tracks[i] == launch->track;
        if (!known) ret_tracks[count++] = launch->track;
        launch = ids_event_cause(trace, launch);
    }
    return count;
}

/* How much of [from, to) the threads spent in the deed: the thread that did most. */
static int64_t deed_cover(const struct ids_analysis *analysis, const uint32_t *tracks, int count, int deed,
                          int64_t from_ps, int64_t to_ps) {
    int64_t most_ps = 0;
    for (int i = 0; i < count; i++) {
        int64_t cover_ps = ids_spans_cover(&analysis->deeds[(size_t)tracks[i] * DEEDS + (size_t)deed], from_ps, to_ps);
        if (cover_ps > most_ps) most_ps = cover_ps;
    }
    return most_ps;
}

static int is_small(const struct ids_analysis *analysis, const struct ids_event *event) {
    return (event->kind == IDS_KIND_KERNEL || event->kind == IDS_KIND_OP) &&
           event->end_ps - event->start_ps < analysis->params.small_kernel_ps;
}

/* The host came late: by what it did between the gap's start and the launch. */
static enum ids_cause late_cause(const struct ids_analysis *analysis, const struct ids_gap *gap) {
    const struct ids_event *launch = gap->next->launch;
    int64_t from_ps = gap->start_ps, to_ps = launch->start_ps < gap->end_ps ? launch->start_ps : gap->end_ps;
    uint32_t tracks[THREADS];
    int count = threads_of(analysis->trace, launch, tracks);
    int best = DEEDS;
    int64_t best_ps = 0;
    for (int deed = 0; deed < IDS_LATE_PYTHON; deed++) {
        int64_t cover_ps = deed_cover(analysis, tracks, count, deed, from_ps, to_ps);
        if (cover_ps > best_ps) {
            best = deed;
            best_ps = cover_ps;
        }
    }
    if (best < DEEDS && best_ps >= to_ps - from_ps - best_ps) return (enum ids_cause)best;
    if (gap->previous && gap->previous->launch && gap->previous->launch->track == launch->track &&
        is_small(analysis, gap->previous) && is_small(analysis, gap->next))
        return IDS_LATE_LAUNCH_BOUND;
    /* The runtime stages on pool threads, and no event ties them to the launch that waits for the data. */
    int64_t staging_ps =
        ids_spans_cover(&analysis->staging[analysis->trace->tracks[launch->track].host], from_ps, to_ps);
    if (staging_ps > 0 && staging_ps >= to_ps - from_ps - staging_ps) return IDS_LATE_STAGING;
    int64_t python_ps = deed_cover(analysis, tracks, count, IDS_LATE_PYTHON, from_ps, to_ps);
    return python_ps > 0 && python_ps >= to_ps - from_ps - python_ps ? IDS_LATE_PYTHON : IDS_LATE_NOT_RECORDED;
}

/* The execution of a program that a launch is part of, NULL when that was not recorded. */
static const struct ids_event *execution_of(const struct ids_trace *trace, const struct ids_event *launch) {
    while (launch && launch->kind != IDS_KIND_EXECUTE) launch = ids_event_outside(trace, launch);
    return launch;
}

static int same_program(const struct ids_trace *trace, const struct ids_event *a, const struct ids_event *b) {
    if (a->run_id && a->run_id == b->run_id) return 1;
    if (!a->launch || !b->launch) return 0;
    if (a->launch == b->launch) return 1;
    const struct ids_event *execution = execution_of(trace, a->launch);
    return execution && execution == execution_of(trace, b->launch);
}

/* The TPU module that the whole gap lies in. */
static int inside_module(const struct ids_device *device, const struct ids_gap *gap) {
    struct ids_cursor before =
        ids_cursor_between(&device->modules, INT64_MIN, gap->start_ps == INT64_MAX ? INT64_MAX : gap->start_ps + 1);
    if (before.at == before.end) return 0;
    const struct ids_event *module = before.end - 1;
    return module->end_ps >= gap->end_ps;
}

static enum ids_cause cause_of(const struct ids_analysis *analysis, const struct ids_gap *gap) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_busy *busy = &analysis->busy[gap->busy];
    int64_t length_ps = gap->end_ps - gap->start_ps;
    if (!gap->next) return IDS_NOT_RECORDED;
    if (inside_module(busy->device, gap)) {
        int64_t barrier_ps = ids_spans_cover(&busy->barrier, gap->start_ps, gap->end_ps);
        return barrier_ps > 0 && barrier_ps >= length_ps - barrier_ps ? IDS_COLLECTIVE_WAIT : IDS_IN_PROGRAM;
    }
    if (!gap->next->launch) return IDS_NOT_RECORDED;
    if (gap->next->launch->start_ps > gap->start_ps) return late_cause(analysis, gap);
    int64_t async_ps = ids_spans_cover(&busy->async_copy, gap->start_ps, gap->end_ps);
    if (async_ps > 0 && async_ps >= length_ps - async_ps) return IDS_TRANSFER_WAIT;
    if (gap->next->class == IDS_CLASS_COLLECTIVE) return IDS_COLLECTIVE_WAIT;
    return gap->previous && same_program(trace, gap->previous, gap->next) ? IDS_IN_PROGRAM : IDS_QUEUE;
}

static int add_gap(struct ids_analysis *analysis, uint32_t busy, int64_t start_ps, int64_t end_ps,
                   const struct ids_event *previous, const struct ids_event *next, struct ids_error *err) {
    if (end_ps <= start_ps) return 0;
    struct ids_gap *gap = IDS_PUSH(analysis->gaps, analysis->gap_count, analysis->gap_room);
    if (!gap) return ids_no_memory(err);
    *gap = (struct ids_gap){start_ps, end_ps, previous, next, busy, 0};
    gap->cause = (uint8_t)cause_of(analysis, gap);
    return 0;
}

static int find_gaps(struct ids_analysis *analysis, uint32_t index, struct ids_error *err) {
    const struct ids_busy *busy = &analysis->busy[index];
    const struct ids_event *last = NULL; /* the activity that has ended latest so far */
    int64_t free_ps = busy->start_ps;    /* since when nothing runs */
    struct ids_cursor cursor = ids_cursor_over(&busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->end_ps <= free_ps && event->end_ps > event->start_ps) {
            if (!last || event->end_ps > last->end_ps) last = event;
            continue;
        }
        if (event->end_ps == event->start_ps) continue; /* a moment is no activity */
        if (event->start_ps >= busy->end_ps) {
            int code = add_gap(analysis, index, free_ps, busy->end_ps, last, event, err);
            return code;
        }
        int code = add_gap(analysis, index, free_ps, event->start_ps, last, event, err);
        if (code) return code;
        free_ps = event->end_ps;
        last = event;
    }
    return add_gap(analysis, index, free_ps, busy->end_ps, last, NULL, err);
}

int ids_gaps_make(struct ids_analysis *analysis, struct ids_error *err) {
    int code = gather_deeds(analysis, err);
    for (uint32_t i = 0; i < analysis->busy_count && !code; i++) {
        analysis->busy[i].first_gap = analysis->gap_count;
        code = find_gaps(analysis, i, err);
        analysis->busy[i].gap_count = analysis->gap_count - analysis->busy[i].first_gap;
    }
    return code;
}

/* Looks at one event for ids_gap_evidence. */
static void weigh(const struct ids_event *event, int deed, int64_t from_ps, int64_t to_ps,
                  const struct ids_event **best, int64_t *best_ps) {
    int64_t start_ps = event->start_ps > from_ps ? event->start_ps : from_ps;
    int64_t end_ps = event->end_ps < to_ps ? event->end_ps : to_ps;
    if (deed_of(event) != deed || end_ps - start_ps <= *best_ps) return;
    *best = event;
    *best_ps = end_ps - start_ps;
}

const struct ids_event *ids_gap_evidence(const struct ids_analysis *analysis, const struct ids_gap *gap) {
    if (!gap->next || !gap->next->launch || gap->cause > IDS_LATE_PYTHON) return NULL;
    const struct ids_trace *trace = analysis->trace;
    const struct ids_event *launch = gap->next->launch, *best = NULL;
    int64_t from_ps = gap->start_ps, to_ps = launch->start_ps < gap->end_ps ? launch->start_ps : gap->end_ps;
    int64_t best_ps = 0;
    uint32_t tracks[THREADS];
    int count = threads_of(trace, launch, tracks);
    for (int i = 0; i < count; i++) {
        const struct ids_track *track = &trace->tracks[tracks[i]];
        const struct ids_event *around = ids_track_at(track, from_ps);
        for (; around; around = ids_event_outside(trace, around)) {
            weigh(around, gap->cause, from_ps, to_ps, &best, &best_ps);
        }
        struct ids_cursor cursor = ids_cursor_between(&track->events, from_ps, to_ps);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            weigh(event, gap->cause, from_ps, to_ps, &best, &best_ps);
        }
    }
    return best;
}

void ids_analysis_done(struct ids_analysis *analysis) {
    size_t tracks = analysis->trace->track_count;
    for (size_t i = 0; i < analysis->busy_count; i++) ids_busy_done(&analysis->busy[i]);
    for (size_t t = 0; analysis->stalls && t < tracks; t++) ids_spans_done(&analysis->stalls[t]);
    for (size_t t = 0; analysis->deeds && t < tracks * DEEDS; t++) ids_spans_done(&analysis->deeds[t]);
    for (size_t h = 0; analysis->staging && h < analysis->trace->host_count; h++) ids_spans_done(&analysis->staging[h]);
    free(analysis->busy);
    free(analysis->stalls);
    free(analysis->deeds);
    free(analysis->staging);
    free(analysis->tellers);
    free(analysis->gaps);
    free(analysis->steps.at);
    free(analysis->steps.place);
    for (size_t d = 0; analysis->steps.of_activity && d < analysis->trace->device_count; d++)
        free(analysis->steps.of_activity[d]);
    free(analysis->steps.of_activity);
    ids_keymap_done(&analysis->steps.of_host_event);
}
