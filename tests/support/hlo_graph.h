/* hlo_graph.h - an HLO module that a test builds instruction by instruction, and what of it is found to be wasted. */
#ifndef IDS_TESTS_SUPPORT_HLO_GRAPH_H
#define IDS_TESTS_SUPPORT_HLO_GRAPH_H

#include "lib/fields/hlo.h"
#include "lib/hlo/finish.h"
#include "lib/hlo/waste.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { F32 = 11, F64 = 12, BF16 = 16 };

static struct ids_hlo_module module;
static struct ids_error err;
static struct ids_hlo_waste *wastes;

static inline void begin(void) {
    ids_hlo_module_init(&module);
    err = (struct ids_error)IDS_ERROR_INIT;
    module.entry_id = -1;
}

static inline struct ids_text text(const char *z) {
    return (struct ids_text){z, (uint32_t)strlen(z)};
}

/* The instructions that follow are inside it; its id is its number from 1. */
static inline int computation(const char *name, int is_fusion) {
    struct ids_hlo_computation *fresh;
    ck_assert_int_eq(ids_hlo_add_computation(&module, &fresh, &err), 0);
    *fresh = (struct ids_hlo_computation){.name = text(name),
                                          .id = (int64_t)module.computation_count,
                                          .instructions = {(uint32_t)module.instruction_count, 0},
                                          .root = IDS_HLO_NONE,
                                          .is_fusion = (uint8_t)is_fusion};
    return (int)module.computation_count;
}
static inline void is_entry(int number) {
    module.entry_id = number;
}

static inline uint32_t shape_of(const char *dimensions) {
    uint32_t shape;
    ck_assert_int_eq(ids_hlo_add_shape(&module, &shape, &err), 0);
    module.shapes[shape] = (struct ids_hlo_shape){.element = F32,
                                                  .first_part = IDS_HLO_NONE,
                                                  .next_part = IDS_HLO_NONE,
                                                  .layout = IDS_HLO_NONE,
                                                  .dimensions = {(uint32_t)module.number_count, 0}};
    for (const char *at = dimensions; *at;) {
        char *end;
        ck_assert_int_eq(ids_hlo_add_number(&module, strtol(at, &end, 10), &err), 0);
        module.shapes[shape].dimensions.count++;
        at = *end ? end + 1 : end;
    }
    return shape;
}

/* The last operand is 0; ids count from 1 in the order in which instructions are added. */
static inline struct ids_hlo_instruction *add(const char *name, const char *opcode, const char *dimensions,
                                              const int *operands) {
    uint32_t shape = shape_of(dimensions);
    struct ids_hlo_range range = {(uint32_t)module.operand_count, 0};
    for (; *operands; operands++, range.count++)
        ck_assert_int_eq(ids_hlo_add_operand(&module, (uint64_t)*operands, &err), 0);
    struct ids_hlo_instruction *fresh;
    ck_assert_int_eq(ids_hlo_add_instruction(&module, &fresh, &err), 0);
    *fresh = (struct ids_hlo_instruction){.name = text(name),
                                          .opcode = text(opcode),
                                          .id = (int64_t)module.instruction_count,
                                          .operands = range,
                                          .shape = shape,
                                          .metadata = IDS_HLO_NONE,
                                          .groups = IDS_HLO_NONE,
                                          .loop = IDS_HLO_NONE,
                                          .attributes = {(uint32_t)module.attribute_count, 0}};
    module.computations[module.computation_count - 1].instructions.count++;
    return fresh;
}
#define ADD(name, opcode, dimensions, ...) add((name), (opcode), (dimensions), (const int[]){__VA_ARGS__})
/* How many there are, which is the id of the last one. */
static inline int last(void) {
    return (int)module.instruction_count;
}

static inline void attribute(struct ids_hlo_instruction *of, struct ids_hlo_attribute attribute) {
    ck_assert_int_eq(ids_hlo_add_attribute(&module, attribute, &err), 0);
    of->attributes.count++;
}
static inline int parameter(const char *name, const char *dimensions, unsigned number) {
    struct ids_hlo_instruction *of = ADD(name, "parameter", dimensions, 0);
    attribute(of, (struct ids_hlo_attribute){.field = HLO_INSTRUCTION_PARAMETER_NUMBER, .number = number});
    return last();
}
static inline int batched_dot(const char *name, const char *dimensions, int left, int right) {
    static const char numbers[] = "\x0a\x01\x02\x12\x01\x02\x1a\x01\x00\x22\x01"; /* and a zero */
    struct ids_hlo_instruction *of = ADD(name, "dot", dimensions, left, right, 0);
    attribute(of, (struct ids_hlo_attribute){
                      .field = HLO_INSTRUCTION_DOT_DIMENSIONS, .is_bytes = 1, .length = 12, .bytes = numbers});
    return last();
}
static inline int calls(struct ids_hlo_instruction *of, int number) {
    of->called = (struct ids_hlo_range){(uint32_t)module.called_count, 1};
    ck_assert_int_eq(ids_hlo_add_called(&module, (uint64_t)number, &err), 0);
    return last();
}
static inline int grouped(struct ids_hlo_instruction *of, const char *groups) {
    of->groups = (uint32_t)module.group_count;
    ck_assert_int_eq(ids_hlo_add_groups(&module, text(groups), &err), 0);
    return last();
}
static inline void replicated(int id) {
    module.instructions[id - 1].sharding = (struct ids_text){"", 0};
}
static inline void sharded(int id) {
    module.instructions[id - 1].sharding = (struct ids_text){"\x08\x03", 2};
}

static inline void finish(void) {
    ck_assert_int_eq(ids_hlo_module_finish(&module, &err), 0);
    ck_assert_int_eq(ids_hlo_waste_find(&module, &wastes, &err), 0);
}
static inline void end(void) {
    free(wastes);
    wastes = NULL;
    ids_hlo_module_done(&module);
}

static inline const char *waste_of(int id) {
    const char *name = wastes ? ids_waste_name((enum ids_waste)wastes[id - 1].kind) : NULL;
    return name ? name : "";
}
static inline const char *why(int id) {
    static char words[IDS_HLO_WASTE_TEXT];
    ids_hlo_waste_text(&module, &wastes[id - 1], (uint32_t)(id - 1), words);
    return words;
}

static inline int element(const char *name, const char *dimensions, int tuple, unsigned place) {
    struct ids_hlo_instruction *of = ADD(name, "get-tuple-element", dimensions, tuple, 0);
    attribute(of, (struct ids_hlo_attribute){.field = HLO_INSTRUCTION_TUPLE_INDEX, .number = place});
    return last();
}

static inline void is_root(int number, int id) {
    module.computations[number - 1].root_id = id;
}

#endif
