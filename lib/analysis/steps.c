/* steps.c - which step each piece of device work belongs to: by its launch, never by time (with asynchronous dispatch a
 * step's annotation is over before the device begins). */
#include "lib/analysis/context.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HOPS = 32 }; /* from thread to thread; a chain of links that long is a circle */

/* Whether the event marks a step: it bears a number, or, where none does, it has the name of the annotation that
 * recurs. */
static int is_mark(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_steps *steps = &analysis->steps;
    if (!steps->unnumbered) return event->kind == IDS_KIND_STEP_MARK;
    return event->launches && analysis->trace->names[event->name].text == steps->name;
}

/* The step annotation that a host event lies in, or that its causes lie in; *ret_far when that was a long way, 2
 * through links. */
static const struct ids_event *mark_around(const struct ids_analysis *analysis, const struct ids_event *event,
                                           int *ret_far) {
    enum { FAR = 16 };
    const struct ids_trace *trace = analysis->trace;
    unsigned climbed = 0, links = 0;
    const struct ids_event *mark = NULL;
    for (int hop = 0; event && !mark && hop < HOPS; hop++) {
        for (const struct ids_event *around = event; around && !mark; around = ids_event_outside(trace, around)) {
            climbed++;
            if (is_mark(analysis, around)) mark = around;
        }
        if (!mark) event = ids_event_cause(trace, event), links++;
    }
    *ret_far = (climbed > FAR) | (mark && links) << 1;
    return mark;
}

static uint64_t address_of(const struct ids_event *event) {
    return (uint64_t)(uintptr_t)event;
}

/* Whether a word of the annotation begins so that it is no step of training: "eval_step", "validation", but not
 * "latest". */
static int is_evaluation(struct ids_text name) {
    static const char *const words[] = {"eval", "valid", "test", "predict", "infer"};
    for (uint32_t i = 0; i < name.length; i++) {
        if (i && name.at[i - 1] >= 'a' && name.at[i - 1] <= 'z') continue; /* inside a word */
        struct ids_text rest = {name.at + i, name.length - i};
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            size_t length = strlen(words[w]);
            if (rest.length >= length && !strncasecmp(rest.at, words[w], length)) return 1;
        }
    }
    return 0;
}

/* The annotation's name that most step marks have. A program may annotate evaluation steps too, and more of them. */
static int main_name(const struct ids_trace *trace, uint32_t *ret_name, struct ids_error *err) {
    struct ids_keymap counts = {0};
    uint64_t best = 0;
    int best_trains = 0;
    int code = 0;
    *ret_name = IDS_NONE;
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; !code && (event = ids_cursor_next(&cursor));) {
            if (event->kind != IDS_KIND_STEP_MARK) continue;
            uint32_t text = trace->names[event->name].text;
            uint64_t *count = ids_keymap_at(&counts, (uint64_t)text + 1);
            int trains = !is_evaluation(ids_strings_text(&trace->strings, text));
            if (!count)
                code = ids_no_memory(err);
            else if (++*count && (trains > best_trains || (trains == best_trains && *count > best)))
                best = *count, best_trains = trains, *ret_name = text;
        }
    }
    ids_keymap_done(&counts);
    return code;
}

