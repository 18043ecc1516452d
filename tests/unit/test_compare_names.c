/* lib/compare/names.c: what names of ops and kernels say. */
#include "lib/compare/names.h"
#include "lib/hlo/family.h"
#include "lib/hlo/scope.h"
#include "tests/support/suite.h"

#include <string.h>

START_TEST(bases) {
    static const char *const table[][2] = {
        {"fusion.3", "fusion"},
        {"fusion.3.1", "fusion"},
        {"loop_add_fusion_12", "loop_add_fusion"},
        {"dot", "dot"},
        {"a2", "a2"},
        {"x.2y", "x.2y"},
        {".5", ".5"},
        {"7", "7"},
        {"", ""},
        {"k_1_2", "k"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_uint_eq(ids_base_name(table[i][0]), strlen(table[i][1]));
}
END_TEST

START_TEST(scopes) {
    static const char *const table[][2] = {
        {"jit(train_step)/transpose(jvp(layer1))/dot_general", "layer1"},
        {"jit(train_step)/jvp(layer0)/tanh", "layer0"},
        {"jit(f)/while/body/closed_call/attn/add", "attn"},
        {"jit(step_fun)/jit(_jax_attn_func)/shard_map/jit(ragged_paged_attention)/slice:",
         "_jax_attn_func/ragged_paged_attention"},
        {"jit(f)/rematted_computation/block/mlp/add", "block/mlp"},
        {"jit(f)/add", ""},
        {"add", ""},
        {"", ""},
        {"jit(f)/a(b/c)/d", "b/c"},
        {"jit(f)/(/)/x", ""},
    };
    char scope[IDS_SCOPE_BYTES];
    for (size_t i = 0; i < sizeof table / sizeof *table - 1; i++) {
        ids_scope_of(table[i][0], scope);
        ck_assert_msg(!strcmp(scope, table[i][1]), "'%s' gave '%s'", table[i][0], scope);
    }
    char longest[4096];
    memset(longest, '/', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < sizeof longest - 1; i += 3) longest[i] = 'x';
    ids_scope_of(longest, scope);
    ck_assert_uint_lt(strlen(scope), sizeof scope);
}
END_TEST

START_TEST(passes) {
    ck_assert_str_eq(ids_pass_of("jit(f)/transpose(jvp(layer1))/dot_general"), "backward");
    ck_assert_str_eq(ids_pass_of("jit(f)/jvp(layer1)/dot_general"), "forward");
    ck_assert_str_eq(ids_pass_of("jit(f)/custom_vjp_call/act/tanh"), "custom vjp");
    ck_assert_str_eq(ids_pass_of("jit(f)/add"), "");
}
END_TEST

START_TEST(families) {
    ck_assert_str_eq(ids_family_of("ncclDevKernel_AllReduce_Sum_f32", "", "collective"), "collective");
    ck_assert_str_eq(ids_family_of("volta_sgemm_128x128_tn", "", "compute"), "matrix product");
    ck_assert_str_eq(ids_family_of("psum_invariant.7", "all-reduce", "collective"), "collective");
    ck_assert_str_eq(ids_family_of("dot.1", "dot", "compute"), "matrix product");
    ck_assert_str_eq(ids_family_of("loop_add_fusion", "fusion", "compute"), "fusion");
    ck_assert_str_eq(ids_family_of("k", "", "compute"), "other");
    ck_assert_str_eq(ids_family_of("k", "custom-call", "compute"), "custom call");
}
END_TEST

IDS_RUN_SUITE("compare names", bases, scopes, passes, families)
