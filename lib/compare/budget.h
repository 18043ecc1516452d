/* budget.h - limits on figures, as people write them:
 *
 *   # mean step time, without the warm-up
 *   steps.mean < 150 ms over 100 steps after 10
 *   device.utilization >= 70 %
 *   compile.in_steps = 0
 *   steps.p95 no worse than baseline by 5 %
 *
 * One limit a line; '#' begins a comment. A value has the unit of its metric: ns, us, ms, s; B, kB, MB, GB, KiB, MiB,
 * GiB; % or a share; B/s and the like; or none.
 */
#ifndef IDS_LIB_COMPARE_BUDGET_H
#define IDS_LIB_COMPARE_BUDGET_H

#include "lib/report/report.h"

enum ids_limit_kind {
    IDS_LIMIT_BELOW,
    IDS_LIMIT_AT_MOST,
    IDS_LIMIT_ABOVE,
    IDS_LIMIT_AT_LEAST,
    IDS_LIMIT_EQUAL,
    IDS_LIMIT_BASELINE
};

struct ids_limit {
    const struct ids_metric_def *metric;
    enum ids_limit_kind kind;
    double value;        /* in the unit's base (ps, bytes, ratio); of IDS_LIMIT_BASELINE the tolerated share */
    int64_t over, after; /* for figures of steps: how many steps to use (0: all), and how many of warm-up to skip */
    const char *text;    /* as it was written */
};

struct ids_budget {
    struct ids_arena arena;
    struct ids_limit *at;
    size_t count, room;
};

/* NULL, with the reason in `err`, when no metric has that id. */
typedef const struct ids_metric_def *ids_find_metric(const char *id, struct ids_error *err);

enum { IDS_BUDGET_BYTES = 1 << 20, IDS_BUDGET_LIMITS = 10000 };

/* Adds the limits of a file's text; a mistake is an error with its line. IDS_USAGE. */
int ids_budget_read(struct ids_budget *budget, const char *text, size_t length, ids_find_metric *find,
                    struct ids_error *err);
/* Adds "ID=VALUE". */
int ids_budget_add(struct ids_budget *budget, const char *pair, enum ids_limit_kind kind, ids_find_metric *find,
                   struct ids_error *err);
/* "no worse than baseline by" a share, of a metric. */
int ids_budget_add_baseline(struct ids_budget *budget, const char *id, double tolerance, ids_find_metric *find,
                            struct ids_error *err);
void ids_budget_done(struct ids_budget *budget);

/* "150 ms" of that unit, in its base. */
int ids_quantity_parse(const char *text, size_t length, enum ids_unit unit, double *ret_value, struct ids_error *err);

#endif
