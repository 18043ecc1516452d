/* core_users.h - who had the cores that something else lacked: the program's own threads and which function they ran,
 * processes that it started, or others. */
#ifndef IDS_ANALYZERS_CORE_USERS_H
#define IDS_ANALYZERS_CORE_USERS_H

#include "lib/analysis/context.h"
#include "lib/report/report.h"

/* "of 2 cores the program had 1.20 (beside what launches mostly in mine, train.py:12), 3 processes that it started
 * (python) 0.60, others (cc1) 0.15"; a text of the report. Of the process beside which most was taken by others than
 * itself. NULL: not recorded, or memory ran out. */
const char *ids_core_users_in_words(const struct ids_analysis *analysis, struct ids_report *report);
/* Whether it is the program's own doing that cores lack: what it started had more of them than others, and a quarter of
 * all, or its threads that launch nothing were in one function for half of the time; and others had not half of all. */
int ids_core_users_are_own(const struct ids_analysis *analysis);

#endif
