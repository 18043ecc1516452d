/* What programs cost (lib/hlo/cost.h), over programs that are made here. The figures are derived in comments from what
 * the operations are; tests/peers/test_cost.py compares with XLA. */
#include "lib/fields/hlo.h"
#include "lib/hlo/cost.h"
#include "lib/hlo/cost_matrix.h"
#include "lib/hlo/finish.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

#include <stdarg.h>

enum { S8 = 2, S32 = 4, U8 = 6, F32 = 11, TUPLE = 13, BF16 = 16 };

static struct ids_hlo_module graph;
static struct ids_hlo_costs costs;
static struct ids_error err;
static struct pb kept[32]; /* what attributes point into */
static int kept_count;

static void begin(void) {
    ids_hlo_module_init(&graph);
    err = (struct ids_error)IDS_ERROR_INIT;
}

static void end(void) {
    ids_hlo_costs_done(&costs);
    ids_hlo_module_done(&graph);
    while (kept_count) pb_free(&kept[--kept_count]);
}

static struct ids_text words(const char *text) {
    return (struct ids_text){text, (uint32_t)strlen(text)};
}

/* Dimensions end with -1. */
static uint32_t array(int element, ...) {
    uint32_t index;
    va_list sizes;
    ck_assert_int_eq(ids_hlo_add_shape(&graph, &index, &err), 0);
    struct ids_hlo_shape shape = {.dimensions = {(uint32_t)graph.number_count, 0},
                                  .first_part = IDS_HLO_NONE,
                                  .next_part = IDS_HLO_NONE,
                                  .layout = IDS_HLO_NONE,
                                  .element = (uint8_t)element};
    va_start(sizes, element);
    for (int64_t size; (size = va_arg(sizes, int)) >= 0; shape.dimensions.count++)
        ck_assert_int_eq(ids_hlo_add_number(&graph, size, &err), 0);
    va_end(sizes);
    graph.shapes[index] = shape;
    return index;
}

/* A tuple of two; its parts come behind it, and are copies. */
static uint32_t pair(uint32_t one, uint32_t other) {
    uint32_t index, first, second;
    ck_assert_int_eq(ids_hlo_add_shape(&graph, &index, &err), 0);
    ck_assert_int_eq(ids_hlo_add_shape(&graph, &first, &err), 0);
    ck_assert_int_eq(ids_hlo_add_shape(&graph, &second, &err), 0);
    graph.shapes[first] = graph.shapes[one];
    graph.shapes[second] = graph.shapes[other];
    graph.shapes[first].next_part = second;
    graph.shapes[second].next_part = IDS_HLO_NONE;
    graph.shapes[index] = (struct ids_hlo_shape){
        .first_part = first, .next_part = IDS_HLO_NONE, .layout = IDS_HLO_NONE, .element = TUPLE};
    return index;
}

static void computation(void) {
    struct ids_hlo_computation *place;
    int64_t id = (int64_t)graph.computation_count + 1;
    ck_assert_int_eq(ids_hlo_add_computation(&graph, &place, &err), 0);
    *place = (struct ids_hlo_computation){
        .name = words("c"), .id = id, .instructions = {(uint32_t)graph.instruction_count, 0}};
    graph.entry_id = id;
}

/* In the computation that was begun last, whose root it becomes. Operands are indices of instructions and end with
 * -1. */
static int put(const char *opcode, uint32_t shape, ...) {
    struct ids_hlo_instruction *place;
    struct ids_hlo_instruction made = {.name = words(opcode),
                                       .opcode = words(opcode),
                                       .id = (int64_t)graph.instruction_count + 1,
                                       .operands = {(uint32_t)graph.operand_count, 0},
                                       .called = {(uint32_t)graph.called_count, 0},
                                       .attributes = {(uint32_t)graph.attribute_count, 0},
                                       .shape = shape,
                                       .metadata = IDS_HLO_NONE,
                                       .groups = IDS_HLO_NONE,
                                       .loop = IDS_HLO_NONE};
    struct ids_hlo_computation *computation = &graph.computations[graph.computation_count - 1];
    va_list operands;
    va_start(operands, shape);
    for (int operand; (operand = va_arg(operands, int)) >= 0; made.operands.count++)
        ck_assert_int_eq(ids_hlo_add_operand(&graph, (uint64_t)operand + 1, &err), 0);
    va_end(operands);
    ck_assert_int_eq(ids_hlo_add_instruction(&graph, &place, &err), 0);
    *place = made;
    computation->instructions.count++;
    computation->root_id = made.id;
    return (int)graph.instruction_count - 1;
}

