#include "lib/analysis/peaks.h"

#include <ctype.h>
#include <string.h>

enum vendor { OF_TPU, OF_NVIDIA, OF_AMD };

static const struct sheet {
    const char *words;
    enum vendor vendor;
    int capability;
    int64_t cores, gigabytes;
    double tera[IDS_MULTIPLIERS];
    double bandwidth;
    const char *source;
} sheets[] = {
#define IDS_PEAK(words, vendor, capability, cores, gigabytes, vector, f64, f32, bf16, f8, s8, f4, bandwidth, source) \
    {words, OF_##vendor, capability, cores, gigabytes, {vector, f64, f32, bf16, f8, s8, f4}, bandwidth, source},
#include "lib/analysis/device_peaks.def"
};
enum { SHEETS = sizeof sheets / sizeof *sheets };

/* ---- which device it is ---- */

/* As a word of its own: L4 is no L40, A10 is in A10-24Q. */
static int has_word(const char *name, const char *word, size_t length) {
    for (const char *at = name; *at; at++) {
        int begins = at == name || !isalnum((unsigned char)at[-1]);
        if (begins && !strncasecmp(at, word, length) && !isalnum((unsigned char)at[length])) return 1;
    }
    return 0;
}

static int has_words(const char *name, const char *words) {
    while (*words) {
        size_t length = strcspn(words, " ");
        if (!has_word(name, words, length)) return 0;
        words += length;
        words += *words == ' ';
    }
    return 1;
}

static int is_like(const struct sheet *sheet, const struct ids_device *device, int is_amd) {
    int capability = device->capability_major * 100 + device->capability_minor;
    return sheet->capability && device->capability_major >= 0 && sheet->vendor == (is_amd ? OF_AMD : OF_NVIDIA) &&
           sheet->capability == capability && sheet->cores == device->cores &&
           device->memory_bytes / 1000000000 >= (uint64_t)sheet->gigabytes;
}

static const struct sheet *sheet_of(const struct ids_trace *trace, const struct ids_device *device, const char *told,
                                    int is_amd) {
    const char *model = told ? told : ids_trace_text(trace, device->model);
    for (int i = 0; i < SHEETS; i++) {
        if (*model ? has_words(model, sheets[i].words) : is_like(&sheets[i], device, is_amd)) return &sheets[i];
    }
    return NULL;
}

const char *ids_peaks_like(const struct ids_trace *trace, const struct ids_device *device) {
    int is_amd = ids_text_contains(ids_strings_text(&trace->strings, device->vendor), "AMD");
    if (device->kind != IDS_DEVICE_GPU || *ids_trace_text(trace, device->model)) return NULL;
    const struct sheet *sheet = sheet_of(trace, device, NULL, is_amd);
    return sheet ? sheet->words : NULL;
}

int ids_peaks_know(const char *kind) {
    for (int i = 0; i < SHEETS; i++) {
        if (has_words(kind, sheets[i].words)) return 1;
    }
    return 0;
}

/* ---- peaks ---- */

/* What has no units of its own is computed by those for the next wider type. */
static void fill(struct ids_peaks *peaks) {
    static const enum ids_multiplier wider[][2] = {
        {IDS_BY_F32, IDS_BY_VECTOR}, {IDS_BY_VECTOR, IDS_BY_F32}, {IDS_BY_BF16, IDS_BY_F32}, {IDS_BY_F32, IDS_BY_BF16},
        {IDS_BY_VECTOR, IDS_BY_F32}, {IDS_BY_F8, IDS_BY_BF16},    {IDS_BY_S8, IDS_BY_BF16},  {IDS_BY_F4, IDS_BY_F8}};
    for (size_t i = 0; i < sizeof wider / sizeof *wider; i++) {
        if (peaks->flops[wider[i][0]] <= 0) peaks->flops[wider[i][0]] = peaks->flops[wider[i][1]];
    }
}

static void set_all(struct ids_peaks *peaks, double flops, const char *from) {
    for (int i = 0; i < IDS_MULTIPLIERS; i++) peaks->flops[i] = flops;
    peaks->flops_from = from;
}

static void take_sheet(struct ids_peaks *peaks, const struct sheet *sheet) {
    for (int i = 0; i < IDS_MULTIPLIERS; i++) peaks->flops[i] = sheet->tera[i] * 1e12;
    peaks->bandwidth = sheet->bandwidth * 1e9;
    peaks->flops_from = peaks->bandwidth_from = sheet->source;
}

struct ids_peaks ids_peaks_of(const struct ids_trace *trace, const struct ids_device *device,
                              const struct ids_params *params) {
    struct ids_peaks peaks = {.bandwidth = 0};
    int is_amd = ids_text_contains(ids_strings_text(&trace->strings, device->vendor), "AMD");
    const char *told = params->device_kind;
    const struct sheet *sheet = device->kind == IDS_DEVICE_CPU ? NULL : sheet_of(trace, device, told, is_amd);
    if (sheet) take_sheet(&peaks, sheet);
    int is_told = told && sheet;
    if (device->peak_flops > 0 && !is_told) {
        /* The file has one figure; the data sheet says how others compare with it. */
        double scale = sheet ? device->peak_flops / (sheet->tera[IDS_BY_BF16] * 1e12) : 0;
        if (!sheet) set_all(&peaks, device->peak_flops, NULL);
        for (int i = 0; sheet && i < IDS_MULTIPLIERS; i++) peaks.flops[i] *= scale;
        peaks.flops_from = "the profile";
    }
    if (device->peak_bytes_per_second > 0 && !is_told && !(is_amd && sheet)) {
        peaks.bandwidth = device->peak_bytes_per_second;
        peaks.bandwidth_from = "the profile";
    }
    if (params->peak_flops > 0) set_all(&peaks, params->peak_flops, "--peak-flops");
    if (params->peak_bandwidth > 0) {
        peaks.bandwidth = params->peak_bandwidth;
        peaks.bandwidth_from = "--peak-bandwidth";
    }
    fill(&peaks);
    return peaks;
}

struct ids_peaks_sheet ids_peaks_sheet(int i) {
    struct ids_peaks_sheet found = {.kind = NULL};
    if (i < 0 || i >= SHEETS) return found;
    found.kind = sheets[i].words;
    found.is_tpu = sheets[i].vendor == OF_TPU;
    take_sheet(&found.peaks, &sheets[i]);
    fill(&found.peaks);
    return found;
}
