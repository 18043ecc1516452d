#include "formats/hlo_schedule.h"

#include "formats/hlo_tag.h"

/* The next places to give in a computation. */
struct placing {
    struct ids_hlo_module *module;
    const struct ids_hlo_computation *computation;
    uint32_t placed;
    int wrong; /* an instruction of another computation, or twice */
};

static void place(struct placing *placing, uint64_t id) {
    const struct ids_hlo_range *own = &placing->computation->instructions;
    uint64_t index;
    if (!ids_keymap_get(&placing->module->by_id, ids_hlo_id_key((int64_t)id), &index) || index < own->first ||
        index - own->first >= own->count || placing->module->instructions[index].place != IDS_HLO_NONE) {
        placing->wrong = 1;
        return;
    }
    placing->module->instructions[index].place = placing->placed++;
}

static void read_sequence(struct placing *placing, struct ids_pb bytes) {
    struct ids_pb_field field;
    uint64_t id;
    while (ids_pb_next(&bytes, &field) > 0) {
        if (ids_hlo_tag_of(&field) == IDS_HLO_TAG(HLO_SEQUENCE_IDS, VARINT)) place(placing, field.value);
        if (ids_hlo_tag_of(&field) != IDS_HLO_TAG(HLO_SEQUENCE_IDS, BYTES)) continue;
        struct ids_pb list = ids_pb_inside(&field);
        while (list.at < list.end && ids_pb_varint(&list, &id) == 1) place(placing, id);
    }
}

static void read_entry(struct ids_hlo_module *module, struct ids_pb bytes) {
    struct ids_pb sequence = {0};
    struct ids_pb_field field;
    uint64_t index, id = 0;
    while (ids_pb_next(&bytes, &field) > 0) {
        if (ids_hlo_tag_of(&field) == IDS_HLO_TAG(HLO_SCHEDULE_COMPUTATION_ID, VARINT)) id = field.value;
        if (ids_hlo_tag_of(&field) == IDS_HLO_TAG(HLO_SCHEDULE_SEQUENCE, BYTES)) sequence = ids_pb_inside(&field);
    }
    if (!ids_keymap_get(&module->computation_by_id, ids_hlo_id_key((int64_t)id), &index)) return;
    struct placing placing = {.module = module, .computation = &module->computations[index]};
    read_sequence(&placing, sequence);
    const struct ids_hlo_range *own = &placing.computation->instructions;
    if (!placing.wrong && placing.placed == own->count) return;
    for (uint32_t i = 0; i < own->count; i++) module->instructions[own->first + i].place = IDS_HLO_NONE;
}

void ids_hlo_schedule_read(struct ids_pb bytes, struct ids_hlo_module *module) {
    struct ids_pb_field field;
    while (ids_pb_next(&bytes, &field) > 0) {
        if (ids_hlo_tag_of(&field) == IDS_HLO_TAG(HLO_SCHEDULE_ENTRY, BYTES)) read_entry(module, ids_pb_inside(&field));
    }
}
