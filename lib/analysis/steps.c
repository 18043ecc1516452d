/* steps.c - the steps of a run: from whatever shows them, in order of time, with what they take on devices. */
#include "lib/analysis/step_sources.h"

#include "lib/base/saturate.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b) {
    const struct ids_step *left = a, *right = b;
    if (left->work_ps != right->work_ps) return left->work_ps < right->work_ps ? -1 : 1;
    if (left->host_start_ps != right->host_start_ps) return left->host_start_ps < right->host_start_ps ? -1 : 1;
    return (left->made > right->made) - (left->made < right->made);
}

/* What a step takes on the devices that it has work on. */
static void sum_devices(const struct ids_analysis *analysis, struct ids_steps *steps) {
    const struct ids_trace *trace = analysis->trace;
    for (size_t d = 0; d < trace->device_count; d++) {
        if (!ids_device_is_chosen(&analysis->params, &trace->devices[d])) continue;
        struct ids_device_steps *own = &steps->of_device[d];
        for (size_t i = 0; i < own->count; i++) {
            struct ids_device_step *there = &own->at[i];
            if (there->step == IDS_NONE) continue;
            struct ids_step *step = &steps->at[there->step];
            int64_t time_ps = there->to_ps - there->from_ps;
            if (there->from_ps < step->start_ps) step->start_ps = there->from_ps;
            if (there->to_ps > step->end_ps) step->end_ps = there->to_ps;
            ids_sum(&step->sum_ps, time_ps);
            if (!step->devices++ || time_ps > step->slowest_ps) {
                step->slowest_ps = time_ps;
                step->slowest = (uint32_t)d;
            }
        }
    }
}

/* Time order, without the steps that launched nothing. `place` remembers where each went. */
static int order(const struct ids_analysis *analysis, struct ids_steps *steps, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    size_t made = steps->count, kept = 0;
    steps->place = calloc(made + 1, sizeof *steps->place);
    if (!steps->place) return ids_no_memory(err);
    for (size_t i = 0; i < made; i++) {
        steps->at[i].made = (uint32_t)i;
        if (steps->at[i].last_ps == INT64_MIN)
            steps->without_work++;
        else
            steps->at[kept++] = steps->at[i];
    }
    steps->count = kept;
    if (kept) qsort(steps->at, kept, sizeof *steps->at, by_start);
    for (size_t i = 0; i < kept; i++) steps->place[steps->at[i].made] = (uint32_t)i + 1;
    for (size_t d = 0; d < trace->device_count; d++) {
        struct ids_device_steps *own = &steps->of_device[d];
        for (size_t i = 0; i < own->count; i++) own->at[i].step = steps->place[own->at[i].step] - 1; /* 0: IDS_NONE */
    }
    sum_devices(analysis, steps);
    return 0;
}

/* Where nothing in the recording marks steps. */
static int make_periods(struct ids_analysis *analysis, struct ids_error *err) {
    struct ids_steps *steps = &analysis->steps;
    int code = ids_steps_of_periods(analysis, err);
    if (!code && steps->count) code = order(analysis, steps, err);
    if (!code && steps->count) steps->source = IDS_STEPS_PERIOD;
    return code;
}

int ids_steps_make(struct ids_analysis *analysis, struct ids_error *err) {
    struct ids_steps *steps = &analysis->steps;
    steps->of_device = calloc(analysis->trace->device_count + 1, sizeof *steps->of_device);
    if (!steps->of_device) return ids_no_memory(err);
    int code = ids_steps_of_lines(analysis, err);
    if (code) return code;
    if (steps->count) {
        steps->source = IDS_STEPS_MARKER;
        return order(analysis, steps, err);
    }
    steps->assigned = steps->unassigned = 0;
    code = ids_steps_main_name(analysis->trace, &steps->name, err);
    if (!code && steps->name == IDS_NONE) code = ids_steps_find_loop(analysis, err);
    if (code) return code;
    ids_steps_find_block(analysis);
    if (steps->name == IDS_NONE) return make_periods(analysis, err);
    code = ids_steps_of_marks(analysis, steps->name, err);
    if (!code && (ids_steps_end_last(analysis) || ids_steps_find_calls(analysis))) code = ids_no_memory(err);
    if (!code) code = ids_steps_add_running(analysis, err);
    if (!code) code = ids_steps_by_launch(analysis, err);
    if (!code) ids_steps_drop_blurred(analysis->trace, steps);
    if (!code) code = order(analysis, steps, err);
    if (!code && steps->count) steps->source = IDS_STEPS_ANNOTATION;
    return code;
}

