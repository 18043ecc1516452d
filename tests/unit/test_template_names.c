/* lib/report: template_names, and how alike.h cuts what is longer than its column. */
#include "lib/report/alike.h"
#include "lib/report/template_names.h"
#include "tests/support/suite.h"

#include <string.h>

/* Kernels of PyTorch 2.11, cuBLAS and CUB, as they were recorded. */
static const struct {
    const char *name, *shown;
} table[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, float, "
     "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int, at::native::AUnaryFunctor<float, "
     "float, "
     "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul>)",
     "vectorized_elementwise_kernel<AUnaryFunctor<MulFunctor>, float>"},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<c10::BFloat16> "
     ">(at::TensorIteratorBase&, at::native::CUDAFunctor_add<c10::BFloat16> const&)::{lambda(int)#1}>(int, "
     "at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<c10::BFloat16> >(at::TensorIteratorBase&, "
     "at::native::CUDAFunctor_add<c10::BFloat16> const&)::{lambda(int)#1})",
     "elementwise_kernel<CUDAFunctor_add, BFloat16>"},
    {"void at::native::vectorized_elementwise_kernel<8, "
     "at::native::tanh_backward_kernel_cuda(at::TensorIteratorBase&)::"
     "{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16, c10::BFloat16)#1}, "
     "std::array<char*, 3ul> >(int)",
     "vectorized_elementwise_kernel<tanh_backward_kernel_cuda, BFloat16>"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
     "float>, unsigned "
     "int, float, 4, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, "
     "float, 4, 4>)",
     "reduce_kernel<MeanOps, float>"},
    {"std::enable_if<(((8)>(0)))&&a::_typeConvert<c10::BFloat16>::exists, void>::type "
     "a::fused_norm_kernel<c10::BFloat16, "
     "8>(c10::BFloat16*, long, c10::BFloat16 const*)",
     "fused_norm_kernel<BFloat16>"},
    {"void a::f<((4)<(5)), (a::B)1, a::C<float> >(int, long long, a::C<float>, char const*, unsigned int, unsigned "
     "long)",
     "f<C, float>"},
    {"_ZN5aiter16rms_quant_kernelIDF16bDF16bLi256ELi16ELb0EEEvPT0_PT_PfS4_S4_S4_diiiiiiib", "rms_quant_kernel"},
    {"_ZN4tile6kentryILi1ENS_9Norm2Fwd1INS_13PassProblem12IDF16bDF16bfffNS_6ShapeXEEEEEEEvDpT1_",
     "kentry<Norm2Fwd1, PassProblem12>"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::TensorListMetadata<1>, "
     "at::native::LpNormFunctor<c10::BFloat16, (at::native::NormType)1, c10::BFloat16, 1, 1, 0>, float*, int>(int)",
     "multi_tensor_apply_kernel<LpNormFunctor, BFloat16>"},
    {"void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1>"
     "(cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1::Params)",
     "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1"},
    {"void cudnn::fusion::compute_dot_do_o_specialized<true, 64>(void const*, void const*, void*)",
     "compute_dot_do_o_specialized"},
    /* a kernel that is no template, with the types of its arguments; two that they alone tell apart */
    {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"},
    {"collective_kernel_of_peers(Comm*, unsigned long, Work*)", NULL},
    {"collective_kernel_of_peers(Comm*, unsigned long, Work8*)", NULL},
    /* a product of NVIDIA's, and one that does not say whose it is */
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32 (cublas)"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_execute_kernel", NULL},
    /* two that differ in their schedule alone stay different */
    {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_stage6_warpsize2x2x1_execute_kernel__5x_cublas", NULL},
    {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_stage5_warpsize2x2x1_execute_kernel__5x_cublas", NULL},
    /* the paths of an op that was made of several */
    {"jit(step)/transpose(jvp(layer_0))/mul;jit(step)/transpose(jvp(layer_0))/add;jit(step)/transpose(jvp(layer_0))/"
     "mul",
     "jit(step)/transpose(jvp(layer_0))/mul;add"},
    {"jit(step)/layer_0/mul;jit(step)/layer_0/attention/add;jit(step)/layer_0/attention/exp;jit(step)/layer_1/mul",
     "jit(step)/layer_0/mul;jit(step)/layer_0/attention/add;exp;jit(step)/layer_1/mul"},
    /* no template of C++; one that is not closed; one that is short enough */
    {"jit(<lambda>)/jit(train_step)/transpose(jvp(layer_12))/dot_general", NULL},
    {"autograd::engine::evaluate_function: ScaledDotProductCudnnAttentionBackward0", NULL},
    {"PjitFunction(a_function_with_a_very_long_name_of_its_own)", NULL},
    {"CommonPjRtLoadedExecutable::Execute (jit_a_long_name_of_a_train_step)", NULL},
    {"void at::native::reduce_kernel<512, at::native::MeanOps<float, float(int, int", NULL},
    {"void f<4, at::native::MulFunctor>(int)", NULL},
};
enum { COUNT = sizeof table / sizeof *table, COLUMNS = 40 };

START_TEST(templates_are_told_by_what_they_compute) {
    struct ids_arena arena = {0};
    const char *texts[COUNT];
    for (size_t i = 0; i < COUNT; i++) texts[i] = table[i].name;
    ids_template_names_shorten(texts, COUNT, COLUMNS, &arena);
    for (size_t i = 0; i < COUNT; i++) ck_assert_str_eq(texts[i], table[i].shown ? table[i].shown : table[i].name);
    ids_arena_done(&arena);
}
END_TEST

#define POWER(lambda)                                                                                                  \
    "void at::native::vectorized_elementwise_kernel<8, at::native::pow_kernel_impl<float>(at::TensorIteratorBase&)::{" \
    "lambda(float)#" lambda "}, std::array<char*, 2ul> >(int)"

/* The same function's lambdas, and the same of other numbers of elements. */
START_TEST(different_ones_stay_different) {
    struct ids_arena arena = {0};
    const char *texts[] = {POWER("1"),
                           POWER("2"),
                           POWER("1"),
                           "void at::native::splitKreduce_kernel<32, 16, float>(float*)",
                           "void at::native::splitKreduce_kernel<32, 8, float>(float*)",
                           "_ZN4tile6kentryILi1ENS_5NormsILi64ELNS_4EnumE0ELb1EEEEEvDpT1_and_what_makes_it_longer",
                           "_ZN4tile6kentryILi1ENS_5NormsILi64ELNS_4EnumE1ELb1EEEEEvDpT1_and_what_makes_it_longer"};
    ids_template_names_shorten(texts, 7, COLUMNS, &arena);
    ck_assert_str_eq(texts[5], "kentry<1, Norms, 64, Enum, 0, 1>");
    ck_assert_str_eq(texts[6], "kentry<1, Norms, 64, Enum, 1, 1>");
    ck_assert_str_eq(texts[0], "vectorized_elementwise_kernel<8, pow_kernel_impl#1<float>>");
    ck_assert_str_eq(texts[1], "vectorized_elementwise_kernel<8, pow_kernel_impl#2<float>>");
    ck_assert_str_eq(texts[2], texts[0]);
    ck_assert_str_eq(texts[3], "splitKreduce_kernel<32, 16, float>");
    ck_assert_str_eq(texts[4], "splitKreduce_kernel<32, 8, float>");
    ids_arena_done(&arena);
}
END_TEST

/* Of a template its name is cut, and what it is made for stays; of others the middle. */
START_TEST(what_it_is_made_for_stays) {
    struct ids_arena arena = {0};
    const char *texts[] = {"vectorized_elementwise_kernel<AUnaryFunctor<MulFunctor>, BFloat16>",
                           "vectorized_elementwise_kernel<tanh, float> \xc2\xb7 8192,1,1",
                           "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_bias_TNT_and_more",
                           "jit(<lambda>)/jit(train_step)/transpose/dot_general"};
    ids_texts_shorten(texts, 4, 45, &arena);
    ck_assert_str_eq(texts[0], "vectori\xe2\x80\xa6<AUnaryFunctor<MulFunctor>, BFloat16>");
    ck_assert_str_eq(texts[1], "vectorized_elementwi\xe2\x80\xa6<tanh, float> \xc2\xb7 8192,1,1");
    ck_assert(strstr(texts[2], "\xe2\x80\xa6") != NULL && !strncmp(texts[2], "nvjet_sm90", 10));
    ck_assert(!strncmp(texts[3], "jit(<lambda>", 12));
    ids_arena_done(&arena);
}
END_TEST

IDS_RUN_SUITE("template_names", templates_are_told_by_what_they_compute, different_ones_stay_different,
              what_it_is_made_for_stays)
