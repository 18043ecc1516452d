/* recording.h - from when to when a host was recorded, where its file says more than the events in it do.
 *
 * Events begin with the first work. A program that did nothing before it was recorded all the same, and its device had
 * nothing to do then. */
#ifndef IDS_LIB_ANALYSIS_RECORDING_H
#define IDS_LIB_ANALYSIS_RECORDING_H

#include "lib/model/trace.h"

struct ids_recorded {
    int64_t from_ps, to_ps; /* from > to: the file does not say */
};

/* Of each host, by its number. From the begin to the end of the region that idsprof's window was opened for; without
 * one, from the first to the last sample of the stacks that idsprof took; without them, of a profile that was asked for
 * so long. A profile that the program itself opened and closed says nothing: what it did around the work is the
 * program's, or the profiler's own. The caller frees it; NULL when memory ran out. */
struct ids_recorded *ids_recordings(const struct ids_trace *trace);

/* What each host's recording covers, by its number: from the first event of its file to the last, and what
 * ids_recordings says. Before and after that nobody knows what its devices did, and the ledger says so. A host is not
 * told whose file holds devices alone. The caller frees it; NULL when memory ran out. */
struct ids_recorded *ids_coverage(const struct ids_trace *trace);

static inline int ids_is_recorded(const struct ids_recorded *recorded) {
    return recorded->from_ps <= recorded->to_ps;
}

#endif
