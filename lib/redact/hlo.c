#include "lib/redact/hlo.h"

#include "lib/fields/hlo.h"
#include "lib/wire/pb_writer.h"

/* What becomes of a field. Those that no row names are left out. */
enum treatment {
    NUMBERS, /* a number, or packed ones, kept */
    TEXT,    /* of a few words, such as "LT": kept but for what its form gives away */
    NAME,
    PATH,
    LOOP,        /* of a backend_config what says how often a loop runs */
    ALL_NUMBERS, /* a message of numbers in fields up to `inside` */
    INSIDE       /* a message, of the type `inside` */
};

enum message {
    PROTO,
    MODULE,
    PROGRAM_SHAPE,
    ALIAS,
    FRAMES,
    COMPUTATION,
    INSTRUCTION,
    METADATA,
    SHAPE,
    LAYOUT,
    SHARDING,
    WINDOW,
    PADDING,
    DEVICE_LIST,
    BUFFERS,
    BUFFER,
    BUFFER_PLACE,
    ALLOCATION,
    HEAP_TRACE,
    HEAP_EVENT,
};

static const struct rule {
    uint8_t message, field, treatment, inside;
} rules[] = {
    {PROTO, HLO_PROTO_MODULE, INSIDE, MODULE},
    {PROTO, HLO_PROTO_BUFFER_ASSIGNMENT, INSIDE, BUFFERS},
    {MODULE, HLO_MODULE_NAME, NAME, 0},
    {MODULE, 2, NAME, 0}, /* entry_computation_name */
    {MODULE, HLO_MODULE_COMPUTATION, INSIDE, COMPUTATION},
    {MODULE, 4, INSIDE, PROGRAM_SHAPE}, /* host_program_shape, without which XLA takes no module */
    {MODULE, HLO_MODULE_ID, NUMBERS, 0},
    {MODULE, HLO_MODULE_ENTRY_ID, NUMBERS, 0},
    {MODULE, HLO_MODULE_ALIAS, INSIDE, ALIAS},
    {MODULE, HLO_MODULE_STACK_FRAMES, INSIDE, FRAMES},
    {MODULE, HLO_MODULE_DONORS, INSIDE, ALIAS},
    {PROGRAM_SHAPE, 1, INSIDE, SHAPE},
    {PROGRAM_SHAPE, 2, INSIDE, SHAPE},
    {PROGRAM_SHAPE, 3, NAME, 0},
    {ALIAS, HLO_DONATION_ENTRY, ALL_NUMBERS, 4},
    {FRAMES, HLO_FRAMES_FILE, PATH, 0},
    {FRAMES, HLO_FRAMES_FUNCTION, NAME, 0},
    {FRAMES, HLO_FRAMES_LOCATION, ALL_NUMBERS, 6},
    {FRAMES, HLO_FRAMES_FRAME, ALL_NUMBERS, 2},
    {COMPUTATION, HLO_COMPUTATION_NAME, NAME, 0},
    {COMPUTATION, HLO_COMPUTATION_INSTRUCTION, INSIDE, INSTRUCTION},
    {COMPUTATION, 4, INSIDE, PROGRAM_SHAPE},
    {COMPUTATION, HLO_COMPUTATION_ID, NUMBERS, 0},
    {COMPUTATION, HLO_COMPUTATION_ROOT_ID, NUMBERS, 0},
    {COMPUTATION, HLO_COMPUTATION_IS_FUSION, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_NAME, NAME, 0},
    {INSTRUCTION, HLO_INSTRUCTION_OPCODE, TEXT, 0},
    {INSTRUCTION, HLO_INSTRUCTION_SHAPE, INSIDE, SHAPE},
    {INSTRUCTION, HLO_INSTRUCTION_METADATA, INSIDE, METADATA},
    {INSTRUCTION, HLO_INSTRUCTION_PARAMETER_NUMBER, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_FUSION_KIND, TEXT, 0},
    {INSTRUCTION, HLO_INSTRUCTION_TUPLE_INDEX, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_DIMENSIONS, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_WINDOW, INSIDE, WINDOW},
    {INSTRUCTION, HLO_INSTRUCTION_CONVOLUTION_DIMENSIONS, ALL_NUMBERS, 12},
    {INSTRUCTION, HLO_INSTRUCTION_SLICE_DIMENSIONS, ALL_NUMBERS, 3},
    {INSTRUCTION, HLO_INSTRUCTION_DYNAMIC_SLICE_SIZES, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_PADDING, INSIDE, PADDING},
    {INSTRUCTION, HLO_INSTRUCTION_CALL_TARGET, NAME, 0},
    {INSTRUCTION, HLO_INSTRUCTION_DOT_DIMENSIONS, ALL_NUMBERS, 4},
    {INSTRUCTION, HLO_INSTRUCTION_FFT_TYPE, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_FFT_LENGTH, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_GATHER_DIMENSIONS, ALL_NUMBERS, 6},
    {INSTRUCTION, HLO_INSTRUCTION_GATHER_SLICE_SIZES, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_ID, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_OPERANDS, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_CALLED, NUMBERS, 0},
    {INSTRUCTION, HLO_INSTRUCTION_SHARDING, INSIDE, SHARDING},
    {INSTRUCTION, HLO_INSTRUCTION_BACKEND_CONFIG, LOOP, 0},
    {INSTRUCTION, HLO_INSTRUCTION_SCATTER_DIMENSIONS, ALL_NUMBERS, 6},
    {INSTRUCTION, HLO_INSTRUCTION_GROUP, ALL_NUMBERS, 1},
    {INSTRUCTION, HLO_INSTRUCTION_PRECISION, ALL_NUMBERS, 2},
    {INSTRUCTION, HLO_INSTRUCTION_SOURCE_TARGET, ALL_NUMBERS, 2},
    {INSTRUCTION, HLO_INSTRUCTION_COMPARISON, TEXT, 0},
    {INSTRUCTION, HLO_INSTRUCTION_DEVICE_LIST, INSIDE, DEVICE_LIST},
    {METADATA, HLO_METADATA_OP_NAME, NAME, 0},
    {METADATA, HLO_METADATA_SOURCE_FILE, PATH, 0},
    {METADATA, HLO_METADATA_SOURCE_LINE, NUMBERS, 0},
    {METADATA, HLO_METADATA_FRAME_ID, NUMBERS, 0},
    {SHAPE, HLO_SHAPE_ELEMENT, NUMBERS, 0},
    {SHAPE, HLO_SHAPE_DIMENSIONS, NUMBERS, 0},
    {SHAPE, HLO_SHAPE_TUPLE, INSIDE, SHAPE},
    {SHAPE, HLO_SHAPE_LAYOUT, INSIDE, LAYOUT},
    {SHAPE, 6, NUMBERS, 0}, /* is_dynamic_dimension */
    {LAYOUT, HLO_LAYOUT_MINOR_TO_MAJOR, NUMBERS, 0},
    {LAYOUT, HLO_LAYOUT_TILE, ALL_NUMBERS, 1},
    {LAYOUT, HLO_LAYOUT_ELEMENT_BITS, NUMBERS, 0},
    {LAYOUT, HLO_LAYOUT_MEMORY_SPACE, NUMBERS, 0},
    {SHARDING, HLO_SHARDING_TYPE, NUMBERS, 0},
    {SHARDING, HLO_SHARDING_DIMENSIONS, NUMBERS, 0},
    {SHARDING, 4, NUMBERS, 0},       /* tile_assignment_devices */
    {SHARDING, 5, INSIDE, SHARDING}, /* tuple_shardings */
    {SHARDING, HLO_SHARDING_REPLICATE_LAST, NUMBERS, 0},
    {SHARDING, HLO_SHARDING_LAST_DIMS, NUMBERS, 0},
    {SHARDING, 9, NUMBERS, 0},  /* iota_reshape_dims */
    {SHARDING, 10, NUMBERS, 0}, /* iota_transpose_perm */
    {WINDOW, HLO_WINDOW_DIMENSIONS, ALL_NUMBERS, 7},
    {PADDING, 1, ALL_NUMBERS, 3},
    {DEVICE_LIST, 1, ALL_NUMBERS, 1},
    {DEVICE_LIST, 2, ALL_NUMBERS, 4},
    {BUFFERS, HLO_BUFFERS_LOGICAL, INSIDE, BUFFER},
    {BUFFERS, HLO_BUFFERS_ALLOCATION, INSIDE, ALLOCATION},
    {BUFFERS, HLO_BUFFERS_HEAP_TRACE, INSIDE, HEAP_TRACE},
    {BUFFER, HLO_BUFFER_ID, NUMBERS, 0},
    {BUFFER, HLO_BUFFER_SIZE, NUMBERS, 0},
    {BUFFER, HLO_BUFFER_DEFINED_AT, INSIDE, BUFFER_PLACE},
    {BUFFER, HLO_BUFFER_COLOR, NUMBERS, 0},
    {BUFFER_PLACE, HLO_PLACE_INSTRUCTION_NAME, NAME, 0},
    {BUFFER_PLACE, 3, NUMBERS, 0}, /* shape_index */
    {BUFFER_PLACE, HLO_PLACE_INSTRUCTION_ID, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_INDEX, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_SIZE, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_IS_THREAD_LOCAL, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_IS_PARAMETER, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_PARAMETER, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_IS_OUTPUT, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_COLOR, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_ASSIGNED, ALL_NUMBERS, 3},
    {ALLOCATION, HLO_ALLOCATION_IS_TUPLE, NUMBERS, 0},
    {ALLOCATION, HLO_ALLOCATION_IS_CONSTANT, NUMBERS, 0},
    {HEAP_TRACE, HLO_HEAP_TRACE_EVENT, INSIDE, HEAP_EVENT},
    {HEAP_EVENT, HLO_HEAP_EVENT_KIND, NUMBERS, 0},
    {HEAP_EVENT, HLO_HEAP_EVENT_BUFFER_ID, NUMBERS, 0},
    {HEAP_EVENT, 3, NAME, 0}, /* computation_name */
    {HEAP_EVENT, HLO_HEAP_EVENT_INSTRUCTION, NAME, 0},
    {HEAP_EVENT, HLO_HEAP_EVENT_CANONICAL_ID, NUMBERS, 0},
};

