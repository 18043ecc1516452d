/* lib/hlo/base_name.c: what names of ops and kernels say. */
#include "lib/hlo/base_name.h"
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
        {"jit(f)/jit(main)/layer/add", "layer"},
        {"jit(f)/transpose(jvp(a))/b/jvp(a)/b/checkpoint/attn/mul", "a/b/attn"},
        {"jit(f)/transpose(jvp(a))/jvp(a)/checkpoint/rematted_computation/attn/mul", "a/attn"},
        {"jit(f)/jvp(a)/mul;jit(f)/jvp(b)/add", "a"},
        {"jit(f)/shard_map/(psum_invariant:transpose(jvp(layer2))/mlp/psum_invariant)", "layer2/mlp"},
        {"jit(f)/jvp(bsd,de->bse)/dot_general", "bsd,de->bse"},
        {"jit(f)/attention(heads=8)/add", "attention(heads=8)"},
        {"jit(f)/cond/branch_1_fun/layer/add", "layer"},
        {"jit(f)/cond/body/add", "cond/body"},
        {"jit(f)/while/cond/lt", ""},
        {"jit(f)/jvp(vmap())/sin", ""},
        {"params['a/b'].c[0]", ""},
        {"gradient_tape/model/dense/MatMul", "model/dense"},
        {"jit(f)/(/)/x", "(/)"},
    };
    char scope[IDS_SCOPE_BYTES];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
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
    ck_assert_str_eq(ids_pass_of("jit(f)/transpose(jvp(a))/jvp(a)/checkpoint/rematted_computation/mul"), "recomputed");
    ck_assert_str_eq(ids_pass_of("MLP_0/CheckpointFunctionBackward/aten::addmm"), "recomputed");
    ck_assert_str_eq(ids_pass_of("MLP_0/CheckpointFunctionBackward"), "backward");
    ck_assert_str_eq(ids_pass_of("MLP_0/torch::checkpoint/aten::addmm"), "recomputed");
    ck_assert_str_eq(ids_pass_of("gradient_tape/model/dense/MatMul"), "backward");
    ck_assert_str_eq(ids_pass_of("MLP_0/Linear_1/AddmmBackward0/aten::mm"), "backward");
    ck_assert_str_eq(ids_pass_of("torch::autograd::AccumulateGrad/aten::mul"), "backward");
    ck_assert_str_eq(ids_pass_of("MLP_0/BackwardLooking_1/aten::mm"), "");
}
END_TEST

START_TEST(families) {
    static const struct {
        const char *name, *category, *event_class, *family;
    } table[] = {
        {"ncclDevKernel_AllReduce_Sum_f32", "", "collective", "collective"},
        {"ncclDevKernel_AllReduce_Sum_f32", "", "compute", "collective"},
        {"psum_invariant.7", "all-reduce", "collective", "collective"},
        {"all-gather-start.1", "all-gather-start", "compute", "collective"},
        {"volta_sgemm_128x128_tn", "", "compute", "matrix product"},
        {"Cijk_Alik_Bljk_SB_MT128x64", "", "compute", "matrix product"},
        {"void cutlass::Kernel2<cutlass_80_tensorop>", "", "compute", "matrix product"},
        {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", "", "compute", "matrix product"},
        {"triton_mm_7", "", "compute", "matrix product"},
        {"cublasLt::splitKreduce_kernel", "", "compute", "matrix product"},
        {"dot.1", "dot", "compute", "matrix product"},
        {"fusion.12", "convolution fusion", "compute", "matrix product"},
        {"convolution.3", "convolution", "compute", "convolution"},
        {"sm80_xmma_fprop_implicit_gemm_bf16", "", "compute", "convolution"},
        {"loop_convert_fusion", "fusion", "compute", "conversion"},
        {"convert.4", "convert", "compute", "conversion"},
        {"loop_add_fusion", "fusion", "compute", "fusion"},
        {"flash_fwd_kernel", "", "compute", "attention"},
        {"vectorized_layer_norm_kernel", "", "compute", "normalization"},
        {"MemcpyD2D", "", "compute", "copy"},
        {"recopying", "", "compute", "other"},
        {"dotted", "", "compute", "other"},
        {"k", "", "compute", "other"},
        {"k", "custom-call", "compute", "custom call"},
        {"fbgemm::split_embedding", "", "compute", "other"},
        {"fbgemm_gpu::f8f8bf16_gemm", "", "compute", "matrix product"},
        {"__cublas$gemm", "custom-call", "compute", "matrix product"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *family = ids_family_of(table[i].name, table[i].category, table[i].event_class);
        ck_assert_msg(!strcmp(family, table[i].family), "'%s' is %s, not %s", table[i].name, family, table[i].family);
    }
}
END_TEST

IDS_RUN_SUITE("compare names", bases, scopes, passes, families)
