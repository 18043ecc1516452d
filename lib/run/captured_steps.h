/* captured_steps.h - whether a report counts the steps that `idsprof capture` counted while it recorded. */
#ifndef IDS_LIB_RUN_CAPTURED_STEPS_H
#define IDS_LIB_RUN_CAPTURED_STEPS_H

#include "lib/io/run_files.h"
#include "lib/report/report.h"

/* How they differ, in number or in which, and why as far as that is known: a clause in the report's memory; NULL:
 * alike, or one of the two knows of no steps. */
const char *ids_captured_steps_differ(const struct ids_run_files *run, struct ids_report *report);

/* The same as a warning of the report. */
void ids_captured_steps_describe(const struct ids_run_files *run, struct ids_report *report);

#endif