static const struct rule *rule_for(enum message message, uint32_t field) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].message == message && rules[i].field == field) return &rules[i];
    }
    return NULL;
}

/* Packed numbers and nothing else; what is no list of varints is left out. */
static void put_packed(const struct ids_pb_field *field, struct ids_buffer *out) {
    struct ids_pb list = ids_pb_inside(field);
    uint64_t number;
    while (list.at < list.end) {
        if (ids_pb_varint(&list, &number) != 1) return;
    }
    ids_pb_put_bytes(out, field->number, field->bytes, field->value);
}

static void put_number(const struct ids_pb_field *field, struct ids_buffer *out) {
    switch (field->wire) {
    case IDS_PB_VARINT:
        ids_pb_put_uint(out, field->number, field->value);
        return;
    case IDS_PB_FIXED64:
        ids_pb_put_fixed64(out, field->number, field->value);
        return;
    case IDS_PB_BYTES:
        put_packed(field, out);
        return;
    default: /* no known number has 32 fixed bits */
        return;
    }
}

static void put_numbers(const struct ids_pb_field *message, uint32_t most, struct ids_buffer *out) {
    struct ids_pb bytes = ids_pb_inside(message);
    struct ids_pb_field field;
    size_t inside = ids_pb_open(out, message->number);
    while (ids_pb_next(&bytes, &field) > 0) {
        if (field.number <= most) put_number(&field, out);
    }
    ids_pb_close(out, inside);
}

