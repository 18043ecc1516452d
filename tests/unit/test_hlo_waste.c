/* lib/hlo/waste: what a program's graph shows to be wasted, over graphs that are built here, and what only looks so. */
#include "lib/fields/hlo.h"
#include "lib/hlo/finish.h"
#include "lib/hlo/waste.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { F32 = 11, F64 = 12, BF16 = 16 };

static struct ids_hlo_module module;
static struct ids_error err;
static struct ids_hlo_waste *wastes;

static void begin(void) {
    ids_hlo_module_init(&module);
    err = (struct ids_error)IDS_ERROR_INIT;
    module.entry_id = -1;
}

static struct ids_text text(const char *z) {
    return (struct ids_text){z, (uint32_t)strlen(z)};
}

/* The instructions that follow are inside it; its id is its number from 1. */
static int computation(const char *name, int is_fusion) {
    struct ids_hlo_computation *fresh;
    ck_assert_int_eq(ids_hlo_add_computation(&module, &fresh, &err), 0);
    *fresh = (struct ids_hlo_computation){.name = text(name),
                                          .id = (int64_t)module.computation_count,
                                          .instructions = {(uint32_t)module.instruction_count, 0},
                                          .root = IDS_HLO_NONE,
                                          .is_fusion = (uint8_t)is_fusion};
    return (int)module.computation_count;
}
static void is_entry(int number) {
    module.entry_id = number;
}