static void leave_out_the_first(struct ids_steps *steps) {
    if (!ids_first_step_opens(steps)) return;
    steps->has_left_out = 1;
    steps->left_out = steps->at[0].number;
}

int ids_steps_trim(struct ids_analysis *analysis, struct ids_error *err) {
    struct ids_steps *steps = &analysis->steps;
    size_t kept = 0;
    uint32_t *places = malloc((steps->count + 1) * sizeof *places); /* where each step goes */
    if (!places) return ids_no_memory(err);
    leave_out_the_first(steps);
    for (size_t i = 0; i < steps->count; i++) {
        struct ids_step step = steps->at[i];
        int inside = step.work_ps >= analysis->start_ps && step.last_ps <= analysis->end_ps &&
                     !(steps->has_left_out && !i) && ids_step_is_chosen(analysis, i) &&
                     (step.devices || !analysis->params.device);
        if (inside) steps->at[kept++] = step;
        steps->place[step.made] = inside ? (uint32_t)kept : 0;
        places[i] = inside ? (uint32_t)kept - 1 : IDS_NONE;
    }
    for (size_t d = 0; d < analysis->trace->device_count && steps->of_device; d++) {
        struct ids_device_steps *own = &steps->of_device[d];
        for (size_t i = 0; i < own->count; i++) own->at[i].step = places[own->at[i].step];
    }
    free(places);
    steps->count = kept;
    /* Who asks for other steps is told nothing of this one. */
    if (steps->left_out < analysis->params.first_step || steps->left_out > analysis->params.last_step)
        steps->has_left_out = 0;
    return 0;
}

/* The step that stays in the window; NULL for one that does not, and for none. */
static const struct ids_step *step_made(const struct ids_steps *steps, uint64_t made) {
    return made && steps->place[made - 1] ? &steps->at[steps->place[made - 1] - 1] : NULL;
}

const struct ids_step *ids_step_of_host_event(const struct ids_analysis *analysis, const struct ids_event *event) {
    int far;
    return step_made(&analysis->steps, ids_step_made_around(analysis, event, &far));
}

const struct ids_step *ids_step_of_device_event(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_steps *steps = &analysis->steps;
    if (steps->source == IDS_STEPS_ANNOTATION) return step_made(steps, ids_step_made_of(analysis, event));
    if (!steps->count) return NULL;
    const struct ids_device_steps *own = &steps->of_device[event->device];
    for (size_t low = 0, high = own->count; low < high;) { /* markers and periods tell by time */
        size_t middle = low + (high - low) / 2;
        if (event->start_ps >= own->at[middle].to_ps)
            low = middle + 1;
        else if (event->start_ps < own->at[middle].from_ps)
            high = middle;
        else
            return own->at[middle].step == IDS_NONE ? NULL : &steps->at[own->at[middle].step];
    }
    return NULL;
}

void ids_steps_done(struct ids_analysis *analysis) {
    struct ids_steps *steps = &analysis->steps;
    for (size_t d = 0; d < analysis->trace->device_count; d++) {
        if (steps->of_activity && !ids_far_has(analysis->trace->far, steps->of_activity[d]))
            free(steps->of_activity[d]);
        if (steps->of_device) free(steps->of_device[d].at);
    }
    free(steps->of_activity);
    free(steps->of_device);
    free(steps->at);
    free(steps->place);
    free(steps->mark);
    free(steps->call);
    ids_keymap_done(&steps->marks);
    ids_keymap_done(&steps->of_host_event);
    ids_period_done(&steps->period);
}

int64_t ids_device_steps(const struct ids_analysis *analysis) {
    int64_t count = 0;
    for (size_t s = 0; s < analysis->steps.count; s++) count += analysis->steps.at[s].devices;
    return count ? count : (int64_t)analysis->busy_count;
}