/* A member of a JSON object that begins so, when it is an object of numbers: digits, and the names of fields. */
static void put_loop_part(struct ids_text config, const char *key, int *any, struct ids_buffer *out) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz_\":{}, -0123456789";
    enum { OBJECT_MOST = 120 };
    const char *at = memmem(config.at, config.length, key, strlen(key)), *end = config.at + config.length;
    if (!at) return;
    const char *close = memchr(at, '}', (size_t)(end - at));
    if (!close || close - at > OBJECT_MOST) return;
    for (const char *c = at; c <= close; c++) {
        if (!memchr(allowed, *c, sizeof allowed - 1)) return;
    }
    ids_buffer_byte(out, *any ? ',' : '{');
    ids_buffer_put(out, at, (size_t)(close + 1 - at));
    *any = 1;
}

static void put_loop(const struct ids_pb_field *field, struct ids_buffer *out) {
    struct ids_text config = {(const char *)field->bytes, (uint32_t)field->value};
    struct ids_buffer json = {0};
    int any = 0;
    put_loop_part(config, "\"known_trip_count\":{", &any, &json);
    put_loop_part(config, "\"known_induction_variable\":{", &any, &json);
    put_loop_part(config, "\"known_init_step\":{", &any, &json);
    if (any) {
        ids_buffer_byte(&json, '}');
        ids_pb_put_bytes(out, field->number, json.at, json.length);
    }
    out->failed |= json.failed;
    ids_buffer_done(&json);
}

