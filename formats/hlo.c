#include "formats/hlo.h"

#include "formats/hlo_fields.h"
#include "formats/hlo_fingerprint.h"
#include "formats/hlo_shape.h"
#include "formats/proto/hlo.pb-c.h"
#include "lib/base/vec.h"
#include "lib/wire/pb_wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Modules, computations and instructions are walked in place: protobuf-c would copy the constants, layouts and backend
 * configurations that make up most of a module. It unpacks the small messages that do not contain themselves. */
enum {
    MAX_MESSAGE_BYTES = 4 << 20, /* a stack frame index of 100,000 frames has 2 MiB */
    MAX_POOL_BYTES = 64 << 20,   /* what protobuf-c may use for one message */
    FIRST_POOL_BYTES = 16 << 10,
    MAX_GROUPS_BYTES = 64 << 10, /* replica groups as text: 10,000 devices */
};

/* ---- protobuf-c in bounded memory: one block per message, given back as a whole ---- */

struct pool {
    ProtobufCAllocator allocator;
    uint8_t *block;
    size_t size, used;
    int full;
    int starved; /* memory ran out, which is no fault of the file: stays */
};

static void *pool_alloc(void *data, size_t bytes) {
    struct pool *pool = data;
    size_t rounded = (bytes + 15) & ~(size_t)15;
    if (rounded < bytes || rounded > pool->size - pool->used) {
        pool->full = 1;
        return NULL;
    }
    void *piece = pool->block + pool->used;
    pool->used += rounded;
    return piece;
}

static void pool_free(void *data, void *piece) {
    (void)data;
    (void)piece;
}

static void pool_init(struct pool *pool) {
    *pool = (struct pool){.allocator = {pool_alloc, pool_free, pool}};
}

/* The unpacked message, valid until the pool's next one. NULL when it is malformed or needs more memory than it may
 * have, or when memory ran out (`starved`). */
static void *unpack(struct pool *pool, const ProtobufCMessageDescriptor *descriptor, const struct ids_pb_field *field) {
    if (field->value > MAX_MESSAGE_BYTES) return NULL;
    for (;;) {
        pool->used = 0;
        pool->full = 0;
        void *message = protobuf_c_message_unpack(descriptor, &pool->allocator, (size_t)field->value, field->bytes);
        if (message || !pool->full || pool->size >= MAX_POOL_BYTES) return message;
        size_t size = pool->size ? pool->size * 4 : FIRST_POOL_BYTES;
        uint8_t *block = realloc(pool->block, size);
        if (!block) {
            pool->starved = 1;
            return NULL;
        }
        pool->block = block;
        pool->size = size;
    }
}

/* ---- the module being read ---- */

struct module {
    uint64_t program_id;
    uint32_t name;
    struct ids_sink *sink;
    struct ids_error *err;
    struct pool frame_pool, pool;
    const Ids__StackFrameIndex *frames; /* NULL: none */
    int frames_lost;
    int has_fusion_flags;
    uint64_t *fused; /* sorted ids of computations that a fusion calls, for modules without flags */
    size_t fused_count, fused_room;
    struct ids_hlo_fingerprints fingerprints;
    char *groups; /* MAX_GROUPS_BYTES */
    size_t groups_length;
    uint64_t damaged; /* instructions, or computations that end in the middle */
};

static int intern(struct module *module, const void *text, size_t length, uint32_t *ret_id) {
    *ret_id = 0; /* protobuf-c gives NULL for empty bytes */
    if (!length) return 0;
    *ret_id = ids_intern(module->sink->strings, text, length);
    return *ret_id == IDS_NO_TEXT ? ids_no_memory(module->err) : 0;
}

static int intern_field(struct module *module, const struct ids_pb_field *field, uint32_t *ret_id) {
    return intern(module, field->bytes, (size_t)field->value, ret_id);
}

/* ---- where an op comes from ---- */

static int set_source(struct module *module, const ProtobufCBinaryData *file, int32_t line, uint32_t *ret_source) {
    char text[1024];
    char number[16];
    if (!file->len) return 0;
    int digits = snprintf(number, sizeof number, ":%" PRId32, line);
    size_t length = file->len;
    /* A path too long for a line of a report keeps its end, which tells more. */
    if (length > sizeof text - sizeof number) length = sizeof text - sizeof number;
    memcpy(text, file->data + (file->len - length), length);
    memcpy(text + length, number, (size_t)digits);
    return intern(module, text, length + (line > 0 ? (size_t)digits : 0), ret_source);
}

