/* subject.h - what a limit is on: a metric, or the time of some culprits, ops, kernels, a scope or a program, by name
 * or glob:
 *
 *   steps.mean                  a metric
 *   work.compute                an account of the ledger, per step
 *   host.*                      several accounts together
 *   work.compute[layer3]        of it what layer3 takes: a culprit, or a scope that it lies in
 *   op[fusion*]  kernel[*gemm*]  scope[layer?/attention]  program[jit_train_step]
 *
 * Times are per step (without steps in the window) and device.
 */
#ifndef IDS_LIB_COMPARE_SUBJECT_H
#define IDS_LIB_COMPARE_SUBJECT_H

#include "lib/compare/side.h"

enum ids_subject_kind {
    IDS_SUBJECT_METRIC,
    IDS_SUBJECT_ACCOUNT,
    IDS_SUBJECT_OP,
    IDS_SUBJECT_KERNEL,
    IDS_SUBJECT_SCOPE,
    IDS_SUBJECT_PROGRAM,
};

struct ids_subject {
    enum ids_subject_kind kind;
    const struct ids_metric_def *metric; /* its id is what was written; of others than metrics made for the limit */
    const char *account;                 /* a glob: "host.*" */
    const char *pattern;                 /* NULL: the whole */
    const char *next;                    /* the option of `report` that shows more: "--explain steps.mean" */
};

/* NULL, with the reason in `err`, when no metric has that id. */
typedef const struct ids_metric_def *ids_find_metric(const char *id, struct ids_error *err);

/* How much of a text, which may go on behind it, is the subject: up to a space or '=', but none inside brackets. */
size_t ids_subject_length(const char *text, size_t length);
/* Texts live in the arena. IDS_USAGE when nothing is called so. */
int ids_subject_parse(const char *text, size_t length, ids_find_metric *find, struct ids_arena *arena,
                      struct ids_subject *ret_subject, struct ids_error *err);

/* Its value in a run, in the unit's base. NULL, or why there is none; the reason may live in `texts`. */
const char *ids_subject_value(const struct ids_subject *subject, const struct ids_side_run *run,
                              struct ids_report *texts, double *ret_value);

/* Whether the pattern is the path, or some components of it that follow each other: "layer3" of "model/layer3/mlp". */
int ids_pattern_matches_scope(const char *pattern, const char *path);

#endif
