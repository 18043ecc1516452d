#include "lib/model/matrix_units.h"

#include <string.h>

static int has_any(struct ids_text name, const char *const *words) {
    for (; *words; words++) {
        if (ids_text_contains(name, *words)) return 1;
    }
    return 0;
}

/* Tensile: ..._MT128x256x32_MI16x16x1_...: the shape of its MFMA; kernels without one have none, or MI0. */
static int has_mfma_shape(struct ids_text name) {
    static const char mark[] = "_MI";
    const char *end = name.at + name.length;
    for (const char *at = name.at; (at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1));) {
        at += sizeof mark - 1;
        if (at < end && *at >= '1' && *at <= '9') return 1;
    }
    return 0;
}

enum ids_matrix_use ids_matrix_use_of_name(struct ids_text kernel) {
    /* FFMA is the ordinary multiply-add; CUTLASS says simt. An sgemm without a shape of an instruction (s1688gemm) is
     * cuBLAS's or MIOpen's on ordinary units. */
    static const char *const ordinary[] = {
        "ffma", "_simt_", "sgemm", "scudnn", "_hcudnn", "fma_fp32", "dgrad_engine<float", "wgrad_alg0_engine<float",
        NULL};
    /* Shapes of the mma instructions of Volta, Turing and Ampere; wgmma and tcgen05 of Hopper and Blackwell; libraries
     * that have no other kernels; MFMA's own words (xdlops are Composable Kernel's, gtcx MIOpen's); XLA's
     * products through Triton. */
    static const char *const matrix[] = {"h884",       "s884",      "i8816",      "h1688",         "s1688",
                                         "c1688",      "16816",     "161616gemm", "16832",         "tensorop",
                                         "tensor16x8", "tensor8x8", "hmma",       "imma",          "gmma",
                                         "tcgen05",    "xmma_",     "nvjet_",     "flash_fwd",     "flash_bwd",
                                         "flash_attn", "fmha_",     "FmhaFwd",    "FmhaBwdDQDKDV", "_sdpa_",
                                         "mfma",       "MFMA",      "xdl",        "_gtcx",         "gemm_fusion_dot",
                                         NULL};
    if (has_any(kernel, ordinary)) return IDS_MATRIX_UNUSED;
    return has_any(kernel, matrix) || has_mfma_shape(kernel) ? IDS_MATRIX_USED : IDS_MATRIX_UNKNOWN;
}

/* f16 from Volta and gfx908 on; f32 through TF32 from Ampere on, and by MFMA itself. */
static int has_units_for(const struct ids_device *device, struct ids_text shape) {
    int half = ids_text_begins(shape, "f16[") || ids_text_begins(shape, "bf16[");
    if (!device->multiprocessor) return 0;
    if (device->multiprocessor->warp != 32) return 1;
    return device->capability_major >= (half ? 7 : 8);
}

enum ids_matrix_use ids_matrix_use(const struct ids_trace *trace, const struct ids_event *event) {
    enum ids_matrix_use use = (enum ids_matrix_use)trace->names[event->name].matrix_use;
    if (use != IDS_MATRIX_UNUSED || event->device == IDS_NONE) return use;
    struct ids_text shape = {"", 0};
    if (event->op != IDS_NONE) shape = ids_strings_text(&trace->strings, trace->ops[event->op].shape);
    return has_units_for(&trace->devices[event->device], shape) ? IDS_MATRIX_MISSED : use;
}

const char *ids_matrix_use_name(enum ids_matrix_use use) {
    static const char *const names[] = {NULL, "used", "not used", "missed"};
    return names[use];
}
