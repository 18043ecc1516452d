/* What an op computes, whatever it is called: lib/hlo/fingerprint.c, shape.c and op_text.c. Field numbers:
 * xla/service/hlo.proto. */
#include "formats/hlo.h"
#include "formats/hlo_shape.h"
#include "lib/hlo/op_text.h"
#include "lib/hlo/shape.h"
#include "lib/model/trace.h"
#include "lib/model/tracer_options.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

enum { F32 = 11, BF16 = 16 };

static struct pb shape_of(int type, int rows, int columns) {
    struct pb shape = {0}, dimensions = {0};
    pb_int(&shape, 2, type);
    pb_varint(&dimensions, (uint64_t)rows);
    pb_varint(&dimensions, (uint64_t)columns);
    pb_message(&shape, 3, dimensions);
    return shape;
}

struct made {
    const char *name, *opcode;
    int type, rows, columns, id;
    int operands[3]; /* 0 ends */
    int called;      /* 0 none */
    const char *target;
};

static struct pb instruction_of(const struct made *made) {
    struct pb out = {0}, operands = {0};
    pb_text(&out, 1, made->name);
    pb_text(&out, 2, made->opcode);
    pb_message(&out, 3, shape_of(made->type, made->rows, made->columns));
    if (made->target) pb_text(&out, 28, made->target);
    pb_int(&out, 35, made->id);
    for (int i = 0; i < 3 && made->operands[i]; i++) pb_varint(&operands, (uint64_t)made->operands[i]);
    pb_message(&out, 36, operands);
    if (made->called) pb_int(&out, 38, made->called);
    return out;
}

static void add_computation(struct pb *module, int id, const struct made *made, size_t count) {
    struct pb computation = {0};
    for (size_t i = 0; i < count; i++) pb_message(&computation, 2, instruction_of(&made[i]));
    pb_int(&computation, 5, id);
    pb_message(module, 3, computation);
}

/* A fusion of tanh (or another opcode) over a parameter, with ids from `first` on and names with numbers from there. */
static uint64_t fusion(int first, const char *name, const char *inner, int rows, const char *target) {
    const struct made body[] = {
        {"param", "parameter", F32, rows, 8, first, {0}, 0, NULL},
        {"inner", inner, F32, rows, 8, first + 1, {first}, 0, NULL},
    };
    const struct made entry[] = {
        {"x", "parameter", F32, rows, 8, first + 2, {0}, 0, NULL},
        {name, "fusion", F32, rows, 8, first + 3, {first + 2}, first + 100, target},
    };
    struct pb module = {0};
    struct ids_hlo_module graph;
    struct ids_error err = IDS_ERROR_INIT;
    add_computation(&module, first + 100, body, 2);
    add_computation(&module, first + 101, entry, 2);
    ck_assert_int_eq(ids_hlo_module_read(module.at, module.length, 0, &graph, &err), 0);
    ck_assert_uint_eq(graph.instruction_count, 4);
    uint64_t found = graph.instructions[3].fingerprint;
    ids_hlo_module_done(&graph);
    pb_free(&module);
    return found;
}

START_TEST(names_and_numbers_take_no_part) {
    uint64_t one = fusion(1, "fusion.3", "tanh", 4, NULL);
    ck_assert_uint_ne(one, 0);
    ck_assert_uint_eq(one, fusion(500, "fusion.77", "tanh", 4, NULL));
}
END_TEST

START_TEST(what_is_computed_does) {
    uint64_t one = fusion(1, "fusion.3", "tanh", 4, NULL);
    ck_assert_uint_ne(one, fusion(1, "fusion.3", "exponential", 4, NULL)); /* only the body differs */
    ck_assert_uint_ne(one, fusion(1, "fusion.3", "tanh", 8, NULL));
    ck_assert_uint_ne(one, fusion(1, "fusion.3", "tanh", 4, "__cublas$gemm"));
}
END_TEST

START_TEST(damage_gives_none_and_no_harm) {
    struct pb module = {0};
    const struct made entry[] = {{"x", "add", F32, 2, 2, 7, {7, 8}, 3, NULL}};
    struct ids_hlo_module graph;
    struct ids_error err = IDS_ERROR_INIT;
    add_computation(&module, 1, entry, 1);
    for (size_t length = 0; length <= module.length; length++) {
        uint8_t *copy = malloc(length ? length : 1);
        ck_assert_ptr_nonnull(copy);
        if (length) memcpy(copy, module.at, length);
        int code = ids_hlo_module_read(copy, length, 0, &graph, &err);
        ck_assert(code == 0 || code == IDS_CORRUPT);
        if (!code) ids_hlo_module_done(&graph);
        free(copy);
    }
    pb_free(&module);
}
END_TEST

static size_t text_of_shape(struct pb shape, char text[IDS_HLO_SHAPE_TEXT]) {
    struct ids_hlo_module module;
    struct ids_error err = IDS_ERROR_INIT;
    uint32_t index;
    ids_hlo_module_init(&module);
    struct ids_hlo_shapes shapes = {.module = &module};
    ck_assert_int_eq(ids_hlo_shape_read(&shapes, (struct ids_pb){shape.at, shape.at + shape.length}, &index, &err), 0);
    size_t length = ids_hlo_shape_text(&module, index, 0, text);
    ids_hlo_shapes_done(&shapes);
    ids_hlo_module_done(&module);
    return length;
}

