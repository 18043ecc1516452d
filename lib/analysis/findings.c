/* findings.c - the findings about single events, for callers that need rows instead of sums. */
#include "lib/analysis/context.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

static uint32_t number_of(const struct ids_analysis *analysis, const struct ids_step *step) {
    return step ? (uint32_t)(step - analysis->steps.at) + 1 : 0;
}

/* The work that is open on one track, innermost last: as in busy.c. */
struct lane {
    uint32_t *stack; /* index + 1 in findings->work */
    size_t depth, room;
};

/* What follows on one launch comes together, so each is kept about once. */
static int note_launch(struct ids_findings *findings, struct ids_found_work *work) {
    const struct ids_event *launch = work->event->launch;
    if (!launch) return 0;
    if (!findings->launch_count || findings->launches[findings->launch_count - 1] != launch) {
        const struct ids_event **added = IDS_PUSH(findings->launches, findings->launch_count, findings->launch_room);
        if (!added) return -1;
        *added = launch;
    }
    work->launch = (uint32_t)findings->launch_count;
    return 0;
}

static int put_work(const struct ids_analysis *analysis, struct ids_findings *findings, struct lane *lanes,
                    const struct ids_event *event) {
    struct lane *lane = &lanes[event->track];
    while (lane->depth) {
        const struct ids_event *open = findings->work[lane->stack[lane->depth - 1] - 1].event;
        if (open->end_ps >= event->end_ps && open->end_ps > event->start_ps) break;
        lane->depth--;
    }
    struct ids_found_work *work = IDS_PUSH(findings->work, findings->work_count, findings->work_room);
    if (!work) return -1;
    *work = (struct ids_found_work){.event = event,
                                    .around = lane->depth ? lane->stack[lane->depth - 1] : 0,
                                    .step = number_of(analysis, ids_step_of_device_event(analysis, event)),
                                    .cause = IDS_NO_CAUSE};
    if (note_launch(findings, work)) return -1;
    uint32_t *open = IDS_PUSH(lane->stack, lane->depth, lane->room);
    if (!open) return -1;
    *open = (uint32_t)findings->work_count;
    return 0;
}

static int put_beside(const struct ids_analysis *analysis, struct ids_findings *findings,
                      const struct ids_event *event) {
    struct ids_found_work *work = IDS_PUSH(findings->work, findings->work_count, findings->work_room);
    if (!work) return -1;
    *work = (struct ids_found_work){.event = event,
                                    .step = number_of(analysis, ids_step_of_device_event(analysis, event)),
                                    .beside = 1,
                                    .cause = IDS_NO_CAUSE};
    return note_launch(findings, work);
}

/* `lanes`: one for each track, all empty, and so again afterwards. */
static int put_device(const struct ids_analysis *analysis, struct ids_findings *findings, struct lane *lanes,
                      const struct ids_device *device) {
    int failed = 0;
    struct ids_cursor cursor = ids_cursor_over(&device->activity);
    for (const struct ids_event *event; !failed && (event = ids_cursor_next(&cursor));)
        failed = put_work(analysis, findings, lanes, event);
    cursor = ids_cursor_over(&device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) lanes[event->track].depth = 0;
    cursor = ids_cursor_over(&device->async);
    for (const struct ids_event *event; !failed && (event = ids_cursor_next(&cursor));)
        failed = put_beside(analysis, findings, event);
    return failed;
}

/* A gap as long as the work has no places yet: it goes to the work that ends it. */
struct gap {
    int64_t idle_ps;
    uint32_t next; /* index in the device's activity; IDS_NONE: the gap is behind the last work */
    uint8_t cause;
};

/* What is taken while devices are swept. */
struct taking {
    const struct ids_analysis *analysis;
    struct ids_findings *findings;
    struct gap *gaps; /* by device */
    size_t gap_count, gap_room;
    size_t *first_gap; /* by index of analysis->busy, and one more for the end */
    int failed;
};

