/* lib/analysis/recurrence: in which steps a cost comes. */
#include "lib/analysis/recurrence.h"
#include "lib/analysis/step_sums.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

/* Of a cost that is "1" or "9" in a step, "." nothing. */
static struct ids_recurrence of(const char *steps) {
    struct ids_step_cell cells[64];
    size_t count = 0, step = 0;
    for (; steps[step]; step++) {
        if (steps[step] != '.') cells[count++] = (struct ids_step_cell){(uint32_t)step, (steps[step] - '0') * 1000};
    }
    return ids_recurrence_of(cells, count, step);
}

START_TEST(a_few_steps_have_it) {
    struct ids_recurrence recurs = of("...9......");
    ck_assert_uint_eq(recurs.steps, 1);
    ck_assert_uint_eq(recurs.first, 3);
    ck_assert_int_eq(recurs.ps, 9000);
    ck_assert_int_eq(ids_recurs_in_few(&recurs, 10), 1);
    recurs = of("9999999999"); /* all */
    ck_assert_uint_eq(recurs.steps, 10);
    ck_assert_int_eq(ids_recurs_in_few(&recurs, 10), 0);
    recurs = of("9.9.9.9..9"); /* half of them */
    ck_assert_int_eq(ids_recurs_in_few(&recurs, 10), 1);
    recurs = of("9.9.99.9.9"); /* more */
    ck_assert_int_eq(ids_recurs_in_few(&recurs, 10), 0);
    recurs = of("1119111111"); /* one has the most, and the others half of it together: it is no matter of one step */
    ck_assert_uint_eq(recurs.steps, 1);
    ck_assert_int_eq(recurs.whole, 0);
    ck_assert_int_eq(ids_recurs_in_few(&recurs, 10), 0);
    ck_assert_int_eq(ids_recurs_unevenly(&recurs, 10), 1); /* 9 of a mean of 1.8 */
    ck_assert_uint_eq(recurs.most, 3);
    ck_assert_uint_eq(recurs.seen, 10); /* but each has a tenth of that */
    recurs = of("1113111111");
    ck_assert_int_eq(ids_recurs_unevenly(&recurs, 10), 0);
    recurs = of("..........");
    ck_assert_uint_eq(recurs.steps, 0);
    ck_assert_int_eq(ids_recurs_in_few(&recurs, 10), 0);
}
END_TEST

START_TEST(every_so_many_steps) {
    ck_assert_uint_eq(of(".9...9...9..").period, 4);
    ck_assert_uint_eq(of("9.9.9.").period, 2);
    ck_assert_uint_eq(of("9999").period, 0);         /* each one */
    ck_assert_uint_eq(of("9....9....").period, 0);   /* two are no period */
    ck_assert_uint_eq(of(".9..9...9..").period, 0);  /* another distance */
    ck_assert_uint_eq(of(".....9..9..9").period, 0); /* it would have come at 2 */
    ck_assert_uint_eq(of("9..9..9.....").period, 0); /* and at 9 */
}
END_TEST

START_TEST(only_at_first) {
    static const struct {
        const char *steps;
        int is;
    } cases[] = {{"9..", 1},        {"9.", 0},                            /* two steps tell nothing */
                 {"9.........", 1}, {"99........", 1}, {"999.......", 0}, /* a fifth of them at most */
                 {"9....9....", 0}, {".9........", 0}, {"9.9.......", 0}, {"9999999999", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ids_recurrence recurs = of(cases[i].steps);
        ck_assert_msg(ids_recurs_at_first_only(&recurs, strlen(cases[i].steps)) == cases[i].is, "%s", cases[i].steps);
    }
}
END_TEST

static double chance(const char *steps) {
    struct ids_recurrence recurs = of(steps);
    return ids_recurs_by_chance(&recurs, strlen(steps));
}

/* Of 9, 0, 0, 0 the mean is 2.25, the standard deviation 4.5, and its error 2.25: twice that is more than all of it. */
START_TEST(what_is_chance) {
    ck_assert_double_eq(chance("9..."), 1);
    ck_assert_double_eq(chance("9999"), 0);
    ck_assert_double_eq_tol(chance("1313"), 2 * sqrt(4.0 / 3 / 4) / 2, 1e-9); /* 2 on average, and 1 off each time */
    ck_assert_double_eq(chance("..9..9..9"), 0);                              /* at a regular distance */
    ck_assert_double_eq(chance("9."), 0);                                     /* two steps tell nothing */
    ck_assert_double_eq(chance("...."), 0);
}
END_TEST

IDS_RUN_SUITE("recurrence", a_few_steps_have_it, every_so_many_steps, only_at_first, what_is_chance)
