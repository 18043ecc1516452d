/* put_module.h - a program of XLA that is made piece by piece, for tests of lib/hlo. */
#ifndef IDS_TESTS_SUPPORT_PUT_MODULE_H
#define IDS_TESTS_SUPPORT_PUT_MODULE_H

#include "lib/hlo/finish.h"

#include <check.h>
#include <string.h>

static struct ids_hlo_module graph;
static struct ids_error err;

static inline void begin_module(void) {
    ids_hlo_module_init(&graph);
    err = (struct ids_error)IDS_ERROR_INIT;
}

/* What is put then is of it; the last one is the entry. */
static inline void computation(int is_fusion) {
    struct ids_hlo_computation *place;
    int64_t id = (int64_t)graph.computation_count + 1;
    ck_assert_int_eq(ids_hlo_add_computation(&graph, &place, &err), 0);
    *place = (struct ids_hlo_computation){
        .id = id, .instructions = {(uint32_t)graph.instruction_count, 0}, .is_fusion = (uint8_t)is_fusion};
    graph.entry_id = id;
}

/* Numbers end with -1. */
static inline struct ids_hlo_range numbers(const int *at) {
    struct ids_hlo_range range = {(uint32_t)graph.number_count, 0};
    for (; *at >= 0; at++, range.count++) ck_assert_int_eq(ids_hlo_add_number(&graph, *at, &err), 0);
    return range;
}
#define NUMBERS(...) numbers((const int[]){__VA_ARGS__, -1})

static inline uint32_t array(int element, struct ids_hlo_range sizes) {
    uint32_t index;
    ck_assert_int_eq(ids_hlo_add_shape(&graph, &index, &err), 0);
    graph.shapes[index] = (struct ids_hlo_shape){.dimensions = sizes,
                                                 .first_part = IDS_HLO_NONE,
                                                 .next_part = IDS_HLO_NONE,
                                                 .layout = IDS_HLO_NONE,
                                                 .element = (uint8_t)element};
    return index;
}

/* Operands are indices of instructions; -1: none. */
static inline uint32_t put_named(const char *opcode, uint32_t shape, uint32_t metadata, int left, int right) {
    struct ids_hlo_instruction *place;
    struct ids_hlo_instruction made = {.opcode = {opcode, (uint32_t)strlen(opcode)},
                                       .id = (int64_t)graph.instruction_count + 1,
                                       .operands = {(uint32_t)graph.operand_count, 0},
                                       .called = {(uint32_t)graph.called_count, 0},
                                       .attributes = {(uint32_t)graph.attribute_count, 0},
                                       .shape = shape,
                                       .metadata = metadata,
                                       .groups = IDS_HLO_NONE,
                                       .loop = IDS_HLO_NONE};
    const int operands[] = {left, right};
    for (int o = 0; o < 2 && operands[o] >= 0; o++, made.operands.count++)
        ck_assert_int_eq(ids_hlo_add_operand(&graph, (uint64_t)operands[o] + 1, &err), 0);
    ck_assert_int_eq(ids_hlo_add_instruction(&graph, &place, &err), 0);
    *place = made;
    graph.computations[graph.computation_count - 1].instructions.count++;
    graph.computations[graph.computation_count - 1].root_id = made.id;
    return (uint32_t)graph.instruction_count - 1;
}

static inline uint32_t put(const char *opcode, uint32_t shape, int left, int right) {
    return put_named(opcode, shape, IDS_HLO_NONE, left, right);
}

#endif
