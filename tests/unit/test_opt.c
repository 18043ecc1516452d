/* Options: one table gives parsing and help; values are exact; mistakes are named. */
#include "lib/base/quantity.h"
#include "lib/cli/nearest.h"
#include "lib/cli/opt.h"
#include "lib/wire/shell_quote.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

struct values {
    int flag, choice;
    int64_t count, time_ps;
    const char *text, *word;
    struct ids_opt_texts texts;
};

static const char *colour_choice(int i) {
    static const char *const names[] = {"red", "dark_blue", NULL};
    return names[i];
}

#define AT(field) offsetof(struct values, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 'f', "flag", NULL, "a flag", AT(flag), NULL},
    {IDS_OPT_COUNT, 'n', "count", "N", "a number", AT(count), NULL},
    {IDS_OPT_TIME, 0, "time", "TIME", "a time", AT(time_ps), NULL},
    {IDS_OPT_TEXT, 't', "text", "WORD", "a text", AT(text), NULL},
    {IDS_OPT_TEXT, 0, "word", "WORD", "a word of a list", AT(word), colour_choice},
    {IDS_OPT_TEXTS, 's', "several", "WORD", "texts", AT(texts), NULL},
    {IDS_OPT_CHOICE, 'c', "colour", "NAME", "one of them", AT(choice), colour_choice},
};
enum { OPTS = sizeof opts / sizeof *opts };

static struct values values;
static struct ids_error err;
static char *arguments[128];

