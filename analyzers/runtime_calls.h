/* runtime_calls.h - what a call of CUDA's or HIP's runtime is for, by its name, its length and when it was: conditions
 * of remedies.h. */
#ifndef IDS_ANALYZERS_RUNTIME_CALLS_H
#define IDS_ANALYZERS_RUNTIME_CALLS_H

#include "analyzers/circumstances.h"
#include "lib/analysis/context.h"

/* "cudaMalloc", "hipFree", "cuMemAlloc_v2": of any runtime. */
int ids_is_call_of_runtime(const char *name);

/* The culprit is the call with which the recording of a graph begins. */
int ids_call_records_graph(const struct ids_circumstances *about);
/* Of the time that was recorded of devices that host threads did so. */
double ids_graph_recording_share(const struct ids_analysis *analysis);
int ids_call_makes_context(const struct ids_circumstances *about);
/* It takes far longer than memory is taken and freed in, and the device has its context. */
int ids_call_allocates_at_first(const struct ids_circumstances *about);
int ids_call_allocates(const struct ids_circumstances *about);
int ids_call_loads_code(const struct ids_circumstances *about);
int ids_call_makes_objects(const struct ids_circumstances *about);

#endif
