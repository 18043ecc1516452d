/* How values are written for people. Integers are scaled in integers, so that 5,368,709,120 bytes never lose a digit on
 * the way to "5.369 GB". */
#include "lib/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct scale {
    uint64_t size; /* how many of the base unit */
    const char *name;
};

static const struct scale time_scales[] = {
    {1000000000000, " s"}, {1000000000, " ms"}, {1000000, " us"}, {1000, " ns"}, {1, " ps"}};
static const struct scale byte_scales[] = {{1000000000000000, " PB"}, {1000000000000, " TB"}, {1000000000, " GB"},
                                           {1000000, " MB"},          {1000, " kB"},          {1, " B"}};

/* The number with commas between the thousands. */
static void format_count(uint64_t value, char *buffer, size_t size) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i && (length - i) % 3 == 0) buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    buffer[used] = '\0';
}

/* As many places as leave four digits in all. */
static int places_for(uint64_t whole) {
    return whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
}

/* `value` of the base unit in the largest scale that leaves at least 1, to four digits. 999.96 of a unit round up to
 * 1000, and are written as 1.000 of the next one, which the second look at the scales finds. */
static void format_scaled(uint64_t value, const struct scale *scales, int count, char *buffer, size_t size) {
    int at = 0;
    while (at < count - 1 && value < scales[at].size) at++;
    uint64_t unit = scales[at].size, whole = value / unit, part = value % unit;
    int places = places_for(whole);
    uint64_t step = 1;
    for (int i = 0; i < places; i++) step *= 10;
    if (unit < step) { /* the base unit has no parts */
        places = 0;
        step = 1;
    }
    uint64_t rounded = (uint64_t)(((unsigned __int128)part * step + unit / 2) / unit);
    if (rounded == step) {
        whole++;
        rounded = 0;
        if (at && whole == 1000) {
            format_scaled(scales[at - 1].size, scales, count, buffer, size);
            return;
        }
        if (places && places_for(whole) < places) places--;
    }
    char number[32];
    format_count(whole, number, sizeof number);
    if (places) {
        snprintf(buffer, size, "%s.%0*" PRIu64 "%s", number, places, rounded, scales[at].name);
    } else {
        snprintf(buffer, size, "%s%s", number, scales[at].name);
    }
}

static void format_time(uint64_t ps, char *buffer, size_t size) {
    if (!ps) {
        snprintf(buffer, size, "0 s");
    } else if (ps < 1000000 && ps % 1000 == 0) {
        snprintf(buffer, size, "%" PRIu64 " ns", ps / 1000); /* clocks that count nanoseconds: no invented places */
    } else {
        format_scaled(ps, time_scales, sizeof time_scales / sizeof *time_scales, buffer, size);
    }
}

/* Bytes are often round: "4 MB" and not "4.000 MB". */
static void format_bytes(uint64_t bytes, char *buffer, size_t size) {
    format_scaled(bytes, byte_scales, sizeof byte_scales / sizeof *byte_scales, buffer, size);
    char *point = strchr(buffer, '.'), *space = strchr(buffer, ' ');
    if (!point || !space) return;
    char *end = space;
    while (end[-1] == '0') end--;
    if (end - 1 == point) end--;
    memmove(end, space, strlen(space) + 1);
}

/* What is rounded says on which side of the number it lies: "<0.1 %", ">-0.1 %". */
static void format_ratio(double ratio, char *buffer, size_t size) {
    double percent = fabs(ratio) * 100;
    const char *sign = ratio < 0 ? "-" : "";
    if (percent > 0 && percent < 0.05) {
        snprintf(buffer, size, "%s0.1 %%", ratio < 0 ? ">-" : "<");
    } else if (percent < 100 && percent >= 99.95) {
        snprintf(buffer, size, "%s99.9 %%", ratio < 0 ? "<-" : ">");
    } else {
        snprintf(buffer, size, "%s%.1f %%", sign, percent);
    }
}