/* Of the instruction that was put last; computations by their number from 0. */
static void calls(int called) {
    ck_assert_int_eq(ids_hlo_add_called(&graph, (uint64_t)called + 1, &err), 0);
    graph.instructions[graph.instruction_count - 1].called.count++;
}

static void attribute(unsigned field, struct pb bytes) {
    struct ids_hlo_attribute made = {
        .field = (uint16_t)field, .is_bytes = 1, .length = (uint32_t)bytes.length, .bytes = (const char *)bytes.at};
    ck_assert_int_lt(kept_count, 32);
    kept[kept_count++] = bytes;
    ck_assert_int_eq(ids_hlo_add_attribute(&graph, made, &err), 0);
    graph.instructions[graph.instruction_count - 1].attributes.count++;
}

static void target(const char *name) {
    struct pb bytes = {0};
    pb_raw(&bytes, name, strlen(name));
    attribute(HLO_INSTRUCTION_CALL_TARGET, bytes);
}

static void config(const char *text) {
    graph.instructions[graph.instruction_count - 1].is_causal =
        (uint8_t)ids_hlo_is_causal((struct ids_text){text, (uint32_t)strlen(text)});
}

static void contracting(int dimension) {
    struct pb bytes = {0};
    pb_int(&bytes, 1, dimension);
    attribute(HLO_INSTRUCTION_DOT_DIMENSIONS, bytes);
}

/* A window of two dimensions, both alike. */
static void window(int size, int stride, int low, int high, int dilation, int base_dilation) {
    struct pb bytes = {0};
    for (int i = 0; i < 2; i++) {
        struct pb each = {0};
        pb_int(&each, 1, size);
        pb_int(&each, 2, stride);
        pb_int(&each, 3, low);
        pb_int(&each, 4, high);
        pb_int(&each, 5, dilation);
        pb_int(&each, 6, base_dilation);
        pb_message(&bytes, 1, each);
    }
    attribute(HLO_INSTRUCTION_WINDOW, bytes);
}

/* b01f_01io->b01f */
static void image_dimensions(void) {
    struct pb bytes = {0};
    pb_int(&bytes, 3, 2);
    pb_int(&bytes, 4, 3);
    for (int i = 0; i < 2; i++) pb_int(&bytes, 6, i);
    pb_int(&bytes, 7, 0);
    pb_int(&bytes, 8, 3);
    pb_int(&bytes, 9, 0);
    pb_int(&bytes, 10, 3);
    for (int i = 1; i < 3; i++) pb_int(&bytes, 11, i);
    for (int i = 1; i < 3; i++) pb_int(&bytes, 12, i);
    attribute(HLO_INSTRUCTION_CONVOLUTION_DIMENSIONS, bytes);
}

static struct ids_hlo_cost cost_of(int instruction) {
    if (!costs.module) {
        ck_assert_int_eq(ids_hlo_module_finish(&graph, &err), 0);
        ck_assert_int_eq(ids_hlo_costs_make(&graph, &costs, &err), 0);
    }
    return ids_hlo_cost_of(&costs, (uint32_t)instruction);
}

static void is(int instruction, int64_t flops, int64_t bytes) {
    struct ids_hlo_cost cost = cost_of(instruction);
    ck_assert_int_eq(ids_hlo_cost_count(cost.flops, cost.misses_flops), flops);
    ck_assert_int_eq(ids_hlo_cost_count(cost.bytes, cost.misses_bytes), bytes);
}

/* ---- dots ---- */

/* [8,16] x [16,4]: 32 results of 16 multiply-adds, 2 * 32 * 16; (128 + 64 + 32) floats. */
START_TEST(dot) {
    begin();
    computation();
    int a = put("parameter", array(F32, 8, 16, -1), -1), b = put("parameter", array(F32, 16, 4, -1), -1);
    int c = put("dot", array(F32, 8, 4, -1), a, b, -1);
    contracting(1);
    is(c, 1024, 4 * (128 + 64 + 32));
    ck_assert_int_eq(cost_of(c).element, F32);
    ck_assert(cost_of(c).matrix_flops == 1024);
    is(a, 0, 0);
    end();
}
END_TEST

