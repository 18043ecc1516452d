#include "analyzers/kernel_advice.h"

#include "lib/base/saturate.h"
#include "lib/occupancy/occupancy.h"
#include "lib/report/template_names.h"

#include <inttypes.h>
#include <string.h>

enum { LEAST_SHARE = 10 }; /* of the kernel time that one cause has: a tenth */

struct kernel_table {
    const struct ids_table *table;
    int total, occupancy, limit, waves, registers, name, grid, block, fixed, dynamic, matrix, class;
};

/* Kernels that one cause is said of: how many, their time, and the one that has most of it. */
struct cause {
    int64_t time_ps;
    size_t kernels, most; /* a row */
};

static int open_table(const struct ids_report *report, struct kernel_table *kernels) {
    const struct ids_table *table = ids_report_find_table(report, "kernels");
    if (!table) return -1;
    *kernels = (struct kernel_table){
        .table = table,
        .total = ids_table_column(table, "total"),
        .occupancy = ids_table_column(table, "occupancy"),
        .limit = ids_table_column(table, "limited_by"),
        .waves = ids_table_column(table, "waves"),
        .registers = ids_table_column(table, "registers"),
        .name = ids_table_column(table, "name"),
        .grid = ids_table_column(table, "grid"),
        .block = ids_table_column(table, "block"),
        .fixed = ids_table_column(table, "static_shared"),
        .dynamic = ids_table_column(table, "dynamic_shared"),
        .matrix = ids_table_column(table, "matrix_units"),
        .class = ids_table_column(table, "class"),
    };
    return 0;
}

static const char *text_at(const struct kernel_table *kernels, size_t row, int column) {
    const struct ids_value *value = ids_table_cell(kernels->table, row, column);
    return value->missing || !value->text ? "" : value->text;
}

static int64_t number_at(const struct kernel_table *kernels, size_t row, int column) {
    const struct ids_value *value = ids_table_cell(kernels->table, row, column);
    return value->missing ? 0 : value->i;
}

static double real_at(const struct kernel_table *kernels, size_t row, int column) {
    const struct ids_value *value = ids_table_cell(kernels->table, row, column);
    return value->missing ? -1 : value->d;
}

static void add(struct cause *cause, const struct kernel_table *kernels, size_t row) {
    int64_t time_ps = number_at(kernels, row, kernels->total);
    if (!cause->kernels++ || time_ps > number_at(kernels, cause->most, kernels->total)) cause->most = row;
    ids_sum(&cause->time_ps, time_ps);
}

static const char *share_of(struct ids_report *report, int64_t part_ps, int64_t whole_ps) {
    char text[IDS_VALUE_ROOM];
    double share = whole_ps ? (double)part_ps / (double)whole_ps : 0;
    return ids_report_text(report, "%s", ids_value_format(ids_real_value(IDS_UNIT_RATIO, share), text, sizeof text));
}

/* "gemm (and 3 more like it)" is what is said of many kernels; their names may be hundreds of bytes long. */
static const char *kernels_of(struct ids_report *report, const struct kernel_table *kernels,
                              const struct cause *cause) {
    enum { LONG_NAME = 40 };
    const char *name =
        ids_template_name_in_short(text_at(kernels, cause->most, kernels->name), LONG_NAME, &report->arena);
    const char *dots = strlen(name) > 80 ? "..." : "";
    if (cause->kernels < 2) return ids_report_text(report, "%.80s%s", name, dots);
    return ids_report_text(report, "%.80s%s and %zu more", name, dots, cause->kernels - 1);
}

/* --- occupancy -------------------------------------------------------------------------------------------------- */

static enum ids_occupancy_limit limit_at(const struct kernel_table *kernels, size_t row) {
    const char *text = text_at(kernels, row, kernels->limit);
    for (int limit = IDS_LIMIT_NONE; limit < IDS_LIMIT_COUNT; limit++) {
        if (!strcmp(text, ids_occupancy_limit_name((enum ids_occupancy_limit)limit)))
            return (enum ids_occupancy_limit)limit;
    }
    return IDS_LIMIT_UNKNOWN;
}

