/* step_launches.c - which annotated step each piece of device work belongs to: by its launch, never by time (with
 * asynchronous dispatch a step's annotation is over before the device begins). */
#include "lib/analysis/step_sources.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A long way is climbed once: a damaged file may have it at every launch. */
static int step_of_launch(struct ids_analysis *analysis, const struct ids_event *event, uint64_t *ret_made,
                          struct ids_error *err) {
    const struct ids_event *launch = event->launch;
    int far, is_of_cpu = analysis->trace->devices[event->device].kind == IDS_DEVICE_CPU;
    *ret_made = ids_step_made_around(analysis, launch, &far);
    if (*ret_made) *(far & 2 || (is_of_cpu && !event->run_id) ? &analysis->steps.linked : &analysis->steps.called) += 1;
    return far & 1 && ids_keymap_add(&analysis->steps.of_host_event, (uint64_t)(uintptr_t)launch, *ret_made) < 0
               ? ids_no_memory(err)
               : 0;
}

static int earlier_there(const void *a, const void *b) {
    const struct ids_device_step *left = a, *right = b;
    if (left->from_ps != right->from_ps) return left->from_ps < right->from_ps ? -1 : 1;
    return (left->step > right->step) - (left->step < right->step);
}

/* Finds each step's first and last work on a device; `step` is ids_step.made until the steps are in order. */
struct finding {
    struct ids_device_steps *own;
    struct ids_keymap places; /* of steps in own->at, by made + 1 */
    uint64_t place, made;     /* of the event before; made 0: it is of no step */
};

static int add_work(struct finding *finding, const struct ids_event *event, uint64_t made) {
    struct ids_device_steps *own = finding->own;
    int is_same = made == finding->made; /* as mostly */
    finding->made = made;
    if (!made) return 0;
    if (is_same || ids_keymap_get(&finding->places, made, &finding->place)) {
        struct ids_device_step *step = &own->at[finding->place];
        if (event->end_ps > step->to_ps) step->to_ps = event->end_ps;
        return 0;
    }
    finding->place = own->count;
    struct ids_device_step *fresh = IDS_PUSH(own->at, own->count, own->room);
    if (!fresh || ids_keymap_add(&finding->places, made, finding->place) < 0) return -1;
    *fresh = (struct ids_device_step){(uint32_t)(made - 1), event->start_ps, event->end_ps};
    return 0;
}

/* A step that was running may have launched all its work before the window opened: it has none here, and ends where the
 * first work of the others begins, or on the host. */
static int begin_with_running(struct ids_steps *steps, uint32_t host, struct ids_device_steps *own) {
    uint64_t place;
    if (!steps->has_running || !own->count || own->at[0].step == steps->made_running) return 0;
    if (!ids_keymap_get(&steps->marks, ids_step_mark_key(steps->made_running, host), &place)) return 0;
    int64_t end_ps = steps->mark[place].end_ps < own->at[0].from_ps ? steps->mark[place].end_ps : own->at[0].from_ps;
    if (!IDS_PUSH(own->at, own->count, own->room)) return -1;
    memmove(own->at + 1, own->at, (own->count - 1) * sizeof *own->at);
    own->at[0] = (struct ids_device_step){steps->made_running, end_ps, end_ps};
    ids_step_stretch(&steps->at[steps->made_running], own->at[1].from_ps, own->at[1].from_ps);
    return 0;
}

/* Where the first step begins at the earliest: what is done before is of the step that was not recorded. */
static int64_t after_backlog(const struct ids_step_backlog *backlog, int64_t from_ps,
                             const struct ids_device_step *step) {
    int64_t ahead_ps = backlog->ahead_ps < step->from_ps ? backlog->ahead_ps : step->from_ps;
    int64_t queued_ps = backlog->queued_ps < step->to_ps ? backlog->queued_ps : step->to_ps;
    if (ahead_ps > from_ps) from_ps = ahead_ps;
    return queued_ps > from_ps ? queued_ps : from_ps;
}

/* From first and last work to steps without a hole between them. Work of a step that runs beside that of the one before
 * (a batch copied ahead) does not begin it: otherwise it would begin wherever the copying thread happened to be. */
static void tile(const struct ids_steps *steps, uint32_t host, const struct ids_step_backlog *backlog,
                 struct ids_device_steps *own) {
    int64_t last_ps = INT64_MIN; /* end of the work of all steps so far */
    for (size_t i = 0; i < own->count; i++) {
        struct ids_device_step *step = &own->at[i];
        int64_t work_ps = step->from_ps, end_ps = step->to_ps, from_ps = i ? last_ps : work_ps;
        uint64_t place;
        if (ids_keymap_get(&steps->marks, ids_step_mark_key(step->step, host), &place)) {
            int64_t mark_ps = steps->mark[place].start_ps < work_ps ? steps->mark[place].start_ps : work_ps;
            if (!i || mark_ps > from_ps) from_ps = mark_ps;
            /* Of a step that was running, what was launched before the window is its own. */
            int has_backlog = !i && !(steps->has_running && step->step == steps->made_running);
            if (has_backlog) from_ps = after_backlog(backlog, from_ps, step);
            if (i + 1 == own->count && steps->mark[place].end_ps > end_ps) end_ps = steps->mark[place].end_ps;
        }
        if (step->to_ps > last_ps) last_ps = step->to_ps;
        step->from_ps = from_ps;
        step->to_ps = end_ps > last_ps ? end_ps : last_ps;
        if (i) own->at[i - 1].to_ps = from_ps;
    }
}

