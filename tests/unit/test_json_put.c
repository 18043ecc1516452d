/* lib/wire/json_put.c: the exact characters. */
#include "lib/wire/base64.h"
#include "lib/wire/json_put.h"
#include "tests/support/suite.h"

#include <math.h>

static const char *text_of(struct ids_buffer *buffer) {
    ids_buffer_byte(buffer, '\0');
    ck_assert_int_eq(buffer->failed, 0);
    return buffer->at;
}

#define PUTS(call, wanted)                            \
    do {                                              \
        struct ids_buffer buffer = {0};               \
        call;                                         \
        ck_assert_str_eq(text_of(&buffer), (wanted)); \
        ids_buffer_done(&buffer);                     \
    } while (0)
#define PUTS_TEXT(text, wanted) PUTS(ids_json_put_text(&buffer, (text), sizeof(text) - 1), (wanted))

START_TEST(texts) {
    PUTS_TEXT("", "\"\"");
    PUTS_TEXT("plain", "\"plain\"");
    PUTS_TEXT("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    PUTS_TEXT("\b\t\n\v\f\r", "\"\\b\\t\\n\\u000b\\f\\r\"");
    PUTS_TEXT("\0\x01\x1f\x7f", "\"\\u0000\\u0001\\u001f\\u007f\"");
    PUTS_TEXT("é😀", "\"é😀\"");
    PUTS_TEXT("x\xff\xc3", "\"x\xef\xbf\xbd\xef\xbf\xbd\"");
    PUTS_TEXT("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* a surrogate */
}
END_TEST

START_TEST(numbers) {
    PUTS(ids_json_put_uint(&buffer, 0), "0");
    PUTS(ids_json_put_uint(&buffer, UINT64_MAX), "18446744073709551615");
    PUTS(ids_json_put_int(&buffer, INT64_MIN), "-9223372036854775808");
    PUTS(ids_json_put_int(&buffer, -7), "-7");
}
END_TEST

START_TEST(microseconds) {
    PUTS(ids_json_put_micro(&buffer, 0), "0");
    PUTS(ids_json_put_micro(&buffer, 1), "0.000001");
    PUTS(ids_json_put_micro(&buffer, 64559814000), "64559.814");
    PUTS(ids_json_put_micro(&buffer, 1147285002659), "1147285.002659");
    PUTS(ids_json_put_micro(&buffer, 5000000), "5");
    PUTS(ids_json_put_micro(&buffer, -1500000), "-1.5");
    PUTS(ids_json_put_micro(&buffer, -1), "-0.000001");
    PUTS(ids_json_put_micro(&buffer, INT64_MIN), "-9223372036854.775808");
}
END_TEST

START_TEST(reals) {
    PUTS(ids_json_put_real(&buffer, 0.0), "0.0");
    PUTS(ids_json_put_real(&buffer, -0.0), "-0.0");
    PUTS(ids_json_put_real(&buffer, 5.0), "5.0");
    PUTS(ids_json_put_real(&buffer, -3.0), "-3.0");
    PUTS(ids_json_put_real(&buffer, 0.1), "0.1");
    PUTS(ids_json_put_real(&buffer, 2.0 / 3), "0.6666666666666666");
    PUTS(ids_json_put_real(&buffer, 1e300), "1e+300");
    PUTS(ids_json_put_real(&buffer, 5e-324), "4.94065645841247e-324");
    PUTS(ids_json_put_real(&buffer, 9007199254740993.0), "9007199254740992.0"); /* 16 digits, and no point of its own */
    PUTS(ids_json_put_real(&buffer, (double)NAN), "\"NaN\"");
    PUTS(ids_json_put_real(&buffer, -(double)INFINITY), "\"-Infinity\"");
}
END_TEST

START_TEST(binary) {
    PUTS(ids_json_put_binary(&buffer, "", 0), "\"base64:\"");
    PUTS(ids_json_put_binary(&buffer, "f", 1), "\"base64:Zg==\""); /* RFC 4648, 10 */
    PUTS(ids_json_put_binary(&buffer, "fo", 2), "\"base64:Zm8=\"");
    PUTS(ids_json_put_binary(&buffer, "foobar", 6), "\"base64:Zm9vYmFy\"");
    PUTS(ids_json_put_binary(&buffer, "\xff\xfe", 2), "\"base64://4=\"");
}
END_TEST

START_TEST(binary_again) {
    static const struct {
        const char *text, *bytes;
        ptrdiff_t length;
    } cases[] = {
        {"", "", 0},     {"Zg==", "f", 1}, {"Zm8=", "fo", 2}, {"Zm9vYmFy", "foobar", 6}, {"//4=", "\xff\xfe", 2},
        {"Zg=", "", -1}, {"Zg=a", "", -1}, {"Zm 8", "", -1},  {"====", "", -1},          {"Zm9vYmFy=", "", -1},
        {"=g==", "", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[16];
        ptrdiff_t length = ids_base64_read(cases[i].text, strlen(cases[i].text), bytes);
        ck_assert_msg(length == cases[i].length && (length < 0 || !memcmp(bytes, cases[i].bytes, (size_t)length)),
                      "%s: %td", cases[i].text, length);
    }
}
END_TEST

IDS_RUN_SUITE("json_put", texts, numbers, microseconds, reals, binary, binary_again)
