/* How many collectives the interposer finds in a program. */
#include "collectors/pjrt/collectives.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

/* A module of one computation with an instruction of each opcode. */
static struct pb module_of(const char *const *opcodes) {
    struct pb module = {0}, computation = {0};
    for (; *opcodes; opcodes++) {
        struct pb instruction = {0};
        pb_text(&instruction, 1, "all-reduce.1");
        pb_text(&instruction, 2, *opcodes);
        pb_bytes(&computation, 2, instruction.at, instruction.length);
        pb_free(&instruction);
    }
    pb_text(&module, 1, "all-reduce");
    pb_bytes(&module, 3, computation.at, computation.length);
    pb_bytes(&module, 3, computation.at, computation.length); /* a loop's body */
    pb_free(&computation);
    return module;
}

START_TEST(collectives_are_counted) {
    static const char *const some[] = {"all-reduce",
                                       "all-gather-start",
                                       "all-gather-done",
                                       "reduce-scatter",
                                       "all-to-all",
                                       "ragged-all-to-all",
                                       "collective-permute-start",
                                       "collective-permute-done",
                                       "collective-broadcast",
                                       NULL};
    static const char *const none[] = {
        "reduce", "dot",   "send",        "recv-done", "async-start", "all-reduce-done", "all-reduce-s",
        "-start", "while", "all-reduce2", "",          NULL};
    struct pb module = module_of(some);
    ck_assert_int_eq(ids_collectives_in(module.at, module.length), 14);
    for (size_t size = 0; size < module.length; size++)
        ck_assert_int_le(ids_collectives_in(module.at, size), 14); /* nothing is read behind a cut */
    ck_assert_int_eq(ids_collectives_in(module.at, module.length - 1), -1);
    pb_free(&module);
    module = module_of(none);
    ck_assert_int_eq(ids_collectives_in(module.at, module.length), 0);
    pb_free(&module);
    ck_assert_int_eq(ids_collectives_in("", 0), 0);
}
END_TEST

IDS_RUN_SUITE("pjrt_collectives", collectives_are_counted)
