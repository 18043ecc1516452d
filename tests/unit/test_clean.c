/* lib/wire/clean.h and lib/wire/csv_put.h. */
#include "lib/wire/clean.h"
#include "lib/wire/csv_put.h"
#include "lib/wire/json_put.h"
#include "tests/support/suite.h"

#include <string.h>

#define BAD "\xef\xbf\xbd"

static void is_text(struct ids_buffer *buffer, const char *wanted) {
    ids_buffer_byte(buffer, '\0');
    ck_assert_int_eq(buffer->failed, 0);
    ck_assert_str_eq(buffer->at, wanted);
    ids_buffer_done(buffer);
    *buffer = (struct ids_buffer){0};
}

static void cleans(const char *text, enum ids_clean_kind kind, const char *wanted) {
    struct ids_buffer buffer = {0};
    ids_clean_put(&buffer, text, strlen(text), kind);
    is_text(&buffer, wanted);
    ck_assert_int_eq(ids_is_clean(text, strlen(text), kind), !strcmp(text, wanted));
}

START_TEST(lines) {
    cleans("", IDS_CLEAN_LINE, "");
    cleans("plain \xc2\xb7 \xe4\xb8\xad", IDS_CLEAN_LINE, "plain \xc2\xb7 \xe4\xb8\xad");
    cleans("a\x1b[2Jb\x07\x7f", IDS_CLEAN_LINE, "a" BAD "[2Jb" BAD BAD);
    cleans("a\nb\tc\r", IDS_CLEAN_LINE, "a" BAD "b" BAD "c" BAD);
    cleans("a\nb\tc\r", IDS_CLEAN_LINES, "a\nb\tc" BAD);
    cleans("\xc2\x9b\xc2\x85", IDS_CLEAN_LINE, BAD BAD);                                      /* C1 */
    cleans("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8e\xd8\x9c", IDS_CLEAN_LINES, BAD BAD BAD BAD); /* directions */
    cleans("\xe2\x80\xa8", IDS_CLEAN_LINES, BAD);                                             /* a line separator */
    cleans("a\xff\xc3", IDS_CLEAN_LINES, "a" BAD BAD);
}
END_TEST

static void cell(const char *text, const char *wanted) {
    struct ids_buffer buffer = {0};
    ids_csv_put_text(&buffer, text, strlen(text));
    is_text(&buffer, wanted);
}

START_TEST(cells) {
    cell("", "");
    cell("plain", "plain");
    cell("a,b", "\"a,b\"");
    cell("a;b", "\"a;b\"");
    cell("say \"x\"", "\"say \"\"x\"\"\"");
    cell(" a", "\" a\"");
    cell("a\nb", "\"a\nb\"");
    cell("a\x1b\xff", "a" BAD BAD);
}
END_TEST

START_TEST(formulas) {
    cell("=1+1", "\"'=1+1\"");
    cell("+cmd", "\"'+cmd\"");
    cell("-x", "\"'-x\"");
    cell("@SUM(1)", "\"'@SUM(1)\"");
    cell("\t=1", "\"'\t=1\"");
    cell("\r=1", "\"'" BAD "=1\"");
    cell("\n=1", "\"'\n=1\"");
    cell("=\"x\"", "\"'=\"\"x\"\"\"");
    cell("\xef\xbc\x9d"
         "1",
         "\"'\xef\xbc\x9d"
         "1\"");
    cell("-1.5", "-1.5");
    cell("-1e-3", "-1e-3");
    cell("+2", "+2");
    cell("-", "\"'-\"");
    cell("+-2", "\"'+-2\"");
    cell("-1-1", "\"'-1-1\"");
    cell("a=1", "a=1");
}
END_TEST

START_TEST(json) {
    struct ids_buffer buffer = {0};
    const char text[] = "\xc2\x9b\xe2\x80\xae\x1b\xff\xc3\xa4";
    ids_json_put_text(&buffer, text, sizeof text - 1);
    is_text(&buffer, "\"\\u009b\\u202e\\u001b" BAD "\xc3\xa4\"");
}
END_TEST

IDS_RUN_SUITE("clean", lines, cells, formulas, json)
