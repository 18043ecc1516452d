/* lib/hlo/padding and lib/analysis/matrix_unit: the sizes of products, over programs that are made here, what tiles add
 * to arrays, and what a device fills up. The figures are derived in comments. */
#include "lib/analysis/matrix_unit.h"
#include "lib/fields/hlo.h"
#include "lib/hlo/cost_matrix.h"
#include "lib/hlo/element.h"
#include "lib/hlo/padding.h"
#include "tests/support/mini_trace.h"
#include "tests/support/pb_encode.h"
#include "tests/support/put_module.h"
#include "tests/support/suite.h"

#include <stdio.h>

enum { S8 = 2, F32 = 11, BF16 = 16, MOST_KEPT = 8 };

static struct pb kept[MOST_KEPT]; /* what attributes point into */
static int kept_count;

static void end(void) {
    ids_hlo_module_done(&graph);
    while (kept_count) pb_free(&kept[--kept_count]);
}

/* The array with a layout, and tiles of two dimensions; width 0: without tiles. */
static uint32_t laid_out(uint32_t shape, struct ids_hlo_range minor_to_major, int height, int width) {
    uint32_t layout;
    ck_assert_int_eq(ids_hlo_add_layout(&graph, &layout, &err), 0);
    graph.layouts[layout] = (struct ids_hlo_layout){.minor_to_major = minor_to_major};
    if (width) {
        graph.layouts[layout].tiles = (struct ids_hlo_range){(uint32_t)graph.tile_count, 1};
        ck_assert_int_eq(ids_hlo_add_tile(&graph, NUMBERS(height, width), &err), 0);
    }
    graph.shapes[shape].layout = layout;
    return shape;
}

static void attribute(unsigned field, struct pb bytes) {
    struct ids_hlo_attribute made = {
        .field = (uint16_t)field, .is_bytes = 1, .length = (uint32_t)bytes.length, .bytes = (const char *)bytes.at};
    ck_assert_int_lt(kept_count, MOST_KEPT);
    kept[kept_count++] = bytes;
    ck_assert_int_eq(ids_hlo_add_attribute(&graph, made, &err), 0);
    graph.instructions[graph.instruction_count - 1].attributes.count++;
}

/* A dot that contracts the left operand's dimension `contracted`, of a batch in the first dimension or of none. */
static uint32_t dot(uint32_t left, uint32_t right, uint32_t result, int contracted, int has_batch) {
    uint32_t a = put("parameter", left, -1, -1), b = put("parameter", right, -1, -1);
    uint32_t at = put("dot", result, (int)a, (int)b);
    struct pb bytes = {0};
    pb_int(&bytes, 1, contracted);
    if (has_batch) pb_int(&bytes, 3, 0);
    attribute(HLO_INSTRUCTION_DOT_DIMENSIONS, bytes);
    return at;
}

static void sizes_are(uint32_t instruction, int64_t rows, int64_t depth, int64_t columns) {
    uint64_t effort = 0;
    struct ids_hlo_product product = ids_hlo_product_of(&graph, instruction, &effort);
    ck_assert_int_eq(product.rows, rows);
    ck_assert_int_eq(product.depth, depth);
    ck_assert_int_eq(product.columns, columns);
}

static void finish(void) {
    ck_assert_int_eq(ids_hlo_module_finish(&graph, &err), 0);
}

START_TEST(sizes_of_a_dot) {
    begin_module();
    computation(0);
    uint32_t at =
        dot(array(F32, NUMBERS(8192, 65)), array(F32, NUMBERS(65, 1024)), array(F32, NUMBERS(8192, 1024)), 1, 0);
    finish();
    sizes_are(at, 8192, 65, 1024);
    end();
}
END_TEST

