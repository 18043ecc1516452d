#include "lib/hlo/fingerprint.h"

#include "lib/fields/hlo.h"

struct making {
    struct ids_hlo_module *module;
    struct ids_hlo_instruction *instruction;
    uint32_t computation, place; /* of the instruction; its place in the computation from 0 */
    uint64_t fingerprint;
    uint64_t body; /* the fingerprint with the places of the operands: of an instruction inside a computation */
};

/* Adds the attributes with a field number from `from` up to below `to`. */
static void add_attributes(struct making *making, unsigned from, unsigned to) {
    struct ids_hlo_range range = making->instruction->attributes;
    for (uint32_t i = 0; i < range.count; i++) {
        const struct ids_hlo_attribute *attribute = &making->module->attributes[range.first + i];
        if (attribute->field < from || attribute->field >= to) continue;
        uint64_t value = attribute->is_bytes ? ids_hash_bytes(attribute->bytes, attribute->length) : attribute->number;
        making->fingerprint = ids_key_of(ids_key_of(making->fingerprint, attribute->field), value);
    }
}

static void add_operands(struct making *making) {
    const struct ids_hlo_module *module = making->module;
    uint32_t first = module->computations[making->computation].instructions.first;
    for (uint32_t i = 0; i < making->instruction->operands.count; i++) {
        uint64_t operand = module->operands[making->instruction->operands.first + i], shape = 0, place = 0;
        if (operand < first + making->place) {
            uint32_t of = module->instructions[operand].shape;
            shape = of == IDS_HLO_NONE ? 0 : module->shapes[of].fingerprint;
            place = operand >= first ? operand - first + 1 : 0;
        }
        making->fingerprint = ids_key_of(making->fingerprint, shape);
        making->body = ids_key_of(making->body, place);
    }
}

static void add_called(struct making *making) {
    for (uint32_t i = 0; i < making->instruction->called.count; i++) {
        uint64_t called = making->module->called[making->instruction->called.first + i];
        making->fingerprint = ids_key_of(
            making->fingerprint, called < making->computation ? making->module->computations[called].fingerprint : 0);
    }
}

/* In the order of the fields' numbers, in which protobuf writes them. Returns what the computation's fingerprint
 * takes. */
static uint64_t make(struct making *making) {
    struct ids_hlo_instruction *instruction = making->instruction;
    uint32_t shape = instruction->shape;
    making->fingerprint = 3;
    making->body = 4;
    if (instruction->opcode.length) {
        making->fingerprint =
            ids_key_of(making->fingerprint, ids_hash_bytes(instruction->opcode.at, instruction->opcode.length));
    }
    add_attributes(making, 0, HLO_INSTRUCTION_OPERANDS);
    add_operands(making);
    add_called(making);
    add_attributes(making, HLO_INSTRUCTION_CALLED, UINT16_MAX);
    instruction->fingerprint =
        ids_key_of(making->fingerprint, shape == IDS_HLO_NONE ? 0 : making->module->shapes[shape].fingerprint);
    return ids_key_of(instruction->fingerprint, making->body);
}

void ids_hlo_fingerprint(struct ids_hlo_module *module) {
    for (uint32_t c = 0; c < module->computation_count; c++) {
        struct ids_hlo_computation *computation = &module->computations[c];
        uint64_t hash = 2;
        for (uint32_t i = 0; i < computation->instructions.count; i++) {
            struct making making = {.module = module,
                                    .instruction = &module->instructions[computation->instructions.first + i],
                                    .computation = c,
                                    .place = i};
            hash = ids_key_of(hash, make(&making));
        }
        computation->fingerprint = hash;
    }
}
