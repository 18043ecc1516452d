/* limit.h - a limit on a figure, as people write it:
 *
 *   steps.mean < 150 ms over 100 steps after 10 median of 3 runs
 *   collectives.exposed_share <= 10 % optional
 *   steps.p95 no worse than baseline by 5 %
 */
#ifndef IDS_LIB_COMPARE_LIMIT_H
#define IDS_LIB_COMPARE_LIMIT_H

#include "lib/compare/subject.h"

enum ids_limit_kind {
    IDS_LIMIT_BELOW,
    IDS_LIMIT_AT_MOST,
    IDS_LIMIT_ABOVE,
    IDS_LIMIT_AT_LEAST,
    IDS_LIMIT_EQUAL,
    IDS_LIMIT_BASELINE
};

enum ids_run_aggregate { IDS_OF_EACH_RUN, IDS_OF_RUNS_MEDIAN, IDS_OF_RUNS_MEAN, IDS_OF_RUNS_MIN, IDS_OF_RUNS_MAX };
const char *ids_aggregate_name(enum ids_run_aggregate aggregate); /* "median" */

struct ids_limit {
    struct ids_subject subject;
    enum ids_limit_kind kind;
    double value;        /* in the unit's base (ps, bytes, ratio); of IDS_LIMIT_BASELINE what is tolerated */
    int is_share;        /* of IDS_LIMIT_BASELINE: `value` is a share of the baseline */
    int64_t over, after; /* for figures of steps: how many steps to use (0: all), and how many of warm-up to skip */
    enum ids_run_aggregate aggregate;
    int64_t runs;     /* of an aggregate: at least so many */
    int is_optional;  /* a figure that is not there keeps it */
    const char *text; /* as it was written */
};

/* One line without comment. Texts live in the arena. IDS_USAGE. */
int ids_limit_parse(const char *text, size_t length, ids_find_metric *find, struct ids_arena *arena,
                    struct ids_limit *ret_limit, struct ids_error *err);

/* The figure of the limit in a run. NULL, or why there is none; the reason may live in `texts`. */
const char *ids_limit_value(const struct ids_limit *limit, const struct ids_side_run *run, struct ids_report *texts,
                            double *ret_value);

#endif
