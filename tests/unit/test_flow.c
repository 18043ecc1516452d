/* What an execution of a program runs, in order (lib/hlo/flow.h), out of the schedule in its proto; and which kernels
 * are of which instruction (lib/model/flow_match.h). */
#include "formats/hlo.h"
#include "lib/hlo/flow.h"
#include "lib/model/event_kind.h"
#include "lib/model/flow_match.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

/* ---- programs ---- */

static struct ids_hlo_module graph;
static struct ids_hlo_flow *flow;
static struct ids_error err;
static struct pb program, schedule, held;

static void packed(struct pb *to, unsigned field, const int *numbers) {
    struct pb inside = {0};
    for (; *numbers; numbers++) pb_varint(&inside, (uint64_t)*numbers);
    pb_message(to, field, inside);
}
#define PACKED(to, field, ...) packed((to), (field), (int[]){__VA_ARGS__, 0})

static struct pb instruction(const char *name, const char *opcode, int id) {
    struct pb out = {0};
    pb_text(&out, 1, name);
    pb_text(&out, 2, opcode);
    pb_int(&out, 35, id);
    return out;
}
#define ADD(computation, name, opcode, id) pb_message(&(computation), 2, instruction((name), (opcode), (id)))

static void order_of(int computation, const int *ids) {
    struct pb entry = {0}, sequence = {0};
    packed(&sequence, 1, ids);
    pb_int(&entry, 1, computation);
    pb_message(&entry, 2, sequence);
    pb_message(&schedule, 1, entry);
}
#define ORDER(computation, ...) order_of((computation), (int[]){__VA_ARGS__, 0})

static void begin_program(void) {
    program = schedule = (struct pb){0};
    pb_text(&program, 1, "jit_f");
}

static void end_computation(struct pb computation, const char *name, int id) {
    pb_text(&computation, 1, name);
    pb_int(&computation, 5, id);
    pb_message(&program, 3, computation);
}

/* The schedule stands in front of the computations, or behind them. */
static void read_program(int entry) {
    struct pb proto = {0};
    pb_int(&program, 6, entry);
    pb_message(&program, 7, schedule);
    pb_message(&proto, 1, program);
    held = proto;
    err = (struct ids_error)IDS_ERROR_INIT;
    ck_assert_int_eq(ids_hlo_module_read(held.at, held.length, 0, &graph, &err), 0);
    ck_assert_int_eq(ids_hlo_flow_of(&graph, &flow), 0);
}

static void end_program(void) {
    free(flow);
    ids_hlo_module_done(&graph);
    pb_free(&held);
}

static const struct ids_hlo_flow *flow_of(const char *name) {
    for (size_t i = 0; i < graph.instruction_count; i++) {
        if (ids_text_is(graph.instructions[i].name, name)) return &flow[i];
    }
    ck_abort_msg("no instruction '%s'", name);
}

START_TEST(in_the_order_of_the_schedule) {
    struct pb entry = {0}, product = instruction("custom-call.1", "custom-call", 2),
              cudnn = instruction("fusion.9", "fusion", 6);
    pb_text(&product, 28, "__cublas$lt$matmul");
    pb_text(&cudnn, 11, "kCustom");
    pb_text(&cudnn, 43, "{\"fusion_backend_config\":{\"kind\":\"__cudnn$fusion\"}}");
    struct pb triton = instruction("gemm_fusion", "fusion", 7);
    pb_text(&triton, 11, "kCustom");
    pb_text(&triton, 43, "{\"fusion_backend_config\":{\"kind\":\"__triton_gemm\"}}");
    begin_program();
    ADD(entry, "p", "parameter", 1);
    ADD(entry, "copy.1", "copy", 4);
    ADD(entry, "fusion.1", "fusion", 3);
    pb_message(&entry, 2, product);
    ADD(entry, "sort.1", "sort", 5);
    pb_message(&entry, 2, cudnn);
    pb_message(&entry, 2, triton);
    end_computation(entry, "main", 1);
    ORDER(1, 1, 2, 3, 4, 5, 6, 7);
    read_program(1);
    static const struct {
        const char *name;
        uint32_t order;
        enum ids_hlo_runs runs;
        int optional;
    } table[] = {{"p", 0, IDS_HLO_RUNS_NOTHING, 0},         {"custom-call.1", 1, IDS_HLO_RUNS_LIBRARY, 0},
                 {"fusion.1", 2, IDS_HLO_RUNS_KERNEL, 0},   {"copy.1", 3, IDS_HLO_RUNS_COPY, 1},
                 {"sort.1", 4, IDS_HLO_RUNS_ANY, 1},        {"fusion.9", 5, IDS_HLO_RUNS_LIBRARY, 0},
                 {"gemm_fusion", 6, IDS_HLO_RUNS_KERNEL, 0}};
    ck_assert_ptr_nonnull(flow);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct ids_hlo_flow *one = flow_of(table[i].name);
        ck_assert_msg(one->order == table[i].order, "%s: %u", table[i].name, one->order);
        ck_assert_int_eq(one->runs, table[i].runs);
        ck_assert_int_eq(one->optional, table[i].optional);
    }
    end_program();
}
END_TEST

