/* framework.h - whose program it is, by what its recording has: remedies are in the words of that framework. */
#ifndef IDS_ANALYZERS_FRAMEWORK_H
#define IDS_ANALYZERS_FRAMEWORK_H

#include "lib/model/trace.h"

enum ids_framework { IDS_JAX, IDS_PYTORCH, IDS_TENSORFLOW, IDS_CUDA, IDS_FRAMEWORKS };
enum ids_framework ids_framework_of(const struct ids_trace *trace);
/* Whether kernels that torch.compile made ran. */
int ids_is_torch_compiled(const struct ids_trace *trace);

/* The program launches CUDA graphs. */
int ids_launches_graphs(const struct ids_trace *trace);

#endif
