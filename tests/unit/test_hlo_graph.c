/* The graph of a compiled program (lib/hlo), read by formats/hlo.c out of messages that are built here by hand. Field
 * numbers: xla/service/hlo.proto and xla/xla_data.proto. */
#include "formats/hlo.h"
#include "lib/hlo/buffers.h"
#include "lib/hlo/shape.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

#include <stdio.h>

enum { S32 = 4, F32 = 11, TUPLE = 13 };

static struct ids_hlo_module graph;
static struct ids_error err;
static struct pb held; /* what the graph points into */

static int read_parts(struct pb module, unsigned parts) {
    struct pb proto = {0};
    pb_message(&proto, 1, module);
    pb_free(&held);
    held = proto;
    err = (struct ids_error)IDS_ERROR_INIT;
    return ids_hlo_module_read(held.at, held.length, parts, &graph, &err);
}

static void read_all(struct pb module) {
    ck_assert_msg(read_parts(module, IDS_HLO_ALL) == 0, "%s", err.text);
}

static void end(void) {
    ids_hlo_module_done(&graph);
    pb_free(&held);
}

/* ---- pieces ---- */

static void packed(struct pb *to, unsigned field, const int *numbers, size_t count) {
    struct pb inside = {0};
    for (size_t i = 0; i < count; i++) pb_varint(&inside, (uint64_t)numbers[i]);
    pb_message(to, field, inside);
}
#define PACKED(to, field, ...) packed((to), (field), (int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))

static struct pb instruction(const char *name, const char *opcode, int id) {
    struct pb out = {0};
    pb_text(&out, 1, name);
    pb_text(&out, 2, opcode);
    pb_int(&out, 35, id);
    return out;
}

static struct pb computation(const char *name, int id) {
    struct pb out = {0};
    pb_text(&out, 1, name);
    pb_int(&out, 5, id);
    return out;
}

static struct pb module(void) {
    struct pb out = {0};
    pb_text(&out, 1, "jit_f");
    return out;
}

static const struct ids_hlo_instruction *named(const char *name) {
    for (size_t i = 0; i < graph.instruction_count; i++) {
        if (ids_text_is(graph.instructions[i].name, name)) return &graph.instructions[i];
    }
    ck_abort_msg("no instruction '%s'", name);
}

/* The body and the condition of a loop, and the loop, which calls both. */
static struct pb loop_with(const char *config) {
    struct pb all = module(), body = computation("body", 1), condition = computation("cond", 2);
    struct pb entry = computation("main", 3), loop = instruction("while.1", "while", 30);
    pb_message(&body, 2, instruction("add", "add", 10));
    pb_int(&body, 6, 10);
    pb_message(&condition, 2, instruction("less", "compare", 20));
    PACKED(&loop, 38, 1, 2);
    if (config) pb_text(&loop, 43, config);
    pb_message(&entry, 2, loop);
    pb_int(&entry, 6, 30);
    pb_message(&all, 3, body);
    pb_message(&all, 3, condition);
    pb_message(&all, 3, entry);
    pb_int(&all, 6, 3);
    return all;
}

/* ---- loops and calls ---- */

START_TEST(calls_and_roots) {
    read_all(loop_with(NULL));
    const struct ids_hlo_instruction *loop = named("while.1");
    ck_assert_uint_eq(loop->called.count, 2);
    ck_assert(ids_text_is(graph.computations[graph.called[loop->called.first]].name, "body"));
    ck_assert(ids_text_is(graph.computations[graph.called[loop->called.first + 1]].name, "cond"));
    ck_assert(ids_text_is(graph.computations[graph.entry].name, "main"));
    ck_assert(ids_text_is(graph.instructions[graph.computations[graph.entry].root].name, "while.1"));
    ck_assert_uint_eq(graph.computations[1].root, IDS_HLO_NONE); /* nothing has the id 0 */
    ck_assert_uint_eq(loop->loop, IDS_HLO_NONE);
    end();
}
END_TEST

