/* lib/model/collective.c: ranks from the texts of files, and nccl-tests' factors. */
#include "lib/hlo/replica_groups.h"
#include "lib/model/classify.h"
#include "lib/model/collective.h"
#include "tests/support/suite.h"

#include <string.h>

static struct ids_text text(const char *z) {
    return (struct ids_text){z, (uint32_t)strlen(z)};
}

START_TEST(group_sizes) {
    static const struct {
        const char *text;
        int64_t size;
    } table[] = {
        {"{{0,1},{2,3}}", 2},
        {"{{0,1,2,3,4,5,6,7}}", 8},
        {"[4,2]<=[2,4]T(1,0)", 2}, /* 4 groups of 2 */
        {"[1,64]<=[64]", 64},
        {"[0, 1, 2]", 3}, /* Kineto */
        {"[10]", 1},
        {"{}", 0}, /* all, and how many these are it does not say */
        {"{{}}", 0},
        {"[]", 0},
        {"", 0},
        {"[0, 1, ..., 127]", 0}, /* the writer cut it */
        {"{{0,1,2,3...", 0},
        {"[4,2", 0},
        {"[99999999999,2]<=[8]", 0},
        {"mesh['x']", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_msg(ids_replica_group_size(text(table[i].text)) == table[i].size, "'%s': %lld", table[i].text,
                      (long long)ids_replica_group_size(text(table[i].text)));
}
END_TEST

START_TEST(factors) {
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_ALL_REDUCE, 4), 1.5, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_ALL_GATHER, 4), 0.75, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_REDUCE_SCATTER, 4), 0.75, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_ALL_TO_ALL, 8), 0.875, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_GATHER, 2), 0.5, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_SCATTER, 2), 0.5, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_BROADCAST, 0), 1, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_REDUCE, 8), 1, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_SEND_RECV, 0), 1, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_PERMUTE, 0), 1, 1e-12);
    ck_assert_double_eq_tol(ids_collective_bus_factor(IDS_ALL_REDUCE, 1), 0, 1e-12); /* nothing leaves the device */
    ck_assert_double_lt(ids_collective_bus_factor(IDS_ALL_REDUCE, 0), 0);
    ck_assert_double_lt(ids_collective_bus_factor(IDS_OTHER_COLLECTIVE, 8), 0);
}
END_TEST

START_TEST(calls_and_annotations) {
    static const struct {
        const char *name;
        enum ids_collective collective;
    } calls[] = {
        {"allreduce", IDS_ALL_REDUCE},
        {"allreduce_coalesced", IDS_ALL_REDUCE},
        {"all_reduce_barrier", IDS_ALL_REDUCE},
        {"barrier", IDS_ALL_REDUCE},
        {"_allgather_base", IDS_ALL_GATHER},
        {"_reduce_scatter_base", IDS_REDUCE_SCATTER},
        {"reduce_scatter_tensor_coalesced", IDS_REDUCE_SCATTER},
        {"all_to_allv", IDS_ALL_TO_ALL},
        {"alltoall_base", IDS_ALL_TO_ALL},
        {"broadcast", IDS_BROADCAST},
        {"reduce", IDS_REDUCE},
        {"gather", IDS_GATHER},
        {"scatter", IDS_SCATTER},
        {"send", IDS_SEND_RECV},
        {"wait", IDS_NO_COLLECTIVE},
        {"", IDS_NO_COLLECTIVE},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        ck_assert_msg(ids_collective_of_call(text(calls[i].name)) == calls[i].collective, "'%s'", calls[i].name);
    ck_assert_int_eq(ids_collective_of_annotation(text("nccl:all_reduce")), IDS_ALL_REDUCE);
    ck_assert_int_eq(ids_collective_of_annotation(text("rccl:_all_gather_base")), IDS_ALL_GATHER);
    ck_assert_int_eq(ids_collective_of_annotation(text("nccl:coalesced")), IDS_NO_COLLECTIVE);
    ck_assert_int_eq(ids_collective_of_annotation(text("all_reduce")),
                     IDS_NO_COLLECTIVE); /* any region may be called so */
    ck_assert_int_eq(ids_collective_of_annotation(text("step:all_reduce")), IDS_NO_COLLECTIVE);
    ck_assert_int_eq(ids_collective_of_annotation(text(":")), IDS_NO_COLLECTIVE);
}
END_TEST

IDS_RUN_SUITE("collective", group_sizes, factors, calls_and_annotations)
