/* picture_stretches.c - which stretches of time a picture has in detail, so that it takes no more room than it may.
 *
 * A run that is small enough is there event by event. Of a larger one the window is there in cells, and in detail the
 * first, the median and the slowest step, and what surrounds the longest waits. */
#include "lib/analysis/picture_parts.h"

#include "lib/base/search.h"
#include "lib/base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARK_BYTES = 8, /* that a mark takes in a page: measured, 5 to 9 */
    LEAST_BUDGET = 1300000,
    MOST_BUDGET = 6500000,
    CELLS = 3000, /* of the window, where there is room: more than a screen has columns */
    LEAST_CELLS = 100,
    DETAIL_CELLS = 4000, /* of a detail that is too large to be there event by event */
    LEAST_DETAIL = 2000, /* marks that are worth such a detail */
    TRIES = 8,
    MOST_GAPS = 4, /* details of accounts */
};

/* ---- how many events there are ---- */

static size_t events_between(const struct ids_events *events, int64_t from_ps, int64_t to_ps) {
    struct ids_cursor cursor = ids_cursor_between(events, from_ps, to_ps);
    return (size_t)(cursor.end - cursor.at);
}

static size_t marks_between(const struct ids_lane *lane, int64_t from_ps, int64_t to_ps) {
    return IDS_COUNT_BELOW(lane->marks, lane->count, start_ps, to_ps) -
           IDS_COUNT_BELOW(lane->marks, lane->count, start_ps, from_ps);
}

static size_t turns_between(const struct ids_timeline *timeline, int64_t from_ps, int64_t to_ps) {
    size_t from = ids_timeline_find(timeline, from_ps), to = ids_timeline_find(timeline, to_ps);
    return to == SIZE_MAX ? 0 : from == SIZE_MAX ? to + 1 : to - from;
}

/* About so many marks lie there, event by event. */
static size_t count_between(const struct ids_picture_making *making, int64_t from_ps, int64_t to_ps) {
    const struct ids_analysis *analysis = making->analysis;
    const struct ids_trace *trace = analysis->trace;
    size_t count = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_device *device = analysis->busy[b].device;
        count += events_between(&device->activity, from_ps, to_ps) + events_between(&device->async, from_ps, to_ps) +
                 events_between(&device->waits, from_ps, to_ps) + events_between(&device->modules, from_ps, to_ps) +
                 marks_between(&making->account[b], from_ps, to_ps) * 3 / 2; /* and gaps */
    }
    for (size_t t = 0; t < trace->track_count; t++) /* in up to three lanes */
        count += 2 * turns_between(&trace->tracks[t].timeline, from_ps, to_ps);
    return count;
}

/* ---- what is worth a detail ---- */

static void add_detail(struct ids_picture_making *making, int64_t from_ps, int64_t to_ps, const char *why, size_t *left,
                       int *failed) {
    struct ids_picture *picture = making->picture;
    if (from_ps < picture->start_ps) from_ps = picture->start_ps;
    if (to_ps > picture->end_ps) to_ps = picture->end_ps;
    for (size_t d = 0; d < picture->detail_count; d++) { /* what another one has already */
        const struct ids_picture_detail *detail = &picture->details[d];
        if (from_ps < detail->to_ps && from_ps >= detail->from_ps) from_ps = detail->to_ps;
        if (to_ps > detail->from_ps && from_ps < detail->from_ps) to_ps = detail->from_ps;
    }
    if (from_ps >= to_ps) return;
    size_t count = count_between(making, from_ps, to_ps);
    if (count > *left && *left < LEAST_DETAIL) return;
    int64_t least_ps = count <= *left ? 0 : (to_ps - from_ps) / DETAIL_CELLS + 1;
    size_t most = least_ps ? *left / 2 : count;
    uint32_t text = ids_intern_z(&picture->texts, why);
    struct ids_picture_detail *added = IDS_PUSH(picture->details, picture->detail_count, picture->detail_room);
    *failed |= !added || text == IDS_NO_TEXT;
    if (added)
        *added = (struct ids_picture_detail){from_ps, to_ps, least_ps, text, (uint32_t)picture->detail_count - 1};
    *left -= most < *left ? most : *left;
}

