/* lib/hlo/waste: what a program's graph shows to be computed again (recomputed, repeated, constant, or the same in each
 * round of a loop), over graphs that are built here, and what only looks so. */
#include "tests/support/hlo_graph.h"

#include <stdio.h>

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

IDS_RUN_SUITE("hlo_waste_again", constants_alone, what_a_loop_does_not_change, the_same_in_a_branch,
              the_same_in_two_branches, recomputed_by_name, again_only_where_there_are_two, again_inside_fusions,
              again_though_rewritten, again_though_it_only_moves, again_first_by_value,
              again_is_not_what_the_first_pass_needs, again_in_loops, the_same_of_the_same)