/* The innermost frame: newer programs carry frames and no source_file (jax 0.10). */
static int set_source_of_frame(struct module *module, int32_t frame_id, uint32_t *ret_source) {
    const Ids__StackFrameIndex *frames = module->frames;
    if (!frames || frame_id < 1 || (size_t)frame_id > frames->n_stack_frames) return 0;
    int32_t location_id = frames->stack_frames[frame_id - 1]->file_location_id;
    if (location_id < 1 || (size_t)location_id > frames->n_file_locations) return 0;
    const Ids__StackFrameIndex__FileLocation *location = frames->file_locations[location_id - 1];
    if (location->file_name_id < 1 || (size_t)location->file_name_id > frames->n_file_names) return 0;
    return set_source(module, &frames->file_names[location->file_name_id - 1], location->line, ret_source);
}

static int read_metadata(struct module *module, const struct ids_pb_field *field,
                         struct ids_hlo_instruction *instruction, int *damaged) {
    const Ids__OpMetadata *metadata = unpack(&module->pool, &ids__op_metadata__descriptor, field);
    if (!metadata) {
        *damaged = 1;
        return 0;
    }
    int code = intern(module, metadata->op_name.data, metadata->op_name.len, &instruction->op_name);
    if (code) return code;
    if (metadata->source_file.len) {
        return set_source(module, &metadata->source_file, metadata->source_line, &instruction->source);
    }
    return set_source_of_frame(module, metadata->stack_frame_id, &instruction->source);
}

/* ---- who takes part in a collective, as HLO text writes it ---- */

__attribute__((format(printf, 2, 3))) static void add_text(struct module *module, const char *format, ...) {
    size_t room = MAX_GROUPS_BYTES - module->groups_length;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(module->groups + module->groups_length, room, format, args);
    va_end(args);
    module->groups_length += (size_t)length < room ? (size_t)length : room - 1;
}

static void add_list(struct module *module, const int64_t *numbers, size_t count) {
    for (size_t i = 0; i < count && module->groups_length < MAX_GROUPS_BYTES - 1; i++) {
        add_text(module, i ? ",%" PRId64 : "%" PRId64, numbers[i]);
    }
}

static void add_group(struct module *module, const int64_t *numbers, size_t count) {
    add_text(module, module->groups_length ? ",{" : "{{");
    add_list(module, numbers, count);
    add_text(module, "}");
}

/* [4,2]<=[2,4]T(1,0) */
static void add_iota(struct module *module, const Ids__IotaReplicaGroupList *iota) {
    add_text(module, "[%" PRId64 ",%" PRId64 "]<=[", iota->num_replica_groups, iota->num_devices_per_group);
    add_list(module, iota->iota_reshape_dims, iota->n_iota_reshape_dims);
    add_text(module, "]");
    int identity = 1;
    for (size_t i = 0; i < iota->n_iota_transpose_perm; i++) identity &= iota->iota_transpose_perm[i] == (int64_t)i;
    if (identity) return;
    add_text(module, "T(");
    for (size_t i = 0; i < iota->n_iota_transpose_perm && module->groups_length < MAX_GROUPS_BYTES - 1; i++) {
        add_text(module, i ? ",%" PRId32 : "%" PRId32, iota->iota_transpose_perm[i]);
    }
    add_text(module, ")");
}

/* Returns 0 when the message is damaged. */
static int read_groups(struct module *module, const struct ids_pb_field *field) {
    if (ids_hlo_tag_of(field) == HLO_INSTRUCTION_GROUP) {
        const Ids__ReplicaGroup *group = unpack(&module->pool, &ids__replica_group__descriptor, field);
        if (group) add_group(module, group->replica_ids, group->n_replica_ids);
        return group != NULL;
    }
    if (ids_hlo_tag_of(field) == HLO_INSTRUCTION_SOURCE_TARGET) {
        const Ids__SourceTarget *pair = unpack(&module->pool, &ids__source_target__descriptor, field);
        if (pair) add_group(module, (const int64_t[]){pair->source, pair->target}, 2);
        return pair != NULL;
    }
    const Ids__CollectiveDeviceList *list = unpack(&module->pool, &ids__collective_device_list__descriptor, field);
    if (!list) return 0;
    module->groups_length = 0; /* newer programs write the list beside the old groups, with the same content */
    if (list->iota_replica_group_list) {
        add_iota(module, list->iota_replica_group_list);
        return 1;
    }
    for (size_t i = 0; i < list->n_replica_groups; i++) {
        add_group(module, list->replica_groups[i]->replica_ids, list->replica_groups[i]->n_replica_ids);
    }
    return 1;
}

static int intern_groups(struct module *module, uint32_t *ret_groups) {
    if (!module->groups_length) return 0;
    if (module->groups[0] == '{') add_text(module, "}");
    if (module->groups_length == MAX_GROUPS_BYTES - 1) memcpy(module->groups + MAX_GROUPS_BYTES - 4, "...", 3);
    return intern(module, module->groups, module->groups_length, ret_groups);
}

