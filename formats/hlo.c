#include "formats/hlo.h"

#include "formats/hlo_buffers.h"
#include "formats/hlo_frames.h"
#include "formats/hlo_groups.h"
#include "formats/hlo_loop.h"
#include "formats/hlo_schedule.h"
#include "formats/hlo_shape.h"
#include "formats/hlo_tag.h"
#include "lib/hlo/cost_matrix.h"
#include "lib/hlo/finish.h"

/* Everything is walked in place: constants, layouts and backend configurations make up most of a module, and most
 * readers want none of them. */
struct reader {
    struct ids_hlo_module *module;
    unsigned parts;
    struct ids_hlo_shapes shapes;
    struct ids_hlo_groups groups;
    struct ids_text config; /* the backend_config of the instruction being read */
    struct ids_pb schedule; /* what the module has of it: computations may come behind it */
    struct ids_error *err;
};

static struct ids_text text_of(const struct ids_pb_field *field) {
    return (struct ids_text){(const char *)field->bytes, (uint32_t)field->value};
}

/* ---- instructions ---- */

/* The fields that say what is computed. */
static int is_attribute(uint32_t field) {
    static const uint64_t fields =
        1ull << HLO_INSTRUCTION_PARAMETER_NUMBER | 1ull << HLO_INSTRUCTION_FUSION_KIND |
        1ull << HLO_INSTRUCTION_TUPLE_INDEX | 1ull << HLO_INSTRUCTION_DIMENSIONS | 1ull << HLO_INSTRUCTION_WINDOW |
        1ull << HLO_INSTRUCTION_CONVOLUTION_DIMENSIONS | 1ull << HLO_INSTRUCTION_SLICE_DIMENSIONS |
        1ull << HLO_INSTRUCTION_DYNAMIC_SLICE_SIZES | 1ull << HLO_INSTRUCTION_PADDING |
        1ull << HLO_INSTRUCTION_CALL_TARGET | 1ull << HLO_INSTRUCTION_DOT_DIMENSIONS |
        1ull << HLO_INSTRUCTION_FFT_TYPE | 1ull << HLO_INSTRUCTION_FFT_LENGTH |
        1ull << HLO_INSTRUCTION_GATHER_DIMENSIONS | 1ull << HLO_INSTRUCTION_GATHER_SLICE_SIZES |
        1ull << HLO_INSTRUCTION_SCATTER_DIMENSIONS | 1ull << HLO_INSTRUCTION_PRECISION |
        1ull << HLO_INSTRUCTION_COMPARISON;
    return field < 64 && (fields >> field & 1);
}

static int add_attribute(struct reader *reader, const struct ids_pb_field *field,
                         struct ids_hlo_instruction *instruction) {
    struct ids_hlo_attribute attribute = {.field = (uint16_t)field->number};
    if (field->wire == IDS_PB_BYTES) {
        attribute.is_bytes = 1;
        attribute.length = (uint32_t)field->value;
        attribute.bytes = (const char *)field->bytes;
    } else {
        attribute.number = field->value;
    }
    instruction->attributes.count++;
    return ids_hlo_add_attribute(reader->module, attribute, reader->err);
}

static int read_metadata(struct reader *reader, struct ids_pb bytes, struct ids_hlo_instruction *instruction) {
    struct ids_hlo_metadata metadata = {.op_name = {"", 0}, .file = {"", 0}};
    struct ids_pb_field field;
    int more;
    while ((more = ids_pb_next(&bytes, &field)) > 0) {
        switch (ids_hlo_tag_of(&field)) {
        case IDS_HLO_TAG(HLO_METADATA_OP_NAME, BYTES):
            metadata.op_name = text_of(&field);
            break;
        case IDS_HLO_TAG(HLO_METADATA_SOURCE_FILE, BYTES):
            metadata.file = text_of(&field);
            break;
        case IDS_HLO_TAG(HLO_METADATA_SOURCE_LINE, VARINT):
            metadata.line = (int32_t)field.value;
            break;
        case IDS_HLO_TAG(HLO_METADATA_FRAME_ID, VARINT):
            metadata.frame = (int32_t)field.value;
            break;
        default:
            break;
        }
    }
    instruction->damaged |= more < 0;
    instruction->metadata = (uint32_t)reader->module->metadata_count;
    return ids_hlo_add_metadata(reader->module, metadata, reader->err);
}

