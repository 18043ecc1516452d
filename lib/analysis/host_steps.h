/* host_steps.h - the numbers of the steps of each host, where they are not the same ones. */
#ifndef IDS_LIB_ANALYSIS_HOST_STEPS_H
#define IDS_LIB_ANALYSIS_HOST_STEPS_H

#include "lib/analysis/context.h"

struct ids_host_steps {
    uint32_t host; /* index of trace->hosts */
    int64_t first, last;
};

/* Whether two hosts have no step in common, such as ranks whose windows one trigger opened at different steps: the
 * steps are then no sequence. The hosts that have steps go to *ret_hosts, in their order, which the caller frees; NULL
 * where they are not apart. -1 when memory ran out. */
int ids_host_steps(const struct ids_analysis *analysis, struct ids_host_steps **ret_hosts, size_t *ret_count);

#endif
