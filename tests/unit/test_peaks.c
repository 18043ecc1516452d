/* Which data sheet a device is found in (lib/analysis/peaks.h). The figures are those of the vendors' data sheets. */
#include "lib/analysis/peaks.h"
#include "tests/support/suite.h"

#include <string.h>

enum { BF16 = 16, F16 = 10, F32 = 11, F64 = 12, S8 = 2, F8 = 20, S32 = 4 };

static struct ids_trace trace;
static struct ids_params params;

static struct ids_device device(const char *model, const char *vendor) {
    struct ids_device out = {.kind = IDS_DEVICE_GPU, .capability_major = -1, .capability_minor = -1};
    out.model = *model ? ids_intern_z(&trace.strings, model) : 0;
    out.vendor = *vendor ? ids_intern_z(&trace.strings, vendor) : 0;
    return out;
}

static void begin(void) {
    ids_intern_z(&trace.strings, "");
    ids_params_default(&params);
}

static void end(void) {
    ids_strings_done(&trace.strings);
    memset(&trace, 0, sizeof trace);
}

START_TEST(names) {
    static const struct {
        const char *model;
        double bf16, bandwidth; /* TFLOP/s, GB/s; 0: not known */
    } table[] = {{"NVIDIA H100 80GB HBM3", 989.4, 3352},
                 {"NVIDIA H100 PCIe", 756, 2039},
                 {"NVIDIA H200", 989.4, 4800},
                 {"NVIDIA A100-SXM4-80GB", 312, 2039},
                 {"NVIDIA A100-PCIE-40GB", 312, 1555},
                 {"NVIDIA A100 80GB PCIe", 312, 1935},
                 {"NVIDIA A10", 125, 600},
                 {"NVIDIA A10G", 70, 600},
                 {"NVIDIA L4", 121, 300},
                 {"NVIDIA L40S", 362, 864},
                 {"NVIDIA L40", 181, 864},
                 {"Tesla V100-SXM2-16GB", 125, 900},
                 {"Tesla V100-PCIE-32GB", 112, 900},
                 {"Tesla T4", 65, 320},
                 {"NVIDIA B200", 2250, 7700},
                 {"NVIDIA GB200", 2500, 8000},
                 {"AMD Instinct MI300X", 1307.4, 5325},
                 {"AMD Instinct MI250X", 191.5, 1638},
                 {"TPU v5 lite", 197, 819},
                 {"TPU v5p", 459, 2765},
                 {"TPU v6 Lite", 918, 1638},
                 {"TPU v4", 275, 1228},
                 {"Quadro X1", 0, 0},
                 {"NVIDIA H1000", 0, 0}};
    begin();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_device found = device(table[i].model, "");
        struct ids_peaks peaks = ids_peaks_of(&trace, &found, &params);
        ck_assert_msg(peaks.flops[IDS_BY_BF16] == table[i].bf16 * 1e12 && peaks.bandwidth == table[i].bandwidth * 1e9,
                      "%s: %g FLOP/s, %g B/s", table[i].model, peaks.flops[IDS_BY_BF16], peaks.bandwidth);
    }
    end();
}
END_TEST

/* Without a name, by capability, cores and memory. */
START_TEST(numbers) {
    static const struct {
        int major, minor, cores, gigabytes;
        const char *vendor;
        double bf16;
    } table[] = {{9, 4, 304, 206, "AMD", 1307.4}, {9, 5, 256, 309, "AMD", 2516.6},  {9, 0, 110, 64, "AMD", 191.5},
                 {7, 0, 80, 16, "", 125},         {9, 0, 132, 80, "Nvidia", 989.4}, {9, 0, 110, 80, "Nvidia", 0},
                 {8, 0, 108, 40, "Nvidia", 312}};
    begin();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_device found = device("", table[i].vendor);
        found.capability_major = table[i].major;
        found.capability_minor = table[i].minor;
        found.cores = table[i].cores;
        found.memory_bytes = (uint64_t)table[i].gigabytes * 1000000000;
        ck_assert_msg(ids_peaks_of(&trace, &found, &params).flops[IDS_BY_BF16] == table[i].bf16 * 1e12, "row %zu", i);
    }
    end();
}
END_TEST

/* The user's word counts most, then the file's; of AMD's bandwidth the data sheet's. A CPU has none. */
START_TEST(who_says) {
    begin();
    struct ids_device found = device("NVIDIA A100-SXM4-40GB", "Nvidia");
    found.peak_bytes_per_second = 1.5e12;
    ck_assert(ids_peaks_of(&trace, &found, &params).bandwidth == 1.5e12);
    found = device("AMD Instinct MI300X", "AMD");
    found.peak_bytes_per_second = 2.6e12;
    ck_assert(ids_peaks_of(&trace, &found, &params).bandwidth == 5325e9);
    params.peak_flops = 1e15;
    params.peak_bandwidth = 2e12;
    struct ids_peaks peaks = ids_peaks_of(&trace, &found, &params);
    ck_assert(peaks.flops[IDS_BY_F64] == 1e15 && peaks.bandwidth == 2e12);
    ids_params_default(&params);
    found = device("TPU v6 Lite", "");
    found.kind = IDS_DEVICE_TPU;
    found.peak_flops = 459e12; /* half of the data sheet's: int8 has half, too */
    peaks = ids_peaks_of(&trace, &found, &params);
    ck_assert(peaks.flops[IDS_BY_BF16] == 459e12 && peaks.flops[IDS_BY_S8] == 918e12);
    params.device_kind = "TPU v5p"; /* whatever the file says */
    peaks = ids_peaks_of(&trace, &found, &params);
    ck_assert(peaks.flops[IDS_BY_BF16] == 459e12 && peaks.bandwidth == 2765e9);
    found.peak_flops = 1e12;
    ck_assert(ids_peaks_of(&trace, &found, &params).flops[IDS_BY_BF16] == 459e12);
    ck_assert(ids_peaks_know("NVIDIA H100 80GB HBM3") && ids_peaks_know("TPU v6 lite") && !ids_peaks_know("list") &&
              !ids_peaks_know("H1000") && !ids_peaks_know(""));
    found = device("x", "");
    found.kind = IDS_DEVICE_CPU;
    peaks = ids_peaks_of(&trace, &found, &params);
    ck_assert(peaks.flops[IDS_BY_F32] <= 0 && peaks.bandwidth <= 0);
    end();
}
END_TEST

START_TEST(multipliers) {
    ck_assert_int_eq(ids_multiplier_of(0), IDS_BY_VECTOR);
    ck_assert_int_eq(ids_multiplier_of(BF16), IDS_BY_BF16);
    ck_assert_int_eq(ids_multiplier_of(F16), IDS_BY_BF16);
    ck_assert_int_eq(ids_multiplier_of(F32), IDS_BY_F32);
    ck_assert_int_eq(ids_multiplier_of(F64), IDS_BY_F64);
    ck_assert_int_eq(ids_multiplier_of(S8), IDS_BY_S8);
    ck_assert_int_eq(ids_multiplier_of(F8), IDS_BY_F8);
    ck_assert_int_eq(ids_multiplier_of(S32), IDS_BY_VECTOR);
}
END_TEST

IDS_RUN_SUITE("peaks", names, numbers, who_says, multipliers)
