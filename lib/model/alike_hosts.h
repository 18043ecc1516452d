/* alike_hosts.h - profiles that lie in a run twice, under two names: each counts as a host. */
#ifndef IDS_LIB_MODEL_ALIKE_HOSTS_H
#define IDS_LIB_MODEL_ALIKE_HOSTS_H

#include "lib/base/error.h"
#include "lib/model/trace.h"

/* Warns of each host that has what another one before it has: the same session's begin, and devices that did as much
 * from and to the same picosecond. Before times are moved to another clock. */
int ids_alike_hosts_say(struct ids_trace *trace, struct ids_error *err);

#endif
