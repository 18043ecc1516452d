/* difference.h - a figure of two sides: the difference, how sure it is, and the word for it.
 *
 * The word depends on what was recorded. With one recording per side, its steps show how it varies inside, but not
 * whether another recording would be the same. So the verdict is only "differs in these recordings". From three
 * recordings a side on, or with a stated noise floor, an interval that excludes zero is a regression or an improvement.
 */
#ifndef IDS_LIB_COMPARE_DIFFERENCE_H
#define IDS_LIB_COMPARE_DIFFERENCE_H

#include "lib/compare/culprit.h"
#include "lib/model/account.h"

enum ids_verdict {
    IDS_VERDICT_NO_DATA,
    IDS_VERDICT_SAME,         /* equal, or the whole interval lies below the threshold; of a figure without: it does */
    IDS_VERDICT_UNSURE,       /* none of the others can be told */
    IDS_VERDICT_SINGLE_STEPS, /* the means differ, a typical step does not: single steps do */
    IDS_VERDICT_COUNTED,      /* differs; a count or a single figure that has no spread here */
    IDS_VERDICT_DIFFERS,      /* in these recordings: the interval over their steps excludes zero */
    IDS_VERDICT_IMPROVEMENT,
    IDS_VERDICT_REGRESSION,
};
const char *ids_verdict_name(enum ids_verdict verdict); /* "single_steps" */
/* Higher is better for a utilization: -1 worse, 1 better, 0 neither. */
int ids_direction_of(enum ids_better better, double change);

struct ids_compare_options {
    double threshold; /* of a: a smaller change is none; 0.01 */
    double noise;     /* of a: by how much another recording of the same thing may differ; 0: not stated. Every
                       * interval is wider by it */
    /* Globs of what is compared in place of whole steps (slice.h); NULL: everything. */
    const char *scope, *program;
    const char *part; /* which part of each run the sides are of, in words: "steps 3-5"; NULL: all of it */
};

struct ids_difference {
    const char *id, *title;
    enum ids_unit unit;
    enum ids_better better;
    int has_a, has_b;
    double a, b; /* in the unit's base: ps, bytes, ratio */
    struct ids_interval interval;
    enum ids_verdict verdict;
    const char *reason; /* why a side has none */
};

/* The verdict on a and b, the interval known or not. `many`: three recordings a side or more. */
enum ids_verdict ids_judge(const struct ids_difference *difference, const struct ids_compare_options *options,
                           int many);

/* The headline: step time (or window), utilization, idle, collectives, transfers, compilation. */
enum { IDS_HEADLINES = 12 };
int ids_headline_make(const struct ids_side *a, const struct ids_side *b, const struct ids_compare_options *options,
                      struct ids_difference ret_rows[IDS_HEADLINES], size_t *ret_count, struct ids_error *err);

/* The same figures of one run of a settled side, as `a` of the rows. */
size_t ids_headline_of_run(const struct ids_side *side, size_t run, struct ids_difference ret_rows[IDS_HEADLINES]);

/* The parts of a step, which are the ledger's accounts (of the window: the idle ones, and what the device figures tell
 * of the rest), each a mean over the active devices; they sum to it. */
struct ids_part {
    const char *id;    /* the metric: "steps.host.python", "idle.host.python" */
    const char *title; /* the account, as reports call it: "host.python" */
    int per_step;
    int64_t a_ps, b_ps;
    struct ids_culprit culprit; /* the culprit of most of the change; its name is NULL if it is not known */
    struct ids_interval interval;
};
enum { IDS_PARTS_MOST = IDS_ACCOUNT_COUNT + 2 };
struct ids_parts {
    struct ids_part at[IDS_PARTS_MOST];
    size_t count;
    int64_t whole_a_ps, whole_b_ps; /* a step, or the window */
    int64_t remainder_ps;           /* of the change, what the parts do not explain (rounding) */
    struct ids_interval whole;      /* of the change, in place of the headline's, of a slice */
    int64_t busy_change_ps;         /* the change of the parts in which the device did something */
};
int ids_parts_make(const struct ids_side *a, const struct ids_side *b, const struct ids_compare_options *options,
                   struct ids_parts *ret_parts, struct ids_error *err);

#endif
