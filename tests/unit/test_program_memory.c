/* What a program keeps in memory (lib/hlo/program_memory.h), out of buffer assignments that are built here by hand, and
 * which arguments it keeps beside the results that could take their memory (lib/hlo/kept_arguments.h). */
#include "formats/hlo.h"
#include "lib/hlo/kept_arguments.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

enum { F32 = 11, TUPLE = 13 };

static struct ids_hlo_module graph;
static struct ids_hlo_program_memory memory;
static struct ids_error err;
static struct pb held, entry, program, assignment;
static int next_id, next_number;

static void begin(void) {
    entry = program = assignment = (struct pb){0};
    next_id = next_number = 0;
    pb_text(&entry, 1, "main");
    pb_int(&entry, 5, 1);
    pb_text(&program, 1, "jit_step");
}

static void end(void) {
    ids_hlo_module_done(&graph);
    pb_free(&held);
}

/* f32[size] */
static struct pb array(int size) {
    struct pb shape = {0}, dimensions = {0};
    pb_int(&shape, 2, F32);
    pb_varint(&dimensions, (uint64_t)size);
    pb_message(&shape, 3, dimensions);
    return shape;
}

/* Adds an instruction and returns its id. */
static int put(const char *name, const char *opcode, struct pb shape, const char *op_name, int number) {
    struct pb out = {0}, metadata = {0};
    pb_text(&out, 1, name);
    pb_text(&out, 2, opcode);
    pb_message(&out, 3, shape);
    if (op_name) pb_text(&metadata, 2, op_name);
    if (op_name) pb_message(&out, 7, metadata);
    if (number > 0) pb_int(&out, 9, number);
    pb_int(&out, 35, ++next_id);
    pb_message(&entry, 2, out);
    return next_id;
}

static int argument(const char *op_name, int size) {
    return put(op_name, "parameter", array(size), op_name, next_number++);
}

static struct pb root_shape, root_operands;

/* Adds an instruction of these operands, ended by 0. */
static int made_of(const char *opcode, int size, const int *operands) {
    struct pb out = {0}, packed = {0};
    pb_text(&out, 1, opcode);
    pb_text(&out, 2, opcode);
    pb_message(&out, 3, array(size));
    for (; *operands; operands++) pb_varint(&packed, (uint64_t)*operands);
    pb_message(&out, 36, packed);
    pb_int(&out, 35, ++next_id);
    pb_message(&entry, 2, out);
    return next_id;
}
#define MADE(opcode, size, ...) made_of((opcode), (size), (int[]){__VA_ARGS__, 0})

/* Adds a fusion of one operand, with a product of matrices inside. */
static int with_product(int size, int operand) {
    struct pb out = {0}, inside = {0}, dot = {0}, packed = {0};
    pb_text(&dot, 1, "inner");
    pb_text(&dot, 2, "dot");
    pb_message(&dot, 3, array(size));
    pb_int(&dot, 35, ++next_id);
    pb_text(&inside, 1, "fused");
    pb_message(&inside, 2, dot);
    pb_int(&inside, 5, 100 + next_id);
    pb_int(&inside, 6, next_id);
    pb_message(&program, 3, inside);
    pb_text(&out, 1, "fusion");
    pb_text(&out, 2, "fusion");
    pb_message(&out, 3, array(size));
    pb_varint(&packed, (uint64_t)operand);
    pb_message(&out, 36, packed);
    pb_int(&out, 38, 100 + next_id);
    pb_int(&out, 35, ++next_id);
    pb_message(&entry, 2, out);
    return next_id;
}

static void result(int size, int id) {
    pb_message(&root_shape, 4, array(size));
    pb_varint(&root_operands, (uint64_t)id);
}

/* The root: a tuple of the results. */
static void end_results(void) {
    struct pb out = {0}, shape = {0};
    pb_text(&out, 1, "tuple");
    pb_text(&out, 2, "tuple");
    pb_int(&shape, 2, TUPLE);
    pb_raw(&shape, root_shape.at, root_shape.length);
    pb_message(&out, 3, shape);
    pb_message(&out, 36, root_operands);
    pb_int(&out, 35, ++next_id);
    pb_message(&entry, 2, out);
    pb_int(&entry, 6, next_id);
    pb_free(&root_shape);
    root_shape = root_operands = (struct pb){0};
}

