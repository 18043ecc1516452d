#include "formats/hlo_fingerprint.h"

#include "formats/hlo_fields.h"
#include "lib/base/intern.h"

enum { MAX_DEPTH = 16 }; /* of tuples in tuples */

/* Attributes that are part of what is computed: parameter number, fusion kind, tuple index, dimensions, window, convolution's
 * dimension numbers, slices, dynamic slice sizes, padding, custom call target, dot's dimension numbers, fft, gather, scatter,
 * precision, comparison. */
static int is_attribute(uint32_t number) {
    static const uint8_t numbers[] = {9, 11, 13, 14, 15, 16, 17, 20, 21, 28, 30, 31, 32, 33, 34, 48, 51, 63};
    for (size_t i = 0; i < sizeof numbers; i++) {
        if (numbers[i] == number) return 1;
    }
    return 0;
}

struct making {
    struct ids_keymap *fingerprints; /* instruction id + 1 -> fingerprint */
    struct ids_keymap shapes;        /* instruction id + 1 -> of its result's shape */
    struct ids_keymap places;        /* instruction id + 1 -> its place in its computation */
    struct ids_keymap computations;  /* computation id + 1 -> of its instructions */
};

static uint64_t get(const struct ids_keymap *map, uint64_t id) {
    uint64_t value = 0;
    ids_keymap_get(map, id + 1, &value);
    return value;
}

/* Layouts take no part: they may change where nothing else does. */
static uint64_t shape_of(struct ids_pb shape, int depth) {
    struct ids_pb_field field;
    uint64_t hash = 1;
    while (ids_pb_next(&shape, &field) > 0) {
        switch (ids_hlo_tag_of(&field)) {
        case HLO_SHAPE_ELEMENT:
        case HLO_SHAPE_DIMENSION:
            hash = ids_key_of(ids_key_of(hash, field.number), field.value);
            break;
        case HLO_SHAPE_DIMENSIONS:
            hash = ids_key_of(hash, ids_hash_bytes(field.bytes, (size_t)field.value));
            break;
        case HLO_SHAPE_TUPLE:
            if (depth < MAX_DEPTH) hash = ids_key_of(hash, shape_of(ids_pb_inside(&field), depth + 1));
            break;
        default:
            break;
        }
    }
    return hash;
}

struct instruction {
    uint64_t id, shape, fingerprint;
    uint64_t body; /* the fingerprint with the places of the operands: of an instruction inside a computation */
};

static void add_operand(const struct making *making, uint64_t id, struct instruction *instruction) {
    instruction->fingerprint = ids_key_of(instruction->fingerprint, get(&making->shapes, id));
    instruction->body = ids_key_of(instruction->body, get(&making->places, id));
}

static void read_field(const struct making *making, const struct ids_pb_field *field, struct instruction *instruction) {
    uint64_t id;
    struct ids_pb ids;
    switch (ids_hlo_tag_of(field)) {
    case HLO_INSTRUCTION_ID:
        instruction->id = field->value;
        return;
    case HLO_INSTRUCTION_SHAPE:
        instruction->shape = shape_of(ids_pb_inside(field), 0);
        return;
    case HLO_INSTRUCTION_OPCODE:
        instruction->fingerprint =
            ids_key_of(instruction->fingerprint, ids_hash_bytes(field->bytes, (size_t)field->value));
        return;
    case HLO_INSTRUCTION_OPERAND:
        add_operand(making, field->value, instruction);
        return;
    case HLO_INSTRUCTION_OPERANDS:
        ids = ids_pb_inside(field);
        while (ids.at < ids.end && ids_pb_varint(&ids, &id) == 1) add_operand(making, id, instruction);
        return;
    case HLO_INSTRUCTION_CALLED_ONE:
        instruction->fingerprint = ids_key_of(instruction->fingerprint, get(&making->computations, field->value));
        return;
    case HLO_INSTRUCTION_CALLED:
        ids = ids_pb_inside(field);
        while (ids.at < ids.end && ids_pb_varint(&ids, &id) == 1)
            instruction->fingerprint = ids_key_of(instruction->fingerprint, get(&making->computations, id));
        return;
    default:
        break;
    }
    if (!is_attribute(field->number)) return;
    uint64_t value = field->wire == IDS_PB_BYTES ? ids_hash_bytes(field->bytes, (size_t)field->value) : field->value;
    instruction->fingerprint = ids_key_of(ids_key_of(instruction->fingerprint, field->number), value);
}

static int make_computation(struct making *making, struct ids_pb computation) {
    struct ids_pb_field field;
    uint64_t id = 0, hash = 2, place = 0;
    while (ids_pb_next(&computation, &field) > 0) {
        if (ids_hlo_tag_of(&field) == HLO_COMPUTATION_ID) id = field.value;
        if (ids_hlo_tag_of(&field) != HLO_COMPUTATION_INSTRUCTION) continue;
        struct instruction instruction = {.fingerprint = 3, .body = 4};
        struct ids_pb fields = ids_pb_inside(&field);
        struct ids_pb_field part;
        while (ids_pb_next(&fields, &part) > 0) read_field(making, &part, &instruction);
        instruction.fingerprint = ids_key_of(instruction.fingerprint, instruction.shape);
        hash = ids_key_of(hash, ids_key_of(instruction.fingerprint, instruction.body));
        if (ids_keymap_add(making->fingerprints, instruction.id + 1, instruction.fingerprint) < 0 ||
            ids_keymap_add(&making->shapes, instruction.id + 1, instruction.shape) < 0 ||
            ids_keymap_add(&making->places, instruction.id + 1, ++place) < 0)
            return -1;
    }
    return ids_keymap_add(&making->computations, id + 1, hash) < 0 ? -1 : 0;
}

int ids_hlo_fingerprints_make(struct ids_pb module, struct ids_hlo_fingerprints *ret_fingerprints) {
    struct making making = {.fingerprints = &ret_fingerprints->by_id};
    struct ids_pb_field field;
    int failed = 0;
    *ret_fingerprints = (struct ids_hlo_fingerprints){0};
    /* A computation comes before those that call it, and an instruction behind its operands: XLA writes them in that order. */
    while (!failed && ids_pb_next(&module, &field) > 0) {
        if (ids_hlo_tag_of(&field) == HLO_MODULE_COMPUTATION) failed = make_computation(&making, ids_pb_inside(&field));
    }
    ids_keymap_done(&making.shapes);
    ids_keymap_done(&making.places);
    ids_keymap_done(&making.computations);
    if (failed) ids_hlo_fingerprints_done(ret_fingerprints);
    return failed;
}

uint64_t ids_hlo_fingerprint_of(const struct ids_hlo_fingerprints *fingerprints, uint64_t instruction_id) {
    return get(&fingerprints->by_id, instruction_id);
}

void ids_hlo_fingerprints_done(struct ids_hlo_fingerprints *fingerprints) {
    ids_keymap_done(&fingerprints->by_id);
}