static void put_text(struct ids_redactor *redactor, const struct ids_pb_field *field, enum ids_redacted_kind kind,
                     struct ids_buffer *out) {
    size_t message = ids_pb_open(out, field->number);
    ids_redact(redactor, (struct ids_text){(const char *)field->bytes, (uint32_t)field->value}, kind, out);
    ids_pb_close(out, message);
}

enum { DEPTH_MOST = 64 }; /* shapes and shardings hold others of their kind */

static void put_message(struct ids_redactor *redactor, struct ids_pb bytes, enum message message, int depth,
                        struct ids_buffer *out) {
    struct ids_pb_field field;
    while (depth < DEPTH_MOST && ids_pb_next(&bytes, &field) > 0) {
        const struct rule *rule = rule_for(message, field.number);
        if (!rule) continue;
        if (rule->treatment == NUMBERS) {
            put_number(&field, out);
            continue;
        }
        if (field.wire != IDS_PB_BYTES) continue;
        if (rule->treatment == ALL_NUMBERS) {
            put_numbers(&field, rule->inside, out);
        } else if (rule->treatment == INSIDE) {
            size_t inside = ids_pb_open(out, field.number);
            put_message(redactor, ids_pb_inside(&field), (enum message)rule->inside, depth + 1, out);
            ids_pb_close(out, inside);
        } else if (rule->treatment == LOOP) {
            put_loop(&field, out);
        } else {
            put_text(redactor, &field,
                     rule->treatment == NAME   ? IDS_REDACT_NAME
                     : rule->treatment == PATH ? IDS_REDACT_PATH
                                               : IDS_REDACT_TEXT,
                     out);
        }
    }
}

/* An HloProto, or a bare module, whose name is where an HloProto has its module: no name has computations in it. */
static int is_bare(struct ids_pb bytes) {
    struct ids_pb_field field, part;
    while (ids_pb_next(&bytes, &field) > 0) {
        if (field.number != HLO_PROTO_MODULE || field.wire != IDS_PB_BYTES) continue;
        struct ids_pb inside = ids_pb_inside(&field);
        int more, computations = 0;
        while ((more = ids_pb_next(&inside, &part)) > 0)
            computations |= part.number == HLO_MODULE_COMPUTATION && part.wire == IDS_PB_BYTES;
        if (!more && computations) return 0;
    }
    return 1;
}

void ids_redact_program(struct ids_redactor *redactor, const void *bytes, size_t length, struct ids_buffer *out) {
    struct ids_pb all = {bytes, (const uint8_t *)bytes + length};
    put_message(redactor, all, is_bare(all) ? MODULE : PROTO, 0, out);
}
