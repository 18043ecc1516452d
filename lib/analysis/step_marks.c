/* step_marks.c - steps of annotations on the host, and the one that a host event lies in. */
#include "lib/analysis/step_sources.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    for (int hop = 0; event && !mark && hop < IDS_STEP_HOPS; hop++) {
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

/* The marks of one name. */
struct marks {
    uint32_t text;
    int trains;
    uint64_t count;
    int64_t from_ps, to_ps;
};

struct all_marks {
    struct marks *at;
    size_t count, room;
};

/* Those of the event's name, which are made if there are none; NULL when memory ran out. */
static struct marks *marks_of(const struct ids_trace *trace, const struct ids_event *event, struct ids_keymap *places,
                              struct all_marks *all) {
    uint32_t text = trace->names[event->name].text;
    uint64_t *place = ids_keymap_at(places, (uint64_t)text + 1);
    if (!place) return NULL;
    if (!*place) {
        struct marks *fresh = IDS_PUSH(all->at, all->count, all->room);
        if (!fresh) return NULL;
        *fresh = (struct marks){text, !is_evaluation(ids_strings_text(&trace->strings, text)), 0, INT64_MAX, INT64_MIN};
        *place = all->count;
    }
    return &all->at[*place - 1];
}

static int add_mark(const struct ids_trace *trace, const struct ids_event *event, struct ids_keymap *places,
                    struct all_marks *all) {
    struct marks *marks = marks_of(trace, event, places, all);
    if (!marks) return -1;
    marks->count++;
    if (event->start_ps < marks->from_ps) marks->from_ps = event->start_ps;
    if (event->end_ps > marks->to_ps) marks->to_ps = event->end_ps;
    return 0;
}

/* What initialises and is annotated more often is over before the loop, which takes longer, begins. */
static int comes_after(const struct marks *marks, const struct marks *other) {
    enum { RECURS = 3 };
    return marks->count >= RECURS && marks->from_ps >= other->to_ps &&
           ids_sat_sub(marks->to_ps, marks->from_ps) > ids_sat_sub(other->to_ps, other->from_ps);
}

static int is_rather(const struct marks *marks, const struct marks *other) {
    if (marks->trains != other->trains) return marks->trains;
    if (comes_after(marks, other) || comes_after(other, marks)) return comes_after(marks, other);
    return marks->count > other->count;
}

/* The annotation's name that most step marks have. A program may annotate evaluation steps too, and more of them. */
int ids_steps_main_name(const struct ids_trace *trace, uint32_t *ret_name, struct ids_error *err) {
    struct ids_keymap places = {0};
    struct all_marks all = {0};
    const struct marks *best = NULL;
    int code = 0;
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[t].events, IDS_KINDS(IDS_KIND_STEP_MARK));
        for (const struct ids_event *event; !code && (event = ids_cursor_next(&cursor));) {
            if (event->kind == IDS_KIND_STEP_MARK && add_mark(trace, event, &places, &all)) code = ids_no_memory(err);
        }
    }
    for (size_t i = 0; i < all.count; i++) {
        if (!best || is_rather(&all.at[i], best)) best = &all.at[i];
    }
    *ret_name = best ? best->text : IDS_NONE;
    free(all.at);
    ids_keymap_done(&places);
    return code;
}

int ids_step_mark_on_host(struct ids_steps *steps, uint64_t made, uint32_t host, int64_t from_ps, int64_t to_ps) {
    uint64_t key = ids_step_mark_key(made, host), place = steps->mark_count;
    if (!ids_keymap_get(&steps->marks, key, &place)) {
        struct ids_step_mark *fresh = IDS_PUSH(steps->mark, steps->mark_count, steps->mark_room);
        if (!fresh || ids_keymap_add(&steps->marks, key, place) < 0) return -1;
        *fresh = (struct ids_step_mark){from_ps, to_ps};
    }
    struct ids_step_mark *mark = &steps->mark[place];
    if (from_ps < mark->start_ps) mark->start_ps = from_ps;
    if (to_ps > mark->end_ps) mark->end_ps = to_ps;
    return 0;
}