/* To made[] goes the step of each event of the device, ids_step.made + 1. */
static int by_launch(struct ids_analysis *analysis, const struct ids_events *activity, uint32_t *made,
                     struct finding *finding, struct ids_error *err) {
    struct ids_steps *steps = &analysis->steps;
    const struct ids_event *launch = NULL;
    uint64_t step = 0;
    for (size_t i = 0; i < activity->count; i++) { /* millions, so all that each needs at once */
        const struct ids_event *event = &activity->at[i];
        if (!event->launch) step = 0;
        int code = event->launch && event->launch != launch ? step_of_launch(analysis, event, &step, err) : 0;
        if (code) return code;
        launch = event->launch;
        made[i] = (uint32_t)step;
        if (step) ids_step_stretch(&steps->at[step - 1], event->start_ps, event->end_ps);
        *(step ? &steps->assigned : &steps->unassigned) += 1;
        if (step) ids_sum(&steps->assigned_ps, event->end_ps - event->start_ps);
        if (!event->launch) {
            steps->launchless++;
            ids_sum(&steps->launchless_ps, event->end_ps - event->start_ps);
        }
        if (add_work(finding, event, step)) return ids_no_memory(err);
    }
    return 0;
}

int ids_steps_by_launch(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    steps->of_activity = calloc(trace->device_count + 1, sizeof *steps->of_activity);
    if (!steps->of_activity) return ids_no_memory(err);
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_events *activity = &trace->devices[d].activity;
        struct ids_device_steps *own = &steps->of_device[d];
        struct finding finding = {.own = own};
        if (!ids_device_counts(trace, &trace->devices[d])) continue;
        ids_events_turn(activity);
        uint32_t *made = steps->of_activity[d] = calloc(activity->count + 1, sizeof *made);
        if (!made) return ids_no_memory(err);
        int code = by_launch(analysis, activity, made, &finding, err);
        ids_keymap_done(&finding.places);
        if (code) return code;
        if (own->count) qsort(own->at, own->count, sizeof *own->at, earlier_there);
        struct ids_step_backlog backlog;
        if (ids_step_backlog(activity, made, own, &backlog)) return ids_no_memory(err);
        steps->launchless -= backlog.launchless;
        ids_sum(&steps->launchless_ps, -backlog.launchless_ps);
        if (begin_with_running(steps, trace->devices[d].host, own)) return ids_no_memory(err);
        tile(steps, trace->devices[d].host, &backlog, own);
        steps->of_activity[d] = ids_far_keep(trace->far, made, activity->count * sizeof *made);
    }
    return 0;
}

/* ids_step.made + 1 of a device's event, 0 for none. */
uint64_t ids_step_made_of(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_events *activity = &analysis->trace->devices[event->device].activity;
    const uint32_t *made = analysis->steps.of_activity[event->device];
    int far;
    if (made && event >= activity->at && event < activity->at + activity->count) return made[event - activity->at];
    return event->launch ? ids_step_made_around(analysis, event->launch, &far) : 0;
}

/* Annotations that do not tell steps apart would make one long step out of many: launches inside most of them have no
 * work, and links from thread to thread lead to others (the CPU client chains its executions), or ops say no run they
 * are of; or the work of most ends before that of the step before (two loops at once, with steps of the same
 * numbers). */
static size_t count_blurred(const struct ids_trace *trace, const struct ids_steps *steps) {
    size_t called = 0, lost = 0, ended = 0, pairs = 0;
    for (size_t i = 0; i < steps->count; i++) {
        called += steps->at[i].calls;
        lost += steps->at[i].calls && steps->at[i].last_ps == INT64_MIN;
    }
    if (lost * 2 > called && steps->linked > steps->called) return lost;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device_steps *own = &steps->of_device[d];
        pairs += own->count;
        for (size_t i = 0; i < own->count; i++) ended += own->at[i].from_ps == own->at[i].to_ps;
    }
    return ended * 2 > pairs ? steps->count * ended / pairs : 0;
}

void ids_steps_drop_blurred(const struct ids_trace *trace, struct ids_steps *steps) {
    size_t blurred = count_blurred(trace, steps);
    steps->is_launchless =
        !blurred && steps->assigned && steps->launchless > steps->assigned && steps->launchless_ps > steps->assigned_ps;
    if (!blurred && !steps->is_launchless) return;
    steps->blurred = blurred;
    steps->marked = steps->count;
    for (size_t i = 0; i < steps->count; i++) steps->at[i].last_ps = INT64_MIN;
    for (size_t d = 0; d < trace->device_count; d++) steps->of_device[d].count = 0;
}
