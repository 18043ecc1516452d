/* graph_recordings.h - a thread that records a CUDA or HIP graph: from where it begins to capture its stream until the
 * graph is made. What it launches meanwhile does not run, and nothing of it is done again when the graph is launched.
 */
#ifndef IDS_LIB_MODEL_GRAPH_RECORDINGS_H
#define IDS_LIB_MODEL_GRAPH_RECORDINGS_H

#include "lib/model/trace.h"

/* Makes one doing of all that the thread does in each recording: the call with which it begins. A program that records
 * many graphs, one after the other, does that all the time. */
void ids_graph_recordings_fold(const struct ids_trace *trace, struct ids_timeline *timeline);

/* Whether a call of a runtime begins such a recording: "cudaStreamBeginCapture". */
int ids_begins_graph_recording(struct ids_text name);

#endif
