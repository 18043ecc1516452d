/* containers.h - the loops, branches and calls of a CPU, whose time is that of the ops inside them. */
#ifndef IDS_LIB_MODEL_CONTAINERS_H
#define IDS_LIB_MODEL_CONTAINERS_H

#include "lib/model/trace.h"

/* Finds those that no category names, and takes from the own time of each what other ops of its device take inside it.
 * The ops of a body run on whichever thread is free, so that they need not nest on a track. Devices are in order of
 * time. 0, or IDS_NOMEM. */
int ids_containers_find(struct ids_trace *trace, struct ids_error *err);

#endif
