#include "lib/base/quantity.h"

#include "lib/base/decimal.h"

#include <stdio.h>
#include <string.h>

int ids_parse_count(const char *text, int64_t *ret_count, struct ids_error *err) {
    int64_t count = 0;
    if (!*text) return ids_fail(err, IDS_USAGE, "a whole number is needed");
    if (*text == '-' && text[1] && !text[1 + strspn(text + 1, "0123456789")])
        return ids_fail(err, IDS_USAGE, "'%s' is below 0", text);
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9') return ids_fail(err, IDS_USAGE, "'%s' is not a whole number", text);
        if (__builtin_mul_overflow(count, 10, &count) || __builtin_add_overflow(count, *at - '0', &count)) {
            return ids_fail(err, IDS_USAGE, "'%s' is too large", text);
        }
    }
    *ret_count = count;
    return 0;
}

struct time_unit {
    const char *name;
    int places; /* decimal places down to picoseconds of so many of it: */
    int64_t times;
};

static const struct time_unit *find_time_unit(const char *name) {
    static const struct time_unit units[] = {{"ps", 0, 1}, {"ns", 3, 1},    {"us", 6, 1},  {"µs", 6, 1},   {"ms", 9, 1},
                                             {"s", 12, 1}, {"min", 12, 60}, {"m", 12, 60}, {"h", 12, 3600}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(units[i].name, name)) return &units[i];
    }
    return NULL;
}

int ids_parse_time(const char *text, int64_t *ret_ps, struct ids_error *err) {
    size_t number = strspn(text, "0123456789.");
    const char *point = memchr(text, '.', number);
    size_t digits = number - (point != NULL);
    if (!digits || (point && memchr(point + 1, '.', number - (size_t)(point + 1 - text)))) {
        return ids_fail(err, IDS_USAGE, "'%s' is not a time such as 10us, 1.5ms or 2s", text);
    }
    const char *unit_name = text + number;
    while (*unit_name == ' ') unit_name++;
    const struct time_unit *unit = find_time_unit(unit_name);
    int is_zero = strspn(text, "0.") == strlen(text);
    if (!unit && !is_zero) return ids_fail(err, IDS_USAGE, "'%s' needs a unit: ps, ns, us, ms, s, m or h", text);
    int places = unit ? unit->places : 0;
    int left = places; /* places still to come, once the point is passed */
    int64_t ps = 0;
    for (const char *at = text; at < text + number; at++) {
        if (*at == '.') continue;
        int behind_point = point && at > point;
        if (behind_point && !left) {
            if (*at == '0') continue;
            return ids_fail(err, IDS_USAGE, "'%s' is finer than a picosecond", text);
        }
        left -= behind_point;
        if (__builtin_mul_overflow(ps, 10, &ps) || __builtin_add_overflow(ps, *at - '0', &ps)) {
            return ids_fail(err, IDS_USAGE, "'%s' is too long", text);
        }
    }
    for (; left > 0; left--) {
        if (__builtin_mul_overflow(ps, 10, &ps)) return ids_fail(err, IDS_USAGE, "'%s' is too long", text);
    }
    if (unit && __builtin_mul_overflow(ps, unit->times, &ps)) return ids_fail(err, IDS_USAGE, "'%s' is too long", text);
    *ret_ps = ps;
    return 0;
}

int ids_parse_size(const char *text, int64_t *ret_bytes, struct ids_error *err) {
    static const char units[] = "BKMGT"; /* powers of 1024; "G", "GB" and "GiB" are the same */
    size_t digits = strspn(text, "0123456789."), places = 0;
    char number[32];
    const char *end = text + digits, *unit = *end ? strchr(units, *end & ~0x20) : units;
    double value;
    __int128 bytes;
    if (unit) places = (size_t)(unit - units);
    if (*end) end += 1 + (end[1] == 'i');
    if (places && (*end & ~0x20) == 'B') end++;
    if (!digits || digits >= sizeof number || !unit || *end)
        return ids_fail(err, IDS_USAGE, "'%s' is not a size such as 500M or 8G", text);
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    if (ids_decimal_real(number, digits, &value) || ids_decimal_scaled(number, digits, 9, &bytes))
        return ids_fail(err, IDS_USAGE, "'%s' is not a size such as 500M or 8G", text);
    if (value * (double)(INT64_C(1) << 10 * places) > 4e18) return ids_fail(err, IDS_USAGE, "'%s' is too large", text);
    *ret_bytes = (int64_t)(bytes * ((__int128)1 << 10 * places) / 1000000000);
    return 0;
}

int ids_parse_share(const char *text, double *ret_share, struct ids_error *err) {
    size_t length = strlen(text);
    int percent = length && text[length - 1] == '%';
    if (percent) length--;
    while (length && text[length - 1] == ' ') length--;
    double value;
    if (ids_decimal_real(text, length, &value) || !(value >= 0 && value < 1e6))
        return ids_fail(err, IDS_USAGE, "'%s' is not a percentage (expected 2%% or 0.02)", text);
    if (!percent && value >= 1)
        return ids_fail(err, IDS_USAGE, "'%s' has no unit: write '%.*s%%'", text, (int)length, text);
    *ret_share = percent ? value / 100 : value;
    return 0;
}