/* A dimension that is not there, and numbers that do not fit: not known, and no crash. */
START_TEST(dot_damaged) {
    begin();
    computation();
    int a = put("parameter", array(F32, 8, 16, -1), -1), b = put("dot", array(F32, 8, 4, -1), a, a, -1);
    contracting(7);
    int c = put("dot", array(F32, 8, 4, -1), -1);
    contracting(0);
    is(b, -1, 4 * (128 + 128 + 32));
    is(c, -1, 4 * 32);
    end();
}
END_TEST

/* cuBLAS: [2,8,16] and [2,16,4] give [2,8,4] and a workspace: k is 16, 2 * 64 * 16 operations. A k that is none of the
 * dimensions is no k; so is one of another library, which may do anything. */
START_TEST(library_dot) {
    begin();
    computation();
    uint32_t result = array(BF16, 2, 8, 4, -1);
    int a = put("parameter", array(BF16, 2, 8, 16, -1), -1), b = put("parameter", array(BF16, 2, 16, 4, -1), -1);
    int c = put("custom-call", pair(result, array(S32, 100, -1)), a, b, -1);
    target("__cublas$gemm");
    int d = put("custom-call", array(BF16, 2, 2, 4, -1), a, b, -1);
    target("__cublas$gemm");
    int e = put("custom-call", result, a, b, -1);
    target("some_kernel");
    int f = put("custom-call", result, a, -1);
    target("Sharding");
    is(c, 2048, 2 * (256 + 128 + 64) + 400);
    ck_assert_int_eq(cost_of(c).element, BF16);
    is(d, -1, -1);
    is(e, -1, -1);
    is(f, 0, 0);
    end();
}
END_TEST

/* What a library may work in, s8[n] or u8[n] behind its result, is no result: [8,16] and [16,4] give 128 bytes. A first
 * result of bytes, or one of two dimensions, is what it computes. */
START_TEST(library_works_in) {
    begin();
    computation();
    uint32_t result = array(F32, 8, 4, -1), bytes = array(S8, 16, 4, -1);
    int a = put("parameter", array(F32, 8, 16, -1), -1), b = put("parameter", array(F32, 16, 4, -1), -1);
    int c = put("custom-call", pair(result, array(S8, 5000, -1)), a, b, -1);
    target("__cublas$lt$matmul");
    int d = put("custom-call", pair(result, array(U8, 5000, -1)), a, b, -1);
    target("__cublas$gemm");
    int e = put("custom-call", pair(result, bytes), a, b, -1);
    target("__cublas$lt$matmul$f8");
    is(c, 1024, 512 + 256 + 128);
    is(d, 1024, 512 + 256 + 128);
    is(e, 1024, 512 + 256 + 128 + 64);
    end();
}
END_TEST

/* Attention of 2 sequences of 64, 4 heads of 16, keys of 32: 4 * 8192 * 32 forward and 10 * 8192 * 32 backward; with
 * all three in one array the keys are as long as the queries. */
START_TEST(attention) {
    begin();
    computation();
    uint32_t shape = array(BF16, 2, 64, 4, 16, -1);
    int q = put("parameter", shape, -1), k = put("parameter", array(BF16, 2, 32, 4, 16, -1), -1);
    int qkv = put("parameter", array(BF16, 2, 64, 3, 4, 16, -1), -1);
    int a = put("custom-call", shape, q, k, k, -1);
    target("__cudnn$fmhaSoftmax");
    int b = put("custom-call", shape, q, k, k, -1);
    target("__cudnn$fmhaSoftmaxBackward");
    int c = put("custom-call", shape, qkv, -1);
    target("te_fused_attn_forward_ffi");
    int d = put("custom-call", shape, -1);
    target("te_fused_attn_forward_ffi");
    ck_assert(cost_of(a).flops == 4.0 * 8192 * 32);
    ck_assert(cost_of(b).flops == 10.0 * 8192 * 32);
    ck_assert(cost_of(c).flops == 4.0 * 8192 * 64);
    is(d, -1, -1);
    end();
}
END_TEST