static int add_ids(struct reader *reader, struct ids_pb list, struct ids_hlo_range *range,
                   int (*add)(struct ids_hlo_module *module, uint64_t id, struct ids_error *err)) {
    uint64_t id;
    int code = 0;
    while (!code && list.at < list.end && ids_pb_varint(&list, &id) == 1) {
        range->count++;
        code = add(reader->module, id, reader->err);
    }
    return code;
}

static int read_groups(struct reader *reader, const struct ids_pb_field *field,
                       struct ids_hlo_instruction *instruction) {
    int code = ids_hlo_groups_read(&reader->groups, field);
    if (code == IDS_NOMEM) return ids_no_memory(reader->err);
    instruction->damaged |= code != 0;
    return 0;
}

static int read_field(struct reader *reader, const struct ids_pb_field *field,
                      struct ids_hlo_instruction *instruction) {
    struct ids_hlo_module *module = reader->module;
    if (is_attribute(field->number)) return add_attribute(reader, field, instruction);
    switch (ids_hlo_tag_of(field)) {
    case IDS_HLO_TAG(HLO_INSTRUCTION_NAME, BYTES):
        instruction->name = text_of(field);
        return 0;
    case IDS_HLO_TAG(HLO_INSTRUCTION_OPCODE, BYTES):
        instruction->opcode = text_of(field);
        return 0;
    case IDS_HLO_TAG(HLO_INSTRUCTION_SHAPE, BYTES):
        return ids_hlo_shape_read(&reader->shapes, ids_pb_inside(field), &instruction->shape, reader->err);
    case IDS_HLO_TAG(HLO_INSTRUCTION_METADATA, BYTES):
        return read_metadata(reader, ids_pb_inside(field), instruction);
    case IDS_HLO_TAG(HLO_INSTRUCTION_ID, VARINT):
        instruction->id = (int64_t)field->value;
        return 0;
    case IDS_HLO_TAG(HLO_INSTRUCTION_OPERANDS, BYTES):
        return add_ids(reader, ids_pb_inside(field), &instruction->operands, ids_hlo_add_operand);
    case IDS_HLO_TAG(HLO_INSTRUCTION_OPERANDS, VARINT):
        instruction->operands.count++;
        return ids_hlo_add_operand(module, field->value, reader->err);
    case IDS_HLO_TAG(HLO_INSTRUCTION_CALLED, BYTES):
        return add_ids(reader, ids_pb_inside(field), &instruction->called, ids_hlo_add_called);
    case IDS_HLO_TAG(HLO_INSTRUCTION_CALLED, VARINT):
        instruction->called.count++;
        return ids_hlo_add_called(module, field->value, reader->err);
    case IDS_HLO_TAG(HLO_INSTRUCTION_SHARDING, BYTES):
        instruction->sharding = text_of(field);
        return 0;
    case IDS_HLO_TAG(HLO_INSTRUCTION_BACKEND_CONFIG, BYTES):
        reader->config = text_of(field);
        return 0;
    case IDS_HLO_TAG(HLO_INSTRUCTION_GROUP, BYTES):
    case IDS_HLO_TAG(HLO_INSTRUCTION_SOURCE_TARGET, BYTES):
    case IDS_HLO_TAG(HLO_INSTRUCTION_DEVICE_LIST, BYTES):
        return read_groups(reader, field, instruction);
    default:
        return 0;
    }
}

static int end_groups(struct reader *reader, struct ids_hlo_instruction *instruction) {
    if (!reader->groups.text.length) return 0;
    struct ids_text text = ids_group_text_end(&reader->groups.text);
    reader->groups.text.length = 0;
    instruction->groups = (uint32_t)reader->module->group_count;
    return ids_hlo_add_groups(reader->module, text, reader->err);
}

static int end_loop(struct reader *reader, struct ids_hlo_instruction *instruction) {
    struct ids_hlo_loop loop;
    if (!(reader->parts & IDS_HLO_LOOPS) || !ids_text_is(instruction->opcode, "while") ||
        !ids_hlo_loop_read(reader->config, &loop))
        return 0;
    instruction->loop = (uint32_t)reader->module->loop_count;
    return ids_hlo_add_loop(reader->module, loop, reader->err);
}

/* A fusion of kind kCustom says in its configuration who runs it: Triton makes a kernel of it, cuDNN has its own. */
static uint8_t is_of_library(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                             struct ids_text config) {
    const struct ids_hlo_attribute *kind = ids_hlo_attribute_of(module, instruction, HLO_INSTRUCTION_FUSION_KIND);
    return kind && kind->is_bytes && ids_text_is((struct ids_text){kind->bytes, kind->length}, "kCustom") &&
           !ids_text_contains(config, "\"__triton");
}

