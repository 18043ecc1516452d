/* lib/model/facts.c: what an event's stats say, also where a writer gave numbers as texts. */
#include "lib/model/facts.h"
#include "lib/model/keys.h"
#include "lib/model/memory_access.h"
#include "tests/support/suite.h"

#include <string.h>

START_TEST(numbers) {
    static const struct {
        const char *text;
        int64_t number; /* -99: it is none */
    } table[] = {
        {"0", 0},
        {"42", 42},
        {"-7", -7},
        {"9223372036854775807", INT64_MAX},
        {"18446744073709551615", -1}, /* ids are 64 bits, whatever their sign */
        {"-9223372036854775808", INT64_MIN},
        {"18446744073709551616", -99},
        {"184467440737095516150", -99},
        {"", -99},
        {"-", -99},
        {"5.37GB", -99},
        {"1 ", -99},
        {"+1", -99},
    };
    struct ids_trace trace = {0};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_arg chars = {
            .type = IDS_VALUE_CHARS, .chars = table[i].text, .length = (uint32_t)strlen(table[i].text)};
        struct ids_arg text = {.type = IDS_VALUE_TEXT, .text = ids_intern_z(&trace.strings, table[i].text)};
        ck_assert_msg(ids_arg_int(&trace, &chars, -99) == table[i].number, "'%s'", table[i].text);
        ck_assert_msg(ids_arg_int(&trace, &text, -99) == table[i].number, "'%s'", table[i].text);
    }
    ck_assert_int_eq(ids_arg_int(&trace, &(struct ids_arg){.type = IDS_VALUE_REAL, .d = -2.9}, -99), -2);
    ck_assert_int_eq(ids_arg_int(&trace, &(struct ids_arg){.type = IDS_VALUE_REAL, .d = 1e300}, -99), -99);
    ck_assert_int_eq(ids_arg_int(&trace, &(struct ids_arg){.type = IDS_VALUE_REAL, .d = __builtin_nan("")}, -99), -99);
    ck_assert_int_eq(ids_arg_int(&trace, &(struct ids_arg){.type = IDS_VALUE_INT, .i = -4}, -99), -4);
    ck_assert_int_eq(ids_arg_int(&trace, &(struct ids_arg){.type = IDS_VALUE_BYTES, .chars = "7", .length = 1}, -99),
                     -99);
    ck_assert_double_eq(ids_arg_real(&trace, &(struct ids_arg){.type = IDS_VALUE_REAL, .d = 0.5}), 0.5);
    ck_assert_double_eq(ids_arg_real(&trace, &(struct ids_arg){.type = IDS_VALUE_INT, .i = -3}), -3);
    ck_assert_double_eq(ids_arg_real(&trace, &(struct ids_arg){.type = IDS_VALUE_UINT, .u = 3}), 3);
    ck_assert_double_eq(ids_arg_real(&trace, &(struct ids_arg){.type = IDS_VALUE_CHARS, .chars = "2.5", .length = 3}),
                        2.5);
    ck_assert_double_eq(ids_arg_real(&trace, &(struct ids_arg){.type = IDS_VALUE_CHARS, .chars = "3 GB", .length = 4}),
                        0);
    ids_strings_done(&trace.strings);
}
END_TEST

START_TEST(facts_of_an_event) {
    struct ids_trace trace = {0};
    ck_assert_int_eq(ids_keys_intern(&trace.strings), 0);
    const struct ids_arg args[] = {
        {.key = IDS_KEY_HLO_OP, .type = IDS_VALUE_CHARS, .chars = "dot.1xx", .length = 5},
        {.key = IDS_KEY_HLO_MODULE, .type = IDS_VALUE_TEXT, .text = IDS_KEY_NAME},
        {.key = IDS_KEY_PROGRAM_ID, .type = IDS_VALUE_UINT, .u = UINT64_MAX},
        {.key = IDS_KEY_RUN_ID, .type = IDS_VALUE_INT, .i = 0},         /* 0 is an id too */
        {.key = IDS_KEY_CORRELATION_ID, .type = IDS_VALUE_INT, .i = 0}, /* here it is none */
        {.key = IDS_KEY_PRODUCER_TYPE, .type = IDS_VALUE_INT, .i = 15},
        {.key = IDS_KEY_PRODUCER_ID, .type = IDS_VALUE_UINT, .u = 7},
        {.key = IDS_KEY_STEP_NUM, .type = IDS_VALUE_INT, .i = -1},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_CHARS, .chars = "5.37GB", .length = 6},
        {.key = IDS_KEY_OCCUPANCY_PCT, .type = IDS_VALUE_REAL, .d = 62.5},
        {.key = IDS_KEY_COUNT, .type = IDS_VALUE_INT, .i = 1}, /* of no key that is known */
    };
    struct ids_slice slice = {.args = args, .arg_count = sizeof args / sizeof *args};
    struct ids_facts facts;
    ck_assert_int_eq(ids_facts_gather(&trace, &slice, &facts), 0);
    ck_assert_str_eq(ids_strings_z(&trace.strings, facts.hlo_op), "dot.1");
    ck_assert_uint_eq(facts.hlo_module, IDS_KEY_NAME);
    ck_assert_uint_eq(facts.program_id, UINT64_MAX);
    ck_assert(ids_link_has(&facts.links, IDS_LINK_RUN_ID) && ids_link_has(&facts.links, IDS_LINK_PRODUCER) &&
              facts.has_step_num);
    ck_assert(!ids_link_correlation(&facts.links, 0) && !ids_link_has(&facts.links, IDS_LINK_CONSUMER) &&
              !facts.has_size && !facts.has_device_ordinal && !facts.in_graph);
    ck_assert_int_eq(facts.links.producer_type, 15);
    ck_assert_int_eq(facts.links.id[IDS_LINK_PRODUCER], 7);
    ck_assert_int_eq(facts.step_num, -1);
    ck_assert_double_eq_tol(facts.occupancy, 0.625, 1e-12);
    slice.arg_count = 0;
    ck_assert_int_eq(ids_facts_gather(&trace, &slice, &facts), 0);
    ck_assert(!facts.links.has && !facts.hlo_op && facts.occupancy < 0);
    ids_strings_done(&trace.strings);
}
END_TEST

/* A TPU's op reads 300 bytes of main memory (space 1) and 5 of another, and writes 7; one accesses nothing; one ends
 * early, one has more bytes than there are numbers. */
START_TEST(bytes_by_memory) {
    static const char op[] =
        "\n\x07\x08\x01\x10\x01\x18\xac\x02\n\x06\x08\x01\x10\x03\x18\x05\n\x06\x08\x02\x10\x01\x18\x07";
    static const char huge[] = "\n\x0d\x10\x01\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    ck_assert_int_eq(ids_main_memory_access(op, sizeof op - 1), 307);
    ck_assert_int_eq(ids_main_memory_access("", 0), 0);
    ck_assert_int_eq(ids_main_memory_access(op, sizeof op - 3), -1);
    ck_assert_int_eq(ids_main_memory_access(huge, sizeof huge - 1), -1);
}
END_TEST

IDS_RUN_SUITE("facts", numbers, facts_of_an_event, bytes_by_memory)
