#include "lib/hlo/module.h"

#include "lib/base/vec.h"
#include "lib/fields/hlo.h"
#include "lib/hlo/buffers.h"

#include <stdlib.h>

void ids_hlo_module_init(struct ids_hlo_module *module) {
    *module = (struct ids_hlo_module){.entry = IDS_HLO_NONE};
}

void ids_hlo_module_done(struct ids_hlo_module *module) {
    free(module->computations);
    free(module->instructions);
    free(module->shapes);
    free(module->layouts);
    free(module->tiles);
    free(module->attributes);
    free(module->metadata);
    free(module->loops);
    free(module->groups);
    free(module->numbers);
    free(module->operands);
    free(module->called);
    free(module->files);
    free(module->functions);
    free(module->locations);
    free(module->frames);
    ids_hlo_buffers_free(module->buffers);
    ids_keymap_done(&module->donated);
    ids_keymap_done(&module->by_id);
    ids_keymap_done(&module->computation_by_id);
    ids_arena_done(&module->texts);
    ids_hlo_module_init(module);
}

/* ---- filling ---- */

static int no_room(size_t count, size_t limit, const char *what, struct ids_error *err) {
    if (count < limit) return ids_no_memory(err);
    return ids_fail(err, IDS_LIMIT, "a program of more than %zu %s", limit, what);
}

