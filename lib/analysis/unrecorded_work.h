/* unrecorded_work.h - work of a device that the file does not have, though its time lies in the window.
 *
 * It was launched before the recording (found by earlier_work.h), or lies in graphs whose kernels the profiler leaves
 * out (found by graph_work.h). The ledger books it on account device.unknown under a culprit of its own: it is neither
 * idle time that somebody can win nor work that can be judged.
 */
#ifndef IDS_LIB_ANALYSIS_UNRECORDED_WORK_H
#define IDS_LIB_ANALYSIS_UNRECORDED_WORK_H

#include "lib/analysis/context.h"
#include "lib/report/report.h"

/* Culprits of account device.unknown. */
#define IDS_EARLIER_WORK "work from before the recording"
#define IDS_GRAPH_WORK "work of graphs that is not recorded"

enum ids_unrecorded { IDS_UNRECORDED_NONE, IDS_UNRECORDED_EARLIER, IDS_UNRECORDED_GRAPHS };

/* Which of them an entry of the ledger is; IDS_UNRECORDED_NONE: neither. */
enum ids_unrecorded ids_unrecorded_of(const struct ids_ledger *ledger, const struct ids_ledger_entry *entry);

/* How much time of it all devices have in their windows, in picoseconds. */
int64_t ids_unrecorded_ps(const struct ids_analysis *analysis, enum ids_unrecorded kind);

/* Says it as a property of the report, from a hundredth of the window on: "earlier_work" and "graph_work" for a tenth
 * and more, which leave open how busy the device was, else "some_earlier_work" and "some_graph_work". */
void ids_say_unrecorded(const struct ids_analysis *analysis, struct ids_report *report);

/* Whether the file leaves open how busy its devices were: they had such work for a tenth of the window or more, or it
 * holds only a part of the ops that ran (excerpt.h). */
int ids_is_utilization_unknown(const struct ids_report *report);

/* Whether kernels of graphs are missing for a tenth of the window or more: then those beside them stand for nothing. */
int ids_are_graphs_unrecorded(const struct ids_report *report);

#endif
