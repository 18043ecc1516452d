/* Occupancy and what limits it, by hand; which devices are known; matrix units by the names of kernels. The calculator
 * of CUDA's toolkit is the measure for NVIDIA's devices (tests/cuda). */
#include "lib/model/hardware.h"
#include "lib/model/matrix_units.h"
#include "tests/support/suite.h"

#include <string.h>

static struct ids_trace trace;

static struct ids_device device_of(const char *vendor, const char *model, int major, int minor) {
    struct ids_device device = {.kind = IDS_DEVICE_GPU,
                                .vendor = ids_intern_z(&trace.strings, vendor),
                                .model = ids_intern_z(&trace.strings, model),
                                .capability_major = major,
                                .capability_minor = minor,
                                .cores = 100};
    ids_hardware_find(&trace, &device);
    return device;
}

static void check_fit(const struct ids_multiprocessor *of, int64_t registers, int64_t shared, int64_t threads,
                      int64_t blocks, enum ids_occupancy_limit limit) {
    struct ids_launch launch = {registers, shared, threads};
    struct ids_fit fit = ids_occupancy_fit(of, &launch);
    ck_assert_int_eq(fit.blocks, blocks);
    ck_assert_int_eq(fit.limit, limit);
    ck_assert_double_eq_tol(fit.share, (double)(blocks * threads) / of->threads, 1e-12);
}

/* gfx942: 4 SIMDs with 512 registers of 64 lanes, in units of 8; 8 wavefronts each; 64 KiB of LDS. */
START_TEST(amd_by_hand) {
    const struct ids_multiprocessor *mi300 = ids_amd_multiprocessor(9, 4), *mi355 = ids_amd_multiprocessor(9, 5);
    check_fit(mi300, 128, 0, 256, 4, IDS_LIMIT_REGISTERS); /* 4 wavefronts a SIMD, 16 in all, 4 a block */
    check_fit(mi300, 129, 0, 256, 3, IDS_LIMIT_REGISTERS); /* as 136: 3 a SIMD, 12 in all */
    check_fit(mi300, 64, 0, 256, 8, IDS_LIMIT_NONE);       /* 8 a SIMD */
    check_fit(mi300, 64, 0, 192, 10, IDS_LIMIT_BLOCK);     /* 3 wavefronts: 10 blocks in 32, 2 left */
    check_fit(mi300, 64, 33 << 10, 256, 1, IDS_LIMIT_SHARED);
    check_fit(mi355, 64, 33 << 10, 256, 4, IDS_LIMIT_SHARED); /* 27 units of 1,280 bytes: 4 in 160 KiB */
    check_fit(mi300, 32, 0, 64, 32, IDS_LIMIT_NONE);          /* one wavefront takes no barrier */
    check_fit(mi300, 512, 0, 256, 1, IDS_LIMIT_REGISTERS);
}
END_TEST

START_TEST(what_does_not_start_is_unknown) {
    const struct ids_multiprocessor *a100 = ids_nvidia_multiprocessor(8, 0);
    check_fit(a100, 32, 0, 1025, 0, IDS_LIMIT_UNKNOWN);
    check_fit(a100, 32, 0, 0, 0, IDS_LIMIT_UNKNOWN);
    check_fit(a100, -1, 0, 32, 0, IDS_LIMIT_UNKNOWN);
    check_fit(a100, 32, -1, 32, 0, IDS_LIMIT_UNKNOWN);
    check_fit(a100, INT64_MAX, INT64_MAX, 1024, 0, IDS_LIMIT_UNKNOWN);
    check_fit(a100, 65, 0, 1024, 0, IDS_LIMIT_REGISTERS); /* 28 warps fit, and it has 32 */
    struct ids_device device = device_of("Nvidia", "", 8, 0);
    struct ids_shape shape = {.registers = 65, .grid = {1000, 1, 1}, .block = {1024, 1, 1}, .occupancy = -1};
    ids_hardware_fill(&device, &shape);
    ck_assert(shape.occupancy < 0 && shape.waves < 0 && shape.limit == IDS_LIMIT_UNKNOWN);
    shape = (struct ids_shape){.registers = 32,
                               .grid = {INT32_MAX, INT32_MAX, INT32_MAX},
                               .block = {INT32_MAX, INT32_MAX, INT32_MAX},
                               .static_shared_bytes = INT64_MAX,
                               .dynamic_shared_bytes = INT64_MAX,
                               .occupancy = -1};
    ids_hardware_fill(&device, &shape);
    ck_assert(shape.occupancy < 0 && shape.waves < 0);
    ids_hardware_fill(NULL, &shape);
    ck_assert_int_eq(shape.limit, IDS_LIMIT_UNKNOWN);
    ids_strings_done(&trace.strings);
}
END_TEST

/* Without registers nothing is known of the occupancy, but fewer blocks than multiprocessors leave some idle. */
START_TEST(a_small_grid_is_known_without_registers) {
    struct ids_device device = device_of("AMD", "", 9, 4);
    struct ids_shape shape = {.registers = -1, .grid = {99, 1, 1}, .block = {256, 1, 1}, .occupancy = -1};
    ids_hardware_fill(&device, &shape);
    ck_assert_int_eq(shape.limit, IDS_LIMIT_GRID);
    ck_assert(shape.occupancy < 0 && shape.waves < 0);
    shape.grid[0] = 100;
    ids_hardware_fill(&device, &shape);
    ck_assert_int_eq(shape.limit, IDS_LIMIT_UNKNOWN);
    ids_strings_done(&trace.strings);
}
END_TEST