static int time_before(const void *a, const void *b) {
    const struct ids_step *left = *(const struct ids_step *const *)a, *right = *(const struct ids_step *const *)b;
    int64_t x = ids_step_time(left), y = ids_step_time(right);
    return x != y ? (x < y ? -1 : 1) : (left > right) - (left < right);
}

static void add_step(struct ids_picture_making *making, const struct ids_step *step, const char *which, size_t *left,
                     int *failed) {
    char why[80];
    snprintf(why, sizeof why, "step %" PRId64 ", the %s", step->number, which);
    int64_t from_ps = step->start_ps;
    if (step->host_start_ps < step->host_end_ps && step->host_start_ps < from_ps) from_ps = step->host_start_ps;
    add_detail(making, from_ps, step->end_ps, why, left, failed);
}

static void add_steps(struct ids_picture_making *making, size_t *left, int *failed) {
    const struct ids_steps *steps = &making->analysis->steps;
    const struct ids_step **sorted = steps->count ? calloc(steps->count, sizeof *sorted) : NULL;
    *failed |= steps->count && !sorted;
    if (!sorted) return;
    for (size_t s = 0; s < steps->count; s++) sorted[s] = &steps->at[s];
    qsort(sorted, steps->count, sizeof *sorted, time_before);
    add_step(making, sorted[steps->count - 1], "slowest", left, failed);
    add_step(making, sorted[steps->count / 2], "median", left, failed);
    add_step(making, &steps->at[0], "first", left, failed);
    free(sorted);
}

/* Around the longest interval of the accounts that idle most, which is what advice is about. */
static void add_waits(struct ids_picture_making *making, size_t *left, int *failed) {
    const struct ids_analysis *analysis = making->analysis;
    int64_t sums_ps[IDS_ACCOUNT_COUNT] = {0};
    for (size_t b = 0; b < analysis->busy_count; b++) {
        for (int a = IDS_COMM_WAIT; a < IDS_ACCOUNT_COUNT; a++) sums_ps[a] += analysis->ledger.in_window[b].ps[a];
    }
    for (int i = 0; i < MOST_GAPS; i++) {
        int most = 0;
        for (int a = 1; a < IDS_ACCOUNT_COUNT; a++) {
            if (sums_ps[a] > sums_ps[most]) most = a;
        }
        if (!sums_ps[most]) return;
        sums_ps[most] = 0;
        const struct ids_ledger_longest *longest = &analysis->ledger.longest[most];
        if (!longest->count) continue;
        char why[80];
        snprintf(why, sizeof why, "the longest %s", ids_account_id((enum ids_account)most));
        int64_t around_ps = (longest->at[0].to_ps - longest->at[0].from_ps) / 4;
        add_detail(making, longest->at[0].from_ps - around_ps, longest->at[0].to_ps + around_ps, why, left, failed);
    }
}

/* Half of the room that is left shows the middle of the window: the rest would be waited for. */
static void add_middle(struct ids_picture_making *making, size_t *left, int *failed) {
    const struct ids_picture *picture = making->picture;
    int64_t half_ps = (picture->end_ps - picture->start_ps) / 2, middle_ps = picture->start_ps + half_ps;
    while (half_ps && count_between(making, middle_ps - half_ps, middle_ps + half_ps) > *left)
        half_ps = half_ps * 3 / 4;
    if (half_ps) add_detail(making, middle_ps - half_ps, middle_ps + half_ps, "the middle of the run", left, failed);
}

static int detail_before(const void *a, const void *b) {
    const struct ids_picture_detail *left = a, *right = b;
    return (left->from_ps > right->from_ps) - (left->from_ps < right->from_ps);
}

/* ---- the stretches ---- */

