#include "formats/hlo_frames.h"

#include "formats/hlo_tag.h"

/* The numbers of a small message by their field number; those from `count` on are passed over. Returns 0 when it is
 * malformed. */
static int read_numbers(struct ids_pb bytes, int32_t *ret_numbers, uint32_t count) {
    struct ids_pb_field field;
    int more;
    for (uint32_t i = 0; i < count; i++) ret_numbers[i] = 0;
    while ((more = ids_pb_next(&bytes, &field)) > 0) {
        if (field.wire == IDS_PB_VARINT && field.number < count) ret_numbers[field.number] = (int32_t)field.value;
    }
    return more == 0;
}

static int read_field(const struct ids_pb_field *field, struct ids_hlo_module *module, struct ids_error *err) {
    struct ids_text text = {(const char *)field->bytes, (uint32_t)field->value};
    int32_t numbers[4];
    switch (ids_hlo_tag_of(field)) {
    case IDS_HLO_TAG(HLO_FRAMES_FILE, BYTES):
        return ids_hlo_add_file(module, text, err);
    case IDS_HLO_TAG(HLO_FRAMES_FUNCTION, BYTES):
        return ids_hlo_add_function(module, text, err);
    case IDS_HLO_TAG(HLO_FRAMES_LOCATION, BYTES): {
        if (!read_numbers(ids_pb_inside(field), numbers, 4)) return IDS_CORRUPT;
        struct ids_hlo_location location = {numbers[HLO_LOCATION_FILE_ID], numbers[HLO_LOCATION_FUNCTION_ID],
                                            numbers[HLO_LOCATION_LINE]};
        return ids_hlo_add_location(module, location, err);
    }
    case IDS_HLO_TAG(HLO_FRAMES_FRAME, BYTES): {
        if (!read_numbers(ids_pb_inside(field), numbers, 3)) return IDS_CORRUPT;
        struct ids_hlo_frame frame = {numbers[HLO_FRAME_LOCATION_ID], numbers[HLO_FRAME_PARENT_ID]};
        return ids_hlo_add_frame(module, frame, err);
    }
    default:
        return 0;
    }
}

int ids_hlo_frames_read(struct ids_pb bytes, struct ids_hlo_module *module, struct ids_error *err) {
    struct ids_pb_field field;
    int code = 0, more = 0;
    while (!code && (more = ids_pb_next(&bytes, &field)) > 0) code = read_field(&field, module, err);
    if (code == IDS_NOMEM) return code;
    if (!code && more == 0) return 0;
    module->file_count = module->function_count = module->location_count = module->frame_count = 0;
    module->frames_lost = 1;
    *err = (struct ids_error)IDS_ERROR_INIT;
    return 0;
}