/* ---- instructions ---- */

static int intern_shape(struct module *module, struct ids_pb shape, uint32_t *ret_shape) {
    char text[IDS_HLO_SHAPE_TEXT];
    size_t length = ids_hlo_shape_text(shape, text);
    return intern(module, text, length, ret_shape);
}

/* One field of an instruction. Returns a code; *damaged becomes 1 when the field contradicts the format. */
static int read_field(struct module *module, const struct ids_pb_field *field, struct ids_hlo_instruction *instruction,
                      int *damaged) {
    switch (ids_hlo_tag_of(field)) {
    case HLO_INSTRUCTION_NAME:
        return intern_field(module, field, &instruction->name);
    case HLO_INSTRUCTION_OPCODE:
        return intern_field(module, field, &instruction->opcode);
    case HLO_INSTRUCTION_CALL_TARGET:
        return intern_field(module, field, &instruction->call_target);
    case HLO_INSTRUCTION_METADATA:
        return read_metadata(module, field, instruction, damaged);
    case HLO_INSTRUCTION_SHAPE:
        instruction->result_bytes = ids_hlo_shape_bytes(ids_pb_inside(field));
        return intern_shape(module, ids_pb_inside(field), &instruction->shape);
    case HLO_INSTRUCTION_ID:
        instruction->fingerprint = ids_hlo_fingerprint_of(&module->fingerprints, field->value);
        return 0;
    case HLO_INSTRUCTION_GROUP:
    case HLO_INSTRUCTION_SOURCE_TARGET:
    case HLO_INSTRUCTION_DEVICE_LIST:
        *damaged |= !read_groups(module, field);
        return 0;
    default:
        return 0;
    }
}

static int read_instruction(struct module *module, struct ids_pb bytes) {
    struct ids_hlo_instruction instruction = {
        .program_id = module->program_id, .module = module->name, .result_bytes = -1};
    struct ids_pb_field field;
    int more, damaged = 0;
    module->groups_length = 0;
    while ((more = ids_pb_next(&bytes, &field)) > 0) {
        int code = read_field(module, &field, &instruction, &damaged);
        if (code) return code;
        if (module->pool.starved) return ids_no_memory(module->err);
    }
    if (more < 0 || damaged || !instruction.name) {
        module->damaged++;
        return 0;
    }
    int code = intern_groups(module, &instruction.groups);
    if (code) return code;
    return module->sink->ops->hlo(module->sink, &instruction, module->err);
}

/* ---- computations ---- */