static int read_instruction(struct reader *reader, struct ids_pb bytes) {
    struct ids_hlo_module *module = reader->module;
    struct ids_hlo_instruction instruction = {.name = {"", 0},
                                              .opcode = {"", 0},
                                              .sharding = {"", 0},
                                              .operands = {(uint32_t)module->operand_count, 0},
                                              .called = {(uint32_t)module->called_count, 0},
                                              .attributes = {(uint32_t)module->attribute_count, 0},
                                              .shape = IDS_HLO_NONE,
                                              .metadata = IDS_HLO_NONE,
                                              .groups = IDS_HLO_NONE,
                                              .place = IDS_HLO_NONE,
                                              .loop = IDS_HLO_NONE};
    struct ids_hlo_instruction *place;
    struct ids_pb_field field;
    int more, code = 0;
    reader->config = (struct ids_text){"", 0};
    while ((more = ids_pb_next(&bytes, &field)) > 0) {
        code = read_field(reader, &field, &instruction);
        if (code) return code;
    }
    instruction.damaged |= more < 0 || !instruction.name.length;
    instruction.is_causal = ids_text_is(instruction.opcode, "custom-call") && ids_hlo_is_causal(reader->config);
    instruction.calls_library = is_of_library(module, &instruction, reader->config);
    code = end_groups(reader, &instruction);
    if (!code) code = end_loop(reader, &instruction);
    if (!code) code = ids_hlo_add_instruction(module, &place, reader->err);
    if (!code) *place = instruction;
    return code;
}

/* ---- computations ---- */

static int read_computation_field(struct reader *reader, const struct ids_pb_field *field,
                                  struct ids_hlo_computation *computation) {
    switch (ids_hlo_tag_of(field)) {
    case IDS_HLO_TAG(HLO_COMPUTATION_NAME, BYTES):
        computation->name = text_of(field);
        return 0;
    case IDS_HLO_TAG(HLO_COMPUTATION_INSTRUCTION, BYTES):
        computation->instructions.count++;
        return read_instruction(reader, ids_pb_inside(field));
    case IDS_HLO_TAG(HLO_COMPUTATION_ID, VARINT):
        computation->id = (int64_t)field->value;
        return 0;
    case IDS_HLO_TAG(HLO_COMPUTATION_ROOT_ID, VARINT):
        computation->root_id = (int64_t)field->value;
        return 0;
    case IDS_HLO_TAG(HLO_COMPUTATION_IS_FUSION, VARINT):
        reader->module->has_fusion_flags = 1;
        computation->is_fusion = field->value != 0;
        return 0;
    default:
        return 0;
    }
}

static int read_computation(struct reader *reader, struct ids_pb bytes) {
    struct ids_hlo_computation computation = {.name = {"", 0},
                                              .instructions = {(uint32_t)reader->module->instruction_count, 0}};
    struct ids_hlo_computation *place;
    struct ids_pb_field field;
    int more, code = 0;
    while ((more = ids_pb_next(&bytes, &field)) > 0) {
        code = read_computation_field(reader, &field, &computation);
        if (code) return code;
    }
    computation.is_cut = more < 0;
    code = ids_hlo_add_computation(reader->module, &place, reader->err);
    if (!code) *place = computation;
    return code;
}

/* ---- modules ---- */

/* Either message: entries with the number of a parameter, which is left out where it is 0. */
static int read_donated(struct reader *reader, struct ids_pb bytes, uint32_t parameter) {
    struct ids_pb_field field, part;
    while (ids_pb_next(&bytes, &field) > 0) {
        uint64_t number = 0;
        if (ids_hlo_tag_of(&field) != IDS_HLO_TAG(HLO_DONATION_ENTRY, BYTES)) continue;
        struct ids_pb entry = ids_pb_inside(&field);
        while (ids_pb_next(&entry, &part) > 0) {
            if (ids_hlo_tag_of(&part) == IDS_HLO_TAG(parameter, VARINT)) number = part.value;
        }
        if (ids_keymap_add(&reader->module->donated, ids_key_of(number, 1), 1) < 0) return ids_no_memory(reader->err);
    }
    return 0;
}

