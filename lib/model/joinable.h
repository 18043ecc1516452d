/* joinable.h - what the reading of a run gathers for the joins (join.h). */
#ifndef IDS_LIB_MODEL_JOINABLE_H
#define IDS_LIB_MODEL_JOINABLE_H

#include "lib/base/keymap.h"
#include "lib/model/trace.h"

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

/* The instruction of that name (a text) in that program; NULL where no program of the file has it. */
const struct ids_instruction_info *ids_join_instruction(const struct ids_join *join, const struct ids_module *module,
                                                        uint32_t name);

#endif
