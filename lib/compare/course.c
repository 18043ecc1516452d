#include "lib/compare/course.h"

#include "lib/base/vec.h"
#include "lib/compare/course_groups.h"
#include "lib/compare/course_report.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a hundred histories in which nothing changes one may show a change. */
#define FALSE_ALARMS 0.01
#define MOST_OF_A_RISE 0.5

const char *ids_course_role_name(enum ids_course_role role) {
    static const char *const names[] = {"cause", "part", "effect"};
    return names[role];
}

struct looking {
    struct ids_course *course;
    const struct ids_course_options *options;
    double *values; /* of one figure, of the runs that have it */
    size_t *runs;   /* which these are */
    size_t count;
};

static void take(struct looking *looking, size_t figure) {
    const struct ids_series *series = looking->course->series;
    looking->count = 0;
    for (size_t i = 0; i < series->run_count; i++) {
        double value = ids_series_value(series, i, figure);
        if (isnan(value)) continue;
        looking->values[looking->count] = value;
        looking->runs[looking->count++] = i;
    }
}

static int is_asked(const struct looking *looking, size_t figure) {
    const char *name = looking->course->series->figures[figure].name, *glob = looking->options->figure;
    return !glob || !strcmp(glob, name) || !fnmatch(glob, name, 0);
}

static double mean_of(const struct looking *looking) {
    double sum = 0;
    for (size_t i = 0; i < looking->count; i++) sum += looking->values[i] / (double)looking->count;
    return sum;
}

/* A step, or the window, is what every time is held against. */
static double whole_of(struct looking *looking) {
    static const char *const ids[] = {"steps.mean", "run.window"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        size_t figure = ids_series_find(looking->course->series, IDS_FIGURE_METRIC, ids[i]);
        if (figure == SIZE_MAX) continue;
        take(looking, figure);
        if (looking->count) return mean_of(looking);
    }
    return 0;
}

/* Of a share that should be low the other side counts too: 0.04 % and 0.05 % are the same. */
static int is_large(const struct looking *looking, size_t figure, double before, double after) {
    const struct ids_series_figure *of = &looking->course->series->figures[figure];
    double base = fabs(before), change = fabs(after - before);
    if (of->unit == IDS_UNIT_RATIO) base = fmax(base, 1 - base);
    if (change < looking->options->threshold * base) return 0;
    return of->kind == IDS_FIGURE_METRIC || change >= looking->options->least * looking->course->step_ps;
}

static int add_change(struct looking *looking, size_t figure, const struct ids_change *change) {
    struct ids_course *course = looking->course;
    if (!is_large(looking, figure, change->before, change->after)) return 0;
    struct ids_course_row *row = IDS_PUSH(course->rows, course->row_count, course->row_room);
    if (!row) return -1;
    *row = (struct ids_course_row){.figure = figure, .change = *change};
    row->change.at = looking->runs[change->at];
    row->change.first = looking->runs[change->first];
    row->change.last = looking->runs[change->last];
    return 0;
}

static int add_row(struct ids_course_rows *rows, size_t figure, const struct ids_change *change) {
    struct ids_course_row *row = IDS_PUSH(rows->at, rows->count, rows->room);
    if (row) *row = (struct ids_course_row){.figure = figure, .change = *change, .group = SIZE_MAX};
    return row ? 0 : -1;
}

static int add_drift(struct looking *looking, size_t figure, const struct ids_changes *changes) {
    double span = (double)looking->count - 1;
    if (!changes->drifts || !is_large(looking, figure, changes->from, changes->to)) return 0;
    const struct ids_change rise = {.before = changes->from,
                                    .after = changes->to,
                                    .low = changes->slope_low * span,
                                    .high = changes->slope_high * span};
    return add_row(&looking->course->drifts, figure, &rise);
}

