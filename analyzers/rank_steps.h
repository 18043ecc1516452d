/* rank_steps.h - what each rank did in each step, for a map of both: the table `rank_steps` of the section
 * load_balance. */
#ifndef IDS_ANALYZERS_RANK_STEPS_H
#define IDS_ANALYZERS_RANK_STEPS_H

#include "lib/analysis/context.h"

extern const struct ids_table_def ids_rank_steps_table;

/* Nothing where one device or one step cannot be compared with another. */
int ids_rank_steps_list(const struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err);

#endif