START_TEST(shapes_as_text) {
    char text[IDS_HLO_SHAPE_TEXT];
    struct pb one = shape_of(F32, 256, 8), tuple = {0};
    ck_assert_uint_eq(text_of_shape(one, text), strlen("f32[256,8]"));
    ck_assert_str_eq(text, "f32[256,8]");
    pb_int(&tuple, 2, 13);
    pb_message(&tuple, 4, one);
    pb_message(&tuple, 4, shape_of(BF16, 1, 2));
    text_of_shape(tuple, text);
    ck_assert_str_eq(text, "(f32[256,8], bf16[1,2])");
    for (int i = 0; i < 40; i++) pb_message(&tuple, 4, shape_of(BF16, 1, 2));
    ck_assert_uint_eq(text_of_shape(tuple, text), IDS_HLO_SHAPE_TEXT - 1);
    ck_assert_str_eq(text + IDS_HLO_SHAPE_TEXT - 1 - strlen("... of 42 arrays"), "... of 42 arrays");
    pb_free(&tuple);
    ck_assert_uint_eq(text_of_shape((struct pb){0}, text), 0);
}
END_TEST

/* ---- TPU: the text of an op ---- */

static uint64_t of_text(const char *text) {
    return ids_hlo_text_fingerprint((struct ids_text){text, (uint32_t)strlen(text)});
}

START_TEST(texts) {
    uint64_t one =
        of_text("%add_fusion.3 = f32[8,128]{1,0:T(8,128)} fusion(f32[8]{0} %p.1), kind=kLoop, calls=%fused.2");
    ck_assert_uint_ne(one, 0);
    ck_assert_uint_eq(one, of_text("%add_fusion.9 = f32[8,128]{0,1} fusion(f32[8]{0} %q), kind=kLoop, calls=%fused.7"));
    ck_assert_uint_eq(of_text("%a = f32[8] add(f32[8] %x), metadata={op_name=\"b\" source=\"}\"}, end=1"),
                      of_text("%a = f32[8] add(f32[8] %x), metadata={op_name=\"c\"}, end=1"));
    ck_assert_uint_ne(
        one, of_text("%mul_fusion.3 = f32[8,128]{1,0:T(8,128)} fusion(f32[8]{0} %p.1), kind=kLoop, calls=%fused.2"));
    ck_assert_uint_ne(
        one, of_text("%add_fusion.3 = f32[9,128]{1,0:T(8,128)} fusion(f32[8]{0} %p.1), kind=kLoop, calls=%fused.2"));
    /* A copy to the host's memory is another one than a copy from there. */
    ck_assert_uint_ne(of_text("%copy-start = (f32[8]{0:T(8)S(5)}, f32[8]{0:T(8)}) copy-start(f32[8]{0} %x)"),
                      of_text("%copy-start = (f32[8]{0:T(8)}, f32[8]{0:T(8)S(5)}) copy-start(f32[8]{0} %x)"));
    ck_assert_uint_eq(of_text("fusion.3"), 0);
    ck_assert_uint_eq(of_text(""), 0);
    ck_assert_uint_eq(of_text("%"), 0);
    ck_assert_uint_ne(of_text("%a = "), of_text("%b = "));
}
END_TEST

START_TEST(shapes_of_texts) {
    char shape[IDS_HLO_TEXT_SHAPE];
    static const char *const table[][2] = {
        {"%f = f32[8,128]{1,0:T(8,128)} fusion(f32[8] %p)", "f32[8,128]"},
        {"%c = (f32[8]{0}, u32[]{:S(2)}) copy-start(f32[8] %p)", "(f32[8], u32[])"},
        {"f32[8]", ""},
        {"%f = f32[8]{", "f32[8]"},
    };
    char many[1024] = "%r = (f32[8,4]{1,0}";
    for (int i = 0; i < 19; i++) strcat(many, ", (f32[2], s32[])");
    strcat(many, ") all-reduce(f32[8,4] %p, f32[2] %q)");
    ck_assert_uint_eq(ids_hlo_text_shape((struct ids_text){many, (uint32_t)strlen(many)}, shape),
                      IDS_HLO_TEXT_SHAPE - 1);
    ck_assert_ptr_nonnull(strstr(shape, "(f32[2], s32[]), (f"));
    ck_assert_str_eq(shape + strlen(shape) - strlen("... of 20 arrays"), "... of 20 arrays");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t length = ids_hlo_text_shape((struct ids_text){table[i][0], (uint32_t)strlen(table[i][0])}, shape);
        ck_assert_uint_eq(length, strlen(table[i][1]));
        if (length) ck_assert_str_eq(shape, table[i][1]);
    }
}
END_TEST

/* version 1 in field 5, host level 2, device level 1, python 1: what jax 0.10 wrote into testdata/cpu1_compile_py. */
START_TEST(tracer_options) {
    static const uint8_t bytes[] = {0x08, 1, 0x10, 2, 0x18, 1, 0x20, 1, 0x28, 1, 0x38, 1};
    struct ids_trace trace = {.tracer_host = -1, .tracer_device = -1, .tracer_python = -1};
    ids_tracer_options_read(bytes, sizeof bytes, &trace);
    ck_assert_int_eq(trace.tracer_host, 2);
    ck_assert_int_eq(trace.tracer_device, 1);
    ck_assert_int_eq(trace.tracer_python, 1);
    struct ids_trace cut = {.tracer_host = -1};
    ids_tracer_options_read(bytes, 1, &cut);
    ck_assert_int_eq(cut.tracer_host, -1);
    static const uint8_t beyond[] = {0x52, 0xff, 0xff, 0xff, 0x0f};
    ids_tracer_options_read(beyond, sizeof beyond, &cut);
    ck_assert_int_eq(cut.tracer_host, -1);
}
END_TEST

IDS_RUN_SUITE("fingerprint", names_and_numbers_take_no_part, what_is_computed_does, damage_gives_none_and_no_harm,
              shapes_as_text, texts, shapes_of_texts, tracer_options)