static uint32_t shape_of(const char *dimensions) {
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
static struct ids_hlo_instruction *add(const char *name, const char *opcode, const char *dimensions,
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
static int last(void) {
    return (int)module.instruction_count;
}

static void attribute(struct ids_hlo_instruction *of, struct ids_hlo_attribute attribute) {
    ck_assert_int_eq(ids_hlo_add_attribute(&module, attribute, &err), 0);
    of->attributes.count++;
}
static int parameter(const char *name, const char *dimensions, unsigned number) {
    struct ids_hlo_instruction *of = ADD(name, "parameter", dimensions, 0);
    attribute(of, (struct ids_hlo_attribute){.field = HLO_INSTRUCTION_PARAMETER_NUMBER, .number = number});
    return last();
}
static int batched_dot(const char *name, const char *dimensions, int left, int right) {
    static const char numbers[] = "\x0a\x01\x02\x12\x01\x02\x1a\x01\x00\x22\x01"; /* and a zero */
    struct ids_hlo_instruction *of = ADD(name, "dot", dimensions, left, right, 0);
    attribute(of, (struct ids_hlo_attribute){
                      .field = HLO_INSTRUCTION_DOT_DIMENSIONS, .is_bytes = 1, .length = 12, .bytes = numbers});
    return last();
}
static int calls(struct ids_hlo_instruction *of, int number) {
    of->called = (struct ids_hlo_range){(uint32_t)module.called_count, 1};
    ck_assert_int_eq(ids_hlo_add_called(&module, (uint64_t)number, &err), 0);
    return last();
}
static int grouped(struct ids_hlo_instruction *of, const char *groups) {
    of->groups = (uint32_t)module.group_count;
    ck_assert_int_eq(ids_hlo_add_groups(&module, text(groups), &err), 0);
    return last();
}
static void replicated(int id) {
    module.instructions[id - 1].sharding = (struct ids_text){"", 0};
}
static void sharded(int id) {
    module.instructions[id - 1].sharding = (struct ids_text){"\x08\x03", 2};
}

static void finish(void) {
    ck_assert_int_eq(ids_hlo_module_finish(&module, &err), 0);
    ck_assert_int_eq(ids_hlo_waste_find(&module, &wastes, &err), 0);
}
static void end(void) {
    free(wastes);
    wastes = NULL;
    ids_hlo_module_done(&module);
}

static const char *waste_of(int id) {
    const char *name = wastes ? ids_waste_name((enum ids_waste)wastes[id - 1].kind) : NULL;
    return name ? name : "";
}
static const char *why(int id) {
    static char words[IDS_HLO_WASTE_TEXT];
    ids_hlo_waste_text(&module, &wastes[id - 1], (uint32_t)(id - 1), words);
    return words;
}

/* ---- what only moves ---- */

static int body(const char *first, const char *second) {
    int number = computation("fused", 1), from = parameter("p", "64,8", 0);
    int pad = strcmp(first, "pad") ? 0 : (ADD("zero", "constant", "", 0), last());
    ADD("a", first, "8,64", from, pad, 0);
    if (second) ADD("b", second, "8,64", last(), 0);
    return number;
}

/* A fusion of the two, for a sort. */
static const char *of_fusion(const char *first, const char *second) {
    static char said[16];
    begin();
    int inside = body(first, second);
    is_entry(computation("main", 0));
    int x = parameter("x", "64,8", 0);
    int fusion = calls(ADD("f", "fusion", "8,64", x, 0), inside);
    ADD("s", "sort", "8,64", fusion, 0);
    finish();
    snprintf(said, sizeof said, "%s", waste_of(fusion));
    if (*said) ck_assert_str_eq(why(fusion), "f32[64,8] -> f32[8,64], of x, for s");
    end();
    return said;
}

START_TEST(fusions_that_only_move) {
    ck_assert_str_eq(of_fusion("transpose", "copy"), "layout");
    ck_assert_str_eq(of_fusion("transpose", "add"), "");
    ck_assert_str_eq(of_fusion("convert", "transpose"), "convert");
    ck_assert_str_eq(of_fusion("convert", "add"), "");
    ck_assert_str_eq(of_fusion("pad", NULL), "padding");
    ck_assert_str_eq(of_fusion("pad", "exponential"), "");
    ck_assert_str_eq(of_fusion("bitcast", NULL), "");
    ck_assert_str_eq(of_fusion("slice", NULL), "");
}
END_TEST

/* The last instruction's elements are of another type. */
static int as(uint8_t element) {
    module.shapes[module.instructions[module.instruction_count - 1].shape].element = element;
    return last();
}

/* A fusion that ends in the type in which it begins shows what is between; a conversion of the second operand its type;
 * and one that leads nowhere no arrow. */
START_TEST(conversions_show_their_types) {
    begin();
    int there_and_back = computation("there_and_back", 1);
    int p = parameter("p", "64", 0);
    ADD("narrow", "convert", "64", p, 0);
    ADD("wide", "convert", "64", as(BF16), 0);
    int of_second = computation("of_second", 1);
    int q = parameter("q", "", 0), r = (parameter("r", "64", 1), as(BF16));
    ADD("c", "convert", "64", r, 0);
    ADD("t", "tuple", "64", last(), q, 0);
    int nowhere = computation("nowhere", 1);
    ADD("n", "convert", "64", parameter("s", "64", 0), 0);
    is_entry(computation("main", 0));
    int x = parameter("x", "64", 0), y = (parameter("y", "64", 1), as(BF16));
    int first = calls(ADD("f1", "fusion", "64", x, 0), there_and_back);
    int second = calls(ADD("f2", "fusion", "64", first, y, 0), of_second);
    int third = calls(ADD("f3", "fusion", "64", second, 0), nowhere);
    ADD("s", "sort", "64", third, 0);
    finish();
    ck_assert_str_eq(waste_of(first), "convert");
    ck_assert_str_eq(why(first), "f32[64] -> bf16[64] -> f32[64], of x, for f2");
    ck_assert_str_eq(why(second), "bf16[64] -> f32[64], of y, for f3");
    ck_assert_str_eq(why(third), "f32[64], of f2, for s");
    end();
}
END_TEST

START_TEST(copies_for_a_loop_are_kept_apart) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", "64", 0);
    ADD("c", "copy", "64", x, 0);
    int copy = last();
    ADD("t", "tuple", "64", copy, 0);
    finish();
    ck_assert_str_eq(waste_of(copy), "layout");
    ck_assert_str_eq(why(copy), "f32[64] -> f32[64], of x, to be kept apart from what is overwritten: for t");
    end();
}
END_TEST

/* With a slice a pad is one still; with what computes it is none. */
START_TEST(pads_with_slices) {
    begin();
    int cut = computation("cut", 1);
    int p = parameter("p", "64", 0);
    ADD("zero", "constant", "", 0);
    int zero = last();
    ADD("s", "slice", "50", p, 0);
    ADD("pad", "pad", "64", last(), zero, 0);
    int works = computation("works", 1);
    int q = parameter("q", "64", 0);
    ADD("zero2", "constant", "", 0);
    zero = last();
    ADD("sine", "sine", "64", q, 0);
    ADD("pad2", "pad", "80", last(), zero, 0);
    int slices = computation("slices", 1);
    ADD("s2", "slice", "50", parameter("r", "64", 0), 0);
    is_entry(computation("main", 0));
    int x = parameter("x", "64", 0);
    int pads = calls(ADD("fusion.1", "fusion", "64", x, 0), cut);
    int computes = calls(ADD("fusion.2", "fusion", "80", pads, 0), works);
    int cuts = calls(ADD("fusion.3", "fusion", "50", x, 0), slices);
    finish();
    ck_assert_str_eq(waste_of(pads), "padding");
    ck_assert_str_eq(waste_of(computes), "");
    ck_assert_str_eq(waste_of(cuts), "");
    end();
}
END_TEST

START_TEST(recomputed_by_name) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x.remat", "64", 0);
    ADD("sine.remat2", "sine", "64", x, 0);
    int sine = last();
    ADD("w.remat", "while", "64", sine, 0);
    finish();
    ck_assert_str_eq(waste_of(sine), "recomputed");
    ck_assert_str_eq(waste_of(x), "");
    ck_assert_str_eq(waste_of(last()), "");
    end();
}
END_TEST

/* What the framework calls an instruction, the last one that was added. */
static int named(const char *op_name) {
    ck_assert_int_eq(ids_hlo_add_metadata(&module, (struct ids_hlo_metadata){.op_name = text(op_name)}, &err), 0);
    module.instructions[module.instruction_count - 1].metadata = (uint32_t)module.metadata_count - 1;
    return last();
}
#define FORWARD "jit(f)/jvp(a)/dot_general"
#define AGAIN "jit(f)/transpose(jvp(a))/checkpoint/rematted_computation/dot_general"
static int product(const char *name, int left, int right, const char *op_name) {
    ADD(name, "dot", "64,64", left, right, 0);
    return named(op_name);
}

