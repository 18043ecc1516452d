/* grades.h - which figures are good and which are bad: the only table of thresholds.
 *
 * A grade depends only on figures of the report, so a cached report can be graded again with other thresholds.
 */
#ifndef IDS_LIB_ANALYSIS_GRADES_H
#define IDS_LIB_ANALYSIS_GRADES_H

#include "lib/analysis/params.h"
#include "lib/report/report.h"

enum { IDS_GRADE_FIGURES = 3, IDS_GRADE_RULES = 9 };

/* A metric with thresholds: good on the better side of `warn`, bad on the other side of `bad`. */
struct ids_grade_rule {
    const char *metric;
    const char *figures[IDS_GRADE_FIGURES]; /* what is judged, the worst counts; none: its own value */
    struct ids_value warn, bad;             /* in the unit of the metric */
    int of_nothing;                         /* 1: a value of 0 is graded too */
};

struct ids_grade_rules {
    struct ids_grade_rule at[IDS_GRADE_RULES];
};

void ids_grade_rules_default(const struct ids_params *params, struct ids_grade_rules *ret_rules);
/* The rule of a metric, or NULL. */
struct ids_grade_rule *ids_grade_rule_find(struct ids_grade_rules *rules, const char *metric);
struct ids_threshold ids_grade_threshold(const struct ids_grade_rule *rule);
/* The metric whose grade another one shows, if that is worse than its own; NULL. */
const char *ids_grade_shown(const char *metric);

/* Grades every metric of the report, over all devices and of each. */
void ids_grade(const struct ids_grade_rules *rules, struct ids_report *report);
/* The same by the standard thresholds, for a report that was stored: it has grades, but not what they follow from. */
void ids_grade_standard(struct ids_report *report);

#endif