START_TEST(trip_counts) {
    static const struct {
        const char *config;
        int64_t trips, variable, init, step; /* -2: no loop is known */
    } table[] = {
        {"{\"known_trip_count\":{\"n\":\"4\"},\"known_init_step\":{\"init\":\"0\",\"step\":\"1\"},"
         "\"known_induction_variable\":{\"tuple_index\":\"2\"}}",
         4, 2, 0, 1},
        {"{\"known_trip_count\":{\"n\":9007199254740993}}", 9007199254740992, -1, 0, 0}, /* as JSON has it */
        {"{\"known_trip_count\":{\"n\":\"9007199254740993\"}}", 9007199254740993, -1, 0, 0},
        {"{\"known_trip_count\":{}}", 0, -1, 0, 0}, /* proto3 leaves 0 out */
        {"{\"known_init_step\":{\"init\":\"8\",\"step\":\"-2\"}}", -1, -1, 8, -2},
        {"{\"known_trip_count\":{\"n\":\"-4\"}}", -2, -1, 0, 0},
        {"{\"known_trip_count\":{\"n\":\"99999999999999999999\"}}", -2, -1, 0, 0},
        {"{\"known_trip_count\":{\"n\":\"4 \"}}", -2, -1, 0, 0},
        {"{\"known_trip_count\":{\"n\":1e300}}", -2, -1, 0, 0},
        {"{\"known_trip_count\":{\"n\":[]}}", -2, -1, 0, 0},
        {"{\"known_trip_count\":4}", -2, -1, 0, 0},
        {"[4]", -2, -1, 0, 0},
        {"\x0a\x02\x08\x04", -2, -1, 0, 0}, /* a serialized proto, as some backends write */
        {"{\"outer_dimension_partitions\":[]}", -2, -1, 0, 0},
        {"", -2, -1, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        read_all(loop_with(table[i].config));
        uint32_t index = named("while.1")->loop;
        ck_assert_msg((index == IDS_HLO_NONE) == (table[i].trips == -2), "%s", table[i].config);
        if (index != IDS_HLO_NONE) {
            const struct ids_hlo_loop *loop = &graph.loops[index];
            ck_assert_int_eq(loop->trip_count, table[i].trips);
            ck_assert_int_eq(loop->induction_variable, table[i].variable);
            ck_assert_int_eq(loop->init, table[i].init);
            ck_assert_int_eq(loop->step, table[i].step);
        }
        ids_hlo_module_done(&graph);
        ck_assert_int_eq(read_parts(loop_with(table[i].config), IDS_HLO_LAYOUTS), 0); /* loops were not asked for */
        ck_assert_uint_eq(graph.loop_count, 0);
        end();
    }
}
END_TEST

/* ---- shapes ---- */

static struct pb array(int type, int rows, int columns) {
    struct pb shape = {0};
    pb_int(&shape, 2, type);
    PACKED(&shape, 3, rows, columns);
    return shape;
}

static struct pb with_layout(struct pb shape, int tiled, int space, int bits) {
    struct pb layout = {0}, tile = {0};
    PACKED(&layout, 1, 1, 0);
    if (tiled) {
        PACKED(&tile, 1, 8, 128);
        pb_message(&layout, 6, tile);
        tile = (struct pb){0};
        PACKED(&tile, 1, 2, 1);
        pb_message(&layout, 6, tile);
    }
    if (bits) pb_int(&layout, 7, bits);
    if (space) pb_int(&layout, 8, space);
    pb_message(&shape, 5, layout);
    return shape;
}

static struct pb holding(struct pb shape) {
    struct pb all = module(), entry = computation("main", 1), one = instruction("x", "copy", 1);
    pb_message(&one, 3, shape);
    pb_message(&entry, 2, one);
    pb_message(&all, 3, entry);
    return all;
}

static const char *shape_text(int with_layouts) {
    static char text[IDS_HLO_SHAPE_TEXT];
    ids_hlo_shape_text(&graph, graph.instructions[0].shape, with_layouts, text);
    return text;
}

START_TEST(layouts) {
    read_all(holding(with_layout(array(F32, 8, 128), 1, 5, 0)));
    ck_assert_str_eq(shape_text(1), "f32[8,128]{1,0:T(8,128)(2,1)S(5)}"); /* as HLO text has it */
    ck_assert_str_eq(shape_text(0), "f32[8,128]");
    const struct ids_hlo_shape *shape = &graph.shapes[graph.instructions[0].shape];
    ck_assert_int_eq(graph.layouts[shape->layout].memory_space, 5);
    ck_assert_int_eq(shape->bytes, 4096);
    uint64_t fingerprint = shape->fingerprint;
    ids_hlo_module_done(&graph);
    ck_assert_int_eq(read_parts(holding(with_layout(array(F32, 8, 128), 0, 0, 0)), 0), 0);
    ck_assert_uint_eq(graph.layout_count, 0); /* nobody asked */
    ck_assert_str_eq(shape_text(1), "f32[8,128]");
    ck_assert_uint_eq(graph.shapes[0].fingerprint, fingerprint);
    end();
    read_all(holding(with_layout(array(S32, 3, 5), 0, 0, 4)));
    ck_assert_str_eq(shape_text(1), "s32[3,5]{1,0:E(4)}");
    end();
}
END_TEST

START_TEST(tuples) {
    struct pb tuple = {0}, inner = {0};
    pb_int(&inner, 2, TUPLE);
    pb_int(&tuple, 2, TUPLE);
    pb_message(&tuple, 4, with_layout(array(F32, 2, 2), 0, 5, 0));
    pb_message(&tuple, 4, inner);
    pb_message(&tuple, 4, array(S32, 1, 3));
    read_all(holding(tuple));
    ck_assert_str_eq(shape_text(1), "(f32[2,2]{1,0:S(5)}, (), s32[1,3])");
    ck_assert_int_eq(graph.shapes[graph.instructions[0].shape].bytes, 28);
    end();
}
END_TEST

/* Programs of a thousand ops have a dozen shapes. */
START_TEST(equal_shapes_are_read_once) {
    struct pb all = module(), entry = computation("main", 1);
    for (int i = 0; i < 100; i++) {
        struct pb one = instruction("x", "copy", i);
        pb_message(&one, 3, array(F32, 2, i % 2 + 1));
        pb_message(&entry, 2, one);
    }
    pb_message(&all, 3, entry);
    read_all(all);
    ck_assert_uint_eq(graph.shape_count, 2);
    ck_assert_int_eq(graph.shapes[graph.instructions[98].shape].bytes, 8);
    ck_assert_int_eq(graph.shapes[graph.instructions[99].shape].bytes, 16);
    end();
}
END_TEST

/* ---- stack frames ---- */

START_TEST(frames) {
    struct pb all = module(), entry = computation("main", 1), one = instruction("x", "add", 1), metadata = {0};
    struct pb index = {0}, location = {0}, frame = {0};
    pb_int(&metadata, 15, 2);
    pb_message(&one, 7, metadata);
    pb_message(&entry, 2, one);
    pb_message(&all, 3, entry);
    pb_text(&index, 1, "train.py");
    pb_text(&index, 2, "step");
    pb_text(&index, 2, "main");
    for (int i = 1; i <= 2; i++) {
        location = (struct pb){0};
        pb_int(&location, 1, 1);
        pb_int(&location, 2, 3 - i);
        pb_int(&location, 3, 10 * i);
        pb_message(&index, 3, location);
        frame = (struct pb){0};
        pb_int(&frame, 1, i);
        pb_int(&frame, 2, 3 - i); /* each other's parent: damage, or a joke */
        pb_message(&index, 4, frame);
    }
    pb_message(&all, 17, index);
    read_all(all);
    struct ids_text function, file;
    int32_t line, at = graph.metadata[graph.instructions[0].metadata].frame;
    ck_assert_int_eq(at, 2);
    ck_assert(ids_hlo_frame(&graph, at, &function, &file, &line, &at));
    ck_assert(ids_text_is(function, "step") && ids_text_is(file, "train.py"));
    ck_assert_int_eq(line, 20);
    ck_assert(ids_hlo_frame(&graph, at, &function, &file, &line, &at));
    ck_assert(ids_text_is(function, "main"));
    ck_assert_int_eq(line, 10);
    ck_assert_int_eq(at, 2);
    ck_assert(!ids_hlo_frame(&graph, 0, &function, &file, &line, &at));
    ck_assert(!ids_hlo_frame(&graph, 3, &function, &file, &line, &at));
    ck_assert(!ids_hlo_frame(&graph, -1, &function, &file, &line, &at));
    end();
}
END_TEST

/* ---- buffers ---- */

static void add_buffer(struct pb *assignment, int id, int size, int instruction_id) {
    struct pb buffer = {0}, place = {0};
    pb_int(&buffer, 1, id);
    pb_int(&buffer, 2, size);
    if (instruction_id)
        pb_int(&place, 4, instruction_id);
    else
        pb_text(&place, 2, "add.1"); /* older programs */
    pb_message(&buffer, 3, place);
    pb_int(&buffer, 4, id == 3);
    pb_message(assignment, 1, buffer);
}

static void add_event(struct pb *heap, int kind, int buffer, const char *at, int canonical) {
    struct pb event = {0};
    if (kind) pb_int(&event, 1, kind); /* allocating is 0 and not written */
    pb_int(&event, 2, buffer);
    pb_text(&event, 4, at);
    if (canonical) pb_int(&event, 5, canonical);
    pb_message(heap, 1, event);
}

static int read_buffers(struct pb assignment, unsigned parts) {
    struct pb proto = {0}, all = module(), entry = computation("main", 1);
    pb_message(&entry, 2, instruction("x", "add", 7));
    pb_message(&all, 3, entry);
    pb_message(&proto, 1, all);
    pb_message(&proto, 3, assignment);
    pb_free(&held);
    held = proto;
    err = (struct ids_error)IDS_ERROR_INIT;
    return ids_hlo_module_read(held.at, held.length, parts, &graph, &err);
}

static struct pb assignment_of_three(void) {
    struct pb assignment = {0}, allocation = {0}, assigned = {0};
    add_buffer(&assignment, 1, 100, 7);
    add_buffer(&assignment, 2, 40, 0);
    add_buffer(&assignment, 3, 60, 7);
    pb_int(&allocation, 2, 128); /* index 0 */
    pb_int(&allocation, 5, 1);
    pb_int(&allocation, 6, 3);
    pb_int(&assigned, 1, 1);
    pb_message(&allocation, 9, assigned);
    pb_message(&assignment, 3, allocation);
    allocation = (struct pb){0};
    pb_int(&allocation, 1, 1);
    pb_int(&allocation, 2, 200);
    pb_int(&allocation, 7, 1);
    pb_int(&allocation, 8, 5);
    for (int id = 2; id <= 4; id++) { /* 4 is none */
        assigned = (struct pb){0};
        pb_int(&assigned, 1, id);
        pb_int(&assigned, 2, 64 * id);
        pb_message(&allocation, 9, assigned);
    }
    pb_message(&assignment, 3, allocation);
    allocation = (struct pb){0};
    pb_int(&allocation, 1, 2);
    pb_int(&allocation, 2, 4);
    pb_int(&allocation, 3, 1);
    pb_int(&allocation, 11, 1);
    pb_int(&allocation, 12, 1);
    pb_message(&assignment, 3, allocation);
    return assignment;
}

START_TEST(allocations) {
    ck_assert_int_eq(read_buffers(assignment_of_three(), IDS_HLO_ALL), 0);
    const struct ids_hlo_buffers *buffers = graph.buffers;
    ck_assert_uint_eq(buffers->buffer_count, 3);
    ck_assert_int_eq(buffers->buffers[0].instruction_id, 7);
    ck_assert_int_eq(buffers->buffers[1].instruction_id, -1);
    ck_assert_int_eq(buffers->buffers[2].color, 1);
    ck_assert_uint_eq(buffers->buffers[0].allocation, 0);
    ck_assert_uint_eq(buffers->buffers[2].allocation, 1);
    ck_assert_int_eq(buffers->buffers[2].offset, 192);
    ck_assert_uint_eq(buffers->allocations[1].buffer_count, 2);
    ck_assert_uint_eq(buffers->allocation_count, 3);
    const struct ids_hlo_allocation *at = buffers->allocations;
    ck_assert(at[0].parameter == 3 && at[0].buffer_count == 1 && !at[0].is_output && at[0].index == 0);
    ck_assert(at[1].parameter == -1 && at[1].is_output && at[1].color == 5 && at[1].size == 200);
    ck_assert(at[2].is_thread_local && at[2].is_tuple && at[2].is_constant);
    ck_assert_int_eq(ids_hlo_allocated_bytes(buffers), 328); /* without the thread-local 4 */
    ids_hlo_module_done(&graph);
    ck_assert_int_eq(read_buffers(assignment_of_three(), 0), 0);
    ck_assert_ptr_null(graph.buffers); /* nobody asked */
    end();
}
END_TEST

/* 1 is there (100), 3 comes (160, the peak), 2 shares the memory of 1, which is taken until both are gone. */
START_TEST(peak_of_a_heap) {
    struct pb assignment = assignment_of_three(), heap = {0};
    add_event(&heap, 0, 1, "a", 0);
    add_event(&heap, 0, 3, "b", 0);
    add_event(&heap, 2, 2, "c", 1);
    add_event(&heap, 1, 1, "d", 0);
    add_event(&heap, 1, 3, "e", 0);  /* 100 left */
    add_event(&heap, 0, 3, "f", 0);  /* 160 again: the first peak stays */
    add_event(&heap, 1, 2, "g", 0);  /* 60 left */
    add_event(&heap, 1, 2, "g", 0);  /* freed already */
    add_event(&heap, 0, 99, "i", 0); /* no such buffer */
    add_event(&heap, 77, 1, "j", 0); /* no such event */
    pb_int(&heap, 3, 8);
    pb_message(&assignment, 4, heap);
    heap = (struct pb){0};
    add_event(&heap, 0, 3, "y", 0);
    add_event(&heap, 1, 3, "y", 0);
    add_event(&heap, 2, 2, "z", 3); /* as XLA writes it: what is shared with was freed just before */
    add_event(&heap, 0, 1, "w", 0); /* 160 */
    add_event(&heap, 1, 2, "w", 0);
    add_event(&heap, 0, 3, "v", 0);
    pb_message(&assignment, 4, heap);
    ck_assert_int_eq(read_buffers(assignment, IDS_HLO_BUFFERS), 0);
    const struct ids_hlo_heap *first = &graph.buffers->heaps[0], *second = &graph.buffers->heaps[1];
    ck_assert_int_eq(first->peak_bytes, 160);
    ck_assert(ids_text_is(first->peak, "b"));
    ck_assert_uint_eq(first->allocation, 0); /* buffer 1 lies there, whatever the number 8 meant */
    ck_assert_uint_eq(first->event_count, 10);
    ck_assert_uint_eq(first->unknown_count, 3);
    ck_assert_int_eq(second->peak_bytes, 160); /* each heap begins empty */
    ck_assert(ids_text_is(second->peak, "w"));
    ck_assert_uint_eq(second->allocation, 1);
    end();
}
END_TEST

START_TEST(damaged_buffers) {
    struct pb assignment = {0};
    pb_bytes(&assignment, 1, "\x0a\x7f", 2);
    ck_assert_int_eq(read_buffers(assignment, IDS_HLO_ALL), IDS_CORRUPT);
    ck_assert_str_eq(err.text, "the buffer assignment of a program is malformed");
    pb_free(&held);
}
END_TEST

/* ---- hostile ---- */

/* Two computations that call each other, and one that calls itself. */
START_TEST(calls_in_circles) {
    struct pb all = module();
    for (int id = 1; id <= 3; id++) {
        struct pb one = computation("c", id), call = instruction("call", "call", id);
        PACKED(&call, 38, id == 1 ? 2 : id == 2 ? 1 : 3);
        PACKED(&call, 36, id); /* and its own operand */
        pb_message(&one, 2, call);
        pb_message(&all, 3, one);
    }
    read_all(all);
    ck_assert_uint_eq(graph.called[0], 1);
    ck_assert_uint_eq(graph.called[1], 0);
    ck_assert_uint_eq(graph.called[2], 2);
    ck_assert_uint_eq(graph.operands[1], 1);
    for (int i = 0; i < 3; i++) ck_assert_uint_ne(graph.instructions[i].fingerprint, 0);
    end();
}
END_TEST

START_TEST(ids_that_repeat_or_lead_nowhere) {
    struct pb all = module(), entry = computation("main", 1), user = instruction("user", "add", 7);
    PACKED(&user, 36, 7, 99, 1 << 30);
    PACKED(&user, 38, 99);
    pb_message(&entry, 2, instruction("first", "add", 7));
    pb_message(&entry, 2, user);
    pb_message(&all, 3, entry);
    pb_message(&all, 3, computation("again", 1));
    read_all(all);
    ck_assert_uint_eq(graph.operand_count, 3);
    ck_assert_uint_eq(graph.operands[0], 0); /* the first that has the id */
    ck_assert_uint_eq(graph.operands[1], IDS_HLO_NONE);
    ck_assert_uint_eq(graph.operands[2], IDS_HLO_NONE);
    ck_assert_uint_eq(graph.called[0], IDS_HLO_NONE);
    end();
}
END_TEST

/* Every way to cut a program of all parts is an error or a smaller program. */
START_TEST(cut_anywhere) {
    struct pb assignment = assignment_of_three(), heap = {0}, proto = {0};
    add_event(&heap, 0, 1, "a", 0);
    pb_message(&assignment, 4, heap);
    pb_message(&proto, 1, loop_with("{\"known_trip_count\":{\"n\":\"4\"}}"));
    pb_message(&proto, 3, assignment);
    for (size_t length = 0; length < proto.length; length++) {
        uint8_t *copy = malloc(length ? length : 1);
        ck_assert_ptr_nonnull(copy);
        if (length) memcpy(copy, proto.at, length);
        err = (struct ids_error)IDS_ERROR_INIT;
        int code = ids_hlo_module_read(copy, length, IDS_HLO_ALL, &graph, &err);
        ck_assert(code == 0 || (code == IDS_CORRUPT && err.text[0]));
        if (!code) ids_hlo_module_done(&graph);
        free(copy);
    }
    pb_free(&proto);
}
END_TEST

/* `count` copies of one instruction, without the quadratic cost of appending to a growing message. */
static struct pb many(size_t count) {
    struct pb all = module(), entry = computation("main", 1), one = {0};
    pb_message(&one, 2, instruction("x", "add", 1));
    entry.at = realloc(entry.at, entry.length + count * one.length);
    ck_assert_ptr_nonnull(entry.at);
    for (size_t i = 0; i < count; i++) memcpy(entry.at + entry.length + i * one.length, one.at, one.length);
    entry.length += count * one.length;
    pb_free(&one);
    pb_message(&all, 3, entry);
    return all;
}

START_TEST(a_million_instructions) {
    IDS_NOT_UNDER_VALGRIND();
    read_all(many(1000000));
    ck_assert_uint_eq(graph.instruction_count, 1000000);
    ck_assert_uint_eq(graph.computations[0].instructions.count, 1000000);
    end();
}
END_TEST

static char told[64];
static int no_instruction(struct ids_sink *sink, const struct ids_instruction_info *info, struct ids_error *unused) {
    (void)sink, (void)info, (void)unused;
    return IDS_USAGE;
}
static int take_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *unused) {
    (void)sink, (void)unused;
    snprintf(told, sizeof told, "%s %.40s", diag->id, diag->text);
    return 0;
}