/* The name alone is no proof: of the two passes XLA may keep one. */
START_TEST(again_only_where_there_are_two) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", "64,64", 0), w = parameter("w", "64,64", 1), v = parameter("v", "64,64", 2);
    product("first", x, w, FORWARD);
    ADD("barrier", "opt-barrier", "64,64", x, 0);
    ADD("copied", "copy", "64,64", last(), 0);
    int twice = product("twice", last(), w, AGAIN), once = product("once", x, v, AGAIN);
    ADD("tanh", "tanh", "64,64", once, 0);
    int also_once = named("jit(f)/transpose(jvp(a))/checkpoint/rematted_computation/tanh");
    int backward = product("backward", once, w, "jit(f)/transpose(jvp(a))/checkpoint/dot_general");
    product("of_backward", x, backward, "jit(f)/transpose(jvp(a))/checkpoint/dot_general");
    int with_backward = product("same_as_backward", x, backward, AGAIN);
    finish();
    ck_assert_str_eq(waste_of(twice), "recomputed");
    ck_assert_int_eq(wastes[twice - 1].computed_once, 0);
    ck_assert_str_eq(waste_of(once), "");
    ck_assert_int_eq(wastes[once - 1].computed_once, 1);
    ck_assert_int_eq(wastes[also_once - 1].computed_once, 1);
    ck_assert_int_eq(wastes[with_backward - 1].computed_once, 1);
    ck_assert_int_eq(wastes[backward - 1].computed_once, 0);
    end();
}
END_TEST

/* Fusions are looked into: the first pass has the product alone, the second one with what follows it. */
START_TEST(again_inside_fusions) {
    begin();
    int fused = computation("fused", 1);
    int p = parameter("p", "64,64", 0), q = parameter("q", "64,64", 1);
    product("inner", q, p, AGAIN);
    ADD("inner_tanh", "tanh", "64,64", last(), 0);
    named("jit(f)/transpose(jvp(a))/checkpoint/rematted_computation/tanh");
    is_entry(computation("main", 0));
    int x = parameter("x", "64,64", 0), w = parameter("w", "64,64", 1), v = parameter("v", "64,64", 2);
    product("first", x, w, FORWARD);
    calls(ADD("fusion.1", "fusion", "64,64", w, x, 0), fused);
    int twice = named(AGAIN);
    calls(ADD("fusion.2", "fusion", "64,64", v, x, 0), fused);
    int once = named(AGAIN);
    finish();
    ck_assert_str_eq(waste_of(twice), "recomputed");
    ck_assert_str_eq(waste_of(once), "");
    ck_assert_int_eq(wastes[once - 1].computed_once, 1);
    end();
}
END_TEST

#define IN_FORWARD(primitive) "jit(f)/jvp(a)/" primitive
#define IN_AGAIN(primitive) "jit(f)/transpose(jvp(a))/jvp(a)/checkpoint/rematted_computation/" primitive

/* XLA divides by a root in one pass and multiplies by rsqrt in the other: no value is the same after that. One product
 * of the first pass is left for one that is computed again; who has another shape, or another scope, has none. */
START_TEST(again_though_rewritten) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", "64,64", 0), w = parameter("w", "64,64", 1), v = parameter("v", "64,32", 2);
    ADD("rsqrt", "rsqrt", "64,64", x, 0);
    int rsqrt = named(IN_FORWARD("sqrt"));
    ADD("times", "multiply", "64,64", x, rsqrt, 0);
    int times = named(IN_FORWARD("div"));
    product("first", times, w, IN_FORWARD("dot_general"));
    ADD("sqrt", "sqrt", "64,64", x, 0);
    int sqrt = named(IN_AGAIN("sqrt"));
    ADD("divided", "divide", "64,64", x, sqrt, 0);
    int divided = named(IN_AGAIN("div"));
    int twice = product("twice", divided, w, IN_AGAIN("dot_general"));
    int once = product("once", w, divided, IN_AGAIN("sub/dot_general"));
    ADD("narrow", "dot", "64,32", divided, v, 0);
    int narrow = named(IN_AGAIN("dot_general")), second = product("second", divided, x, IN_AGAIN("dot_general"));
    finish();
    ck_assert_str_eq(waste_of(sqrt), "recomputed");
    ck_assert_str_eq(waste_of(divided), "recomputed");
    ck_assert_str_eq(waste_of(twice), "recomputed");
    ck_assert_int_eq(wastes[once - 1].computed_once, 1);
    ck_assert_int_eq(wastes[narrow - 1].computed_once, 1);
    ck_assert_int_eq(wastes[second - 1].computed_once, 1);
    end();
}
END_TEST