/* Matrix products and convolutions hold their tiles in registers by design, and nobody can change a library's tiles. */
static int is_of_library(const struct kernel_table *kernels, size_t row) {
    static const char *const words[] = {"gemm",   "cudnn", "convolve", "winograd",
                                        "miopen", "Cijk_", "cublas",   "rocblas"};
    const char *name = text_at(kernels, row, kernels->name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(name, words[i])) return 1;
    }
    return *text_at(kernels, row, kernels->matrix) != '\0';
}

/* What limits the kernel, and what can be done: "registers (128 a thread) - ...". */
static const char *say_limit(struct ids_report *report, const struct kernel_table *kernels, size_t row,
                             enum ids_occupancy_limit limit) {
    char text[IDS_VALUE_ROOM];
    const char *block = text_at(kernels, row, kernels->block), *grid = text_at(kernels, row, kernels->grid);
    switch (limit) {
    case IDS_LIMIT_REGISTERS:
        return ids_report_text(report,
                               "registers (%" PRId64
                               " a thread) - smaller tiles, launch bounds (num_warps in Triton and "
                               "Pallas), fewer values kept across a loop; of a library, another type or layout takes "
                               "another kernel",
                               number_at(kernels, row, kernels->registers));
    case IDS_LIMIT_SHARED: {
        int64_t bytes = number_at(kernels, row, kernels->fixed) + number_at(kernels, row, kernels->dynamic);
        ids_value_format(ids_int_value(IDS_UNIT_BYTES, bytes), text, sizeof text);
        return ids_report_text(report, "shared memory (%s a block) - use smaller tiles, or fewer stages", text);
    }
    case IDS_LIMIT_BLOCK:
        return ids_report_text(report, "the block size (%s) - take 128, 256 or 512 threads", block);
    case IDS_LIMIT_BLOCKS:
        return ids_report_text(report, "the number of blocks (of %s threads) - use larger blocks", block);
    case IDS_LIMIT_GRID:
        return ids_report_text(report,
                               "the grid (%s) - it has fewer blocks than the device holds: split the work further, "
                               "use a larger batch, or fuse it",
                               grid);
    default:
        return NULL;
    }
}

struct ids_kernel_advice ids_low_occupancy_advice(struct ids_report *report) {
    struct kernel_table kernels;
    struct cause causes[IDS_LIMIT_COUNT] = {0};
    int64_t all_ps = 0, known_ps = 0, low_ps = 0;
    if (open_table(report, &kernels)) return (struct ids_kernel_advice){0};
    for (size_t row = 0; row < kernels.table->row_count; row++) {
        double occupancy = real_at(&kernels, row, kernels.occupancy), waves = real_at(&kernels, row, kernels.waves);
        int64_t time_ps = number_at(&kernels, row, kernels.total);
        ids_sum(&all_ps, time_ps);
        if (occupancy <= 0 || strcmp(text_at(&kernels, row, kernels.class), "compute") != 0) continue;
        ids_sum(&known_ps, time_ps);
        if (waves > 0 && waves < 1) occupancy *= waves;
        if (occupancy > 0.5 || is_of_library(&kernels, row)) continue;
        ids_sum(&low_ps, time_ps);
        add(&causes[waves > 0 && waves < 1 ? IDS_LIMIT_GRID : limit_at(&kernels, row)], &kernels, row);
    }
    size_t most = 0;
    for (size_t limit = 1; limit < IDS_LIMIT_COUNT; limit++) {
        if (causes[limit].time_ps > causes[most].time_ps) most = limit;
    }
    const struct cause *cause = &causes[most];
    if (!cause->kernels || low_ps < known_ps - low_ps || cause->time_ps < all_ps / LEAST_SHARE)
        return (struct ids_kernel_advice){0};
    const char *limit = say_limit(report, &kernels, cause->most, (enum ids_occupancy_limit)most);
    const char *evidence = ids_report_text(report, "%s: %s of the kernel time; %s of it at 50 %% occupancy or less",
                                           kernels_of(report, &kernels, cause),
                                           share_of(report, cause->time_ps, all_ps), share_of(report, low_ps, all_ps));
    if (!limit)
        return (struct ids_kernel_advice){
            "Low occupancy: larger blocks, or fewer registers and less shared memory per thread, let more warps run",
            evidence, "occupancy.median", NULL};
    return (struct ids_kernel_advice){ids_report_text(report, "Low occupancy: limited by %s", limit), evidence,
                                      "occupancy.median", NULL};
}