/* More than there is room for is refused, and a sink is told; the profile stands without it. */
START_TEST(too_many_instructions) {
    IDS_NOT_UNDER_VALGRIND();
    static const struct ids_sink_ops ops = {.hlo = no_instruction, .diag = take_diag};
    struct ids_strings strings = {0};
    struct ids_sink sink = {.ops = &ops, .strings = &strings};
    ck_assert_int_eq(read_parts(many(IDS_HLO_INSTRUCTIONS_LIMIT + 1), 0), IDS_LIMIT);
    ck_assert_str_eq(err.text, "a program of more than 2097152 instructions");
    ck_assert_int_eq(ids_hlo_read(held.at, held.length, 1, &sink, &err), 0);
    ck_assert_str_eq(told, "hlo.too_large a program of more than 2097152 instructi");
    ids_strings_done(&strings);
    pb_free(&held);
}
END_TEST

/* 16 M dimensions would be 128 MB. */
START_TEST(too_many_numbers) {
    struct pb shape = {0}, dimensions = {0};
    dimensions.length = IDS_HLO_NUMBERS_LIMIT + 1;
    dimensions.at = calloc(1, dimensions.length);
    ck_assert_ptr_nonnull(dimensions.at);
    pb_int(&shape, 2, F32);
    pb_message(&shape, 3, dimensions);
    ck_assert_int_eq(read_parts(holding(shape), 0), IDS_LIMIT);
    ck_assert_str_eq(err.text, "a program of more than 16777216 dimensions");
    pb_free(&held);
}
END_TEST

IDS_RUN_SUITE("hlo_graph", calls_and_roots, trip_counts, layouts, tuples, equal_shapes_are_read_once, frames,
              allocations, peak_of_a_heap, damaged_buffers, calls_in_circles, ids_that_repeat_or_lead_nowhere,
              cut_anywhere, a_million_instructions, too_many_instructions, too_many_numbers)