/* One that only moves, of each of two: of the second one the first pass has no other. */
START_TEST(again_though_it_only_moves) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", "64,64", 0), y = parameter("y", "64,64", 1);
    ADD("turned", "transpose", "64,64", x, 0);
    named(IN_FORWARD("transpose"));
    ADD("turned.2", "transpose", "64,64", y, 0);
    int twice = named(IN_AGAIN("transpose"));
    ADD("turned.3", "transpose", "64,64", x, 0);
    int once = named(IN_AGAIN("transpose"));
    finish();
    ck_assert_str_eq(waste_of(twice), "recomputed");
    ck_assert_str_eq(waste_of(once), "layout");
    ck_assert_int_eq(wastes[once - 1].computed_once, 1);
    end();
}
END_TEST

/* Who has one of the same value takes it, wherever it stands: the other one has none then. */
START_TEST(again_first_by_value) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", "64,64", 0), w = parameter("w", "64,64", 1), v = parameter("v", "64,64", 2);
    product("first", x, w, IN_FORWARD("dot_general"));
    int once = product("once", x, v, IN_AGAIN("dot_general")), twice = product("twice", x, w, IN_AGAIN("dot_general"));
    finish();
    ck_assert_int_eq(wastes[once - 1].computed_once, 1);
    ck_assert_str_eq(waste_of(twice), "recomputed");
    end();
}
END_TEST

/* What the first pass uses is its own, by whatever name, and then another one is a second. Through the backward pass
 * the next step's first pass uses all. */
START_TEST(again_is_not_what_the_first_pass_needs) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", "64,64", 0), w = parameter("w", "64,64", 1), v = parameter("v", "64,64", 2);
    int merged = product("merged", x, w, IN_AGAIN("dot_general"));
    ADD("copied", "copy", "64,64", merged, 0);
    ADD("sine", "sine", "64,64", last(), 0);
    int also_merged = named(IN_AGAIN("sin"));
    ADD("cosine", "cosine", "64,64", also_merged, 0);
    named(IN_FORWARD("cos"));
    int twice = product("twice", v, w, IN_AGAIN("dot_general"));
    int backward = product("backward", twice, w, "jit(f)/transpose(jvp(a))/checkpoint/dot_general");
    ADD("next", "tanh", "64,64", backward, 0);
    named(IN_FORWARD("tanh"));
    finish();
    ck_assert_int_eq(wastes[merged - 1].computed_once, 1);
    ck_assert_int_eq(wastes[also_merged - 1].computed_once, 1);
    ck_assert_str_eq(waste_of(merged), "");
    ck_assert_str_eq(waste_of(twice), "recomputed");
    end();
}
END_TEST

/* A loop's body has its values from outside: there shape and primitive count, and another body. */
START_TEST(again_in_loops) {
    begin();
    computation("forward", 0);
    int x = parameter("x", "64,64", 0);
    product("first", x, x, FORWARD);
    computation("backward", 0);
    int y = parameter("y", "64,64", 0);
    int twice = product("twice", y, y, AGAIN);
    ADD("sine", "sine", "64,64", twice, 0);
    int once = named("jit(f)/transpose(jvp(a))/checkpoint/rematted_computation/sin");
    is_entry(computation("main", 0));
    parameter("z", "64,64", 0);
    finish();
    ck_assert_str_eq(waste_of(twice), "recomputed");
    ck_assert_str_eq(waste_of(once), "");
    ck_assert_int_eq(wastes[once - 1].computed_once, 1);
    end();
}
END_TEST

/* ---- what is done twice ---- */

START_TEST(the_same_of_the_same) {
    begin();
    int plain = computation("plain", 1), p = parameter("p", "8,8", 0);
    ADD("sine", "sine", "8,8", p, 0);
    int scaled = computation("scaled", 1);
    p = parameter("p", "8,8", 0);
    ADD("two", "constant", "8,8", 0);
    ADD("times", "multiply", "8,8", p, last(), 0);
    is_entry(computation("main", 0));
    int x = parameter("x", "8,8", 0), y = parameter("y", "8,8", 1);
    ADD("d1", "dot", "8,8", x, y, 0);
    int first = last();
    ADD("d2", "dot", "8,8", x, y, 0);
    int again = last();
    ADD("d3", "dot", "8,8", y, x, 0);
    int turned = last();
    int sine = calls(ADD("f1", "fusion", "8,8", x, 0), plain), sine2 = calls(ADD("f2", "fusion", "8,8", x, 0), plain);
    int twice = calls(ADD("f3", "fusion", "8,8", x, 0), scaled);
    int thrice = calls(ADD("f4", "fusion", "8,8", x, 0), scaled); /* maybe of another constant */
    ADD("r1", "rng", "8,8", x, 0);
    ADD("r2", "rng", "8,8", x, 0);
    int random = last();
    finish();
    ck_assert_str_eq(waste_of(first), "");
    ck_assert_str_eq(waste_of(again), "repeated");
    ck_assert_str_eq(why(again), "the same of the same operands as d1");
    ck_assert_str_eq(waste_of(turned), "");
    ck_assert_str_eq(waste_of(sine), "");
    ck_assert_str_eq(waste_of(sine2), "repeated");
    ck_assert_str_eq(waste_of(twice), "");
    ck_assert_str_eq(waste_of(thrice), "");
    ck_assert_str_eq(waste_of(random), "");
    end();
}
END_TEST

