/* profiler.h - the profiler extension as the program sees it. */
#ifndef IDS_COLLECTORS_PJRT_PROFILER_H
#define IDS_COLLECTORS_PJRT_PROFILER_H

#include "collectors/pjrt/pjrt_abi.h"

#include <stddef.h>

/* A chain with our profiler extension in front, or the plugin's own chain. */
struct pjrt_extension *ids_profiler_wrap(struct pjrt_extension *chain);
/* What an error of the profiler's functions says; destroys it. */
void ids_profiler_error(void *error, const char *what, char *why, size_t why_size);

#endif
