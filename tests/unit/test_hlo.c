/* formats/hlo.c over messages built here by hand. Field numbers: xla/service/hlo.proto. */
#include "formats/hlo.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a protobuf writer ---- */

struct bytes {
    uint8_t *at;
    size_t length;
};

static void put(struct bytes *to, const void *from, size_t length) {
    to->at = realloc(to->at, to->length + length + 1);
    if (length) memcpy(to->at + to->length, from, length);
    to->length += length;
}

static void put_varint(struct bytes *to, uint64_t value) {
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(to, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_number(struct bytes *to, unsigned field, uint64_t value) {
    put_varint(to, field << 3);
    put_varint(to, value);
}

static void put_text(struct bytes *to, unsigned field, const char *text) {
    put_varint(to, field << 3 | 2);
    put_varint(to, strlen(text));
    put(to, text, strlen(text));
}

/* Adds `inside` as a message and frees it. */
static void put_message(struct bytes *to, unsigned field, struct bytes inside) {
    put_varint(to, field << 3 | 2);
    put_varint(to, inside.length);
    put(to, inside.at, inside.length);
    free(inside.at);
}

/* Packed numbers up to the first negative one. */
static void put_packed(struct bytes *to, unsigned field, const int *numbers) {
    struct bytes inside = {0};
    for (; *numbers >= 0; numbers++) put_varint(&inside, (uint64_t)*numbers);
    put_message(to, field, inside);
}

/* ---- parts of programs ---- */

enum { PRED = 1, S4 = 21, F32 = 11, TUPLE = 13, BF16 = 16, C128 = 18, UNKNOWN_TYPE = 99 };

static struct bytes shape(int type, const int *dimensions) {
    struct bytes out = {0};
    put_number(&out, 2, (uint64_t)type);
    put_packed(&out, 3, dimensions);
    return out;
}

static struct bytes instruction(const char *name, const char *opcode) {
    struct bytes out = {0};
    put_text(&out, 1, name);
    put_text(&out, 2, opcode);
    return out;
}

static struct bytes metadata(const char *op_name, const char *file, unsigned line, unsigned frame) {
    struct bytes out = {0};
    put_text(&out, 2, op_name);
    if (file) put_text(&out, 3, file);
    if (line) put_number(&out, 4, line);
    if (frame) put_number(&out, 15, frame);
    return out;
}

/* Two frames: 1 = outer.py:7, 2 = inner.py:42 called from it. */
static struct bytes stack_frames(void) {
    struct bytes out = {0}, location = {0}, frame = {0};
    put_text(&out, 1, "outer.py");
    put_text(&out, 1, "inner.py");
    put_text(&out, 2, "main");
    put_number(&location, 1, 1);
    put_number(&location, 2, 1);
    put_number(&location, 3, 7);
    put_message(&out, 3, location);
    location = (struct bytes){0};
    put_number(&location, 1, 2);
    put_number(&location, 3, 42);
    put_number(&location, 4, 5);
    put_message(&out, 3, location);
    put_number(&frame, 1, 1);
    put_message(&out, 4, frame);
    frame = (struct bytes){0};
    put_number(&frame, 1, 2);
    put_number(&frame, 2, 1);
    put_message(&out, 4, frame);
    return out;
}

static struct bytes computation(const char *name, unsigned id, int fusion_flag) {
    struct bytes out = {0};
    put_text(&out, 1, name);
    put_number(&out, 5, id);
    if (fusion_flag) put_number(&out, 7, 1);
    return out;
}

/* ---- a sink that writes a line for each instruction ---- */

static struct lines {
    char text[8192];
    size_t length;
    int instructions;
    uint64_t damaged;
    char diag[64];
    char parameters[512]; /* of the program: those that are donated with a '!', then how they are spread */
} lines;

static void take_parameter(const struct ids_strings *strings, const struct ids_instruction_info *info) {
    size_t used = strlen(lines.parameters);
    snprintf(lines.parameters + used, sizeof lines.parameters - used, "%s%s[%s] ", ids_strings_z(strings, info->name),
             info->is_donated ? "!" : "", ids_strings_z(strings, info->sharding));
}

static int take_hlo(struct ids_sink *sink, const struct ids_instruction_info *i, struct ids_error *err) {
    (void)err;
    const struct ids_strings *s = sink->strings;
    lines.instructions++;
    if (i->is_parameter) take_parameter(s, i);
    int n = snprintf(lines.text + lines.length, sizeof lines.text - lines.length,
                     "%s %s %s [%s] [%s] [%s] [%.40s] %lld\n", ids_strings_z(s, i->module), ids_strings_z(s, i->name),
                     ids_strings_z(s, i->opcode), ids_strings_z(s, i->op_name), ids_strings_z(s, i->source),
                     ids_strings_z(s, i->call_target), ids_strings_z(s, i->groups), (long long)i->result_bytes);
    lines.length += (size_t)n;
    if (lines.length >= sizeof lines.text) lines.length = sizeof lines.text - 1;
    return i->program_id == 77 ? 0 : IDS_USAGE;
}

static int take_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    (void)sink;
    (void)err;
    lines.damaged += diag->count;
    snprintf(lines.diag, sizeof lines.diag, "%s", diag->id);
    return 0;
}

static int read_bytes(const uint8_t *bytes, size_t length) {
    static const struct ids_sink_ops ops = {.hlo = take_hlo, .diag = take_diag};
    struct ids_strings strings = {0};
    struct ids_sink sink = {.ops = &ops, .strings = &strings, .complete = 1};
    struct ids_error err = IDS_ERROR_INIT;
    lines = (struct lines){0};
    /* An exact copy, so that a byte read too far is seen by valgrind and sanitizers. */
    uint8_t *copy = malloc(length ? length : 1);
    if (length) memcpy(copy, bytes, length);
    int code = ids_hlo_read(copy, length, 77, &sink, &err);
    ck_assert_int_eq(code, err.code);
    free(copy);
    ids_strings_done(&strings);
    return code;
}

/* Reads an HloProto around the module, and frees both. */
static int read_module(struct bytes module) {
    struct bytes proto = {0};
    put_message(&proto, 1, module);
    int code = read_bytes(proto.at, proto.length);
    free(proto.at);
    return code;
}

/* A module with one computation that holds one instruction. */
static struct bytes module_of(struct bytes one) {
    struct bytes out = {0}, main_computation = computation("main", 1, 0);
    put_text(&out, 1, "jit_f");
    put_message(&main_computation, 2, one);
    put_message(&out, 3, main_computation);
    return out;
}

START_TEST(fields_of_an_instruction) {
    struct bytes one = instruction("custom-call.1", "custom-call");
    put_message(&one, 3, shape(F32, (int[]){128, 4, -1}));
    put_message(&one, 7, metadata("jit(f)/dot", "/src/model.py", 37, 0));
    put_text(&one, 28, "__cublas$gemm");
    struct bytes module = module_of(one);
    ck_assert_int_eq(read_module(module), 0);
    ck_assert_str_eq(lines.text,
                     "jit_f custom-call.1 custom-call [jit(f)/dot] [/src/model.py:37] [__cublas$gemm] [] 2048\n");
}
END_TEST

START_TEST(a_module_without_a_proto_around_it) {
    struct bytes module = module_of(instruction("add.1", "add"));
    ck_assert_int_eq(read_bytes(module.at, module.length), 0);
    ck_assert_str_eq(lines.text, "jit_f add.1 add [] [] [] [] -1\n");
    free(module.at);
}
END_TEST

START_TEST(source_from_the_innermost_stack_frame) {
    struct bytes one = instruction("add.1", "add");
    put_message(&one, 7, metadata("a", NULL, 0, 2));
    struct bytes module = module_of(one);
    put_message(&module, 17, stack_frames()); /* comes after the instructions that refer to it */
    ck_assert_int_eq(read_module(module), 0);
    ck_assert_str_eq(lines.text, "jit_f add.1 add [a] [inner.py:42] [] [] -1\n");
}
END_TEST

START_TEST(a_frame_that_is_not_there_is_no_source) {
    for (unsigned frame = 0; frame < 2; frame++) {
        struct bytes one = instruction("add.1", "add");
        put_message(&one, 7, metadata("a", NULL, 0, frame ? 3 : 0x7fffffff));
        struct bytes module = module_of(one);
        put_message(&module, 17, stack_frames());
        ck_assert_int_eq(read_module(module), 0);
        ck_assert_str_eq(lines.text, "jit_f add.1 add [a] [] [] [] -1\n");
    }
}
END_TEST

static struct bytes parameter(const char *name, unsigned number) {
    struct bytes out = instruction(name, "parameter");
    if (number) put_number(&out, 9, number); /* proto3 leaves 0 out */
    return out;
}

/* An entry of input_output_alias (the number in field 2) or of buffer_donor (in field 1). */
static void put_donation(struct bytes *to, unsigned field, unsigned number) {
    struct bytes entry = {0};
    if (number) put_number(&entry, field, number);
    put_message(to, 1, entry);
}

/* jax.jit(donate_argnums): a result may take the argument's memory (alias), or may be given it (donor). */
START_TEST(donated_arguments) {
    static const char *const names[] = {"p0", "p1", "p2", "p3", "p12"};
    static const unsigned numbers[] = {0, 1, 2, 3, 12};
    for (int donates = 0; donates < 2; donates++) {
        struct bytes module = {0}, region = computation("region", 4, 0), entry = computation("main", 6, 0);
        struct bytes alias = {0}, donors = {0};
        put_text(&module, 1, "jit_step");
        put_number(&module, 6, 6);
        put_message(&region, 2, parameter("not_of_the_program", 0));
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            put_message(&entry, 2, parameter(names[i], numbers[i]));
        put_donation(&alias, 2, 0);
        put_donation(&alias, 2, 2);
        put_donation(&alias, 2, 12);
        put_donation(&donors, 1, 3);
        put_message(&module, 3, region);
        put_message(&module, 3, entry);
        put_message(&module, donates ? 8 : 1000, alias); /* behind the computations, as XLA writes them */
        put_message(&module, donates ? 18 : 1001, donors);
        ck_assert_int_eq(read_module(module), 0);
        ck_assert_str_eq(lines.parameters, donates ? "p0![] p1[] p2![] p3![] p12![] " : "p0[] p1[] p2[] p3[] p12[] ");
    }
}
END_TEST

START_TEST(arguments_spread_over_devices) {
    struct bytes spread = {0}, one = parameter("p0", 0), module = {0}, entry = computation("main", 6, 0);
    put_number(&spread, 1, 3);
    put_packed(&spread, 3, (int[]){4, 1, -1});
    put_message(&one, 40, spread);
    put_text(&module, 1, "jit_step");
    put_number(&module, 6, 6);
    put_message(&entry, 2, one);
    put_message(&entry, 2, parameter("p1", 1));
    put_message(&module, 3, entry);
    ck_assert_int_eq(read_module(module), 0);
    ck_assert_str_eq(lines.parameters, "p0[devices=[4,1]] p1[] ");
}
END_TEST

START_TEST(a_zero_byte_does_not_cut_a_name) {
    struct bytes one = instruction("add.1", "add"), inside = {0};
    put_varint(&inside, 2 << 3 | 2);
    put_varint(&inside, 3);
    put(&inside, "a\0b", 3);
    put_message(&one, 7, inside);
    static const struct ids_sink_ops ops = {.hlo = take_hlo, .diag = take_diag};
    struct ids_strings strings = {0};
    struct ids_sink sink = {.ops = &ops, .strings = &strings, .complete = 1};
    struct ids_error err = IDS_ERROR_INIT;
    struct bytes module = module_of(one);
    ck_assert_int_eq(ids_hlo_read(module.at, module.length, 77, &sink, &err), 0);
    ck_assert_uint_ne(ids_strings_find(&strings, "a\0b", 3), IDS_NO_TEXT);
    ids_strings_done(&strings);
    free(module.at);
}
END_TEST

/* A fused computation's instructions never run as ops: with the flag, and in old programs by the fusion that calls
 * it. */
START_TEST(inside_of_fusions_is_left_out) {
    for (int flag = 0; flag < 2; flag++) {
        struct bytes module = {0};
        struct bytes inner = computation("fused", 5, flag), outer = computation("main", 6, 0);
        struct bytes region = computation("region", 4, 0);
        put_text(&module, 1, "jit_f");
        put_message(&inner, 2, instruction("hidden", "multiply"));
        put_message(&region, 2, instruction("summed", "add"));
        struct bytes fusion = instruction("fusion.1", "fusion"), reduce = instruction("reduce.1", "reduce");
        put_packed(&fusion, 38, (int[]){5, -1});
        put_packed(&reduce, 38, (int[]){4, -1});
        put_message(&outer, 2, fusion);
        put_message(&outer, 2, reduce);
        put_message(&module, 3, inner);
        put_message(&module, 3, region);
        put_message(&module, 3, outer);
        ck_assert_int_eq(read_module(module), 0);
        ck_assert_int_eq(lines.instructions, 3);
        ck_assert_ptr_null(strstr(lines.text, "hidden"));
        ck_assert_ptr_nonnull(strstr(lines.text, "summed"));
    }
}
END_TEST

static int64_t bytes_of(struct bytes of_shape) {
    struct bytes one = instruction("x", "add");
    put_message(&one, 3, of_shape);
    ck_assert_int_eq(read_module(module_of(one)), 0);
    return strtoll(strrchr(lines.text, ' '), NULL, 10);
}

START_TEST(result_bytes) {
    ck_assert_int_eq(bytes_of(shape(F32, (int[]){-1})), 4); /* a scalar */
    ck_assert_int_eq(bytes_of(shape(PRED, (int[]){3, -1})), 3);
    ck_assert_int_eq(bytes_of(shape(BF16, (int[]){2, 3, -1})), 12);
    ck_assert_int_eq(bytes_of(shape(C128, (int[]){2, -1})), 32);
    ck_assert_int_eq(bytes_of(shape(S4, (int[]){3, -1})), 2); /* 12 bits */
    ck_assert_int_eq(bytes_of(shape(F32, (int[]){5, 0, -1})), 0);
    ck_assert_int_eq(bytes_of(shape(UNKNOWN_TYPE, (int[]){2, -1})), -1);
    struct bytes tuple = {0}, inner = {0};
    put_number(&tuple, 2, TUPLE);
    put_message(&tuple, 4, shape(F32, (int[]){10, -1}));
    put_number(&inner, 2, TUPLE);
    put_message(&inner, 4, shape(BF16, (int[]){10, -1}));
    put_message(&tuple, 4, inner);
    ck_assert_int_eq(bytes_of(tuple), 60);
    struct bytes unpacked = {0};
    put_number(&unpacked, 2, F32);
    put_number(&unpacked, 3, 6);
    put_number(&unpacked, 3, 7);
    ck_assert_int_eq(bytes_of(unpacked), 168);
    struct bytes dynamic = {0}, huge = {0};
    put_number(&dynamic, 2, F32);
    put_number(&dynamic, 3, UINT64_MAX); /* -1 */
    ck_assert_int_eq(bytes_of(dynamic), -1);
    put_number(&huge, 2, F32);
    for (int i = 0; i < 3; i++) put_number(&huge, 3, INT64_MAX);
    ck_assert_int_eq(bytes_of(huge), -1);
}
END_TEST

static const char *groups_of(struct bytes one) {
    static char text[64];
    ck_assert_int_eq(read_module(module_of(one)), 0);
    const char *end = strrchr(lines.text, ']');
    const char *start = end;
    while (strncmp(start, "[] [", 4) != 0) start--; /* behind the empty call target */
    snprintf(text, sizeof text, "%.*s", (int)(end - start - 4), start + 4);
    return text;
}

START_TEST(groups) {
    struct bytes one = instruction("ar", "all-reduce"), group = {0};
    put_packed(&group, 1, (int[]){0, 1, -1});
    put_message(&one, 49, group);
    group = (struct bytes){0};
    put_packed(&group, 1, (int[]){2, 3, -1});
    put_message(&one, 49, group);
    ck_assert_str_eq(groups_of(one), "{{0,1},{2,3}}");

    struct bytes list = {0};
    group = (struct bytes){0};
    one = instruction("ar", "all-reduce");
    put_packed(&group, 1, (int[]){0, 4, -1});
    put_message(&list, 1, group);
    put_message(&one, 87, list);
    ck_assert_str_eq(groups_of(one), "{{0,4}}");

    struct bytes iota = {0};
    list = (struct bytes){0};
    one = instruction("ar", "all-reduce");
    put_number(&iota, 1, 4);
    put_number(&iota, 2, 2);
    put_packed(&iota, 3, (int[]){2, 4, -1});
    put_packed(&iota, 4, (int[]){1, 0, -1});
    put_message(&list, 2, iota);
    put_message(&one, 87, list);
    ck_assert_str_eq(groups_of(one), "[4,2]<=[2,4]T(1,0)"); /* as the v6e trace has it */

    struct bytes pair = {0};
    one = instruction("cp", "collective-permute");
    put_number(&pair, 2, 1); /* source 0 is the default and not written */
    put_message(&one, 52, pair);
    ck_assert_str_eq(groups_of(one), "{{0,1}}");
}
END_TEST

/* ---- hostile ---- */

START_TEST(not_hlo) {
    ck_assert_int_eq(read_bytes((const uint8_t *)"", 0), IDS_CORRUPT);
    ck_assert_int_eq(read_bytes((const uint8_t *)"HloModule jit_f", 15), IDS_CORRUPT);
    ck_assert_int_eq(read_bytes((const uint8_t *)"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), IDS_CORRUPT);
    ck_assert_int_eq(read_bytes((const uint8_t *)"\x1a\xff\xff\xff\xff\x0f", 6), IDS_CORRUPT);
}
END_TEST

START_TEST(deep_shapes) {
    struct bytes deep = shape(F32, (int[]){1, -1});
    for (int i = 0; i < ids_some_of(20000, 5000); i++) {
        struct bytes outer = {0};
        put_message(&outer, 4, deep);
        deep = outer;
    }
    ck_assert_int_eq(bytes_of(deep), -1);
}
END_TEST

START_TEST(a_damaged_instruction_is_counted_and_the_rest_read) {
    struct bytes module = {0}, outer = computation("main", 1, 0), bad = instruction("bad", "add");
    struct bytes bad_metadata = instruction("bad2", "add"), no_name = {0};
    put_text(&module, 1, "jit_f");
    put(&bad, "\x1a\x7f", 2); /* a shape of 127 bytes that are not there */
    put_text(&bad_metadata, 7, "\x12\x7f");
    put_text(&no_name, 2, "add");
    put_message(&outer, 2, bad);
    put_message(&outer, 2, bad_metadata);
    put_message(&outer, 2, no_name);
    put_message(&outer, 2, instruction("good", "add"));
    put_message(&module, 3, outer);
    ck_assert_int_eq(read_module(module), 0);
    ck_assert_int_eq(lines.instructions, 1);
    ck_assert_uint_eq(lines.damaged, 3);
    ck_assert_str_eq(lines.diag, "hlo.instruction");
}
END_TEST

/* 3 MiB of empty frames would be 87 MB of protobuf-c messages, above its 64 MiB: refused, and the instructions read
 * without sources. */
START_TEST(memory_for_protobuf_is_capped) {
    struct bytes frames = {0}, one = instruction("add.1", "add");
    size_t count = 3 << 19;
    frames.at = malloc(2 * count);
    frames.length = 2 * count;
    for (size_t i = 0; i < count; i++) memcpy(frames.at + 2 * i, "\x22\x00", 2);
    put_message(&one, 7, metadata("a", NULL, 0, 1));
    struct bytes module = module_of(one);
    put_message(&module, 17, frames);
    ck_assert_int_eq(read_module(module), 0);
    ck_assert_int_eq(lines.instructions, 1);
    ck_assert_str_eq(lines.diag, "hlo.frames");
}
END_TEST

START_TEST(groups_too_long_are_cut) {
    enum { IDS = 100000, A_TIME = 1000 };
    struct bytes one = instruction("ar", "all-reduce"), group = {0}, ids = {0};
    for (unsigned from = 0; from < IDS; from += A_TIME) { /* by pieces: each put copies all that there is */
        struct bytes piece = {0};
        for (unsigned i = from; i < from + A_TIME; i++) put_varint(&piece, i);
        put(&ids, piece.at, piece.length);
        free(piece.at);
    }
    put_message(&group, 1, ids);
    put_message(&one, 49, group);
    ck_assert_str_eq(groups_of(one), "{{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,");
}
END_TEST

static struct bytes everything(void) {
    struct bytes one = instruction("ar", "all-reduce"), group = {0}, tuple = {0};
    put_message(&tuple, 4, shape(F32, (int[]){300, -1}));
    put_message(&one, 3, tuple);
    put_packed(&group, 1, (int[]){0, 1, 300, -1});
    put_message(&one, 49, group);
    put_message(&one, 7, metadata("a/b", NULL, 0, 2));
    struct bytes module = module_of(one);
    put_message(&module, 17, stack_frames());
    return module;
}

/* Every prefix, and every byte changed: no crash, no read outside (valgrind, sanitizers), a known code. */
START_TEST(cut_and_changed_everywhere) {
    struct bytes module = everything();
    for (size_t length = 0; length < module.length; length++) {
        int code = read_bytes(module.at, length);
        ck_assert(code == 0 || code == IDS_CORRUPT);
    }
    for (size_t i = 0; i < module.length; i++) {
        static const uint8_t values[] = {0x00, 0x7f, 0x80, 0xff};
        uint8_t before = module.at[i];
        for (size_t k = 0; k < 4; k++) {
            module.at[i] = values[k];
            int code = read_bytes(module.at, module.length);
            ck_assert(code == 0 || code == IDS_CORRUPT);
        }
        module.at[i] = before;
    }
    free(module.at);
}
END_TEST

IDS_RUN_SUITE("hlo", fields_of_an_instruction, a_module_without_a_proto_around_it,
              source_from_the_innermost_stack_frame, a_frame_that_is_not_there_is_no_source, donated_arguments,
              arguments_spread_over_devices, a_zero_byte_does_not_cut_a_name, inside_of_fusions_is_left_out,
              result_bytes, groups, not_hlo, deep_shapes, a_damaged_instruction_is_counted_and_the_rest_read,
              memory_for_protobuf_is_capped, groups_too_long_are_cut, cut_and_changed_everywhere)