int ids_findings_take_gaps(struct ids_findings_taking *opaque, uint32_t b) {
    struct taking *taking = (struct taking *)opaque;
    const struct ids_analysis *analysis = taking->analysis;
    const struct ids_busy *busy = &analysis->busy[b];
    for (size_t g = 0; g < busy->gap_count; g++) {
        const struct ids_gap *gap = &busy->gaps[g];
        struct gap *taken = IDS_PUSH(taking->gaps, taking->gap_count, taking->gap_room);
        if (!taken) return -1;
        int is_ended = gap->next && gap->next->start_ps == gap->end_ps;
        *taken = (struct gap){
            .idle_ps = gap->end_ps - gap->start_ps,
            .next = is_ended ? (uint32_t)(gap->next - busy->device->activity.at) : IDS_NONE,
            .cause = gap->entry == IDS_NONE ? IDS_DEVICE_UNKNOWN : analysis->ledger.entries[gap->entry].account,
        };
    }
    taking->first_gap[b + 1] = taking->gap_count;
    return 0;
}

/* `first`: the device's first work. */
static void put_gaps(const struct taking *taking, uint32_t b, size_t first) {
    struct ids_findings *findings = taking->findings;
    struct ids_found_device *device = &findings->devices[taking->analysis->busy[b].index];
    for (size_t g = taking->first_gap[b]; g < taking->first_gap[b + 1]; g++) {
        const struct gap *gap = &taking->gaps[g];
        if (gap->next == IDS_NONE) {
            device->idle_ps = gap->idle_ps;
            device->cause = gap->cause;
            continue;
        }
        findings->work[first + gap->next].idle_ps = gap->idle_ps;
        findings->work[first + gap->next].cause = gap->cause;
    }
}

static int put_devices(const struct taking *taking) {
    const struct ids_analysis *analysis = taking->analysis;
    const struct ids_trace *trace = analysis->trace;
    struct ids_findings *findings = taking->findings;
    struct lane *lanes = calloc(trace->track_count + 1, sizeof *lanes);
    size_t room = 1;
    for (size_t d = 0; d < trace->device_count; d++)
        room += trace->devices[d].activity.count + trace->devices[d].async.count;
    findings->work = ids_vec_new(room, sizeof *findings->work);
    findings->work_room = findings->work ? room : 0;
    int failed = !lanes || !findings->work;
    uint32_t b = 0; /* of those that are active, which are in the order of all */
    for (size_t d = 0; d < trace->device_count && !failed; d++) {
        size_t first = findings->work_count;
        findings->devices[d] = (struct ids_found_device){.cause = IDS_NO_CAUSE, .first_work = first};
        failed = put_device(analysis, findings, lanes, &trace->devices[d]);
        if (failed || b == analysis->busy_count || analysis->busy[b].index != d) continue;
        findings->devices[d].active = 1;
        findings->devices[d].start_ps = analysis->busy[b].start_ps;
        findings->devices[d].end_ps = analysis->busy[b].end_ps;
        put_gaps(taking, b++, first);
    }
    for (size_t t = 0; lanes && t < trace->track_count; t++) free(lanes[t].stack);
    free(lanes);
    return failed;
}

/* Events that figures are made from, or that describe a thread. Launches are in the table flow. Stalls are known by
 * their names, and are too many for a row each: the CPU client writes several for each op in which it waits. */
static int is_host_activity(const struct ids_event *event) {
    switch (event->kind) {
    case IDS_KIND_STEP_MARK:
    case IDS_KIND_COMPILE:
    case IDS_KIND_LOWER:
    case IDS_KIND_TRACE:
    case IDS_KIND_AUTOTUNE:
    case IDS_KIND_CACHE_READ:
    case IDS_KIND_CACHE_WRITE:
    case IDS_KIND_CACHE_HIT:
    case IDS_KIND_CACHE_MISS:
    case IDS_KIND_RECOMPILE:
    case IDS_KIND_SYNC:
    case IDS_KIND_TRANSFER:
    case IDS_KIND_STAGING:
    case IDS_KIND_INPUT:
        return 1;
    default:
        return 0;
    }
}

/* Of what compiling consists of, only what counts is a host_activity; of compilations all are, for their time is one
 * union. */
static int is_said_again(const struct ids_analysis *analysis, const struct ids_event *event) {
    if (event->kind != IDS_KIND_LOWER && event->kind != IDS_KIND_TRACE && event->kind != IDS_KIND_CACHE_READ) return 0;
    return ids_is_retold(analysis, event);
}

