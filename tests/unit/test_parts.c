/* lib/hlo/parts: what of a fusion belongs to which scope, over programs that are made here. */
#include "lib/fields/hlo.h"
#include "lib/hlo/finish.h"
#include "lib/hlo/parts.h"
#include "tests/support/suite.h"

enum { F32 = 11, COUNT = 1000 };

static struct ids_hlo_module graph;
static struct ids_hlo_costs costs;
static struct ids_error err;
static struct ids_hlo_covered parts[IDS_HLO_PARTS];

static void computation(int is_fusion) {
    struct ids_hlo_computation *place;
    int64_t id = (int64_t)graph.computation_count + 1;
    ck_assert_int_eq(ids_hlo_add_computation(&graph, &place, &err), 0);
    *place = (struct ids_hlo_computation){
        .id = id, .instructions = {(uint32_t)graph.instruction_count, 0}, .is_fusion = (uint8_t)is_fusion};
    graph.entry_id = id;
}

static void begin(void) {
    ids_hlo_module_init(&graph);
    err = (struct ids_error)IDS_ERROR_INIT;
    computation(1);
}

/* f32[1000] of the instruction before it. */
static uint32_t put(const char *opcode, const char *op_name) {
    struct ids_hlo_instruction *place;
    uint32_t shape;
    struct ids_hlo_metadata metadata = {.op_name = {op_name, (uint32_t)strlen(op_name)}};
    ck_assert_int_eq(ids_hlo_add_shape(&graph, &shape, &err), 0);
    graph.shapes[shape] = (struct ids_hlo_shape){.element = F32,
                                                 .first_part = IDS_HLO_NONE,
                                                 .next_part = IDS_HLO_NONE,
                                                 .layout = IDS_HLO_NONE,
                                                 .dimensions = {(uint32_t)graph.number_count, 1}};
    ck_assert_int_eq(ids_hlo_add_number(&graph, COUNT, &err), 0);
    ck_assert_int_eq(ids_hlo_add_metadata(&graph, metadata, &err), 0);
    struct ids_hlo_computation *in = &graph.computations[graph.computation_count - 1];
    struct ids_hlo_instruction made = {.opcode = {opcode, (uint32_t)strlen(opcode)},
                                       .id = (int64_t)graph.instruction_count + 1,
                                       .operands = {(uint32_t)graph.operand_count, in->instructions.count > 0},
                                       .called = {(uint32_t)graph.called_count, 0},
                                       .shape = shape,
                                       .metadata = (uint32_t)graph.metadata_count - 1,
                                       .groups = IDS_HLO_NONE,
                                       .loop = IDS_HLO_NONE};
    if (made.operands.count) ck_assert_int_eq(ids_hlo_add_operand(&graph, graph.instruction_count, &err), 0);
    ck_assert_int_eq(ids_hlo_add_instruction(&graph, &place, &err), 0);
    *place = made;
    in->instructions.count++;
    in->root_id = made.id;
    return (uint32_t)graph.instruction_count - 1;
}

/* Of a fusion of what was put, with this name. Returns how many parts it has. */
static int fuse(const char *op_name, uint64_t effort) {
    computation(0);
    put("parameter", "");
    uint32_t fusion = put("fusion", op_name);
    ck_assert_int_eq(ids_hlo_add_called(&graph, 1, &err), 0);
    graph.instructions[fusion].called.count++;
    ck_assert_int_eq(ids_hlo_module_finish(&graph, &err), 0);
    ck_assert_int_eq(ids_hlo_costs_make(&graph, &costs, &err), 0);
    return ids_hlo_parts_of(&costs, fusion, &effort, parts);
}

static void end(void) {
    ids_hlo_costs_done(&costs);
    ids_hlo_module_done(&graph);
}

static void part_is(int at, const char *op_name, double share) {
    ck_assert_msg(ids_text_is(parts[at].op_name, op_name), "%.*s", (int)parts[at].op_name.length, parts[at].op_name.at);
    ck_assert_double_eq_tol(parts[at].share, share, 1e-9);
}

