#include "lib/hlo/finish.h"

#include "lib/hlo/fingerprint.h"
#include "lib/hlo/shape.h"

static uint64_t find(const struct ids_keymap *map, uint64_t id) {
    uint64_t index;
    return ids_keymap_get(map, ids_hlo_id_key((int64_t)id), &index) ? index : IDS_HLO_NONE;
}

static int number_all(struct ids_hlo_module *module) {
    for (size_t i = 0; i < module->instruction_count; i++) {
        if (ids_keymap_add(&module->by_id, ids_hlo_id_key(module->instructions[i].id), i) < 0) return -1;
    }
    for (size_t i = 0; i < module->computation_count; i++) {
        if (ids_keymap_add(&module->computation_by_id, ids_hlo_id_key(module->computations[i].id), i) < 0) return -1;
    }
    return 0;
}

/* Programs from before is_fusion_computation: the inside of a fusion is what a fusion calls. */
static void mark_fusions(struct ids_hlo_module *module) {
    for (size_t i = 0; i < module->instruction_count; i++) {
        const struct ids_hlo_instruction *instruction = &module->instructions[i];
        if (!ids_text_is(instruction->opcode, "fusion")) continue;
        for (uint32_t c = 0; c < instruction->called.count; c++) {
            uint64_t called = module->called[instruction->called.first + c];
            if (called != IDS_HLO_NONE) module->computations[called].is_fusion = 1;
        }
    }
}

int ids_hlo_module_finish(struct ids_hlo_module *module, struct ids_error *err) {
    if (number_all(module)) return ids_no_memory(err);
    for (size_t i = 0; i < module->operand_count; i++) module->operands[i] = find(&module->by_id, module->operands[i]);
    for (size_t i = 0; i < module->called_count; i++)
        module->called[i] = find(&module->computation_by_id, module->called[i]);
    for (size_t i = 0; i < module->computation_count; i++) {
        struct ids_hlo_computation *computation = &module->computations[i];
        computation->root = (uint32_t)find(&module->by_id, (uint64_t)computation->root_id);
    }
    module->entry = (uint32_t)find(&module->computation_by_id, (uint64_t)module->entry_id);
    if (!module->has_fusion_flags) mark_fusions(module);
    ids_hlo_measure_shapes(module);
    ids_hlo_fingerprint(module);
    return 0;
}
