/* lib/hlo/waste: what a program's graph shows to be wasted by moving, exchanging and widening, over graphs that are
 * built here, and what only looks so. What is computed again: test_hlo_waste_again.c. */
#include "tests/support/hlo_graph.h"

#include <stdio.h>
#include <time.h>

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

/* A square array, or one of two dimensions that are as long, is transposed though its ends are alike; and the program's
 * result in another shape is no copy that is kept. */
START_TEST(transposes_of_squares) {
    begin();
    int fused = computation("fused", 1), p = parameter("p", "64,64", 0);
    ADD("turned", "transpose", "64,64", p, 0);
    ADD("c", "copy", "64,64", last(), 0);
    int main = computation("main", 0);
    is_entry(main);
    int x = parameter("x", "64,64", 0), y = parameter("y", "8,64", 1);
    int fusion = calls(ADD("f", "fusion", "64,64", x, 0), fused);
    int plain = (ADD("t", "transpose", "64,64", x, 0), last()), copy = (ADD("c", "copy", "64,64", x, 0), last());
    int turned = (ADD("u", "transpose", "64,8", y, 0), last()), carried = (ADD("v", "transpose", "64,8", y, 0), last());
    ADD("state", "tuple", "64,8", carried, 0);
    ADD("s", "sort", "64,64", fusion, 0);
    ADD("tuple", "tuple", "64,64", plain, copy, turned, last(), 0);
    is_root(main, last());
    finish();
    ck_assert_str_eq(why(fusion), "f32[64,64] -> transposed f32[64,64], of x, for s");
    ck_assert_str_eq(why(plain), "f32[64,64] -> transposed f32[64,64], of x, as the program's result");
    ck_assert_str_eq(why(copy), "f32[64,64] -> f32[64,64], of x, to be kept apart from what is overwritten: for tuple");
    ck_assert_str_eq(why(turned), "f32[8,64] -> f32[64,8], of y, as the program's result");
    ck_assert_str_eq(why(carried), "f32[8,64] -> f32[64,8], of y, for state");
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

/* ---- transposes inside of what computes ---- */

/* The last instruction's result lies in memory in this order, the fastest dimension first. */
static int laid(const char *order) {
    uint32_t layout;
    ck_assert_int_eq(ids_hlo_add_layout(&module, &layout, &err), 0);
    module.layouts[layout] = (struct ids_hlo_layout){.minor_to_major = {(uint32_t)module.number_count, 0}};
    for (const char *at = order; *at; at++, module.layouts[layout].minor_to_major.count++)
        ck_assert_int_eq(ids_hlo_add_number(&module, *at - '0', &err), 0);
    module.shapes[module.instructions[module.instruction_count - 1].shape].layout = layout;
    return last();
}

/* A fusion of p and q of these dimensions: q is copied into another layout (order NULL), or transposed by that order of
 * dimensions, and then added to p, or multiplied as a matrix. */
static const char *with_transposed(const char *dimensions, const char *before, const char *after, const char *order,
                                   const char *then) {
    static char said[IDS_HLO_WASTE_TEXT + 16];
    begin();
    int fused = computation("fused", 1), p = (parameter("p", dimensions, 0), laid(after));
    int q = (parameter("q", dimensions, 1), laid(before));
    struct ids_hlo_instruction *moved = ADD("moved", order ? "transpose" : "copy", dimensions, q, 0);
    char numbers[8] = "";
    for (size_t i = 0; order && order[i]; i++) numbers[i] = (char)(order[i] - '0');
    if (order)
        attribute(moved, (struct ids_hlo_attribute){.field = HLO_INSTRUCTION_DIMENSIONS,
                                                    .is_bytes = 1,
                                                    .length = (uint32_t)strlen(order),
                                                    .bytes = numbers});
    laid(after);
    ADD("then", then, dimensions, p, last(), 0);
    laid(after);
    is_entry(computation("main", 0));
    int x = (parameter("x", dimensions, 0), laid(after)), y = (parameter("y", dimensions, 1), laid(before));
    calls(ADD("f", "fusion", dimensions, x, y, 0), fused);
    int fusion = laid(after);
    finish();
    snprintf(said, sizeof said, "%s %s", waste_of(fusion), *waste_of(fusion) ? why(fusion) : "");
    end();
    return said;
}

/* 256 x 256 numbers of 4 bytes are what a core's cache holds, and the least that counts. */
START_TEST(transposes_inside_of_what_computes) {
    ck_assert_str_eq(with_transposed("256,256", "01", "10", NULL, "add"),
                     "transposed f32[256,256]{0,1} -> f32[256,256]{1,0} inside, by moved");
    ck_assert_str_eq(with_transposed("256,256", "10", "10", "10", "add"),
                     "transposed f32[256,256]{1,0} -> f32[256,256]{1,0} inside, by moved");
    ck_assert_str_eq(with_transposed("256,256", "10", "10", NULL, "add"), " ");
    ck_assert_str_eq(with_transposed("255,256", "01", "10", NULL, "add"), " ");
    ck_assert_str_eq(with_transposed("256,256", "01", "10", NULL, "dot"), " ");
    /* Rows that stay together are moved as rows. */
    ck_assert_str_eq(with_transposed("64,64,64", "210", "210", "102", "add"), " ");
    ck_assert_str_eq(with_transposed("64,64,64", "210", "120", NULL, "add"),
                     "transposed f32[64,64,64]{2,1,0} -> f32[64,64,64]{1,2,0} inside, by moved");
    /* A dimension of one has no order. */
    ck_assert_str_eq(with_transposed("256,256,1", "210", "120", NULL, "add"), " ");
    ck_assert_str_eq(with_transposed("256,1,256", "201", "102", NULL, "add"),
                     "transposed f32[256,1,256]{2,0,1} -> f32[256,1,256]{1,0,2} inside, by moved");
}
END_TEST

/* What is less than half of what the fusion reads. */
START_TEST(little_that_is_transposed) {
    for (int is_little = 0; is_little < 2; is_little++) {
        const char *dimensions = is_little ? "2,512,513" : "2,512,512";
        begin();
        int fused = computation("fused", 1), p = parameter("p", dimensions, 0);
        int q = (parameter("q", "512,512", 1), laid("01"));
        ADD("moved", "copy", "512,512", q, 0);
        ADD("r", "reduce", "512,512", p, laid("10"), 0);
        is_entry(computation("main", 0));
        int x = parameter("x", dimensions, 0), y = (parameter("y", "512,512", 1), laid("01"));
        int fusion = calls(ADD("f", "fusion", "512,512", x, y, 0), fused);
        finish();
        ck_assert_str_eq(waste_of(fusion), is_little ? "" : "transposed");
        end();
    }
}
END_TEST

/* ---- what is the same each time ---- */

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
    const int many = ids_some_of(20000, 1000);
    struct timespec from, to;
    begin();
    int inside = computation("fused", 1);
    for (int i = 0; i < many; i++) ADD("z", "constant", "", 0);
    ADD("s", "dynamic-slice", "64", parameter("p", "512", 7), 0);
    is_entry(computation("main", 0));
    int collective = (ADD("c", "all-gather", "512", parameter("x", "512", 0), 0), last());
    for (int i = 0; i < many; i++) calls(ADD("f", "fusion", "64", collective, 0), inside);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    finish();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    ck_assert_msg(to.tv_sec - from.tv_sec < 5, "took %ld s", (long)(to.tv_sec - from.tv_sec));
    end();
}
END_TEST

IDS_RUN_SUITE("hlo_waste", fusions_that_only_move, conversions_show_their_types, copies_for_a_loop_are_kept_apart,
              transposes_of_squares, pads_with_slices, collectives_of_what_all_have, collectives_one_after_the_other,
              collectives_of_which_a_slice_is_used, attention_through_memory, what_stands_behind,
              what_could_not_be_fused, float64_beside_what_is_narrower, transposes_inside_of_what_computes,
              little_that_is_transposed, many_uses_of_a_long_body)