/* --- annotations without a number ------------------------------------------------------------------------------- */

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
    for (int hop = 0; event && hop < HOPS; hop++) {
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
static int find_loop(struct ids_analysis *analysis, struct ids_error *err) {
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

/* --- steps of annotations --------------------------------------------------------------------------------------- */

static uint64_t key_of_mark(uint64_t made, uint32_t host) {
    return ids_key_of(made, host);
}

static int mark_on_host(struct ids_steps *steps, uint64_t made, uint32_t host, const struct ids_event *event) {
    uint64_t key = key_of_mark(made, host), place = steps->mark_count;
    if (!ids_keymap_get(&steps->marks, key, &place)) {
        struct ids_step_mark *fresh = IDS_PUSH(steps->mark, steps->mark_count, steps->mark_room);
        if (!fresh || ids_keymap_add(&steps->marks, key, place) < 0) return -1;
        *fresh = (struct ids_step_mark){event->start_ps, event->end_ps};
    }
    struct ids_step_mark *mark = &steps->mark[place];
    if (event->start_ps < mark->start_ps) mark->start_ps = event->start_ps;
    if (event->end_ps > mark->end_ps) mark->end_ps = event->end_ps;
    return 0;
}

/* One step per annotation; annotations of one number on different threads or hosts are one step. */
static int gather_marks(struct ids_analysis *analysis, uint32_t name, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    struct ids_keymap by_number = {0}; /* (number, how many times seen on this track before) -> step */
    int code = 0;
    for (size_t t = 0; t < trace->track_count && !code; t++) {
        struct ids_keymap seen = {0}; /* number -> how many times so far */
        uint8_t opened = 0;           /* a window, since the last mark */
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; !code && (event = ids_cursor_next(&cursor));) {
            if (event->kind == IDS_KIND_OPENED) opened = 1;
            if (!is_mark(analysis, event)) continue;
            uint8_t opens = opened;
            opened = 0;
            if (trace->names[event->name].text != name) continue;
            int64_t number = steps->unnumbered ? 0 : event->value;
            uint64_t *round = ids_keymap_at(&seen, ids_key_of((uint64_t)number, 0)), index = steps->count;
            if (!round) {
                code = ids_no_memory(err);
                break;
            }
            uint64_t key = ids_key_of((uint64_t)number, *round);
            if (steps->unnumbered) number = (int64_t)*round; /* the n-th of each thread and host is one step */
            ++*round;
            if (!ids_keymap_get(&by_number, key, &index)) {
                index = steps->count;
                struct ids_step *step = IDS_PUSH(steps->at, steps->count, steps->room);
                if (!step || ids_keymap_add(&by_number, key, index) < 0) {
                    code = ids_no_memory(err);
                    break;
                }
                *step = (struct ids_step){
                    .number = number,
                    .start_ps = INT64_MAX,
                    .end_ps = INT64_MIN,
                    .work_ps = INT64_MAX,
                    .last_ps = INT64_MIN,
                    .host_start_ps = event->start_ps,
                    .host_end_ps = event->end_ps,
                };
            }
            if (mark_on_host(steps, index, trace->tracks[t].host, event)) {
                code = ids_no_memory(err);
                break;
            }
            struct ids_step *step = &steps->at[index];
            step->opens |= opens;
            step->calls |= event->launches;
            if (event->start_ps < step->host_start_ps) step->host_start_ps = event->start_ps;
            if (event->end_ps > step->host_end_ps) step->host_end_ps = event->end_ps;
            if (ids_keymap_add(&steps->of_host_event, address_of(event), index + 1) < 0) code = ids_no_memory(err);
        }
        ids_keymap_done(&seen);
    }
    ids_keymap_done(&by_number);
    return code;
}

/* ids_step.made + 1 of the step that a host event belongs to, 0 for none. */
static uint64_t made_around(const struct ids_analysis *analysis, const struct ids_event *event, int *ret_far) {
    uint64_t made = 0;
    *ret_far = 0;
    if (ids_keymap_get(&analysis->steps.of_host_event, address_of(event), &made)) return made;
    const struct ids_event *mark = mark_around(analysis, event, ret_far);
    if (mark) ids_keymap_get(&analysis->steps.of_host_event, address_of(mark), &made);
    return made;
}

/* A long way is climbed once: a damaged file may have it at every launch. */
static int step_of_launch(struct ids_analysis *analysis, const struct ids_event *event, uint64_t *ret_made,
                          struct ids_error *err) {
    const struct ids_event *launch = event->launch;
    int far, is_of_cpu = analysis->trace->devices[event->device].kind == IDS_DEVICE_CPU;
    *ret_made = made_around(analysis, launch, &far);
    if (*ret_made) *(far & 2 || (is_of_cpu && !event->run_id) ? &analysis->steps.linked : &analysis->steps.called) += 1;
    return far & 1 && ids_keymap_add(&analysis->steps.of_host_event, address_of(launch), *ret_made) < 0
               ? ids_no_memory(err)
               : 0;
}

static void stretch(struct ids_step *step, int64_t from_ps, int64_t to_ps) {
    if (from_ps < step->work_ps) step->work_ps = from_ps;
    if (to_ps > step->last_ps) step->last_ps = to_ps;
}

/* --- steps of one device ---------------------------------------------------------------------------------------- */

static int earlier_there(const void *a, const void *b) {
    const struct ids_device_step *left = a, *right = b;
    if (left->from_ps != right->from_ps) return left->from_ps < right->from_ps ? -1 : 1;
    return (left->step > right->step) - (left->step < right->step);
}

/* Each step's first and last work on the device; afterwards `step` is ids_step.made. */
static int find_work(const struct ids_events *activity, const uint32_t *made, struct ids_device_steps *own) {
    struct ids_keymap places = {0};
    int failed = 0;
    for (size_t i = 0; i < activity->count && !failed; i++) {
        const struct ids_event *event = &activity->at[i];
        uint64_t place = own->count;
        if (!made[i]) continue;
        if (!ids_keymap_get(&places, made[i], &place)) {
            struct ids_device_step *fresh = IDS_PUSH(own->at, own->count, own->room);
            failed = !fresh || ids_keymap_add(&places, made[i], place) < 0;
            if (!failed) *fresh = (struct ids_device_step){made[i] - 1, event->start_ps, event->end_ps};
        } else if (event->end_ps > own->at[place].to_ps) {
            own->at[place].to_ps = event->end_ps;
        }
    }
    ids_keymap_done(&places);
    if (own->count) qsort(own->at, own->count, sizeof *own->at, earlier_there);
    return failed;
}

/* Until when the device is busy with what was launched before the first step that was recorded: that belongs to none,
 * and what is done meanwhile is no part of the first step. INT64_MIN where there is none. */
static int64_t end_of_backlog(const struct ids_events *activity, const uint32_t *made) {
    int64_t end_ps = INT64_MIN;
    for (size_t i = 0; i < activity->count && !made[i]; i++) {
        if (activity->at[i].end_ps > end_ps) end_ps = activity->at[i].end_ps;
    }
    return end_ps;
}

/* From first and last work to steps without a hole between them. Work of a step that runs beside that of the one before
 * (a batch copied ahead) does not begin it: otherwise it would begin wherever the copying thread happened to be. */
static void tile(const struct ids_steps *steps, uint32_t host, int64_t backlog_ps, struct ids_device_steps *own) {
    int64_t last_ps = INT64_MIN; /* end of the work of all steps so far */
    for (size_t i = 0; i < own->count; i++) {
        struct ids_device_step *step = &own->at[i];
        int64_t work_ps = step->from_ps, end_ps = step->to_ps, from_ps = i ? last_ps : work_ps;
        uint64_t place;
        if (ids_keymap_get(&steps->marks, key_of_mark(step->step, host), &place)) {
            int64_t mark_ps = steps->mark[place].start_ps < work_ps ? steps->mark[place].start_ps : work_ps;
            if (!i || mark_ps > from_ps) from_ps = mark_ps;
            if (!i && backlog_ps > from_ps) from_ps = backlog_ps < work_ps ? backlog_ps : work_ps;
            if (i + 1 == own->count && steps->mark[place].end_ps > end_ps) end_ps = steps->mark[place].end_ps;
        }
        if (step->to_ps > last_ps) last_ps = step->to_ps;
        step->from_ps = from_ps;
        step->to_ps = end_ps > last_ps ? end_ps : last_ps;
        if (i) own->at[i - 1].to_ps = from_ps;
    }
}

static int assign_by_launch(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    steps->of_activity = calloc(trace->device_count + 1, sizeof *steps->of_activity);
    if (!steps->of_activity) return ids_no_memory(err);
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_events *activity = &trace->devices[d].activity;
        if (!ids_device_counts(trace, &trace->devices[d])) continue;
        uint32_t *made = steps->of_activity[d] = calloc(activity->count + 1, sizeof *made);
        if (!made) return ids_no_memory(err);
        const struct ids_event *launch = NULL;
        uint64_t step = 0;
        for (size_t i = 0; i < activity->count; i++) {
            const struct ids_event *event = &activity->at[i];
            if (!event->launch) step = 0;
            int code = event->launch && event->launch != launch ? step_of_launch(analysis, event, &step, err) : 0;
            if (code) return code;
            launch = event->launch;
            made[i] = (uint32_t)step;
            if (step) stretch(&steps->at[step - 1], event->start_ps, event->end_ps);
            *(step ? &steps->assigned : &steps->unassigned) += 1;
        }
        if (find_work(activity, made, &steps->of_device[d])) return ids_no_memory(err);
        tile(steps, trace->devices[d].host, end_of_backlog(activity, made), &steps->of_device[d]);
    }
    return 0;
}

