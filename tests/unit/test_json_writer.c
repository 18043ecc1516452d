/* The JSON writer: what it prints is JSON for every input, and numbers are exact. */
#include "lib/wire/json_writer.h"
#include "lib/wire/utf8.h"
#include "tests/support/suite.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t length;
static FILE *file;

static struct ids_json begin(void) {
    file = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(file);
    return ids_json_to(file);
}

static void expect(const char *wanted) {
    fclose(file);
    ck_assert_str_eq(text, wanted);
    free(text);
}

START_TEST(test_layouts) {
    struct ids_json json = begin();
    ids_json_object(&json, IDS_JSON_BROKEN);
    ids_json_key(&json, "a");
    ids_json_int(&json, -1);
    ids_json_key(&json, "rows");
    ids_json_array(&json, IDS_JSON_BROKEN);
    ids_json_array(&json, IDS_JSON_INLINE);
    ids_json_bool(&json, 1);
    ids_json_null(&json);
    ids_json_end(&json);
    ids_json_object(&json, IDS_JSON_INLINE);
    ids_json_key(&json, "x");
    ids_json_array(&json, IDS_JSON_BROKEN); /* inline all the same, inside an inline one */
    ids_json_uint(&json, UINT64_MAX);
    ids_json_int(&json, INT64_MIN);
    ids_json_end(&json);
    ids_json_end(&json);
    ids_json_end(&json);
    ids_json_key(&json, "none");
    ids_json_array(&json, IDS_JSON_BROKEN);
    ids_json_end(&json);
    ids_json_end(&json);
    expect("{\n  \"a\": -1,\n  \"rows\": [\n    [true, null],\n"
           "    {\"x\":[\"18446744073709551615\", \"-9223372036854775808\"]}\n  ],\n  \"none\": []\n}\n");
}
END_TEST

static void expect_text(const char *given, size_t given_length, const char *wanted) {
    struct ids_json json = begin();
    ids_json_bytes(&json, given, given_length);
    expect(wanted);
}
#define EXPECT_TEXT(given, wanted) expect_text("" given, sizeof(given) - 1, wanted)

START_TEST(test_texts) {
    EXPECT_TEXT("", "\"\"");
    EXPECT_TEXT("a\"b\\c", "\"a\\\"b\\\\c\"");
    EXPECT_TEXT("\n\t\r\x01\x1b\x7f", "\"\\n\\t\\u000d\\u0001\\u001b\\u007f\"");
    EXPECT_TEXT("a\0b", "\"a\\u0000b\"");
    EXPECT_TEXT("\xc2\x9b", "\"\\u009b\""); /* C1: an escape sequence on some terminals */
    EXPECT_TEXT("é·𝄞", "\"é·𝄞\"");
    /* Broken: a lone continuation, a cut character, an overlong slash, a surrogate, above U+10FFFF, never valid. */
    EXPECT_TEXT("\x80", "\"\xef\xbf\xbd\"");
    EXPECT_TEXT("a\xe2\x80", "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    EXPECT_TEXT("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    EXPECT_TEXT("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    EXPECT_TEXT("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    EXPECT_TEXT("\xff"
                "b",
                "\"\xef\xbf\xbd"
                "b\"");
    struct ids_json json = begin();
    ids_json_text(&json, NULL);
    expect("null");
}
END_TEST

static void expect_decimal(int64_t value, int places, const char *wanted) {
    char buffer[IDS_NUMBER_BYTES];
    ck_assert_str_eq(ids_decimal_text(value, places, buffer), wanted);
}

START_TEST(test_decimals) {
    expect_decimal(0, 12, "0");
    expect_decimal(2737123456789, 12, "2.737123456789");
    expect_decimal(2737000000000, 12, "2.737");
    expect_decimal(1, 12, "0.000000000001");
    expect_decimal(-1, 12, "-0.000000000001");
    expect_decimal(-1500000000000, 12, "-1.5");
    expect_decimal(INT64_MAX, 12, "9223372.036854775807");
    expect_decimal(INT64_MIN, 12, "-9223372.036854775808");
    expect_decimal(INT64_MIN, 0, "-9223372036854775808");
    expect_decimal(INT64_MAX, 18, "9.223372036854775807");
    expect_decimal(100, 0, "100");
}
END_TEST

START_TEST(test_reals) {
    static const double values[] = {
        0, 1, -1, 0.1, 0.71, 1.0 / 3, 2.0 / 3, 1e21, 1e-7, 123456789012345678.0, DBL_MAX, DBL_MIN, DBL_EPSILON, 5e-324};
    char buffer[IDS_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ck_assert_ptr_nonnull(ids_real_text(values[i], buffer));
        ck_assert_msg(strtod(buffer, NULL) == values[i], "%s is not %.17g", buffer, values[i]);
    }
    ck_assert_str_eq(ids_real_text(0.71, buffer), "0.71");
    ck_assert_str_eq(ids_real_text(0.1 + 0.2, buffer), "0.30000000000000004");
    ck_assert_str_eq(ids_real_text(-0.0, buffer), "0");
    ck_assert_ptr_null(ids_real_text(NAN, buffer));
    ck_assert_ptr_null(ids_real_text(INFINITY, buffer));
    struct ids_json json = begin();
    ids_json_array(&json, IDS_JSON_INLINE);
    ids_json_real(&json, NAN);
    ids_json_real(&json, -INFINITY);
    ids_json_real(&json, 0.5);
    ids_json_real(&json, 11895360181508792.0);
    ids_json_real(&json, 1e300);
    ids_json_end(&json);
    expect("[null, null, 0.5, 11895360181508792.0, 1e+300]\n");
}
END_TEST

START_TEST(test_too_deep) {
    /* What is deeper than the limit is one null; the rest stays whole. */
    struct ids_json json = begin();
    for (int i = 0; i < IDS_JSON_DEPTH + 3; i++) ids_json_array(&json, IDS_JSON_INLINE);
    ids_json_int(&json, 7);
    for (int i = 0; i < IDS_JSON_DEPTH + 3; i++) ids_json_end(&json);
    char wanted[2 * IDS_JSON_DEPTH + 16];
    memset(wanted, '[', IDS_JSON_DEPTH);
    memcpy(wanted + IDS_JSON_DEPTH, "null", 4);
    memset(wanted + IDS_JSON_DEPTH + 4, ']', IDS_JSON_DEPTH);
    memcpy(wanted + 2 * IDS_JSON_DEPTH + 4, "\n", 2);
    expect(wanted);
}
END_TEST

IDS_RUN_SUITE("json_writer", test_layouts, test_texts, test_decimals, test_reals, test_too_deep)
