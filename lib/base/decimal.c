#include "lib/base/decimal.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A decimal taken apart: (-1)^negative * mantissa * 10^exponent, where digits behind the first 36 are left out (`cut`,
 * with their places counted in the exponent). */
struct decimal {
    unsigned __int128 mantissa;
    int64_t exponent;
    int negative, cut;
};

enum { HEAD_DIGITS = 19, MANTISSA_DIGITS = 36, EXPONENT_MAX = 1000000, LIBRARY_BYTES = 1024 };

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int take_apart(const char *text, size_t length, struct decimal *ret) {
    const char *at = text, *end = text + length;
    struct decimal decimal = {0};
    uint64_t head = 0; /* the first 19 digits, which need no 128-bit steps */
    int digits = 0, used = 0;
    if (at < end && *at == '-') {
        decimal.negative = 1;
        at++;
    }
    for (int fraction = 0; at < end; at++) {
        if (*at == '.' && !fraction && digits) {
            fraction = 1;
            if (at + 1 == end || !is_digit(at[1])) return -1;
            continue;
        }
        if (!is_digit(*at)) break;
        digits++;
        if (used < HEAD_DIGITS) {
            head = head * 10 + (unsigned)(*at - '0');
            used += head != 0;
            decimal.exponent -= fraction;
        } else if (used < MANTISSA_DIGITS) {
            decimal.mantissa = (used == HEAD_DIGITS ? head : decimal.mantissa) * 10 + (unsigned)(*at - '0');
            used++;
            decimal.exponent -= fraction;
        } else {
            decimal.cut |= *at != '0';
            decimal.exponent += !fraction;
        }
    }
    if (!digits) return -1;
    if (used <= HEAD_DIGITS) decimal.mantissa = head;
    if (at < end && (*at == 'e' || *at == 'E')) {
        int64_t exponent = 0;
        int negative = 0;
        at++;
        if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
        if (at == end) return -1;
        for (; at < end && is_digit(*at); at++) {
            if (exponent < EXPONENT_MAX) exponent = exponent * 10 + (*at - '0');
        }
        decimal.exponent += negative ? -exponent : exponent;
    }
    if (at != end) return -1;
    *ret = decimal;
    return 0;
}

/* Up to 18 digits without an exponent and with no more than `places` behind the point: all but a few numbers of a
 * trace. */
static int scale_plain(const char *text, size_t length, int places, __int128 *ret_value) {
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    const char *const end = text + length, *point = NULL;
    uint64_t mantissa = 0;
    if (!length || length > 19 || (size_t)places >= sizeof powers / sizeof *powers || !is_digit(*text)) return 0;
    for (const char *at = text; at < end; at++) {
        const unsigned digit = (unsigned)*at - '0';
        if (digit <= 9) {
            mantissa = mantissa * 10 + digit;
        } else if (*at == '.' && !point) {
            point = at;
        } else {
            return 0;
        }
    }
    const size_t behind = point ? (size_t)(end - point - 1) : 0;
    if (behind > (size_t)places || (!behind && (point || length > 18))) return 0;
    *ret_value = (__int128)mantissa * (__int128)powers[(size_t)places - behind];
    return 1;
}

int ids_decimal_scaled(const char *text, size_t length, int places, __int128 *ret_value) {
    struct decimal decimal;
    if (scale_plain(text, length, places, ret_value)) return 0;
    if (take_apart(text, length, &decimal)) return -1;
    static const unsigned __int128 limit = (unsigned __int128)1000000000000000000 * 1000000000000000000;
    int64_t exponent = decimal.exponent + places;
    if (exponent < -MANTISSA_DIGITS) decimal.mantissa = 0;
    if (exponent < 0 && decimal.mantissa) {
        unsigned __int128 divisor = 1;
        for (; exponent < 0; exponent++) divisor *= 10;
        decimal.mantissa = decimal.mantissa / divisor + (decimal.mantissa % divisor >= (divisor + 1) / 2);
    }
    for (; exponent > 0 && decimal.mantissa; exponent--) {
        if (decimal.mantissa >= limit / 10) return -1;
        decimal.mantissa *= 10;
    }
    *ret_value = decimal.negative ? -(__int128)decimal.mantissa : (__int128)decimal.mantissa;
    return 0;
}

int ids_decimal_integer(const char *text, size_t length, int64_t *ret_value) {
    size_t at = length && *text == '-';
    uint64_t value = 0;
    if (at == length) return 0;
    for (size_t i = at; i < length; i++) {
        if (!is_digit(text[i])) return 0;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return 0;
    }
    if (at && value > (uint64_t)INT64_MAX + 1) return 0;
    *ret_value = (int64_t)(at ? 0 - value : value);
    return !at && value > INT64_MAX ? 2 : 1;
}

static locale_t c_locale;
static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* What the exact cases below do not reach. */
static int real_by_library(const char *text, size_t length, double *ret_value) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char copy[LIBRARY_BYTES];
    pthread_once(&once, make_locale);
    if (!c_locale || length >= sizeof copy) return -1;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *ret_value = strtod_l(copy, NULL, c_locale);
    return 0;
}

int ids_decimal_real(const char *text, size_t length, double *ret_value) {
    /* Both the mantissa below 2^53 and these powers are exact doubles, so that one rounding is left (Clinger). */
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct decimal decimal;
    if (take_apart(text, length, &decimal)) return -1;
    if (!decimal.cut && decimal.mantissa <= (uint64_t)1 << 53 && decimal.exponent >= -22 && decimal.exponent <= 22) {
        double value = (double)(uint64_t)decimal.mantissa;
        value = decimal.exponent < 0 ? value / powers[-decimal.exponent] : value * powers[decimal.exponent];
        *ret_value = decimal.negative ? -value : value;
        return 0;
    }
    return real_by_library(text, length, ret_value);
}
