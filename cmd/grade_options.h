/* grade_options.h - thresholds of grades as a user gives them: --grade device.utilization=90%,60%. */
#ifndef IDS_CMD_GRADE_OPTIONS_H
#define IDS_CMD_GRADE_OPTIONS_H

#include "lib/analysis/grades.h"
#include "lib/cli/opt.h"

/* Puts them into the rules; a later one of a metric takes the place of an earlier one. */
int ids_grade_options(const struct ids_opt_texts *texts, struct ids_grade_rules *rules, struct ids_error *err);

#endif
