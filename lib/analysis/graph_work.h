/* graph_work.h - launches of CUDA or HIP graphs of which the file has no work: a device that looks idle and is not.
 *
 * Profilers may record the call that launches a graph, and none of the kernels in it. Such a graph runs between what
 * was launched before it and what is launched after it; for how long, nobody knows.
 */
#ifndef IDS_LIB_ANALYSIS_GRAPH_WORK_H
#define IDS_LIB_ANALYSIS_GRAPH_WORK_H

#include "lib/analysis/context.h"

/* All such calls, which are seldom any. */
struct ids_graph_work {
    const struct ids_trace *trace;
    size_t *first; /* by track, and one more behind the last: places in `at`; NULL: there are none */
    uint32_t *at;  /* indices of events of their track, which rise */
};

/* 0, or -1 when memory ran out; `work` is to be done with in any case. */
int ids_graph_work_find(struct ids_graph_work *work, const struct ids_trace *trace);
void ids_graph_work_done(struct ids_graph_work *work);

/* From when on such a graph may run in a gap of a GPU: from the end of the first call that launches one between what
 * ran before the gap and what runs after it. NULL: nothing does. INT64_MAX: there is none. */
int64_t ids_graph_work_from(const struct ids_graph_work *work, const struct ids_event *previous,
                            const struct ids_event *next, int64_t gap_from_ps);

/* How many calls launch graphs, and of how many of them the file has no work. */
struct ids_graph_launches {
    uint64_t all, without_work;
};
struct ids_graph_launches ids_graph_launches_of(const struct ids_trace *trace);

#endif
