/* levels.h - every figure of some runs of a series against that of others: what is different since. */
#ifndef IDS_LIB_COMPARE_LEVELS_H
#define IDS_LIB_COMPARE_LEVELS_H

#include "lib/compare/course.h"
#include "lib/compare/difference.h"

struct ids_level_runs {
    const size_t *at; /* places in the series */
    size_t count;
};

struct ids_levels {
    const struct ids_series *series;
    struct ids_level_runs a, b;
    struct ids_level {
        size_t figure;
        int is_metric;
        struct ids_difference difference;
    } * at; /* metrics first, then times, the largest difference first */
    size_t count, room;
    struct ids_report report; /* the same for programs */
};

/* Only figures that differ by as much as the options say, and metrics. With three runs on either side an interval says
 * how sure a difference is; of all figures that are called different at most a hundredth is not. */
int ids_levels_make(const struct ids_series *series, struct ids_level_runs a, struct ids_level_runs b,
                    const struct ids_course_options *options, struct ids_levels *ret_levels, struct ids_error *err);
void ids_levels_done(struct ids_levels *levels);

extern const struct ids_table_def *const ids_levels_tables[];
extern const int ids_levels_table_count;

#endif
