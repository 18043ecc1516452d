/* join.h - what ties events of different tracks together, done once all tracks are read. */
#ifndef IDS_LIB_MODEL_JOIN_H
#define IDS_LIB_MODEL_JOIN_H

#include "lib/model/calls.h"
#include "lib/model/joinable.h"

/* What needs nothing of other hosts, of the whole hosts that have the devices and tracks from these on: CPU op ends;
 * the order of devices and of all events; parents on threads. */
int ids_join_hosts(struct ids_join *join, struct ids_trace *trace, size_t first_device, size_t first_track,
                   struct ids_error *err);
/* Joins, when all hosts are whole: opcodes, sources and groups from HLO; producers with consumers; launches of device
 * events. Leaves a diag for what found no partner. */
int ids_join_run(struct ids_join *join, struct ids_calls *calls, struct ids_trace *trace, struct ids_error *err);

#endif
