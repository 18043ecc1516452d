#include "lib/compare/course_names.h"

#include <math.h>
#include <string.h>

/* Of the longer one: more than two levels of one figure differ by chance. */
#define SAME_TIME 0.05

static int is_gone(const struct ids_course_row *row) {
    return row->role == IDS_COURSE_CAUSE && row->change.after == 0 && row->change.before > 0;
}

static int is_new(const struct ids_course_row *row) {
    return row->role == IDS_COURSE_CAUSE && row->change.before == 0 && row->change.after > 0;
}

static int takes_the_time_of(const struct ids_course *course, const struct ids_course_row *fresh,
                             const struct ids_course_row *gone) {
    const struct ids_series_figure *figures = course->series->figures;
    double was = gone->change.before, is = fresh->change.after;
    return figures[fresh->figure].kind == figures[gone->figure].kind && fabs(is - was) <= SAME_TIME * fmax(is, was);
}

static const char *name_of(const struct ids_course *course, const struct ids_course_row *row) {
    return course->series->figures[row->figure].name;
}

/* The next by name, after a row or SIZE_MAX; rows are few. */
static size_t next_gone(const struct ids_course *course, const struct ids_course_rows *rows, size_t after) {
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        const char *name = name_of(course, &rows->at[i]);
        if (!is_gone(&rows->at[i])) continue;
        if (after != SIZE_MAX && strcmp(name, name_of(course, &rows->at[after])) <= 0) continue;
        if (next == SIZE_MAX || strcmp(name, name_of(course, &rows->at[next])) < 0) next = i;
    }
    return next;
}

static size_t first_new(const struct ids_course *course, const struct ids_course_rows *rows, size_t gone,
                        const size_t *taken) {
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        const struct ids_course_row *row = &rows->at[i];
        if (!is_new(row) || !takes_the_time_of(course, row, &rows->at[gone])) continue;
        if (taken[i] != SIZE_MAX) continue;
        if (first == SIZE_MAX || strcmp(name_of(course, row), name_of(course, &rows->at[first])) < 0) first = i;
    }
    return first;
}

void ids_course_new_names(const struct ids_course *course, const struct ids_course_rows *rows, size_t *ret_new) {
    for (size_t i = 0; i < rows->count; i++) ret_new[i] = SIZE_MAX;
    for (size_t i = next_gone(course, rows, SIZE_MAX); i != SIZE_MAX; i = next_gone(course, rows, i)) {
        size_t fresh = first_new(course, rows, i, ret_new);
        if (fresh == SIZE_MAX) continue;
        ret_new[i] = ret_new[fresh] = fresh;
    }
}
