#include "lib/compare/amount.h"

#include "lib/base/decimal.h"

#include <string.h>

struct scale {
    enum ids_unit unit;
    const char *name;
    double base;
};

static const struct scale scales[] = {
    {IDS_UNIT_TIME, "ps", 1},
    {IDS_UNIT_TIME, "ns", 1e3},
    {IDS_UNIT_TIME, "us", 1e6},
    {IDS_UNIT_TIME, "ms", 1e9},
    {IDS_UNIT_TIME, "s", 1e12},
    {IDS_UNIT_BYTES, "B", 1},
    {IDS_UNIT_BYTES, "kB", 1e3},
    {IDS_UNIT_BYTES, "MB", 1e6},
    {IDS_UNIT_BYTES, "GB", 1e9},
    {IDS_UNIT_BYTES, "TB", 1e12},
    {IDS_UNIT_BYTES, "KiB", 1024.0},
    {IDS_UNIT_BYTES, "MiB", 1048576.0},
    {IDS_UNIT_BYTES, "GiB", 1073741824.0},
    {IDS_UNIT_RATIO, "%", 0.01},
    {IDS_UNIT_COUNT, "", 1},
    {IDS_UNIT_NUMBER, "", 1},
    {IDS_UNIT_RATE, "B/s", 1},
    {IDS_UNIT_RATE, "kB/s", 1e3},
    {IDS_UNIT_RATE, "MB/s", 1e6},
    {IDS_UNIT_RATE, "GB/s", 1e9},
    {IDS_UNIT_RATE, "TB/s", 1e12},
    {IDS_UNIT_FLOPS, "FLOP/s", 1},
    {IDS_UNIT_FLOPS, "GFLOP/s", 1e9},
    {IDS_UNIT_FLOPS, "TFLOP/s", 1e12},
    {IDS_UNIT_FLOPS, "PFLOP/s", 1e15},
};

static const char *const expected[] = {
    [IDS_UNIT_NONE] = "a number",
    [IDS_UNIT_COUNT] = "a number without a unit",
    [IDS_UNIT_TIME] = "ns, us, ms or s",
    [IDS_UNIT_BYTES] = "B, kB, MB, GB, TB, KiB, MiB or GiB",
    [IDS_UNIT_RATIO] = "%",
    [IDS_UNIT_RATE] = "B/s, kB/s, MB/s, GB/s or TB/s",
    [IDS_UNIT_NUMBER] = "a number without a unit",
    [IDS_UNIT_FLOPS] = "FLOP/s, GFLOP/s, TFLOP/s or PFLOP/s",
};

/* What was meant most likely. */
static const char *const likely[] = {
    [IDS_UNIT_NONE] = "",   [IDS_UNIT_COUNT] = "",    [IDS_UNIT_TIME] = "ms", [IDS_UNIT_BYTES] = "B",
    [IDS_UNIT_RATIO] = "%", [IDS_UNIT_RATE] = "GB/s", [IDS_UNIT_NUMBER] = "", [IDS_UNIT_FLOPS] = "TFLOP/s",
};

static int is_number(char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == '-';
}

static int lacks_unit(const char *text, size_t length, enum ids_unit unit, double number, struct ids_error *err) {
    if (unit == IDS_UNIT_RATIO && number > 0 && number <= 1)
        return ids_fail(err, IDS_USAGE,
                        "'%.*s' has no unit (expected %%): write '%g %%', or '%.*s %%' if that is meant", (int)length,
                        text, number * 100, (int)length, text);
    return ids_fail(err, IDS_USAGE, "'%.*s' has no unit (expected %s): write '%.*s %s'", (int)length, text,
                    expected[unit], (int)length, text, likely[unit]);
}

int ids_amount_parse(const char *text, size_t length, enum ids_unit unit, double *ret_value, struct ids_error *err) {
    size_t digits = 0;
    double number;
    while (digits < length && is_number(text[digits])) digits++;
    const char *name = text + digits;
    size_t name_length = length - digits;
    while (name_length && *name == ' ') name++, name_length--;
    while (name_length && name[name_length - 1] == ' ') name_length--;
    if (ids_decimal_real(text, digits, &number))
        return ids_fail(err, IDS_USAGE, "'%.*s' is not a number", (int)length, text);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (scales[i].unit != unit || strlen(scales[i].name) != name_length ||
            memcmp(scales[i].name, name, name_length) != 0)
            continue;
        *ret_value = number * scales[i].base;
        return 0;
    }
    if (!name_length && number == 0) {
        *ret_value = 0;
        return 0;
    }
    if (!name_length) return lacks_unit(text, digits, unit, number, err);
    return ids_fail(err, IDS_USAGE, "'%.*s': expected %s", (int)length, text, expected[unit]);
}
