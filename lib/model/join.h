/* join.h - what ties events of different tracks together, done once all tracks are read. */
#ifndef IDS_LIB_MODEL_JOIN_H
#define IDS_LIB_MODEL_JOIN_H

#include "lib/base/keymap.h"
#include "lib/model/calls.h"
#include "lib/model/trace.h"

/* What the reading gathered for the joins. */
struct ids_join {
    struct ids_keymap op_ends; /* link -> when a CPU op ended (its "end:" event), as int64 */
    /* The same link -> when the first op began in the task of a thread pool that recorded the end; only where there is
     * one: see end_of. */
    struct ids_keymap op_goes_on;
    struct ids_instruction_info *hlo;
    uint32_t *hlo_hosts; /* of each */
    size_t hlo_count, hlo_room, hlo_host_room;
    struct ids_keymap hlo_by_program; /* (host, program id, instruction name) -> index of hlo */
    struct ids_keymap hlo_by_module;  /* (module name, instruction name) -> index of hlo */
    uint64_t ops_without_end;         /* of hosts that are whole */
};

void ids_join_done(struct ids_join *join);
/* Remembers an instruction. */
int ids_join_hlo(struct ids_join *join, uint32_t host, const struct ids_instruction_info *instruction,
                 struct ids_error *err);

/* What needs nothing of other hosts, of the whole hosts that have the devices and tracks from these on: CPU op ends;
 * the order of devices and of all events; parents on threads. */
int ids_join_hosts(struct ids_join *join, struct ids_trace *trace, size_t first_device, size_t first_track,
                   struct ids_error *err);
/* Joins, when all hosts are whole: opcodes, sources and groups from HLO; producers with consumers; launches of device
 * events. Leaves a diag for what found no partner. */
int ids_join_run(struct ids_join *join, struct ids_calls *calls, struct ids_trace *trace, struct ids_error *err);

#endif
