/* lib/compare/budget.c: what people write into budgets, right and wrong. */
#include "lib/analysis/analyzer.h"
#include "lib/compare/budget.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_metric_def *find(const char *id, struct ids_error *err) {
    const struct ids_analyzer *unused;
    const struct ids_metric_def *metric = ids_metric_def_find(id, &unused);
    if (!metric) ids_fail(err, IDS_USAGE, "no metric '%s'", id);
    return metric;
}

START_TEST(a_budget) {
    static const char text[] = "# the field's example\n"
                               "steps.mean < 150 ms over 100 steps after 10   # of warm-up\n"
                               "\n"
                               "  device.utilization >= 70 %\r\n"
                               "compile.in_steps = 0\n"
                               "transfers.h2d_bytes <= 1.5GiB\n"
                               "steps.p95 no worse than baseline by 3 %\n"
                               "idle.share no worse than baseline";
    struct ids_budget budget = {0};
    struct ids_error err = IDS_ERROR_INIT;
    ck_assert_msg(!ids_budget_read(&budget, text, sizeof text - 1, find, &err), "%s", err.text);
    ck_assert_uint_eq(budget.count, 6);
    ck_assert_str_eq(budget.at[0].metric->id, "steps.mean");
    ck_assert_int_eq(budget.at[0].kind, IDS_LIMIT_BELOW);
    ck_assert_double_eq(budget.at[0].value, 150e9);
    ck_assert_int_eq(budget.at[0].over, 100);
    ck_assert_int_eq(budget.at[0].after, 10);
    ck_assert_str_eq(budget.at[0].text, "steps.mean < 150 ms over 100 steps after 10");
    ck_assert_int_eq(budget.at[1].kind, IDS_LIMIT_AT_LEAST);
    ck_assert_double_eq_tol(budget.at[1].value, 0.7, 1e-12);
    ck_assert_int_eq(budget.at[2].kind, IDS_LIMIT_EQUAL);
    ck_assert_double_eq(budget.at[3].value, 1610612736.0);
    ck_assert_int_eq(budget.at[4].kind, IDS_LIMIT_BASELINE);
    ck_assert_double_eq_tol(budget.at[4].value, 0.03, 1e-12);
    ck_assert_double_eq_tol(budget.at[5].value, 0.05, 1e-12);
    ids_budget_done(&budget);
}
END_TEST

START_TEST(mistakes) {
    static const struct {
        const char *text, *says;
    } table[] = {
        {"steps.mena < 1 ms", "line 1: no metric 'steps.mena'"},
        {"\n\nsteps.mean", "line 3: expected <"},
        {"steps.mean < ", "a value is missing"},
        {"steps.mean < 150", "expected ns, us, ms or s"},
        {"steps.mean < 150 MB", "expected ns, us, ms or s"},
        {"steps.mean << 1 ms", "'<<': expected <"},
        {"steps.mean < x ms", "is not a number"},
        {"steps.mean < 1 ms over many", "expected a number of steps"},
        {"steps.mean < 1 ms over 5 steps and", "'and' is unexpected"},
        {"device.utilization > 70 % over 5", "only figures of steps"},
        {"steps.source = 1", "is a text"},
        {"steps.mean no better", "expected 'no worse than baseline'"},
        {"steps.count no worse than baseline", "neither better nor worse"},
        {"steps.mean no worse than baseline by 5 ms", "expected % or a share"},
        {"compile.in_steps < 3 ms", "a number without a unit"},
        {"steps.mean < 1.2.3 ms", "is not a number"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_budget budget = {0};
        struct ids_error err = IDS_ERROR_INIT;
        int code = ids_budget_read(&budget, table[i].text, strlen(table[i].text), find, &err);
        ck_assert_msg(code == IDS_USAGE, "'%s' gave %d", table[i].text, code);
        ck_assert_msg(strstr(err.text, table[i].says) != NULL, "'%s' says: %s", table[i].text, err.text);
        ids_budget_done(&budget);
    }
}
END_TEST

START_TEST(pairs) {
    struct ids_budget budget = {0};
    struct ids_error err = IDS_ERROR_INIT;
    ck_assert_int_eq(ids_budget_add(&budget, "steps.mean=150ms", IDS_LIMIT_AT_MOST, find, &err), 0);
    ck_assert_str_eq(budget.at[0].text, "steps.mean <= 150ms");
    ck_assert_int_eq(ids_budget_add(&budget, "steps.mean", IDS_LIMIT_AT_MOST, find, &err), IDS_USAGE);
    ck_assert_int_eq(ids_budget_add(&budget, "=1", IDS_LIMIT_AT_MOST, find, &err), IDS_USAGE);
    ids_budget_done(&budget);
}
END_TEST

/* No text of a few bytes makes it crash or read beyond its end. */
START_TEST(every_cut) {
    static const char text[] = "steps.mean < 150 ms over 100 steps after 10\nsteps.p95 no worse than baseline by 3 %\n";
    for (size_t length = 0; length < sizeof text; length++) {
        char *copy = malloc(length + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, text, length);
        struct ids_budget budget = {0};
        struct ids_error err = IDS_ERROR_INIT;
        char *exact = realloc(copy, length ? length : 1);
        ids_budget_read(&budget, exact, length, find, &err);
        ids_budget_done(&budget);
        free(exact);
    }
}
END_TEST

IDS_RUN_SUITE("budget", a_budget, mistakes, pairs, every_cut)
