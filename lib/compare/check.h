/* check.h - whether runs keep their limits. */
#ifndef IDS_LIB_COMPARE_CHECK_H
#define IDS_LIB_COMPARE_CHECK_H

#include "lib/compare/budget.h"
#include "lib/compare/difference.h"

enum ids_check_verdict { IDS_CHECK_HELD, IDS_CHECK_BROKEN, IDS_CHECK_NO_DATA };
const char *ids_check_verdict_name(enum ids_check_verdict verdict);

struct ids_check_row {
    const struct ids_limit *limit;
    const char *run; /* its name; the side's label for limits against a baseline */
    enum ids_check_verdict verdict;
    int has_value;
    double value, bound; /* in the unit's base; bound: the limit, or the baseline's figure with what is tolerated */
    const char *note;    /* why there is no value, the baseline's figure, the spread; NULL */
};

struct ids_check {
    struct ids_check_row *at; /* by limit, then by run */
    size_t count, room;
    size_t broken, no_data;
    struct ids_report report; /* the same for programs; owns the texts */
};

/* Checks each run of the settled side against each limit. Limits against the baseline (settled with the side; NULL:
 * none) apply to the mean of the runs. Such a limit is broken if the mean is worse by more than the tolerance and,
 * if both sides have at least three runs, the interval excludes zero. A limit on a missing figure fails. */
int ids_check_make(const struct ids_side *side, const struct ids_side *baseline, const struct ids_budget *budget,
                   struct ids_check *ret_check, struct ids_error *err);
void ids_check_done(struct ids_check *check);

extern const struct ids_table_def *const ids_check_tables[];
extern const int ids_check_table_count;

#endif