/* ids_step.made + 1 of a device's event, 0 for none. */
static uint64_t made_of(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_events *activity = &analysis->trace->devices[event->device].activity;
    const uint32_t *made = analysis->steps.of_activity[event->device];
    int far;
    if (made && event >= activity->at && event < activity->at + activity->count) return made[event - activity->at];
    return event->launch ? made_around(analysis, event->launch, &far) : 0;
}

/* A "Steps" line lies on the device's own time, so there time does tell. */
static int gather_markers(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    struct ids_keymap by_number = {0};
    int code = 0;
    for (size_t d = 0; d < trace->device_count && !code; d++) {
        if (!ids_device_counts(trace, &trace->devices[d]))
            continue; /* nothing to give to steps of a chip that did nothing */
        struct ids_cursor cursor = ids_cursor_over(&trace->devices[d].steps);
        for (const struct ids_event *event; !code && (event = ids_cursor_next(&cursor));) {
            uint64_t index = steps->count;
            if (!ids_keymap_get(&by_number, ids_key_of((uint64_t)event->value, 0), &index)) {
                struct ids_step *step = IDS_PUSH(steps->at, steps->count, steps->room);
                if (!step || ids_keymap_add(&by_number, ids_key_of((uint64_t)event->value, 0), index) < 0) {
                    code = ids_no_memory(err);
                    break;
                }
                *step = (struct ids_step){.number = event->value,
                                          .start_ps = INT64_MAX,
                                          .end_ps = INT64_MIN,
                                          .work_ps = INT64_MAX,
                                          .last_ps = INT64_MIN};
            }
            stretch(&steps->at[index], event->start_ps, event->end_ps);
            struct ids_device_steps *own = &steps->of_device[d];
            struct ids_device_step *there = IDS_PUSH(own->at, own->count, own->room);
            if (!there) {
                code = ids_no_memory(err);
                break;
            }
            /* Of lines that overlap the later one begins where the one before ends. */
            int64_t from_ps = own->count > 1 && own->at[own->count - 2].to_ps > event->start_ps
                                  ? own->at[own->count - 2].to_ps
                                  : event->start_ps;
            *there =
                (struct ids_device_step){(uint32_t)index, from_ps, event->end_ps > from_ps ? event->end_ps : from_ps};
        }
        steps->assigned += trace->devices[d].steps.count ? trace->devices[d].activity.count : 0;
        steps->unassigned += trace->devices[d].steps.count ? 0 : trace->devices[d].activity.count;
    }
    ids_keymap_done(&by_number);
    return code;
}