static void donate(int number) {
    struct pb aliases = {0}, alias = {0};
    if (number) pb_int(&alias, 2, number);
    pb_message(&aliases, 1, alias);
    pb_message(&program, 8, aliases);
}

static void buffer(int id, int size, int instruction) {
    struct pb out = {0}, place = {0};
    pb_int(&out, 1, id);
    pb_int(&out, 2, size);
    pb_int(&place, 4, instruction);
    pb_message(&out, 3, place);
    pb_message(&assignment, 1, out);
}

/* An allocation with up to two buffers. */
static struct pb allocation(int size, int first, int second) {
    struct pb out = {0};
    pb_int(&out, 2, size);
    for (int i = 0; i < 2; i++) {
        struct pb assigned = {0};
        if (!(i ? second : first)) continue;
        pb_int(&assigned, 1, i ? second : first);
        pb_message(&out, 9, assigned);
    }
    return out;
}

static void is_argument(struct pb *allocation, int number) {
    pb_int(allocation, 5, 1);
    if (number) pb_int(allocation, 6, number);
}

static void heap(const int *events, int count) {
    struct pb out = {0};
    for (int i = 0; i < count; i++) {
        struct pb event = {0};
        if (events[i] < 0) pb_int(&event, 1, 1); /* free; allocating is 0 and not written */
        pb_int(&event, 2, events[i] < 0 ? -events[i] : events[i]);
        pb_text(&event, 4, i == 2 ? "dot.3" : "other");
        pb_message(&out, 1, event);
    }
    pb_message(&assignment, 4, out);
}
#define HEAP(...) heap((const int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)))

static void read_it(void) {
    struct pb proto = {0};
    pb_message(&program, 3, entry);
    pb_int(&program, 6, 1);
    pb_message(&proto, 1, program);
    pb_message(&proto, 3, assignment);
    held = proto;
    err = (struct ids_error)IDS_ERROR_INIT;
    ck_assert_msg(ids_hlo_module_read(held.at, held.length, IDS_HLO_BUFFERS, &graph, &err) == 0, "%s", err.text);
    ck_assert_int_eq(ids_hlo_memory_of(&graph, &memory, &err), 0);
    ck_assert_int_eq(ids_hlo_kept_arguments(&graph, &memory), 0);
}

static int has_value(int64_t bytes, enum ids_hlo_value_kind kind) {
    for (size_t i = 0; i < memory.value_count; i++) {
        if (memory.values[i].bytes == bytes && memory.values[i].kind == kind) return 1;
    }
    return 0;
}

/* ---- memory ---- */

/* 100,000 bytes of an argument that a result takes, 40,000 of one that stays, a result of 20,000, a constant of 8,000,
 * and temporaries of 50,000, 30,000 and 10,000 that share 80,000: all but the last live at the peak. 5,000 are on the
 * host, 7,000 in a memory of their own, and a thread's 999 do not count. */