static int put_host_activitys(const struct ids_analysis *analysis, struct ids_findings *findings) {
    const struct ids_trace *trace = analysis->trace;
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (!is_host_activity(event) || is_said_again(analysis, event)) continue;
            struct ids_found_host_activity *host_activity =
                IDS_PUSH(findings->host_activities, findings->host_activity_count, findings->host_activity_room);
            if (!host_activity) return -1;
            *host_activity = (struct ids_found_host_activity){.event = event};
            if (event->kind != IDS_KIND_COMPILE) continue;
            host_activity->step = number_of(analysis, ids_step_of_host_event(analysis, event));
            host_activity->function = ids_compiled_function(trace, event);
            host_activity->part = (uint8_t)(ids_is_retold(analysis, event) || ids_is_part_of_compilation(trace, event));
        }
    }
    return 0;
}

static int put_steps(const struct ids_analysis *analysis, struct ids_findings *findings) {
    const struct ids_steps *steps = &analysis->steps;
    static const char *const sources[] = {NULL, "marker", "annotation", "period"};
    findings->step_source = sources[steps->source];
    findings->has_left_out = steps->has_left_out;
    findings->left_out = steps->left_out;
    findings->steps = calloc(steps->count + 1, sizeof *findings->steps);
    if (!findings->steps) return -1;
    for (size_t s = 0; s < steps->count; s++) {
        const struct ids_step *step = &steps->at[s];
        findings->steps[findings->step_count++] =
            (struct ids_found_step){step->number, step->start_ps, step->end_ps, step->host_start_ps, step->host_end_ps};
    }
    return 0;
}

static int put_device_steps(const struct ids_analysis *analysis, struct ids_findings *findings) {
    for (size_t b = 0; b < analysis->busy_count && analysis->steps.count; b++) {
        const struct ids_device_steps *own = &analysis->steps.of_device[analysis->busy[b].index];
        for (size_t i = 0; i < own->count; i++) {
            if (own->at[i].step == IDS_NONE) continue;
            struct ids_found_device_step *step =
                IDS_PUSH(findings->device_steps, findings->device_step_count, findings->device_step_room);
            if (!step) return -1;
            *step = (struct ids_found_device_step){analysis->busy[b].index, own->at[i].step, own->at[i].from_ps,
                                                   own->at[i].to_ps};
        }
    }
    return 0;
}

static struct ids_text copy_text(struct ids_findings *findings, struct ids_text text, int *failed) {
    const char *copy = ids_arena_copy(&findings->texts, text.at, text.length);
    *failed |= !copy;
    return (struct ids_text){copy, copy ? text.length : 0};
}

static int put_culprits(const struct ids_analysis *analysis, struct ids_findings *findings) {
    const struct ids_ledger *ledger = &analysis->ledger;
    int failed = 0;
    findings->culprits = calloc(ledger->entry_count + 1, sizeof *findings->culprits);
    if (!findings->culprits) return -1;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        findings->culprits[findings->culprit_count++] =
            (struct ids_found_culprit){copy_text(findings, ids_strings_text(&ledger->texts, entry->culprit), &failed),
                                       copy_text(findings, ids_strings_text(&ledger->texts, entry->where), &failed),
                                       entry->account, entry->intervals};
    }
    return failed;
}

/* ---- the intervals as they come ---- */

static int take_interval(void *context, const struct ids_ledger_interval *interval, struct ids_error *err) {
    const struct taking *taking = context;
    const struct ids_busy *busy = &taking->analysis->busy[interval->busy];
    const struct ids_events *activity = &busy->device->activity;
    const struct ids_event *event = interval->event;
    int is_of_device = event && event >= activity->at && event < activity->at + activity->count;
    const struct ids_found_interval found = {
        .from_ps = interval->from_ps,
        .to_ps = interval->to_ps,
        .culprit = interval->entry,
        .event = is_of_device ? (uint32_t)(event - activity->at) + 1 : 0,
        .step = interval->step == IDS_NONE ? 0 : interval->step + 1,
        .device = busy->index,
        .state = (uint16_t)interval->state,
        .account = (uint8_t)interval->account,
        .known = (uint8_t)interval->known,
    };
    return ids_found_intervals_add(&taking->findings->intervals[interval->busy], &found) ? ids_no_memory(err) : 0;
}

