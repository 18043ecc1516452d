/* course.h - the course of figures over many runs: which run began a new level, and of what; what drifts; what the last
 * run or two did.
 *
 * Every figure of the series is looked at (change_points.h). Of all of them together one history in a hundred without
 * any change may show one. What changes at the same run is one change, with its cause before what it moved: a layer
 * that takes longer makes the step, the account and the layers around it longer too.
 */
#ifndef IDS_LIB_COMPARE_COURSE_H
#define IDS_LIB_COMPARE_COURSE_H

#include "lib/compare/change_points.h"
#include "lib/report/series.h"

struct ids_course_options {
    double threshold;   /* of a figure: a smaller change is none; 0.01 */
    double least;       /* of a step: a smaller change of a time is none; 0.001 */
    const char *figure; /* a glob of figures' names that are looked at alone; NULL: all */
};

enum ids_course_role {
    IDS_COURSE_CAUSE,
    IDS_COURSE_PART,   /* in a cause: an op of the layer */
    IDS_COURSE_EFFECT, /* what a cause moved: the step, an account, the layers around */
};
const char *ids_course_role_name(enum ids_course_role role); /* "cause" */

struct ids_course_row {
    size_t figure;
    struct ids_change change; /* places are runs of the series */
    enum ids_course_role role;
    size_t group;
};

struct ids_course_rows {
    struct ids_course_row *at; /* causes first, largest first */
    size_t count, room;
    size_t scopes, alike; /* where all change by about the same share: of so many scopes so many do; else 0 */
};

struct ids_course_group {
    size_t run;                  /* the first of the new level */
    size_t first, last;          /* it may as well be any from one to the other */
    struct ids_course_rows rows; /* among the course's */
};

struct ids_course {
    const struct ids_series *series;
    size_t looked_at;            /* figures that enough runs have */
    double step_ps;              /* the mean step over the runs (without steps the window); 0: not known */
    struct ids_course_row *rows; /* by group; causes first, largest first */
    size_t row_count, row_room;
    struct ids_course_group *groups;
    size_t group_count, group_room;
    /* What drifts, and what is out of line in the last runs, is one thing each, with causes as a change has them. */
    struct ids_course_rows drifts; /* before and after: the line's ends; low and high: of its whole rise */
    struct ids_course_rows latest; /* at: the first of the last one or two runs */
    struct ids_report report;      /* the same for programs; owns texts */
};

enum { IDS_COURSE_RUNS = 2 * IDS_LEVEL_LEAST }; /* fewer tell nothing */

/* The series is sorted, and must outlive the course. */
int ids_course_make(const struct ids_series *series, const struct ids_course_options *options,
                    struct ids_course *ret_course, struct ids_error *err);
void ids_course_done(struct ids_course *course);

extern const struct ids_table_def *const ids_course_tables[];
extern const int ids_course_table_count;

#endif
