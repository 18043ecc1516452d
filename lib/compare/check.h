/* check.h - whether runs keep their limits.
 *
 * A limit against a baseline is kept when a change by more than is tolerated can be excluded, and broken when the
 * change is larger than that and larger than what recordings of the same thing differ by. Between the two lies what
 * these recordings cannot tell: inconclusive, which is neither.
 */
#ifndef IDS_LIB_COMPARE_CHECK_H
#define IDS_LIB_COMPARE_CHECK_H

#include "lib/compare/budget.h"
#include "lib/compare/prediction.h"

/* IDS_CHECK_SKIPPED: a figure that is not there, of an optional limit. */
enum ids_check_verdict { IDS_CHECK_PASS, IDS_CHECK_FAIL, IDS_CHECK_INCONCLUSIVE, IDS_CHECK_SKIPPED };
enum { IDS_CHECK_VERDICTS = IDS_CHECK_SKIPPED + 1 };
const char *ids_check_verdict_name(enum ids_check_verdict verdict); /* "pass" */

/* A change for the worse that somebody accepted: the figure is held to the new level from then on. */
struct ids_acceptance {
    const char *id, *reason;
    int64_t unix_s;
    double value, before; /* the new level, and the one that it replaced; in the unit's base */
    size_t runs;          /* that the new level was found from */
};

struct ids_check_row {
    const struct ids_limit *limit;
    const char *run;  /* its name; the side's label for limits on all runs together */
    const char *path; /* its, or of several the first one's; NULL: not known */
    enum ids_check_verdict verdict;
    int has_value;
    double value, bound; /* in the unit's base; bound: the limit, or the baseline's figure with what is tolerated */
    size_t recordings;   /* against a baseline: that the value is the mean of */
    int has_before;
    double before; /* the baseline's figure, or what was accepted since */
    double half;   /* a new recording of the baseline lies within it of `before` (99 %); NAN: not known */
    const struct ids_acceptance *accepted; /* NULL: none */
    const char *note;                      /* why there is no value, why it cannot be told; NULL */
};

struct ids_check {
    struct ids_check_row *at; /* by limit, then by run */
    size_t count, room;
    size_t counts[IDS_CHECK_VERDICTS];
    enum ids_check_verdict verdict; /* fail if one fails, else inconclusive if one is, else pass */
    struct ids_report report;       /* the same for programs; owns the texts */
};

struct ids_check_options {
    double noise; /* of the baseline: by how much another recording of the same thing may differ; 0: not stated */
    const struct ids_acceptance *accepted;
    size_t accepted_count;
    const struct ids_acceptance *accepting; /* the change of this figure is accepted in this check; NULL: none */
};

/* Checks each run of the settled side against each limit; limits against the baseline (settled with the side; NULL:
 * none) and those on several runs apply to all runs together. A limit on a missing figure fails, unless it is
 * optional. */
int ids_check_make(const struct ids_side *side, const struct ids_side *baseline, const struct ids_budget *budget,
                   const struct ids_check_options *options, struct ids_check *ret_check, struct ids_error *err);
void ids_check_done(struct ids_check *check);
/* The row needs looking at: it failed, or cannot be told. */
int ids_check_is_open(const struct ids_check_row *row);

extern const struct ids_table_def *const ids_check_tables[];
extern const int ids_check_table_count;

#endif