/* An operation in embed, a function (ten) and an operation in mlp, one in head: 1, 11 and 1 of 13. */
START_TEST(divided_by_operations) {
    begin();
    put("parameter", "");
    put("add", "jit(step)/embed/add");
    put("tanh", "jit(step)/mlp/tanh");
    put("multiply", "jit(step)/mlp/mul");
    put("negate", "jit(step)/head/neg");
    ck_assert_int_eq(fuse("jit(step)/head/neg", 0), 3);
    part_is(0, "jit(step)/mlp/tanh", 11.0 / 13);
    part_is(1, "jit(step)/embed/add", 1.0 / 13);
    part_is(2, "jit(step)/head/neg", 1.0 / 13);
    end();
}
END_TEST

START_TEST(one_scope_has_no_parts) {
    begin();
    put("parameter", "");
    put("add", "jit(step)/mlp/add");
    put("tanh", "jit(step)/mlp/tanh");
    ck_assert_int_eq(fuse("jit(step)/mlp/add", 0), 0);
    end();
    begin(); /* unless the fusion bears the name of another */
    put("parameter", "");
    put("tanh", "jit(step)/mlp/tanh");
    ck_assert_int_eq(fuse("jit(step)/head/reshape", 0), 1);
    part_is(0, "jit(step)/mlp/tanh", 1);
    end();
}
END_TEST

/* What only moves goes by its elements; broadcasts are there for others. */
START_TEST(moves_go_by_elements) {
    begin();
    put("parameter", "");
    put("broadcast", "jit(step)/mask/broadcast");
    put("copy", "jit(step)/a/copy");
    put("reverse", "jit(step)/b/rev");
    put("copy", "jit(step)/b/copy");
    ck_assert_int_eq(fuse("jit(step)/a/copy", 0), 2);
    part_is(0, "jit(step)/b/rev", 2.0 / 3);
    part_is(1, "jit(step)/a/copy", 1.0 / 3);
    end();
}
END_TEST

/* Six scopes of 60, 50, 40, 30, 20 and 10 operations: four are told, the first has the rest. 1 of 111 is too little. */
START_TEST(the_largest_are_told) {
    static const char *const names[] = {"jit(f)/a/x", "jit(f)/b/x", "jit(f)/c/x",
                                        "jit(f)/d/x", "jit(f)/e/x", "jit(f)/g/x"};
    begin();
    put("parameter", "");
    for (int s = 5; s >= 0; s--) {
        for (int i = 0; i < 6 - s; i++) put("tanh", names[s]);
    }
    ck_assert_int_eq(fuse("jit(f)/a/x", 0), 4);
    part_is(0, "jit(f)/a/x", 90.0 / 210);
    part_is(1, "jit(f)/b/x", 50.0 / 210);
    part_is(2, "jit(f)/c/x", 40.0 / 210);
    part_is(3, "jit(f)/d/x", 30.0 / 210);
    end();
    begin();
    put("parameter", "");
    for (int i = 0; i < 11; i++) put("tanh", "jit(f)/a/x");
    put("add", "jit(f)/b/x"); /* 1 of 111 */
    ck_assert_int_eq(fuse("jit(f)/a/x", 0), 0);
    end();
}
END_TEST

/* A damaged program must not take a minute. */
START_TEST(effort_is_bounded) {
    begin();
    put("parameter", "");
    put("tanh", "jit(f)/a/x");
    put("tanh", "jit(f)/b/x");
    ck_assert_int_eq(fuse("jit(f)/a/x", IDS_HLO_PARTS_EFFORT), 0);
    end();
}
END_TEST

IDS_RUN_SUITE("parts", divided_by_operations, one_scope_has_no_parts, moves_go_by_elements, the_largest_are_told,
              effort_is_bounded)
