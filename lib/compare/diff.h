/* diff.h - everything that two sides differ in: whether they can be compared, the headline, the parts of a step, ops,
 * kernels and what they sum to, and what made the difference.
 */
#ifndef IDS_LIB_COMPARE_DIFF_H
#define IDS_LIB_COMPARE_DIFF_H

#include "lib/compare/alike_matches.h"
#include "lib/compare/comparability.h"
#include "lib/compare/structure.h"
#include "lib/compare/sums.h"
#include "lib/compare/waterfall.h"

/* Something that changed and costs time, or saves it: recompilations, transfers, ops that came or went, waiting. */
struct ids_change {
    const char *id;      /* stable: "compile.in_steps" */
    const char *text;    /* for people */
    int known;           /* what it costs is */
    double change_ps;    /* per step (or in the window) and device */
    const char *explain; /* a metric or section of the report that shows more */
};

struct ids_changes {
    struct ids_change *at; /* the most first, then those of unknown cost */
    size_t count, room;
};

struct ids_diff {
    const struct ids_side *a, *b;
    struct ids_compare_options options;
    const char *slice; /* what the comparison is about, in words, where that is not the whole of the runs; or NULL */
    const char *other_devices; /* in words (ids_other_devices); or NULL */
    struct ids_remarks remarks;
    struct ids_difference headline[IDS_HEADLINES];
    size_t headline_count;
    struct ids_parts parts;
    struct ids_items ops[2], kernels[2];
    struct ids_matches op_matches, kernel_matches;
    struct ids_alike_list alike; /* of op_matches */
    int has_ops, has_kernels;
    struct ids_sums modules, scopes, families, collectives;
    struct ids_changes changes;
    struct ids_waterfall waterfall;
    struct ids_structure structure;
    /* The whole, in ps a step (or window) and device: parts.whole_b - parts.whole_a =
     *   ops_ps (Σ of the contributions of ops) + without_ps (activity without an op) + overlap_ps (ops that ran at the
     *   same time, or outside of steps) + idle_ps (the parts in which nothing ran) */
    int64_t ops_ps, without_ps, overlap_ps, idle_ps;
    struct ids_report report; /* the same for programs: properties and tables; and the texts of all above */
};

/* The sides are settled (ids_sides_settle) and outlive the diff. The diff is the caller's to end when 0 is returned. */
int ids_diff_make(const struct ids_side *a, const struct ids_side *b, const struct ids_compare_options *options,
                  struct ids_diff *ret_diff, struct ids_error *err);
void ids_diff_done(struct ids_diff *diff);

/* The verdict of the step time (or, without steps, SAME when nothing differs, else COUNTED). */
enum ids_verdict ids_diff_verdict(const struct ids_diff *diff);

/* diff_changes.c: fills diff->changes. diff_report.c: fills diff->report. For ids_diff_make. */
int ids_changes_make(struct ids_diff *diff, struct ids_error *err);
void ids_diff_report(struct ids_diff *diff);

/* The tables of diff->report, for the renderers. */
extern const struct ids_table_def *const ids_diff_tables[];
extern const int ids_diff_table_count;

#endif