/* A causal mask: of 64 queries and 64 keys 64 * 65 / 2 pairs of 64 * 64. Of 64 queries and 32 keys the first 32 see
 * 32 * 33 / 2, the others all 32. Padding (1) says nothing of how long sequences are. */
START_TEST(causal_attention) {
    static const char *const causal[] = {"{mask_type = 2 : i64}", "{mask_type = 3 : i64, x = 1 : i64}",
                                         "{\"cudnn_fmha_backend_config\":{\"mask_type\":\"CAUSAL\"}}",
                                         "{\"cudnn_fmha_backend_config\":{\"mask_type\":\"PADDING_CAUSAL\"}}"};
    static const char *const full[] = {"{mask_type = 0 : i64}", "{mask_type = 1 : i64}",
                                       "{\"cudnn_fmha_backend_config\":{\"mask_type\":\"NO_MASK\"}}"};
    begin();
    computation();
    uint32_t shape = array(BF16, 2, 64, 4, 16, -1);
    int q = put("parameter", shape, -1), k = put("parameter", array(BF16, 2, 32, 4, 16, -1), -1), at[8];
    for (int i = 0; i < 4; i++) {
        at[i] = put("custom-call", shape, q, q, q, -1);
        target(i < 2 ? "te_fused_attn_forward_ffi" : "__cudnn$fmhaSoftmax");
        config(causal[i]);
    }
    for (int i = 0; i < 3; i++) {
        at[4 + i] = put("custom-call", shape, q, q, q, -1);
        target(i < 2 ? "te_fused_attn_forward_ffi" : "__cudnn$fmhaSoftmax");
        config(full[i]);
    }
    at[7] = put("custom-call", shape, q, k, k, -1);
    target("te_fused_attn_backward_ffi");
    config(causal[0]);
    for (int i = 0; i < 4; i++) ck_assert(cost_of(at[i]).flops == 4.0 * 8192 * 64 * (65.0 / 128));
    for (int i = 4; i < 7; i++) ck_assert(cost_of(at[i]).flops == 4.0 * 8192 * 64);
    ck_assert(cost_of(at[7]).flops == 10.0 * 8192 * 32 * ((528.0 + 32 * 32) / 2048));
    end();
}
END_TEST

/* ---- convolutions ---- */

/* Of 8 places 3 taps of a padded window: 7 + 8 + 7 hit the input, in each of two dimensions. 3 input features, 5 output
 * features, 2 images: 2 * 2 * 3 * 5 * 22 * 22. */
START_TEST(convolution) {
    begin();
    computation();
    int a = put("parameter", array(F32, 2, 8, 8, 3, -1), -1), b = put("parameter", array(F32, 3, 3, 3, 5, -1), -1);
    int c = put("convolution", array(F32, 2, 8, 8, 5, -1), a, b, -1);
    window(3, 1, 1, 1, 1, 1);
    image_dimensions();
    is(c, 2 * 2 * 3 * 5 * 22 * 22, 4 * (384 + 135 + 640));
    end();
}
END_TEST

/* By brute force: taps over places, in strides and dilations, and with padding that cuts. */
START_TEST(convolution_windows) {
    static const struct {
        int kernel, input, output, stride, low, dilation, base;
    } table[] = {{3, 8, 4, 2, 0, 1, 1},  {3, 8, 4, 2, 1, 2, 1},   {3, 5, 9, 1, 1, 1, 2},  {4, 7, 11, 3, 5, 2, 4},
                 {2, 6, 3, 1, -2, 1, 1}, {5, 4, 20, 6, 3, 3, 9},  {1, 1, 1, 1, 0, 1, 1},  {3, 16, 5, 4, 2, 1, 6},
                 {7, 3, 2, 5, 9, 4, 2},  {3, 10, 1, 1, 50, 1, 1}, {2, 9, 12, 10, 0, 7, 4}};
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        double hits = 0;
        for (int k = 0; k < table[t].kernel; k++) {
            for (int o = 0; o < table[t].output; o++) {
                int at = o * table[t].stride - table[t].low + k * table[t].dilation;
                hits += at >= 0 && at % table[t].base == 0 && at / table[t].base < table[t].input;
            }
        }
        begin();
        computation();
        int a = put("parameter", array(F32, 1, table[t].input, table[t].input, 1, -1), -1);
        int b = put("parameter", array(F32, table[t].kernel, table[t].kernel, 1, 1, -1), -1);
        int c = put("convolution", array(F32, 1, table[t].output, table[t].output, 1, -1), a, b, -1);
        window(table[t].kernel, table[t].stride, table[t].low, 0, table[t].dilation, table[t].base);
        image_dimensions();
        ck_assert_msg(cost_of(c).flops == 2 * hits * hits, "window %zu: %.0f, not %.0f", t, cost_of(c).flops,
                      2 * hits * hits);
        end();
    }
}
END_TEST