/* The layout says which side lies in the lanes of a vector. */
START_TEST(columns_lie_where_the_result_is_fastest) {
    begin_module();
    computation(0);
    uint32_t result = laid_out(array(F32, NUMBERS(8192, 24)), NUMBERS(0, 1), 8, 128);
    uint32_t at = dot(array(F32, NUMBERS(8192, 512)), array(F32, NUMBERS(512, 24)), result, 1, 0);
    finish();
    sizes_are(at, 24, 512, 8192);
    end();
}
END_TEST

/* A batch counts as matrices of their own; heads and their width of one side together. */
START_TEST(sizes_of_a_batch) {
    begin_module();
    computation(0);
    uint32_t at = dot(array(BF16, NUMBERS(4, 100, 65)), array(BF16, NUMBERS(4, 65, 12, 64)),
                      array(BF16, NUMBERS(4, 100, 12, 64)), 2, 1);
    finish();
    sizes_are(at, 100, 65, 768);
    uint32_t fast_batch = graph.instructions[at].shape;
    laid_out(fast_batch, NUMBERS(0, 1, 2, 3), 8, 128);
    sizes_are(at, 0, 0, 0); /* the batch in the lanes: nobody knows how it is multiplied */
    end();
}
END_TEST

/* Of a fusion the product with most operations: 2 x 64 x 64 x 512 of 2 x 64 x 64 x 8. */
START_TEST(the_largest_inside_a_fusion) {
    begin_module();
    computation(1);
    dot(array(F32, NUMBERS(64, 8)), array(F32, NUMBERS(8, 64)), array(F32, NUMBERS(64, 64)), 1, 0);
    dot(array(F32, NUMBERS(64, 512)), array(F32, NUMBERS(512, 64)), array(F32, NUMBERS(64, 64)), 1, 0);
    computation(0);
    uint32_t x = put("parameter", array(F32, NUMBERS(64, 64)), -1, -1);
    uint32_t fusion = put("fusion", array(F32, NUMBERS(64, 64)), (int)x, -1);
    ck_assert_int_eq(ids_hlo_add_called(&graph, 1, &err), 0);
    graph.instructions[fusion].called.count++;
    finish();
    sizes_are(fusion, 64, 512, 64);
    uint64_t effort = IDS_HLO_EFFORT_LIMIT; /* a damaged program must not take a minute */
    ck_assert_int_eq(ids_hlo_product_of(&graph, fusion, &effort).depth, 0);
    end();
}
END_TEST

/* 32 images of 30 x 30, 3 x 3 places and 16 features, to 96 features at 28 x 28 places: depth 3 x 3 x 16 = 144. */
static uint32_t convolve(int features_of_kernel) {
    uint32_t input = put("parameter", array(F32, NUMBERS(32, 30, 30, 16)), -1, -1);
    uint32_t kernel = put("parameter", array(F32, NUMBERS(3, 3, features_of_kernel, 96)), -1, -1);
    uint32_t at = put("convolution", array(F32, NUMBERS(32, 28, 28, 96)), (int)input, (int)kernel);
    struct pb windows = {0}, dimensions = {0};
    for (int i = 0; i < 2; i++) {
        struct pb each = {0};
        pb_int(&each, 1, 3);
        pb_int(&each, 2, 1);
        pb_int(&each, 5, 1);
        pb_int(&each, 6, 1);
        pb_message(&windows, 1, each);
    }
    attribute(HLO_INSTRUCTION_WINDOW, windows);
    const int named[][2] = {{3, 2}, {4, 3},  {6, 0},  {6, 1},  {7, 0},  {8, 3},
                            {9, 0}, {10, 3}, {11, 1}, {11, 2}, {12, 1}, {12, 2}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) pb_int(&dimensions, (unsigned)named[i][0], named[i][1]);
    attribute(HLO_INSTRUCTION_CONVOLUTION_DIMENSIONS, dimensions);
    return at;
}

START_TEST(sizes_of_a_convolution) {
    begin_module();
    computation(0);
    uint32_t at = convolve(16);
    finish();
    sizes_are(at, 32 * 28 * 28, 144, 96);
    end();
    begin_module();
    computation(0);
    at = convolve(1); /* groups of features */
    finish();
    sizes_are(at, 0, 0, 0);
    end();
}
END_TEST