START_TEST(sums_and_what_lives) {
    begin();
    int state = argument("state", 25000), x = argument("x", 10000);
    int big = put("dot.3", "dot", array(12500), "jit(step)/attn/dot_general", 0);
    result(25000, state);
    result(5000, big);
    end_results();
    buffer(1, 100000, state);
    buffer(2, 40000, x);
    buffer(3, 20000, 0);
    buffer(4, 8000, 0);
    buffer(5, 50000, big);
    buffer(6, 30000, 0);
    buffer(7, 10000, 0);
    struct pb at = allocation(100000, 1, 0);
    is_argument(&at, 0);
    pb_int(&at, 7, 1);
    pb_message(&assignment, 3, at);
    at = allocation(40000, 2, 0);
    is_argument(&at, 1);
    pb_message(&assignment, 3, at);
    at = allocation(20000, 3, 0);
    pb_int(&at, 7, 1);
    pb_message(&assignment, 3, at);
    at = allocation(8000, 4, 0);
    pb_int(&at, 12, 1);
    pb_message(&assignment, 3, at);
    at = allocation(80000, 5, 6);
    struct pb third = {0};
    pb_int(&third, 1, 7);
    pb_message(&at, 9, third);
    pb_message(&assignment, 3, at);
    for (int color = 5; color <= 6; color++) {
        at = allocation(color == 5 ? 5000 : 7000, 0, 0);
        pb_int(&at, 8, color);
        pb_message(&assignment, 3, at);
    }
    at = allocation(999, 0, 0);
    pb_int(&at, 3, 1);
    pb_message(&assignment, 3, at);
    HEAP(7, 5, 6, -7, -6, -5); /* 90,000 after the third */
    read_it();
    ck_assert_int_eq(memory.bytes[IDS_HLO_ARGUMENT], 140000);
    ck_assert_int_eq(memory.in_place, 100000);
    ck_assert_int_eq(memory.bytes[IDS_HLO_RESULT], 20000);
    ck_assert_int_eq(memory.bytes[IDS_HLO_CONSTANT], 8000);
    ck_assert_int_eq(memory.bytes[IDS_HLO_TEMPORARY], 80000);
    ck_assert_int_eq(memory.on_host, 5000);
    ck_assert_int_eq(memory.elsewhere, 7000);
    ck_assert_int_eq(ids_hlo_memory_total(&memory), 248000);
    ck_assert(ids_text_is(memory.peak, "dot.3"));
    ck_assert_uint_eq(memory.value_count, 7);
    ck_assert(memory.values[0].bytes == 100000 && memory.values[0].in_place);
    ck_assert(memory.values[1].bytes == 50000 && memory.values[1].at_peak);
    ck_assert(ids_text_is(graph.instructions[memory.values[1].instruction].name, "dot.3"));
    ck_assert(has_value(30000, IDS_HLO_TEMPORARY) && has_value(10000, IDS_HLO_TEMPORARY));
    ck_assert(has_value(40000, IDS_HLO_ARGUMENT) && has_value(20000, IDS_HLO_RESULT));
    ck_assert(has_value(8000, IDS_HLO_CONSTANT));
    end();
}
END_TEST

/* The peak comes again, higher, after the first value is gone: only what lives then counts, not what ever lived. A heap
 * of another memory, though higher, is not the device's. */
START_TEST(only_what_lives_at_the_peak) {
    begin();
    argument("x", 1);
    end_results();
    buffer(1, 60000, 0);
    buffer(2, 50000, 0);
    buffer(3, 90000, 0);
    struct pb at = allocation(140000, 1, 2);
    pb_message(&assignment, 3, at);
    at = allocation(90000, 3, 0);
    pb_int(&at, 8, 6);
    pb_message(&assignment, 3, at);
    HEAP(1, -1, 2);
    HEAP(3);
    read_it();
    ck_assert_uint_eq(memory.value_count, 1);
    ck_assert_int_eq(memory.values[0].bytes, 60000);
    ck_assert_int_eq(memory.bytes[IDS_HLO_TEMPORARY], 140000);
    end();
}
END_TEST

/* Without a heap the largest temporaries are listed, and it is not said that they live together. A value below a
 * hundredth of the program, or below 4,096 bytes, is not. Of 20 values the 16 largest. */
START_TEST(without_heap_and_limits) {
    begin();
    int padded = put("tiled", "copy", array(1000), NULL, 0);
    end_results();
    for (int i = 1; i <= 20; i++) buffer(i, 100000 + i, i == 20 ? padded : 0);
    buffer(21, 4000, 0);
    struct pb at = allocation(3000000, 21, 0);
    for (int i = 1; i <= 20; i++) {
        struct pb assigned = {0};
        pb_int(&assigned, 1, i);
        pb_message(&at, 9, assigned);
    }
    pb_message(&assignment, 3, at);
    read_it();
    ck_assert_uint_eq(memory.value_count, IDS_HLO_VALUES_SHOWN);
    ck_assert_int_eq(memory.values[0].bytes, 100020);
    ck_assert_int_eq(memory.values[0].padding, 96020); /* f32[1000] has 4,000 */
    ck_assert_int_eq(memory.values[0].at_peak, 0);
    ck_assert_int_eq(memory.values[15].bytes, 100005);
    ck_assert_uint_eq(memory.peak.length, 0);
    end();
}
END_TEST