/* ---- collectives ---- */

/* A collective of an argument that is whole everywhere, or not. */
static const char *of_collective(const char *opcode, const char *groups, int is_whole, const char *dimensions) {
    static char said[16];
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", dimensions, 0);
    (is_whole ? replicated : sharded)(x);
    ADD("sine", "sine", dimensions, x, 0);
    int collective = grouped(ADD("c", opcode, dimensions, last(), 0), groups);
    finish();
    snprintf(said, sizeof said, "%s", waste_of(collective));
    end();
    return said;
}

START_TEST(collectives_of_what_all_have) {
    ck_assert_str_eq(of_collective("all-reduce", "{{0,1,2,3}}", 1, "512"), "replicated");
    ck_assert_str_eq(of_collective("all-gather-start", "{{0,1}}", 1, "512"), "replicated");
    ck_assert_str_eq(of_collective("all-reduce", "{{0,1,2,3}}", 0, "512"), "");
    ck_assert_str_eq(of_collective("all-reduce", "{{0,1,2,3}}", 1, "2"), ""); /* 8 bytes */
    ck_assert_str_eq(of_collective("all-reduce", "{{0},{1}}", 0, "512"), "replicated");
    ck_assert_str_eq(of_collective("collective-permute", "{{0,1}}", 1, "512"), "");
}
END_TEST

/* The result of an all-reduce is everywhere if all take part in one group; behind a partition-id it is not. */
START_TEST(collectives_one_after_the_other) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", "512", 0);
    sharded(x);
    int all = grouped(ADD("all", "all-reduce", "512", x, 0), "{{0,1,2,3}}");
    int again = grouped(ADD("again", "all-reduce", "512", all, 0), "{{0,1,2,3}}");
    int pairs = grouped(ADD("pairs", "all-reduce", "512", x, 0), "{{0,1},{2,3}}");
    int after = grouped(ADD("after", "all-reduce", "512", pairs, 0), "{{0,2},{1,3}}");
    ADD("id", "partition-id", "", 0);
    ADD("own", "multiply", "512", all, last(), 0);
    int own = grouped(ADD("sum", "all-reduce", "512", last(), 0), "{{0,1,2,3}}");
    int twice = grouped(ADD("twice", "all-reduce", "512", x, 0), "{{0,1,2,3}}");
    int part = grouped(ADD("part", "all-reduce", "512", x, all, 0), "{{0,1,2,3}}");
    finish();
    ck_assert_str_eq(waste_of(all), "");
    ck_assert_str_eq(waste_of(again), "replicated");
    ck_assert_str_eq(waste_of(after), "");
    ck_assert_str_eq(waste_of(own), "");
    ck_assert_str_eq(waste_of(twice), "replicated"); /* as `all` has it */
    ck_assert_str_eq(waste_of(part), "replicated");
    ck_assert_int_eq(wastes[part - 1].is_part, 1);
    ck_assert_int_eq(wastes[again - 1].is_part, 0);
    ck_assert_str_eq(why(part), "a part of it is the same on every device: all");
    end();
}
END_TEST

/* A collective, of which a fusion takes a slice, and which something else uses too with `also`. */
static const char *of_slice(const char *opcode, const char *slice, int also) {
    static char said[16];
    begin();
    int inside = computation("fused", 1), p = parameter("p", "512", 0);
    ADD("s", slice, "64", p, 0);
    is_entry(computation("main", 0));
    int x = parameter("x", "512", 0);
    int collective = grouped(ADD("c", opcode, "512", x, 0), "{{0,1,2,3}}");
    calls(ADD("f", "fusion", "64", collective, 0), inside);
    if (also) ADD("sine", "sine", "512", collective, 0);
    finish();
    snprintf(said, sizeof said, "%s", waste_of(collective));
    end();
    return said;
}

START_TEST(collectives_of_which_a_slice_is_used) {
    ck_assert_str_eq(of_slice("all-gather", "dynamic-slice", 0), "gathered");
    ck_assert_str_eq(of_slice("all-reduce", "dynamic-slice", 0), "reduced");
    ck_assert_str_eq(of_slice("all-gather", "dynamic-slice", 1), "");
    ck_assert_str_eq(of_slice("all-gather", "sine", 0), "");
    ck_assert_str_eq(of_slice("all-to-all", "dynamic-slice", 0), "");
}
END_TEST

/* ---- attention ---- */

