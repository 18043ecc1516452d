/* framework.h - whose program it is, by what its recording has: remedies are in the words of that framework. */
#ifndef IDS_ANALYZERS_FRAMEWORK_H
#define IDS_ANALYZERS_FRAMEWORK_H

#include "lib/model/trace.h"

enum ids_framework { IDS_JAX, IDS_PYTORCH, IDS_TENSORFLOW, IDS_CUDA, IDS_FRAMEWORKS };
enum ids_framework ids_framework_of(const struct ids_trace *trace);
/* Whether what torch.compile made has a tenth of the devices' time, or of a thread's. */
int ids_is_torch_compiled(const struct ids_trace *trace);
/* PyTorch's ops were recorded on the host. */
int ids_has_torch_ops(const struct ids_trace *trace);
/* A backward pass or an optimizer is in the recording, or nobody knows. */
int ids_trains(const struct ids_trace *trace);
/* What has the profiler record steps, in the words of the framework. */
const char *ids_how_to_mark_steps(enum ids_framework framework);

/* The program launches CUDA graphs. */
int ids_launches_graphs(const struct ids_trace *trace);

#endif