/* Parses the words of a line; arguments[] holds them in the order that getopt left. */
static int parse(const char *line) {
    static char copy[512];
    int count = 0;
    snprintf(copy, sizeof copy, "command %s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) arguments[count++] = word;
    arguments[count] = NULL;
    memset(&values, 0, sizeof values);
    values.choice = -1;
    err = (struct ids_error)IDS_ERROR_INIT;
    return ids_opt_parse(opts, OPTS, count, arguments, &values, &err);
}

static void expect_error(const char *line, const char *message) {
    ck_assert_int_eq(parse(line), IDS_USAGE);
    ck_assert_str_eq(err.text, message);
}

START_TEST(test_values) {
    int first = parse("run1 -f --count 12 --time=1.5ms -t x --word red -s a --several b --colour dark-blue run2");
    ck_assert_int_gt(first, 0);
    ck_assert_str_eq(arguments[first], "run1");
    ck_assert_str_eq(arguments[first + 1], "run2");
    ck_assert_int_eq(values.flag, 1);
    ck_assert_int_eq(values.count, 12);
    ck_assert_int_eq(values.time_ps, 1500000000);
    ck_assert_str_eq(values.text, "x");
    ck_assert_str_eq(values.word, "red");
    ck_assert_uint_eq(values.texts.count, 2);
    ck_assert_str_eq(values.texts.at[1], "b");
    ck_assert_int_eq(values.choice, 1); /* '-' and '_' are one */
}
END_TEST

START_TEST(test_ends) {
    int first = parse("-f -- --count");
    ck_assert_int_gt(first, 0);
    ck_assert_str_eq(arguments[first], "--count");
    first = parse("-");
    ck_assert_str_eq(arguments[first], "-");   /* standard input is an operand */
    ck_assert_int_gt(parse("--text=-- x"), 0); /* and so can this be said */
    ck_assert_str_eq(values.text, "--");
    ck_assert_int_eq(parse("-h"), IDS_OPT_HELP);
    ck_assert_int_eq(parse("x --help --nonsense"), IDS_OPT_HELP);
    ck_assert_int_gt(parse("--cou 3"), 0); /* an abbreviation, as getopt_long has them */
    ck_assert_int_eq(values.count, 3);
}
END_TEST

START_TEST(test_mistakes) {
    expect_error("--cuont 3", "unknown option '--cuont'; did you mean '--count'?");
    expect_error("--zzzzzz", "unknown option '--zzzzzz'");
    expect_error("-z", "unknown option '-z'");
    expect_error("-fz", "unknown option '-z'");
    expect_error("--co 3", "ambiguous option '--co'");
    expect_error("--count", "option '--count' needs a value (N)");
    expect_error("-n", "option '--count' needs a value (N)");
    expect_error("--text -- x", "option '--text' needs a value (WORD)");
    expect_error("-f -t -- x", "option '--text' needs a value (WORD)");
    expect_error("--several a --several --", "option '--several' needs a value (WORD)");
    expect_error("--flag=1", "option '--flag' takes no value");
    expect_error("--count -3", "--count: '-3' is below 0");
    expect_error("--count 99999999999999999999", "--count: '99999999999999999999' is too large");
    expect_error("--colour green", "--colour: invalid value 'green' (red, dark_blue)");
    expect_error("--word green", "--word: invalid value 'green' (red, dark_blue)");
}
END_TEST

START_TEST(test_too_many_texts) {
    char line[512] = "";
    for (int i = 0; i <= IDS_OPT_TEXTS_MAX; i++) strncat(line, "-s a ", sizeof line - strlen(line) - 1);
    expect_error(line, "--several: given more than 32 times");
}
END_TEST

static void expect_time(const char *text, int64_t wanted_ps) {
    int64_t ps = -1;
    ck_assert_msg(ids_parse_time(text, &ps, &err) == 0, "%s: %s", text, err.text);
    ck_assert_msg(ps == wanted_ps, "%s: %lld", text, (long long)ps);
}

START_TEST(test_times) {
    expect_time("0", 0);
    expect_time("0.0", 0);
    expect_time("7ps", 7);
    expect_time("10us", 10000000);
    expect_time("10µs", 10000000);
    expect_time("1.5ms", 1500000000);
    expect_time(".5 s", 500000000000);
    expect_time("2.s", 2000000000000);
    expect_time("1.000000000001s", 1000000000001); /* a double would do, but not for the next */
    expect_time("9007199.254740993001s", 9007199254740993001);
    expect_time("1.0000ns", 1000);
    expect_time("10m", 600 * (int64_t)1000000000000);
    expect_time("1.5 min", 90 * (int64_t)1000000000000);
    expect_time("2h", 7200 * (int64_t)1000000000000);
    static const char *const wrong[] = {"",    ".",    "s",     "5",        "1.5",       "1..5s",    "1.2.3s", "-1s",
                                        "5 d", "1e3s", "0.5ps", "1.0001ns", "99999999s", "9223373s", "0x10s",  "nan"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t ps = 42;
        ck_assert_msg(ids_parse_time(wrong[i], &ps, &err) == IDS_USAGE, "%s was taken", wrong[i]);
        ck_assert_int_eq(ps, 42);
    }
}
END_TEST

START_TEST(test_help) {
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ids_opt_help(opts, 2, out);
    fclose(out);
    ck_assert_str_eq(text, "  -f, --flag     a flag\n"
                           "  -n, --count N  a number\n"
                           "  -h, --help     this text\n");
    free(text);
}
END_TEST

static const char *id_choice(int i) {
    static const char *const ids[] = {"idle.total", "idle.share", "idle.longest", "steps.mean", "steps.median", NULL};
    return ids[i];
}

START_TEST(test_nearest) {
    char near[256];
    ck_assert_int_eq(ids_edit_distance("", "abc"), 3);
    ck_assert_int_eq(ids_edit_distance("report", "report"), 0);
    ck_assert_int_eq(ids_edit_distance("reprot", "report"), 1); /* neighbours swapped */
    ck_assert_int_eq(ids_edit_distance("kitten", "sitting"), 3);
    ck_assert_int_eq(ids_nearest("idle.shar", id_choice, "", near, sizeof near), 1);
    ck_assert_str_eq(near, "; did you mean 'idle.share'?");
    ck_assert_int_eq(ids_nearest("steps", id_choice, "", near, sizeof near), 2);
    ck_assert_str_eq(near, "; did you mean 'steps.mean' or 'steps.median'?");
    ck_assert_int_eq(ids_nearest("longest", id_choice, "", near, sizeof near), 1);
    ck_assert_int_eq(ids_nearest("qqqq", id_choice, "", near, sizeof near), 0);
    ck_assert_str_eq(near, "");
}
END_TEST

START_TEST(test_shell_quote) {
    char buffer[64];
    ids_shell_quote("runs/a-1.pb", buffer, sizeof buffer);
    ck_assert_str_eq(buffer, "runs/a-1.pb");
    ids_shell_quote("my run's; rm", buffer, sizeof buffer);
    ck_assert_str_eq(buffer, "'my run'\\''s; rm'");
    ids_shell_quote("", buffer, sizeof buffer);
    ck_assert_str_eq(buffer, "''");
}
END_TEST

IDS_RUN_SUITE("opt", test_values, test_ends, test_mistakes, test_too_many_texts, test_times, test_help, test_nearest,
              test_shell_quote)