static const char *of_softmax(const char *pair, int batched, const char *scores) {
    static char said[128];
    begin();
    int larger = computation("larger", 0), a = parameter("a", "", 0);
    ADD("m", pair, "", a, parameter("b", "", 1), 0);
    is_entry(computation("main", 0));
    int q = parameter("q", "8,256,64", 0), v = parameter("v", "8,256,64", 1);
    int first = batched ? batched_dot("qk", scores, q, q) : (ADD("qk", "dot", scores, q, q, 0), last());
    int most = calls(ADD("most", "reduce", "8,256", first, 0), larger);
    ADD("less", "subtract", scores, first, most, 0);
    ADD("e", "exponential", scores, last(), 0);
    int e = last();
    ADD("sum", "reduce", "8,256", e, 0);
    ADD("wide", "broadcast", scores, last(), 0);
    ADD("p", "divide", scores, e, last(), 0);
    int p = last();
    if (batched)
        batched_dot("pv", "8,256,64", p, v);
    else
        ADD("pv", "dot", "8,256,64", p, v, 0);
    finish();
    snprintf(said, sizeof said, "%s", waste_of(p));
    if (*said) {
        ck_assert_str_eq(waste_of(e), "attention");
        ck_assert_str_eq(waste_of(first), "");
        ck_assert_str_eq(why(p), "softmax f32[8,256,256] between qk and pv");
    }
    end();
    return said;
}

START_TEST(attention_through_memory) {
    ck_assert_str_eq(of_softmax("maximum", 1, "8,256,256"), "attention");
    ck_assert_str_eq(of_softmax("add", 1, "8,256,256"), "");     /* a gate before a norm is no softmax */
    ck_assert_str_eq(of_softmax("maximum", 0, "8,256,256"), ""); /* a router's */
    ck_assert_str_eq(of_softmax("maximum", 1, "8,256,16"), "");
}
END_TEST

/* ---- what is the same each time ---- */

static int element(const char *name, const char *dimensions, int tuple, unsigned place) {
    struct ids_hlo_instruction *of = ADD(name, "get-tuple-element", dimensions, tuple, 0);
    attribute(of, (struct ids_hlo_attribute){.field = HLO_INSTRUCTION_TUPLE_INDEX, .number = place});
    return last();
}

static void is_root(int number, int id) {
    module.computations[number - 1].root_id = id;
}

START_TEST(constants_alone) {
    begin();
    is_entry(computation("main", 0));
    ADD("i", "iota", "512,64", 0);
    int iota = last();
    ADD("s", "sine", "512,64", iota, 0);
    int sine = last();
    int x = parameter("x", "512,64", 0);
    ADD("c", "constant", "512,64", 0);
    int table = last();
    ADD("n", "negate", "512,64", table, 0);
    int negated = last();
    ADD("m", "multiply", "512,64", sine, x, 0);
    int product = last();
    ADD("r", "rng", "512,64", table, 0);
    int random = last();
    ADD("e", "exponential", "512,64", random, 0);
    int of_random = last();
    ADD("k", "custom-call", "512,64", table, 0);
    int call = last();
    ADD("a", "abs", "512,64", call, 0);
    finish();
    ck_assert_str_eq(waste_of(sine), "constant");
    ck_assert_str_eq(why(sine), "of constants alone, so that it is the same in each call");
    ck_assert_str_eq(waste_of(negated), "constant");
    ck_assert_str_eq(waste_of(iota), ""); /* cheaper than to be read */
    ck_assert_str_eq(waste_of(product), "");
    ck_assert_str_eq(waste_of(of_random), "");
    ck_assert_str_eq(waste_of(last()), "");
    end();
}
END_TEST

/* A loop that carries (0: changes, 1: stays, 2: swaps with 3), and computes of part `part`. `rounds`: -1 not known.
 * Returns what is wasted by the sine in its body; of a copy into another layout or as it is by `opcode`. */
static const char *in_loop(unsigned part, int64_t rounds, const char *opcode, int from_constants) {
    static char said[16];
    begin();
    int body = computation("body", 0);
    int carried = parameter("t", "", 0);
    int changes = element("g0", "64,64", carried, 0), same = element("g1", "64,64", carried, 1),
        left = element("g2", "64,64", carried, 2), right = element("g3", "64,64", carried, 3);
    const int parts[] = {changes, same, left, right};
    ADD("s", opcode, "64,64", parts[part], 0);
    int sine = last();
    ADD("next", "add", "64,64", changes, sine, 0);
    ADD("tuple", "tuple", "", last(), same, right, left, 0);
    is_root(body, last());
    is_entry(computation("main", 0));
    int x = from_constants ? (ADD("z", "constant", "64,64", 0), last()) : parameter("x", "64,64", 0);
    ADD("init", "tuple", "", x, x, x, x, 0);
    struct ids_hlo_instruction *loop = ADD("loop", "while", "", last(), 0);
    if (rounds >= 0) {
        ck_assert_int_eq(ids_hlo_add_loop(&module, (struct ids_hlo_loop){.trip_count = rounds}, &err), 0);
        loop->loop = (uint32_t)module.loop_count - 1;
    }
    calls(loop, body);
    finish();
    snprintf(said, sizeof said, "%s", waste_of(sine));
    if (!strcmp(said, "invariant")) {
        ck_assert_uint_eq(wastes[sine - 1].rounds, rounds > 0 ? (uint32_t)rounds : 0);
        ck_assert_str_eq(why(sine), rounds > 0 ? "of what the loop loop does not change, 6 times"
                                               : "of what the loop loop does not change");
    }
    end();
    return said;
}