/* --- matrix units ----------------------------------------------------------------------------------------------- */

/* "; of f16 the device computes up to 8.0 times as much: 125 TFLOP/s instead of 15.7 TFLOP/s" */
static const char *say_peaks(struct ids_report *report, const struct ids_peaks *peaks, const char *type) {
    double ordinary = peaks->flops[IDS_BY_VECTOR], half = peaks->flops[IDS_BY_BF16];
    char fast[IDS_VALUE_ROOM], slow[IDS_VALUE_ROOM];
    if (ordinary <= 0 || half <= ordinary) return "";
    ids_value_format(ids_real_value(IDS_UNIT_FLOPS, half), fast, sizeof fast);
    ids_value_format(ids_real_value(IDS_UNIT_FLOPS, ordinary), slow, sizeof slow);
    return ids_report_text(report, "; of %s the device computes up to %.1f times as much: %s instead of %s", type,
                           half / ordinary, fast, slow);
}

/* Tensor Cores of before Ampere take f16 alone. */
static int has_cores_for_half(const struct ids_device *device) {
    return device->multiprocessor && device->multiprocessor->warp == 32 && device->capability_major >= 7;
}

static const char *how_of(enum ids_framework framework, int takes_f32) {
    if (framework == IDS_PYTORCH)
        return takes_f32 ? "torch.set_float32_matmul_precision('high'), or autocast to bf16"
                         : "torch.autocast to f16, with a GradScaler where gradients are small";
    if (framework == IDS_JAX)
        return takes_f32 ? "jax_default_matmul_precision='tensorfloat32', or bf16"
                         : "compute in f16, and scale the loss where gradients are small";
    return takes_f32 ? "allow TF32, or compute in bf16" : "compute in f16 (mixed precision)";
}

struct ids_kernel_advice ids_matrix_advice(struct ids_report *report, const struct ids_matrix_circumstances *about) {
    struct kernel_table kernels;
    struct cause missed = {0}, ordinary = {0};
    int64_t all_ps = 0;
    if (open_table(report, &kernels)) return (struct ids_kernel_advice){0};
    for (size_t row = 0; row < kernels.table->row_count; row++) {
        const char *use = text_at(&kernels, row, kernels.matrix);
        ids_sum(&all_ps, number_at(&kernels, row, kernels.total));
        if (!strcmp(use, "missed")) add(&missed, &kernels, row);
        if (!strcmp(use, "not used") && has_cores_for_half(about->device)) add(&ordinary, &kernels, row);
    }
    int takes_f32 = missed.time_ps >= ordinary.time_ps;
    const struct cause *cause = takes_f32 ? &missed : &ordinary;
    if (!cause->kernels || cause->time_ps < all_ps / LEAST_SHARE) return (struct ids_kernel_advice){0};
    const char *gain = say_peaks(report, &about->peaks, takes_f32 ? "bf16" : "f16");
    return (struct ids_kernel_advice){
        ids_report_text(report, "Matrix products run beside the matrix units, on the ordinary ones: %s",
                        how_of(about->framework, takes_f32)),
        ids_report_text(report, "%s: %s of the kernel time%s", kernels_of(report, &kernels, cause),
                        share_of(report, cause->time_ps, all_ps), gain),
        takes_f32 ? "kernels.matrix_missed_share" : "kernels.matrix_share", gain};
}
