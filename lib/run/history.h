/* history.h - what stands in the folder of a capture beside the profiles: the history of steps of its processes, and
 * why a window was kept. */
#ifndef IDS_LIB_RUN_HISTORY_H
#define IDS_LIB_RUN_HISTORY_H

#include "lib/capture/kept.h"
#include "lib/io/run_files.h"
#include "lib/report/report.h"

enum { IDS_HISTORY_PROCESSES = 16 };

/* Fills the report's tables `history` and `slow_steps`, in place of what a stored report has of them; its metrics are
 * there, because calls that only launch steps are told from steps by how long these took. Runs that are in no folder of
 * a capture have neither. */
void ids_history_describe(const struct ids_run_files *run, struct ids_report *report);
/* Warns of steps that come at equal distances and of which the report, which is whole, measures none; advises to record
 * slow steps where they take much of the run; and tells how much longer its steps took than those around them. */
void ids_history_warn(const struct ids_run_files *run, struct ids_report *report);
/* The same tables of a capture's folder, which may have no profile. Whether there is a step. */
int ids_history_of_folder(const char *folder, struct ids_report *report);
/* Whether there is a history of its steps. */
int ids_has_history(const struct ids_run_files *run);
/* Why the run was kept. 0, or -1 when nobody said it. */
int ids_run_kept(const struct ids_run_files *run, struct ids_kept *ret_kept);

#endif