/* A new last element of module->LIST, as `place`; returns from the function that it is used in when there is none. */
#define ADD(place, list, one, limit, what)                                                                      \
    __typeof__(module->list) place =                                                                            \
        module->one##_count < (limit) ? IDS_PUSH(module->list, module->one##_count, module->one##_room) : NULL; \
    if (!(place)) return no_room(module->one##_count, (limit), (what), err)

int ids_hlo_add_computation(struct ids_hlo_module *module, struct ids_hlo_computation **ret, struct ids_error *err) {
    ADD(place, computations, computation, IDS_HLO_INSTRUCTIONS_LIMIT, "computations");
    *ret = place;
    return 0;
}

int ids_hlo_add_instruction(struct ids_hlo_module *module, struct ids_hlo_instruction **ret, struct ids_error *err) {
    ADD(place, instructions, instruction, IDS_HLO_INSTRUCTIONS_LIMIT, "instructions");
    *ret = place;
    return 0;
}

int ids_hlo_add_shape(struct ids_hlo_module *module, uint32_t *ret_index, struct ids_error *err) {
    ADD(place, shapes, shape, IDS_HLO_INSTRUCTIONS_LIMIT, "shapes");
    *place = (struct ids_hlo_shape){
        .bytes = -1, .first_part = IDS_HLO_NONE, .next_part = IDS_HLO_NONE, .layout = IDS_HLO_NONE};
    *ret_index = (uint32_t)module->shape_count - 1;
    return 0;
}

int ids_hlo_add_layout(struct ids_hlo_module *module, uint32_t *ret_index, struct ids_error *err) {
    ADD(place, layouts, layout, IDS_HLO_INSTRUCTIONS_LIMIT, "layouts");
    *place = (struct ids_hlo_layout){0};
    *ret_index = (uint32_t)module->layout_count - 1;
    return 0;
}

int ids_hlo_add_tile(struct ids_hlo_module *module, struct ids_hlo_range tile, struct ids_error *err) {
    ADD(place, tiles, tile, IDS_HLO_INSTRUCTIONS_LIMIT, "tiles");
    *place = tile;
    return 0;
}

int ids_hlo_add_attribute(struct ids_hlo_module *module, struct ids_hlo_attribute attribute, struct ids_error *err) {
    ADD(place, attributes, attribute, IDS_HLO_NUMBERS_LIMIT, "attributes");
    *place = attribute;
    return 0;
}

int ids_hlo_add_metadata(struct ids_hlo_module *module, struct ids_hlo_metadata metadata, struct ids_error *err) {
    ADD(place, metadata, metadata, IDS_HLO_INSTRUCTIONS_LIMIT, "instructions with metadata");
    *place = metadata;
    return 0;
}

int ids_hlo_add_loop(struct ids_hlo_module *module, struct ids_hlo_loop loop, struct ids_error *err) {
    ADD(place, loops, loop, IDS_HLO_INSTRUCTIONS_LIMIT, "loops");
    *place = loop;
    return 0;
}

int ids_hlo_add_groups(struct ids_hlo_module *module, struct ids_text groups, struct ids_error *err) {
    char *copy = ids_arena_copy(&module->texts, groups.at, groups.length);
    if (!copy) return ids_no_memory(err);
    ADD(place, groups, group, IDS_HLO_INSTRUCTIONS_LIMIT, "collectives");
    *place = (struct ids_text){copy, groups.length};
    return 0;
}

int ids_hlo_add_number(struct ids_hlo_module *module, int64_t number, struct ids_error *err) {
    ADD(place, numbers, number, IDS_HLO_NUMBERS_LIMIT, "dimensions");
    *place = number;
    return 0;
}

int ids_hlo_add_operand(struct ids_hlo_module *module, uint64_t id, struct ids_error *err) {
    ADD(place, operands, operand, IDS_HLO_NUMBERS_LIMIT, "operands");
    *place = id;
    return 0;
}

int ids_hlo_add_called(struct ids_hlo_module *module, uint64_t id, struct ids_error *err) {
    ADD(place, called, called, IDS_HLO_NUMBERS_LIMIT, "calls");
    *place = id;
    return 0;
}

int ids_hlo_add_file(struct ids_hlo_module *module, struct ids_text name, struct ids_error *err) {
    ADD(place, files, file, IDS_HLO_FRAMES_LIMIT, "source files");
    *place = name;
    return 0;
}

int ids_hlo_add_function(struct ids_hlo_module *module, struct ids_text name, struct ids_error *err) {
    ADD(place, functions, function, IDS_HLO_FRAMES_LIMIT, "functions");
    *place = name;
    return 0;
}

int ids_hlo_add_location(struct ids_hlo_module *module, struct ids_hlo_location location, struct ids_error *err) {
    ADD(place, locations, location, IDS_HLO_FRAMES_LIMIT, "source lines");
    *place = location;
    return 0;
}

int ids_hlo_add_frame(struct ids_hlo_module *module, struct ids_hlo_frame frame, struct ids_error *err) {
    ADD(place, frames, frame, IDS_HLO_FRAMES_LIMIT, "stack frames");
    *place = frame;
    return 0;
}

/* ---- asking ---- */

const struct ids_hlo_attribute *ids_hlo_attribute_of(const struct ids_hlo_module *module,
                                                     const struct ids_hlo_instruction *instruction, unsigned field) {
    for (uint32_t i = 0; i < instruction->attributes.count; i++) {
        const struct ids_hlo_attribute *attribute = &module->attributes[instruction->attributes.first + i];
        if (attribute->field == field) return attribute;
    }
    return NULL;
}

struct ids_text ids_hlo_op_name(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction) {
    if (instruction->metadata == IDS_HLO_NONE) return (struct ids_text){"", 0};
    return module->metadata[instruction->metadata].op_name;
}

struct ids_text ids_hlo_call_target(const struct ids_hlo_module *module,
                                    const struct ids_hlo_instruction *instruction) {
    const struct ids_hlo_attribute *target = ids_hlo_attribute_of(module, instruction, HLO_INSTRUCTION_CALL_TARGET);
    if (!target || !target->is_bytes) return (struct ids_text){"", 0};
    return (struct ids_text){target->bytes, target->length};
}

static struct ids_text nth(const struct ids_text *texts, size_t count, int32_t number) {
    return number < 1 || (size_t)number > count ? (struct ids_text){"", 0} : texts[number - 1];
}

int ids_hlo_frame(const struct ids_hlo_module *module, int32_t frame, struct ids_text *ret_function,
                  struct ids_text *ret_file, int32_t *ret_line, int32_t *ret_parent) {
    if (frame < 1 || (size_t)frame > module->frame_count) return 0;
    int32_t number = module->frames[frame - 1].location;
    static const struct ids_hlo_location nowhere;
    const struct ids_hlo_location *location =
        number < 1 || (size_t)number > module->location_count ? &nowhere : &module->locations[number - 1];
    *ret_function = nth(module->functions, module->function_count, location->function);
    *ret_file = nth(module->files, module->file_count, location->file);
    *ret_line = location->line;
    *ret_parent = module->frames[frame - 1].parent;
    return 1;
}

struct ids_text ids_hlo_source(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                               int32_t *ret_line) {
    struct ids_text function, file = {"", 0};
    int32_t parent;
    *ret_line = 0;
    if (instruction->metadata == IDS_HLO_NONE) return file;
    const struct ids_hlo_metadata *metadata = &module->metadata[instruction->metadata];
    if (metadata->file.length) {
        *ret_line = metadata->line;
        return metadata->file;
    }
    ids_hlo_frame(module, metadata->frame, &function, &file, ret_line, &parent);
    return file;
}