START_TEST(what_a_loop_does_not_change) {
    ck_assert_str_eq(in_loop(1, 6, "sine", 0), "invariant");
    ck_assert_str_eq(in_loop(1, -1, "sine", 0), "invariant");
    ck_assert_str_eq(in_loop(1, 1, "sine", 0), ""); /* nothing is done again */
    ck_assert_str_eq(in_loop(0, 6, "sine", 0), "");
    ck_assert_str_eq(in_loop(2, 6, "sine", 0), "");
    ck_assert_str_eq(in_loop(1, 6, "transpose", 0), "invariant");
    ck_assert_str_eq(in_loop(1, 6, "copy", 0), "layout");
    ck_assert_str_eq(in_loop(1, 6, "rng", 0), "");
    ck_assert_str_eq(in_loop(1, 6, "all-reduce", 0), "");
    ck_assert_str_eq(in_loop(0, 6, "sine", 1), "constant"); /* the whole loop is */
}
END_TEST

/* A branch that computes what is computed around it, and one that computes what the other branch does. */
START_TEST(the_same_in_a_branch) {
    begin();
    int branch[2], sines[2];
    for (int b = 0; b < 2; b++) {
        branch[b] = computation(b ? "else" : "then", 0);
        int given = parameter("p", "64,64", 0);
        ADD("s", b ? "cosine" : "sine", "64,64", given, 0);
        sines[b] = last();
        ADD("c", "cosine", "64,64", last(), 0);
        is_root(branch[b], last());
    }
    int inner[2] = {sines[0] + 1, sines[1] + 1};
    is_entry(computation("main", 0));
    int x = parameter("x", "64,64", 0);
    ADD("s", "sine", "64,64", x, 0);
    int outer = last();
    struct ids_hlo_instruction *choice = ADD("choice", "conditional", "64,64", x, x, x, 0);
    choice->called = (struct ids_hlo_range){(uint32_t)module.called_count, 2};
    for (int b = 0; b < 2; b++) ck_assert_int_eq(ids_hlo_add_called(&module, (uint64_t)branch[b], &err), 0);
    finish();
    ck_assert_str_eq(waste_of(sines[0]), "repeated");
    ck_assert_str_eq(why(sines[0]), "the same of the same operands as s");
    ck_assert_int_eq(wastes[sines[0] - 1].other, outer - 1);
    ck_assert_str_eq(waste_of(sines[1]), "");
    ck_assert_str_eq(waste_of(outer), "");
    ck_assert_str_eq(waste_of(inner[0]), "");
    ck_assert_str_eq(waste_of(inner[1]), "");
    end();
}
END_TEST

/* The same in two branches, of which one call runs one. */
START_TEST(the_same_in_two_branches) {
    begin();
    int branch[2], sines[2];
    for (int b = 0; b < 2; b++) {
        branch[b] = computation(b ? "else" : "then", 0);
        ADD("s", "sine", "64,64", parameter("p", "64,64", 0), 0);
        sines[b] = last();
        is_root(branch[b], last());
    }
    is_entry(computation("main", 0));
    int x = parameter("x", "64,64", 0);
    struct ids_hlo_instruction *choice = ADD("choice", "conditional", "64,64", x, x, x, 0);
    choice->called = (struct ids_hlo_range){(uint32_t)module.called_count, 2};
    for (int b = 0; b < 2; b++) ck_assert_int_eq(ids_hlo_add_called(&module, (uint64_t)branch[b], &err), 0);
    finish();
    ck_assert_str_eq(waste_of(sines[0]), "");
    ck_assert_str_eq(waste_of(sines[1]), "");
    end();
}
END_TEST

/* ---- float64 beside what is narrower ---- */

/* A table of so many numbers, an argument or not, is subtracted from x of f32[64], which is converted for it. Says what
 * the difference and the product of it are. */
static const char *with_table(const char *opcode, const char *dimensions, uint8_t element, uint8_t of_x) {
    static char said[IDS_HLO_WASTE_TEXT + 16];
    begin();
    int fused = computation("fused", 1), p = (parameter("p", "64", 0), as(of_x));
    int q = (parameter("q", dimensions, 1), as(element));
    ADD("c", "convert", "64", p, 0);
    ADD("d", "subtract", "64", as(element), q, 0);
    as(element);
    is_entry(computation("main", 0));
    int x = (parameter("x", "64", 0), as(of_x)), table = last() + 1;
    if (strcmp(opcode, "parameter"))
        ADD("table", opcode, dimensions, 0);
    else
        parameter("table", dimensions, 1);
    calls(ADD("f", "fusion", "64", x, as(element) /* of the table */, 0), fused);
    int difference = as(element);
    ADD("moved", "reshape", "64", difference, 0);
    int moved = as(element);
    ADD("dot", "dot", "64", moved, moved, 0);
    int dot = as(element);
    ADD("back", "convert", "64", dot, 0);
    int back = last();
    (void)table;
    finish();
    ck_assert_str_eq(waste_of(moved), "layout");
    ck_assert_str_eq(waste_of(back), "convert");
    ck_assert_str_eq(waste_of(difference), waste_of(dot));
    snprintf(said, sizeof said, "%s %s", waste_of(dot), *waste_of(dot) ? why(dot) : "");
    end();
    return said;
}