static int add_latest(struct looking *looking, size_t figure, const struct ids_changes *changes) {
    if (!changes->latest || !is_large(looking, figure, changes->latest_before, changes->latest_after)) return 0;
    const struct ids_change latest = {.at = looking->runs[looking->count - changes->latest],
                                      .before = changes->latest_before,
                                      .after = changes->latest_after};
    return add_row(&looking->course->latest, figure, &latest);
}

static int look(struct looking *looking, size_t figure) {
    struct ids_changes changes;
    take(looking, figure);
    if (looking->count < IDS_COURSE_RUNS) return 0;
    double alarms = FALSE_ALARMS / (double)looking->course->looked_at;
    int failed = ids_changes_of(looking->values, looking->count, alarms, &changes, NULL);
    for (size_t i = 0; i < changes.count && !failed; i++) failed = add_change(looking, figure, &changes.at[i]);
    return failed || add_drift(looking, figure, &changes) || add_latest(looking, figure, &changes);
}

/* ---- drifts that are the step of another figure ---- */

/* The sum of squares that is left of the taken values from place `from` to `to` when their mean is taken off. */
static double left_of_mean(const struct looking *looking, size_t from, size_t to) {
    double mean = 0, left = 0;
    for (size_t i = from; i < to; i++) mean += looking->values[i] / (double)(to - from);
    for (size_t i = from; i < to; i++) left += (looking->values[i] - mean) * (looking->values[i] - mean);
    return left;
}

/* The same when the line of least squares is taken off all of them. */
static double left_of_line(const struct looking *looking) {
    double middle = ((double)looking->count - 1) / 2, mean = mean_of(looking), both = 0, places = 0;
    for (size_t i = 0; i < looking->count; i++) {
        both += ((double)i - middle) * (looking->values[i] - mean);
        places += ((double)i - middle) * ((double)i - middle);
    }
    return left_of_mean(looking, 0, looking->count) - (places > 0 ? both * both / places : 0);
}

/* A figure that a change moves by less than can be told of it alone looks like a slow rise: it is none where two
 * levels, before and from that run on, leave less of it than a line. */
static int is_moved_by_a_change(struct looking *looking, size_t figure) {
    const struct ids_course *course = looking->course;
    take(looking, figure);
    double line = left_of_line(looking);
    for (size_t r = 0; r < course->row_count; r++) {
        size_t place = 0;
        while (place < looking->count && looking->runs[place] < course->rows[r].change.at) place++;
        double levels = left_of_mean(looking, 0, place) + left_of_mean(looking, place, looking->count);
        if (levels < line) return 1;
    }
    return 0;
}

/* Whether a changed scope is part of a figure: of a scope around it, of an account of work, or of the whole. */
static int is_part(const struct ids_course *course, const struct ids_course_row *row, size_t figure) {
    const struct ids_series_figure *inner = &course->series->figures[row->figure],
                                   *of = &course->series->figures[figure];
    size_t length = strlen(of->name);
    if (inner->kind != IDS_FIGURE_SCOPE || row->figure == figure) return 0;
    if (of->kind == IDS_FIGURE_SCOPE) return !strncmp(inner->name, of->name, length) && inner->name[length] == '/';
    if (of->kind == IDS_FIGURE_ACCOUNT) return !strncmp(of->name, "work.", 5);
    return of->kind == IDS_FIGURE_METRIC && of->unit == IDS_UNIT_TIME;
}

/* The innermost scope around a changed one that changed there too, which tells its part; SIZE_MAX: none. */
static size_t around(const struct ids_course *course, size_t inner) {
    const struct ids_course_row *row = &course->rows[inner];
    size_t best = SIZE_MAX, longest = 0;
    for (size_t r = 0; r < course->row_count; r++) {
        const struct ids_course_row *outer = &course->rows[r];
        const struct ids_series_figure *of = &course->series->figures[outer->figure];
        size_t a = outer->change.at, b = row->change.at, length = strlen(of->name);
        if (of->kind != IDS_FIGURE_SCOPE || (a > b ? a - b : b - a) >= IDS_LEVEL_LEAST || length < longest) continue;
        if (!is_part(course, row, outer->figure)) continue;
        best = r;
        longest = length;
    }
    return best;
}