/* "918 TFLOP/s" */
static void format_flops(double rate, char *buffer, size_t size) {
    static const char *const names[] = {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s", "EFLOP/s"};
    int last = sizeof names / sizeof *names - 1, at = 0;
    for (; at < last && rate >= 999.5; at++) rate /= 1000;
    int places = !at || rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2;
    snprintf(buffer, size, rate < 1e9 ? "%.*f %s" : "%.*e %s", places, rate, names[at]);
}

static void format_rate(double rate, char *buffer, size_t size) {
    int last = sizeof byte_scales / sizeof *byte_scales - 1, at = 0;
    while (at < last && rate < (double)byte_scales[at].size) at++;
    double number = rate / (double)byte_scales[at].size;
    int places = at == last || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
    if (number < 1e9) {
        snprintf(buffer, size, "%.*f%s/s", places, number, byte_scales[at].name);
    } else {
        snprintf(buffer, size, "%.3g%s/s", number, byte_scales[at].name);
    }
}

char *ids_value_format(struct ids_value value, char *buffer, size_t size) {
    int real = ids_unit_is_real(value.unit);
    if (value.missing || (real && !isfinite(value.d))) {
        snprintf(buffer, size, "no data");
        return buffer;
    }
    if (value.unit == IDS_UNIT_NONE) {
        snprintf(buffer, size, "%s", value.text);
        return buffer;
    }
    int negative = real ? value.d < 0 : value.i < 0;
    uint64_t whole = real ? 0 : negative ? 0 - (uint64_t)value.i : (uint64_t)value.i;
    double number = real ? fabs(value.d) : 0;
    char text[IDS_VALUE_ROOM];
    switch ((enum ids_unit)value.unit) {
    case IDS_UNIT_COUNT:
        format_count(whole, text, sizeof text);
        break;
    case IDS_UNIT_TIME:
        format_time(whole, text, sizeof text);
        break;
    case IDS_UNIT_BYTES:
        format_bytes(whole, text, sizeof text);
        break;
    case IDS_UNIT_RATIO:
        format_ratio(value.d, buffer, size); /* with its sign */
        return buffer;
    case IDS_UNIT_RATE:
        format_rate(number, text, sizeof text);
        break;
    case IDS_UNIT_FLOPS:
        format_flops(number, text, sizeof text);
        break;
    case IDS_UNIT_NUMBER:
        snprintf(text, sizeof text, "%.4g", number);
        break;
    case IDS_UNIT_TRUTH:
        snprintf(text, sizeof text, "%s", whole ? "yes" : "no");
        break;
    case IDS_UNIT_NONE:
        text[0] = '\0';
        break;
    }
    snprintf(buffer, size, "%s%s", negative ? "-" : "", text);
    return buffer;
}

const char *ids_unit_name(enum ids_unit unit) {
    switch (unit) {
    case IDS_UNIT_NONE:
        return NULL;
    case IDS_UNIT_COUNT:
        return "count";
    case IDS_UNIT_TIME:
        return "s";
    case IDS_UNIT_BYTES:
        return "bytes";
    case IDS_UNIT_RATIO:
        return "ratio";
    case IDS_UNIT_RATE:
        return "bytes/s";
    case IDS_UNIT_NUMBER:
        return "number";
    case IDS_UNIT_TRUTH:
        return "truth";
    case IDS_UNIT_FLOPS:
        return "flop/s";
    }
    return NULL;
}

const char *ids_better_name(enum ids_better better) {
    return better == IDS_BETTER_HIGHER ? "higher" : better == IDS_BETTER_LOWER ? "lower" : NULL;
}

double ids_value_number(struct ids_value value) {
    if (value.missing) return NAN;
    switch ((enum ids_unit)value.unit) {
    case IDS_UNIT_COUNT:
    case IDS_UNIT_TIME:
    case IDS_UNIT_BYTES:
    case IDS_UNIT_TRUTH:
        return (double)value.i;
    case IDS_UNIT_RATIO:
    case IDS_UNIT_RATE:
    case IDS_UNIT_NUMBER:
    case IDS_UNIT_FLOPS:
        return value.d;
    case IDS_UNIT_NONE:
        break;
    }
    return NAN;
}

int ids_threshold_has_bad(const struct ids_threshold *threshold) {
    return !threshold->higher || ids_value_number(threshold->bad) > 0;
}

char *ids_threshold_format(const struct ids_threshold *threshold, char *buffer, size_t size) {
    char value[IDS_VALUE_ROOM];
    int higher = threshold->higher;
    int length = snprintf(buffer, size, "good %s %s", higher ? "above" : "below",
                          ids_value_format(threshold->warn, value, sizeof value));
    if (ids_threshold_has_bad(threshold) && length > 0 && (size_t)length < size)
        snprintf(buffer + length, size - (size_t)length, ", bad %s %s", higher ? "below" : "above",
                 ids_value_format(threshold->bad, value, sizeof value));
    return buffer;
}

const char *ids_grade_name(enum ids_grade grade) {
    static const char *const names[] = {NULL, "good", "warn", "bad"};
    return names[grade];
}

struct ids_value ids_si_value(enum ids_unit unit, int known, double value) {
    if (!known || !isfinite(value)) return ids_no_value(IDS_UNIT_NUMBER);
    return ids_real_value(IDS_UNIT_NUMBER, unit == IDS_UNIT_TIME ? value * 1e-12 : value);
}