static int read_module_field(struct reader *reader, const struct ids_pb_field *field) {
    switch (ids_hlo_tag_of(field)) {
    case IDS_HLO_TAG(HLO_MODULE_NAME, BYTES):
        reader->module->name = text_of(field);
        return 0;
    case IDS_HLO_TAG(HLO_MODULE_COMPUTATION, BYTES):
        return read_computation(reader, ids_pb_inside(field));
    case IDS_HLO_TAG(HLO_MODULE_ID, VARINT):
        reader->module->id = (int64_t)field->value;
        return 0;
    case IDS_HLO_TAG(HLO_MODULE_ENTRY_ID, VARINT):
        reader->module->entry_id = (int64_t)field->value;
        return 0;
    case IDS_HLO_TAG(HLO_MODULE_SCHEDULE, BYTES):
        reader->schedule = ids_pb_inside(field);
        return 0;
    case IDS_HLO_TAG(HLO_MODULE_ALIAS, BYTES):
        return read_donated(reader, ids_pb_inside(field), HLO_ALIAS_PARAMETER);
    case IDS_HLO_TAG(HLO_MODULE_DONORS, BYTES):
        return read_donated(reader, ids_pb_inside(field), HLO_DONOR_PARAMETER);
    case IDS_HLO_TAG(HLO_MODULE_STACK_FRAMES, BYTES):
        return ids_hlo_frames_read(ids_pb_inside(field), reader->module, reader->err);
    default:
        return 0;
    }
}

static int read_module(struct reader *reader, struct ids_pb bytes) {
    struct ids_pb_field field;
    int code = 0;
    while (!code && ids_pb_next(&bytes, &field) > 0) code = read_module_field(reader, &field);
    if (!code) code = ids_hlo_module_finish(reader->module, reader->err);
    if (!code) ids_hlo_schedule_read(reader->schedule, reader->module);
    return code;
}

/* A well-formed message with at least one computation. */
static int looks_module(struct ids_pb bytes) {
    struct ids_pb_field field;
    int more, computations = 0;
    while ((more = ids_pb_next(&bytes, &field)) > 0)
        computations |= ids_hlo_tag_of(&field) == IDS_HLO_TAG(HLO_MODULE_COMPUTATION, BYTES);
    return more == 0 && computations;
}

/* Finds the module: the first field of an HloProto, or the message itself. An HloModuleProto has its name there, and no
 * name is a message with computations in it. */
static int find_module(struct ids_pb bytes, struct ids_pb *ret_module) {
    struct ids_pb at = bytes;
    struct ids_pb_field field;
    while (ids_pb_next(&at, &field) > 0) {
        if (ids_hlo_tag_of(&field) != IDS_HLO_TAG(HLO_PROTO_MODULE, BYTES) || !looks_module(ids_pb_inside(&field)))
            continue;
        *ret_module = ids_pb_inside(&field);
        return 1;
    }
    *ret_module = bytes;
    return looks_module(bytes);
}

/* Of an HloProto; a bare module has computations in that field. */
static int read_buffers(struct reader *reader, struct ids_pb proto) {
    struct ids_pb_field field;
    int code = 0;
    while (!code && ids_pb_next(&proto, &field) > 0) {
        if (ids_hlo_tag_of(&field) == IDS_HLO_TAG(HLO_PROTO_BUFFER_ASSIGNMENT, BYTES))
            code = ids_hlo_buffers_read(ids_pb_inside(&field), reader->module, reader->err);
    }
    return code;
}

int ids_hlo_module_read(const uint8_t *bytes, size_t length, unsigned parts, struct ids_hlo_module *ret_module,
                        struct ids_error *err) {
    struct ids_pb all = {bytes, bytes + length}, inside;
    ids_hlo_module_init(ret_module);
    if (!length || !find_module(all, &inside))
        return ids_fail(err, IDS_CORRUPT, "not an HLO program (%zu bytes)", length);
    struct reader reader = {.module = ret_module,
                            .parts = parts,
                            .shapes.module = ret_module,
                            .shapes.with_layouts = parts & IDS_HLO_LAYOUTS,
                            .err = err};
    int code = read_module(&reader, inside);
    if (!code && parts & IDS_HLO_BUFFERS && inside.at != bytes) code = read_buffers(&reader, all);
    ids_hlo_shapes_done(&reader.shapes);
    ids_hlo_groups_done(&reader.groups);
    if (code) ids_hlo_module_done(ret_module);
    return code;
}