/* How much a line of least squares rises over the taken values. */
static double rise_of(const struct looking *looking) {
    double middle = ((double)looking->count - 1) / 2, both = 0, places = 0;
    for (size_t i = 0; i < looking->count; i++) {
        both += ((double)i - middle) * looking->values[i];
        places += ((double)i - middle) * ((double)i - middle);
    }
    return places > 0 ? both / places * ((double)looking->count - 1) : 0;
}

/* The steps of a layer up and up again are stairs, which a line through all that is around it fits well: that is none
 * where most of its rise is theirs. */
static int is_moved_by_its_parts(struct looking *looking, size_t figure, const size_t *outer) {
    const struct ids_course *course = looking->course;
    take(looking, figure);
    double rise = rise_of(looking);
    for (size_t r = 0; r < course->row_count; r++) {
        const struct ids_course_row *row = &course->rows[r];
        if (!is_part(course, row, figure)) continue;
        if (outer[r] != SIZE_MAX && is_part(course, &course->rows[outer[r]], figure)) continue;
        for (size_t i = 0; i < looking->count; i++) {
            if (looking->runs[i] >= row->change.at) looking->values[i] -= row->change.after - row->change.before;
        }
    }
    return fabs(rise_of(looking)) < MOST_OF_A_RISE * fabs(rise);
}

static int drop_moved(struct looking *looking) {
    const struct ids_course *course = looking->course;
    struct ids_course_rows *drifts = &looking->course->drifts;
    size_t kept = 0, *outer = calloc(course->row_count + 1, sizeof *outer);
    if (!outer) return -1;
    for (size_t r = 0; r < course->row_count && drifts->count; r++) outer[r] = around(course, r);
    for (size_t d = 0; d < drifts->count; d++) {
        size_t figure = drifts->at[d].figure;
        if (!is_moved_by_a_change(looking, figure) && !is_moved_by_its_parts(looking, figure, outer))
            drifts->at[kept++] = drifts->at[d];
    }
    drifts->count = kept;
    free(outer);
    return 0;
}

/* ---- all figures ---- */

static int look_at_all(struct looking *looking) {
    struct ids_course *course = looking->course;
    course->step_ps = whole_of(looking);
    for (size_t f = 0; f < course->series->figure_count; f++) {
        take(looking, f);
        course->looked_at += looking->count >= IDS_COURSE_RUNS && is_asked(looking, f);
    }
    for (size_t f = 0; f < course->series->figure_count; f++) {
        if (is_asked(looking, f) && look(looking, f)) return -1;
    }
    return drop_moved(looking) || ids_course_group(course) ? -1 : 0;
}

int ids_course_make(const struct ids_series *series, const struct ids_course_options *options,
                    struct ids_course *ret_course, struct ids_error *err) {
    struct looking looking = {.course = ret_course, .options = options};
    *ret_course = (struct ids_course){.series = series};
    ids_report_init(&ret_course->report);
    looking.values = calloc(series->run_count + 1, sizeof *looking.values);
    looking.runs = calloc(series->run_count + 1, sizeof *looking.runs);
    int failed = !looking.values || !looking.runs || look_at_all(&looking);
    free(looking.values);
    free(looking.runs);
    if (!failed) ids_course_report(ret_course);
    int code = failed ? ids_no_memory(err) : ids_report_check(&ret_course->report, err);
    if (code) ids_course_done(ret_course);
    return code;
}

void ids_course_done(struct ids_course *course) {
    free(course->rows);
    free(course->groups);
    free(course->drifts.at);
    free(course->latest.at);
    ids_report_done(&course->report);
    *course = (struct ids_course){0};
}
