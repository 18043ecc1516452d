#include "lib/model/joinable.h"

#include "lib/base/vec.h"

#include <stdlib.h>

void ids_join_done(struct ids_join *join) {
    ids_keymap_done(&join->op_ends);
    ids_keymap_done(&join->op_goes_on);
    free(join->hlo);
    free(join->hlo_hosts);
    ids_keymap_done(&join->hlo_by_program);
    ids_keymap_done(&join->hlo_by_module);
    *join = (struct ids_join){0};
}

/* An instruction of a program, whose id is a number of its host. */
static uint64_t key_in_program(uint32_t host, uint64_t program_id, uint32_t name) {
    return ids_key_of(ids_key_of(program_id, host), name);
}

int ids_join_hlo(struct ids_join *join, uint32_t host, const struct ids_instruction_info *instruction,
                 struct ids_error *err) {
    uint64_t index = join->hlo_count;
    size_t hosts = join->hlo_count;
    uint32_t *of_host = IDS_PUSH(join->hlo_hosts, hosts, join->hlo_host_room);
    struct ids_instruction_info *kept = of_host ? IDS_PUSH(join->hlo, join->hlo_count, join->hlo_room) : NULL;
    if (!kept) return ids_no_memory(err);
    *of_host = host;
    *kept = *instruction;
    if (instruction->program_id &&
        ids_keymap_add(&join->hlo_by_program, key_in_program(host, instruction->program_id, instruction->name), index) <
            0)
        return ids_no_memory(err);
    return ids_keymap_add(&join->hlo_by_module, ids_key_of(instruction->module, instruction->name), index) < 0
               ? ids_no_memory(err)
               : 0;
}

const struct ids_instruction_info *ids_join_instruction(const struct ids_join *join, const struct ids_module *module,
                                                        uint32_t name) {
    uint64_t index;
    if (!ids_keymap_get(&join->hlo_by_program, key_in_program(module->host, module->program_id, name), &index) &&
        !ids_keymap_get(&join->hlo_by_module, ids_key_of(module->name, name), &index))
        return NULL;
    return &join->hlo[index];
}
