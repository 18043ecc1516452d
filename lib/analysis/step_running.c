/* step_running.c - the step in whose middle idsprof's window opened (a slow step opens one, a trigger may).
 *
 * Its annotation had begun, so the file does not hold it; the samples of the window show that it was there, and say
 * its number. What was recorded of it says something only where that is longer than each whole step: then it is the
 * slow one that the window was opened for, or another one. Unless the window was kept for it, it says nothing where
 * the first annotation is not that of the next step: the program began one while recording did, and that step is in
 * what was recorded, too. */
#include "lib/analysis/step_sources.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

struct recorded {
    int64_t opened_ps; /* the first sample */
    int64_t number, slow_number;
    int64_t first_ps;   /* begin of the first annotation */
    int64_t longest_ps; /* from one annotation's begin to the next one's, or one annotation */
    uint32_t first;     /* whose that is */
    int opens;          /* the window opened with the first one */
    int is_its_own;     /* the first one is that of the step: it was annotated only when the window was open at last */
    int is_kept_for;    /* the window was kept for the step */
    int64_t next_ps, first_number, next_number; /* of the annotation after the first one; next_ps INT64_MAX: none */
};

static int earlier(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void find_opening(const struct ids_trace *trace, uint32_t host, struct recorded *recorded) {
    *recorded = (struct recorded){
        .opened_ps = INT64_MAX, .number = -1, .slow_number = -1, .first_ps = INT64_MAX, .next_ps = INT64_MAX};
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        const struct ids_sampling *sampling = ids_sampling_of(trace, track);
        if (track->host != host || !sampling || sampling->running_step < 0) continue;
        recorded->number = sampling->running_step;
        recorded->slow_number = sampling->slow_step;
        recorded->is_kept_for = sampling->slow_step == sampling->running_step;
        if (track->first_ps < recorded->opened_ps) recorded->opened_ps = track->first_ps;
    }
}

/* 0, or -1 when memory ran out. */
static int find_annotations(const struct ids_steps *steps, uint32_t host, struct recorded *recorded) {
    int64_t *begins = calloc(steps->count + 1, sizeof *begins);
    size_t count = 0;
    if (!begins) return -1;
    for (size_t i = 0; i < steps->count; i++) {
        uint64_t place;
        if (!ids_keymap_get(&steps->marks, ids_step_mark_key(i, host), &place)) continue;
        const struct ids_step_mark *mark = &steps->mark[place];
        int64_t time_ps = mark->end_ps - mark->start_ps;
        begins[count++] = mark->start_ps;
        if (time_ps > recorded->longest_ps) recorded->longest_ps = time_ps;
        if (mark->start_ps >= recorded->first_ps && mark->start_ps >= recorded->next_ps) continue;
        recorded->next_ps = mark->start_ps < recorded->first_ps ? recorded->first_ps : mark->start_ps;
        recorded->next_number = mark->start_ps < recorded->first_ps ? recorded->first_number : steps->at[i].number;
        if (mark->start_ps >= recorded->first_ps) continue;
        recorded->first_ps = mark->start_ps;
        recorded->first_number = steps->at[i].number;
        recorded->first = (uint32_t)i;
        recorded->is_its_own = steps->at[i].number == recorded->number;
        recorded->opens = steps->at[i].opens || steps->at[i].number <= recorded->number;
    }
    qsort(begins, count, sizeof *begins, earlier);
    for (size_t i = 1; i < count; i++) {
        if (begins[i] - begins[i - 1] > recorded->longest_ps) recorded->longest_ps = begins[i] - begins[i - 1];
    }
    free(begins);
    return 0;
}

/* The number is of the step for which the window was to open. On a busy machine it may open when a later one runs; then
 * the one that it was kept for is no annotated one, because that had begun before. */
static void find_later(struct recorded *recorded) {
    if (recorded->slow_number <= recorded->number || recorded->slow_number >= recorded->first_number) return;
    recorded->number = recorded->slow_number;
    recorded->is_kept_for = 1;
}

/* Programs that give each tenth number have the next step ten later. */
static int is_followed(const struct recorded *recorded) {
    int64_t from = ids_sat_sub(recorded->first_number, recorded->number);
    int64_t next = ids_sat_sub(recorded->next_number, recorded->first_number);
    return recorded->next_ps == INT64_MAX || from <= next || from <= 1;
}

static int is_slowest(const struct recorded *recorded) {
    return (is_followed(recorded) || recorded->is_kept_for) && recorded->first_ps != INT64_MAX &&
           (!recorded->opens || recorded->is_its_own) && recorded->opened_ps < recorded->first_ps &&
           recorded->first_ps - recorded->opened_ps > recorded->longest_ps;
}

/* Hosts of one run have the same number for a step. */
static int add(struct ids_steps *steps, uint32_t host, const struct recorded *recorded) {
    if (steps->has_running && steps->running != recorded->number) return 0;
    if (!steps->has_running && recorded->is_its_own) {
        steps->has_running = 1;
        steps->running = recorded->number;
        steps->made_running = recorded->first;
        steps->at[recorded->first].opens = 0;
    }
    if (!steps->has_running) {
        struct ids_step *step = IDS_PUSH(steps->at, steps->count, steps->room);
        if (!step) return -1;
        *step = (struct ids_step){
            .number = recorded->number,
            .start_ps = INT64_MAX,
            .end_ps = INT64_MIN,
            .work_ps = INT64_MAX,
            .last_ps = INT64_MIN,
            .host_start_ps = recorded->opened_ps,
            .host_end_ps = recorded->first_ps,
        };
        steps->has_running = 1;
        steps->running = recorded->number;
        steps->made_running = (uint32_t)(steps->count - 1);
    }
    struct ids_step *step = &steps->at[steps->made_running];
    if (recorded->opened_ps < step->host_start_ps) step->host_start_ps = recorded->opened_ps;
    if (recorded->first_ps > step->host_end_ps) step->host_end_ps = recorded->first_ps;
    return ids_step_mark_on_host(steps, steps->made_running, host, recorded->opened_ps, recorded->first_ps);
}

int ids_steps_add_running(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    if (steps->unnumbered) return 0;
    for (uint32_t host = 0; host < trace->host_count && trace->sampling_count; host++) {
        struct recorded recorded;
        find_opening(trace, host, &recorded);
        if (recorded.number < 0) continue;
        if (find_annotations(steps, host, &recorded)) return ids_no_memory(err);
        find_later(&recorded);
        if (is_slowest(&recorded) && add(steps, host, &recorded)) return ids_no_memory(err);
    }
    return 0;
}