static int by_start(const void *a, const void *b) {
    const struct ids_step *left = a, *right = b;
    if (left->work_ps != right->work_ps) return left->work_ps < right->work_ps ? -1 : 1;
    return (left->made > right->made) - (left->made < right->made);
}

/* What a step takes on the devices that it has work on. */
static void sum_devices(const struct ids_trace *trace, struct ids_steps *steps) {
    for (size_t d = 0; d < trace->device_count; d++) {
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
static int order(const struct ids_trace *trace, struct ids_steps *steps, struct ids_error *err) {
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
    sum_devices(trace, steps);
    return 0;
}

/* From the end of each execution to that of the next one. What came before the first of them is no step: nothing
 * says when it began. */
static int gather_periods(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    int code = ids_period_find(trace, &steps->period, err);
    if (code || *steps->period.why) return code;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_executions *executions = &steps->period.of_device[d];
        struct ids_device_steps *own = &steps->of_device[d];
        *(executions->count ? &steps->assigned : &steps->unassigned) += trace->devices[d].activity.count;
        for (size_t i = 1; i < executions->count; i++) {
            size_t index = executions->first + i - 1;
            while (steps->count <= index) {
                struct ids_step *step = IDS_PUSH(steps->at, steps->count, steps->room);
                if (!step) return ids_no_memory(err);
                *step = (struct ids_step){.number = (int64_t)steps->count - 1,
                                          .start_ps = INT64_MAX,
                                          .end_ps = INT64_MIN,
                                          .work_ps = INT64_MAX,
                                          .last_ps = INT64_MIN};
            }
            struct ids_device_step *there = IDS_PUSH(own->at, own->count, own->room);
            if (!there) return ids_no_memory(err);
            *there = (struct ids_device_step){(uint32_t)index, executions->at[i - 1].end_ps, executions->at[i].end_ps};
            stretch(&steps->at[index], there->from_ps, there->to_ps);
        }
    }
    return 0;
}

/* Where nothing in the recording marks steps. */
static int make_periods(struct ids_analysis *analysis, struct ids_error *err) {
    struct ids_steps *steps = &analysis->steps;
    int code = gather_periods(analysis, err);
    if (!code && steps->count) code = order(analysis->trace, steps, err);
    if (!code && steps->count) steps->source = IDS_STEPS_PERIOD;
    return code;
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

static void drop_blurred(const struct ids_trace *trace, struct ids_steps *steps) {
    size_t blurred = count_blurred(trace, steps);
    if (!blurred) return;
    steps->blurred = blurred;
    steps->marked = steps->count;
    for (size_t i = 0; i < steps->count; i++) steps->at[i].last_ps = INT64_MIN;
    for (size_t d = 0; d < trace->device_count; d++) steps->of_device[d].count = 0;
}

int ids_steps_make(struct ids_analysis *analysis, struct ids_error *err) {
    struct ids_steps *steps = &analysis->steps;
    steps->of_device = calloc(analysis->trace->device_count + 1, sizeof *steps->of_device);
    if (!steps->of_device) return ids_no_memory(err);
    int code = gather_markers(analysis, err);
    if (code) return code;
    if (steps->count) {
        steps->source = IDS_STEPS_MARKER;
        return order(analysis->trace, steps, err);
    }
    steps->assigned = steps->unassigned = 0;
    code = main_name(analysis->trace, &steps->name, err);
    if (!code && steps->name == IDS_NONE) code = find_loop(analysis, err);
    if (code) return code;
    if (steps->name == IDS_NONE) return make_periods(analysis, err);
    code = gather_marks(analysis, steps->name, err);
    if (!code) code = assign_by_launch(analysis, err);
    if (!code) drop_blurred(analysis->trace, steps);
    if (!code) code = order(analysis->trace, steps, err);
    if (!code && steps->count) steps->source = IDS_STEPS_ANNOTATION;
    return code;
}

enum { STEPS_LEFT = 2 }; /* a mean needs as many */

/* A first step that began as the window opened is unlike the others: until then the hook waited for the devices. */
static void leave_out_the_first(struct ids_steps *steps) {
    if (steps->count <= STEPS_LEFT || !steps->at[0].opens) return;
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
        int inside =
            step.work_ps >= analysis->start_ps && step.last_ps <= analysis->end_ps && !(steps->has_left_out && !i);
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
    return 0;
}

/* The step that stays in the window; NULL for one that does not, and for none. */
static const struct ids_step *step_made(const struct ids_steps *steps, uint64_t made) {
    return made && steps->place[made - 1] ? &steps->at[steps->place[made - 1] - 1] : NULL;
}

const struct ids_step *ids_step_of_host_event(const struct ids_analysis *analysis, const struct ids_event *event) {
    int far;
    return step_made(&analysis->steps, made_around(analysis, event, &far));
}

const struct ids_step *ids_step_of_device_event(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_steps *steps = &analysis->steps;
    if (steps->source == IDS_STEPS_ANNOTATION) return step_made(steps, made_of(analysis, event));
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
        if (steps->of_activity) free(steps->of_activity[d]);
        if (steps->of_device) free(steps->of_device[d].at);
    }
    free(steps->of_activity);
    free(steps->of_device);
    free(steps->at);
    free(steps->place);
    free(steps->mark);
    ids_keymap_done(&steps->marks);
    ids_keymap_done(&steps->of_host_event);
    ids_period_done(&steps->period);
}