/* main: fusion.1, while (cond: fusion.2; body: fusion.3), conditional (fusion.4 or nothing), fusion.5. */
START_TEST(what_a_loop_and_a_branch_run) {
    struct pb condition = {0}, body = {0}, then = {0}, otherwise = {0}, entry = {0};
    struct pb loop = instruction("while.1", "while", 51), branch = instruction("conditional.1", "conditional", 52);
    begin_program();
    ADD(body, "fusion.3", "fusion", 11);
    ADD(condition, "fusion.2", "fusion", 21);
    ADD(then, "fusion.4", "fusion", 31);
    ADD(otherwise, "p", "parameter", 41);
    PACKED(&loop, 38, 1, 2);
    PACKED(&branch, 38, 3, 4);
    ADD(entry, "fusion.1", "fusion", 50);
    pb_message(&entry, 2, loop);
    pb_message(&entry, 2, branch);
    ADD(entry, "fusion.5", "fusion", 53);
    end_computation(body, "body", 1);
    end_computation(condition, "cond", 2);
    end_computation(then, "then", 3);
    end_computation(otherwise, "else", 4);
    end_computation(entry, "main", 5);
    ORDER(1, 11);
    ORDER(2, 21);
    ORDER(3, 31);
    ORDER(4, 41);
    ORDER(5, 50, 51, 52, 53);
    read_program(5);
    ck_assert_ptr_nonnull(flow);
    ck_assert_uint_eq(flow_of("fusion.1")->order, 1);
    ck_assert_uint_eq(flow_of("fusion.2")->order, 2); /* the condition comes first */
    ck_assert_uint_eq(flow_of("fusion.2")->optional, 1);
    ck_assert_uint_eq(flow_of("while.1")->order, 3);
    ck_assert_uint_eq(flow_of("while.1")->begins, 2);
    ck_assert_uint_eq(flow_of("while.1")->ends, 5);
    ck_assert_uint_eq(flow_of("fusion.3")->order, 4);
    ck_assert_uint_eq(flow_of("fusion.3")->optional, 0);
    ck_assert_uint_eq(flow_of("fusion.4")->optional, 1);
    ck_assert_uint_eq(flow_of("fusion.5")->order, 7);
    ck_assert_uint_eq(flow_of("fusion.5")->optional, 0);
    end_program();
}
END_TEST