/* cuDNN's gradients have the same products as the convolution: [2,8,8,3] and [3,3,3,5] with [2,8,8,5]. */
START_TEST(library_convolution) {
    static const char *const targets[] = {"__cudnn$convForward", "__cudnn$convBackwardInput",
                                          "__cudnn$convBackwardFilter"};
    for (int t = 0; t < 3; t++) {
        begin();
        computation();
        uint32_t input = array(F32, 2, 8, 8, 3, -1), kernel = array(F32, 3, 3, 3, 5, -1);
        uint32_t output = array(F32, 2, 8, 8, 5, -1), workspace = array(S32, 10, -1);
        int a = put("parameter", t == 1 ? output : input, -1), b = put("parameter", t == 2 ? output : kernel, -1);
        int c = put("custom-call", pair(t == 0 ? output : t == 1 ? input : kernel, workspace), a, b, -1);
        target(targets[t]);
        window(3, 1, 1, 1, 1, 1);
        image_dimensions();
        is(c, 2 * 2 * 3 * 5 * 22 * 22, 4 * (384 + 135 + 640) + 40);
        end();
    }
}
END_TEST

/* ---- fusions ---- */

/* The inside of a fusion: a table of 1000 rows of 16, of which `opcode` takes 3, that are doubled. */
static int sliced(const char *opcode) {
    begin();
    computation();
    int table = put("parameter", array(F32, 1000, 16, -1), -1), at = put("parameter", array(S32, 3, -1), -1);
    int rows = put(opcode, array(F32, 3, 16, -1), table, at, -1);
    put("add", array(F32, 3, 16, -1), rows, rows, -1);
    computation();
    int outer_table = put("parameter", array(F32, 1000, 16, -1), -1);
    int outer_at = put("parameter", array(S32, 3, -1), -1);
    int fusion = put("fusion", array(F32, 3, 16, -1), outer_table, outer_at, -1);
    calls(0);
    return fusion;
}

/* 48 floats are read and written, and the 3 places; not the table. */
START_TEST(slices) {
    static const char *const opcodes[] = {"dynamic-slice", "gather"};
    for (int i = 0; i < 2; i++) {
        int fusion = sliced(opcodes[i]);
        is(fusion, 48, 4 * (48 + 48 + 3));
        end();
    }
}
END_TEST

/* Whoever reads all of a parameter has read the slice of it too; and what is elementwise between it and the slice does
 * not make more of it be read. */
START_TEST(read_once) {
    begin();
    computation();
    int all = put("parameter", array(F32, 100, -1), -1), part = put("slice", array(F32, 10, -1), all, -1);
    int sum = put("reduce", array(F32, -1), all, -1);
    int spread = put("broadcast", array(F32, 10, -1), sum, -1);
    put("add", array(F32, 10, -1), part, spread, -1);
    computation();
    int b = put("parameter", array(F32, 100, -1), -1), c = put("negate", array(F32, 100, -1), b, -1);
    put("slice", array(F32, 10, -1), c, -1);
    computation();
    int d = put("parameter", array(F32, 100, -1), -1);
    int e = put("fusion", array(F32, 10, -1), d, -1);
    calls(0);
    int f = put("fusion", array(F32, 10, -1), d, -1);
    calls(1);
    ck_assert(cost_of(e).bytes == 4 * (100 + 10));
    is(f, 100, 4 * (10 + 10));
    end();
}
END_TEST

