/* profiler_overhead.h - whom CUPTI held up with its own work, where a file has that on a line of its own.
 *
 * A thread gets a buffer at its first call of the runtime, which takes 3 ms. The record of that names the thread, and
 * idsprof writes it among the thread's calls; older files have it on a line "CUPTI overhead". */
#ifndef IDS_LIB_MODEL_PROFILER_OVERHEAD_H
#define IDS_LIB_MODEL_PROFILER_OVERHEAD_H

#include "lib/model/trace.h"

/* Brings it to the thread that made a call just before and none meanwhile. 0, or -1 when memory ran out. */
int ids_profiler_overhead_join(struct ids_trace *trace);

#endif