START_TEST(float64_beside_what_is_narrower) {
    ck_assert_str_eq(with_table("constant", "8", F64, F32), "wide because of the constant table, f64[8]");
    ck_assert_str_eq(with_table("parameter", "8", F64, BF16), "wide because of table, f64[8]");
    ck_assert_str_eq(with_table("parameter", "", F64, F32), "wide because of table, f64[]");
    ck_assert_str_eq(with_table("constant", "", F64, F32),
                     "wide because of a number of float64 in it, or a conversion");
    ck_assert_str_eq(with_table("constant", "64", F64, F32), " "); /* as much of the one as of the other */
    ck_assert_str_eq(with_table("constant", "8", F64, F64), " ");
    ck_assert_str_eq(with_table("constant", "8", F32, BF16), " ");
}
END_TEST

/* ---- why small ops are apart ---- */

/* What stands behind a sine whose user is this op, or two of it. */
static const char *behind(const char *opcode, const char *dimensions, int twice) {
    begin();
    is_entry(computation("main", 0));
    ADD("sine", "sine", "8,64", parameter("x", "8,64", 0), 0);
    int sine = last();
    ADD("user", opcode, dimensions, sine, 0);
    if (twice) ADD("again", opcode, dimensions, sine, 0);
    finish();
    const char *name = ids_split_name((enum ids_split)wastes[sine - 1].split);
    end();
    return name;
}

START_TEST(what_stands_behind) {
    ck_assert_str_eq(behind("all-reduce", "8,64", 0), "collective");
    ck_assert_str_eq(behind("custom-call", "8,64", 0), "custom call");
    ck_assert_str_eq(behind("dot", "8,8", 0), "matrix product");
    ck_assert_str_eq(behind("while", "8,64", 0), "loop or branch");
    ck_assert_str_eq(behind("reduce", "8", 0), "reduction");
    ck_assert_str_eq(behind("reduce", "8", 1), "reduction");
    ck_assert_str_eq(behind("tuple", "8,64", 0), "result");
    ck_assert_str_eq(behind("slice", "8,8", 0), "other shape");
    ck_assert_str_eq(behind("cosine", "64,8", 0), "nothing seen");
    ck_assert_str_eq(behind("cosine", "8,64", 1), "several users");
}
END_TEST

/* A product, a collective or a loop could not be fused anyway. */
START_TEST(what_could_not_be_fused) {
    begin();
    is_entry(computation("main", 0));
    int x = parameter("x", "8,8", 0);
    ADD("d", "dot", "8,8", x, x, 0);
    int dot = last();
    ADD("w", "while", "8,8", dot, 0);
    int loop = last();
    ADD("s", "sine", "8,8", loop, 0);
    finish();
    ck_assert_int_eq(wastes[x - 1].split, IDS_NO_SPLIT);
    ck_assert_int_eq(wastes[dot - 1].split, IDS_NO_SPLIT);
    ck_assert_int_eq(wastes[loop - 1].split, IDS_NO_SPLIT);
    ck_assert_int_eq(wastes[last() - 1].split, IDS_SPLIT_RESULT);
    end();
}
END_TEST

/* ---- hostile ---- */

/* 20,000 fusions of one all-gather, with a body of 20,000 instructions in which its parameter comes last. */
START_TEST(many_uses_of_a_long_body) {
    enum { MANY = 20000 };
    struct timespec from, to;
    begin();
    int inside = computation("fused", 1);
    for (int i = 0; i < MANY; i++) ADD("z", "constant", "", 0);
    ADD("s", "dynamic-slice", "64", parameter("p", "512", 7), 0);
    is_entry(computation("main", 0));
    int collective = (ADD("c", "all-gather", "512", parameter("x", "512", 0), 0), last());
    for (int i = 0; i < MANY; i++) calls(ADD("f", "fusion", "64", collective, 0), inside);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    finish();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    ck_assert_msg(to.tv_sec - from.tv_sec < 5, "took %ld s", (long)(to.tv_sec - from.tv_sec));
    end();
}
END_TEST

IDS_RUN_SUITE("hlo_waste", constants_alone, what_a_loop_does_not_change, the_same_in_a_branch, the_same_in_two_branches,
              fusions_that_only_move, conversions_show_their_types, copies_for_a_loop_are_kept_apart, pads_with_slices,
              recomputed_by_name, again_only_where_there_are_two, again_inside_fusions, again_though_rewritten,
              again_though_it_only_moves, again_first_by_value, again_is_not_what_the_first_pass_needs, again_in_loops,
              the_same_of_the_same, collectives_of_what_all_have, collectives_one_after_the_other,
              collectives_of_which_a_slice_is_used, attention_through_memory, what_stands_behind,
              what_could_not_be_fused, float64_beside_what_is_narrower, many_uses_of_a_long_body)