START_TEST(vendors_are_told_apart) {
    const struct ids_multiprocessor *hopper = ids_nvidia_multiprocessor(9, 0), *mi250 = ids_amd_multiprocessor(9, 0);
    ck_assert_ptr_eq(device_of("Nvidia", "", 9, 0).multiprocessor, hopper);
    ck_assert_ptr_eq(device_of("", "NVIDIA H100 80GB HBM3", 9, 0).multiprocessor, hopper);
    ck_assert_ptr_eq(device_of("AMD", "AMD Instinct MI250X", 9, 0).multiprocessor, mi250);
    ck_assert_ptr_null(device_of("AMD", "AMD Instinct MI100", 9, 0).multiprocessor); /* gfx908 */
    ck_assert_ptr_null(device_of("", "", 9, 0).multiprocessor);                      /* either */
    ck_assert_ptr_eq(device_of("", "", 7, 0).multiprocessor, ids_nvidia_multiprocessor(7, 0));
    ck_assert_ptr_eq(device_of("", "", 9, 4).multiprocessor, ids_amd_multiprocessor(9, 4));
    ck_assert_ptr_null(device_of("AMD", "AMD Radeon", 12, 0).multiprocessor); /* gfx1200 is no Blackwell */
    ck_assert_ptr_null(device_of("", "", 12, 0).multiprocessor);
    ck_assert_ptr_null(device_of("Nvidia", "", -1, -1).multiprocessor);
    ids_strings_done(&trace.strings);
}
END_TEST

static enum ids_matrix_use use_of(const char *kernel) {
    return ids_matrix_use_of_name((struct ids_text){kernel, (uint32_t)strlen(kernel)});
}

START_TEST(matrix_units_by_name) {
    static const char *const used[] = {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn",
                                       "turing_h1688gemm_256x64_ldg8_stages_32x1_nn",
                                       "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_nn",
                                       "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1>(...)",
                                       "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64",
                                       "nvjet_hsh_128x64_64x9_1x2_h_bz_NNT",
                                       "void pytorch_flash::flash_fwd_kernel<...>",
                                       "Cijk_Alik_Bljk_BBS_BH_MT256x32x64_MI16x16x1_SN",
                                       "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weight",
                                       "gemm_fusion_dot_1",
                                       "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32",
                                       "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32"};
    static const char *const ordinary[] = {"volta_sgemm_128x32_nt",
                                           "ampere_sgemm_128x64_nn",
                                           "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1",
                                           "void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(...)",
                                           "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_ffma_aligna4",
                                           "void implicit_convolve_sgemm<float, float, 1024, 6>"};
    static const char *const neither[] = {"loop_add_fusion",
                                          "triton_poi_fused_add_0",
                                          "ampere_gcgemm_64x64_nt",
                                          "_MI0_",
                                          "Cijk_Ailk_Bljk_SB_MT64x64x8_MI0_SN",
                                          "x_MI",
                                          ""};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        ck_assert_msg(use_of(used[i]) == IDS_MATRIX_USED, "%s", used[i]);
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        ck_assert_msg(use_of(ordinary[i]) == IDS_MATRIX_UNUSED, "%s", ordinary[i]);
    for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
        ck_assert_msg(use_of(neither[i]) == IDS_MATRIX_UNKNOWN, "%s", neither[i]);
}
END_TEST

/* f32 through TF32 from 8.0 on, f16 and bf16 from 7.0 on. */
static enum ids_matrix_use use_on(int major, const char *shape) {
    struct ids_device device = device_of("Nvidia", "", major, 0);
    struct ids_name name = {.matrix_use = IDS_MATRIX_UNUSED};
    struct ids_op op = {.shape = ids_intern_z(&trace.strings, shape)};
    struct ids_event event = {.op = *shape ? 0 : IDS_NONE};
    trace.devices = &device;
    trace.names = &name;
    trace.ops = &op;
    return ids_matrix_use(&trace, &event);
}

START_TEST(units_that_are_missed) {
    ck_assert_int_eq(use_on(8, "f32[8,8]"), IDS_MATRIX_MISSED);
    ck_assert_int_eq(use_on(8, ""), IDS_MATRIX_MISSED);
    ck_assert_int_eq(use_on(7, "f32[8,8]"), IDS_MATRIX_UNUSED);
    ck_assert_int_eq(use_on(7, "f16[8,8]"), IDS_MATRIX_MISSED);
    ck_assert_int_eq(use_on(7, "bf16[8,8]"), IDS_MATRIX_MISSED);
    ck_assert_int_eq(use_on(6, "f16[8,8]"), IDS_MATRIX_UNUSED);
    ck_assert_int_eq(use_on(99, "f16[8,8]"), IDS_MATRIX_UNUSED); /* not known */
    ids_strings_done(&trace.strings);
}
END_TEST

IDS_RUN_SUITE("occupancy", amd_by_hand, what_does_not_start_is_unknown, a_small_grid_is_known_without_registers,
              vendors_are_told_apart, matrix_units_by_name, units_that_are_missed)