/* bf16[50,65] in tiles of 8 x 128 is bf16[56,128]: 14,336 for 6,500 bytes. By columns bf16[128,72]: 65 is filled up
 * to 72, and 50 to 128: 18,432. */
START_TEST(tiles_are_filled) {
    const struct {
        int fast, slow;
        int64_t tiled;
    } cases[] = {{1, 0, 14336}, {0, 1, 18432}};
    for (int c = 0; c < 2; c++) {
        begin_module();
        computation(0);
        uint32_t shape = laid_out(array(BF16, NUMBERS(50, 65)), NUMBERS(cases[c].fast, cases[c].slow), 8, 128);
        uint32_t at = put("parameter", shape, -1, -1);
        uint32_t copy = put("copy", shape, (int)at, -1);
        uint32_t plain = put("copy", array(BF16, NUMBERS(50, 65)), -1, -1);
        finish();
        ck_assert_int_eq(ids_hlo_tiled_of(&graph, at).bytes, 6500);
        ck_assert_int_eq(ids_hlo_tiled_of(&graph, at).tiled, cases[c].tiled);
        ck_assert_int_eq(ids_hlo_tiled_of(&graph, copy).tiled, 2 * cases[c].tiled);
        ck_assert_int_eq(ids_hlo_tiled_of(&graph, plain).tiled, 0); /* no array has tiles */
        end();
    }
}
END_TEST

/* ---- what a device fills up ---- */

static double padding(const char *plane, uint32_t element, int64_t rows, int64_t depth, int64_t columns) {
    char text[256];
    snprintf(text, sizeof text, "plane %s\nline 1 \"XLA Ops\"\n0us 1us op.1\n", plane);
    struct ids_trace *trace = mini_trace(text);
    ck_assert_uint_ge(trace->device_count, 1);
    struct ids_matrix_unit unit = ids_matrix_unit_of(trace, &trace->devices[0], element);
    struct ids_product_size product = {.rows = rows, .columns = columns, .depth = depth};
    double share = ids_padding_of(&product, &unit);
    ids_trace_free(trace);
    return share;
}

#define V5 "/device:TPU:0 device_type_string=\"TPU v5e\""
#define V6 "/device:TPU:0 device_type_string=\"TPU v6 Lite\""

START_TEST(filled_up_to_the_width) {
    ck_assert_double_eq_tol(padding(V5, BF16, 8192, 65, 1024), 1 - 65.0 / 128, 1e-12); /* 49 % */
    ck_assert_double_eq_tol(padding(V5, BF16, 8192, 768, 50257), 1 - 50257.0 / 50304, 1e-12);
    ck_assert_double_eq_tol(padding(V5, BF16, 4, 128, 128), 0.5, 1e-12); /* 8 rows at a time */
    ck_assert_double_eq(padding(V5, BF16, 8192, 128, 1024), 0);
    ck_assert_double_eq_tol(padding(V6, BF16, 8192, 128, 1024), 0.5, 1e-12);
    ck_assert_double_eq_tol(padding("/device:GPU:0", BF16, 8192, 65, 1024), 1 - 65.0 / 72, 1e-12);
    ck_assert_double_eq_tol(padding("/device:GPU:0", S8, 8192, 65, 1024), 1 - 65.0 / 80, 1e-12);
    ck_assert_double_eq(padding("/device:GPU:0", BF16, 8192, 64, 1024), 0);
    ck_assert_double_eq(padding("/device:GPU:0", 0, 8192, 65, 1024), 0); /* of what, is not known */
    ck_assert_double_eq(padding(V5, BF16, 0, 0, 0), 0);
}
END_TEST

IDS_RUN_SUITE("padding", sizes_of_a_dot, columns_lie_where_the_result_is_fastest, sizes_of_a_batch,
              the_largest_inside_a_fusion, sizes_of_a_convolution, tiles_are_filled, filled_up_to_the_width)