/* When the next step began, which ended the window that was sampled; INT64_MIN: none did. */
static int64_t next_step_of(const struct ids_trace *trace, uint32_t number) {
    int64_t end_ps = INT64_MIN;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->sampling == number && track->first_ps <= track->last_ps && track->last_ps > end_ps)
            end_ps = track->last_ps;
    }
    int64_t ago_ps = trace->samplings[number - 1].next_step_ago_ps;
    return ago_ps < 0 || end_ps == INT64_MIN ? INT64_MIN : ids_sat_sub(end_ps, ago_ps);
}

/* A window ends where the next step begins. What lies between the end of the last annotation and there is a part of
 * that step, as it is of each other one: input that is prepared outside annotations. */
int ids_steps_end_last(struct ids_analysis *analysis) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        int64_t next_ps = track->sampling ? next_step_of(trace, track->sampling) : INT64_MIN, last_ps = INT64_MIN;
        uint64_t place, last = 0;
        for (size_t i = 0; i < steps->count && next_ps != INT64_MIN; i++) {
            if (!ids_keymap_get(&steps->marks, ids_step_mark_key(i, track->host), &place)) continue;
            if (steps->mark[place].start_ps < last_ps || steps->mark[place].start_ps >= next_ps) continue;
            last_ps = steps->mark[place].start_ps;
            last = i;
        }
        if (last_ps != INT64_MIN && ids_step_mark_on_host(steps, last, track->host, last_ps, next_ps)) return -1;
    }
    return 0;
}

/* One step per annotation; annotations of one number on different threads or hosts are one step. */
int ids_steps_of_marks(struct ids_analysis *analysis, uint32_t name, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    struct ids_keymap by_number = {0}; /* (number, how many times seen on this track before) -> step */
    const uint64_t kinds = steps->unnumbered ? UINT64_MAX : IDS_KINDS(IDS_KIND_STEP_MARK);
    int code = 0;
    for (size_t t = 0; t < trace->track_count && !code; t++) {
        struct ids_keymap seen = {0}; /* number -> how many times so far */
        uint8_t opened = 0;           /* a window, since the last mark */
        struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[t].events, kinds);
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
            if (ids_step_mark_on_host(steps, index, trace->tracks[t].host, event->start_ps, event->end_ps)) {
                code = ids_no_memory(err);
                break;
            }
            struct ids_step *step = &steps->at[index];
            step->opens |= opens && !ids_sampling_kept_for(trace, trace->tracks[t].host, number);
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

/* Whether a host event lies in what was recorded of the step in whose middle the window opened. */
static int is_running(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_steps *steps = &analysis->steps;
    uint64_t place;
    if (!steps->has_running) return 0;
    uint32_t host = analysis->trace->tracks[event->track].host;
    if (!ids_keymap_get(&steps->marks, ids_step_mark_key(steps->made_running, host), &place)) return 0;
    return event->start_ps >= steps->mark[place].start_ps && event->start_ps < steps->mark[place].end_ps;
}

/* A library's thread works for a call of the program: what it does is of the step in which the program waits for that.
 * NULL: it is no such thread. */
static const struct ids_event *awaited_in(const struct ids_analysis *analysis, const struct ids_event *event) {
    uint32_t works_for = analysis->trace->tracks[event->track].works_for;
    return works_for ? ids_track_at(&analysis->trace->tracks[works_for - 1], event->start_ps) : NULL;
}

/* ids_step.made + 1 of the step that a host event belongs to, 0 for none. */
uint64_t ids_step_made_around(const struct ids_analysis *analysis, const struct ids_event *event, int *ret_far) {
    uint64_t made = 0;
    *ret_far = 0;
    if (ids_keymap_get(&analysis->steps.of_host_event, address_of(event), &made)) return made;
    const struct ids_event *mark = mark_around(analysis, event, ret_far), *awaited = NULL;
    if (!mark) awaited = awaited_in(analysis, event);
    if (awaited) mark = mark_around(analysis, awaited, ret_far);
    if (mark) ids_keymap_get(&analysis->steps.of_host_event, address_of(mark), &made);
    if (!mark && (made = ids_step_made_of_call(analysis, event))) return made;
    if (!mark && is_running(analysis, event)) return analysis->steps.made_running + (uint64_t)1;
    return made;
}