/* Those of a device are named in the order in which they came. */
static void name_interval(void *context, uint32_t busy, size_t interval, uint32_t entry) {
    struct taking *taking = context;
    (void)interval;
    taking->failed |= ids_found_intervals_name(&taking->findings->intervals[busy], entry);
}

static int renumber(void *context, uint32_t from, uint32_t to, const uint32_t *numbers, size_t count) {
    const struct taking *taking = context;
    struct ids_findings *findings = taking->findings;
    uint32_t *kept = malloc((count + 1) * sizeof *kept);
    uint32_t **place =
        kept ? IDS_PUSH(findings->culprit_numbers, findings->culprit_numbers_count, findings->culprit_numbers_room)
             : NULL;
    if (!place) {
        free(kept);
        return -1;
    }
    *place = memcpy(kept, numbers, count * sizeof *kept);
    for (uint32_t b = from; b < to; b++) findings->intervals[b].culprits = kept;
    return 0;
}

static void forget_intervals(void *context, uint32_t busy) {
    const struct taking *taking = context;
    ids_found_intervals_done(&taking->findings->intervals[busy]);
}

int ids_findings_begin(const struct ids_analysis *analysis, struct ids_findings *findings,
                       struct ids_findings_taking **ret_taking, struct ids_ledger_visitor *ret_visitor,
                       struct ids_error *err) {
    struct taking *taking = calloc(1, sizeof *taking);
    if (!taking) return ids_no_memory(err);
    *taking = (struct taking){.analysis = analysis, .findings = findings};
    taking->first_gap = calloc(analysis->busy_count + 1, sizeof *taking->first_gap);
    *findings = (struct ids_findings){.intervals = calloc(analysis->busy_count + 1, sizeof *findings->intervals),
                                      .interval_lists = analysis->busy_count};
    if (!taking->first_gap || !findings->intervals) {
        free(taking->first_gap);
        free(taking);
        free(findings->intervals);
        *findings = (struct ids_findings){0};
        return ids_no_memory(err);
    }
    *ret_taking = (struct ids_findings_taking *)taking;
    *ret_visitor = (struct ids_ledger_visitor){take_interval, name_interval, renumber, forget_intervals, taking};
    return 0;
}

static int put_peaks(const struct ids_analysis *analysis, struct ids_findings *findings) {
    if (!analysis->costs.of_op) return 0; /* nothing goes by them */
    findings->peaks = calloc(analysis->busy_count * IDS_MULTIPLIERS + 1, sizeof *findings->peaks);
    for (size_t b = 0; findings->peaks && b < analysis->busy_count; b++) {
        struct ids_peaks peaks = ids_peaks_of(analysis->trace, analysis->busy[b].device, &analysis->params);
        for (int m = 0; m < IDS_MULTIPLIERS; m++) {
            if (peaks.flops[m] <= 0 && peaks.bandwidth <= 0) continue;
            findings->peaks[findings->peak_count++] =
                (struct ids_found_peak){.device = analysis->busy[b].index,
                                        .multiplies = ids_multiplier_name((enum ids_multiplier)m),
                                        .flops = peaks.flops[m],
                                        .bandwidth = peaks.bandwidth};
        }
    }
    return findings->peaks ? 0 : -1;
}

int ids_findings_end(struct ids_findings_taking *opaque, int make, struct ids_error *err) {
    struct taking *taking = (struct taking *)opaque;
    if (!taking) return 0;
    const struct ids_analysis *analysis = taking->analysis;
    struct ids_findings *findings = taking->findings;
    int failed = taking->failed;
    if (make && !failed) {
        findings->devices = calloc(analysis->trace->device_count + 1, sizeof *findings->devices);
        failed = !findings->devices || put_steps(analysis, findings) || put_device_steps(analysis, findings) ||
                 put_culprits(analysis, findings) || put_peaks(analysis, findings);
        findings->device_count = analysis->trace->device_count;
        failed = failed || put_devices(taking) || put_host_activitys(analysis, findings);
    }
    if (failed || !make) ids_findings_done(findings);
    free(taking->gaps);
    free(taking->first_gap);
    free(taking);
    return failed ? ids_no_memory(err) : 0;
}