START_TEST(no_order_is_not_made_up) {
    static const int orders[][4] = {{0}, {1, 0}, {1, 1, 0}, {1, 2, 9, 0}, {2, 1, 2, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct pb entry = {0};
        begin_program();
        ADD(entry, "fusion.1", "fusion", 1);
        ADD(entry, "fusion.2", "fusion", 2);
        end_computation(entry, "main", 1);
        if (orders[i][0]) order_of(1, orders[i]);
        read_program(1);
        ck_assert_msg(!flow, "order %zu", i);
        end_program();
    }
    struct pb called = {0}, entry = {0}; /* two calls of one computation: an instruction has one number */
    begin_program();
    ADD(called, "fusion.1", "fusion", 1);
    for (int i = 0; i < 2; i++) {
        struct pb call = instruction(i ? "call.2" : "call.1", "call", 11 + i);
        PACKED(&call, 38, 1);
        pb_message(&entry, 2, call);
    }
    end_computation(called, "f", 1);
    end_computation(entry, "main", 2);
    ORDER(1, 1);
    ORDER(2, 11, 12);
    read_program(2);
    ck_assert_ptr_null(flow);
    end_program();
}
END_TEST

/* ---- kernels ---- */

enum {
    GEMM = 90,
    MEMSET = 91,
    MEMCPY = 92
}; /* names that no instruction has; of an instruction: 10 and its place from 1 */

static struct ids_flow items_of(const struct ids_flow_item *from, size_t count) {
    struct ids_flow made = {.items = calloc(count, sizeof *made.items), .count = count};
    for (size_t i = 0; i < count; i++) {
        made.items[i] = from[i];
        made.items[i].kernel = made.items[i].name = 11 + (uint32_t)i;
    }
    ck_assert_int_eq(ids_flow_finish(&made), 0);
    return made;
}

static void done(struct ids_flow *made) {
    ids_flow_done(made);
    free(made->items);
}

/* Holds `names` (up to 0) against the items: the digits of the items that they are of, 0 where that is not determined;
 * "-" where they do not fit. */
static const char *match(const struct ids_flow *made, const int *names) {
    static char found[64];
    struct ids_flow_work work[64];
    uint32_t items[64];
    size_t count = 0;
    for (; names[count]; count++) {
        work[count] = (struct ids_flow_work){.kernel = (uint32_t)names[count],
                                             .kind = names[count] == MEMSET   ? IDS_KIND_SET
                                                     : names[count] == MEMCPY ? IDS_KIND_COPY
                                                                              : IDS_KIND_KERNEL};
    }
    int fits = ids_flow_match(made, work, count, items);
    ck_assert_int_ge(fits, 0);
    if (!fits) return "-";
    for (size_t i = 0; i < count; i++) found[i] = (char)('0' + items[i]);
    found[count] = '\0';
    return found;
}
#define MATCH(made, ...) match((made), (int[]){__VA_ARGS__, 0})

#define KERNEL(print) \
    { .runs = IDS_HLO_RUNS_KERNEL, .fingerprint = (print) }
#define LIBRARY \
    { .runs = IDS_HLO_RUNS_LIBRARY, .fingerprint = 99 }
#define ANY(kind) \
    { .runs = IDS_HLO_RUNS_##kind, .optional = 1 }

START_TEST(kernels_made_for_another_instruction) {
    const struct ids_flow_item items[] = {KERNEL(1), KERNEL(2), KERNEL(1), KERNEL(3)};
    struct ids_flow made = items_of(items, 4);
    ck_assert_str_eq(MATCH(&made, 11, 12, 11, 14), "1234"); /* the third has the first one's kernel */
    ck_assert_str_eq(MATCH(&made, 11, 12, 13, 14), "1234");
    ck_assert_str_eq(MATCH(&made, 11, 12, 14), "-");     /* one is missing */
    ck_assert_str_eq(MATCH(&made, 11, 12, 12, 14), "-"); /* that of another computation */
    ck_assert_str_eq(MATCH(&made, 11, 12, 11, 14, 14), "-");
    ck_assert_str_eq(MATCH(&made, 11, 12, 11, GEMM), "-"); /* no library runs a fusion */
    ck_assert_uint_eq(ids_flow_item_called(&made, 11), 0); /* of either */
    ck_assert_uint_eq(ids_flow_item_called(&made, 12), 2);
    ck_assert_uint_eq(ids_flow_item_called(&made, GEMM), 0);
    done(&made);
}
END_TEST

START_TEST(kernels_of_a_library) {
    const struct ids_flow_item items[] = {LIBRARY, KERNEL(1), LIBRARY, LIBRARY, KERNEL(2)};
    struct ids_flow made = items_of(items, 5);
    ck_assert_str_eq(MATCH(&made, GEMM, 12, GEMM, GEMM, 15), "12345");
    ck_assert_str_eq(MATCH(&made, MEMSET, GEMM, 12, MEMSET, GEMM, MEMSET, GEMM, 15),
                     "11233445");                                                    /* set for what follows */
    ck_assert_str_eq(MATCH(&made, GEMM, GEMM, 12, GEMM, GEMM, GEMM, 15), "1123045"); /* the middle one is of either */
    ck_assert_str_eq(MATCH(&made, GEMM, 12, GEMM, 15), "-");
    ck_assert_str_eq(MATCH(&made, GEMM, MEMSET, 12, GEMM, GEMM, 15), "122345");
    ck_assert_str_eq(MATCH(&made, GEMM, 12, GEMM, GEMM, 15, MEMSET), "-"); /* for nothing */
    ck_assert_str_eq(MATCH(&made, GEMM, 12, GEMM, MEMCPY, GEMM, 15), "-"); /* a library copies nothing */
    done(&made);
}
END_TEST

START_TEST(copies) {
    const struct ids_flow_item items[] = {KERNEL(1), ANY(COPY), KERNEL(2), ANY(ANY), KERNEL(3)};
    struct ids_flow made = items_of(items, 5);
    ck_assert_str_eq(MATCH(&made, 11, 13, 15), "135");
    ck_assert_str_eq(MATCH(&made, 11, MEMCPY, 13, 15), "1235"); /* a fusion that copies has no kernel */
    ck_assert_str_eq(MATCH(&made, 11, 12, 13, 15), "1235");
    ck_assert_str_eq(MATCH(&made, MEMCPY, 13, 15), "135");
    ck_assert_str_eq(MATCH(&made, 11, GEMM, 13, 15), "-"); /* a copy calls no library */
    ck_assert_str_eq(MATCH(&made, 11, 13, GEMM, MEMCPY, GEMM, 15), "134445");
    ck_assert_str_eq(MATCH(&made, 11, 13, MEMSET, 15), "1305"); /* of the fourth, or for the fifth */
    done(&made);
}
END_TEST

/* 1, loop of (2 | 3: the loop | 4, loop of (5: the loop | 6)), 7. Both loops end together. */
START_TEST(rounds_of_a_loop) {
    const struct ids_flow_item items[] = {
        KERNEL(1),
        {.runs = IDS_HLO_RUNS_KERNEL, .fingerprint = 2, .optional = 1},
        {.runs = IDS_HLO_RUNS_LOOP, .optional = 1, .begins = 1, .ends = 6},
        KERNEL(4),
        {.runs = IDS_HLO_RUNS_LOOP, .optional = 1, .begins = 4, .ends = 6},
        KERNEL(6),
        KERNEL(7),
    };
    struct ids_flow made = items_of(items, 7);
    ck_assert_str_eq(MATCH(&made, 11, 17), "17"); /* no round */
    ck_assert_str_eq(MATCH(&made, 11, 12, 14, 16, 16, 12, 14, 12, 17), "124662427");
    ck_assert_str_eq(MATCH(&made, 11, 14, 16, 14, 16, 17), "146467"); /* nobody asks whether there is another round */
    ck_assert_str_eq(MATCH(&made, 11, 12, MEMCPY, 14, 12, MEMCPY, 17), "1234237");
    ck_assert_str_eq(MATCH(&made, 11, 16, 17), "-");     /* not without the outer round */
    ck_assert_str_eq(MATCH(&made, 11, 12, 14, 11), "-"); /* the first one is in no loop */
    done(&made);
}
END_TEST

START_TEST(what_the_file_says_holds) {
    const struct ids_flow_item items[] = {LIBRARY, LIBRARY, KERNEL(1)};
    struct ids_flow made = items_of(items, 3);
    struct ids_flow_work work[] = {
        {GEMM, 0, IDS_KIND_KERNEL}, {GEMM, 2, IDS_KIND_KERNEL}, {GEMM, 0, IDS_KIND_KERNEL}, {13, 0, IDS_KIND_KERNEL}};
    uint32_t of[4];
    ck_assert_int_eq(ids_flow_match(&made, work, 4, of), 1);
    ck_assert_uint_eq(of[0], 1);
    ck_assert_uint_eq(of[2], 2);
    work[1].told = 3;
    ck_assert_int_eq(ids_flow_match(&made, work, 4, of), 0);
    done(&made);
}
END_TEST

START_TEST(names_of_kernels) {
    struct ids_strings strings = {0};
    uint32_t name = ids_flow_kernel_name(&strings, (struct ids_text){"loop_multiply-fusion.6.clone", 28});
    ck_assert_str_eq(ids_strings_z(&strings, name), "loop_multiply_fusion_6_clone");
    ids_strings_done(&strings);
}
END_TEST

IDS_RUN_SUITE("flow", in_the_order_of_the_schedule, what_a_loop_and_a_branch_run, no_order_is_not_made_up,
              kernels_made_for_another_instruction, kernels_of_a_library, copies, rounds_of_a_loop,
              what_the_file_says_holds, names_of_kernels)
