#include "formats/hlo_buffers.h"

#include "formats/hlo_tag.h"
#include "lib/hlo/buffers.h"

enum { FIELDS = 16 };

/* The fields of a small message by their number: the last of each. */
struct fields {
    uint64_t value[FIELDS];
    const uint8_t *bytes[FIELDS];
};

static int malformed(struct ids_error *err) {
    return ids_fail(err, IDS_CORRUPT, "the buffer assignment of a program is malformed");
}

static int read_fields(struct ids_pb message, struct fields *fields, struct ids_error *err) {
    struct ids_pb_field field;
    int more;
    *fields = (struct fields){0};
    while ((more = ids_pb_next(&message, &field)) > 0) {
        if (field.number >= FIELDS) continue;
        fields->value[field.number] = field.value;
        fields->bytes[field.number] = field.bytes;
    }
    return more < 0 ? malformed(err) : 0;
}

static int64_t number(const struct fields *fields, unsigned field) {
    return fields->bytes[field] ? 0 : (int64_t)fields->value[field];
}

static struct ids_pb inside(const struct fields *fields, unsigned field) {
    return fields->bytes[field] ? (struct ids_pb){fields->bytes[field], fields->bytes[field] + fields->value[field]}
                                : (struct ids_pb){NULL, NULL};
}

static int read_buffer(struct ids_pb message, struct ids_hlo_buffers *buffers, struct ids_error *err) {
    struct fields fields, place = {0};
    int code = read_fields(message, &fields, err);
    int has_place = !code && fields.bytes[HLO_BUFFER_DEFINED_AT];
    if (has_place) code = read_fields(inside(&fields, HLO_BUFFER_DEFINED_AT), &place, err);
    if (code) return code;
    int has_id = has_place && !place.bytes[HLO_PLACE_INSTRUCTION_NAME];
    struct ids_hlo_buffer buffer = {.id = number(&fields, HLO_BUFFER_ID),
                                    .size = number(&fields, HLO_BUFFER_SIZE),
                                    .color = number(&fields, HLO_BUFFER_COLOR),
                                    .instruction_id = number(&place, HLO_PLACE_INSTRUCTION_ID)};
    if (!has_id && !buffer.instruction_id) buffer.instruction_id = -1;
    return ids_hlo_add_buffer(buffers, &buffer, err);
}

static int read_allocation(struct ids_pb message, struct ids_hlo_buffers *buffers, struct ids_error *err) {
    struct ids_pb all = message;
    struct ids_pb_field field;
    struct fields fields;
    int code = read_fields(message, &fields, err);
    if (code) return code;
    struct ids_hlo_allocation allocation = {.index = number(&fields, HLO_ALLOCATION_INDEX),
                                            .size = number(&fields, HLO_ALLOCATION_SIZE),
                                            .color = number(&fields, HLO_ALLOCATION_COLOR),
                                            .parameter = -1,
                                            .is_thread_local = number(&fields, HLO_ALLOCATION_IS_THREAD_LOCAL) != 0,
                                            .is_tuple = number(&fields, HLO_ALLOCATION_IS_TUPLE) != 0,
                                            .is_constant = number(&fields, HLO_ALLOCATION_IS_CONSTANT) != 0,
                                            .is_output = number(&fields, HLO_ALLOCATION_IS_OUTPUT) != 0};
    if (number(&fields, HLO_ALLOCATION_IS_PARAMETER)) allocation.parameter = number(&fields, HLO_ALLOCATION_PARAMETER);
    code = ids_hlo_add_allocation(buffers, &allocation, err);
    while (!code && ids_pb_next(&all, &field) > 0) {
        if (ids_hlo_tag_of(&field) != IDS_HLO_TAG(HLO_ALLOCATION_ASSIGNED, BYTES)) continue;
        code = read_fields(ids_pb_inside(&field), &fields, err);
        if (!code)
            ids_hlo_assign_buffer(buffers, number(&fields, HLO_ASSIGNED_BUFFER_ID),
                                  number(&fields, HLO_ASSIGNED_OFFSET));
    }
    return code;
}

static int read_event(struct ids_pb message, struct ids_hlo_buffers *buffers, struct ids_error *err) {
    struct fields fields;
    int code = read_fields(message, &fields, err);
    if (code) return code;
    struct ids_pb name = inside(&fields, HLO_HEAP_EVENT_INSTRUCTION);
    struct ids_text instruction = {name.at ? (const char *)name.at : "", (uint32_t)(name.end - name.at)};
    int64_t kind = number(&fields, HLO_HEAP_EVENT_KIND);
    return ids_hlo_add_heap_event(buffers, kind >= 0 && kind <= IDS_HLO_HEAP_SHARE ? (int)kind : -1,
                                  number(&fields, HLO_HEAP_EVENT_BUFFER_ID),
                                  number(&fields, HLO_HEAP_EVENT_CANONICAL_ID), instruction, err);
}

/* At most so many events. */
static int read_events(struct ids_pb message, uint64_t most, struct ids_hlo_buffers *buffers, struct ids_error *err) {
    struct ids_pb_field field;
    int more = 0, code = 0;
    for (uint64_t count = 0; !code && count < most && (more = ids_pb_next(&message, &field)) > 0;) {
        if (ids_hlo_tag_of(&field) != IDS_HLO_TAG(HLO_HEAP_TRACE_EVENT, BYTES)) continue;
        code = read_event(ids_pb_inside(&field), buffers, err);
        count++;
    }
    return code || more >= 0 ? code : malformed(err);
}

static int read_heap(struct ids_pb message, struct ids_hlo_buffers *buffers, struct ids_error *err) {
    struct ids_hlo_heap figures;
    int code = ids_hlo_add_heap(buffers, err);
    if (!code) code = read_events(message, UINT64_MAX, buffers, err);
    if (code || !ids_hlo_heap_is_highest(buffers)) return code;
    ids_hlo_repeat_heap(buffers, &figures);
    code = read_events(message, figures.peak_event, buffers, err);
    return code ? code : ids_hlo_keep_live(buffers, &figures, err);
}

int ids_hlo_buffers_read(struct ids_pb bytes, struct ids_hlo_module *module, struct ids_error *err) {
    struct ids_pb_field field;
    int code = 0, more = 0;
    if (!module->buffers) module->buffers = ids_hlo_buffers_new();
    if (!module->buffers) return ids_no_memory(err);
    while (!code && (more = ids_pb_next(&bytes, &field)) > 0) {
        switch (ids_hlo_tag_of(&field)) {
        case IDS_HLO_TAG(HLO_BUFFERS_LOGICAL, BYTES):
            code = read_buffer(ids_pb_inside(&field), module->buffers, err);
            break;
        case IDS_HLO_TAG(HLO_BUFFERS_ALLOCATION, BYTES):
            code = read_allocation(ids_pb_inside(&field), module->buffers, err);
            break;
        case IDS_HLO_TAG(HLO_BUFFERS_HEAP_TRACE, BYTES):
            code = read_heap(ids_pb_inside(&field), module->buffers, err);
            break;
        default:
            break;
        }
    }
    return code || more == 0 ? code : malformed(err);
}