/* An update in place writes and reads the update alone; of a value made in the fusion all is written. */
START_TEST(updates) {
    begin();
    computation();
    int cache = put("parameter", array(F32, 1000, -1), -1), update = put("parameter", array(F32, 10, -1), -1);
    int at = put("parameter", array(S32, -1), -1), name = put("bitcast", array(F32, 1000, -1), cache, -1);
    int placed = put("dynamic-update-slice", array(F32, 1000, -1), name, update, at, -1);
    put("bitcast", array(F32, 1000, -1), placed, -1);
    computation();
    int zero = put("parameter", array(F32, -1), -1), u = put("parameter", array(F32, 10, -1), -1);
    int i = put("parameter", array(S32, -1), -1), zeros = put("broadcast", array(F32, 1000, -1), zero, -1);
    put("dynamic-update-slice", array(F32, 1000, -1), zeros, u, i, -1);
    computation();
    int a = put("parameter", array(F32, 1000, -1), -1), b = put("parameter", array(F32, 10, -1), -1);
    int c = put("parameter", array(S32, -1), -1), d = put("parameter", array(F32, -1), -1);
    int e = put("fusion", array(F32, 1000, -1), a, b, c, -1);
    calls(0);
    int f = put("fusion", array(F32, 1000, -1), d, b, c, -1);
    calls(1);
    int g = put("dynamic-update-slice", array(F32, 1000, -1), a, b, c, -1);
    is(e, 0, 4 * (10 + 10 + 1));
    is(f, 0, 4 * (1000 + 1 + 10 + 1));
    is(g, 0, 4 * (10 + 10 + 1));
    end();
}
END_TEST

/* Of two results each is written; a parameter that is handed on is neither read nor written. */
START_TEST(two_results) {
    begin();
    computation();
    uint32_t shape = array(F32, 100, -1);
    int a = put("parameter", shape, -1), b = put("parameter", shape, -1), c = put("negate", shape, a, -1);
    put("tuple", pair(shape, shape), c, b, -1);
    computation();
    int d = put("parameter", shape, -1), e = put("fusion", pair(shape, shape), d, d, -1);
    calls(0);
    is(e, 100, 4 * (100 + 100));
    end();
}
END_TEST

/* ---- calls ---- */

/* A body of 10 additions on two arrays that are read and one that is written, a condition of one comparison. */
static int loop(int64_t trips) {
    uint32_t shape;
    begin();
    computation();
    shape = array(F32, 10, -1);
    int left = put("parameter", shape, -1), right = put("parameter", shape, -1);
    put("add", shape, left, right, -1);
    computation();
    uint32_t one = array(F32, -1);
    int a = put("parameter", one, -1);
    put("compare", one, a, a, -1);
    computation();
    int loop = put("while", shape, put("parameter", shape, -1), -1);
    calls(0);
    calls(1);
    if (trips >= 0) {
        graph.instructions[loop].loop = 0;
        ck_assert_int_eq(ids_hlo_add_loop(&graph, (struct ids_hlo_loop){.trip_count = trips}, &err), 0);
    }
    return loop;
}

/* The condition is asked once more than the body runs. */
START_TEST(loops) {
    int seven = loop(7);
    is(seven, 7 * 10 + 8, 7 * 120 + 8 * 12);
    end();
    int none = loop(0);
    is(none, 1, 12);
    end();
    int unknown = loop(-1);
    is(unknown, -1, -1);
    ck_assert(cost_of(unknown).flops == 11);
    end();
}
END_TEST

/* The expensive branch; a call of what stands behind the caller, as a damaged file may have it, is not followed. */
START_TEST(branches_and_circles) {
    begin();
    computation();
    uint32_t shape = array(F32, 10, -1);
    int a = put("parameter", shape, -1), b = put("negate", shape, a, -1);
    put("negate", shape, b, -1);
    computation();
    int c = put("parameter", shape, -1);
    put("negate", shape, c, -1);
    computation();
    int d = put("parameter", shape, -1), e = put("conditional", shape, d, -1);
    calls(1);
    calls(0);
    int f = put("call", shape, d, -1);
    calls(2);
    int g = put("call", shape, d, -1);
    calls(9);
    is(e, 20, 4 * (20 + 20));
    is(f, -1, -1);
    is(g, -1, -1);
    struct ids_hlo_cost all = ids_hlo_cost_of_program(&costs);
    ck_assert(all.misses_flops && all.flops == 20);
    end();
}
END_TEST