static int add_stretch(struct ids_picture_making *making, int64_t from_ps, int64_t least_ps) {
    struct ids_picture_stretch *added = IDS_PUSH(making->stretches, making->stretch_count, making->stretch_room);
    if (added) *added = (struct ids_picture_stretch){from_ps, least_ps};
    return added ? 0 : -1;
}

/* Before and after the window only threads did something. */
static int64_t outside_ps(const struct ids_picture_making *making, int64_t least_ps) {
    const struct ids_trace *trace = making->analysis->trace;
    int64_t first_ps = making->picture->start_ps, last_ps = making->picture->end_ps;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (!track->timeline.count || track->first_ps > track->last_ps) continue;
        if (track->first_ps < first_ps) first_ps = track->first_ps;
        if (track->last_ps > last_ps) last_ps = track->last_ps;
    }
    int64_t outside = (last_ps - first_ps) / CELLS;
    return outside > least_ps ? outside : least_ps;
}

static int make_stretches(struct ids_picture_making *making, int64_t least_ps) {
    const struct ids_picture *picture = making->picture;
    int64_t outside = least_ps ? outside_ps(making, least_ps) : 0;
    making->stretch_count = 0;
    int failed = add_stretch(making, INT64_MIN, outside) || add_stretch(making, picture->start_ps, least_ps);
    for (size_t d = 0; d < picture->detail_count && !failed; d++)
        failed = add_stretch(making, picture->details[d].from_ps, picture->details[d].least_ps) ||
                 add_stretch(making, picture->details[d].to_ps, least_ps);
    return failed || add_stretch(making, picture->end_ps, outside) ? -1 : 0;
}

/* How long a cell of the window is, if its marks are to be no more than `most`. */
static int64_t cell_of(const struct ids_picture_making *making, size_t most) {
    const struct ids_trace *trace = making->analysis->trace;
    size_t lanes = 4 * making->analysis->busy_count, cells;
    for (size_t t = 0; t < trace->track_count; t++) lanes += trace->tracks[t].timeline.count ? 2 : 0;
    cells = most / (lanes + 1);
    if (cells > CELLS) cells = CELLS;
    if (cells < LEAST_CELLS) cells = LEAST_CELLS;
    return (making->picture->end_ps - making->picture->start_ps) / (int64_t)cells + 1;
}

/* The detail that matters least. */
static void drop_last(struct ids_picture *picture) {
    for (size_t d = 0; d < picture->detail_count; d++) {
        if (picture->details[d].rank + 1 != picture->detail_count) continue;
        memmove(&picture->details[d], &picture->details[d + 1],
                (picture->detail_count - d - 1) * sizeof *picture->details);
        picture->detail_count--;
        return;
    }
}

static size_t budget_of(const struct ids_picture *picture) {
    int64_t bytes = picture->budget_bytes;
    if (!bytes) {
        bytes = (int64_t)((double)picture->events * 0.45);
        if (bytes < LEAST_BUDGET) bytes = LEAST_BUDGET;
        if (bytes > MOST_BUDGET) bytes = MOST_BUDGET;
    }
    return (size_t)bytes / MARK_BYTES;
}

int ids_picture_choose(struct ids_picture_making *making) {
    struct ids_picture *picture = making->picture;
    size_t budget = budget_of(picture);
    int failed = 0;
    if (count_between(making, INT64_MIN, INT64_MAX) <= budget)
        return make_stretches(making, 0) || ids_picture_rows(making) ? -1 : 0;
    picture->least_ps = cell_of(making, budget / 2);
    size_t left = budget / 2;
    add_steps(making, &left, &failed);
    add_waits(making, &left, &failed);
    add_middle(making, &left, &failed);
    if (picture->detail_count) qsort(picture->details, picture->detail_count, sizeof *picture->details, detail_before);
    for (int i = 0; i < TRIES && !failed; i++) {
        failed = make_stretches(making, picture->least_ps) || ids_picture_rows(making);
        if (picture->mark_count <= budget * 5 / 4) break;
        picture->least_ps *= 2; /* the estimate was too low */
        if (i % 2) drop_last(picture);
    }
    return failed ? -1 : 0;
}