/* ---- arguments that are kept ---- */

static int keeps(const char *name, int64_t bytes, uint32_t arrays) {
    for (size_t i = 0; i < memory.kept_count; i++) {
        if (ids_text_is(memory.kept[i].name, name))
            return memory.kept[i].bytes == bytes && memory.kept[i].arrays == arrays;
    }
    return 0;
}

/* Each leaf of params is replaced. So is x, one array without a name of state, perhaps by chance. */
START_TEST(state_that_is_not_donated) {
    begin();
    int w = argument("params['w']", 2000), b = argument("params['b']", 1500), x = argument("x", 3000);
    result(2000, MADE("fusion", 2000, x, w));
    result(1500, MADE("copy", 1500, MADE("subtract", 1500, MADE("bitcast", 1500, b), x)));
    result(3000, MADE("tanh", 3000, x));
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("params", 14000, 2));
    end();
}
END_TEST

/* A gradient has the shape of what it is the gradient of, and does not replace it: the caller needs both. */
START_TEST(gradients_replace_nothing) {
    begin();
    int w = argument("params['w']", 2000), b = argument("params['b']", 1500), x = argument("x", 3000);
    result(2000, MADE("dot", 2000, x, w));
    result(1500, MADE("fusion", 1500, x, w));
    end_results();
    (void)b;
    read_it();
    ck_assert_uint_eq(memory.kept_count, 0);
    end();
}
END_TEST

START_TEST(donated_arguments) {
    begin();
    int w = argument("params['w']", 2000), cache = argument("cache", 2000);
    result(2000, MADE("fusion", 2000, w));
    result(2000, MADE("dynamic-update-slice", 2000, cache, w));
    donate(0);
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("cache", 8000, 1));
    end();
}
END_TEST

/* A loop hands its carried values on; one that comes out where it went in is replaced. */
START_TEST(carried_by_a_loop) {
    begin();
    int state = argument("carry[0]", 2000), other = argument("carry[1]", 2000);
    int loop = MADE("while", 1, MADE("tuple", 1, state, other));
    result(2000, MADE("get-tuple-element", 2000, loop)); /* part 0 */
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("carry[0]", 8000, 1));
    end();
}
END_TEST

/* A tree of arrays counts by itself where each is replaced, whatever it is called; not where one is not. Each of *args
 * is a tree of its own. */
START_TEST(trees_without_a_name) {
    begin();
    int u = argument("args[0]['u']", 2000), v = argument("args[0]['v']", 3000), x = argument("args[1]", 2000);
    int first = argument("more[0]", 4000), second = argument("more[1]", 5000);
    result(2000, MADE("add", 2000, u, x));
    result(3000, MADE("add", 3000, v, v));
    result(4000, MADE("add", 4000, first, second));
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("args[0]", 20000, 2));
    end();
}
END_TEST

/* One name is one row where all of it is replaced, though only a part of it is called state. */
START_TEST(one_tree_is_one_row) {
    begin();
    int params = argument("s['params']", 2000), mu = argument("s['mu']", 2001), nu = argument("s['nu']", 2002);
    result(2000, MADE("add", 2000, params, params));
    result(2001, MADE("add", 2001, mu, mu));
    result(2002, MADE("add", 2002, nu, nu));
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("s", 4 * 6003, 3));
    end();
}
END_TEST

/* Where a part of it is not replaced, the row is called as what its arrays have in common. */
START_TEST(part_of_a_tree) {
    begin();
    int w = argument("s['params']['w']", 2000), b = argument("s['params']['b']", 2001), x = argument("s['x']", 9000);
    result(2000, MADE("add", 2000, w, w));
    result(2001, MADE("add", 2001, b, b));
    end_results();
    (void)x;
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("s['params']", 4 * 4001, 2));
    end();
}
END_TEST