/* ---- others ---- */

/* 100 values in 10 rows: 90 additions; 10 exp are no operations; a sort of rows of 10 compares 4 times each. */
START_TEST(others) {
    begin();
    computation();
    uint32_t one = array(F32, -1), rows = array(F32, 10, -1), square = array(F32, 10, 10, -1);
    int left = put("parameter", one, -1), right = put("parameter", one, -1);
    put("add", one, left, right, -1);
    computation();
    int a = put("parameter", square, -1), zero = put("constant", one, -1);
    int b = put("reduce", rows, a, zero, -1);
    calls(0);
    int c = put("exponential", rows, b, -1), d = put("sort", square, a, -1);
    struct pb along = {0};
    pb_varint(&along, 1);
    attribute(HLO_INSTRUCTION_DIMENSIONS, along);
    int e = put("all-reduce", square, a, -1), f = put("all-reduce-done", square, e, -1);
    int g = put("copy-start", pair(square, square), a, -1), h = put("some-new-opcode", rows, a, -1);
    int i = put("get-tuple-element", square, g, -1), j = put("iota", square, -1);
    is(b, 90, 4 * (100 + 1 + 10));
    is(c, 0, 80);
    ck_assert(cost_of(c).transcendentals == 10);
    is(d, 400, 800);
    is(e, 100, 800);
    is(f, 0, 0);
    is(g, 0, 800);
    is(h, 0, 440);
    is(i, 0, 0);
    is(j, 0, 400);
    end();
}
END_TEST

/* Of 16 complex numbers 5 * 16 * 4. Of 16 real ones half a spectrum, 9 numbers: as much there and back. */
START_TEST(transforms) {
    begin();
    computation();
    uint32_t half = array(F32, 9, -1), whole = array(F32, 16, -1);
    int a = put("parameter", whole, -1), there, back, both;
    struct pb length = {0};
    pb_varint(&length, 16);
    both = put("fft", whole, a, -1);
    attribute(HLO_INSTRUCTION_FFT_LENGTH, length);
    there = put("fft", half, a, -1);
    length = (struct pb){0};
    pb_varint(&length, 16);
    attribute(HLO_INSTRUCTION_FFT_LENGTH, length);
    back = put("fft", whole, there, -1);
    length = (struct pb){0};
    pb_varint(&length, 16);
    attribute(HLO_INSTRUCTION_FFT_LENGTH, length);
    is(both, 320, 128);
    is(there, 180, 100);
    is(back, 180, 100);
    end();
}
END_TEST

/* A window of 2 x 2 over 64 values gives 16: 3 maxima each. */
START_TEST(windows) {
    begin();
    computation();
    uint32_t one = array(F32, -1);
    int left = put("parameter", one, -1), right = put("parameter", one, -1);
    put("maximum", one, left, right, -1);
    computation();
    int a = put("parameter", array(F32, 8, 8, -1), -1), zero = put("constant", one, -1);
    int b = put("reduce-window", array(F32, 4, 4, -1), a, zero, -1);
    calls(0);
    window(2, 2, 0, 0, 1, 1);
    is(b, 48, 4 * (64 + 1 + 16));
    end();
}
END_TEST

/* A size that no number holds is unknown, and a convolution of a million taps is not counted to its end. */
START_TEST(enormous) {
    begin();
    computation();
    uint32_t huge = array(F32, 2000000000, 2000000000, 2000000000, 2000000000, -1);
    int a = put("parameter", huge, -1), b = put("negate", huge, a, -1);
    int c = put("parameter", array(F32, 1000000, 1000000, 1, 1, -1), -1);
    int d = put("convolution", array(F32, 1, 8, 8, 1, -1), c, c, -1);
    window(1000000, 1, 1, 1, 1, 1);
    image_dimensions();
    is(b, -1, -1);
    ck_assert(cost_of(d).misses_flops);
    end();
}
END_TEST

IDS_RUN_SUITE("cost", dot, dot_damaged, library_dot, library_works_in, attention, causal_attention, convolution,
              convolution_windows, library_convolution, slices, read_once, updates, two_results, loops,
              branches_and_circles, others, transforms, windows, enormous)
