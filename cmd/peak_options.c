#include "cmd/peak_options.h"

#include "lib/analysis/peaks.h"
#include "lib/base/decimal.h"
#include "lib/compare/amount.h"

#include <stdio.h>
#include <string.h>

/* "8192", "64k", "1.5P": with a letter of the powers of 1000. */
static int read_count(const char *text, double *ret_count) {
    static const char letters[] = "kMGTPE";
    size_t length = strlen(text);
    double scale = 1;
    const char *letter = length ? strchr(letters, text[length - 1] == 'K' ? 'k' : text[length - 1]) : NULL;
    if (letter) {
        for (const char *at = letters; at <= letter; at++) scale *= 1000;
        length--;
    }
    if (!length || ids_decimal_real(text, length, ret_count)) return 0;
    *ret_count *= scale;
    return *ret_count > 0 && *ret_count <= 1e30;
}

static int take_count(const char *option, const char *text, double *count, struct ids_error *err) {
    if (!text || read_count(text, count)) return 0;
    return ids_fail(err, IDS_USAGE, "--%s: '%s' is not a number above 0 (expected 8192, 64k, 1.5P)", option, text);
}

static int take_rate(const char *option, const char *text, enum ids_unit unit, double *rate, struct ids_error *err) {
    if (!text) return 0;
    /* "125T" is as good as "125 TFLOP/s"; a number alone says nothing of its size. */
    if (*text && !strchr("0123456789. ", text[strlen(text) - 1]) && read_count(text, rate)) return 0;
    int code = ids_amount_parse(text, strlen(text), unit, rate, err);
    if (!code && !(*rate > 0 && *rate <= 1e30)) code = ids_fail(err, IDS_USAGE, "'%s' is not above 0", text);
    return code ? ids_error_at(err, "--%s", option) : 0;
}

/* "list" is as good as any other word that no data sheet has. */
static int take_kind(const char *kind, const char **ret_kind, struct ids_error *err) {
    char known[sizeof err->text] = "";
    size_t used = 0;
    struct ids_peaks_sheet sheet;
    *ret_kind = kind;
    if (!kind || ids_peaks_know(kind)) return 0;
    for (int i = 0; (sheet = ids_peaks_sheet(i)).kind && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", sheet.kind);
    return ids_fail(err, IDS_USAGE, "--device-kind: '%.40s' is not in a data sheet (%s)", kind, known);
}

int ids_peak_options(const struct ids_peak_options *options, struct ids_params *params, struct ids_error *err) {
    int code = take_rate("peak-flops", options->peak_flops, IDS_UNIT_FLOPS, &params->peak_flops, err);
    if (!code) code = take_kind(options->device_kind, &params->device_kind, err);
    if (!code) code = take_rate("peak-bandwidth", options->peak_bandwidth, IDS_UNIT_RATE, &params->peak_bandwidth, err);
    if (!code) code = take_count("flops-per-step", options->flops_per_step, &params->flops_per_step, err);
    return code ? code : take_count("tokens-per-step", options->tokens_per_step, &params->tokens_per_step, err);
}
