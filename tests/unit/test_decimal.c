/* lib/base/decimal: times to the picosecond, integers at their limits, doubles that read back as they were. */
#include "lib/base/decimal.h"
#include "tests/support/suite.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int scaled(const char *text, int places, __int128 *ret) {
    return ids_decimal_scaled(text, strlen(text), places, ret);
}

START_TEST(times) {
    static const struct {
        const char *text;
        int64_t ps;
    } table[] = {
        {"0", 0},
        {"1", 1000000},
        {"64559.814", 64559814000},
        {"1147285.002659", 1147285002659},
        {"1e-06", 1},
        {"1E-6", 1},
        {"2.5e+3", 2500000000},
        {"-3.5", -3500000},
        {"1.9199999999999999", 1920000}, /* as "%.17g" prints 1.92 */
        {"0.0000004999", 0},
        {"0.0000005", 1},
        {"-0.0000005", -1},
        {"0.00000049999999999999999999999999999999999999999999", 0},
        {"1e-60", 0},
        {"0e99999999999", 0},
        {"4458676522690.655", 4458676522690655000},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        __int128 value = -7;
        ck_assert_msg(!scaled(table[i].text, 6, &value), "%s", table[i].text);
        ck_assert_msg(value == table[i].ps, "%s: %lld", table[i].text, (long long)value);
    }
    __int128 epoch; /* microseconds since 1970, beyond 64 bits of picoseconds */
    ck_assert_int_eq(scaled("1682725898236567.25", 6, &epoch), 0);
    ck_assert(epoch == (__int128)1682725898236567 * 1000000 + 250000);
    ck_assert_int_eq(scaled("999999999999999999999999999999", 6, &epoch), 0);
    ck_assert_int_eq(scaled("9999999999999999999999999999999", 6, &epoch), -1); /* 37 digits */
    ck_assert_int_eq(scaled("1e400", 6, &epoch), -1);
}
END_TEST

START_TEST(what_is_no_decimal) {
    static const char *const table[] = {"",  "-",  "+1", ".5",   "1.",  "1.e5", "1e",  "1e+", "1.2.3",
                                        "x", "1 ", " 1", "0x10", "NaN", "inf",  "1,5", "--1", "1e5x"};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        __int128 value;
        int64_t integer;
        double real;
        ck_assert_msg(scaled(table[i], 6, &value) == -1, "'%s'", table[i]);
        ck_assert_msg(!ids_decimal_integer(table[i], strlen(table[i]), &integer), "'%s'", table[i]);
        ck_assert_msg(ids_decimal_real(table[i], strlen(table[i]), &real) == -1, "'%s'", table[i]);
    }
}
END_TEST

START_TEST(integers) {
    int64_t value;
    ck_assert_int_eq(ids_decimal_integer("9223372036854775807", 19, &value), 1);
    ck_assert(value == INT64_MAX);
    ck_assert_int_eq(ids_decimal_integer("-9223372036854775808", 20, &value), 1);
    ck_assert(value == INT64_MIN);
    ck_assert_int_eq(ids_decimal_integer("9223372036854775808", 19, &value), 2);
    ck_assert((uint64_t)value == (uint64_t)INT64_MAX + 1);
    ck_assert_int_eq(ids_decimal_integer("18446744073709551615", 20, &value), 2);
    ck_assert((uint64_t)value == UINT64_MAX);
    ck_assert_int_eq(ids_decimal_integer("18446744073709551616", 20, &value), 0);
    ck_assert_int_eq(ids_decimal_integer("-9223372036854775809", 20, &value), 0);
    ck_assert_int_eq(ids_decimal_integer("1.0", 3, &value), 0);
    ck_assert_int_eq(ids_decimal_integer("-0", 2, &value), 1);
    ck_assert_int_eq(value, 0);
}
END_TEST

/* Against the C library, in the locale that a user may have, on numbers of every size and number of digits. */
START_TEST(reals) {
    setlocale(LC_ALL, "de_DE.UTF-8"); /* harmless where it is not installed */
    uint64_t state = 42;
    int count = getenv("IDS_VALGRIND") ? 5000 : 200000;
    for (int i = 0; i < count; i++) {
        char text[64];
        state = state * 6364136223846793005u + 1442695040888963407u;
        double wanted, got;
        uint64_t bits = state ^ state >> 29;
        memcpy(&wanted, &bits, sizeof wanted);
        if (!isfinite(wanted)) continue;
        if (i % 2) wanted = ldexp((double)(bits >> 40), (int)(bits % 60) - 30);
        setlocale(LC_ALL, "C");
        snprintf(text, sizeof text, "%.*g", 1 + (int)(bits % 17), wanted);
        wanted = strtod(text, NULL);
        ck_assert_int_eq(ids_decimal_real(text, strlen(text), &got), 0);
        ck_assert_msg(!memcmp(&got, &wanted, sizeof got), "%s: %.17g", text, got);
    }
    double value;
    ck_assert_int_eq(ids_decimal_real("1e400", 5, &value), 0);
    ck_assert(isinf(value));
    ck_assert_int_eq(ids_decimal_real("9007199254740993", 16, &value), 0); /* halfway: to even */
    ck_assert_double_eq(value, 9007199254740992.0);
    char many[2000];
    memset(many, '1', sizeof many);
    ck_assert_int_eq(ids_decimal_real(many, sizeof many, &value), -1);
}
END_TEST

IDS_RUN_SUITE("decimal", times, what_is_no_decimal, integers, reals)