static int by_id(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static int is_fused(const struct module *module, struct ids_pb computation) {
    struct ids_pb_field field;
    uint64_t id = 0;
    while (ids_pb_next(&computation, &field) > 0) {
        if (ids_hlo_tag_of(&field) == HLO_COMPUTATION_IS_FUSION) return field.value != 0;
        if (ids_hlo_tag_of(&field) == HLO_COMPUTATION_ID) id = field.value;
    }
    return module->fused_count && bsearch(&id, module->fused, module->fused_count, sizeof id, by_id);
}

static int read_computation(struct module *module, struct ids_pb computation) {
    struct ids_pb_field field;
    int more;
    if (is_fused(module, computation)) return 0;
    while ((more = ids_pb_next(&computation, &field)) > 0) {
        if (ids_hlo_tag_of(&field) != HLO_COMPUTATION_INSTRUCTION) continue;
        int code = read_instruction(module, ids_pb_inside(&field));
        if (code) return code;
    }
    module->damaged += more < 0;
    return 0;
}

/* The computation that a fusion instruction calls (it is always one); 0 for other instructions. */
static int fusion_calls(struct ids_pb instruction, uint64_t *ret_id) {
    struct ids_pb_field field;
    int is_fusion = 0, calls = 0;
    while (ids_pb_next(&instruction, &field) > 0) {
        switch (ids_hlo_tag_of(&field)) {
        case HLO_INSTRUCTION_OPCODE:
            is_fusion = field.value == 6 && !memcmp(field.bytes, "fusion", 6);
            break;
        case HLO_INSTRUCTION_CALLED: {
            struct ids_pb ids = ids_pb_inside(&field);
            calls |= ids_pb_varint(&ids, ret_id) == 1;
            break;
        }
        case HLO_INSTRUCTION_CALLED_ONE:
            *ret_id = field.value;
            calls = 1;
            break;
        default:
            break;
        }
    }
    return is_fusion && calls;
}

/* Programs from before is_fusion_computation: what fusions call. */
static int find_fused(struct module *module, struct ids_pb computation) {
    struct ids_pb_field field;
    while (ids_pb_next(&computation, &field) > 0) {
        uint64_t id = 0;
        if (ids_hlo_tag_of(&field) != HLO_COMPUTATION_INSTRUCTION || !fusion_calls(ids_pb_inside(&field), &id))
            continue;
        uint64_t *place = IDS_PUSH(module->fused, module->fused_count, module->fused_room);
        if (!place) return ids_no_memory(module->err);
        *place = id;
    }
    return 0;
}

static int has_fusion_flag(struct ids_pb computation) {
    struct ids_pb_field field;
    while (ids_pb_next(&computation, &field) > 0) {
        if (ids_hlo_tag_of(&field) == HLO_COMPUTATION_IS_FUSION) return 1;
    }
    return 0;
}

/* ---- modules ---- */

/* What instructions refer to comes after them: name, stack frames, fusions. */
static int read_header(struct module *module, struct ids_pb bytes) {
    struct ids_pb_field field;
    struct ids_pb all = bytes;
    while (ids_pb_next(&bytes, &field) > 0) {
        int code = 0;
        switch (ids_hlo_tag_of(&field)) {
        case HLO_MODULE_NAME:
            code = intern_field(module, &field, &module->name);
            break;
        case HLO_MODULE_STACK_FRAMES:
            module->frames = unpack(&module->frame_pool, &ids__stack_frame_index__descriptor, &field);
            module->frames_lost = !module->frames;
            if (module->frame_pool.starved) code = ids_no_memory(module->err);
            break;
        case HLO_MODULE_COMPUTATION:
            module->has_fusion_flags |= has_fusion_flag(ids_pb_inside(&field));
            break;
        default:
            break;
        }
        if (code) return code;
    }
    if (module->has_fusion_flags) return 0;
    while (ids_pb_next(&all, &field) > 0) {
        int code = ids_hlo_tag_of(&field) == HLO_MODULE_COMPUTATION ? find_fused(module, ids_pb_inside(&field)) : 0;
        if (code) return code;
    }
    if (module->fused_count) qsort(module->fused, module->fused_count, sizeof *module->fused, by_id);
    return 0;
}

static int say(struct module *module, const char *id, const char *text, uint64_t count) {
    struct ids_diag diag = {IDS_WARNING, id, text, -1, count};
    return count ? module->sink->ops->diag(module->sink, &diag, module->err) : 0;
}

static int read_module(struct module *module, struct ids_pb bytes) {
    struct ids_pb_field field;
    int code = read_header(module, bytes);
    if (!code && ids_hlo_fingerprints_make(bytes, &module->fingerprints))
        code = ids_no_memory(module->err);
    while (!code && ids_pb_next(&bytes, &field) > 0) {
        if (ids_hlo_tag_of(&field) == HLO_MODULE_COMPUTATION) code = read_computation(module, ids_pb_inside(&field));
    }
    if (!code)
        code = say(module, "hlo.instruction", "instructions of a program that could not be read", module->damaged);
    if (!code) {
        code = say(module, "hlo.frames", "a program's stack frames that could not be read: source lines are missing",
                   (uint64_t)module->frames_lost);
    }
    return code;
}

/* A well-formed message with at least one computation. */
static int looks_module(struct ids_pb bytes) {
    struct ids_pb_field field;
    int more, computations = 0;
    while ((more = ids_pb_next(&bytes, &field)) > 0) computations |= ids_hlo_tag_of(&field) == HLO_MODULE_COMPUTATION;
    return more == 0 && computations;
}

/* Finds the module: the first field of an HloProto, or the message itself. An HloModuleProto has its name there, and no
 * name is a message with computations in it. */
static int find_module(struct ids_pb bytes, struct ids_pb *ret_module) {
    struct ids_pb at = bytes;
    struct ids_pb_field field;
    while (ids_pb_next(&at, &field) > 0) {
        if (ids_hlo_tag_of(&field) != HLO_PROTO_MODULE || !looks_module(ids_pb_inside(&field))) continue;
        *ret_module = ids_pb_inside(&field);
        return 1;
    }
    *ret_module = bytes;
    return looks_module(bytes);
}

int ids_hlo_read(const uint8_t *bytes, size_t length, uint64_t program_id, struct ids_sink *sink,
                 struct ids_error *err) {
    struct module module = {.program_id = program_id, .sink = sink, .err = err};
    struct ids_pb inside;
    if (!length || !find_module((struct ids_pb){bytes, bytes + length}, &inside)) {
        return ids_fail(err, IDS_CORRUPT, "not an HLO program (%zu bytes)", length);
    }
    pool_init(&module.frame_pool);
    pool_init(&module.pool);
    module.groups = malloc(MAX_GROUPS_BYTES);
    int code = module.groups ? read_module(&module, inside) : ids_no_memory(err);
    ids_hlo_fingerprints_done(&module.fingerprints);
    free(module.groups);
    free(module.fused);
    free(module.pool.block);
    free(module.frame_pool.block);
    return code;
}
