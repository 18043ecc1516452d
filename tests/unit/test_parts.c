/* lib/hlo/parts: what of a fusion belongs to which scope, over programs that are made here. */
#include "lib/fields/hlo.h"
#include "lib/hlo/parts.h"
#include "tests/support/put_module.h"
#include "tests/support/suite.h"

enum { F32 = 11, COUNT = 1000 };

static struct ids_hlo_costs costs;
static struct ids_hlo_covered parts[IDS_HLO_PARTS];

static void begin(void) {
    begin_module();
    computation(1);
}

/* f32[1000] of the instruction before it. */
static uint32_t put_next(const char *opcode, const char *op_name) {
    struct ids_hlo_metadata metadata = {.op_name = {op_name, (uint32_t)strlen(op_name)}};
    int is_first = !graph.computations[graph.computation_count - 1].instructions.count;
    ck_assert_int_eq(ids_hlo_add_metadata(&graph, metadata, &err), 0);
    return put_named(opcode, array(F32, NUMBERS(COUNT)), (uint32_t)graph.metadata_count - 1,
                     is_first ? -1 : (int)graph.instruction_count - 1, -1);
}

/* f32[1000] of f32[1000,32] and f32[32]. */
static void put_product(const char *op_name) {
    static const char contracts_dimension_1[] = "\x08\x01";
    struct ids_hlo_metadata metadata = {.op_name = {op_name, (uint32_t)strlen(op_name)}};
    struct ids_hlo_attribute made = {.field = HLO_INSTRUCTION_DOT_DIMENSIONS,
                                     .is_bytes = 1,
                                     .length = sizeof contracts_dimension_1 - 1,
                                     .bytes = contracts_dimension_1};
    int left = (int)put("parameter", array(F32, NUMBERS(COUNT, 32)), -1, -1);
    int right = (int)put("parameter", array(F32, NUMBERS(32)), -1, -1);
    ck_assert_int_eq(ids_hlo_add_metadata(&graph, metadata, &err), 0);
    uint32_t dot = put_named("dot", array(F32, NUMBERS(COUNT)), (uint32_t)graph.metadata_count - 1, left, right);
    ck_assert_int_eq(ids_hlo_add_attribute(&graph, made, &err), 0);
    graph.instructions[dot].attributes.count++;
}

/* Of a fusion of what was put, with this name. Returns how many parts it has. */
static int fuse(const char *op_name, uint64_t effort) {
    computation(0);
    put_next("parameter", "");
    uint32_t fusion = put_next("fusion", op_name);
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
    put_next("parameter", "");
    put_next("add", "jit(step)/embed/add");
    put_next("tanh", "jit(step)/mlp/tanh");
    put_next("multiply", "jit(step)/mlp/mul");
    put_next("negate", "jit(step)/head/neg");
    ck_assert_int_eq(fuse("jit(step)/head/neg", 0), 3);
    part_is(0, "jit(step)/mlp/tanh", 11.0 / 13);
    part_is(1, "jit(step)/embed/add", 1.0 / 13);
    part_is(2, "jit(step)/head/neg", 1.0 / 13);
    end();
}
END_TEST

/* A product of 1,000 elements of 32 values each is 64 operations an element, of which a sixteenth counts: 4. The
 * function (ten) and the two operations behind it are 12: a quarter is of the product. */
START_TEST(products_are_cheap) {
    begin();
    put_product("jit(step)/scores/dot_general");
    put_next("subtract", "jit(step)/softmax/sub");
    put_next("exponential", "jit(step)/softmax/exp");
    put_next("multiply", "jit(step)/softmax/mul");
    ck_assert_int_eq(fuse("jit(step)/scores/dot_general", 0), 2);
    part_is(0, "jit(step)/softmax/exp", 0.75);
    part_is(1, "jit(step)/scores/dot_general", 0.25);
    end();
}
END_TEST

START_TEST(one_scope_has_no_parts) {
    begin();
    put_next("parameter", "");
    put_next("add", "jit(step)/mlp/add");
    put_next("tanh", "jit(step)/mlp/tanh");
    ck_assert_int_eq(fuse("jit(step)/mlp/add", 0), 0);
    end();
    begin(); /* unless the fusion bears the name of another */
    put_next("parameter", "");
    put_next("tanh", "jit(step)/mlp/tanh");
    ck_assert_int_eq(fuse("jit(step)/head/reshape", 0), 1);
    part_is(0, "jit(step)/mlp/tanh", 1);
    end();
}
END_TEST

/* What only moves goes by its bytes; broadcasts and shapes are there for others. */
START_TEST(moves_go_by_bytes) {
    begin();
    put_next("parameter", "");
    put_next("broadcast", "jit(step)/mask/broadcast");
    put_next("copy", "jit(step)/a/copy");
    put_next("reverse", "jit(step)/b/rev");
    put_next("copy", "jit(step)/b/copy");
    ck_assert_int_eq(fuse("jit(step)/a/copy", 0), 2);
    part_is(0, "jit(step)/b/rev", 2.0 / 3);
    part_is(1, "jit(step)/a/copy", 1.0 / 3);
    end();
}
END_TEST

/* A transpose reads and writes 4 bytes an element: 8 of 9 are its, the maximum is one operation. */
START_TEST(moves_beside_operations) {
    begin();
    put_next("parameter", "");
    put_next("transpose", "jit(step)/turn/transpose");
    put_next("maximum", "jit(step)/relu/max");
    put_next("reshape", "jit(step)/relu/reshape");
    ck_assert_int_eq(fuse("jit(step)/relu/max", 0), 2);
    part_is(0, "jit(step)/turn/transpose", 8.0 / 9);
    part_is(1, "jit(step)/relu/max", 1.0 / 9);
    end();
}
END_TEST

/* Six scopes of 60, 50, 40, 30, 20 and 10 operations: four are told, the first has the rest. 1 of 111 is too little. */
START_TEST(the_largest_are_told) {
    static const char *const names[] = {"jit(f)/a/x", "jit(f)/b/x", "jit(f)/c/x",
                                        "jit(f)/d/x", "jit(f)/e/x", "jit(f)/g/x"};
    begin();
    put_next("parameter", "");
    for (int s = 5; s >= 0; s--) {
        for (int i = 0; i < 6 - s; i++) put_next("tanh", names[s]);
    }
    ck_assert_int_eq(fuse("jit(f)/a/x", 0), 4);
    part_is(0, "jit(f)/a/x", 90.0 / 210);
    part_is(1, "jit(f)/b/x", 50.0 / 210);
    part_is(2, "jit(f)/c/x", 40.0 / 210);
    part_is(3, "jit(f)/d/x", 30.0 / 210);
    end();
    begin();
    put_next("parameter", "");
    for (int i = 0; i < 11; i++) put_next("tanh", "jit(f)/a/x");
    put_next("add", "jit(f)/b/x"); /* 1 of 111 */
    ck_assert_int_eq(fuse("jit(f)/a/x", 0), 0);
    end();
}
END_TEST

/* A damaged program must not take a minute. */
START_TEST(effort_is_bounded) {
    begin();
    put_next("parameter", "");
    put_next("tanh", "jit(f)/a/x");
    put_next("tanh", "jit(f)/b/x");
    ck_assert_int_eq(fuse("jit(f)/a/x", IDS_HLO_PARTS_EFFORT), 0);
    end();
}
END_TEST

IDS_RUN_SUITE("parts", divided_by_operations, products_are_cheap, one_scope_has_no_parts, moves_go_by_bytes,
              moves_beside_operations, the_largest_are_told, effort_is_bounded)
