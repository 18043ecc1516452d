/* The plan as the launcher hands it over: what is written is read back, whatever is in it; what is damaged is
 * refused with a reason. */
#include "collectors/common/plan.h"

#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct ids_plan plan;
static char why[256], buffer[IDS_PLAN_BYTES];

START_TEST(test_defaults) {
    ck_assert_int_eq(ids_plan_parse("", &plan, why, sizeof why), 0);
    ck_assert_int_eq(plan.start_step, 153);
    ck_assert_int_eq(plan.steps, 5);
    ck_assert_int_eq(plan.every, 0);
    ck_assert_int_eq(plan.max, 1);
    ck_assert_int_eq(plan.host_level, 2);
    ck_assert_int_eq(plan.device_level, 1);
    ck_assert_int_eq(plan.python_level, 0);
    ck_assert_int_eq(plan.stop_timeout_ns, 60000000000);
    ck_assert_str_eq(plan.range, "");
}
END_TEST

START_TEST(test_values) {
    const char *text = "start_step=-1;steps=7;delay_ns=2000000000;range=one%3Bblock%25;ranks=0,4-7;unknown=1;;run=r";
    ck_assert_int_eq(ids_plan_parse(text, &plan, why, sizeof why), 0);
    ck_assert_int_eq(plan.start_step, -1);
    ck_assert_int_eq(plan.steps, 7);
    ck_assert_int_eq(plan.delay_ns, 2000000000);
    ck_assert_str_eq(plan.range, "one;block%");
    ck_assert_str_eq(plan.ranks, "0,4-7");
    ck_assert_str_eq(plan.run, "r");
    ck_assert_int_eq(plan.max, 1);
}
END_TEST

static void refuse(const char *text, const char *reason) {
    why[0] = '\0';
    ck_assert_int_eq(ids_plan_parse(text, &plan, why, sizeof why), -1);
    ck_assert_str_eq(why, reason);
}

START_TEST(test_refused) {
    refuse("steps", "'steps' in the plan has no value");
    refuse("steps=", "the plan's steps is not understood: ''");
    refuse("steps=1;max=5x", "the plan's max is not understood: '5x'");
    refuse("steps=9223372036854775808", "the plan's steps is not understood: '9223372036854775808'");
    refuse("steps=-2", "the plan's steps is not understood: '-2'");
    refuse("range=a%3", "the plan's range is not understood: 'a%3'");
    refuse("range=%", "the plan's range is not understood: '%'");
    refuse("range=%00", "the plan's range is not understood: '%00'");
    refuse("range=%zz", "the plan's range is not understood: '%zz'");
    refuse("ranks=1-", "the plan's ranks are not a list such as 0,4-7: '1-'");
    char text[IDS_PLAN_BYTES + 16];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    refuse(text, "the plan has more than 16384 bytes");
    snprintf(text, sizeof text, "range=%0256d", 0); /* one more than there is room for */
    ck_assert_int_eq(ids_plan_parse(text, &plan, why, sizeof why), -1);
    snprintf(text, sizeof text, "range=%0255d", 0);
    ck_assert_int_eq(ids_plan_parse(text, &plan, why, sizeof why), 0);
    ck_assert_uint_eq(strlen(plan.range), 255);
}
END_TEST

START_TEST(test_round_trip) {
    struct ids_plan before, after;
    ids_plan_default(&before);
    before.start_step = -1;
    before.launcher = 4242;
    snprintf(before.range, sizeof before.range, "a=b;c%%41\n\x7f \xc3\xa4");
    snprintf(before.wrap, sizeof before.wrap, "pkg.mod:f,other:g");
    ck_assert_int_gt(ids_plan_format(&before, buffer, sizeof buffer), 0);
    ck_assert_ptr_null(strchr(buffer, '\n'));
    ck_assert_int_eq(ids_plan_parse(buffer, &after, why, sizeof why), 0);
    ck_assert_mem_eq(&before, &after, sizeof before);
    ck_assert_int_eq(ids_plan_format(&before, buffer, 20), -1);
}
END_TEST

/* Every text full of characters that are escaped fits into the limit that the agent reads. */
START_TEST(test_longest) {
    struct ids_plan before, after;
    ids_plan_default(&before);
    char *const texts[] = {before.range, before.step_executable};
    for (size_t i = 0; i < 2; i++) memset(texts[i], ';', IDS_PLAN_TEXT - 1);
    memset(before.wrap, ';', sizeof before.wrap - 1);
    memset(before.profile_options, ';', sizeof before.profile_options - 1);
    memset(before.run, '%', sizeof before.run - 1);
    ck_assert_int_gt(ids_plan_format(&before, buffer, sizeof buffer), 0);
    ck_assert_int_eq(ids_plan_parse(buffer, &after, why, sizeof why), 0);
    ck_assert_mem_eq(&before, &after, sizeof before);
}
END_TEST

START_TEST(test_single_values) {
    char value[16];
    ck_assert_int_eq(ids_plan_parse("range=x%20y;steps=12", &plan, why, sizeof why), 0);
    ck_assert_int_eq(ids_plan_value(&plan, "steps", value, sizeof value), 2);
    ck_assert_str_eq(value, "12");
    ck_assert_int_eq(ids_plan_value(&plan, "range", value, sizeof value), 3);
    ck_assert_str_eq(value, "x y");
    ck_assert_int_eq(ids_plan_value(&plan, "range", value, 3), -1);
    ck_assert_int_eq(ids_plan_value(&plan, "rang", value, sizeof value), -1);
}
END_TEST

START_TEST(test_ranks) {
    ck_assert(ids_ranks_have("", 5));
    ck_assert(ids_ranks_have("0,4-7", 0));
    ck_assert(!ids_ranks_have("0,4-7", 3));
    ck_assert(ids_ranks_have("0,4-7", 4));
    ck_assert(ids_ranks_have("0,4-7", 7));
    ck_assert(!ids_ranks_have("0,4-7", 8));
    ck_assert(ids_ranks_valid("") && ids_ranks_valid("3") && ids_ranks_valid("3-3,5"));
    ck_assert(!ids_ranks_valid(",") && !ids_ranks_valid("3,") && !ids_ranks_valid("7-4") && !ids_ranks_valid("a"));
    ck_assert(!ids_ranks_valid("1 2") && !ids_ranks_valid("-1") && !ids_ranks_valid("99999999999999999999"));
}
END_TEST

IDS_RUN_SUITE("plan", test_defaults, test_values, test_refused, test_round_trip, test_longest, test_single_values,
              test_ranks)
