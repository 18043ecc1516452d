/* lib/model/nesting.h: the one rule of what lies inside what, for reports and for rows. */
#include "lib/model/nesting.h"
#include "tests/support/suite.h"

START_TEST(inside_and_beside) {
    static const struct {
        int64_t start, end, open_end;
        enum ids_nesting nesting;
    } table[] = {
        {2, 5, 10, IDS_NESTING_INSIDE},   {2, 10, 10, IDS_NESTING_INSIDE}, /* they end together */
        {2, 11, 10, IDS_NESTING_ACROSS},  {10, 12, 10, IDS_NESTING_AFTER}, /* the next begins where the last ends */
        {10, 10, 10, IDS_NESTING_INSIDE},                                  /* a moment at its end */
        {11, 11, 10, IDS_NESTING_AFTER},  {11, 20, 10, IDS_NESTING_AFTER},
        {5, 5, 5, IDS_NESTING_INSIDE},    {-9, -5, -5, IDS_NESTING_INSIDE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_msg(ids_nesting_of(table[i].start, table[i].end, table[i].open_end) == table[i].nesting, "%zu", i);
}
END_TEST

START_TEST(self_time) {
    ck_assert_int_eq(ids_self_time(10, 0), 10);
    ck_assert_int_eq(ids_self_time(10, 4), 6);
    ck_assert_int_eq(ids_self_time(10, 12), 0); /* its children lie on lanes beside each other */
    ck_assert_int_eq(ids_self_time(INT64_MIN, INT64_MAX), 0);
}
END_TEST

IDS_RUN_SUITE("nesting", inside_and_beside, self_time)