/* Adam: each parameter is made out of all four, each moment out of itself and the gradient. Three results of the shape
 * replace the state, in whichever order the operands stand; the gradient, whose leaf is called as the parameter,
 * none. */
START_TEST(gradients_are_no_state) {
    begin();
    int grads = argument("grads['params']", 2000), mu = argument("opt_state['m']", 2000);
    int nu = argument("opt_state['v']", 2000), params = argument("params", 2000);
    result(2000, MADE("fusion", 2000, grads, mu, nu, params));
    result(2000, MADE("add", 2000, grads, mu));
    result(2000, MADE("add", 2000, grads, nu));
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 2);
    ck_assert(keeps("opt_state", 16000, 2));
    ck_assert(keeps("params", 8000, 1));
    end();
}
END_TEST

/* A result that only the gradient could have been is nobody's new version; x, of two, comes after the state. */
START_TEST(state_comes_first) {
    begin();
    int grads = argument("grads[0]", 2000), more = argument("grads[1]", 2000);
    int x = argument("x[0]", 3000), y = argument("x[1]", 3000), w = argument("weights", 3000);
    result(2000, MADE("add", 2000, grads, more));
    result(2000, MADE("multiply", 2000, more, more));
    result(3000, MADE("fusion", 3000, x, y, w));
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("weights", 12000, 1));
    end();
}
END_TEST

/* One layer after another is written into one cache, past a copy, a tuple and what stands in front of it; and a cache
 * that rolls drops its oldest. Neither is donated, however many updates are in a row. */
START_TEST(updated_several_times) {
    begin();
    int cache = argument("cache[0]", 4000), rolling = argument("cache[1]", 3000), x = argument("x", 10);
    int at = MADE("copy", 4000, cache);
    for (int layer = 0; layer < 12; layer++) at = MADE("dynamic-update-slice", 4000, at, x);
    result(4000, MADE("conditional", 4000, x, MADE("tuple", 1, x, at)));
    result(3000, MADE("concatenate", 3000, MADE("slice", 2990, MADE("add", 3000, rolling, rolling)), x));
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("cache", 28000, 2));
    end();
}
END_TEST

/* A gradient's way back to its parameter leads through products, in fusions too, and through values of another size.
 * What a product itself is added to is updated. */
START_TEST(a_long_way_is_no_update) {
    begin();
    int v = argument("params['v']", 2500), u = argument("params['u']", 2600);
    result(2500, MADE("tanh", 2500, with_product(2500, v)));
    result(2600, with_product(2600, u));
    int w = argument("params['w']", 2000), b = argument("params['b']", 1500), x = argument("x", 3000);
    result(2000, MADE("multiply", 2000, MADE("tanh", 2000, MADE("dot", 2000, x, w)), x));
    result(1500, MADE("add", 1500, MADE("reduce", 1500, MADE("add", 3000, x, b)), x));
    end_results();
    read_it();
    ck_assert_uint_eq(memory.kept_count, 1);
    ck_assert(keeps("params['u']", 10400, 1));
    end();
}
END_TEST

START_TEST(names_of_state) {
    static const char *const yes[] = {"params", "model_params['w']", "opt_state", "kv_cache", "state.mu", "Weights"};
    static const char *const no[] = {"x", "batch['inputs']", "q", "estate", "labels", ""};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_msg(ids_hlo_is_state((struct ids_text){yes[i], (uint32_t)strlen(yes[i])}), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_msg(!ids_hlo_is_state((struct ids_text){no[i], (uint32_t)strlen(no[i])}), "%s", no[i]);
}
END_TEST

IDS_RUN_SUITE("program_memory", sums_and_what_lives, only_what_lives_at_the_peak, without_heap_and_limits,
              state_that_is_not_donated, gradients_replace_nothing, donated_arguments, carried_by_a_loop,
              trees_without_a_name, one_tree_is_one_row, part_of_a_tree, gradients_are_no_state, state_comes_first,
              updated_several_times, a_long_way_is_no_update, names_of_state)
