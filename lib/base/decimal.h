/* decimal.h - numbers out of their decimal texts, exactly, without a locale.
 *
 * A decimal is [-]digits[.digits][e[+-]digits], as JSON writes numbers; a leading '+' and a bare '.' are not.
 */
#ifndef IDS_LIB_BASE_DECIMAL_H
#define IDS_LIB_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/* The number times 10^places, to the nearest integer (halves away from zero): microseconds with 6 places are
 * picoseconds. Returns 0, or -1 when the text is no decimal or the result has more than 36 digits. */
int ids_decimal_scaled(const char *text, size_t length, int places, __int128 *ret_value);

/* 1 and *ret_value when the text is an integer (no point, no exponent) within int64; 2 and the value's bits when it is
 * one within uint64 only; else 0. */
int ids_decimal_integer(const char *text, size_t length, int64_t *ret_value);

/* The nearest double; infinity beyond its range. Returns 0, or -1 when the text is no decimal or has more
 * than a thousand characters. */
int ids_decimal_real(const char *text, size_t length, double *ret_value);

#endif
